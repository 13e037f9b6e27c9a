"""Changes what the tests expect that a command runs: it must fail then, if it checks anything.

A command tells nothing case by case, and which tests it runs is not known. So all exact
expectations are changed at once. Where the command holds even so, it is run once more with
statements in their places that end the process at once: only a command that reaches those, and does
not mind what is expected there, proves nothing.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec

from retrai_core import Contradiction

from .literals import contradiction_of

MAX_EDITS = 60
MAX_BYTES = 500_000

_LITERAL = (
    r"""(?P<literal>-?\d+(?:\.\d+)?|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'"""
    r"|true|false|True|False)"
)
_NOT_OURS = frozenset({".git", "node_modules", "target", "vendor"})
_UNSURE = re.compile(r"approx|almost|close|round|any\b|isclose|skip|Math\.|err\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Language:
    """How expectations are written in one language.

    Attributes:
        forms: a line with an exact expectation; the group `literal` is changed.
        crash: a statement that ends the process at once.
    """

    forms: Sequence[re.Pattern[str]]
    crash: str


_PYTHON = _Language(
    (
        re.compile(rf"^\s+self\.assert(?:Equal|Equals|Is)\(.+,\s*{_LITERAL}\s*\)\s*$"),
        re.compile(rf"^\s+self\.assertEqual\(\s*{_LITERAL}\s*,.+\)\s*$"),
        re.compile(rf"^\s*assert [^=!<>]+ (?:==|is) {_LITERAL}\s*$"),
    ),
    '__import__("os").abort()',
)
_JAVASCRIPT = _Language(
    (
        re.compile(rf"^\s*expect\(.*\)\.(?:toBe|toEqual|toStrictEqual)\(\s*{_LITERAL}\s*\);?\s*$"),
        re.compile(
            rf"^\s*assert\.(?:strictEqual|equal|deepEqual|deepStrictEqual)\(.*,\s*{_LITERAL}\s*\);?\s*$"
        ),
    ),
    'process.kill(process.pid, "SIGKILL");',
)
_GO = _Language((re.compile(rf"^\s*if .*!= {_LITERAL} \{{\s*$"),), 'panic("ended"); if false {')
_RUST = _Language(
    (re.compile(rf"^\s*assert_eq!\(.+,\s*{_LITERAL}\s*\);\s*$"),), "std::process::abort();"
)
_SHELL = _Language(
    (
        re.compile(rf"^\s*(?:\[\[?|test) .+ (?:=|==|-eq) {_LITERAL}(?: \]\]?)?(?: \|\| .*)?\s*$"),
        re.compile(rf"^\s*if \[\[? .+ (?:!=|-ne) {_LITERAL} \]\]?; then\s*$"),
    ),
    "kill -9 $$",
)
_BY_SUFFIX = {
    **dict.fromkeys((".py",), _PYTHON),
    **dict.fromkeys((".js", ".cjs", ".mjs", ".ts", ".jsx", ".tsx"), _JAVASCRIPT),
    ".go": _GO,
    ".rs": _RUST,
    **dict.fromkeys((".sh", ".bash", ".bats"), _SHELL),
}


async def contradict_command(
    copy: Path, globs: Sequence[str], case: str, holds: Callable[[], Awaitable[bool]]
) -> Contradiction:
    """Whether a command still holds when its tests expect something else.

    Args:
        copy: a copy of the project, which is changed.
        globs: what belongs to the check, in gitignore syntax.
        case: the one that stands for the whole command.
        holds: runs the command in the copy.
    """
    belongs = GitIgnoreSpec.from_lines(globs).match_file
    names = await asyncio.to_thread(lambda: sorted(project_files(copy)))
    twins = await asyncio.to_thread(ScriptTwins, copy, belongs, names)
    if not twins.any:
        return Contradiction()
    await asyncio.to_thread(twins.contradict)
    if not await holds():
        return Contradiction([case])
    await asyncio.to_thread(twins.crash)
    # What is not reached says nothing.
    return Contradiction() if await holds() else Contradiction([case], [case])


class ScriptTwins:
    """The expectations in a copy's test files.

    Args:
        copy: a copy of the project, which is changed.
        belongs_to_check: whether a relative path is protected.
        paths: relative paths of the copy's files.
    """

    def __init__(
        self, copy: Path, belongs_to_check: Callable[[str], bool], paths: Sequence[str]
    ) -> None:
        self._texts: dict[Path, list[str]] = {}
        self._places: dict[Path, list[int]] = {}
        count = 0
        for name in paths:
            language = _BY_SUFFIX.get(Path(name).suffix)
            if language is None or count >= MAX_EDITS or not belongs_to_check(name):
                continue
            lines = _lines(copy / name)
            places = [at for at, line in enumerate(lines) if _changed(language, line) is not None]
            if places:
                self._texts[copy / name] = lines
                self._places[copy / name] = places[: MAX_EDITS - count]
                count += len(places)

    @property
    def any(self) -> bool:
        """Whether there is an expectation to change."""
        return bool(self._texts)

    def contradict(self) -> None:
        """Expect something else everywhere."""
        self._write(lambda language, line: _changed(language, line) or line)

    def crash(self) -> None:
        """End the process where something is expected."""
        self._write(lambda language, line: _indent(line) + language.crash)

    def _write(self, change: Callable[[_Language, str], str]) -> None:
        for path, lines in self._texts.items():
            language = _BY_SUFFIX[path.suffix]
            new = list(lines)
            for at in self._places[path]:
                new[at] = change(language, lines[at])
            path.write_text("\n".join(new), encoding="utf-8")


def _changed(language: _Language, line: str) -> str | None:
    if _UNSURE.search(line):
        return None
    for form in language.forms:
        found = form.match(line)
        if found is None:
            continue
        literal = found["literal"]
        other = {"True": "False", "False": "True"}.get(literal) or contradiction_of(literal)
        if other is not None:
            start, end = found.span("literal")
            return line[:start] + other + line[end:]
    return None


def project_files(folder: Path) -> Iterator[str]:
    """Relative paths of a project's own files, without what tools install or build."""
    for base, folders, files in os.walk(folder):
        folders[:] = [
            name
            for name in folders
            if name not in _NOT_OURS and not Path(base, name, "pyvenv.cfg").exists()
        ]
        for name in files:
            yield os.path.relpath(os.path.join(base, name), folder).replace(os.sep, "/")


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _lines(path: Path) -> list[str]:
    try:
        if path.is_symlink() or path.stat().st_size > MAX_BYTES:
            return []
        text = path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return []
    return [] if "\r" in text else text.split("\n")
