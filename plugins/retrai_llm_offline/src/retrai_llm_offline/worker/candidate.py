"""An edit to try: which text goes, what comes, and how far-fetched it is."""

from __future__ import annotations

from typing import Dict, List, NamedTuple, Sequence, Tuple


class Edit(NamedTuple):
    """Replace the characters from `start` to `end` of one file with `text`."""

    path: str
    start: int
    end: int
    text: str


class Proposal(NamedTuple):
    """What an operator offers: edits in its file, their kind, a cost (1 plain, 3 far-fetched)."""

    edits: Tuple[Tuple[int, int, str], ...]
    kind: str
    cost: float


class Candidate(NamedTuple):
    """A proposal with its place; `cost` already counts how little suspicion its line drew."""

    edits: Tuple[Edit, ...]
    kind: str
    line: int
    cost: float
    suspicion: float

    @property
    def path(self) -> str:
        """The file of the first edit."""
        return self.edits[0].path

    @property
    def key(self) -> str:
        """The same for the same change, whatever operator thought of it."""
        return repr(sorted(tuple(edit) for edit in self.edits))


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """The text with every edit made; offsets all refer to the text as given.

    Raises ValueError when two edits overlap.
    """
    parts: List[str] = []
    position = 0
    for edit in sorted(edits, key=lambda item: (item.start, item.end)):
        if edit.start < position:
            raise ValueError("two edits overlap")
        parts.append(text[position : edit.start])
        parts.append(edit.text)
        position = edit.end
    parts.append(text[position:])
    return "".join(parts)


def by_file(edits: Sequence[Edit]) -> Dict[str, List[Edit]]:
    """Edits grouped by the file they are made in."""
    grouped: Dict[str, List[Edit]] = {}
    for edit in edits:
        grouped.setdefault(edit.path, []).append(edit)
    return grouped


def compatible(first: Candidate, second: Candidate) -> bool:
    """Whether two candidates can be made together, touching different text."""
    for one in first.edits:
        for other in second.edits:
            if one.path != other.path:
                continue
            if one.start < other.end and other.start < one.end:
                return False
            if one.start == other.start and (one.end == one.start or other.end == other.start):
                return False
    return True


def combine(first: Candidate, second: Candidate) -> Candidate:
    """Two candidates made together."""
    return Candidate(
        first.edits + second.edits,
        first.kind + "; " + second.kind,
        first.line,
        first.cost + second.cost,
        min(first.suspicion, second.suspicion),
    )
