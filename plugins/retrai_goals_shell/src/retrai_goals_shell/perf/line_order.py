"""The lines of a data file in another order, where a program can rely on none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby, pairwise, permutations

MIN_LINES = 4
_MAX_LINES, _MAX_FIELDS = 2000, 8
"""So much of a file is looked at."""
BETWEEN_FIELDS = re.compile(r"\s*[,;|]\s*|\s+")
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
    rows = [BETWEEN_FIELDS.split(line.strip())[:_MAX_FIELDS] for line in lines[:_MAX_LINES]]
    columns = list(zip(*rows, strict=False))
    if any(map(_is_ordered, columns)) or any(
        _names_lines(one, other) for one, other in permutations(columns, 2)
    ):
        return text
    middle = len(lines) // 2
    turned = "\n".join([first, *lines[middle:], *lines[:middle]])
    return f"{turned}\n" if text.endswith("\n") else turned


def first_fields_are_sorted(text: str) -> bool:
    """Whether the lines after the first one stand in the order of their first fields, up or down: a
    program may rely on it."""
    lines = [line for line in text.splitlines() if line.strip()]
    fields = [BETWEEN_FIELDS.split(line.strip(), maxsplit=1)[0] for line in lines[1:]]
    return len(fields) >= MIN_LINES and _is_sorted(fields)


def with_another_value(text: str, place: int) -> str:
    """The text with one key that has the value of the key before it.

    It stays as it is where the lines after the first one have no keys, each another one.

    Args:
        text: of lines with a key and what it stands for.
        place: of the first line that may be changed, from 0.

    Example:
        >>> with_another_value("id,city\\na,x\\nb,y\\nc,y\\nd,z\\n", 3).split()
        ['id,city', 'a,x', 'b,y', 'c,y', 'd,y']
    """
    first, *lines = text.removesuffix("\n").split("\n")
    parts = [BETWEEN_FIELDS.split(line.strip(), maxsplit=1) for line in lines]
    if len(parts) < MIN_LINES or len({key for key, *_ in parts}) < len(parts):
        return text
    for number in range(max(1, place - 1), len(parts)):
        (_, *before), (_, *value) = parts[number - 1 : number + 1]
        if value and before and value != before:
            head, _, end = lines[number].rpartition(value[0])
            lines[number] = f"{head}{before[0]}{end}"
            return "\n".join([first, *lines]) + "\n" * text.endswith("\n")
    return text


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
