"""What the model reads of one failing case: the lines that matter, the assertion, the output."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from retrai_goal_support import Failure, shorten

from ..source_lines import SourceLines
from .case_outcomes import Case
from .report_lines import Explanation

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

    @property
    def spot(self) -> str:
        """File and line."""
        return f"{self.path}:{self.line}" if self.line else self.path

    @property
    def title(self) -> str:
        """File, line and function."""
        return f"{self.spot} {self.where}".rstrip()


class FailureWriter:
    """Writes the failures of one run; sources are read once.

    Args:
        project: where it ran.
        max_chars: the longest text of one failure, in characters.
        stack: where the process was when its time was up: file, line, function, outermost first.
    """

    def __init__(
        self, project: Path, max_chars: int, stack: Sequence[tuple[str, int, str]]
    ) -> None:
        self.project = project
        self.max_chars = max_chars
        self.stack = stack
        self.sources = SourceLines(project)

    def write(self, name: str, case: Case) -> Failure:
        """The failure of one case, as pytest explained it phase by phase."""
        if not case.problems:
            return self._cut_off(name)
        location = message = ""
        parts: list[str] = []
        for when, why in case.problems:
            place, text = self._explain(why)
            location, message = location or place, message or _message_of(why)
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
        return Failure(name, case.final_outcome, location, shorten(message, 1000), body)

    def _cut_off(self, name: str) -> Failure:
        """The failure of a case that never ended: where it was when it was ended from outside."""
        said = "it did not end"
        places = [self._place(path, line, f"in {function}") for path, line, function in self.stack]
        inside = [place for place in places if place.inside]
        if not inside:
            return Failure(name, "error", "", said, said)
        shown = "\n".join(self._show(place) for place in inside[-MAX_PLACES:])
        text = f"{said}\nIt was here:\n{shown}"
        return Failure(name, "error", inside[-1].spot, said, shorten(text, self.max_chars))

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
                    shown.append(outside.title)
                    outside = None
                if named := _SYNTAX_ERROR.match(line):
                    places.append(self._place(named[1], int(named[2]), ""))
                shown.append(line)
            elif not (places and line.startswith(" ")):  # else a step's source as pytest shows it
                shown.append(line)
        inside = [place for place in places if place.inside]
        location = (inside or places)[-1].spot if places else ""
        return location, "\n".join(shown)

    def _show(self, place: Place) -> str:
        source = self.sources.around(place.path, place.line)
        return f"{place.title}\n{source}" if source else place.title

    def _place(self, path: str, line: int, where: str) -> Place:
        full = os.path.normpath(os.path.join(self.project, path))
        relative = os.path.relpath(full, self.project)
        parts = relative.split(os.sep)
        # `<frozen importlib>` and the like are no files at all.
        outside = parts[0] == ".." or path.startswith("<")
        outside = outside or bool({"site-packages", "dist-packages"} & {*parts})
        return Place(full if outside else relative.replace(os.sep, "/"), line, where, not outside)


def _message_of(why: Explanation) -> str:
    """The exception in a few lines, without the traceback."""
    if why.message:
        return why.message
    errors = [line[1:].strip() for line in why.text.splitlines() if line.startswith("E ")]
    return "\n".join(errors) or why.text.strip()
