"""Look for tricks among the lines that a unified diff changes, for `GoalBase.audit`."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from retrai_core import Suspicion

from .code_lines import code_lines
from .folders import bytes_of

Sign = Literal["", "unchanged", "unknown", "unproven"]
"""As of `Suspicion.sign`."""
_SHOWN = 120
_HUNK = re.compile(r"^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True, slots=True)
class Trick:
    """What a goal's audit looks for.

    Attributes:
        pattern: searched in every added line.
        what: what such a line does, for people (`ends the process`).
        reaches_runner: a source file that does it could bend the check, and is suspect by itself.
        lines: how many added lines in a row are looked at together.
        sign: honest source does it too, so that it is suspect only as such a sign is.
    """

    pattern: re.Pattern[str]
    what: str
    reaches_runner: bool = False
    lines: int = 1
    sign: Sign = ""

    @classmethod
    def reaching(cls, pattern: str, what: str, *, lines: int = 1, sign: Sign = "") -> Trick:
        """One that reaches the runner, from a regular expression as text."""
        return cls(re.compile(pattern), what, reaches_runner=True, lines=lines, sign=sign)


LOOKS_FOR_RETRAI = Trick.reaching("(?i:_retrai|retrai[_-])", "looks for retrai")
"""Source that can tell a check of retrai from a plain one, in whatever language it is written."""
_EQUALITY = re.compile(r"__(?:eq|ne)__")
_OWN_EQUALITY = re.compile(
    r"^\ufeff?[ \t]*class (\w+)\((?:[^()\n]*,\s*)?(?:\w+\.)?(?:int|float|complex|Decimal|Fraction"
    r"|date|datetime|time|timedelta|type|ABCMeta|EnumMeta|EnumType)\s*(?:,[^()\n]*)?\):"
    r"(?:(?!\n\S)[\s\S])*?\n\s*(?:def __(?:eq|ne)__\(|__(?:eq|ne)__\s*=)"
    # What asks its base, or its own equality, as well only narrows.
    r"(?!(?:(?!\n\s*(?:def|class)\b|\n\S)[\s\S])*"
    r"(?:(?:super\(\)\.|\b[A-Za-z]\w*\.)__(?:eq|ne)__\(|\breturn not self == \w+$))",
    re.MULTILINE,
)


def audit_lines(
    diff: str,
    tricks: Sequence[Trick],
    *,
    is_source: Callable[[str], bool],
    project: Path | None = None,
) -> list[Suspicion]:
    """Every added line that one of `tricks` fits, each trick once a line, and where it begins.

    What a file did before, what was only moved, and what only a comment in Python says, is told and
    makes nothing suspect: a command line program ends its process.

    Args:
        diff: the whole diff of the run.
        tricks: what to look for.
        is_source: whether a relative path is source that the check runs, not a test or prose.
        project: where the changed files stand; without it only the lines in `diff` are known.

    Example:
        >>> diff = "--- a/x.js\\n+++ b/x.js\\n@@ -1 +1,2 @@\\n a()\\n+process.exit(0)\\n"
        >>> tricks = [Trick.reaching(r"process[.]exit", "ends the process")]
        >>> [found.what for found in audit_lines(diff, tricks, is_source=lambda path: True)]
        ['ends the process: process.exit(0)']
    """
    changes = list(changed_lines(diff))
    found = [
        (trick, path, number, text.strip())
        for at, (sign, path, number, text) in enumerate(changes)
        if sign == "+"
        for trick in tricks
        if begins_here(trick, changes, at)
    ]
    moved = {text.strip() for sign, _, _, text in changes if sign == "-"}
    places = {path for _, path, _, _ in found}
    files = {
        path: (before, now.split("\n"), code_lines(path, now))
        for path, before, now in (changed_files(diff, project) if found else ())
        if path in places
    }
    suspicions: list[Suspicion] = []
    for trick, path, number, text in found:
        before, now, code = files[path]
        is_new = text not in moved and not _did_so(trick, before)
        # Where the diff counts other lines than the file has, nothing is known of comments.
        is_same = [line.strip() for line in now[number - 1 : number]] == [text]
        is_comment = is_same and trick.lines == 1 and not trick.pattern.search(code[number - 1])
        counts = trick.reaches_runner and is_source(path) and is_new and not is_comment
        sign = trick.sign if counts else ""
        what = f"{trick.what}: {text[:_SHOWN]}"
        suspicions.append(Suspicion(path, number, what, counts and not sign, sign))
    return suspicions


def new_tricks(diff: str, tricks: Iterable[Trick]) -> list[Trick]:
    """The tricks that no removed line of a diff fits. Where one does, code was only moved or
    rewritten.

    Example:
        >>> diff = "--- a/x.py\\n+++ b/x.py\\n@@ -1 +1 @@\\n-exec(a)\\n+exec(b)\\n"
        >>> new_tricks(diff, [Trick.reaching("exec", "runs a text")])
        []
    """
    removed = [text for sign, _, _, text in changed_lines(diff) if sign == "-"]
    return [each for each in tricks if not any(map(each.pattern.search, removed))]


def own_equality(
    diff: str, *, is_source: Callable[[str], bool], project: Path | None = None
) -> list[Suspicion]:
    """Number, time and metaclass types of Python source that a diff gives their own equality.

    One that calls the equality of its base as well only narrows it. A class that had its own
    before, in any of the changed files, is not reported.

    Args:
        diff: the whole diff of the run.
        is_source: whether a relative path is source that the check runs.
        project: where the changed files stand; without it nothing is found.

    Example:
        >>> import tempfile
        >>> text = "class Cents(int):\\n    __eq__ = near\\n"
        >>> diff = "--- a/x.py\\n+++ b/x.py\\n@@ -1,0 +2 @@\\n+    __eq__ = near\\n"
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = Path(folder, "x.py").write_text(text)
        ...     found = own_equality(diff, is_source=lambda path: True, project=Path(folder))
        >>> [(each.line, each.what) for each in found]
        [(2, 'redefines the equality of a number, a time or a class: class Cents')]
    """
    if not _EQUALITY.search(diff):
        return []
    added = {(path, number) for sign, path, number, _ in changed_lines(diff) if sign == "+"}
    files = [each for each in changed_files(diff, project) if each[0].endswith(".py")]
    known = {found[1] for _, before, _ in files for found in _OWN_EQUALITY.finditer(before)}
    return [
        Suspicion(
            path,
            line,
            f"redefines the equality of a number, a time or a class: class {found[1]}",
            is_source(path),
        )
        for path, _, now in files
        for found in _OWN_EQUALITY.finditer(now)
        if found[1] not in known and (path, line := now.count("\n", 0, found.end()) + 1) in added
    ]


def _did_so(trick: Trick, before: str) -> bool:
    texts = before.split("\n") if trick.lines == 1 else [before]
    return any(map(trick.pattern.search, texts))


def begins_here(trick: Trick, changes: Sequence[tuple[str, str, int, str]], at: int) -> bool:
    """Whether what the trick looks for begins in the added line at `at`."""
    _, path, number, text = changes[at]
    if trick.lines == 1:
        return bool(trick.pattern.search(text))
    together = [text]
    for sign, name, line, more in changes[at + 1 : at + trick.lines]:
        if (sign, name, line) != ("+", path, number + len(together)):
            break
        together.append(more)
    found = trick.pattern.search("\n".join(together))
    return found is not None and found.start() <= len(text)


def changed_files(diff: str, project: Path | None) -> Iterator[tuple[str, str, str]]:
    """Each file that a unified diff changes: its path, its text before, and its text now.

    The text before is empty for a new file, the text now for one that is gone.

    Args:
        diff: the whole diff of the run.
        project: where the files stand; without it only the lines in `diff` are known.

    Example:
        >>> diff = "--- a/x.py\\n+++ b/x.py\\n@@ -1 +1 @@\\n-a = 1\\n+a = 2\\n"
        >>> list(changed_files(diff, None))
        [('x.py', 'a = 1', '')]
    """
    changes: dict[str, list[tuple[str, int, str]]] = {}
    for sign, path, number, text in changed_lines(diff):
        changes.setdefault(path, []).append((sign, number, text))
    for path, lines in changes.items():
        # `text_of` has a line end at a lone carriage return, and git has not.
        data = bytes_of(project / path, -1) if project else b""
        now = data.decode(errors="replace").replace("\r\n", "\n")
        yield path, _text_before(lines, now.split("\n") if now else []), now


def _text_before(changes: Sequence[tuple[str, int, str]], now: Sequence[str]) -> str:
    """The text of a file before: what the diff took away or left.

    Args:
        changes: `+` or `-`, the number in the new file, and the text.
        now: the lines of the new file.
    """
    gone: dict[int, list[str]] = {}
    for sign, number, text in changes:
        if sign == "-":
            # Of a file that is empty now, or gone, lines are counted from 0.
            gone.setdefault(max(number, 1), []).append(text)
    new = {number for sign, number, _ in changes if sign == "+"}
    lines: list[str] = []
    for number, text in enumerate([*now, None], start=1):
        lines += gone.get(number, [])
        if text is not None and number not in new:
            lines.append(text)
    return "\n".join(lines)


def changed_lines(diff: str) -> Iterator[tuple[str, str, int, str]]:
    """Each changed line: `+` or `-`, the file by its new name, its new line number, the text.

    Example:
        >>> diff = "--- a/x.py\\n+++ b/x.py\\n@@ -1,2 +1,2 @@\\n-a = 1\\n+a = 2\\n b = 3\\n"
        >>> list(changed_lines(diff))
        [('-', 'x.py', 1, 'a = 1'), ('+', 'x.py', 1, 'a = 2')]
    """
    path, number, old_left, new_left = "", 0, 0, 0
    # Not `splitlines`: a form feed or a Unicode separator ends no line of a diff.
    for line in diff.split("\n"):
        if old_left > 0 or new_left > 0:
            # A hunk says how long it is; what looks like a header within it is content.
            if line.startswith(("+", "-")):
                yield line[0], path, number, line[1:]
            old_left -= not line.startswith(("+", "\\"))
            new_left -= not line.startswith(("-", "\\"))
            number += not line.startswith(("-", "\\"))
        elif line.startswith("+++ "):
            path = _unquoted(line[4:].split("\t")[0]).removeprefix("b/")
        elif found := _HUNK.match(line):
            old, start, new = found.groups(default="1")
            number, old_left, new_left = int(start), int(old), int(new)


def _unquoted(name: str) -> str:
    """A path as git writes it: in quotes, with octal bytes, where it has unusual characters."""
    if not (name.startswith('"') and name.endswith('"')):
        return name
    try:
        return codecs.escape_decode(name[1:-1].encode())[0].decode("utf-8", "surrogateescape")
    except ValueError:
        return name
