"""The lines of a data file in another order, or with other values for their keys, where a program
can rely on neither."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby, pairwise, permutations

MIN_LINES = 4
_MAX_LINES, _MAX_FIELDS = 2000, 8
"""So much of a file is looked at."""
_BETWEEN_FIELDS = re.compile(r"\s*[,;|]\s*|\s+")
_PART = re.compile(r"[\w.-]+")


def reordered(text: str) -> str:
    """The text with the second half of its lines before the first half.

    The first line stays, since it may be a header. The text stays as it is where lines have several
    forms, and where they stand in an order: by a field, up or down, in groups, or each after the
    line that one of its fields names.

    Example:
        >>> reordered("30 b\\n90 c\\n70 a\\n50 d\\n60 b\\n").split("\\n")
        ['30 b', '50 d', '60 b', '90 c', '70 a', '']
        >>> reordered("30 b\\n20 b\\n15 b\\n12 d\\n11 b\\n").split("\\n")
        ['30 b', '20 b', '15 b', '12 d', '11 b', '']
    """
    first, *lines = text.removesuffix("\n").split("\n")
    if len(lines) < MIN_LINES or len({_PART.sub("x", line) for line in lines}) > 1:
        return text
    rows = [_BETWEEN_FIELDS.split(line.strip())[:_MAX_FIELDS] for line in lines[:_MAX_LINES]]
    columns = list(zip(*rows, strict=False))
    if any(map(_is_ordered, columns)) or any(
        _names_lines(one, other) for one, other in permutations(columns, 2)
    ):
        return text
    middle = len(lines) // 2
    turned = "\n".join([first, *lines[middle:], *lines[:middle]])
    return f"{turned}\n" if text.endswith("\n") else turned


def first_fields_are_keys(text: str) -> bool:
    """Whether the lines after the first one are sorted by their first fields, up or down, or each
    has another first field, and more of them: a program may rely on it."""
    lines = [_fields(line) for line in text.splitlines()[1:] if line.strip()]
    return len(lines) >= MIN_LINES and (_is_sorted([key for key, _ in lines]) or _are_keys(lines))


def with_other_values(text: str, *, last: bool) -> str:
    """The text with what follows the keys moved to the next line, in the first or last half.

    It stays as it is where lines have no keys. The first line, which may be a header, stays.

    Example:
        >>> with_other_values("id,city\na,x\nb,y\nc,z\nd,w\n", last=True).split()
        ['id,city', 'a,x', 'b,y', 'c,w', 'd,z']
    """
    first, *lines = text.removesuffix("\n").split("\n")
    parts = [_fields(line) for line in lines]
    if len(lines) < MIN_LINES or not _are_keys(parts):
        return text
    middle = len(parts) // 2
    begin, end = (middle, len(parts)) if last else (0, middle)
    turned = [parts[end - 1][1], *(value for _, value in parts[begin : end - 1])]
    moved = [f"{key}{value}" for (key, _), value in zip(parts[begin:end], turned, strict=True)]
    return "\n".join([first, *lines[:begin], *moved, *lines[end:]]) + "\n" * text.endswith("\n")


def _fields(line: str) -> tuple[str, str]:
    """The first field of a line, and the rest from the separator on."""
    separator = _BETWEEN_FIELDS.search(line, len(line) - len(line.lstrip()))
    place = separator.start() if separator else len(line)
    return line[:place], line[place:]


def _are_keys(lines: Sequence[tuple[str, str]]) -> bool:
    return len({key for key, _ in lines}) == len(lines) and all(rest.strip() for _, rest in lines)


def _is_sorted(values: Sequence[str]) -> bool:
    try:
        keys = [[float(value)] for value in values]
    except ValueError:
        # Texts and numbers in turn.
        keys = [
            [float(part) if part.isdecimal() else part for part in re.split(r"(\d+)", value)]
            for value in values
        ]
    pairs = list(pairwise(keys))
    return all(one <= other for one, other in pairs) or all(one >= other for one, other in pairs)


def _is_ordered(values: Sequence[str]) -> bool:
    """Whether values are sorted, or equal ones stand together."""
    different = set(values)
    groups = sum(1 for _ in groupby(values))
    return len(different) > 1 and (_is_sorted(values) or groups == len(different) < len(values))


def _names_lines(names: Sequence[str], keys: Sequence[str]) -> bool:
    """Whether the fields in `names` mean lines by their `keys`, and all of them earlier or later
    ones: parents before children, say."""
    places: dict[str, int] = {}
    for place, key in enumerate(keys):
        places.setdefault(key, place)
    ways = [
        places[name] < place for place, name in enumerate(names) if places.get(name, place) != place
    ]
    return len(ways) >= MIN_LINES and len(set(ways)) == 1
