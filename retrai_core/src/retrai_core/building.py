"""Building one part of a run, and closing it whatever happens."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any, Protocol, TypeVar, cast

from .chosen import GroundChoice, Part
from .contracts.context import RunContext
from .contracts.sandbox import Sandbox
from .errors import PluginError, UsageError
from .plugins.record import PluginRecord
from .plugins.standard_names import AUTO_SANDBOX, STRICT_SANDBOX

T = TypeVar("T")

_CLOSE_TIMEOUT_S = 15.0


class Closeable(Protocol):
    """Everything that is built for a run."""

    async def aclose(self) -> None:
        """Give back what it holds."""
        ...


async def first_working(
    choice: GroundChoice, context: RunContext, stack: AsyncExitStack
) -> Sandbox:
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


def built(part: Part[T], context: RunContext, stack: AsyncExitStack) -> T:
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
    stack.push_async_callback(close, cast("Closeable", part_built), part.record, context)
    return part_built


async def close(part: Closeable, record: PluginRecord, context: RunContext) -> None:
    """Close one part; a part that fails or hangs keeps none of the others from closing."""
    try:
        async with asyncio.timeout(_CLOSE_TIMEOUT_S):
            await part.aclose()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the run has ended; trouble is told
        message = f"{record.name} of {record.dist} did not close: {type(error).__name__}: {error}"
        context.publish("log", level="warning", message=message)
