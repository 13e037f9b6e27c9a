"""The run's system prompt: built once, so that a resumed run sends the same bytes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from ..agents.goal_loop import prompt
from ..contracts.context import RunContext
from ..contracts.goal import GoalBase
from ..contracts.memory import Strategy
from ..plugins.daemon_call import aside
from .session import RunSession
from .tool_gates import ANSWER_LIMIT_S

_PROMPT_FILE = "system_prompt.txt"
"""In the run's folder."""
RECALLED = 5
"""How many strategies of earlier runs the prompt shows."""


async def system_prompt(session: RunSession, tools: str) -> str:
    """The kept prompt, or a new one where there is none or the tools are other ones now.

    Args:
        session: the run.
        tools: the list of them, as the prompt has it.
    """
    context = session.context
    kept = context.run_dir / _PROMPT_FILE
    try:
        words = await asyncio.to_thread(kept.read_bytes)
        if tools.encode() in words:
            return words.decode()
    except (OSError, UnicodeDecodeError):
        pass  # a new run, most of the time
    parts, recalled = await _prompt_parts(session), await _recall(context)
    made = context.redact(
        prompt.system_prompt(
            context.project,
            context.max_iterations,
            tools,
            _goal_text(context.goal),
            parts,
            recalled,
        )
    )
    try:
        await asyncio.to_thread(_save, kept, made)
    except OSError as error:
        message = f"the system prompt is not kept for a resumed run: {error.strerror or error}"
        context.publish("log", level="warning", message=message)
    return made


def _goal_text(goal: GoalBase) -> str:
    """The goal's own part, then what its option `system_prompt` adds."""
    return "\n\n".join(filter(None, [goal.system_prompt(), goal.options.system_prompt.strip()]))


def _save(path: Path, text: str) -> None:
    new = path.with_name(f"{path.name}.new")
    new.write_bytes(text.encode(errors="replace"))
    new.replace(path)


async def _prompt_parts(session: RunSession) -> list[str]:
    context = session.context
    parts: list[str] = []
    for record in session.hooks.implementers("system_prompt"):
        question = partial(
            session.hooks.call_one, record, "system_prompt", goal=context.goal, context=context
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


async def _recall(context: RunContext) -> Sequence[Strategy]:
    if context.memory_part is None:
        return []
    try:
        async with asyncio.timeout(ANSWER_LIMIT_S):
            found = await context.memory_part.recall(context.goal_name, context.project)
    except Exception as error:  # noqa: BLE001 - a run goes on without what earlier ones learnt
        message = f"nothing is recalled: {type(error).__name__}: {error}"
        context.publish("log", level="warning", message=message)
        return []
    return list(found)[:RECALLED]
