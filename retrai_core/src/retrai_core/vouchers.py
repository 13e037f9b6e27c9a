"""The plugins that know which installed files are as the user asked for them, one after another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Collection
from contextlib import aclosing
from typing import cast

from .contracts.installed_files import InstalledFiles
from .plugins.hooks import HookCaller
from .plugins.record import PluginRecord

ANSWER_LIMIT_S = 900.0
"""Seconds that a plugin has for all of its answer; it may have to ask a registry for packages."""


class Vouchers:
    """Asks every plugin that vouches for installed files. One that raises vouches for no more.

    Args:
        hooks: the run's hook plugins.
        limit_s: seconds that a plugin has.
    """

    def __init__(self, hooks: HookCaller, *, limit_s: float = ANSWER_LIMIT_S) -> None:
        self._hooks = hooks
        self._limit_s = limit_s

    async def ask(self, files: InstalledFiles) -> AsyncGenerator[set[str], None]:
        """What is vouched for so far, each time that there is more of it."""
        vouched: set[str] = set()
        for record in self._hooks.implementers("vouch_for_installed"):
            async with aclosing(self._answers(record, files)) as answers:
                async for more in answers:
                    vouched |= more.intersection(files.paths)
                    yield set(vouched)

    async def _answers(
        self, record: PluginRecord, files: InstalledFiles
    ) -> AsyncGenerator[frozenset[str], None]:
        answer = self._hooks.call_one(record, "vouch_for_installed", files=files)
        try:
            if isinstance(answer, Exception):
                raise answer
            given = cast("AsyncIterator[Collection[str]]", answer)
            ends_at = asyncio.get_running_loop().time() + self._limit_s
            while True:
                async with asyncio.timeout_at(ends_at):
                    more = await anext(given, None)
                if more is None:
                    return
                yield frozenset(more)
        except Exception as error:  # noqa: BLE001 - what it has not said is audited
            said = " ".join(str(error).split()) or type(error).__name__
            message = f"{record.full_name} could not tell which installed files are right: {said}"
            files.context.publish("log", level="warning", message=message)
        finally:
            if isinstance(answer, AsyncGenerator):
                await cast("AsyncGenerator[object, None]", answer).aclose()
