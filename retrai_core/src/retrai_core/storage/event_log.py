"""The run log, `events.jsonl`: all events in order, one per line."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

from ..contracts.record import Tokens
from ..events import AgentEvent
from .lines import read_lines

_BATCH_BYTES = 1_000_000
_MARK_EVERY = 256


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
            event = _event(line, last_seq)
            if event is not None:
                last_seq = event.seq
                yield event


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive events of a log.

    Attributes:
        events: the events.
        last_seq: the number of the last one that was looked at.
        end: where the next line begins, in bytes.
    """

    events: list[AgentEvent]
    last_seq: int
    end: int


def next_batch(path: Path, after: int, last_seq: int, offset: int) -> Batch:
    """The next events behind number `after`; none when the log has no more.

    Args:
        path: the log.
        after: a number.
        last_seq: the number of the last event before `offset`.
        offset: where to begin, in bytes.
    """
    while True:
        lines, end = read_lines(path, offset, _BATCH_BYTES)
        found: list[AgentEvent] = []
        for line in lines:
            event = _event(line.decode("utf-8", "replace"), last_seq)
            if event is not None:
                last_seq = event.seq
                if last_seq > after:
                    found.append(event)
        if found or not lines:
            return Batch(found, last_seq, end)
        offset = end


@dataclass(slots=True)
class Marks:
    """Positions of event numbers in a log, so that a reader need not start at the beginning."""

    _known: list[tuple[int, int]] = field(default_factory=lambda: [(0, 0)])

    def before(self, after: int, size: int) -> tuple[int, int]:
        """A number not above `after`, and the offset behind it; `size` is the log's now."""
        if size < self._known[-1][1]:  # it is another log
            self._known = [(0, 0)]
        return self._known[bisect_right(self._known, (after, size)) - 1]

    def note(self, batch: Batch) -> None:
        """The log was read up to there."""
        mark = (batch.last_seq, batch.end)
        if mark <= self._known[-1]:
            return
        near = len(self._known) > 1 and mark[0] - self._known[-2][0] < _MARK_EVERY
        if near or mark[0] == self._known[-1][0]:
            self._known[-1] = mark
        else:
            self._known.append(mark)


def _event(line: str, last_seq: int) -> AgentEvent | None:
    try:
        event = AgentEvent.from_json(line)
    except (ValueError, KeyError):
        return None
    return event if event.seq else replace(event, seq=last_seq + 1)


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
