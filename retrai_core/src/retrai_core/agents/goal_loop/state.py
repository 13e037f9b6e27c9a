"""The state of the loop, which checkpoints save."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NotRequired, TypedDict, cast

from langchain_core.messages import AnyMessage
from langgraph.channels import DeltaChannel

from .progress import Progress

SNAPSHOT_EVERY = 5000
"""Updates between two full copies of the message list in the checkpoints; a copy costs the whole
list, so rare copies keep the file linear, and a resume reads at most this many updates back."""

FAILED_STRATEGIES_KEPT = 5

_OWN_ID = "message-"


class PendingCall(TypedDict):
    """A tool call that the model requested. `problem` says why it cannot run."""

    id: str
    name: str
    args: dict[str, Any]
    problem: str


class ResultNote(TypedDict):
    """Notes that a call has ended; its text is in a message, and in the journal under the same
    id."""

    id: str
    name: str
    ok: bool


class Stop(TypedDict):
    """Why the run ends before its last iteration, and an estimate of what that saves."""

    outcome: Literal["failed", "tampered", "error", "aborted", "flaky", "stuck", "budget"]
    reason: str
    suspect: NotRequired[bool]
    """Every case passes and only a suspicion stands against it, which a person may clear."""
    gave_up: NotRequired[bool]
    """The model itself said that it can do nothing more, and would say so again."""
    saved_iterations: NotRequired[int]
    saved_tokens: NotRequired[int]
    needed: NotRequired[dict[str, Any]]
    """The fields of a `runs.record.NeededLimit`, whose limit kept the next call from being made."""


def append_messages(
    existing: list[AnyMessage], writes: Sequence[AnyMessage | list[AnyMessage]]
) -> list[AnyMessage]:
    """Add messages; one with a known id takes the old one's place.

    Writing several batches at once gives the same list as writing them one after the other, which
    the delta channel relies on.
    """
    merged = list(existing)
    for write in writes:
        for message in write if isinstance(write, list) else [write]:
            if message.id is None:
                # Its place and nothing random: a replay must give the same list.
                message.id = f"{_OWN_ID}{len(merged)}"
                merged.append(message)
                continue
            index = _place(merged, message.id)
            if index is None:
                merged.append(message)
            else:
                merged[index] = message
    return merged


def _place(messages: list[AnyMessage], message_id: str) -> int | None:
    """Where the message with this id stands; looks at all of them only for ids from elsewhere."""
    number = message_id.removeprefix(_OWN_ID)
    if number != message_id and number.isdecimal():
        index = int(number)
        return index if index < len(messages) and messages[index].id == message_id else None
    return next((i for i, known in enumerate(messages) if known.id == message_id), None)


_messages: Any = cast("Any", DeltaChannel)(append_messages, list, snapshot_frequency=SNAPSHOT_EVERY)


class AgentState(TypedDict):
    """The state of one run of the loop; all of it survives a kill."""

    messages: Annotated[list[AnyMessage], _messages]
    pending_tool_calls: list[PendingCall]
    tool_results: list[ResultNote]
    goal_achieved: bool
    goal_reason: str
    iteration: int
    max_iterations: int
    hitl_enabled: bool
    model_name: str
    cwd: str
    run_id: str
    total_tokens: int
    input_tokens: int
    output_tokens: int
    estimated_cost_usd: float | None
    failed_strategies: list[str]
    consecutive_failures: int
    refused: int
    attempts: list[str]
    model_failures: int
    idle_turns: int
    progress: Progress
    last_calls: str
    approved: bool
    asked_at: NotRequired[int]
    """The iteration at which a person answered last."""
    stop: Stop | None


NodeUpdate = dict[str, Any]
"""What a node gives back: some of `AgentState`'s keys with their new values."""
