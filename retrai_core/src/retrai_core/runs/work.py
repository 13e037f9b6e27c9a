"""The work of one run: the baseline, then the agent's graph, then the lesson for the memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ..agents.budget import Budget
from ..agents.deadline import Deadline, OutOfTimeError
from ..agents.spending import used_so_far
from ..config.model import RunConfig
from ..contracts.agent import AgentResult
from ..contracts.context import Asker, RunContext
from ..contracts.event_sink import RunInfo
from ..contracts.goal import GoalResult
from ..contracts.memory import Insight, RunOutcome
from ..contracts.record import CheckEvidence, HeldOutCounts, Status
from ..errors import BudgetSpentError, RetraiError, UsageError
from ..redaction.redactor import Redactor
from ..verification.clean_up import keep_note_fresh, note, take_back
from ..verification.guard import Guard
from ..verification.verifier import Verifier
from ..workspace.file_system import is_read_only
from ..workspace.lock import WorkspaceLock
from ..workspace.portable_tree import tree_digest
from .artifacts import is_state_within_reach, keep_artifacts, verdict_of_run
from .event_sinks import EventSinks
from .hand_over import write_hand_over
from .holder import Holder
from .insights import ask_for_insights, can_give_insights
from .lesson import lesson_of
from .live import LiveText
from .resolved_run import ResolvedRun
from .session import RunSession

if TYPE_CHECKING:
    from langchain_core.messages import AnyMessage
    from langchain_core.runnables import RunnableConfig

    from .agent_run import AgentRun

_LEARN_LIMIT_S = 60.0
_ARTIFACTS_LIMIT_S = 60.0
_LATE_LIMIT_S = 2.0
"""For a run whose time is over."""

_RESTORE_LIMIT_S = 60.0
"""For a goal that does not say what its environment is any more."""


class RunWork:
    """Works on one run, from the start or after a resume.

    Args:
        resolved: what the run is built from.
        holder: the right to write the run; its record is filled in as the run goes, and the caller
            saves it at the end.
        redactor: knows the project's secrets.
        deadline: when the run's time is over.
        asker: asks a person.
        live: hands the model's text on as it comes.
        previous: what the run came to that this one continues.
        on_built: hears when `configure` takes effect.

    Attributes:
        begun: the first check has been made, so that nothing was wrong with how the run was asked.
        sinks: the event sinks of the run, once it is built; drain them after the bus is closed.
    """

    def __init__(
        self,
        resolved: ResolvedRun,
        holder: Holder,
        redactor: Redactor,
        deadline: Deadline,
        asker: Asker,
        live: LiveText,
        previous: AgentResult | None = None,
        *,
        on_built: Callable[[], None],
    ) -> None:
        self._config = resolved.config
        self._holder = holder
        self._record = holder.record
        self._folder = holder.folder
        self._session = RunSession(resolved, holder.folder, holder.bus.publish, redactor)
        self._session.context.asker, self._session.context.live = asker, live
        self._deadline = deadline
        self._previous = previous
        self._on_built = on_built
        self._agent_run: AgentRun | None = None
        self._outcome: Status = "error"
        self._is_tree_changed = False
        self._is_state_within_reach = True
        self.begun = False
        self.sinks: EventSinks | None = None

    @asynccontextmanager
    async def cleaned_up(self) -> AsyncGenerator[None]:
        """Around the work: whatever it ended with, the project and the record are left in order."""
        outcome: Status = "error"
        allowed = self._config.allow_edit
        await asyncio.to_thread(note, self._record.project, self._folder, allowed)
        async with self._session as session:
            try:
                with keep_note_fresh(self._folder):
                    yield
                outcome = self._outcome
            except OutOfTimeError as over:
                outcome = "budget"
                raise OutOfTimeError(self.with_counts(str(over))) from None
            except asyncio.CancelledError:
                outcome = "interrupted"
                raise
            finally:
                await self._take_back()
                if session.is_built:
                    await self._wrap_up(session, outcome)

    async def go(self, *, resume: bool) -> tuple[Status, str]:
        """Work until the run ends: the outcome and the reason in one line."""
        session = self._session
        session.context.iteration = self._record.iterations
        await session.build()
        if resume:
            session.spending.used = used_so_far(await self._holder.events())
        self.sinks = self._sinks()
        self._on_built()
        if session.guard is not None and self._config.holdout:
            await self._hold_out(session, session.guard)
        try:
            ended = await self._begin(session, resume=resume)
            if ended is None:
                from .agent_run import AgentRun  # LangChain is slow to import

                holder, watch = self._holder, self._deadline.watch
                async with holder.journal() as journal, holder.checkpointer() as saver:
                    run = self._agent_run = AgentRun(
                        session, holder, journal, watch, self._previous
                    )
                    ended = await run.go(saver, resume=resume)
        except BaseException as error:
            refused = session.spending.refused  # of a model beside the agent's
            if refused is None or isinstance(error, asyncio.CancelledError):
                raise
            self._record.needed = refused.needed
            ended = "budget", refused.problem
        self._outcome = ended[0]
        return ended

    async def _hold_out(self, session: RunSession, guard: Guard) -> None:
        """Hide the held-out tests, before anything of the run has looked at the project.

        Raises:
            UsageError: they cannot be hidden here, and why.
        """
        await session.contributing
        known = {tool.record.name for tool in session.resolved.tools}
        others = sorted(set(session.context.tools) - known)
        if others:
            raise UsageError(
                f"holdout: the tool {others[0]} works outside the sandbox and could read the "
                "held-out files",
                hint=f"--no-tools '{others[0].partition('.')[0]}*' leaves it out",
            )
        await guard.hold_out(self._config.holdout)

    def _sinks(self) -> EventSinks:
        """Let the event sinks hear what has been said so far, and what follows."""
        sinks = EventSinks(self._session.sinks, self._run_info(), partial(self._log, "warning"))
        self._holder.bus.listen(sinks.hear)
        return sinks

    def _run_info(self) -> RunInfo:
        context, agent = self._session.context, self._record.agent
        goals = tuple(goal.name for goal in self._record.goals)
        return RunInfo(context.run_id, goals, agent, context.model_name, context.project)

    async def configure(self, config: RunConfig, changed: Collection[str]) -> None:
        """Take over settings of a run whose parts are built, from its next iteration on.

        Args:
            config: the run's, as it is from now on.
            changed: the fields that were given.

        Raises:
            UsageError, PluginError: the model cannot be used.
        """
        session = self._session
        if {"model_name", "temperature"} & set(changed):
            await self._take_model(session, config)
        if "max_time_s" in changed:
            self._deadline.limit(config.max_time_s)
        session.context.max_iterations = config.max_iterations
        session.context.hitl_enabled = config.hitl_enabled
        session.spending.budget = Budget(config.max_cost_usd, config.max_tokens)

    async def _take_model(self, session: RunSession, config: RunConfig) -> None:
        resolve = session.resolver(attended=False).provider_of
        part = await asyncio.to_thread(resolve, config.model_name)
        context, resolved = session.context, session.resolved
        provider = session.build_part(part)
        await asyncio.to_thread(provider.warm_up)
        before = resolved.provider, context.provider_part, context.model_name
        resolved.provider, context.provider_part = part, provider
        context.model_name = config.model_name
        try:
            if self._agent_run is not None:
                self._agent_run.take_model(config.temperature)
        except BaseException:
            resolved.provider, context.provider_part, context.model_name = before
            raise

    def with_counts(self, reason: str) -> str:
        """The reason, with how the held-out cases ended where there are some."""
        guard = self._session.guard
        last = guard.holdout.last if guard is not None else None
        if last is None:
            return reason
        self._record.evidence.held_out = HeldOutCounts(total=last.total, failed=last.failed)
        return f"{reason}; {last}"

    async def _begin(self, session: RunSession, *, resume: bool) -> tuple[Status, str] | None:
        """The first check: how the run ends, where nothing is to be done."""
        if session.guard is None:
            await self._begin_without_goal(session)
            return None
        context = session.context
        verifier = session.verifier = Verifier(session.guard, self._config.confirm)
        baseline = context.baseline = await verifier.baseline()
        if not baseline.achieved:
            # Before it counts as begun: what is wrong with them is a usage error.
            await session.contributing
            if not resume and (problem := await context.goal.impossible()):
                raise UsageError(f"the goal {context.goal.name} cannot be achieved: {problem}")
        self._note_baseline(context, verifier, baseline)
        if session.hooks.implementers("artifacts"):  # now, while imports go on, and not at the end
            within_reach = await is_state_within_reach(session.guard)
            self._is_state_within_reach = within_reach or len(self._record.sandboxes) != 1
        await self._holder.save()
        self.begun = True
        if not baseline.achieved and is_read_only(context.project):
            return "failed", f"{baseline.reason}; the file system of the project is read-only"
        context.failure = "" if baseline.achieved else baseline.reason
        if not self._session.snapshots.all():
            await self._snapshot(context, 0)
        if baseline.achieved and not (resume and await self._has_checkpoint()):
            baseline = await verifier.confirm_baseline(baseline)
            if baseline.achieved or verifier.flaky is not None:
                return self._without_a_turn(verifier, baseline)
        await self._wait_for_imports(session)
        return None

    async def _begin_without_goal(self, session: RunSession) -> None:
        """Nothing is checked; what its tools may change is locked and kept, so it can be undone."""
        await session.contributing
        if session.may_change_project:
            state = self._folder.parents[1]  # runs/<id> stands in the state folder
            lock = WorkspaceLock(self._record.project, state, self._record.id)
            session.enter(lock)
        self.begun = True
        if session.context.sandbox.name not in self._record.sandboxes:
            self._record.sandboxes.append(session.context.sandbox.name)
        if session.may_change_project and not self._session.snapshots.all():
            await self._snapshot(session.context, 0)
        await self._wait_for_imports(session)

    async def _wait_for_imports(self, session: RunSession) -> None:
        await session.contributing
        # Shielded, since an import goes on when it is cancelled; closing waits for its end.
        await asyncio.shield(session.warming)

    async def _has_checkpoint(self) -> bool:
        thread: RunnableConfig = {"configurable": {"thread_id": self._record.id}}
        async with self._holder.checkpointer() as saver:
            return await saver.aget_tuple(thread) is not None

    def _without_a_turn(self, verifier: Verifier, baseline: GoalResult) -> tuple[Status, str]:
        verifier.note_in(self._record)
        if verifier.flaky is not None:
            return "flaky", verifier.flaky.reason
        return "achieved", f"{baseline.reason}; nothing had to be done"

    def _note_baseline(self, context: RunContext, verifier: Verifier, baseline: GoalResult) -> None:
        if not self._record.tree_before and not self._session.snapshots.all():
            self._record.tree_before = tree_digest(verifier.files)
        if context.sandbox.name not in self._record.sandboxes:
            self._record.sandboxes.append(context.sandbox.name)
        evidence = CheckEvidence.of(baseline)
        self._record.evidence.before = self._record.evidence.before or evidence
        self._record.evidence.after = self._record.evidence.after or evidence

    @property
    def _messages(self) -> Sequence[AnyMessage]:
        """The conversation of the goal loop, as far as it has come."""
        return self._agent_run.messages if self._agent_run is not None else ()

    async def _wrap_up(self, session: RunSession, outcome: Status) -> None:
        """Done however the run ended."""
        if (verifier := session.verifier) is not None:
            self._record.checks_run += verifier.checks_run
            self._record.checks_remembered += verifier.checks_remembered
        session.spending.note_in(self._record)
        if session.guard is None:
            if self.begun and session.may_change_project:
                await self._snapshot(session.context, self._record.iterations)
        elif self._record.evidence.before is not None:
            await self._record_results(session, session.guard, outcome)

    async def _record_results(self, session: RunSession, guard: Guard, outcome: Status) -> None:
        """The last snapshot, what the run changed, what it taught."""
        record = self._record
        await self._restore(session.context, guard)
        await self._snapshot(session.context, record.iterations)
        record.allowed_edits = await asyncio.to_thread(guard.allowed_edits)
        record.refused += [refusal.describe() for refusal in guard.refusals]
        await self._keep_artifacts(session, guard, achieved=outcome == "achieved")
        if outcome != "achieved":
            self._hand_over(session)
        memory = session.context.memory_part
        if memory is not None and record.iterations:
            limit_s = _LATE_LIMIT_S if self._deadline.has_passed else _LEARN_LIMIT_S
            try:
                async with asyncio.timeout(limit_s):
                    lesson = lesson_of(record, outcome, self._messages)
                    insights = await self._insights(session, lesson)
                    await memory.learn(replace(lesson, insights=insights))
            except (Exception, BudgetSpentError) as error:  # noqa: BLE001 - the outcome stands
                message = f"nothing is learnt: {type(error).__name__}: {error}"
                session.context.publish("log", level="warning", message=message)

    def _hand_over(self, session: RunSession) -> None:
        verifier, run = session.verifier, self._agent_run
        last = verifier.last if verifier is not None else None
        tried = run.tried if run is not None else ()
        redact = session.context.redact
        self._record.hand_over = write_hand_over(self._record, last, tried, self._messages, redact)

    async def _insights(self, session: RunSession, lesson: RunOutcome) -> Sequence[Insight]:
        """What the model makes of the run, for later ones; nothing where it cannot be asked."""
        context, run = session.context, self._agent_run
        if not (self._config.insights and can_give_insights(context, lesson.outcome)):
            return ()
        if self._deadline.has_passed:
            return ()
        try:
            return await ask_for_insights(context, lesson, run.tried if run is not None else ())
        except (Exception, BudgetSpentError) as error:  # noqa: BLE001 - the outcome stands
            said = (str(error).strip().splitlines() or [type(error).__name__])[0]
            self._log("info", f"the model gives no insights: {said}")
            return ()

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
        self._is_tree_changed = self._is_tree_changed or bool(undone)

    def _log(self, level: str, message: str, **more: object) -> None:
        payload = {"level": level, "message": message, **more}
        with suppress(RetraiError):  # a full disk: the run has ended, and its record says how
            self._holder.publish("log", **payload)

    async def _restore(self, context: RunContext, guard: Guard) -> None:
        """Leave nothing that would bend the next check, whatever the run ended with."""
        try:
            late = self._deadline.has_passed
            async with asyncio.timeout(_LATE_LIMIT_S if late else _RESTORE_LIMIT_S):
                undone = await guard.restore()
        except Exception as error:  # noqa: BLE001 - the run has ended; its outcome stands
            message = (
                f"some protected files could not be restored: {type(error).__name__}: {error}; "
                "compare them with `git diff`"
            )
            context.publish("log", level="error", message=message)
            return
        self._is_tree_changed = self._is_tree_changed or bool(undone)

    async def _keep_artifacts(self, session: RunSession, guard: Guard, *, achieved: bool) -> None:
        """What plugins keep with the run, now that it has been judged for the last time."""
        verifier, holder, hooks = session.verifier, self._holder, session.hooks
        if verifier is None or verifier.last is None or not hooks.implementers("artifacts"):
            return
        self._record.versions |= {hook.dist: hook.version for hook in hooks.records}
        self.with_counts("")  # the record gets them
        limit_s = _LATE_LIMIT_S if self._deadline.has_passed else _ARTIFACTS_LIMIT_S
        try:
            if self._is_tree_changed:
                await verifier.look()  # artifacts are about the tree as it stands
            verdict = await verdict_of_run(
                holder,
                guard,
                verifier,
                achieved=achieved,
                state_within_reach=self._is_state_within_reach,
            )
            await keep_artifacts(hooks, self._run_info(), verdict, holder, limit_s)
        except Exception as error:  # noqa: BLE001 - the run has ended; its outcome stands
            self._log("warning", f"no artifacts: {type(error).__name__}: {error}")

    async def _snapshot(self, context: RunContext, iteration: int) -> None:
        """Keep the tree as it stands, and what has changed; a failure costs only `runs diff`."""
        try:
            snapshots = self._session.snapshots
            await asyncio.to_thread(snapshots.take, iteration)
            self._record.changed_files = await asyncio.to_thread(snapshots.changed_files)
        except (RetraiError, OSError) as error:
            context.publish("log", level="warning", message=f"no snapshot: {error}")
