"""The journal of tool calls, `journal.jsonl`: written before and after each call.

A call that began and did not end was interrupted by a kill: it may or may not have had its effect,
and the model is told so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from ..contracts.store import Journal, JournalledResult


class FilesJournal(Journal):
    """Remembers which calls of a run began and how they ended.

    Args:
        path: the file; what earlier claims left there is read.
        claim: the number of the claim.
        write: appends a line to the file, as long as the claim holds.
    """

    def __init__(self, path: Path, claim: int, write: Callable[[str], None]) -> None:
        self._claim = claim
        self._write = write
        self._begun: dict[str, int] = {}
        self._ended: dict[str, JournalledResult] = {}
        for entry in _entries(path):
            self._begun.setdefault(entry["call"], entry.get("claim", 0))
            if (ended := _result(entry)) is not None:
                self._ended[entry["call"]] = ended

    async def finished(self, key: str) -> JournalledResult | None:
        """See the contract."""
        return self._ended.get(key)

    async def cut_off(self, key: str) -> bool:
        """See the contract."""
        return self._begun.get(key, self._claim) != self._claim and key not in self._ended

    async def begin(self, key: str, tool: str) -> None:
        """See the contract."""
        self._note({"call": key, "begin": tool, "claim": self._claim})
        self._begun.setdefault(key, self._claim)

    async def end(self, key: str, result: JournalledResult) -> None:
        """See the contract."""
        ended = {"ok": result.ok, "content": result.content, "duration_s": result.duration_s}
        self._note({"call": key, "end": ended})
        self._ended[key] = result

    def _note(self, entry: Mapping[str, Any]) -> None:
        self._write(json.dumps(entry, ensure_ascii=False))


def result_of_call(path: Path, call_id: str) -> JournalledResult | None:
    """What a call gave; of several with this id the last."""
    found = None
    for entry in _entries(path):
        if f"/{entry['call']}".endswith(f"/{call_id}"):
            found = _result(entry) or found
    return found


def _entries(path: Path) -> Iterator[dict[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return
    # Not `splitlines`: it also splits at U+2028 and U+0085, which JSON leaves as they are.
    for line in text.split("\n"):
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
