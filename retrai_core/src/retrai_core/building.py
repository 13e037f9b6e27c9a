"""Building one part of a run, and closing it whatever happens."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any, Protocol, TypeVar, cast

from .chosen import GroundChoice, Part
from .contracts.context import RunContext
from .contracts.sandbox import Sandbox
from .errors import PluginError, UsageError
from .loop.blocked import BlockedLoopWatch
from .plugins.answers import checked_answers
from .plugins.record import PluginRecord
from .plugins.standard_names import AUTO_SANDBOX, STRICT_SANDBOX

T = TypeVar("T")

_CLOSE_LIMIT_S = 15.0
"""For all parts of a run together, since they close one after the other."""
_LEAST_CLOSE_S = 1.0
"""For each part, however long those before it took: what it started must not outlive the run."""


class ClosingTime:
    """What is left for closing; it begins with the first part."""

    def __init__(self) -> None:
        self._ends_at: float | None = None

    def left_s(self) -> float:
        """Seconds for the part that is to be closed now."""
        now = time.monotonic()
        if self._ends_at is None:
            self._ends_at = now + _CLOSE_LIMIT_S
        return max(_LEAST_CLOSE_S, self._ends_at - now)


class PartsStack(AsyncExitStack):
    """Closes the parts of a run, the last one first.

    Args:
        closing_time: what another stack of the run closes within too.
    """

    def __init__(self, closing_time: ClosingTime | None = None) -> None:
        super().__init__()
        self.closing_time = closing_time or ClosingTime()


class Closeable(Protocol):
    """Everything that is built for a run."""

    async def aclose(self) -> None:
        """Give back what it holds."""
        ...


async def first_working(choice: GroundChoice, context: RunContext, stack: PartsStack) -> Sandbox:
    """The strictest sandbox that works; one that was named must work."""
    problems: list[str] = []
    for part in choice.sandboxes:
        sandbox = built(part, context, stack)
        problem = await sandbox.probe()
        if problem is None:
            name = part.record.name
            if problems:
                context.publish(
                    "log",
                    level="warning",
                    message=f"NO WALLS: commands run in the sandbox {name}, with your rights: "
                    f"{'; '.join(problems)}. `--sandbox strict` refuses to run so",
                )
            context.publish("log", level="info", message=f"sandbox {name}: {part.cls.summary}")
            return sandbox
        problems.append(f"{part.record.name} does not work here: {problem}")
    hint = {
        AUTO_SANDBOX: "",
        STRICT_SANDBOX: "mend that, or let commands run with your rights: `--sandbox local`",
    }.get(choice.config.sandbox, "`sandbox: auto` takes one that works")
    raise UsageError("; ".join(problems) or "no sandbox is installed", hint=hint)


def built(part: Part[T], context: RunContext, stack: PartsStack) -> T:
    build = cast("Callable[[Any, RunContext], T]", part.cls)
    try:
        part_built = build(part.options, context)
    except (Exception, SystemExit) as error:  # the run must say which one it was
        record = part.record
        raise PluginError(
            f"the {record.kind} {record.name} of {record.dist} cannot be built: "
            f"{type(error).__name__}: {error}",
            hint=record.mend,
        ) from error
    stack.push_async_callback(
        close, stack.closing_time, cast("Closeable", part_built), part.record, context
    )
    return checked_answers(part_built, part.record)


async def close(
    closing_time: ClosingTime, part: Closeable, record: PluginRecord, context: RunContext
) -> None:
    """Close one part; a part that fails or hangs keeps none of the others from closing."""
    problem = await _close_within(closing_time.left_s(), part)
    if problem is not None:
        what = f"{type(problem).__name__}: {problem}"
        message = f"{record.name} of {record.dist} did not close: {what}"
        context.publish("log", level="warning", message=message)


async def _close_within(limit_s: float, part: Closeable) -> BaseException | None:
    """Close it in a task, which is left behind where it ignores that it is cancelled."""

    async def closed() -> BaseException | None:
        try:
            await part.aclose()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the run has ended; trouble is told
            return error
        return None

    ends_at = time.monotonic() + limit_s
    closing = asyncio.create_task(closed())
    try:
        with BlockedLoopWatch().over_all(lambda now: now > ends_at):
            await asyncio.wait({closing}, timeout=limit_s)
        if not closing.done():
            return TimeoutError(f"it did not finish within {limit_s:.0f} s")
        return asyncio.CancelledError() if closing.cancelled() else closing.result()
    finally:
        closing.cancel()
