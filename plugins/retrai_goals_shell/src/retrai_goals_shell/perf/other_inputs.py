"""Other inputs of a measured command, and what it printed for them when the run began.

A job that prints again what it printed once is told from one that works it out by an input that it
has not seen. Nobody names one: numbers in the command, in the project's data and in the program are
changed a little, and what changes the output is an input. The time tells, too: a known input whose
answer is looked up is quick, and the next one is as slow as ever.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import gcd
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from retrai_goal_support import project_files

from .line_order import (
    BETWEEN_FIELDS,
    MIN_LINES,
    first_fields_are_sorted,
    reordered,
    with_another_value,
)

MAX_BYTES = 2_000_000
MAX_FILES = 3
MAX_LITERALS = 2
NUMBERS_A_FILE = 5
MIN_PIECES = 4
LESS_DATA = 0.9
"""A data file that the run made smaller than this part of its size is tried as it was. A changed
setting leaves the size much as it was."""
MIN_DATA_BYTES = 500
"""Smaller files are taken for settings."""
_NO_PIECES = 1000
"""From here on other numbers have no small factor, which the first one often has."""

_DATA = re.compile(r"\.(?:json|jsonl|ndjson|csv|tsv|txt|in|dat|ya?ml|toml|ini|xml|log)$")
_NO_DATA = re.compile(
    r"(?:^|/)(?:package(?:-lock)?|tsconfig.*|composer|bun)\.\w+$|(?:^|/)pyproject\.toml$|lock\.\w+$"
    r"|(?:^|/)(?:requirements|README|LICENSE|CHANGELOG)[^/]*$|(?:^|/)\."
)
_CODE = re.compile(r"\.(?:py|[cm]?[jt]s|rb|pl|php|lua|go|rs|c|cc|cpp|h|java|sh)$")
_NUMBER = re.compile(r"(?<![\w.#-])\d{1,15}(?![\w.])")
_NAME, _MAX_NAME = re.compile(r'"(\w+)"\s*:\s*$'), 60
_MAX_LINE = 500
_BETWEEN = (r"(?<=\n)(?!\Z)", r"(?<=\s)(?=\S)", r"(?<!\A)(?!\Z)")
"""Where lines, words and characters are split."""
_DIGITS = re.compile(
    r"(?P<before>%[-+ #0]*\d*\.|:[-+ #0,_<>=^]*\d*\.|\.toFixed\()(?P<digits>\d)(?=l?f\b|\))"
)
"""How many decimals a number is printed with: `:.2f`, `%.2lf`, `.toFixed(2)`; not `0.5f`."""
MORE_DIGITS = 3
_PRINTED = re.compile(r"\d+\.\d+")
SIGNIFICANT = 6
REFUSED = "refused"
"""In place of a digest: the command failed on purpose, as far as that can be told."""
_LARGE = re.compile(r"(?<![\w.])\d(?:_?\d){2,14}(?![\w.])")


class OtherInput(BaseModel):
    """One change of what the command works on.

    Attributes:
        kind: `command`, `data` (a file), `first data` (a file as it is when the run begins),
            `literal` (a number in the program), or `digits` (the program prints more of them).
        path: of the file, relative to the folder that the command runs in; of first data, to the
            project.
        data: what the file holds.
        is_reordered: its lines are also in another order.
        old, new: the number in the program; or how many decimals it prints, as they stand there.
        line: the command to run.
        more: numbers are larger than they were, and not less.
        digest: of what the command printed for it when the run began, or `REFUSED`.
        seconds: how long that took.
    """

    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    kind: Literal["command", "data", "first data", "literal", "digits"]
    path: str = ""
    data: bytes = b""
    is_reordered: bool = False
    old: str = ""
    new: str = ""
    line: str
    more: bool = False
    digest: str = ""
    seconds: float = 0.0

    @property
    def named(self) -> str:
        """For people; it does not say which other input was tried."""
        if self.kind == "command":
            return "other arguments"
        if self.kind == "first data":
            return f"{self.path} as it was"
        what = "more digits" if self.kind == "digits" else "other values"
        return f"{what}{' and another order of lines' if self.is_reordered else ''} in {self.path}"


class Gone(Exception):  # noqa: N818 - it is an answer, no error
    """What the output depended on is nowhere any more; the message says it."""


def candidates(
    folder: Path, command: str, programs: Sequence[str], salt: str, written: Sequence[str]
) -> Iterator[OtherInput]:
    """What may be an input, the likeliest first.

    Args:
        folder: where the command runs.
        command: the shell line.
        programs: files that it names, relative to `folder`; the modules that these name count too.
        salt: decides how far numbers are changed.
        written: files that the command writes, relative to `folder`.
    """
    for more in (False, True):
        changed = _changed(command, salt, more=more)
        if changed != command:
            yield OtherInput(kind="command", line=changed, more=more)
    sources = [name for name in programs if _CODE.search(name)]
    around = "\n".join([command, *(_text(folder / name) for name in sources)])
    sources += _modules(folder, set(re.findall(r"\w+", around)), sources)[:MAX_FILES]
    # What is nearly right may be right when it is rounded.
    for name in [name for name in sources if _digits_in(_text(folder / name))][:1]:
        old = _digits_in(_text(folder / name))
        yield OtherInput(kind="digits", path=name, old=old, line=command)
    data = [name for name in data_files(folder) if name not in written]
    data.sort(key=lambda name: Path(name).name not in around)
    for name in data[:MAX_FILES]:
        text = _text(folder / name)
        for more in (False, True):
            ordered = text if more else reordered(text)
            changed = _varied(ordered, salt, more=more)
            if changed != text:
                yield OtherInput(
                    kind="data",
                    path=name,
                    data=changed.encode("utf-8", "surrogateescape"),
                    is_reordered=ordered != text,
                    line=command,
                    more=more,
                )
    for name in sources:
        numbers = sorted(set(_LARGE.findall(_text(folder / name))), key=int, reverse=True)
        for number in numbers[:MAX_LITERALS]:
            new = _near(number, salt, more=False)
            yield OtherInput(kind="literal", path=name, old=number, new=new, line=command)


def put_in(copy: Path, folder: Path, other: OtherInput) -> bool:
    """Give a copy the other input; False where it cannot be said how.

    Args:
        copy: of the project.
        folder: where the command runs in it.
        other: the input.

    Raises:
        Gone: the number is not in the project any more, in whatever way it may be written.
    """
    if other.kind == "command":
        return True
    path = (copy if other.kind == "first data" else folder) / other.path
    if path.is_symlink() or not path.resolve().is_relative_to(copy.resolve()):
        return False  # what the link leads to is no copy
    if other.kind in ("data", "first data"):
        # Also where the run changed the file: an input of before is still one.
        is_there = path.is_file()
        if other.kind == "first data" and is_there:
            is_there = path.stat().st_size < LESS_DATA * len(other.data)
        if is_there:
            path.write_bytes(other.data)
        return is_there
    text = _text(path)
    if other.kind == "digits":
        if _digits_in(text) != other.old:
            return False
        path.write_text(_with_more_digits(text), "utf-8", "surrogateescape")
        return True
    pattern = re.compile(rf"(?<![\w.]){re.escape(other.old)}(?![\w.])")
    if pattern.search(text):
        path.write_text(pattern.sub(other.new, text), "utf-8", "surrogateescape")
        return True
    if not _is_written_somewhere(folder, int(other.old)):
        raise Gone(f"the output depended on {other.old} in {other.path}, which is nowhere now")
    return False


def _varied(text: str, salt: str, *, more: bool) -> str:
    """A text with a few numbers changed. Where it has none, another value for a key of its lines;
    or one line less or more, or one word or character where it has few lines. Nothing is repeated
    where all differ: a program may rely on it."""
    changed = _changed(text, salt, more=more)
    if changed != text or text.lstrip()[:1] in ("{", "["):
        return changed
    place = text.count("\n") // 4 if more else text.count("\n") // 2 + 1
    changed = with_another_value(text, place)
    if changed != text:
        return changed
    for between in _BETWEEN:
        pieces = re.split(between, text)
        if len(pieces) >= MIN_PIECES:
            is_repeated = more and len(set(pieces)) < len(pieces)
            place = len(pieces) // (4 if more and not is_repeated else 2)
            return "".join(pieces[: place + is_repeated] + pieces[place + (not is_repeated) :])
    return text


def _changed(text: str, salt: str, *, more: bool) -> str:
    is_sorted = first_fields_are_sorted(text)
    numbers = list(_NUMBER.finditer(text))
    found = [
        each
        for each in numbers
        if int(each[0]) > 1 and not (is_sorted and _is_in_first_field(text, each.start()))
    ]
    values: dict[str | int, list[str]] = {}
    for each in numbers:
        values.setdefault(_field(text, each.start()), []).append(each[0])
    step = max(1, len(found) // NUMBERS_A_FILE)
    # The first one may say how much there is, and the first line may be the only one looked at.
    start = 0 if more else _drawn(salt) % step
    for each in reversed(found[start::step][:NUMBERS_A_FILE]):
        others = values[_field(text, each.start())]
        is_key = len(others) >= MIN_LINES and len(set(others)) == len(others)
        new = _near(each[0], salt, more=more, taken=set(others) if is_key else ())
        others.append(new)
        text = text[: each.start()] + new + text[each.end() :]
    return text


def _field(text: str, place: int) -> str | int:
    """Where a number stands: its name in JSON, or the number of its column; -1 in a long line."""
    if name := _NAME.search(text, max(0, place - _MAX_NAME), place):
        return name[1]
    begin = text.rfind("\n", max(0, place - _MAX_LINE), place) + 1
    if not begin and place >= _MAX_LINE:
        return -1
    return len(BETWEEN_FIELDS.findall(text[begin:place].lstrip()))


def _is_in_first_field(text: str, place: int) -> bool:
    return re.search(r"[\s,;|]", text[text.rfind("\n", 0, place) + 1 : place]) is None


def _near(number: str, salt: str, *, more: bool, taken: Collection[str] = ()) -> str:
    """A number that is a little less, so that the work is not more; or one beyond any that a table
    up to the known one holds. A large one is not made of pieces of a usual size. It is not one of
    those that are `taken`."""
    value, drawn = int(number), _drawn(salt) % 30
    step = 1 if more else -1
    near = value + step * max(1, value * (10 + drawn) // 100 if more else value // (20 + drawn))
    # A modulus may have to be a prime.
    is_prime = value >= _NO_PIECES and _is_prime(value)
    while str(near) in taken or (
        near >= _NO_PIECES and (gcd(near, 30) > 1 or (is_prime and not _is_prime(near)))
    ):
        near += step
        if near < 1:
            near, step = value + 1, 1
    return str(near)


def _is_prime(value: int) -> bool:
    """Whether it is one, as Fermat's little theorem says to a few bases."""
    return all(pow(base, value - 1, value) == 1 for base in (2, 3, 5, 7, 11))


def to_compare(printed: str) -> str:
    """What was printed with more digits, without those that another order of adding changes.

    Example:
        >>> to_compare("mean 52.140331 of 9000000.123")
        'mean 52.1403 of 9e+06'
    """
    return _PRINTED.sub(lambda found: f"{float(found[0]):.{SIGNIFICANT}g}", printed)


def _digits_in(text: str) -> str:
    return ",".join(found["digits"] for found in _DIGITS.finditer(text))


def _with_more_digits(text: str) -> str:
    return _DIGITS.sub(lambda at: f"{at['before']}{int(at['digits']) + MORE_DIGITS}", text)


def _drawn(salt: str) -> int:
    return int(hashlib.sha256(salt.encode()).hexdigest()[:4], 16)


def _modules(folder: Path, words: set[str], known: Sequence[str]) -> list[str]:
    """Source files whose name, or that of their folder, is among the words of a program."""
    return [
        name
        for name in project_files(folder)
        if _CODE.search(name) and name not in known
        if not words.isdisjoint({Path(name).stem, Path(name).parent.name})
    ]


def paths_from(folder: str, names: Iterable[str]) -> list[str]:
    """Files of a project, relative to a folder of it.

    Example:
        >>> paths_from("jobs", ["data/a.txt", "jobs/b.txt"])
        ['../data/a.txt', 'b.txt']
    """
    return [os.path.relpath(name, folder) for name in names]


def first_data(
    data: Mapping[str, bytes], line: str, digest: str, seconds: float
) -> list[OtherInput]:
    """The largest data files, as they are when the run begins.

    Args:
        data: what they hold, by path in the project.
        line: the command.
        digest: of what it prints for them.
        seconds: how long that takes.
    """
    largest = sorted(data, key=lambda name: -len(data[name]))[:MAX_FILES]
    return [
        OtherInput(
            kind="first data",
            path=name,
            data=data[name],
            line=line,
            digest=digest,
            seconds=seconds,
        )
        for name in largest
        if len(data[name]) >= MIN_DATA_BYTES
    ]


def data_files(folder: Path) -> list[str]:
    """The small data files of a folder, by path relative to it."""
    return [
        name
        for name in project_files(folder)
        if _DATA.search(name) and not _NO_DATA.search(name) and _is_small(folder / name)
    ]


def _is_written_somewhere(folder: Path, value: int) -> bool:
    """Whether the value may still be there: as it is, by powers and products, or computed."""
    digits = str(value).rstrip("0")
    pattern = re.compile(rf"(?<!\d){digits}(?:0*(?!\d)|e)", re.IGNORECASE)
    return any(
        pattern.search(_text(folder / name).replace("_", "").replace(".", ""))
        for name in project_files(folder)
        if _CODE.search(name) or _DATA.search(name)
    )


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", errors="surrogateescape") if _is_small(path) else ""
    except OSError:
        return ""


def _is_small(path: Path) -> bool:
    """Whether it is a file that is looked into; no pipe, and no symlink to nothing."""
    return path.is_file() and path.stat().st_size <= MAX_BYTES


def digest_of(text: str) -> str:
    """SHA-256 of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
