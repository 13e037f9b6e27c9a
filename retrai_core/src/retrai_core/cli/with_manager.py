"""Opens a run manager for one question."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from .output import echo

if TYPE_CHECKING:
    from ..runs.manager import RunManager

T = TypeVar("T")


def with_manager(use: Callable[[RunManager], Awaitable[T]]) -> T:
    """What `use` returns; the manager's warnings go to standard error."""
    import asyncio  # TAB imports this module too

    from ..runs.manager import RunManager

    async def ask() -> T:
        async with RunManager(tell=lambda line: echo(line, err=True)) as manager:
            return await use(manager)

    return asyncio.run(ask())
