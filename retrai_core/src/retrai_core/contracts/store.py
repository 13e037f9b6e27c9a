"""A store: keeps the data of runs. One holder writes; all others read and send commands."""

from __future__ import annotations

import asyncio
import json
import re
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Generic, Literal, TypeVar, Unpack, cast

from pydantic import BaseModel, ConfigDict, Field, with_config
from typing_extensions import TypedDict

from ..errors import RetraiError, RunNotFoundError, UsageError
from ..events import AgentEvent
from .models import OptionsT, TakesModels
from .question import Answer, Question
from .record import Status

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver

    from .record import RunRecord

LogName = Literal["events", "questions", "mailbox", "journal"]
"""What a run has as lines of JSON."""

_Model = TypeVar("_Model", bound=BaseModel)
_BLOB_NAME = re.compile(r"(?!\.+$)[A-Za-z0-9._-]+")
_LONG_CHARS = 100_000
"""Lines that are longer together are parsed in a thread."""
_RUN_POLL_S = 0.1
_ALL_POLL_S = 0.3


class Cancel(BaseModel):
    """The command that ends a run."""

    model_config = ConfigDict(frozen=True)

    command: Literal["cancel"] = "cancel"
    status: Literal["aborted", "interrupted"] = "aborted"
    """How the run ends; only an interrupted one can be resumed."""


class Configure(BaseModel):
    """The command that changes settings of a run, starting with its next iteration."""

    model_config = ConfigDict(frozen=True)

    command: Literal["configure"] = "configure"
    settings: dict[str, Any]
    """Field of `RunConfig` and new value."""


class Resume(BaseModel):
    """The command that resumes a run. A `Cancel` that was sent before it applies to the part that
    has ended."""

    model_config = ConfigDict(frozen=True)

    command: Literal["resume"] = "resume"
    settings: dict[str, Any] = Field(default_factory=dict)
    """As in `Configure`: new limits, for example."""


Command = Annotated[Answer | Cancel | Configure | Resume, Field(discriminator="command")]


class SentCommand(BaseModel):
    """A command in a run's mailbox."""

    model_config = ConfigDict(frozen=True)

    number: int
    """1, 2, 3, ... in the order in which they were sent."""
    sent_at: float
    """Seconds since 1970."""
    command: Command


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to write the data of a run; one worker at a time has it.

    Attributes:
        run_id: the run.
        worker: who has it, in words for people.
        number: 1, 2, 3, ...: which claim of this run it is. A store refuses every write with a
            claim that is not the run's latest, or that was released.
    """

    run_id: str
    worker: str
    number: int


@dataclass(frozen=True, slots=True)
class UnreadableRun:
    """A run with a record that is damaged, missing, or of another run.

    Attributes:
        id: the run's id.
        path: where its record should be.
        problem: why that cannot be read, one line.
        changed_at: when it last changed, in seconds since 1970.
    """

    id: str
    path: Path
    problem: str
    changed_at: float


@dataclass(frozen=True, slots=True)
class JournalledResult:
    """The result of a finished tool call, as the model got it."""

    ok: bool
    content: str
    duration_s: float


@with_config(ConfigDict(extra="forbid"))
class RunFilter(TypedDict, total=False):
    """Which runs `list` returns; None and missing keys do not filter."""

    project: Path | str | None
    """Only those of this folder."""
    status: Status | None
    """Only those with this status."""
    goal: str | None
    """Only those with a goal of this name."""
    text: str | None
    """Only those whose id, goal, model, project, input or reason has this text."""
    labels: Mapping[str, str] | None
    """Only those that have all of these labels."""
    before: float | None
    """Only those that were created earlier, in seconds since 1970."""
    limit: Annotated[int, Field(ge=0)] | None
    """At most so many."""


class Journal(ABC):
    """The tool calls of a run and their results, so that none is repeated.

    A call's key is unique in its run; it ends with the call's id, behind a slash.
    """

    @abstractmethod
    async def finished(self, key: str) -> JournalledResult | None:
        """The result of the call; None where it did not end."""

    @abstractmethod
    async def cut_off(self, key: str) -> bool:
        """Whether the call began under an earlier claim and did not end."""

    @abstractmethod
    async def begin(self, key: str, tool: str) -> None:
        """The call is about to run; kept when this returns.

        Raises:
            ClaimLostError: the claim does not hold any more.
        """

    @abstractmethod
    async def end(self, key: str, result: JournalledResult) -> None:
        """The call has ended; kept when this returns.

        Raises:
            ClaimLostError: as for `begin`.
        """


class StoreOptions(BaseModel):
    """Base of a store's options; they come from `plugins: {STORE: {...}}` of the user's file."""

    model_config = ConfigDict(extra="forbid")


class RunStore(TakesModels, ABC, Generic[OptionsT]):
    """Keeps records, events, questions, journals, checkpoints and blobs of runs.

    A store says how records, claims, checkpoints and blobs are kept, and `append` and `lines` how
    lines of JSON are; events, questions, commands and the journal are made of these.

    Every write but `create`, `send` and `delete` takes the claim and raises `ClaimLostError` once
    the claim does not hold any more. Methods that take `run_id` raise `RunNotFoundError` where
    there is no such run. A store belongs to one event loop; several processes may each have one on
    the same place.
    """

    name: ClassVar[str]
    summary: ClassVar[str] = ""
    needs: ClassVar[frozenset[str]] = frozenset()
    Options: type[StoreOptions] = StoreOptions

    def __init__(self, options: OptionsT) -> None:
        self.options = options

    @abstractmethod
    async def create(self, record: RunRecord) -> None:
        """Keep the record of a new run.

        Raises:
            UsageError: there is a run of this id, or the record cannot be kept for this project.
        """

    @abstractmethod
    async def load(self, run_id: str) -> RunRecord:
        """The run with this id, or the only one whose id begins with it.

        A run whose holder is known to be dead reads as `interrupted`.

        Raises:
            RunNotFoundError: none or several do.
        """

    def find_id(self, run_id: str, ids: Iterable[str]) -> str:
        """The one of `ids` that is this one, or the only one that begins with it: for `load`.

        Raises:
            RunNotFoundError: none or several do.
        """
        known = sorted(ids)
        found = [run_id] if run_id in known else [each for each in known if each.startswith(run_id)]
        if not run_id or not found:
            raise self.not_found(run_id)
        if len(found) > 1:
            raise RunNotFoundError(
                f"{run_id} may be any of {', '.join(found)}", hint="give more of the id"
            )
        return found[0]

    def not_found(self, run_id: str) -> RunNotFoundError:
        """The error that there is no such run."""
        return RunNotFoundError(
            f"no run {run_id!r} in the store {self.name}", hint="`retrai runs list` shows them"
        )

    @abstractmethod
    async def list(self, **wanted: Unpack[RunFilter]) -> Sequence[RunRecord | UnreadableRun]:
        """Runs, newest first: see `RunFilter`."""

    @staticmethod
    def select(
        runs: Iterable[RunRecord | UnreadableRun], **wanted: Unpack[RunFilter]
    ) -> Sequence[RunRecord | UnreadableRun]:
        """Those of `runs` that `list` gives, for a store that has them all at hand.

        A record that cannot be read is left out where one of its values is asked for.
        """
        project, status, goal = wanted.get("project"), wanted.get("status"), wanted.get("goal")
        text, labels = wanted.get("text"), wanted.get("labels")
        before, limit = wanted.get("before"), wanted.get("limit")
        asked = (project, status, goal, text, labels)
        there = Path(project).resolve() if project is not None else None
        found: list[tuple[float, RunRecord | UnreadableRun]] = []
        for run in runs:
            if isinstance(run, UnreadableRun):
                created, matches = run.changed_at, not any(asked)
            else:
                created = run.created_at
                matches = (
                    there in (None, run.project)
                    and status in (None, run.status)
                    and (goal is None or goal in [each.name for each in run.goals])
                    and (text is None or text.lower() in _words_of(run))
                    and (labels or {}).items() <= run.labels.items()
                )
            if matches and (before is None or created < before):
                found.append((created, run))
        ordered = [run for _, run in sorted(found, key=lambda each: -each[0])]
        return ordered if limit is None else ordered[:limit]

    @abstractmethod
    async def delete(self, run_id: str) -> None:
        """Remove a run and all that is kept of it.

        Raises:
            UsageError: somebody has its claim.
        """

    @abstractmethod
    async def claim(self, run_id: str, worker: str, lease_s: float = 60.0) -> Claim | None:
        """Take the run; None where somebody else has it.

        Args:
            run_id: its id.
            worker: who takes it, for people.
            lease_s: seconds after which a claim without a `heartbeat` is lost. A store that can
                tell a dead holder from a slow one never lets it expire.
        """

    @abstractmethod
    async def heartbeat(self, claim: Claim) -> None:
        """The holder is alive: the lease begins anew."""

    @abstractmethod
    async def release(self, claim: Claim) -> None:
        """Give the claim back; nothing happens where it is lost already."""

    @abstractmethod
    async def save(self, claim: Claim, record: RunRecord) -> None:
        """Keep the record as it stands."""

    @abstractmethod
    async def append(self, claim: Claim, log: LogName, lines: Sequence[str]) -> None:
        """Keep lines at the end of one of the run's logs; all of them or, where the process is
        killed, the first ones, each whole.

        Args:
            claim: the claim of the run.
            log: which log; a new run's are empty.
            lines: valid Unicode, without a line feed.
        """

    @abstractmethod
    async def lines(self, run_id: str, log: LogName, after: int = 0) -> Sequence[str]:
        """The lines of a log in order, without the first `after` ones."""

    async def count(self, run_id: str, log: LogName) -> int:
        """How many lines a log has; a database can tell without reading them."""
        return len(await self.lines(run_id, log))

    async def append_events(self, claim: Claim, events: Sequence[AgentEvent]) -> int:
        """Keep events, whose numbers go on from the last one's; all of them or, where the process
        is killed, the first ones. They are kept before any checkpoint that is written later.

        Returns:
            the number of the last event that is kept; with no events given, of the one before.

        Raises:
            ValueError: their numbers do not go on.
        """
        await self.heartbeat(claim)
        last = await self.count(claim.run_id, "events")
        self.check_numbers(events, last)
        if events:
            await self.append(claim, "events", [_valid(event.to_json()) for event in events])
        return last + len(events)

    @staticmethod
    def check_numbers(events: Sequence[AgentEvent], last: int) -> None:
        """Whether the numbers of events go on from the last one that is kept.

        Raises:
            ValueError: they do not.
        """
        numbers = [event.seq for event in events]
        if numbers != [last + 1 + index for index in range(len(numbers))]:
            raise ValueError(f"events with numbers {numbers} do not go on {last}")

    async def read_events(self, run_id: str, after: int = 0) -> Sequence[AgentEvent]:
        """The events behind number `after`, in order; of a long run perhaps only the next ones.

        None are left when the answer is empty.
        """
        return [AgentEvent.from_json(line) for line in await self.lines(run_id, "events", after)]

    async def put_question(self, claim: Claim, question: Question) -> None:
        """Keep a question, in the place of an earlier one with its id."""
        await self.append(claim, "questions", [_json(question)])

    async def questions(self, run_id: str) -> Sequence[Question]:
        """Every question of the run, the oldest first."""
        lines = await self.lines(run_id, "questions")
        if sum(map(len, lines)) < _LONG_CHARS:
            return [*_questions(lines).values()]
        return [*(await asyncio.to_thread(_questions, lines)).values()]

    @abstractmethod
    async def send(self, run_id: str, command: Command) -> bool:
        """Append the `command_line` of a command to the run's `mailbox`, if there is one.

        It is made and appended in one transaction, or under one lock: of several answers to a
        question only the first counts.

        Returns:
            False for an answer to a question that is not open or that was answered first by
            somebody else; then nothing is sent.
        """

    @staticmethod
    def command_line(
        command: Command, questions: Iterable[str], mailbox: Iterable[str]
    ) -> str | None:
        """What is appended to the mailbox for a command; None for an answer that comes too late.

        Args:
            command: the command.
            questions: all lines of the run's `questions`.
            mailbox: all lines of its `mailbox`.
        """
        earlier = _parsed(SentCommand, mailbox)
        if isinstance(command, Answer):
            question = _questions(questions).get(command.question_id)
            answers = [each.command for each in earlier if isinstance(each.command, Answer)]
            is_answered = command.question_id in [answer.question_id for answer in answers]
            if is_answered or question is None or question.state != "open":
                return None
        number = earlier[-1].number + 1 if earlier else 1
        return _json(SentCommand(number=number, sent_at=time.time(), command=command))

    async def commands(self, claim: Claim, after: int) -> Sequence[SentCommand]:
        """What was sent behind number `after`, in order."""
        await self.heartbeat(claim)
        sent = _parsed(SentCommand, await self.lines(claim.run_id, "mailbox"))
        return [command for command in sent if command.number > after]

    def changes(self, run_id: str | None) -> AsyncIterator[str]:
        """Wakes whoever waits: yields the id of a run whose record, events, questions or mailbox
        may have changed. Once at the beginning where `run_id` is given; several changes may come as
        one, and a wake-up without a change is allowed. It does not end by itself.

        This one looks again and again; a store that hears of changes overrides it.

        Args:
            run_id: the run; None for the records of all.
        """
        return self._changes_of_all() if run_id is None else self._changes_of(run_id)

    async def _changes_of(self, run_id: str) -> AsyncGenerator[str]:
        seen: object = await self._state_of(run_id)
        yield run_id
        while True:
            await asyncio.sleep(_RUN_POLL_S)
            try:
                now: object = await self._state_of(run_id)
            except RetraiError:  # it was deleted, or its record cannot be read now
                now = None
            if now != seen:
                seen = now
                yield run_id

    async def _state_of(self, run_id: str) -> object:
        logs: tuple[LogName, ...] = ("events", "questions", "mailbox")
        return [await self.count(run_id, log) for log in logs], await self.load(run_id)

    async def _changes_of_all(self) -> AsyncGenerator[str]:
        seen = {run.id: run for run in await self.list()}
        while True:
            await asyncio.sleep(_ALL_POLL_S)
            before, seen = seen, {run.id: run for run in await self.list()}
            for run_id in before.keys() | seen.keys():
                if before.get(run_id) != seen.get(run_id):
                    yield run_id

    @asynccontextmanager
    async def journal(self, claim: Claim) -> AsyncGenerator[Journal]:
        """The journal of the run's tool calls."""
        await self.heartbeat(claim)
        lines = await self.lines(claim.run_id, "journal")
        yield await asyncio.to_thread(_LogJournal, self, claim, lines)

    async def tool_result(self, run_id: str, call_id: str) -> JournalledResult | None:
        """What a call gave, whole, from the journal; of several calls with this id the last."""
        lines = await self.lines(run_id, "journal")
        return await asyncio.to_thread(_result_of_call, lines, call_id)

    @abstractmethod
    def checkpointer(self, claim: Claim) -> AbstractAsyncContextManager[BaseCheckpointSaver[Any]]:
        """LangGraph's checkpoints of the run, with the run's id as `thread_id`.

        The latest one is the one that was written last, whatever the clock said: `aget_tuple`
        without an id gives it, and `alist` the others, last written first.
        """

    @abstractmethod
    async def put_blob(self, claim: Claim, name: str, data: bytes) -> None:
        """Keep bytes under a name (`receipt.json`) in the place of earlier ones.

        Raises:
            UsageError: the name has more than letters, digits, `.`, `_` and `-`.
        """

    @staticmethod
    def check_blob_name(name: str) -> None:
        """Whether a blob may have this name.

        Raises:
            UsageError: it may not.
        """
        if not _BLOB_NAME.fullmatch(name):
            raise UsageError(
                f"{name!r} is no name of an artifact",
                hint="letters, digits, `.`, `_` and `-`: receipt.json",
            )

    @abstractmethod
    async def get_blob(self, run_id: str, name: str) -> bytes | None:
        """The bytes of this name; None where there are none."""

    async def aclose(self) -> None:
        """Give back what this store holds."""
        return None


def _words_of(run: RunRecord) -> str:
    goals = " ".join(goal.name for goal in run.goals)
    words = (run.id, goals, run.model, run.project, run.task, run.input, run.reason)
    return " ".join(map(str, words)).lower()


class _LogJournal(Journal):
    """The journal of a claim; every call is a line when it begins, and one when it has ended.

    Args:
        store: appends the lines.
        claim: the claim.
        lines: what is in the journal already.
    """

    def __init__(self, store: RunStore[Any], claim: Claim, lines: Iterable[str]) -> None:
        self._store = store
        self._claim = claim
        self._begun: dict[str, int] = {}
        self._ended: dict[str, JournalledResult] = {}
        for entry in _calls(lines):
            self._begun.setdefault(entry["call"], entry.get("claim", 0))
            if (ended := _result(entry)) is not None:
                self._ended[entry["call"]] = ended

    async def finished(self, key: str) -> JournalledResult | None:
        return self._ended.get(key)

    async def cut_off(self, key: str) -> bool:
        number = self._claim.number
        return self._begun.get(key, number) != number and key not in self._ended

    async def begin(self, key: str, tool: str) -> None:
        await self._note({"call": key, "begin": tool, "claim": self._claim.number})
        self._begun.setdefault(key, self._claim.number)

    async def end(self, key: str, result: JournalledResult) -> None:
        await self._note({"call": key, "end": asdict(result)})
        self._ended[key] = result

    async def _note(self, entry: Mapping[str, Any]) -> None:
        line = _valid(json.dumps(entry, ensure_ascii=False))
        await self._store.append(self._claim, "journal", [line])


def _result_of_call(lines: Iterable[str], call_id: str) -> JournalledResult | None:
    found = None
    for entry in _calls(lines):
        if f"/{entry['call']}".endswith(f"/{call_id}"):
            found = _result(entry) or found
    return found


def _calls(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            continue  # a line that a kill left half written
        if isinstance(entry, dict) and isinstance(cast("dict[str, Any]", entry).get("call"), str):
            yield cast("dict[str, Any]", entry)


def _result(entry: Mapping[str, Any]) -> JournalledResult | None:
    ended = entry.get("end")
    if not isinstance(ended, dict):
        return None
    return JournalledResult(**cast("dict[str, Any]", ended))


def _json(model: BaseModel) -> str:
    return _valid(json.dumps(model.model_dump(mode="json"), ensure_ascii=False))


def _valid(line: str) -> str:
    """Half a surrogate pair, which JSON from a model may hold, as JSON's own escape."""
    return line.encode("utf-8", "backslashreplace").decode()


def _parsed(model: type[_Model], lines: Iterable[str]) -> list[_Model]:
    """What lines say; damaged ones are passed over."""
    found: list[_Model] = []
    for line in lines:
        with suppress(ValueError):
            found.append(model.model_validate(json.loads(line)))
    return found


def _questions(lines: Iterable[str]) -> Mapping[str, Question]:
    return {question.id: question for question in _parsed(Question, lines)}
