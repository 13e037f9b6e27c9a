"""Checks an answer's citations and quoted code against the project and what tools have shown.

A citation is `path:12`, `path:12-20` or `path:12-20,30`; `path#L12-L20` is read too. It is verified
if the path is a file of the project, the lines are in it, and a tool has shown every one of them. A
fenced block is verified if it stands in the file of the citation in the line before it, within the
cited lines; without such a citation, in a file that is cited elsewhere or was shown. White space at
line ends and common indentation do not count, and a line `...` stands for lines that are left out.

What is not verified gets the mark ` [unverified]`. Marks that the answer brings along are removed.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from markdown_it import MarkdownIt

from .evidence import Evidence
from .found import Lines, Place

MARK = "[unverified]"

_MAX_DIGITS = 9
_BOUNDARIES = 12
"""So many beginnings are tried for a path that has spaces or brackets in it."""
_LINE = r"L?[0-9]+(?:[:C][0-9]+(?=[-\u2010-\u2015\u2212]))?"
_TO = r"(?:[-\u2010-\u2015\u2212]|\.\.\.?)"
_RANGE = rf"{_LINE}(?:{_TO}L?[0-9]+)?"
_MORE = rf"{_LINE}{_TO}L?[0-9]+"
_ANCHOR = re.compile(
    r"(?:(?<=[^\s:#]):|#(?=L)|(?<=[\w`*)]),? \(?(?:lines? (?=[0-9])|(?=L[0-9])))"
    rf"(?P<ranges>{_RANGE}(?:,{_RANGE}|, ?{_MORE})*)(?:[:C][0-9]+)?(?![0-9A-Za-z_])"
)
_COLUMN = re.compile(r"[:C][0-9]+")
_URL = re.compile(r"\b(?:https?|ftp)://[^\s<>()`\"']*$", re.IGNORECASE)
_BEGINS = re.compile(r"[\s\"'`<>()\[\]{}|,;*=\u201c\u201d\u2018\u2019]")
_EXTENSION = re.compile(r"[\w)\]]\.[A-Za-z][\w+-]{0,9}$")
_HOST = re.compile(r"^[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev|local)$", re.IGNORECASE)
_OWN_MARK = re.compile(
    r"[ \t]*(?:\[unverified\]|(?<![^\W\d])\[\s*(?:[^\w\s]\s*)?(?:un)?verified\s*\])", re.IGNORECASE
)
"""Of what follows a letter, as an index does, only our own mark."""
_CLOSING = "`*)]"
"""What may stand between a path and its lines."""
_BARE_LINE = re.compile(r"^[\s>]*$")
_ELISION = re.compile(r"^\W*(?:\.\.\.|\u2026)\W*$")
_DIAGRAM = re.compile(
    r"\s*(?:---|%%|graph\b|flowchart\b|\w+Diagram\b|gantt\b|pie\b|mindmap\b|journey\b|gitGraph\b)"
)


@dataclass(frozen=True, slots=True)
class Citation:
    """One cited range.

    Attributes:
        path: as a project file where it is one, else as it was written.
        lines: as written: `12-20`.
        verified: whether a tool has shown these lines.
        reason: why it is not; empty where it is.
    """

    path: str
    lines: str
    verified: bool
    reason: str = ""

    def as_json(self) -> dict[str, Any]:
        """For the record."""
        return {
            "path": self.path,
            "lines": self.lines,
            "verified": self.verified,
            "reason": self.reason,
        }


@dataclass
class Checked:
    """An answer after the check.

    Attributes:
        text: with the marks.
        citations: in order.
        quotes: the fenced blocks, as citations of where they stand.
    """

    text: str = ""
    citations: list[Citation] = field(default_factory=list[Citation])
    quotes: list[Citation] = field(default_factory=list[Citation])

    @property
    def unverified(self) -> int:
        """How many citations and quotes are not verified."""
        return sum(not each.verified for each in [*self.citations, *self.quotes])


@dataclass(frozen=True)
class _Found:
    """A citation in a line: where it begins, where its mark belongs, and what it cites."""

    begin: int
    end: int
    citations: tuple[Citation, ...]
    places: tuple[Place, ...]


@dataclass(frozen=True)
class _Block:
    """A fenced or indented block: its lines in the answer, and its content."""

    first: int
    end: int
    info: str
    prefix: str
    content: str


def check_answer(answer: str, evidence: Evidence, lines: Lines) -> Checked:
    """Check an answer.

    Args:
        answer: Markdown.
        evidence: what the tools have shown.
        lines: the project's files.
    """
    return _Check(answer, evidence, lines).checked()


class _Check:
    """The check of one answer."""

    def __init__(self, answer: str, evidence: Evidence, lines: Lines) -> None:
        self._evidence = evidence
        self._files = lines
        self._source = re.split(r"\r\n?|\n", answer)
        self._result = Checked()

    def checked(self) -> Checked:
        blocks = self._drop_marks()
        out: list[str] = []
        number = 0
        while number < len(self._source):
            block = blocks.get(number)
            if block is None:
                out.append(self._marked(self._source[number]))
                number += 1
                continue
            quote = self._quote(block)
            body = self._source[number : block.end]
            if quote is None or not quote.verified:  # else it is the project's text
                body = [self._marked(line) for line in body]
            out += body
            if quote is not None:
                self._result.quotes.append(quote)
                if not quote.verified:
                    out.append(f"{block.prefix}{MARK}")
            number = block.end
        self._result.text = "\n".join(out)
        return self._result

    def _drop_marks(self) -> dict[int, _Block]:
        """Remove the marks that the answer brings along; its blocks then, by their first line.

        What is a block may change when a mark goes, hence the loop.
        """
        while True:
            blocks = {block.first: block for block in _blocks(self._source)}
            own: set[int] = set()
            for block in blocks.values():
                quote = self._quote(block)
                if quote is not None and quote.verified:
                    own.update(range(block.first, block.end))
            kept: list[str] = []
            for number, line in enumerate(self._source):
                plain = line if number in own else _without_marks(line)
                if plain == line or not _BARE_LINE.match(plain):
                    kept.append(plain)
            if kept == self._source:
                return blocks
            self._source = kept

    # Citations

    def _marked(self, line: str) -> str:
        """The line with its marks."""
        marks: set[int] = set()
        for found in self._citations(line):
            self._result.citations += found.citations
            if not all(each.verified for each in found.citations):
                marks.add(found.end)
        for at in sorted(marks, reverse=True):
            line = f"{line[:at]} {MARK}{line[at:]}"
        return line

    def _citations(self, line: str) -> Iterator[_Found]:
        after = 0
        for anchor in _ANCHOR.finditer(line):
            before = line[after : anchor.start()]
            if _URL.search(line[: anchor.start()]):
                continue
            begin, path, is_file = self._path(before)
            if begin < 0:
                continue
            begin += after
            after = anchor.end()
            ranges = re.findall(_RANGE, _COLUMN.sub("", anchor["ranges"]))
            checked = [self._citation(path, each, is_file=is_file) for each in ranges]
            yield _Found(
                begin,
                _end_of_mention(line, begin, anchor.end()),
                tuple(citation for citation, _ in checked),
                tuple(place for _, place in checked if place is not None),
            )

    def _path(self, before: str) -> tuple[int, str, bool]:
        """Where the path before an anchor begins, the path, and whether it is a project file."""
        begins = [0, *(m.end() for m in _BEGINS.finditer(before))]
        begins = [at for at in begins if before[at:].strip()]
        for at in begins[-_BOUNDARIES:]:
            for path in _readings(before[at:]):
                if self._files(path) is not None:
                    return at, path, True
        token = before[begins[-1] :] if begins else ""
        token = token.rstrip(_CLOSING)
        if not _looks_like_path(token):
            return -1, "", False
        return begins[-1], _readings(token)[0], False

    def _citation(self, path: str, written: str, *, is_file: bool) -> tuple[Citation, Place | None]:
        numbers = [number[:_MAX_DIGITS] for number in re.findall(r"[0-9]+", written)]
        start, end = int(numbers[0]), int(numbers[-1])
        shown = re.sub(_TO, "-", re.sub(r"[L\s]", "", written))

        def not_verified(reason: str, place: Place | None = None) -> tuple[Citation, Place | None]:
            return Citation(path, shown, verified=False, reason=reason), place

        if not is_file:
            return not_verified("no such file in the project")
        count = len(self._files(path) or ())
        if start < 1:
            return not_verified("lines are counted from 1")
        if end < start:
            return not_verified("the range is reversed")
        place = Place(path, start, end)
        if end > count:
            return not_verified(f"the file has {count} lines", place)
        if not self._evidence.covers(place):
            return not_verified("no tool returned these lines", place)
        return Citation(path, shown, verified=True), place

    # Quotes

    def _quote(self, block: _Block) -> Citation | None:
        """Whether a block stands in its file; None of one that is empty, or no code."""
        is_diagram = block.info.split(" ")[0].lower() == "mermaid" and _DIAGRAM.match(block.content)
        if is_diagram or not block.content.strip():
            return None
        content = block.content.split("\n")
        own = self._own_citation(block, content)
        wrong = next((each for each in own.citations if not each.verified), None) if own else None
        if wrong is not None:  # nothing else of the block shows it
            return wrong
        cited = own or self._cited_above(block)
        if cited is not None:
            content = content[1:] if self._is_only_citation(content[0]) else content
            return self._quote_of(cited, _pieces(content))
        pieces = _pieces(content)
        if not pieces:
            return None
        for path in self._shown_files():
            if spot := _spot(pieces, self._files(path) or ()):
                return Citation(path, _span(*spot), verified=True)
        return Citation("", "", verified=False, reason="no file that was shown has this code")

    def _quote_of(self, cited: _Found, pieces: Sequence[Sequence[str]]) -> Citation | None:
        if not pieces:
            return None
        path = cited.citations[0].path
        if not cited.places:
            return Citation(path, "", verified=False, reason=cited.citations[0].reason)
        lines = self._files(path) or ()
        first, last = cited.places[0], cited.places[-1]
        is_range = last.end > first.start
        spot = _spot(pieces, lines, first.start, last.end if is_range else None)
        if spot and (is_range or spot[0] == first.start):
            return Citation(path, _span(*spot), verified=True)
        span = ",".join(each.lines for each in cited.citations)
        if spot := spot or _spot(pieces, lines):
            where = f"this code stands in lines {_span(*spot)}, not in {span}"
        else:
            where = f"this code does not stand in {path}"
        return Citation(path, span, verified=False, reason=where)

    def _own_citation(self, block: _Block, content: Sequence[str]) -> _Found | None:
        """The citation in a block's first line, or behind its fence."""
        line = content[0] if self._is_only_citation(content[0]) else block.info
        return next(iter(self._citations(line)), None)

    def _cited_above(self, block: _Block) -> _Found | None:
        """The citation in the line before a block."""
        above = block.first - 1
        if above >= 0 and _BARE_LINE.match(self._source[above]):
            above -= 1
        if above < 0:
            return None
        found = list(self._citations(self._source[above]))
        return found[-1] if found else None

    def _is_only_citation(self, line: str) -> bool:
        found = list(self._citations(line))
        if len(found) != 1:
            return False
        rest = line[: found[0].begin] + line[found[0].end :]
        return not re.search(r"\w", rest)

    def _shown_files(self) -> list[str]:
        cited: list[str] = []
        for line in self._source:
            cited += [place.path for found in self._citations(line) for place in found.places]
        return list(dict.fromkeys([*cited, *self._evidence.paths]))


def _without_marks(line: str) -> str:
    while (plain := _OWN_MARK.sub("", line)) != line:  # what is left of nested ones may be one
        line = plain
    return line


def _readings(token: str) -> list[str]:
    """The paths that a written path may mean; the first is the likeliest."""
    plain = token.strip()
    if plain.startswith(("./", ".\\")):
        plain = plain[2:]
    slashed = plain.replace("\\", "/")
    unescaped = re.sub(r"\\([_*\[\]()])", r"\1", plain)
    first = plain if "\\" not in plain else slashed
    return list(dict.fromkeys([first, unescaped, first.rstrip(_CLOSING)]))


def _looks_like_path(token: str) -> bool:
    if _HOST.match(token):
        return False
    has_folder = ("/" in token or "\\" in token) and bool(re.search(r"[^\W\d]", token))
    return has_folder or bool(_EXTENSION.search(token))


def _end_of_mention(line: str, begin: int, end: int) -> int:
    """Behind the closing marks of a citation: backticks, stars, the bracket or link around it."""
    while end < len(line) and line[end] in "`*":
        end += 1
    before = line[:begin].rstrip("`*")
    if before.endswith("[") and line[end : end + 1] == "]":
        end += 1
        if line[end : end + 1] == "(" and (close := line.find(")", end)) > 0:
            end = close + 1
    elif before.endswith("](") and line[end : end + 1] == ")":
        end += 1
    return end


def _blocks(source: Sequence[str]) -> list[_Block]:
    """The fenced and indented blocks of a Markdown text."""
    found: list[_Block] = []
    for token in MarkdownIt("commonmark").parse("\n".join(source)):
        if token.type not in ("fence", "code_block") or token.map is None:
            continue
        first, end = token.map
        while end > first + 1 and not source[end - 1].strip(" >\t"):
            end -= 1
        opening = source[first]
        prefix = opening[: opening.find(token.markup)] if token.markup else ""
        # In a list the opening may stand behind the item's bullet.
        prefix = "".join(char if char in " >\t" else " " for char in prefix)
        found.append(_Block(first, end, token.info.strip(), prefix, token.content.rstrip("\n")))
    return found


def _pieces(content: Sequence[str]) -> list[list[str]]:
    """The parts of a quote between `...` lines, without their common indentation."""
    pieces: list[list[str]] = [[]]
    for line in content:
        if _ELISION.match(line):
            pieces.append([])
        else:
            pieces[-1].append(line)
    return [piece for each in pieces if (piece := _dedented(each))]


def _dedented(lines: Sequence[str]) -> list[str]:
    text = textwrap.dedent("\n".join(line.rstrip() for line in lines)).strip("\n")
    return text.split("\n") if text else []


def _spot(
    pieces: Sequence[Sequence[str]], lines: Sequence[str], start: int = 1, end: int | None = None
) -> tuple[int, int] | None:
    """The first and last line where the pieces stand one after the other, from `start` on."""
    last = len(lines) if end is None else min(end, len(lines))
    first_line, at = 0, start
    for piece in pieces:
        found = next(
            (n for n in range(at, last - len(piece) + 2) if _stands_at(piece, lines, n)), None
        )
        if found is None:
            return None
        first_line = first_line or found
        at = found + len(piece)
    return (first_line, at - 1) if pieces else None


def _stands_at(piece: Sequence[str], lines: Sequence[str], number: int) -> bool:
    window = lines[number - 1 : number - 1 + len(piece)]
    if piece[0].strip() != window[0].strip() or piece[-1].strip() != window[-1].strip():
        return False
    return _dedented(window) == list(piece)


def _span(start: int, end: int) -> str:
    return f"{start}-{end}" if end > start else str(start)
