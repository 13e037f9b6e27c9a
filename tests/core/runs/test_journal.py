"""The journal knows of every call whether it began and how it ended, whatever a kill left."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrai_core.runs.journal import JournalledResult, ToolJournal

DONE = JournalledResult(True, "two files", 0.25)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


def resumed(path: Path) -> ToolJournal:
    """The journal as a later process of the run reads it."""
    return ToolJournal(path)


def test_a_new_journal_knows_no_call(path: Path) -> None:
    journal = ToolJournal(path)
    assert journal.finished("0/0/a") is None
    assert not journal.cut_off("0/0/a")


def test_a_finished_call_is_known_to_the_next_process(path: Path) -> None:
    journal = ToolJournal(path)
    journal.begin("0/0/a", "look")
    journal.end("0/0/a", DONE)
    later = resumed(path)
    assert later.finished("0/0/a") == DONE
    assert not later.cut_off("0/0/a")


def test_a_call_that_began_and_did_not_end_was_cut_off(path: Path) -> None:
    ToolJournal(path).begin("0/0/a", "look")
    later = resumed(path)
    assert later.cut_off("0/0/a")
    assert later.finished("0/0/a") is None


def test_a_call_of_this_process_is_not_taken_for_one_that_was_cut_off(path: Path) -> None:
    journal = ToolJournal(path)
    journal.begin("0/0/a", "look")
    assert not journal.cut_off("0/0/a")


def test_the_entry_is_in_the_file_when_begin_and_end_return(path: Path) -> None:
    journal = ToolJournal(path)
    journal.begin("0/0/a", "look")
    assert path.read_text().count("\n") == 1
    journal.end("0/0/a", DONE)
    assert path.read_text().count("\n") == 2


@pytest.mark.parametrize("kept", range(1, 60, 7))
def test_an_end_that_a_kill_left_half_written_counts_as_cut_off(path: Path, kept: int) -> None:
    journal = ToolJournal(path)
    journal.begin("0/0/a", "look")
    whole = path.read_bytes()
    journal.end("0/0/a", DONE)
    path.write_bytes(whole + path.read_bytes()[len(whole) :][:kept])
    later = resumed(path)
    assert later.cut_off("0/0/a")
    later.end("0/0/a", DONE)
    assert resumed(path).finished("0/0/a") == DONE, "what follows half a line is whole again"


def test_half_a_character_at_the_end_is_no_obstacle(path: Path) -> None:
    journal = ToolJournal(path)
    journal.begin("0/0/a", "look")
    with path.open("ab") as file:
        file.write('{"call": "0/0/ü'.encode()[:-1])
    assert resumed(path).cut_off("0/0/a")


def test_lines_that_are_no_entries_are_passed_over(path: Path) -> None:
    path.write_bytes(b'\xff\xfe\n[]\n"call"\n{}\nnull\n{"call": "0/0/a", "begin": "look"}\n')
    assert resumed(path).cut_off("0/0/a")


@given(content=st.text(st.characters() | st.sampled_from("\u2028\u2029\x85\r\n\x1c\ud83d\udc80")))
def test_any_text_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, content: str
) -> None:
    path = tmp_path_factory.mktemp("journal") / "journal.jsonl"
    journal = ToolJournal(path)
    journal.begin("0/0/a", "look")
    journal.end("0/0/a", JournalledResult(False, content, 1.5))
    journal.begin("0/1/b", "look")
    journal.close()
    later = resumed(path)
    assert later.finished("0/0/a") == JournalledResult(False, content, 1.5)
    assert later.cut_off("0/1/b")
    later.close()
