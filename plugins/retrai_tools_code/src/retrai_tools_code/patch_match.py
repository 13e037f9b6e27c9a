"""Find the one place in a text that a patch means, or say why there is none.

The text is compared with `\\n` as its only line end; what is replaced gets the line ends that
stood there, and everything else keeps its bytes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from retrai_core import ToolError

from .patch_hints import nearest_lines
from .text_files import lines_of

# Gives what shall stand in place of the first lines, if they are the second ones.
_Fit = Callable[[Sequence[str], Sequence[str], str], str | None]


@dataclass(frozen=True, slots=True)
class Patched:
    """The outcome of a patch.

    Attributes:
        text: the whole new text.
        first_line: where the change begins, counted from 1.
        old_lines, new_lines: how many lines were replaced, and by how many.
        note: how the place was found when it was not by exact comparison.
    """

    text: str
    first_line: int
    old_lines: int
    new_lines: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class _Place:
    """From `start` to `end` of the text with `\\n`, to be replaced by `new`."""

    start: int
    end: int
    new: str
    note: str = ""


def apply_patch(text: str, old: str, new: str) -> Patched:
    """Replace the one occurrence of `old` by `new`.

    When there is no exact one, whole lines are compared without their trailing blanks, then with
    another indentation (the same for all lines, which `new` then gets as well). Each of these must
    fit in exactly one place.

    Args:
        text: the file's text, with the line ends it has.
        old: what stands there.
        new: what shall stand there.

    Raises:
        ToolError: `old` is empty, equals `new`, is not found, or is found more than once; the
            message shows the nearest lines, or the lines where it stands.
    """
    flat, wanted, wished = _flat(text), _flat(old), _flat(new)
    if not wanted:
        raise ToolError("`old` is empty", hint="file_write writes a whole file")
    if wanted == wished:
        raise ToolError("`old` and `new` are the same, so nothing would change")
    place = (
        _exact(flat, wanted, wished)
        or _by_lines(flat, wanted, wished, _same_but_trailing, "blanks at line ends differ")
        or _by_lines(flat, wanted, wished, _reindented, "the indentation differs")
    )
    if place is None:
        raise ToolError(nearest_lines(lines_of(flat), lines_of(wanted)))
    start, end = _original(text, place.start), _original(text, place.end)
    inserted = place.new.replace("\n", _line_end(text, start, end))
    return Patched(
        text=text[:start] + inserted + text[end:],
        first_line=flat.count("\n", 0, place.start) + 1,
        old_lines=len(lines_of(flat[place.start : place.end])),
        new_lines=len(lines_of(place.new)),
        note=place.note,
    )


def _flat(text: str) -> str:
    return text.replace("\r\n", "\n")


def _original(text: str, offset: int) -> int:
    """The offset in `text` of an offset in the text with `\\n` only.

    A line's `\\r` belongs to the line end: an offset just before the line end stays before both.
    """
    if "\r\n" not in text:
        return offset
    ends: list[int] = []  # where each `\r` was, in the flat text
    position = -1
    while (position := text.find("\r\n", position + 1)) >= 0:
        ends.append(position - len(ends))
    return offset + bisect_left(ends, offset)


def _line_end(text: str, start: int, end: int) -> str:
    """The line end for what is put between `start` and `end`: as there, else as in the file."""
    there = text[start:end]
    scope = there if "\n" in there else text
    return "\r\n" if 2 * scope.count("\r\n") > scope.count("\n") else "\n"


def _exact(flat: str, wanted: str, wished: str) -> _Place | None:
    found: list[int] = []
    position = -1
    while (position := flat.find(wanted, position + 1)) >= 0:
        found.append(position)
    if not found:
        return None
    if len(found) > 1:
        raise _ambiguous([flat.count("\n", 0, at) + 1 for at in found], "")
    return _Place(found[0], found[0] + len(wanted), wished)


def _by_lines(flat: str, wanted: str, wished: str, fit: _Fit, note: str) -> _Place | None:
    """The place where whole lines fit by `fit`; None when there is none."""
    have, want = lines_of(flat), lines_of(wanted)
    if not any(line.strip() for line in want):
        return None
    found: list[tuple[int, str]] = []
    for at in range(len(have) - len(want) + 1):
        replacement = fit(have[at : at + len(want)], want, wished)
        if replacement is not None:
            found.append((at, replacement))
    if not found:
        return None
    if len(found) > 1:
        raise _ambiguous([at + 1 for at, _ in found], f" (none is exact; {note})")
    at, replacement = found[0]
    start = sum(len(line) + 1 for line in have[:at])
    end = start + sum(len(line) + 1 for line in have[at : at + len(want)])
    at_end = end > len(flat)  # the file's last line has no line end
    if wanted.endswith("\n") and not at_end:
        return _Place(start, end, replacement, note)
    if wanted.endswith("\n"):
        replacement = replacement.removesuffix("\n")
    return _Place(start, end - 1, replacement, note)


def _same_but_trailing(have: Sequence[str], want: Sequence[str], new: str) -> str | None:
    same = all(one.rstrip() == other.rstrip() for one, other in zip(have, want, strict=True))
    return new if same else None


def _reindented(have: Sequence[str], want: Sequence[str], new: str) -> str | None:
    """`new` with the indentation that the lines have, where it differs by one prefix throughout."""
    if any(one.strip() != other.strip() for one, other in zip(have, want, strict=True)):
        return None
    pairs = [
        (_indent(one), _indent(other)) for one, other in zip(have, want, strict=True) if one.strip()
    ]
    there, here = pairs[0]
    if there.endswith(here):
        extra = there.removesuffix(here)
        if all(one == extra + other for one, other in pairs):
            return "\n".join(extra + line if line.strip() else line for line in new.split("\n"))
    elif here.endswith(there):
        surplus = here.removesuffix(there)
        lines = new.split("\n")
        fits = all(surplus + one == other for one, other in pairs)
        if fits and all(line.startswith(surplus) for line in lines if line.strip()):
            return "\n".join(line.removeprefix(surplus) for line in lines)
    return None


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _ambiguous(lines: Sequence[int], how: str) -> ToolError:
    shown = ", ".join(str(line) for line in lines[:10])
    more = ", ..." if len(lines) > 10 else ""
    return ToolError(
        f"`old` is found {len(lines)} times, at lines {shown}{more}{how}",
        hint="add lines around it to `old`, so that it fits in one place only",
    )
