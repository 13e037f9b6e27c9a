"""The plugins that know which installed files are as the user asked for them, asked together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Sequence
from contextlib import suppress
from typing import cast

from .contracts.installed_files import InstalledFiles
from .plugins.hooks import HookCaller
from .plugins.record import PluginRecord

ANSWER_LIMIT_S = 900.0
"""Seconds that a plugin has for all of its answers; it may have to ask a registry for packages."""
_CLOSING_LIMIT_S = 10.0


class Vouchers:
    """Asks every plugin that vouches for installed files: all for their first answer, then on.

    One that raises has said all that it says.

    Args:
        hooks: the run's hook plugins.
        would_help: distributions that are not installed and fit the project.
        limit_s: seconds that a plugin has.
    """

    def __init__(
        self,
        hooks: HookCaller,
        would_help: Sequence[str] = (),
        *,
        limit_s: float = ANSWER_LIMIT_S,
    ) -> None:
        self._hooks = hooks
        self._would_help = would_help
        self._limit_s = limit_s

    @property
    def missing(self) -> str:
        """What to install, in words for people, where no plugin vouches; empty where one does."""
        if self._hooks.implementers("vouch_for_installed"):
            return ""
        install = f" (`pip install {' '.join(self._would_help)}`)" if self._would_help else ""
        return f"no plugin that knows what a package manager installs is there{install}"

    async def ask(self, files: InstalledFiles) -> AsyncGenerator[frozenset[str], None]:
        """What is vouched for by all together, each time that there is an answer more."""
        records = self._hooks.implementers("vouch_for_installed")
        asked = [_Voucher(self._hooks, record, files, self._limit_s) for record in records]
        try:
            while any([await voucher.go_on() for voucher in asked]):
                together = frozenset[str]().union(*(voucher.vouched for voucher in asked))
                yield together.intersection(files.paths)
        finally:
            for voucher in asked:
                await voucher.aclose()


class _Voucher:
    """One plugin's answers.

    Attributes:
        vouched: what it said last.
    """

    def __init__(
        self, hooks: HookCaller, record: PluginRecord, files: InstalledFiles, limit_s: float
    ) -> None:
        self._record = record
        self._files = files
        self._left_s = limit_s
        self._answer = hooks.call_one(record, "vouch_for_installed", files=files)
        self._ended = False
        self.vouched: frozenset[str] = frozenset()

    async def go_on(self) -> bool:
        """Wait for its next answer; False where there is none."""
        if self._ended:
            return False
        try:
            more = await self._next()
            self._ended = more is None
            self.vouched = self.vouched if more is None else frozenset(more)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - what it has not said is audited
            self._ended = True
            said = " ".join(str(error).split()) or type(error).__name__
            who = self._record.full_name
            message = f"{who} could not tell which installed files are right: {said}"
            self._files.context.publish("log", level="warning", message=message)
        return not self._ended

    async def _next(self) -> Collection[str] | None:
        if isinstance(self._answer, Exception):
            raise self._answer
        began = asyncio.get_running_loop().time()
        async with asyncio.timeout(self._left_s):
            more = await anext(cast("AsyncIterator[Collection[str]]", self._answer), None)
        self._left_s -= asyncio.get_running_loop().time() - began
        return more

    async def aclose(self) -> None:
        close = getattr(self._answer, "aclose", None)
        if close is not None:
            with suppress(Exception, SystemExit):
                async with asyncio.timeout(_CLOSING_LIMIT_S):
                    await close()
