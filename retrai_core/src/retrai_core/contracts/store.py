"""A store: keeps the data of runs. One holder writes; all others read and send commands."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Generic, Literal, Unpack

from pydantic import BaseModel, ConfigDict, Field, with_config
from typing_extensions import TypedDict

from .models import OptionsT, TakesModels
from .question import Answer, Question
from .record import Status

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver

    from ..events import AgentEvent
    from .record import RunRecord


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
    async def append_events(self, claim: Claim, events: Sequence[AgentEvent]) -> int:
        """Keep events, whose numbers go on from the last one's; all of them or, where the process
        is killed, the first ones. They are kept before any checkpoint that is written later.

        Returns:
            the number of the last event that is kept; with no events given, of the one before.
        """

    @abstractmethod
    async def read_events(self, run_id: str, after: int = 0) -> Sequence[AgentEvent]:
        """The events behind number `after`, in order; of a long run perhaps only the next ones.

        None are left when the answer is empty.
        """

    @abstractmethod
    async def put_question(self, claim: Claim, question: Question) -> None:
        """Keep a question, in the place of an earlier one with its id."""

    @abstractmethod
    async def questions(self, run_id: str) -> Sequence[Question]:
        """Every question of the run, the oldest first."""

    @abstractmethod
    async def send(self, run_id: str, command: Command) -> bool:
        """Put a command into the run's mailbox.

        Returns:
            False for an answer to a question that is not open or that was answered first by
            somebody else; then nothing is sent.
        """

    @abstractmethod
    async def commands(self, claim: Claim, after: int) -> Sequence[SentCommand]:
        """What was sent behind number `after`, in order."""

    @abstractmethod
    def changes(self, run_id: str | None) -> AsyncIterator[str]:
        """Wakes whoever waits: yields the id of a run whose record, events, questions or mailbox
        may have changed. Once at the beginning where `run_id` is given; several changes may come as
        one, and a wake-up without a change is allowed. It does not end by itself.

        Args:
            run_id: the run; None for the records of all.
        """

    @abstractmethod
    def journal(self, claim: Claim) -> AbstractAsyncContextManager[Journal]:
        """The journal of the run's tool calls."""

    @abstractmethod
    async def tool_result(self, run_id: str, call_id: str) -> JournalledResult | None:
        """What a call gave, whole, from the journal; of several calls with this id the last."""

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
