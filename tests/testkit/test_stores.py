"""The stores of this repository keep the contract of stores, by the kit that strangers use."""

from __future__ import annotations

import sys
from contextlib import asynccontextmanager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from retrai_core import FilesStore, RunStore
from retrai_testkit import NotApplicable, RunStoreConformance, RunStoreTests

EXAMPLE = Path(__file__).parents[2] / "examples" / "frontends" / "memory_store.py"


def module_of(path: Path) -> Any:
    """A module that is not on the import path."""
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[path.stem] = module  # where dataclasses look their annotations up
    spec.loader.exec_module(module)
    return module


example = module_of(EXAMPLE)


class TestFilesStore(RunStoreConformance):
    plugin = FilesStore

    def open_store(self, place: Path) -> FilesStore:
        return FilesStore(state=place / "state")

    def in_another_process(self, place: Path) -> str:
        imports = "from pathlib import Path; from retrai_core import FilesStore"
        return f"{imports}; store = FilesStore(state=Path({str(place / 'state')!r}))"


class TestStoreInMemory(RunStoreTests):
    """The example, whose claims are lost after a lease."""

    expires = True
    _places: dict[Path, Any]

    def open_store(self, place: Path) -> RunStore:
        places = self.__dict__.setdefault("_places", {})
        return example.InMemory(runs=places.setdefault(place, {}))

    def in_another_process(self, place: Path) -> NotApplicable:
        return NotApplicable("another process has another memory")


def test_the_example_shows_a_stale_worker_that_is_refused(capsys: pytest.CaptureFixture) -> None:
    example.asyncio.run(example.main())
    *waited, taken, refused, last = capsys.readouterr().out.splitlines()
    assert waited
    assert taken == "the second worker has the run"
    assert refused == "refused: the first worker does not hold run run1 any more"
    assert last == "the run has 2 events"


class ByTime(FilesStore):
    """Finds checkpoints as LangGraph's own saver does."""

    @asynccontextmanager
    async def checkpointer(self, claim):
        path = self.folder(claim.run_id) / "stock.sqlite"
        async with AsyncSqliteSaver.from_conn_string(str(path)) as saver:
            yield saver


class AskedAtTheBeginning(FilesStore):
    """Asks for the claim when a journal is opened, and then never again."""

    async def append(self, claim, log, lines):
        with (self.folder(claim.run_id) / f"{log}.jsonl").open("a") as file:
            file.writelines(f"{line}\n" for line in lines)


class Overwrites(FilesStore):
    """Saves a record whoever has the run."""

    async def save(self, claim, record):
        record.save(self.folder(claim.run_id))


class LastAnswerWins(FilesStore):
    """Sends every command."""

    async def send(self, run_id, command):
        for _ in range(100):
            if await super().send(run_id, command):
                return True
            (self.folder(run_id) / "mailbox.jsonl").unlink()
        return False


class Sleeps(FilesStore):
    """Wakes nobody."""

    def changes(self, run_id):
        return self._never()

    async def _never(self):
        yield "run1"


@pytest.mark.parametrize(
    ("store", "test", "arguments"),
    [
        (ByTime, "checkpoints_come_back_in_the_order_of_writing", {}),
        (
            AskedAtTheBeginning,
            "what_was_opened_writes_nothing_once_the_claim_is_lost",
            {"how": "released"},
        ),
        (Overwrites, "who_lost_the_claim_writes_nothing", {"what": "record", "how": "taken"}),
        (LastAnswerWins, "the_first_answer_wins", {}),
        (Sleeps, "who_waits_for_a_run_is_woken", {}),
    ],
)
def test_a_store_that_breaks_the_contract_is_found(
    tmp_path: Path, store: type[FilesStore], test: str, arguments: dict[str, Any]
) -> None:
    class Broken(RunStoreTests):
        def open_store(self, place: Path) -> RunStore:
            return store(state=place / "state")

    with pytest.raises((AssertionError, pytest.fail.Exception, StopAsyncIteration, RuntimeError)):
        getattr(Broken(), f"test_{test}")(tmp_path, **arguments)
