"""What the model reads of one failing case: the lines that matter, the assertion, the output."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from retrai_core import CaseOutcome
from retrai_goal_support import Failure, shorten

from .case_outcomes import Case
from .report_lines import Explanation
from .source_lines import SourceLines

_STEP = re.compile(r"^(\S.*):(\d+): (in .+)$")
_SYNTAX_ERROR = re.compile(r'^E +File "(.+)", line (\d+)')
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
        """The location and the text of one explanation.

        Steps through the project are shown with the source around them. Those through other code
        are left out, but for the one that raised the error.
        """
        places = [self._place(why.path, why.line, "")] if why.path else []
        shown: list[str] = []
        outside: Place | None = None
        for line in why.text.splitlines():
            if step := _STEP.match(line):
                places.append(self._place(step[1], int(step[2]), step[3]))
                outside = None if places[-1].inside else places[-1]
                if outside is None:
                    shown.append(self._show(places[-1]))
            elif line.startswith("E "):
                if outside is not None:
                    shown.append(_title(outside))
                    outside = None
                if named := _SYNTAX_ERROR.match(line):
                    places.append(self._place(named[1], int(named[2]), ""))
                shown.append(line)
            elif not (places and line.startswith(" ")):  # else a step's source as pytest shows it
                shown.append(line)
        inside = [place for place in places if place.inside]
        location = _spot((inside or places)[-1]) if places else ""
        return location, "\n".join(shown)

    def _show(self, place: Place) -> str:
        source = self.sources.around(place.path, place.line)
        return f"{_title(place)}\n{source}" if source else _title(place)

    def _place(self, path: str, line: int, where: str) -> Place:
        full = os.path.normpath(os.path.join(self.project, path))
        relative = os.path.relpath(full, self.project)
        parts = relative.split(os.sep)
        # `<frozen importlib>` and the like are no files at all.
        outside = parts[0] == ".." or path.startswith("<")
        outside = outside or bool({"site-packages", "dist-packages"} & {*parts})
        return Place(full if outside else relative.replace(os.sep, "/"), line, where, not outside)


def _spot(place: Place) -> str:
    return f"{place.path}:{place.line}" if place.line else place.path


def _title(place: Place) -> str:
    return f"{_spot(place)} {place.where}".rstrip()


def _message_of(why: Explanation) -> str:
    """The exception in a few lines, without the traceback."""
    if why.message:
        return why.message
    errors = [line[1:].strip() for line in why.text.splitlines() if line.startswith("E ")]
    return "\n".join(errors) or why.text.strip()
