"""Finds out what a recorded file is, and reads it."""

from __future__ import annotations

from pathlib import Path

from pydantic import JsonValue, TypeAdapter, ValidationError

from retrai_core import UsageError

from .mini_swe_agent import read_trajectory
from .recording import NotARecordingError, Recording
from .run_log import LOG_NAME, read_run_log

JSON_OBJECT = TypeAdapter(dict[str, JsonValue])
EXPECTED = (
    "expected a run folder or the events.jsonl in it (`retrai runs list` names the runs), "
    "or a mini-swe-agent .traj.json"
)


def find_file(name: str, project: Path) -> Path | None:
    """The file or folder called `name`: absolute, in the current folder, or in the project."""
    path = Path(name).expanduser()
    places = [path] if path.is_absolute() else [Path.cwd() / path, project / path]
    return next((place for place in places if place.exists()), None)


def read_recording(path: Path) -> Recording:
    """Read a recorded run.

    Args:
        path: a run folder, an `events.jsonl`, or a `.traj.json`.

    Raises:
        UsageError: it cannot be read or is no recorded run; the message says what was expected.
    """
    try:
        recording = read_any(path)
    except OSError as error:
        raise UsageError(f"replay: {path} cannot be read: {error.strerror or error}") from error
    except NotARecordingError as error:
        raise UsageError(f"replay: {path} is not a recorded run: {error}", hint=EXPECTED) from error
    if not recording.decisions:
        raise UsageError(f"replay: {path} holds no answer of a model", hint=EXPECTED)
    return recording


def read_any(path: Path) -> Recording:
    if path.is_dir():
        log = path / LOG_NAME
        if not log.is_file():
            raise NotARecordingError(f"the folder has no {LOG_NAME}")
        return read_run_log(log)
    if path.suffix == ".jsonl":
        return read_run_log(path)
    try:
        document = JSON_OBJECT.validate_json(path.read_bytes())
    except ValidationError:
        # Not one JSON object: a run log under another name, or nothing that we know.
        return read_run_log(path)
    if "messages" in document:
        return read_trajectory(document)
    if "kind" in document:
        return read_run_log(path)
    raise NotARecordingError("its JSON object has no `messages`")
