"""The journal of tool calls: written before and after each, so that none is repeated.

A call that began and did not end was cut off by a kill: it may or may not have had its effect, and
the model is told so.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from ..contracts.store import JournalledResult

__all__ = ["JournalledResult", "ToolJournal"]


class ToolJournal:
    """Remembers which calls of this run began and how they ended.

    Args:
        path: `journal.jsonl` in the run's folder; what a killed run left there is read.
    """

    def __init__(self, path: Path) -> None:
        self._begun: set[str] = set()
        self._ended: dict[str, JournalledResult] = {}
        if path.exists():
            self._read(path)
        # Half a surrogate pair, which JSON from a model may hold, is written as JSON's own escape.
        self._file = path.open("a", encoding="utf-8", errors="backslashreplace")
        if path.stat().st_size and not path.read_bytes().endswith(b"\n"):
            self._file.write("\n")

    def finished(self, key: str) -> JournalledResult | None:
        """The result of the call, when it ended in an earlier process of this run."""
        return self._ended.get(key)

    def cut_off(self, key: str) -> bool:
        """Whether the call began in an earlier process of this run and did not end."""
        return key in self._begun and key not in self._ended

    def begin(self, key: str, name: str) -> None:
        """The call is about to run; out of our hands when this returns."""
        self._write({"call": key, "begin": name})

    def end(self, key: str, result: JournalledResult) -> None:
        """The call has ended; out of our hands when this returns."""
        entry = {"ok": result.ok, "content": result.content, "duration_s": result.duration_s}
        self._write({"call": key, "end": entry})

    def close(self) -> None:
        """No more calls."""
        self._file.close()

    def _write(self, entry: dict[str, Any]) -> None:
        self._file.write(json.dumps(entry, ensure_ascii=False) + "\n")
        # With the system now, so that no kill of retrai takes it. Waiting for the disk as well
        # would cost milliseconds twice a call, and help only against a power cut.
        self._file.flush()

    def _read(self, path: Path) -> None:
        # Not `splitlines`: it also splits at U+2028 and U+0085, which JSON leaves as they are.
        for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
            try:
                entry = json.loads(line)
            except ValueError:
                continue  # a line that a kill left half written
            if not isinstance(entry, dict) or "call" not in entry:
                continue
            raw = cast("dict[str, Any]", entry)
            self._begun.add(raw["call"])
            if "end" in raw:
                self._ended[raw["call"]] = JournalledResult(**raw["end"])
