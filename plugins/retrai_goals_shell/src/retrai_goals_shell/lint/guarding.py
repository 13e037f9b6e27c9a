"""Findings that are gone because their code is, or stands where no linter looks."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import Field

from retrai_core import Suspicion
from retrai_goal_support import (
    PythonFunction,
    SavedModel,
    Trick,
    audit_lines,
    changed_lines,
    new_tricks,
    python_functions,
    text_of,
)

MAX_CHARS, MAX_TOTAL_CHARS = 200_000, 10_000_000
"""How much of a source file, and of all of them together, is remembered."""
MAX_MOVED = 3
"""How many files with moved code are tried."""
UNREADABLE = "\n)(\n"
"""No code in any language: a linter that reads it has a finding."""
_DEFINES = re.compile(
    r"^[ \t]*(?:(?:export|default|async|pub(?:\([^)\n]*\))?)\s+)*"
    r"(?:def|class|function\*?|fn|func(?:\s*\([^)\n]*\))?|struct|enum|trait|interface)\s+(\w+)"
    r"|^[ \t]*(?:export\s+)?const\s+(\w+)\s*=\s*(?:async\s*)?(?:\([^)\n]*\)|\w+)\s*=>",
    re.MULTILINE,
)
_SOURCE = re.compile(r"\.(?:pyi?|[cm]?[jt]sx?|rs|go|sh|bash|rb|php|java|kt|c|cc|cpp|h|hpp)$")
_UNDEFINED = re.compile(r"[Uu]ndefined name [`'\"](\w+)|'(\w+)' is not defined")
_IN_PYTHON = (
    Trick.reaching(
        r"^[^#]*(?:\brunpy\.run_\w+\(|(?<![\w.])(?<!def )(?:exec\(|eval\(\s*[\"']))",
        "runs code that no linter follows",
    ),
)
_ENCODING = re.compile(
    r"^[ \t\f]*#.*?coding[:=][ \t]*"
    r"(?:utf[-_]?7|rot[-_]?13|(?:raw[-_])?unicode[-_]escape|punycode|idna)\b",
    re.IGNORECASE,
)
"""An encoding in which a comment may be code; it counts in the first two lines."""
_IN_JAVASCRIPT = (
    Trick.reaching(
        r"(?<![\w.$])(?:eval\(|new Function\()|\bvm\.run\w+\(", "runs code that no linter follows"
    ),
)
_IN_SHELL = (Trick.reaching(r"^\s*:\s*<<", "puts code into a text that nothing reads"),)
_BY_SUFFIX = (
    (_IN_PYTHON, (".py", ".pyi")),
    (_IN_JAVASCRIPT, (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")),
    (_IN_SHELL, (".sh", ".bash")),
)
_PURE_BUILTINS = vars(builtins).keys() - {
    *("breakpoint", "delattr", "eval", "exec", "input", "next", "open", "print", "setattr"),
    "__import__",
}
"""Built-in functions without side effects; their calls may go, as `list` in `list(sorted(x))`."""


class Moved(NamedTuple):
    """Code that stood in one file when the run began, and stands in another now.

    Attributes:
        name: of a function or class.
        old, new: the files.
    """

    name: str
    old: str
    new: str


class FirstFindings(SavedModel):
    """What the linter found when the run began.

    Attributes:
        linter: its name; empty where a command decides.
        lines: of the findings, by file.
        undefined: names that were used and defined nowhere.
        texts: of the source files.
    """

    linter: str = ""
    lines: dict[str, list[int]] = Field(default_factory=dict[str, list[int]])
    undefined: list[str] = Field(default_factory=list[str])
    texts: dict[str, str] = Field(default_factory=dict[str, str])

    def emptied(self, project: Path) -> str:
        """The first Python function that had a finding and does nothing any more, as
        `PATH:LINE: NAME`; empty where there is none.

        Args:
            project: as it is now.
        """
        for path, name, old, new in self._with_findings(project, self.lines):
            if _is_emptied(old, new):
                return f"{path}:{new.lineno}: {name}"
        return ""

    def lost_calls(self, project: Path, paths: Iterable[str]) -> Iterator[Suspicion]:
        """What Python functions with findings do not call any more.

        Args:
            project: as it is now.
            paths: the files that are looked at.
        """
        for path, name, old, new in self._with_findings(project, paths):
            if lost := sorted(_called(old) - _called(new) - _PURE_BUILTINS):
                what = f"{name} had a finding, and does not call {', '.join(lost[:5])} now"
                yield Suspicion(path, new.lineno, what)

    def moved(self, project: Path, names: Sequence[str]) -> list[Moved]:
        """Code that stands in other files now, the first of each file. What stands in Rust is left
        out: its modules say which file the compiler reads.

        Args:
            project: as it is now.
            names: its source files.
        """
        now = {name: _defined(text) for name, text in source_texts(project, names).items()}
        known = {name: _defined(text) for name, text in self.texts.items()}
        found: dict[str, Moved] = {}
        for old, before in known.items():
            suffix, gone = Path(old).suffix, before - now.get(old, set())
            for new in now if gone and suffix != ".rs" else ():
                here = gone & now[new] - known.get(new, set())
                if new.endswith(suffix) and here and not (project / new).is_symlink():
                    found.setdefault(new, Moved(min(here), old, new))
        return list(found.values())[:MAX_MOVED]

    def _with_findings(
        self, project: Path, paths: Iterable[str]
    ) -> Iterator[tuple[str, str, PythonFunction, PythonFunction]]:
        """The Python functions that had findings: the file, the name, the function then and now."""
        for path, lines in ((path, self.lines[path]) for path in paths if path in self.lines):
            new = python_functions(text_of(project / path, MAX_CHARS))
            for name, function in python_functions(self.texts.get(path, "")).items():
                there = range(function.lineno, (function.end_lineno or 0) + 1)
                if name in new and any(line in there for line in lines):
                    yield path, name, function, new[name]


def source_texts(project: Path, names: Iterable[str]) -> dict[str, str]:
    """The texts of source files, as much of them as is remembered.

    Args:
        project: the project.
        names: its files.
    """
    found: dict[str, str] = {}
    left = MAX_TOTAL_CHARS
    for name in names:
        if _SOURCE.search(name) and left > 0:
            found[name] = text_of(project / name, MAX_CHARS)
            left -= len(found[name])
    return found


def undefined_names(printed: str) -> list[str]:
    """The names of which a linter says that they are defined nowhere.

    Example:
        >>> undefined_names("a.py:1: F821 Undefined name `rate`\\na.js:1: 'total' is not defined")
        ['rate', 'total']
    """
    return sorted({one or other for one, other in _UNDEFINED.findall(printed)})


def audit_lint(diff: str, project: Path, first: FirstFindings) -> Iterator[Suspicion]:
    """Code that linters do not follow, values of names that had none, and calls that are gone from
    functions with findings, which are told.

    Args:
        diff: the whole diff of the run.
        project: where the changed files stand.
        first: what was found when the run began.
    """
    changes = list(changed_lines(diff))
    for tricks, suffixes in _BY_SUFFIX:
        yield from audit_lines(
            diff,
            new_tricks(diff, tricks),
            is_source=lambda path, suffixes=suffixes: path.endswith(suffixes),
            project=project,
        )
    for sign, path, number, text in changes:
        if sign == "+" and number <= 2 and path.endswith(".py") and _ENCODING.match(text):
            what = f"has an encoding in which a comment may be code: {text.strip()[:100]}"
            yield Suspicion(path, number, what, reaches_runner=True)
    if first.undefined:
        yield from _given_values(diff, first)
    yield from first.lost_calls(project, dict.fromkeys(path for _, path, _, _ in changes))


def _given_values(diff: str, first: FirstFindings) -> Iterator[Suspicion]:
    names = "|".join(first.undefined)
    gives = re.compile(
        rf"^[ \t]*(?:(?:export|const|let|var)\s+)*({names})[ \t]*(?::[^=\n]*)?=(?!=)", re.MULTILINE
    )
    known = [(name, path) for path, text in first.texts.items() for name in gives.findall(text)]
    for sign, path, number, text in changed_lines(diff):
        found = gives.match(text) if sign == "+" else None
        if found:
            others = sorted(other for name, other in known if name == found[1] and other != path)
            known_from = f", though {others[0]} defines it" if others else ""
            what = f"gives an undefined name a value{known_from}: {text.strip()[:100]}"
            yield Suspicion(path, number, what, reaches_runner=bool(others))


def _is_emptied(old: PythonFunction, new: PythonFunction) -> bool:
    """Whether a function that called something, and not only to give it a name, does nothing now,
    and gives nothing back that it gave before."""
    calls = (
        not isinstance(each, ast.Assign | ast.AnnAssign)
        and any(isinstance(node, ast.Call) for node in ast.walk(each))
        for each in old.body
    )
    constants = _returned(new)
    is_constant_of_before = bool(constants) and constants <= _returned(old)
    does_less = any(calls) and does_nothing(new) and not does_nothing(old)
    return does_less and not is_constant_of_before


def _returned(function: PythonFunction) -> set[str]:
    """What a function returns, as text."""
    returns = (each.value for each in ast.walk(function) if isinstance(each, ast.Return))
    return {ast.unparse(value) for value in returns if value}


def does_nothing(function: PythonFunction) -> bool:
    """Whether a function only returns a constant, or says that it is to be written.

    Example:
        >>> does_nothing(ast.parse("def rows(path): return []").body[0])
        True
    """
    for each in function.body:
        match each:
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                pass
            case ast.Return(value=None | ast.Constant()):
                pass
            case ast.Return(value=ast.List(elts=[]) | ast.Tuple(elts=[]) | ast.Dict(keys=[])):
                pass
            case ast.Raise(exc=raised) if raised and "NotImplemented" in ast.unparse(raised):
                pass
            case _:
                return False
    return True


def _called(function: ast.AST) -> set[str]:
    """The names of what a function calls."""
    calls = (each for each in ast.walk(function) if isinstance(each, ast.Call))
    return {ast.unparse(each.func).rpartition(".")[2] for each in calls}


def _defined(text: str) -> set[str]:
    return {one or other for one, other in _DEFINES.findall(text)}
