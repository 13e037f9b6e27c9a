"""What the model reads of one failing case: the lines that matter, the assertion, the output."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from retrai_core import CaseOutcome
from retrai_goal_support import shorten

from .case_outcomes import Case
from .pytest_run import Failure
from .report_lines import Explanation, TraceEntry, TraceLink
from .source_lines import SourceLines

_LOCATION = re.compile(r'^(?:E +File "(.+)", line (\d+)|(\S.*):(\d+): in .*)$', re.MULTILINE)
_STEP = re.compile(r"^(\S.*):(\d+): in .+$")
MAX_PLACES = 6
MAX_CAPTURED = 1200


@dataclass
class Place:
    """One step of a traceback; `inside` when the file is the project's own."""

    path: str
    line: int
    where: str
    inside: bool


class FailureWriter:
    """Writes the failures of one run; sources are read once."""

    def __init__(self, project: Path, max_chars: int) -> None:
        self.project = project
        self.max_chars = max_chars
        self.sources = SourceLines(project)

    def write(self, name: str, outcome: CaseOutcome, case: Case) -> Failure:
        """The failure of one case, as pytest explained it phase by phase."""
        location = message = ""
        parts: list[str] = []
        for when, why in case.problems:
            place, text = self._explain(why)
            said = _message_of(why)
            location, message = location or place, message or said
            title = "" if when in ("call", "collection", "???") else f"in {when}: "
            named = not place or text.startswith(place)
            parts.append(f"{title}{text}" if named else f"{title}{place}\n{text}")
        captured = "\n".join(
            f"{title}:\n{shorten(text.strip(), MAX_CAPTURED)}"
            for title, text in case.sections
            if text.strip()
        )
        if case.more_subtests:
            parts.append(f"and {case.more_subtests} more failing subtests")
        location = location or case.node_id.partition("::")[0]
        head = "\n\n".join(parts)
        if captured:
            # The explanation comes first and whole; the output gets what is left.
            room = max(self.max_chars - len(head) - 2, self.max_chars // 5)
            captured = "\n\n" + shorten(captured, room)
        body = shorten(head, self.max_chars - len(captured)) + captured
        return Failure(name, outcome, location, shorten(message, 1000), body)

    def write_cut_off(self, name: str, said: str, stack: Sequence[tuple[str, int, str]]) -> Failure:
        """The failure of a case that never ended: where it was when it was ended from outside."""
        places = [self._place(path, line, f"in {function}") for path, line, function in stack]
        inside = [place for place in places if place.inside]
        if not inside:
            return Failure(name, "error", "", said, said)
        shown = "\n".join(self._show(place) for place in inside[-MAX_PLACES:])
        text = f"{said}\nIt was here:\n{shown}"
        return Failure(name, "error", _spot(inside[-1]), said, shorten(text, self.max_chars))

    def _explain(self, why: Explanation) -> tuple[str, str]:
        """The location and the text of one explanation."""
        if not why.chain:
            path, line = (why.path, why.line) if why.path else _place_in(why.text)
            spot = _spot(self._place(path, line, "")) if path else ""
            return spot, self._without_machinery(why.text or why.message)
        blocks = [self._link(link) for link in why.chain]
        places = [
            place
            for link in why.chain[-1:]
            for place in (self._place(e.path, e.line, e.where) for e in link.entries)
            if place.inside
        ]
        place = places[-1] if places else self._place(why.path, why.line, "")
        return _spot(place), "\n".join(block for block in blocks if block)

    def _without_machinery(self, text: str) -> str:
        """A collection error's text without the steps through the importer and pytest itself."""
        kept: list[str] = []
        inside = True
        for line in text.splitlines():
            step = _STEP.match(line)
            if step:
                inside = self._place(step.group(1), int(step.group(2)), "").inside
            if inside or line.startswith("E "):
                kept.append(line)
        return "\n".join(kept)

    def _link(self, link: TraceLink) -> str:
        """One exception: where it came through, then what it says."""
        places = [self._place(e.path, e.line, e.where) for e in link.entries]
        shown = [place for place in places if place.inside]
        outside = [place for place in places if not place.inside]
        if len(shown) > MAX_PLACES:
            shown = shown[:2] + shown[-(MAX_PLACES - 2) :]
        blocks = [self._show(place) for place in shown]
        if outside and (not shown or places[-1] is outside[-1]):
            blocks.append(f"{_spot(outside[-1])} {outside[-1].where}".rstrip())
        errors = [line for entry in link.entries for line in _error_lines(entry)]
        if not errors:
            errors = [entry.lines for entry in link.entries[-1:]]
        blocks.append("\n".join(errors))
        if link.after:
            blocks.append(f"\n{link.after}\n")
        return "\n".join(blocks)

    def _show(self, place: Place) -> str:
        source = self.sources.around(place.path, place.line)
        title = f"{_spot(place)} {place.where}".rstrip()
        return f"{title}\n{source}" if source else title

    def _place(self, path: str, line: int, where: str) -> Place:
        where = where if where.startswith("in ") else ""
        full = os.path.normpath(os.path.join(self.project, path)) if path else ""
        relative = os.path.relpath(full, self.project) if full else ""
        parts = relative.split(os.sep)
        # `<frozen importlib>` and the like are no files at all.
        outside = not full or parts[0] == ".." or path.startswith("<")
        outside = outside or bool({"site-packages", "dist-packages"} & {*parts})
        return Place(full if outside else relative.replace(os.sep, "/"), line, where, not outside)


def _spot(place: Place) -> str:
    return f"{place.path}:{place.line}" if place.line else place.path


def _place_in(text: str) -> tuple[str, int]:
    """The last location that a collection error names; pytest gives it as text only."""
    found = _LOCATION.findall(text)
    path, line = next(((a or c, b or d) for a, b, c, d in reversed(found)), ("", "0"))
    return path, int(line)


def _error_lines(entry: TraceEntry) -> list[str]:
    return [line for line in entry.lines.splitlines() if line.startswith("E ")]


def _message_of(why: Explanation) -> str:
    """The exception in a few lines, without the traceback."""
    if why.message:
        return why.message
    errors = [line[1:].strip() for line in why.text.splitlines() if line.startswith("E ")]
    return "\n".join(errors) or why.text.strip()
