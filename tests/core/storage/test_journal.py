"""The journal knows of every call whether it began and how it ended, whatever a kill left."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrai_core import FilesStore, Journal, JournalledResult, RunRecord

DONE = JournalledResult(True, "two files", 0.25)


class Place:
    """A run whose journal is opened under one claim after the other."""

    def __init__(self, folder: Path) -> None:
        self.store = FilesStore(state=folder / "state")
        self.path = self.store.folder("r1") / "journal.jsonl"

    @asynccontextmanager
    async def journal(self) -> AsyncGenerator[Journal]:
        """The journal as a later process of the run reads it."""
        if not self.path.parent.exists():
            await self.store.create(RunRecord(id="r1", model="offline", project=Path("/p")))
        claim = await self.store.claim("r1", "a test")
        assert claim is not None
        async with self.store.journal(claim) as journal:
            yield journal
        await self.store.release(claim)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


async def test_the_entry_is_in_the_file_when_begin_and_end_return(place: Place) -> None:
    async with place.journal() as journal:
        await journal.begin("0/0/a", "look")
        assert place.path.read_text().count("\n") == 1
        await journal.end("0/0/a", DONE)
        assert place.path.read_text().count("\n") == 2


@pytest.mark.parametrize("kept", range(1, 60, 7))
async def test_an_end_that_a_kill_left_half_written_counts_as_cut_off(
    place: Place, kept: int
) -> None:
    async with place.journal() as journal:
        await journal.begin("0/0/a", "look")
        whole = place.path.read_bytes()
        await journal.end("0/0/a", DONE)
    place.path.write_bytes(whole + place.path.read_bytes()[len(whole) :][:kept])
    async with place.journal() as journal:
        assert await journal.cut_off("0/0/a")
        await journal.end("0/0/a", DONE)
    async with place.journal() as journal:
        assert await journal.finished("0/0/a") == DONE, "what follows half a line is whole again"


async def test_half_a_character_at_the_end_is_no_obstacle(place: Place) -> None:
    async with place.journal() as journal:
        await journal.begin("0/0/a", "look")
    with place.path.open("ab") as file:
        file.write('{"call": "0/0/ü'.encode()[:-1])
    async with place.journal() as journal:
        assert await journal.cut_off("0/0/a")


async def test_lines_that_are_no_entries_are_passed_over(place: Place) -> None:
    async with place.journal():
        pass
    odd = b'\xff\xfe\n[]\n"call"\n{}\nnull\n{"call": 3}\n{"call": "0/0/a", "end": 3}\n'
    place.path.write_bytes(odd)
    async with place.journal() as journal:
        assert await journal.cut_off("0/0/a")


async def test_a_journal_of_retrai_0_1_is_read(place: Place) -> None:
    async with place.journal():
        pass
    end = {"ok": True, "content": "two files", "duration_s": 0.25}
    lines = [
        {"call": "0/0/a", "begin": "look"},
        {"call": "0/0/a", "end": end},
        {"call": "0/1/b", "begin": "look"},
    ]
    place.path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    async with place.journal() as journal:
        assert await journal.finished("0/0/a") == DONE
        assert await journal.cut_off("0/1/b")
        assert not await journal.cut_off("0/2/c")


@given(content=st.text(st.characters() | st.sampled_from("\u2028\u2029\x85\r\n\x1c\ud83d\udc80")))
def test_any_text_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, content: str
) -> None:
    async def use() -> None:
        place = Place(tmp_path_factory.mktemp("journal"))
        result = JournalledResult(False, content, 1.5)
        async with place.journal() as journal:
            await journal.begin("0/0/a", "look")
            await journal.end("0/0/a", result)
            await journal.begin("0/1/b", "look")
        async with place.journal() as journal:
            assert await journal.finished("0/0/a") == result
            assert await journal.cut_off("0/1/b")
        assert await place.store.tool_result("r1", "a") == result

    asyncio.run(use())
