"""What a recorded run decided, independent of the format it was recorded in."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, JsonValue


class RecordedCall(BaseModel):
    """One tool call as it was recorded, with the recorded tool's name and paths."""

    model_config = ConfigDict(frozen=True)

    name: str
    args: dict[str, JsonValue]


class MalformedCall(BaseModel):
    """A tool call whose arguments were not a JSON object; replayed as malformed as it was."""

    model_config = ConfigDict(frozen=True)

    name: str
    raw_args: str


class Decision(BaseModel):
    """One answer of the recorded model."""

    model_config = ConfigDict(frozen=True)

    text: str = ""
    calls: tuple[RecordedCall, ...] = ()
    malformed: tuple[MalformedCall, ...] = ()
    finish_reason: str | None = None


class Recording(BaseModel):
    """A whole record.

    Attributes:
        decisions: the answers, in order.
        project_paths: absolute paths that meant the project where the record was made, when the
            record itself says so.
        submitted: the record ends with a call that handed in the work; the call is left out.
        warnings: what was odd but could be read, one line each.
    """

    model_config = ConfigDict(frozen=True)

    decisions: tuple[Decision, ...]
    project_paths: tuple[str, ...] = ()
    submitted: bool = False
    warnings: tuple[str, ...] = ()


class NotARecordingError(ValueError):
    """A file that is not in the format it was read as; the message is one line for people."""
