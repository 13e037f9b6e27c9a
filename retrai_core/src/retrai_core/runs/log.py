"""The run log, `events.jsonl`: every event, one line each, in order."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from ..errors import RetraiError
from ..events import AgentEvent
from ..storage.event_log import read_events, usage_of

__all__ = ["RunLog", "read_events", "usage_of"]


class RunLog:
    """Appends events to a file and gives ranges of them back.

    Args:
        path: the file; made when missing. A line that a kill left half written is ended first.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._problem: OSError | None = None
        self.last_seq = max((event.seq for event in read_events(path)), default=0)
        # Half a surrogate pair, which JSON from a model may hold, is written as JSON's own escape.
        self._file = path.open("a", encoding="utf-8", errors="backslashreplace")
        if path.stat().st_size and not path.read_bytes().endswith(b"\n"):
            self._file.write("\n")

    def append(self, event: AgentEvent) -> None:
        """Write one event and hand it to the system, so that a kill of retrai loses none.

        Raises:
            RetraiError: it cannot be written (the disk is full); from then on none is.
        """
        if self._problem is None:
            try:
                self._file.write(event.to_json() + "\n")
                self._file.flush()
                return
            except OSError as error:
                self._problem = error
        why = self._problem.strerror or str(self._problem)
        raise RetraiError(
            f"the run's log cannot be written: {why} ({self.path})",
            hint=f"make room; `retrai runs resume {event.run_id}` goes on",
        )

    def read(self, first: int, last: int) -> list[AgentEvent]:
        """The events with the numbers `first` to `last` (exclusive)."""
        return [event for event in read_events(self.path) if first <= event.seq < last]

    def close(self) -> None:
        """No more events."""
        with suppress(OSError):  # what a full disk did not take is still in the buffer
            self._file.close()
