"""Tools that are known only at run time; requested during the baseline check."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack
from threading import Event
from typing import cast

from ..agents.tool_names import wire_name
from ..contracts.context import RunContext
from ..contracts.tool import Tool
from ..errors import UsageError
from ..plugins.answers import checked_answers, problem
from ..plugins.daemon_call import aside
from ..plugins.error_attribution import WrongAnswerError
from ..plugins.hooks import HookCaller
from ..plugins.record import PluginRecord

LIMIT_S = 120.0
"""For one plugin: it may have to import a large library, or to start a server."""

Close = Callable[[Tool, PluginRecord], Awaitable[None]]


async def contribute(
    hooks: HookCaller,
    context: RunContext,
    stack: AsyncExitStack,
    close: Close,
    leaves_out: Callable[[str], bool],
) -> None:
    """Ask every plugin that offers tools, side by side, and add theirs to the context's.

    Args:
        hooks: the run's hook plugins.
        context: gets the tools.
        stack: closes them.
        close: closes one tool.
        leaves_out: whether the user does not want a tool, by its name.

    Raises:
        UsageError: what the user configured for such a plugin is wrong.
    """
    records = hooks.implementers("tools")
    asked = (_offered(hooks, record, context, stack, close) for record in records)
    answers = await asyncio.gather(*asked, return_exceptions=True)
    wrong: UsageError | None = None
    for record, answer in zip(records, answers, strict=True):
        if isinstance(answer, BaseException):
            wrong = wrong or (answer if isinstance(answer, UsageError) else None)
            message = f"{record.name} of {record.dist} offers no tools: {answer}"
            context.publish("log", level="warning", message=message)
            continue
        for tool in answer:
            if not leaves_out(tool.name):
                _add(tool, record, context)
    if wrong is not None:
        raise wrong


async def _offered(
    hooks: HookCaller,
    record: PluginRecord,
    context: RunContext,
    stack: AsyncExitStack,
    close: Close,
) -> list[Tool]:
    """What one plugin offers; a coroutine that it answers with is awaited on the run's loop."""

    def ask() -> object:
        context.warmed_up.wait()
        return hooks.call_one(record, "tools", context=context)

    answer = await _answer(ask)
    if isinstance(answer, Exception):
        raise answer
    if answer is not None and (wrong := problem(answer, Sequence[Tool])):
        raise WrongAnswerError(answer, f"tools() returned {wrong}", record)
    tools = list(cast("Sequence[Tool]", answer or ()))
    for tool in tools:  # at once: what it started must end also when the run ends right now
        stack.push_async_callback(close, tool, record)
    return [checked_answers(tool, record) for tool in tools]


async def _answer(ask: Callable[[], object]) -> object:
    """What `ask` gives in a thread, awaited where it is a coroutine.

    A run that ends meanwhile (its goal's runner is missing, say) closes the coroutine, or Python
    would tell the user that it was never awaited.
    """
    coroutines: list[Coroutine[object, object, object]] = []
    over = Event()

    def ask_aside() -> object:
        answer = ask()
        if inspect.iscoroutine(answer):
            coroutines.append(answer)
            if over.is_set():  # asked only now: whichever of the two sees it closes it
                answer.close()
        return answer

    try:
        answer = await aside(ask_aside, LIMIT_S)
        if not inspect.isawaitable(answer):
            return answer
        try:
            async with asyncio.timeout(LIMIT_S):
                return await answer
        except TimeoutError as error:
            raise TimeoutError(f"it did not answer within {LIMIT_S:g} s") from error
    finally:
        over.set()
        for coroutine in coroutines:
            coroutine.close()


def _add(tool: Tool, record: PluginRecord, context: RunContext) -> None:
    taken = {wire_name(name): name for name in context.tools}
    other = taken.get(wire_name(tool.name))
    if other is None:
        context.tools[tool.name] = tool
        return
    message = f"{record.name} of {record.dist}: its tool {tool.name} is left out, {other} is taken"
    context.publish("log", level="warning", message=message)
