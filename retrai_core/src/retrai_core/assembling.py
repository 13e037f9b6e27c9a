"""Assembles what the loop's nodes work with, from a wired run."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import Runnable

from .chosen import Choice
from .contracts.context import RunContext
from .contracts.memory import Strategy
from .contracts.store import Journal
from .gates import ANSWER_LIMIT_S, ToolGates
from .loop import prompt
from .loop.asking import Asking
from .loop.blocked import BlockedLoopWatch
from .loop.counted_model import Account, AgentModel
from .loop.new_tests import NewTestsCheck
from .loop.node_calls import NodeCalls
from .loop.parts import LoopParts
from .loop.step_starts import StepStarts
from .loop.tool_call import ToolCaller
from .loop.tool_schema import bind, schema
from .loop.verifier import Verifier
from .plugins.answers import problem
from .plugins.aside import aside
from .plugins.blame import WrongAnswerError
from .runs.snapshots import Snapshots
from .unheeded import about_no_tool, allowing_nothing, leaving_nothing_out
from .vouchers import Vouchers
from .wiring import Wired

_PROMPT_FILE = "system_prompt.txt"
"""In the run's folder."""
RECALLED = 5
"""How many strategies of earlier runs the prompt shows."""


@dataclass(frozen=True)
class Kept:
    """What a run keeps, and what watches over it.

    Attributes:
        journal: remembers tool calls.
        snapshots: remember trees.
        watch: ends what blocks the event loop.
        verifier: asks for verdicts; None in a run without a goal.
    """

    journal: Journal
    snapshots: Snapshots
    watch: BlockedLoopWatch
    verifier: Verifier | None = None


@dataclass(frozen=True)
class Assembled:
    """What the nodes of a run work with; `parts` are those of a run with a goal."""

    caller: ToolCaller
    steps: StepStarts
    parts: LoopParts | None = None


async def assemble(choice: Choice, wired: Wired, kept: Kept) -> Assembled:
    """The run's model and tools for `RunContext`; with a goal also the goal loop's parts.

    Raises:
        RetraiError: the model cannot be made.
    """
    context, guard, verifier = wired.context, wired.guard, kept.verifier
    for line in _useless_settings(choice, wired):
        context.publish("log", level="warning", message=line)
    tools = list(context.tools.values())
    with_tools = give_models(wired, choice.config.temperature)
    gates = ToolGates(wired.hooks, context)
    caller = ToolCaller(
        context,
        kept.journal,
        kept.watch,
        gate=gates.decide if wired.hooks.implementers("before_tool") else None,
        guard=guard,
        expect_changes=None if verifier is None else verifier.expect_changes,
    )
    context.calling_part = NodeCalls(context, caller)
    steps = StepStarts(context)
    if guard is None or verifier is None:
        return Assembled(caller, steps)
    words = await _system_prompt(choice, wired, context.redact(prompt.tool_list(tools)))
    parts = LoopParts(
        context=context,
        guard=guard,
        caller=caller,
        snapshots=kept.snapshots,
        verifier=verifier,
        new_tests=NewTestsCheck(guard, kept.snapshots),
        asking=Asking(context, with_tools, words, wired.spending, steps, _schema_chars(context)),
        spending=wired.spending,
        vouchers=Vouchers(wired.hooks, choice.catalog.installable_for(context.project)),
        max_tampering=choice.config.max_tampering,
        provider_title=f"the provider {choice.provider.record.full_name}",
    )
    return Assembled(caller, steps, parts)


def give_models(wired: Wired, temperature: float) -> Runnable[list[BaseMessage], AIMessage]:
    """Give the run's context its model, with and without the run's tools bound to it.

    Returns:
        the model with the tools.

    Raises:
        RetraiError: the model cannot be made.
    """
    context = wired.context
    model = context.provider.create(context.model_name, temperature, context)
    if not isinstance(cast("object", model), BaseChatModel):
        what = f"create() returned {problem(model, BaseChatModel)}"
        raise WrongAnswerError(context.provider, what)
    try:
        with_tools = bind(model, list(context.tools.values()))
    except NotImplementedError as error:
        what = "create() returned a model without bind_tools, which cannot call tools"
        raise WrongAnswerError(context.provider, what) from error
    account = Account(context, wired.spending, context.model_name, context.provider, beside=False)
    chars = _schema_chars(context)
    with_and_without = {
        True: AgentModel(model=with_tools, account=account, context=context, schema_chars=chars),
        False: AgentModel(model=model, account=account, context=context),
    }
    context.agent_model_part = with_and_without.__getitem__
    return with_tools


def _schema_chars(context: RunContext) -> int:
    return sum(len(str(schema(tool))) for tool in context.tools.values())


def _useless_settings(choice: Choice, wired: Wired) -> Iterator[str]:
    config, offered = choice.config, wired.context.tools
    yield from about_no_tool(config, choice.catalog, offered)
    yield from leaving_nothing_out(config, choice.catalog, {*offered, *wired.left_out})
    if wired.guard is not None:
        yield from allowing_nothing(config, wired.guard)


async def _system_prompt(choice: Choice, wired: Wired, tools: str) -> str:
    """The run's system prompt: once made it is kept, so that a resumed run sends the same bytes.

    It is made anew where the tools are other ones now.
    """
    context = wired.context
    kept = context.run_dir / _PROMPT_FILE
    try:
        words = await asyncio.to_thread(kept.read_bytes)
        if tools.encode() in words:
            return words.decode()
    except (OSError, UnicodeDecodeError):
        pass  # a new run, most of the time
    parts, recalled = await _prompt_parts(wired), await _recall(choice, context)
    made = context.redact(
        prompt.system_prompt(
            context.project,
            context.max_iterations,
            tools,
            context.goal.system_prompt(),
            parts,
            recalled,
        )
    )
    try:
        await asyncio.to_thread(_keep, kept, made)
    except OSError as error:
        message = f"the system prompt is not kept for a resumed run: {error.strerror or error}"
        context.publish("log", level="warning", message=message)
    return made


def _keep(path: Path, text: str) -> None:
    new = path.with_name(f"{path.name}.new")
    new.write_bytes(text.encode(errors="replace"))
    new.replace(path)


async def _prompt_parts(wired: Wired) -> list[str]:
    context = wired.context
    parts: list[str] = []
    for record in wired.hooks.implementers("system_prompt"):
        question = partial(
            wired.hooks.call_one, record, "system_prompt", goal=context.goal, context=context
        )
        try:
            answer = await aside(question, ANSWER_LIMIT_S)
        except TimeoutError as error:
            answer = error
        if isinstance(answer, str):
            parts.append(answer)
        elif answer is not None:
            message = f"{record.full_name} adds nothing to the prompt: {answer}"
            context.publish("log", level="warning", message=message)
    return parts


async def _recall(choice: Choice, context: RunContext) -> Sequence[Strategy]:
    if context.memory_part is None:
        return []
    try:
        async with asyncio.timeout(ANSWER_LIMIT_S):
            found = await context.memory_part.recall(choice.goal_name, context.project)
    except Exception as error:  # noqa: BLE001 - a run goes on without what earlier ones learnt
        message = f"nothing is recalled: {type(error).__name__}: {error}"
        context.publish("log", level="warning", message=message)
        return []
    return list(found)[:RECALLED]
