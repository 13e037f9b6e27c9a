"""The work of one run: baseline first, then the agent's graph, then what is learnt from it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from .building import PartsStack, built
from .choosing import choose_provider
from .chosen import Choice
from .contracts.agent import Agent
from .contracts.context import Asker, RunContext
from .contracts.event_sink import RunInfo
from .contracts.goal import GoalResult
from .errors import RetraiError
from .events import AgentEvent
from .guard.left_behind import keep_note_fresh, note, take_back
from .holding import Holding
from .loop.budget import Budget
from .loop.deadline import Deadline, OutOfTimeError
from .loop.spending import used_by_agent
from .loop.steadiness import SHOWN as FLAKY_NAMED
from .loop.verifier import Verifier
from .plugins.answers import problem
from .plugins.blame import WrongAnswerError
from .receipts.signing import SigningKey
from .receipts.writing import Judged, write_receipt
from .redaction.redactor import Redactor
from .run_config import RunConfig
from .runs.journal import ToolJournal
from .runs.lesson import lesson_of
from .runs.record import CheckEvidence, Status, Tokens
from .runs.snapshots import Snapshots
from .session.holder import Holder
from .session.live import LiveText
from .sinks import EventSinks
from .wiring import Wired, wire
from .workspace.file_system import is_read_only
from .workspace.portable_tree import digest_of

if TYPE_CHECKING:
    from langchain_core.messages import AnyMessage
    from langgraph.checkpoint.base import BaseCheckpointSaver

    from .loop.parts import LoopParts
    from .loop.state import AgentState

Graph = Any
"""A compiled LangGraph graph, whose own annotations are only partly known."""

_LEARN_LIMIT_S = 60.0
_LATE_LIMIT_S = 2.0
"""For a run whose time is over."""

_RESTORE_LIMIT_S = 60.0
"""For a goal that does not say what its environment is any more."""


class RunWork:
    """Does one run, or goes on with it.

    Args:
        choice: what the run is built from.
        holder: the right to write the run; its record is filled in as the run goes, and the caller
            saves it at the end.
        redactor: knows the project's secrets.
        deadline: when the run's time is over.
        asker: asks a person.
        live: hands the model's text on as it comes.

    Attributes:
        begun: the first check has been made, so that nothing was wrong with how the run was asked.
        sinks: the event sinks of the run, once it is wired; drain them after the bus is closed.
    """

    def __init__(
        self,
        choice: Choice,
        holder: Holder,
        redactor: Redactor,
        deadline: Deadline,
        asker: Asker,
        live: LiveText,
    ) -> None:
        self._choice = choice
        self._holder = holder
        self._record = holder.record
        self._folder = holder.folder
        self._bus = holder.bus
        self._redactor = redactor
        self._deadline = deadline
        self._asker = asker
        self._live = live
        self._snapshots = Snapshots(holder.folder, holder.record.project)
        self._messages: list[AnyMessage] = []
        self._verifier: Verifier | None = None
        self._wired: Wired | None = None
        self._parts: LoopParts | None = None
        self._holding: Holding | None = None
        self.begun = False
        self.sinks: EventSinks | None = None

    async def go(self, *, resume: bool) -> tuple[Status, str]:
        """Work until the run ends: the outcome and the reason in one line.

        Raises:
            OutOfTimeError: its time was over first.
        """
        outcome: Status = "error"
        allowed = self._choice.config.allow_edit
        await asyncio.to_thread(note, self._record.project, self._folder, allowed)
        async with PartsStack() as closing:
            try:
                with keep_note_fresh(self._folder):
                    outcome, reason = await self._deadline.bound(self._work(closing, resume))
                return outcome, self._with_counts(reason)
            except OutOfTimeError as over:
                outcome = "budget"
                raise OutOfTimeError(self._with_counts(str(over))) from None
            except asyncio.CancelledError:
                outcome = "interrupted"
                raise
            finally:
                await self._take_back()
                if self._wired is not None:
                    await self._wrap_up(self._wired, outcome)

    async def configure(self, config: RunConfig, changed: Collection[str]) -> None:
        """Take over settings of a run that goes on, from its next iteration on.

        Args:
            config: the run's, as it is from now on.
            changed: the fields that were given.

        Raises:
            UsageError, PluginError: the model cannot be used.
        """
        if "max_time_s" in changed:
            self._deadline.limit(config.max_time_s)
        wired = self._wired
        if wired is None:
            return
        if {"model_name", "temperature"} & set(changed):
            await self._take_model(wired, config)
        wired.context.max_iterations = config.max_iterations
        wired.context.hitl_enabled = config.hitl_enabled
        wired.spending.budget = Budget(config.max_cost_usd, config.max_tokens)

    async def _take_model(self, wired: Wired, config: RunConfig) -> None:
        choose = partial(
            choose_provider, config, self._folder, self._choice.catalog, attended=False
        )
        part = await asyncio.to_thread(choose)
        context = wired.context
        provider = built(part, context, self._closing)
        await asyncio.to_thread(provider.warm_up)
        context.provider_part, context.model_name = provider, config.model_name
        if self._parts is not None:
            from .assembling import bound_model

            self._parts.asking.model = bound_model(context, config.temperature)

    async def _work(self, closing: PartsStack, resume: bool) -> tuple[Status, str]:
        wired = await wire(closing, self._choice, self._folder, self._bus.publish, self._redactor)
        self._wired, self._closing = wired, closing
        wired.context.asker = self._asker
        self.sinks = self._sinks(wired)
        self._holding = Holding(wired, self._choice, self._record, self._folder)
        await self._holding.begin()
        try:
            return await self._run(wired, resume)
        except BaseException as error:
            refused = wired.spending.refused  # of a model beside the agent's
            if refused is None or isinstance(error, asyncio.CancelledError):
                raise
            self._record.needed = refused.needed
            return "budget", refused.problem

    def _sinks(self, wired: Wired) -> EventSinks:
        """Let the event sinks hear what has been said so far, and what follows."""
        context, agent = wired.context, self._record.agent
        goals = (self._choice.goal_name,)
        run = RunInfo(context.run_id, goals, agent, context.model_name, context.project)
        sinks = EventSinks(wired.sinks, run, partial(self._log, "warning"))
        self._bus.listen(sinks.hear)
        return sinks

    def _with_counts(self, reason: str) -> str:
        return reason if self._holding is None else self._holding.with_counts(reason)

    async def _run(self, wired: Wired, resume: bool) -> tuple[Status, str]:
        context = wired.context
        verifier = self._verifier = Verifier(context, wired.guard, self._choice.config.confirm)
        baseline = await verifier.baseline()
        if not baseline.achieved:
            # Before it counts as begun: what is wrong with them is a usage error.
            await wired.contributing
        self._note_baseline(context, verifier, baseline)
        await self._holder.save()
        self.begun = True
        if not baseline.achieved and is_read_only(context.project):
            return "failed", f"{baseline.reason}; its file system is read-only"
        context.failure = "" if baseline.achieved else baseline.reason
        if not self._snapshots.all():
            await self._snapshot(context, 0)
        begun = resume and (self._folder / "checkpoint.sqlite").exists()
        if baseline.achieved and not begun:
            baseline = await verifier.confirm_baseline(baseline)
            if baseline.achieved or verifier.flaky is not None:
                return self._without_a_turn(verifier, baseline)
        await wired.contributing
        # Shielded, since an import goes on when it is cancelled; closing waits for its end.
        await asyncio.shield(wired.warming)
        try:
            return await self._through_the_graph(wired, verifier, baseline, resume)
        finally:
            self._record.checks_run += verifier.checks_run
            self._record.checks_remembered += verifier.checks_remembered

    def _without_a_turn(self, verifier: Verifier, baseline: GoalResult) -> tuple[Status, str]:
        self._record.checks_run += verifier.checks_run
        self._record.evidence.after = CheckEvidence.of(
            baseline.achieved, baseline.reason, baseline.report
        )
        if verifier.flaky is not None:
            self._record.evidence.flaky = list(verifier.flaky.cases)[:FLAKY_NAMED]
            return "flaky", verifier.flaky.reason
        return "achieved", f"{baseline.reason}; nothing had to be done"

    def _note_baseline(self, context: RunContext, verifier: Verifier, baseline: GoalResult) -> None:
        if not self._record.tree_before and not self._snapshots.all():
            self._record.tree_before = digest_of(verifier.files)
        if context.sandbox.name not in self._record.sandboxes:
            self._record.sandboxes.append(context.sandbox.name)
        evidence = CheckEvidence.of(baseline.achieved, baseline.reason, baseline.report)
        self._record.evidence.before = self._record.evidence.before or evidence
        self._record.evidence.after = self._record.evidence.after or evidence

    async def _through_the_graph(
        self, wired: Wired, verifier: Verifier, baseline: GoalResult, resume: bool
    ) -> tuple[Status, str]:
        from .assembling import Kept, assemble
        from .loop.beginning import fresh_state, take_up
        from .loop.ending import ending

        context = wired.context
        journal = ToolJournal(self._folder / "journal.jsonl")
        kept = Kept(journal, self._snapshots, verifier, self._deadline.watch)
        try:
            async with self._holder.checkpointer() as saver:
                parts = await assemble(self._choice, wired, kept, self._question)
                self._parts = parts
                graph = _built_graph(wired.agent, saver)
                config: dict[str, Any] = {
                    "configurable": {
                        "thread_id": context.run_id,
                        "context": context,
                        "parts": parts,
                    },
                    # LangGraph counts every node.
                    "recursion_limit": wired.agent.steps_per_iteration * context.max_iterations
                    + 100,
                }
                first = None
                if not (resume and await take_up(graph, config, context, wired.agent)):
                    shown = self._choice.config.context_tokens
                    first = fresh_state(context, self._record.goal, baseline, shown)
                if resume:
                    before = first or await _state_of(graph, config, wired.agent)
                    wired.spending.go_on(await self._holder.events(), before)
                try:
                    await self._drive(graph, config, wired, first)
                except BaseException:
                    # Whatever is wrong with the state too, the first error is the one to tell.
                    with contextlib.suppress(Exception):
                        await self._take_state(graph, config, wired, parts)
                    raise
                state = await self._take_state(graph, config, wired, parts)
                if state is None:
                    raise WrongAnswerError(wired.agent, "its graph ends without a state")
                outcome = await ending(parts, state, self._choice.agent.record)
                self._record.findings = sorted({*self._record.findings, *parts.findings})
                self._note_last(verifier)
                return outcome
        finally:
            journal.close()

    async def _take_state(
        self, graph: Graph, config: dict[str, Any], wired: Wired, parts: LoopParts
    ) -> AgentState | None:
        """Note what the graph came to; None when it was stopped before the first step was kept."""
        unheard = await parts.asking.drop()
        told = set(self._record.refused)
        self._record.refused += [line for line in parts.denied if line not in told]
        self._record.findings = sorted({*self._record.findings, *parts.findings})
        state = await _state_of(graph, config, wired.agent)
        if state is not None:
            wired.spending.agent = used_by_agent(state)
            if unheard:
                wired.spending.go_on(await self._holder.events(), state)
            if self._verifier is not None:
                self._note_state(state, self._verifier)
        return state

    async def _drive(
        self, graph: Graph, config: dict[str, Any], wired: Wired, start: AgentState | None
    ) -> None:
        """Run the graph to its end, putting a person's answers in where it stops to ask."""
        from langgraph.types import Command

        from .loop.ending import sound_question

        going: Any = start
        while True:
            question: Mapping[str, str] | None = None
            # `sync`: a step is on disk before the next begins; `exit` would lose all on a kill.
            updates = graph.astream(going, config, stream_mode="updates", durability="sync")
            async for update in _blaming(wired.agent, updates):
                if "__interrupt__" in update:
                    question = sound_question(update["__interrupt__"][0].value, wired.agent)
            if question is None:
                return
            wired.context.publish("human_check_required", **question)
            going = Command(resume=await self._question(question["question"], question["reason"]))

    def _note_state(self, state: AgentState, verifier: Verifier) -> None:
        record = self._record
        self._messages = state["messages"]
        record.iterations = state["iteration"]
        if state["stop"] is not None:
            record.note_stop(state["stop"])
        self._note_last(verifier)

    def _note_last(self, verifier: Verifier) -> None:
        record, last = self._record, verifier.last
        if verifier.flaky is not None:
            record.evidence.flaky = list(verifier.flaky.cases)[:FLAKY_NAMED]
        if last is not None:
            record.evidence.after = CheckEvidence.of(last.achieved, last.reason, last.report)

    async def _question(self, question: str, reason: str) -> str:
        """Until AGENT lands."""
        assert self._wired is not None
        self._asked = getattr(self, "_asked", 0) + 1
        answer = await self._wired.context.ask(
            f"q/{self._asked}", question, data={"reason": reason}
        )
        return "nobody could be asked" if answer is None else "yes" if answer.approved else "no"

    async def _wrap_up(self, wired: Wired, outcome: Status) -> None:
        """Done however the run ended."""
        try:
            await self._note_use(wired)
            if self._record.evidence.before is not None:
                await self._keep(wired, outcome)
        finally:
            if self._holding is not None:
                self._holding.end()

    async def _note_use(self, wired: Wired) -> None:
        spending = wired.spending
        if not self._messages:  # it did not come to a state, which would say what was used
            spending.go_on(await self._holder.events(), None)
        used = spending.total
        self._record.tokens = Tokens(
            input=used.input_tokens, output=used.output_tokens, total=used.total_tokens
        )
        self._record.cost_usd = used.cost_usd

    async def _keep(self, wired: Wired, outcome: Status) -> None:
        """The last snapshot, what the run changed, what it taught."""
        record = self._record
        await self._restore(wired)
        await self._snapshot(wired.context, record.iterations)
        record.allowed_edits = await asyncio.to_thread(wired.guard.allowed_edits)
        record.refused += [refusal.describe() for refusal in wired.guard.refusals]
        if outcome == "achieved":
            await self._write_receipt(wired)
        memory = wired.context.memory_part
        if memory is not None and record.iterations:
            limit_s = _LATE_LIMIT_S if self._deadline.has_passed else _LEARN_LIMIT_S
            try:
                async with asyncio.timeout(limit_s):
                    await memory.learn(lesson_of(record, outcome, self._messages))
            except Exception as error:  # noqa: BLE001 - the run has ended; its outcome stands
                message = f"nothing is learnt: {type(error).__name__}: {error}"
                wired.context.publish("log", level="warning", message=message)

    async def _take_back(self) -> None:
        try:
            undone = await asyncio.to_thread(take_back, self._folder)
        except (OSError, ValueError) as error:
            message = (
                f"the project could not be cleaned up: {error}; look at `git config --local "
                "--list`, `.git/hooks` and `find . -perm /6000` before you use git there"
            )
            self._log("error", message)
            return
        for line in [refusal.describe() for refusal in undone]:
            self._log("warning", line, refused=[line])
            self._record.refused.append(line)
        if undone and self._verifier is not None:
            await self._verifier.look()  # a receipt is for the tree as it stands now

    def _log(self, level: str, message: str, **more: object) -> None:
        payload = {"level": level, "message": message, **more}
        with suppress(RetraiError):  # a full disk: the run has ended, and its record says how
            self._bus.publish(AgentEvent("log", self._record.id, self._record.iterations, payload))

    async def _restore(self, wired: Wired) -> None:
        """Leave nothing that would bend the next check, whatever the run ended with."""
        try:
            late = self._deadline.has_passed
            async with asyncio.timeout(_LATE_LIMIT_S if late else _RESTORE_LIMIT_S):
                undone = await wired.guard.restore()
        except Exception as error:  # noqa: BLE001 - the run has ended; its outcome stands
            message = (
                f"some protected files could not be restored: {type(error).__name__}: {error}; "
                "compare them with `git diff`"
            )
            wired.context.publish("log", level="error", message=message)
            return
        if undone and self._verifier is not None:
            await self._verifier.look()  # a receipt is for the tree as it stands now

    async def _write_receipt(self, wired: Wired) -> None:
        """Sign what was achieved; without a receipt it still is."""
        record, verifier = self._record, self._verifier
        if verifier is None or verifier.on_copy is None:
            return
        record.versions |= {hook.dist: hook.version for hook in wired.hooks.records}
        holdout = wired.guard.holdout
        held_out = holdout.last if holdout is not None else None
        judged = Judged(verifier.files, verifier.on_copy, verifier.passed_on_copies, held_out)
        key = SigningKey(self._folder.parents[1])  # runs/<id> stands in the state folder
        try:
            path = await write_receipt(record, wired.context, wired.guard.baseline, judged, key)
            record.receipt = str(path)
        except (RetraiError, OSError, ImportError) as error:
            wired.context.publish("log", level="warning", message=f"no receipt: {error}")

    async def _snapshot(self, context: RunContext, iteration: int) -> None:
        """Keep the tree as it stands, and what has changed; a failure costs only `runs diff`."""
        try:
            await asyncio.to_thread(self._snapshots.take, iteration)
            self._record.changed_files = await asyncio.to_thread(self._snapshots.changed_files)
        except (RetraiError, OSError) as error:
            context.publish("log", level="warning", message=f"no snapshot: {error}")


def _built_graph(agent: Agent, saver: BaseCheckpointSaver[Any]) -> Graph:
    from langgraph.pregel import Pregel

    graph: Graph = agent.build_graph(saver)
    if wrong := problem(graph, Pregel):
        raise WrongAnswerError(agent, f"build_graph() returned {wrong}: compile it")
    if not graph.checkpointer:
        raise WrongAnswerError(agent, "build_graph() returned a graph without the checkpointer")
    return graph


async def _blaming(
    agent: Agent, updates: AsyncIterator[dict[str, Any]]
) -> AsyncIterator[dict[str, Any]]:
    """The updates; what LangGraph refuses in them is the doing of whoever built the graph."""
    try:
        async for update in updates:
            yield update
    except Exception as error:
        if not type(error).__module__.startswith("langgraph."):
            raise
        first_line = next(iter(str(error).splitlines()), "")
        what = f"its graph cannot be run: {type(error).__name__}: {first_line}"
        raise WrongAnswerError(agent, what) from error


async def _state_of(graph: Graph, config: dict[str, Any], agent: Agent) -> AgentState | None:
    """What the graph has kept; None where it has kept nothing."""
    from .loop.ending import sound_state

    values = (await graph.aget_state(config)).values
    return sound_state(values, agent) if values else None
