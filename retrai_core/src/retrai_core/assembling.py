"""Assembles what the loop's nodes work with, from a wired run."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
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
from .gates import ANSWER_LIMIT_S, ToolGates
from .loop import prompt
from .loop.asking import Asking
from .loop.blocked import BlockedLoopWatch
from .loop.new_tests import NewTestsCheck
from .loop.parts import Ask, LoopParts
from .loop.tool_schema import bind, schema
from .loop.verifier import Verifier
from .plugins.answers import problem
from .plugins.aside import aside
from .plugins.blame import WrongAnswerError
from .runs.journal import ToolJournal
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
    """What a run keeps on disk, and what watches over it, for the graph's nodes."""

    journal: ToolJournal
    snapshots: Snapshots
    verifier: Verifier
    watch: BlockedLoopWatch


async def assemble(choice: Choice, wired: Wired, kept: Kept, ask: Ask) -> LoopParts:
    """The parts of one run: its model with the tools bound, its prompt, its limits and gates.

    Raises:
        RetraiError: the model cannot be made.
    """
    context, config = wired.context, choice.config
    tools = list(context.tools.values())
    words = await _system_prompt(choice, wired, context.redact(prompt.tool_list(tools)))
    for line in (
        *about_no_tool(config, choice.catalog, context.tools),
        *leaving_nothing_out(config, choice.catalog, {*context.tools, *wired.left_out}),
        *allowing_nothing(config, wired.guard),
    ):
        context.publish("log", level="warning", message=line)
    with_tools = bound_model(context, config.temperature)
    gates = ToolGates(wired.hooks, context)
    return LoopParts(
        context=context,
        guard=wired.guard,
        journal=kept.journal,
        snapshots=kept.snapshots,
        verifier=kept.verifier,
        new_tests=NewTestsCheck(wired.guard, kept.snapshots),
        asking=Asking(
            context,
            with_tools,
            words,
            wired.spending,
            schema_chars=sum(len(str(schema(tool))) for tool in tools),
        ),
        spending=wired.spending,
        vouchers=Vouchers(wired.hooks, choice.catalog.installable_for(context.project)),
        max_tampering=config.max_tampering,
        gate=gates.decide if wired.hooks.implementers("before_tool") else None,
        ask=ask if context.hitl_enabled else None,
        watch=kept.watch,
        provider_title=f"the provider {choice.provider.record.full_name}",
    )


def bound_model(context: RunContext, temperature: float) -> Runnable[list[BaseMessage], AIMessage]:
    """The run's model, with the run's tools bound to it.

    Raises:
        RetraiError: the model cannot be made.
    """
    model = context.provider.create(context.model_name, temperature, context)
    if not isinstance(cast("object", model), BaseChatModel):
        what = f"create() returned {problem(model, BaseChatModel)}"
        raise WrongAnswerError(context.provider, what)
    try:
        return bind(model, list(context.tools.values()))
    except NotImplementedError as error:
        what = "create() returned a model without bind_tools, which cannot call tools"
        raise WrongAnswerError(context.provider, what) from error


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
