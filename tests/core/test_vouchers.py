"""Plugins that vouch for installed files are asked one after another, and only as far as needed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Collection
from contextlib import aclosing
from typing import Any, cast

from retrai_core import InstalledFiles, RunContext, hookimpl
from retrai_core.plugins.hooks import HookCaller
from retrai_core.plugins.record import PluginRecord
from retrai_core.vouchers import Vouchers

PATHS = ["node_modules/a/index.js", "node_modules/b/index.js"]
NOTHING = frozenset[str]()


class Vouching:
    """Says one thing after another; an exception among them is raised."""

    def __init__(self, *answers: object) -> None:
        self.answers = answers
        self.said = 0
        self.closed = False

    @hookimpl
    async def vouch_for_installed(self, files: InstalledFiles) -> AsyncGenerator[Any, None]:
        try:
            for answer in self.answers:
                if isinstance(answer, BaseException):
                    raise answer
                self.said += 1
                yield answer
        finally:
            self.closed = True


class Told:
    """A context that keeps what is told."""

    def __init__(self) -> None:
        self.messages: list[str] = []

    def publish(self, kind: str, **payload: Any) -> None:
        self.messages.append(payload["message"])


def files(context: Told) -> InstalledFiles:
    return InstalledFiles(
        context=cast("RunContext", context),
        paths=PATHS,
        changed=frozenset(PATHS),
        known=[],
        before=lambda path: b"",
        may_change=lambda path: False,
    )


def vouchers(*plugins: object, limit_s: float = 60.0) -> Vouchers:
    names = (f"v{number}" for number in range(len(plugins)))
    records = (PluginRecord(name, "hook", f"dist-of-{name}", "1.0", f"{name}:V") for name in names)
    return Vouchers(HookCaller(zip(records, plugins, strict=True)), limit_s=limit_s)


async def answers(asked: Vouchers, told: Told) -> list[Collection[str]]:
    return [vouched async for vouched in asked.ask(files(told))]


async def test_what_plugins_say_adds_up_and_only_of_files_that_were_asked_for() -> None:
    first, second = Vouching([PATHS[0], "src/evil.js"]), Vouching({PATHS[1]})
    told = Told()
    assert await answers(vouchers(first, second), told) == [set(PATHS)]
    assert not told.messages


async def test_nobody_is_asked_for_more_than_is_needed() -> None:
    first, second = Vouching({PATHS[0]}, {PATHS[1]}), Vouching({PATHS[1]}, NOTHING)
    async with aclosing(vouchers(first, second).ask(files(Told()))) as asked:
        assert await anext(asked) == set(PATHS)
    assert (first.said, first.closed, second.said, second.closed) == (1, True, 1, True)


async def test_a_later_answer_takes_the_place_of_the_one_before() -> None:
    first, second = Vouching({PATHS[0]}, {PATHS[1]}, NOTHING), Vouching({PATHS[0]})
    assert await answers(vouchers(first, second), Told()) == [{PATHS[0]}, set(PATHS), {PATHS[0]}]


async def test_one_that_raises_vouches_for_no_more_and_silences_nobody() -> None:
    for error, said in (OSError("no  room"), "no room"), (SystemExit(3), "3"):
        told = Told()
        broken, other = Vouching({PATHS[0]}, error, {PATHS[1]}), Vouching(NOTHING, NOTHING)
        assert await answers(vouchers(broken, other), told) == [{PATHS[0]}, {PATHS[0]}]
        assert told.messages == [
            f"v0@dist-of-v0 could not tell which installed files are right: {said}"
        ]


async def test_nonsense_vouches_for_nothing() -> None:
    class Nonsense:
        @hookimpl
        def vouch_for_installed(self, files: InstalledFiles) -> object:
            return True

    for plugin in (Nonsense(), Vouching(7), Vouching([["a"]])):
        told = Told()
        assert await answers(vouchers(plugin), told) == []
        assert len(told.messages) == 1


async def test_one_that_never_answers_is_waited_for_only_so_long() -> None:
    class Hanging:
        @hookimpl
        async def vouch_for_installed(self, files: InstalledFiles) -> AsyncGenerator[Any, None]:
            await asyncio.Event().wait()
            yield set(PATHS)

    told = Told()
    assert await answers(vouchers(Hanging(), Vouching(NOTHING), limit_s=0.01), told) == [NOTHING]
    assert len(told.messages) == 1


def test_what_to_install_is_told_only_where_nobody_vouches() -> None:
    assert vouchers(Vouching()).missing == ""
    assert "pip install" not in vouchers().missing
    assert (
        "(`pip install retrai-a retrai-b`)"
        in Vouchers(HookCaller([]), ["retrai-a", "retrai-b"]).missing
    )
