"""The run log, `events.jsonl`: every event, one line each, in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import cast

from ..errors import RetraiError
from ..events import AgentEvent
from .record import Tokens


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


def read_events(path: Path) -> Iterator[AgentEvent]:
    """Every event in a run log, none where there is no log.

    A line that a kill left half written is passed over. Events of retrai 0.1, which had no numbers,
    are numbered in their order.
    """
    last_seq = 0
    try:
        file = path.open(encoding="utf-8", errors="replace", newline="\n")
    except FileNotFoundError:
        return
    with file:
        for line in file:
            try:
                event = AgentEvent.from_json(line)
            except (ValueError, KeyError):
                continue
            last_seq = event.seq or last_seq + 1
            yield event if event.seq else replace(event, seq=last_seq)


_TOKEN_KEYS = {
    "input": "prompt_tokens",
    "output": "completion_tokens",
    "total": "total_tokens",
}


def usage_of(events: Iterable[AgentEvent]) -> tuple[Tokens, float | None]:
    """What the model calls of a log used: tokens, and US dollars; None where a price is not known.

    What an event of a plugin's leaves out is not known.

    Raises:
        TypeError, ValueError: what it says is no number.
    """
    calls = [event.payload for event in events if event.kind == "llm_usage"]
    counts = {
        name: sum(int(call.get(key, 0)) for call in calls) for name, key in _TOKEN_KEYS.items()
    }
    costs = [cast("float | None", call.get("cost_usd")) for call in calls]
    known = [cost for cost in costs if cost is not None]
    return Tokens.model_validate(counts), sum(known) if len(known) == len(costs) else None
