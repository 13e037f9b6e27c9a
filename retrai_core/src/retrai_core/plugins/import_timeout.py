"""Waits for plugin imports with a time limit and a notice, in a thread that can be abandoned."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from ..errors import PluginError
from .daemon_call import start_aside

if TYPE_CHECKING:
    from .catalog import Catalog

T = TypeVar("T")

NOTICE_S = 5.0
"""After so many seconds the user is told which import it is that takes so long."""

LIMIT_S = 120.0
"""Seconds that one import may take; the first import of a large library from a cold disk takes
tens of them."""

_LOOK_S = 0.5


async def load_in_thread(
    catalog: Catalog,
    work: Callable[[], T],
    tell: Callable[[str], None],
    *,
    notice_s: float = NOTICE_S,
    limit_s: float = LIMIT_S,
) -> T:
    """Do `work`, which loads plugins of `catalog`, in a thread of its own.

    The thread is a daemon: an import cannot be ended, but whoever presses Ctrl-C, or has waited
    for the limit, must not wait for it either.

    Args:
        catalog: knows what is being loaded.
        work: what to do; its result or exception is handed on.
        tell: hears one line about each import that takes longer than `notice_s`.
        notice_s: seconds.
        limit_s: seconds.

    Raises:
        PluginError: one import took longer than `limit_s`.
    """
    waiting = start_aside(work)
    told: set[str] = set()
    try:
        while not (await asyncio.wait({waiting}, timeout=min(_LOOK_S, notice_s)))[0]:
            loading = catalog.loading
            if loading is None:
                continue
            record, seconds = loading
            what = f"the {record.kind} `{record.name}` of {record.dist}"
            if seconds > limit_s:
                raise PluginError(
                    f"{what} is not imported after {limit_s:g} s",
                    hint=f"`pip install --force-reinstall {record.dist}`, "
                    f"or RETRAI_DISABLE_PLUGINS={record.dist} goes without it",
                )
            if seconds > notice_s and record.full_name not in told:
                told.add(record.full_name)
                tell(f"still importing {what}; it has {limit_s:g} s")
        return waiting.result()
    finally:
        waiting.cancel()  # nobody hears any more what becomes of it
