"""The contract of stores."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Generator,
    Mapping,
    Sequence,
)
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from functools import wraps
from itertools import count, cycle
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, ParamSpec, cast
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from retrai_core import (
    AgentEvent,
    AgentState,
    Answer,
    Cancel,
    Claim,
    ClaimLostError,
    Configure,
    JournalledResult,
    Question,
    RetraiError,
    RunNotFoundError,
    RunRecord,
    RunStore,
    UsageError,
)
from retrai_core.plugins.describe import describe_plugin
from retrai_core.plugins.kinds import Kind

from ..overriding import NotApplicable
from .plugin import PluginConformance, required
from .store_process import at, checkpoint, event

P = ParamSpec("P")
Call = Callable[[], Awaitable[object]]

_LEASE_S = 0.1
_PATIENCE_S = 120.0
_RUN = "run1"
_DONE = JournalledResult(True, "two files", 0.25)
_ODD = ("", "a\nb\r\n", "\u2028\u2029\x85", "\u2603 \U0001f600", 'half \ud83d a "pair"', "\x00\x1c")
_WRITES = ("record", "event", "question", "blob", "journal", "checkpoint", "writes", "heartbeat")
_OPENED = ("a checkpointer", "a journal")
_NOW_NS = 1_767_225_600_000_000_000
_DECADE_NS = 300_000_000_000_000_000


def _in_loop(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Run a test in an event loop of its own, and never for ever."""

    @wraps(test)
    def run(*arguments: P.args, **named: P.kwargs) -> None:
        async def limited() -> None:
            async with asyncio.timeout(_PATIENCE_S):
                await test(*arguments, **named)

        asyncio.run(limited())

    return run


class RunStoreTests:
    """What a store must do, as tests of the store alone, which need not be installed.

    Attributes:
        expires: a claim is lost when its lease has passed without a heartbeat. False for a store
            that can tell a dead holder from one that sleeps.
    """

    expires: ClassVar[bool] = False

    def open_store(self, place: Path) -> RunStore:
        """A store on a place: every store on one place has the same runs.

        Args:
            place: an empty folder at first, which a store without files may take for a name.
        """
        raise NotImplementedError("override open_store(place)")

    def in_another_process(self, place: Path) -> str | NotApplicable | None:
        """Python code that opens a store on a place, by the name `store`, in another process."""
        return None

    # Records

    @_in_loop
    async def test_a_record_comes_back(self, tmp_path: Path) -> None:
        """Another store on the place loads what was created and saved."""
        async with self._stores(tmp_path) as (store, other):
            record = _record(labels={"team": "a"}, input={"task": _ODD[3]})
            await store.create(record)
            assert await other.load(_RUN) == record
            claim = await _claimed(store)
            record.reason, record.status = "as it is", "failed"
            await store.save(claim, record)
            record.reason = "changed later"
            assert (await other.load(_RUN)).reason == "as it is"

    @_in_loop
    async def test_an_id_is_taken_once(self, tmp_path: Path) -> None:
        """A second run of the same id is refused, and harms the first one in nothing."""
        async with self._stores(tmp_path) as (store, other):
            await store.create(_record(model="first"))
            with pytest.raises(UsageError):
                await other.create(_record(model="second"))
            assert (await store.load(_RUN)).model == "first"

    @_in_loop
    async def test_a_run_is_found_by_the_beginning_of_its_id(self, tmp_path: Path) -> None:
        """The only one whose id begins so; a whole id is no beginning of another."""
        async with self._stores(tmp_path) as (store, _):
            for name in ("abc", "abcdef", "abd"):
                await store.create(_record(name))
            assert [(await store.load(part)).id for part in ("abcd", "abd", "abc")] == [
                "abcdef",
                "abd",
                "abc",
            ]
            for part in ("ab", "x", ""):
                with pytest.raises(RunNotFoundError):
                    await store.load(part)

    @pytest.mark.parametrize("name", ["none", "", ".", "..", "../run1", "run1/.", "run"])
    @_in_loop
    async def test_a_run_that_is_not_there_is_said_so(self, tmp_path: Path, name: str) -> None:
        """Everything that takes a run's id takes it whole, and only of a run that is there."""
        async with self._stores(tmp_path) as (store, _):
            await store.create(_record())
            asked: Mapping[str, Call] = {
                "delete": lambda: store.delete(name),
                "claim": lambda: store.claim(name, "a worker"),
                "read_events": lambda: store.read_events(name),
                "questions": lambda: store.questions(name),
                "send": lambda: store.send(name, Cancel()),
                "tool_result": lambda: store.tool_result(name, "c1"),
                "get_blob": lambda: store.get_blob(name, "receipt.json"),
                "changes": lambda: anext(store.changes(name)),
            }
            for what, call in asked.items():
                try:
                    await call()
                except RunNotFoundError:
                    continue
                pytest.fail(f"{what} takes {name!r} for a run")

    @_in_loop
    async def test_runs_are_listed_newest_first(self, tmp_path: Path) -> None:
        """By the time at which they were created; `before` and `limit` give page after page."""
        async with self._stores(tmp_path) as (store, other):
            for created in (3.0, 1.0, 5.0, 2.0, 4.0):
                await store.create(_record(f"run{created:.0f}", created_at=created))
            assert await _ids(other) == ["run5", "run4", "run3", "run2", "run1"]
            assert await _ids(other, limit=2) == ["run5", "run4"]
            assert await _ids(other, before=4.0, limit=2) == ["run3", "run2"]
            assert await _ids(other, before=1.0) == []

    @_in_loop
    async def test_runs_are_listed_by_what_is_known_of_them(self, tmp_path: Path) -> None:
        """Project, status, goal, text and labels, each alone and together."""
        async with self._stores(tmp_path) as (store, _):
            mine, yours = (tmp_path / name for name in ("mine", "yours"))
            labels = {"team": "a", "night": "yes"}
            await store.create(_record("r1", 1.0, project=mine, goal="pytest", labels=labels))
            await store.create(
                _record("r2", 2.0, project=yours, goal="pytest", status="failed", reason="Slow!")
            )
            await store.create(
                _record("r3", 3.0, project=mine, status="failed", labels={"team": "b"})
            )
            assert await _ids(store, project=mine) == ["r3", "r1"]
            assert await _ids(store, status="failed") == ["r3", "r2"]
            assert await _ids(store, goal="pytest") == ["r2", "r1"]
            assert await _ids(store, text="slow") == ["r2"]
            assert await _ids(store, text="mine") == ["r3", "r1"]
            assert await _ids(store, labels={"team": "a"}) == ["r1"]
            assert await _ids(store, labels={"team": "a", "night": "no"}) == []
            assert await _ids(store, project=mine, status="failed", limit=1) == ["r3"]

    @_in_loop
    async def test_a_deleted_run_leaves_nothing(self, tmp_path: Path) -> None:
        """Neither its record nor what was kept beside it; its id can be taken again."""
        async with self._stores(tmp_path) as (store, other):
            claim = await self._working(store)
            await store.append_events(claim, [event(_RUN, 1)])
            await store.put_blob(claim, "receipt.json", b"1")
            with pytest.raises(UsageError):
                await other.delete(_RUN)
            await store.release(claim)
            await other.delete(_RUN)
            assert await _ids(store) == []
            with pytest.raises(RunNotFoundError):
                await store.load(_RUN)
            await store.create(_record())
            assert list(await store.read_events(_RUN)) == []
            assert await store.get_blob(_RUN, "receipt.json") is None

    # Claims

    @_in_loop
    async def test_of_two_claimers_one_wins(self, tmp_path: Path) -> None:
        """Also of many at once, and while others look whether somebody has the run."""
        async with self._stores(tmp_path, 4) as stores:
            await stores[0].create(_record())
            for _ in range(10):
                asked = [store.claim(_RUN, f"worker {n}") for n, store in enumerate(stores * 2)]
                looks = [store.load(_RUN) for store in stores]
                claims, _ = await asyncio.gather(asyncio.gather(*asked), asyncio.gather(*looks))
                (won,) = [claim for claim in claims if claim is not None]
                for store in stores:
                    await store.release(won)  # nothing happens in a store that does not have it

    @_in_loop
    async def test_claims_are_counted(self, tmp_path: Path) -> None:
        """Each claim of a run has a higher number; it names its worker."""
        async with self._stores(tmp_path) as (store, other):
            await store.create(_record())
            numbers: list[int] = []
            for each in (store, other, store):
                claim = await each.claim(_RUN, "worker")
                assert claim is not None
                assert (claim.run_id, claim.worker) == (_RUN, "worker")
                numbers.append(claim.number)
                await each.release(claim)
                await each.release(claim)  # again, and nothing happens
            assert numbers == sorted(set(numbers))

    @pytest.mark.parametrize("how", ["released", "taken", "forged"])
    @pytest.mark.parametrize("what", [*_WRITES, "commands"])
    @_in_loop
    async def test_who_lost_the_claim_writes_nothing(
        self, tmp_path: Path, what: str, how: str
    ) -> None:
        """Each write is refused: of a claim that was given back, that another has, or that nobody
        gave."""
        async with self._stores(tmp_path) as (store, other):
            claim = await self._working(store, lease_s=_LEASE_S if how == "taken" else 60)
            if how == "forged":
                claim = Claim(_RUN, "somebody", claim.number + 1)
            else:
                await self._lose(store, other, claim, how)
            before = await _contents(other)
            with pytest.raises(ClaimLostError):
                await _write(store, claim, what)
            with pytest.raises(ClaimLostError):
                await _write(other, claim, what)
            assert await _contents(other) == before

    @pytest.mark.parametrize("how", ["released", "taken"])
    @_in_loop
    async def test_what_was_opened_writes_nothing_once_the_claim_is_lost(
        self, tmp_path: Path, how: str
    ) -> None:
        """A journal and a checkpointer ask for the claim at each write."""
        async with self._stores(tmp_path) as (store, other):
            claim = await self._working(store, lease_s=30.0 if how == "released" else 2.0)
            async with store.journal(claim) as journal, store.checkpointer(claim) as saver:
                await journal.begin("0/0/c1", "look")
                await _put(saver, 1)
                await self._lose(store, other, claim, how)
                before = await _contents(other)
                for write in (
                    lambda: journal.begin("0/0/c2", "look"),
                    lambda: journal.end("0/0/c1", _DONE),
                    lambda: _put(saver, 2),
                    lambda: saver.aput_writes(
                        at(_RUN, _checkpoint(1)["id"]), [("number", 5)], "task"
                    ),
                ):
                    with pytest.raises(ClaimLostError):
                        await write()
                assert await _contents(other) == before

    @_in_loop
    async def test_a_holder_that_only_sleeps(self, tmp_path: Path) -> None:
        """It keeps its claim; in a store with leases another gets the run, and it can write
        nothing."""
        async with self._stores(tmp_path) as (store, other):
            claim = await self._working(store, lease_s=_LEASE_S)
            if self.expires:
                taken = await _claimed(other)
                with pytest.raises(ClaimLostError):
                    await store.append_events(claim, [event(_RUN, 1)])
                assert await other.append_events(taken, [event(_RUN, 1)]) == 1
                return
            await asyncio.sleep(3 * _LEASE_S)
            assert await other.claim(_RUN, "another") is None
            assert await store.append_events(claim, [event(_RUN, 1)]) == 1

    @_in_loop
    async def test_a_heartbeat_keeps_a_claim(self, tmp_path: Path) -> None:
        """A holder whose heart beats loses nothing, however long it works."""
        async with self._stores(tmp_path) as (store, other):
            lease_s = 2.0
            claim = await self._working(store, lease_s=lease_s)
            until = time.monotonic() + 1.5 * lease_s
            while time.monotonic() < until:
                await store.heartbeat(claim)
                assert await other.claim(_RUN, "another") is None
                await asyncio.sleep(_LEASE_S)
            assert await store.append_events(claim, [event(_RUN, 1)]) == 1

    @_in_loop
    async def test_a_closed_store_gives_its_claims_back(self, tmp_path: Path) -> None:
        """After `aclose` another can have the run."""
        async with self._stores(tmp_path) as (store, other):
            await self._working(store)
            await store.aclose()
            assert await other.claim(_RUN, "another") is not None

    def test_of_two_processes_one_gets_the_claim(self, tmp_path: Path) -> None:
        """However many ask for it side by side."""
        asyncio.run(self._create(tmp_path))
        with (
            self._process(tmp_path, "hold") as first,
            self._process(tmp_path, "hold") as second,
            self._process(tmp_path, "hold") as third,
        ):
            said = [_line(child) for child in (first, second, third)]
        assert sorted(said) == ["claimed", "refused", "refused"]

    def test_a_dead_holder_s_run_can_be_taken(self, tmp_path: Path) -> None:
        """Where the store can tell it is dead, the run reads as `interrupted` until the next holder
        saves its record."""

        async def take() -> None:
            async with self._stores(tmp_path) as (store, other):
                if not self.expires:
                    found = await store.load(_RUN)
                    while found.status != "interrupted":
                        await asyncio.sleep(0.01)
                        found = await store.load(_RUN)
                    assert (found.exit_code, found.resumable) == (130, True)
                claim = await _claimed(store)
                if not self.expires:
                    assert (await other.load(_RUN)).status == "interrupted"
                    assert (await store.load(_RUN)).status == "interrupted"
                await store.save(claim, _record(status="running"))
                assert (await other.load(_RUN)).status == "running"

        asyncio.run(self._create(tmp_path))
        with self._process(tmp_path, "hold", "1") as child:
            assert _line(child) == "claimed"
            child.kill()
            child.wait()
            asyncio.run(asyncio.wait_for(take(), _PATIENCE_S))

    def test_a_process_that_is_stopped_for_a_while(self, tmp_path: Path) -> None:
        """As `test_a_holder_that_only_sleeps`, with a whole process that sleeps."""

        async def look() -> bool:
            async with self._stores(tmp_path) as (store, _):
                if self.expires:
                    return bool(await _claimed(store))
                assert (await store.load(_RUN)).status == "running"
                await asyncio.sleep(3 * _LEASE_S)
                return await store.claim(_RUN, "another") is not None

        asyncio.run(self._create(tmp_path))
        with self._process(tmp_path, "hold", str(_LEASE_S)) as child:
            assert _line(child) == "claimed"
            child.send_signal(signal.SIGSTOP)
            taken = asyncio.run(look())
            child.send_signal(signal.SIGCONT)
            assert taken == self.expires
            with suppress(BrokenPipeError):
                _tell(child, "again")
            assert _line(child) == ("" if self.expires else "saved again")

    # Events

    @_in_loop
    async def test_events_come_back_in_order(self, tmp_path: Path) -> None:
        """Whole, from any number on, also to a reader that began earlier."""
        async with self._stores(tmp_path) as (store, other):
            claim = await self._working(store)
            assert await store.append_events(claim, []) == 0
            assert list(await other.read_events(_RUN)) == []
            events = [event(_RUN, number) for number in range(1, 31)]
            assert await store.append_events(claim, events[:1]) == 1
            assert await _events(other) == events[:1]
            assert await store.append_events(claim, events[1:]) == 30
            assert await store.append_events(claim, []) == 30
            for after in (0, 1, 7, 29, 30, 31):
                assert await _events(other, after) == events[after:]
                assert await _events(store, after) == events[after:]

    @_in_loop
    async def test_another_claim_s_events_go_on(self, tmp_path: Path) -> None:
        """The numbers are one row over the whole run."""
        async with self._stores(tmp_path) as (store, other):
            claim = await self._working(store)
            await store.append_events(claim, [event(_RUN, 1), event(_RUN, 2)])
            await store.release(claim)
            later = await _claimed(other)
            assert await other.append_events(later, []) == 2
            assert await other.append_events(later, [event(_RUN, 3)]) == 3
            assert [each.seq for each in await _events(store)] == [1, 2, 3]

    @pytest.mark.parametrize("numbers", [[2], [1, 3], [1, 1], [0], [2, 1]])
    @_in_loop
    async def test_numbers_that_do_not_go_on_are_refused(
        self, tmp_path: Path, numbers: Sequence[int]
    ) -> None:
        """None of such events is kept."""
        async with self._stores(tmp_path) as (store, other):
            claim = await self._working(store)
            with pytest.raises((ValueError, RetraiError)):
                await store.append_events(claim, [event(_RUN, number) for number in numbers])
            assert await _events(other) == []

    @_in_loop
    async def test_any_text_comes_back_as_it_was(self, tmp_path: Path) -> None:
        """A model's text may be long, empty, of several lines, or no valid Unicode."""
        async with self._stores(tmp_path) as (store, other):
            claim = await self._working(store)
            told = [
                AgentEvent("log", _RUN, 0, {"message": text}, ts=1.0, seq=number)
                for number, text in enumerate(_ODD, 1)
            ]
            await store.append_events(claim, told)
            assert await _events(other) == told
            async with store.journal(claim) as journal:
                for number, text in enumerate(_ODD):
                    await journal.begin(f"0/{number}/c{number}", "look")
                    result = JournalledResult(False, text, 0.5)
                    await journal.end(f"0/{number}/c{number}", result)
                    assert await other.tool_result(_RUN, f"c{number}") == result
            asked = _question("odd", data={"texts": list(_ODD)})
            await store.put_question(claim, asked)
            assert [each.data for each in await other.questions(_RUN)] == [asked.data]

    def test_a_process_that_is_killed_while_it_appends_leaves_whole_events(
        self, tmp_path: Path
    ) -> None:
        """The first ones are kept, each whole; whoever takes the run goes on with the next."""

        async def go_on(place: Path, acknowledged: int) -> None:
            async with self._stores(place) as (store, other):
                claim = await _claimed(store)
                last = await store.append_events(claim, [])
                assert last >= acknowledged, "an event is gone of which the store said it is kept"
                assert await store.append_events(claim, [event(_RUN, last + 1)]) == last + 1
                assert await _events(other) == [event(_RUN, n) for n in range(1, last + 2)]

        for turn, max_bytes in enumerate((0, 777, 0, 40_001, 123_457, 400_003)):
            place = tmp_path / f"{turn}"
            asyncio.run(self._create(place))
            for _ in range(2):
                with self._process(place, "append", str(max_bytes)) as child:
                    lines = 99 if max_bytes else 5 + turn
                    said = [line for _ in range(lines) if (line := _line(child))]
                    child.kill()
                    said += _rest(child)
                last = int(said[-1]) if said else 0
                asyncio.run(asyncio.wait_for(go_on(place, last), _PATIENCE_S))

    def test_events_are_kept_before_a_checkpoint_that_comes_later(self, tmp_path: Path) -> None:
        """A kill right behind a checkpoint takes none of the events that came before it."""

        async def look(acknowledged: int) -> None:
            async with self._stores(tmp_path) as (store, _):
                claim = await _claimed(store)
                async with store.checkpointer(claim) as saver:
                    kept = await saver.aget_tuple(at(_RUN))
                assert kept is not None
                number = kept.checkpoint["channel_values"]["number"]
                events = await _events(store)
                assert acknowledged <= number <= len(events)
                assert events == [event(_RUN, n) for n in range(1, len(events) + 1)]

        asyncio.run(self._create(tmp_path))
        for turn in range(3):
            with self._process(tmp_path, "checkpoint") as child:
                said = [_line(child) for _ in range(1 + turn)]
                child.kill()
                said += _rest(child)
            asyncio.run(asyncio.wait_for(look(int(said[-1])), _PATIENCE_S))

    # Questions and commands

    @_in_loop
    async def test_questions_are_kept_oldest_first(self, tmp_path: Path) -> None:
        """One that is put again takes the place of the earlier one with its id."""
        async with self._stores(tmp_path) as (store, other):
            claim = await self._working(store)
            first, second = _question("act.1"), _question("act.2", asked_at=2.0)
            await store.put_question(claim, first)
            await store.put_question(claim, second)
            assert _plain(await other.questions(_RUN)) == _plain([first, second])
            answered = first.model_copy(update={"state": "answered", "answer": first.accept("yes")})
            await store.put_question(claim, answered)
            assert _plain(await other.questions(_RUN)) == _plain([answered, second])

    @_in_loop
    async def test_the_first_answer_wins(self, tmp_path: Path) -> None:
        """Of many at once one is taken, and the holder hears of that alone."""
        async with self._stores(tmp_path, 4) as stores:
            store = stores[0]
            claim = await self._working(store)
            await store.put_question(claim, _question("act.1"))
            answers = [Answer(question_id="act.1", choice="approve", text=f"{n}") for n in range(8)]
            taken = await asyncio.gather(
                *(each.send(_RUN, answer) for each, answer in zip(stores * 2, answers, strict=True))
            )
            assert taken.count(True) == 1
            (sent,) = await store.commands(claim, 0)
            assert sent.command == answers[taken.index(True)]

    @_in_loop
    async def test_only_an_open_question_is_answered(self, tmp_path: Path) -> None:
        """Not one that nobody asked, that was answered, or that was withdrawn."""
        async with self._stores(tmp_path) as (store, other):
            claim = await self._working(store)
            for state in ("answered", "withdrawn"):
                await store.put_question(claim, _question(state, state=state))
            for name in ("answered", "withdrawn", "unknown"):
                assert not await other.send(_RUN, Answer(question_id=name, choice="approve"))
            assert list(await store.commands(claim, 0)) == []

    @_in_loop
    async def test_commands_reach_the_holder_in_order_and_once(self, tmp_path: Path) -> None:
        """They are numbered from 1 on; what is behind a number is what came later."""
        async with self._stores(tmp_path) as (store, other):
            await store.create(_record())
            assert await other.send(_RUN, Configure(settings={"max_iterations": 3}))
            claim = await _claimed(store)
            assert await store.send(_RUN, Cancel())
            assert await other.send(_RUN, Cancel(status="interrupted"))
            sent = list(await store.commands(claim, 0))
            assert [each.number for each in sent] == [1, 2, 3]
            assert [each.command for each in sent] == [
                Configure(settings={"max_iterations": 3}),
                Cancel(),
                Cancel(status="interrupted"),
            ]
            assert list(await store.commands(claim, 2)) == sent[2:]
            assert list(await store.commands(claim, 3)) == []

    def test_commands_of_several_processes_come_in_one_order(self, tmp_path: Path) -> None:
        """None is lost or doubled, and each sender's come in the order of its sending."""

        async def look() -> None:
            async with self._stores(tmp_path) as (store, _):
                claim = await _claimed(store)
                sent = await store.commands(claim, 0)
                assert [each.number for each in sent] == list(range(1, len(sent) + 1))
                told: dict[str, list[int]] = {}
                for each in sent:
                    assert isinstance(each.command, Configure)
                    values = each.command.settings
                    told.setdefault(values["sender"], []).append(values["number"])
                assert told == {"a": list(range(20)), "b": list(range(20)), "c": list(range(20))}

        asyncio.run(self._create(tmp_path))
        with (
            self._process(tmp_path, "send", "a") as a,
            self._process(tmp_path, "send", "b") as b,
            self._process(tmp_path, "send", "c") as c,
        ):
            assert [_line(child) for child in (a, b, c)] == ["sent"] * 3
        asyncio.run(asyncio.wait_for(look(), _PATIENCE_S))

    # The journal

    @_in_loop
    async def test_a_finished_call_is_known_to_the_next_claim(self, tmp_path: Path) -> None:
        """With its result, so that it is not repeated."""
        async with self._stores(tmp_path) as (store, other):
            claim = await self._working(store)
            async with store.journal(claim) as journal:
                assert await journal.finished("0/0/c1") is None
                assert not await journal.cut_off("0/0/c1")
                await journal.begin("0/0/c1", "look")
                await journal.end("0/0/c1", _DONE)
                assert await journal.finished("0/0/c1") == _DONE
            await store.release(claim)
            async with other.journal(await _claimed(other)) as journal:
                assert await journal.finished("0/0/c1") == _DONE
                assert not await journal.cut_off("0/0/c1")

    @_in_loop
    async def test_a_call_that_did_not_end_was_cut_off(self, tmp_path: Path) -> None:
        """For the next claim; under the claim that began it, it may just be running."""
        async with self._stores(tmp_path) as (store, other):
            claim = await self._working(store)
            async with store.journal(claim) as journal:
                await journal.begin("0/0/c1", "look")
                assert not await journal.cut_off("0/0/c1")
            async with store.journal(claim) as journal:
                assert not await journal.cut_off("0/0/c1")
            await store.release(claim)
            async with other.journal(await _claimed(other)) as journal:
                assert await journal.cut_off("0/0/c1")
                assert await journal.finished("0/0/c1") is None
                await journal.end("0/0/c1", _DONE)
                assert not await journal.cut_off("0/0/c1")

    @_in_loop
    async def test_the_whole_result_of_a_call_can_be_had(self, tmp_path: Path) -> None:
        """By the call's id alone; of several with one id the last."""
        async with self._stores(tmp_path) as (store, other):
            claim = await self._working(store)
            long = JournalledResult(True, "x" * 100_000, 1.0)
            async with store.journal(claim) as journal:
                await journal.begin("0/0/c1", "look")
                assert await other.tool_result(_RUN, "c1") is None
                await journal.end("0/0/c1", _DONE)
                await journal.begin("3/0/c1", "look")
                await journal.end("3/0/c1", long)
                await journal.begin("3/1/c2", "look")
            assert await other.tool_result(_RUN, "c1") == long
            assert await other.tool_result(_RUN, "c2") is None
            assert await other.tool_result(_RUN, "1") is None

    # Checkpoints

    def test_checkpoints_come_back_in_the_order_of_writing(self, tmp_path: Path) -> None:
        """Whatever their ids are, which LangGraph makes of the time; also `before` one of them."""
        places = count()

        async def holds(sessions: Sequence[Sequence[int]]) -> None:
            async with self._stores(tmp_path / f"{next(places)}") as (store, other):
                await store.create(_record())
                written: list[str] = []
                for session in sessions:
                    claim = await _claimed(store)
                    async with store.checkpointer(claim) as saver:
                        for number in session:
                            kept = _checkpoint(number)
                            parent = at(_RUN, written[-1] if written else None)
                            await saver.aput(
                                parent, kept, _metadata(len(written)), kept["channel_versions"]
                            )
                            written.append(kept["id"])
                            latest = await saver.aget_tuple(at(_RUN))
                            assert latest is not None
                            assert latest.checkpoint["id"] == kept["id"]
                    await store.release(claim)
                await _check_order(other, written)

        numbers = st.lists(st.integers(0, 2**60), unique=True, min_size=1, max_size=9)

        @settings(max_examples=25, deadline=None)
        @given(numbers=numbers, cut=st.integers(0, 9))
        def property_holds(numbers: Sequence[int], cut: int) -> None:
            asyncio.run(holds([numbers[:cut], numbers[cut:]]))

        property_holds()

    def test_a_graph_s_state_survives_a_clock_that_jumps(self, tmp_path: Path) -> None:
        """A graph that is taken up again and again goes on from its last step, with everything that
        it had gathered."""
        places = count()

        async def holds(clocks: Sequence[Sequence[int]]) -> None:
            async with self._stores(tmp_path / f"{next(places)}") as (store, _):
                await store.create(_record())
                said: list[str] = []
                for number, clock in enumerate(clocks):
                    claim = await _claimed(store)
                    with _clock(clock):
                        async with store.checkpointer(claim) as saver:
                            said += await _one_session(saver, number, said)
                    await store.release(claim)

        jumps = st.lists(st.integers(-_DECADE_NS, _DECADE_NS), min_size=1, max_size=6)

        @settings(max_examples=10, deadline=None)
        @given(clocks=st.lists(jumps, min_size=2, max_size=4))
        def property_holds(clocks: Sequence[Sequence[int]]) -> None:
            asyncio.run(holds(clocks))

        property_holds()

    @_in_loop
    async def test_what_a_step_wrote_beside_a_checkpoint_is_kept(self, tmp_path: Path) -> None:
        """A step that a kill cut off between two tasks does not repeat the finished one."""
        async with self._stores(tmp_path) as (store, other):
            claim = await self._working(store)
            async with store.checkpointer(claim) as saver:
                kept = await _put(saver, 1)
                await saver.aput_writes(kept, [("number", 7)], "task 1")
            await store.release(claim)
            async with other.checkpointer(await _claimed(other)) as saver:
                found = await saver.aget_tuple(at(_RUN))
                assert found is not None
                assert found.pending_writes == [("task 1", "number", 7)]

    # Blobs

    @_in_loop
    async def test_blobs_come_back(self, tmp_path: Path) -> None:
        """By name; a later one takes an earlier one's place."""
        async with self._stores(tmp_path) as (store, other):
            claim = await self._working(store)
            assert await other.get_blob(_RUN, "receipt.json") is None
            for data in (b"", bytes(range(256)) * 5000, b"{}"):
                await store.put_blob(claim, "receipt.json", data)
                assert await other.get_blob(_RUN, "receipt.json") == data
            await store.put_blob(claim, "a_b-C.9", b"another")
            assert await other.get_blob(_RUN, "receipt.json") == b"{}"
            assert await other.get_blob(_RUN, "a_b-C.9") == b"another"

    @pytest.mark.parametrize(
        "name", ["", ".", "..", "a/b", "/etc/x", "a b", "\u00e4", "a\n", "a\0"]
    )
    @_in_loop
    async def test_a_blob_s_name_is_plain(self, tmp_path: Path, name: str) -> None:
        """Letters, digits, `.`, `_` and `-`, and no name of a folder."""
        async with self._stores(tmp_path) as (store, _):
            claim = await self._working(store)
            with pytest.raises(UsageError):
                await store.put_blob(claim, name, b"x")

    # Changes

    @_in_loop
    async def test_who_waits_for_a_run_is_woken(self, tmp_path: Path) -> None:
        """By its record, an event, a question and a command, of whichever store."""
        async with self._stores(tmp_path) as (store, other):
            await store.create(_record())
            await store.create(_record("other"))
            claim = await _claimed(store)
            writes: Mapping[str, Call] = {
                "record": lambda: store.save(claim, _record(reason="changed")),
                "event": lambda: store.append_events(claim, [event(_RUN, 1)]),
                "question": lambda: store.put_question(claim, _question("act.1")),
                "command": lambda: other.send(_RUN, Cancel()),
            }
            for what, write in writes.items():
                async with (
                    _waiting(store.changes(_RUN)) as mine,
                    _waiting(other.changes(_RUN)) as others,
                ):
                    assert await mine() == await others() == _RUN, "once at the beginning"
                    await write()
                    assert await mine() == await others() == _RUN, what

    @_in_loop
    async def test_a_follower_misses_nothing(self, tmp_path: Path) -> None:
        """Who reads after every wake-up has every event, however they come."""
        async with self._stores(tmp_path) as (store, other):
            claim = await self._working(store)

            async def follow() -> list[int]:
                seen: list[int] = []
                async with aclosing(cast("AsyncGenerator[str]", other.changes(_RUN))) as changes:
                    async for _ in changes:
                        seen += [e.seq for e in await _events(other, seen[-1] if seen else 0)]
                        if seen and seen[-1] == 50:
                            break
                return seen

            following = asyncio.create_task(follow())
            for number in range(1, 51):
                await store.append_events(claim, [event(_RUN, number)])
                if number % 7 == 0:
                    await asyncio.sleep(0.01)
            assert await following == list(range(1, 51))

    @_in_loop
    async def test_who_waits_for_all_runs_is_woken_by_records(self, tmp_path: Path) -> None:
        """A run that is created, saved or deleted; by its id."""
        async with (
            self._stores(tmp_path) as (store, other),
            _waiting(other.changes(None)) as woken,
        ):
            await store.create(_record())
            assert await woken() == _RUN
            claim = await _claimed(store)
            await store.save(claim, _record(status="failed"))
            assert await woken() == _RUN
            await store.release(claim)
            await store.create(_record("run2"))
            while await woken() != "run2":
                pass
            await store.delete(_RUN)
            while await woken() != _RUN:
                pass

    @_in_loop
    async def test_who_no_longer_waits_leaves_nothing(self, tmp_path: Path) -> None:
        """Closing the iterator ends whatever waited for changes."""
        async with self._stores(tmp_path) as (store, other):
            await store.create(_record())
            before = asyncio.all_tasks()
            for run_id in (_RUN, None):
                async with _waiting(other.changes(run_id)):
                    await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert asyncio.all_tasks() == before

    def test_who_waits_is_woken_by_another_process(self, tmp_path: Path) -> None:
        """By a command that comes from there, and by a record that is saved there."""

        async def wait_for(child: subprocess.Popen[str]) -> None:
            async with (
                self._stores(tmp_path) as (store, _),
                _waiting(store.changes(_RUN)) as of_run,
                _waiting(store.changes(None)) as of_all,
            ):
                await of_run()
                _tell(child, "on")
                assert await asyncio.to_thread(_line, child) == "saved on"
                assert await of_all() == _RUN
                assert await of_run() == _RUN

        asyncio.run(self._create(tmp_path))
        with self._process(tmp_path, "hold") as child:
            assert _line(child) == "claimed"
            asyncio.run(asyncio.wait_for(wait_for(child), _PATIENCE_S))

    # What the tests share

    @asynccontextmanager
    async def _stores(self, place: Path, number: int = 2) -> AsyncGenerator[list[RunStore]]:
        """Several stores on one place."""
        await asyncio.to_thread(place.mkdir, exist_ok=True)
        stores = [self.open_store(place) for _ in range(number)]
        try:
            yield stores
        finally:
            for store in stores:
                await store.aclose()

    async def _create(self, place: Path) -> None:
        async with self._stores(place) as (store, _):
            await store.create(_record())

    async def _working(self, store: RunStore, lease_s: float = 60.0) -> Claim:
        """The claim of a new run."""
        await store.create(_record())
        claim = await store.claim(_RUN, "worker", lease_s)
        assert claim is not None
        return claim

    async def _lose(self, store: RunStore, other: RunStore, claim: Claim, how: str) -> None:
        """The claim is given back, or another store has the run."""
        if how == "released" or not self.expires:
            await store.release(claim)
        if how == "taken":
            await _claimed(other)

    @contextmanager
    def _process(self, place: Path, *task: str) -> Generator[subprocess.Popen[str]]:
        """Another process that does a task with the run, killed on the way out."""
        opening = required(self.in_another_process(place), "override in_another_process(place)")
        code = f"{opening}\nfrom {__package__}.store_process import main\nmain(store)\n"
        words = [task[0], _RUN, *task[1:]]
        command = [sys.executable, "-c", code, *words]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as child:
            try:
                yield child
            finally:
                child.kill()


class RunStoreConformance(RunStoreTests, PluginConformance):
    """The contract of a store, as tests: inherit it and say how one is opened.

    Example:
        >>> from retrai_core import FilesStore
        >>> class TestFiles(RunStoreConformance):
        ...     plugin = FilesStore
        ...     def open_store(self, place):
        ...         return FilesStore(state=place)
        ...     def in_another_process(self, place):
        ...         imports = "from pathlib import Path; from retrai_core import FilesStore"
        ...         return f"{imports}; store = FilesStore(state=Path({str(place)!r}))"
        >>> TestFiles().test_every_option_is_documented()
    """

    kind: ClassVar[Kind] = "store"

    def test_every_option_is_documented(self) -> None:
        """Each option has a description: `Field(description=...)` or a string below it."""
        described = describe_plugin(self.kind, self.plugin).options
        silent = [name for name, option in described.items() if not option.description]
        assert not silent, f"without a description: {', '.join(silent)}"

    def test_an_unknown_option_is_refused(self) -> None:
        """A misspelt option is an error and never ignored (`extra="forbid"`)."""
        with pytest.raises(ValidationError):
            self.plugin.Options.model_validate({"no_such_option": 1})


def _record(run_id: str = _RUN, created_at: float = 1.0, **values: Any) -> RunRecord:
    goal = values.pop("goal", None)
    goals = [] if goal is None else [{"name": goal}]
    plain: dict[str, Any] = {"model": "offline", "project": Path("/project"), "goals": goals}
    return RunRecord.model_validate(
        {"id": run_id, "created_at": created_at, "started_at": created_at, **plain, **values}
    )


def _question(name: str, **values: Any) -> Question:
    plain: dict[str, Any] = {"run_id": _RUN, "kind": "tool", "text": "Run it?", "asked_at": 1.0}
    return Question.model_validate({"id": name, **plain, **values})


def _plain(questions: Sequence[Question]) -> list[dict[str, Any]]:
    return [question.model_dump(mode="json") for question in questions]


def _checkpoint(number: int) -> Any:
    return checkpoint(number)


async def _put(saver: Any, number: int) -> Any:
    kept = _checkpoint(number)
    return await saver.aput(at(_RUN), kept, _metadata(number), kept["channel_versions"])


def _metadata(step: int) -> Any:
    return {"source": "loop", "step": step}


async def _claimed(store: RunStore) -> Claim:
    """The run's claim, once nobody else has it."""
    while (claim := await store.claim(_RUN, "another")) is None:  # noqa: ASYNC110 - it may be a lease
        await asyncio.sleep(0.01)
    return claim


async def _ids(store: RunStore, **filters: Any) -> list[str]:
    return [run.id for run in await store.list(**filters)]


async def _events(store: RunStore, after: int = 0) -> list[AgentEvent]:
    """All events behind a number, batch by batch."""
    found: list[AgentEvent] = []
    while batch := await store.read_events(_RUN, found[-1].seq if found else after):
        found += batch
    return found


async def _write(store: RunStore, claim: Claim, what: str) -> None:
    """One write of every sort that there is."""
    if what == "journal":
        async with store.journal(claim) as journal:
            await journal.begin("0/0/c1", "look")
    elif what in ("checkpoint", "writes"):
        async with store.checkpointer(claim) as saver:
            if what == "writes":
                place = at(_RUN, checkpoint(1)["id"])
                await saver.aput_writes(place, [("number", 5)], "task")
            else:
                await _put(saver, 1)
    else:
        writes: Mapping[str, Call] = {
            "record": lambda: store.save(claim, _record(reason="overwritten")),
            "event": lambda: store.append_events(claim, [event(_RUN, 1)]),
            "question": lambda: store.put_question(claim, _question("act.1")),
            "blob": lambda: store.put_blob(claim, "receipt.json", b"forged"),
            "heartbeat": lambda: store.heartbeat(claim),
            "commands": lambda: store.commands(claim, 0),
        }
        await writes[what]()


async def _contents(store: RunStore) -> Any:
    """Everything that a store says of the run without a claim."""
    return (
        (await store.load(_RUN)).reason,
        await _events(store),
        list(await store.questions(_RUN)),
        await store.get_blob(_RUN, "receipt.json"),
        await store.tool_result(_RUN, "c1"),
    )


async def _check_order(store: RunStore, written: Sequence[str]) -> None:
    claim = await _claimed(store)
    async with store.checkpointer(claim) as saver:
        newest = [*reversed(written)]

        async def listed(**filters: Any) -> list[str]:
            return [each.checkpoint["id"] async for each in saver.alist(at(_RUN), **filters)]

        assert await listed() == newest
        assert await listed(limit=2) == newest[:2]
        assert await listed(filter={"step": 0}) == newest[-1:]
        for place, name in enumerate(newest):
            assert await listed(before=at(_RUN, name)) == newest[place + 1 :]
            found = await saver.aget_tuple(at(_RUN, name))
            assert found is not None
            assert found.checkpoint["id"] == name
            if found.parent_config is not None:
                parent = found.parent_config.get("configurable", {})["checkpoint_id"]
                assert parent == newest[place + 1]
    await store.release(claim)


async def _one_session(saver: Any, number: int, said: Sequence[str]) -> list[str]:
    """Let a graph say three things, after checking that it knows what it has said before."""
    from langchain_core.messages import HumanMessage
    from langgraph.graph import START, StateGraph

    built: Any = StateGraph(cast("Any", AgentState))

    def say(state: Any) -> dict[str, Any]:
        text = f"{number}.{state['iteration']}"
        return {"messages": [HumanMessage(text)], "iteration": state["iteration"] + 1}

    def goes_on(state: Any) -> str:
        return "say" if state["iteration"] < 3 else "__end__"

    built.add_node("say", say)
    built.add_edge(START, "say")
    built.add_conditional_edges("say", goes_on)
    graph = built.compile(checkpointer=saver)
    before = await graph.aget_state(at(_RUN))
    assert [message.content for message in before.values.get("messages", [])] == [*said]
    await graph.ainvoke({"iteration": 0}, at(_RUN), durability="sync")
    new = [f"{number}.{turn}" for turn in range(3)]
    after = await graph.aget_state(at(_RUN))
    assert [message.content for message in after.values["messages"]] == [*said, *new]
    lengths = [
        len(state.values.get("messages", [])) async for state in graph.aget_state_history(at(_RUN))
    ]
    assert lengths == sorted(lengths, reverse=True)
    return new


@contextmanager
def _clock(jumps: Sequence[int]) -> Generator[None]:
    """What LangGraph makes ids of: another time at each look, as in a new process."""
    times = cycle(jumps)
    source = SimpleNamespace(time_ns=lambda: _NOW_NS + next(times))
    module = "langgraph.checkpoint.base.id"
    last = mock.patch(f"{module}._last_v6_timestamp", None, create=True)
    with last, mock.patch(f"{module}.time", source):
        yield


@asynccontextmanager
async def _waiting(
    changes: AsyncIterator[str],
) -> AsyncGenerator[Callable[[], Awaitable[str]]]:
    """Gives the next change, which is waited for from the beginning on."""
    asked = asyncio.ensure_future(anext(changes))
    await asyncio.sleep(0.01)

    async def woken() -> str:
        nonlocal asked
        found = await asked
        asked = asyncio.ensure_future(anext(changes))
        await asyncio.sleep(0.01)
        return found

    try:
        yield woken
    finally:
        asked.cancel()
        await asyncio.wait({asked})
        await cast("AsyncGenerator[str]", changes).aclose()


def _line(child: subprocess.Popen[str]) -> str:
    assert child.stdout is not None
    return child.stdout.readline().strip()


def _rest(child: subprocess.Popen[str]) -> list[str]:
    assert child.stdout is not None
    return [line for line in child.stdout.read().split("\n")[:-1] if line]


def _tell(child: subprocess.Popen[str], line: str) -> None:
    assert child.stdin is not None
    child.stdin.write(f"{line}\n")
    child.stdin.flush()
