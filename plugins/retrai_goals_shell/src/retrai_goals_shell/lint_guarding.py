"""Findings that are gone because their code is, or stands where no linter looks."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import Field

from retrai_core import Suspicion
from retrai_goal_support import SavedModel, Trick, audit_lines, changed_lines, text_of

from .python_expectations import parse_python

MAX_CHARS = 500_000
MAX_MOVED = 5
"""Of so many files with moved code it is tried whether the linter looks at them."""
UNREADABLE = "\n)(\n"
"""No code in any language: each linter has a finding there."""
_DEFINES = re.compile(
    r"^[ \t]*(?:(?:export|default|async|pub(?:\([^)\n]*\))?)\s+)*"
    r"(?:def|class|function\*?|fn|func(?:\s*\([^)\n]*\))?|struct|enum|trait|interface)\s+(\w+)"
    r"|^[ \t]*(?:export\s+)?const\s+(\w+)\s*=\s*(?:async\s*)?(?:\([^)\n]*\)|\w+)\s*=>",
    re.MULTILINE,
)
_UNDEFINED = re.compile(r"[Uu]ndefined name [`'\"](\w+)|'(\w+)' is not defined")
_IN_PYTHON = (
    Trick.reaching(
        r"\brunpy\.run_\w+\(|(?<![\w.])(?<!def )(?:exec\(|eval\(\s*[\"'])",
        "runs code that no linter follows",
    ),
    Trick.reaching(
        r"(?i)^\s*#.*\bcoding[:=]\s*"
        r"(?!\s|utf-?8|us-ascii|ascii|latin|iso-|cp\d|windows|euc|shift|gb|big5)",
        "has an encoding in which a linter does not read it",
    ),
)
_IN_JAVASCRIPT = (
    Trick.reaching(
        r"(?<![\w.])(?:eval\(|new Function\()|\bvm\.run\w+\(", "runs code that no linter follows"
    ),
)
_IN_SHELL = (Trick.reaching(r"^\s*:\s*<<", "puts code into a text that nothing reads"),)
_BY_SUFFIX = (
    (_IN_PYTHON, (".py", ".pyi")),
    (_IN_JAVASCRIPT, (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")),
    (_IN_SHELL, (".sh", ".bash")),
)


class FirstFindings(SavedModel):
    """What the linter found when the run began.

    Attributes:
        lines: of the findings, by file.
        undefined: names that were used and defined nowhere.
        texts: of the source files.
    """

    lines: dict[str, list[int]] = Field(default_factory=dict[str, list[int]])
    undefined: list[str] = Field(default_factory=list[str])
    texts: dict[str, str] = Field(default_factory=dict[str, str])

    def emptied(self, project: Path) -> str:
        """The first Python function that had a finding and does nothing any more, as
        `PATH:LINE: NAME`; empty where there is none.

        Args:
            project: as it is now.
        """
        for path, lines in self.lines.items():
            old = _functions(self.texts.get(path, ""))
            new = _functions(text_of(project / path, MAX_CHARS))
            for name, function in old.items():
                there = range(function.lineno, (function.end_lineno or 0) + 1)
                calls = any(isinstance(each, ast.Call) for each in ast.walk(function))
                if (
                    name in new
                    and calls
                    and not does_nothing(function)
                    and does_nothing(new[name])
                    and any(line in there for line in lines)
                ):
                    return f"{path}:{new[name].lineno}: {name}"
        return ""

    def lost_calls(self, project: Path) -> Iterator[Suspicion]:
        """What Python functions with findings do not call any more.

        Args:
            project: as it is now.
        """
        for path, lines in self.lines.items():
            new = _functions(text_of(project / path, MAX_CHARS))
            for name, function in _functions(self.texts.get(path, "")).items():
                there = range(function.lineno, (function.end_lineno or 0) + 1)
                if name in new and any(line in there for line in lines):
                    lost = sorted(_called(function) - _called(new[name]))
                    if lost:
                        what = f"{name} had a finding, and does not call {', '.join(lost[:5])} now"
                        yield Suspicion(path, new[name].lineno, what)

    def moved(self, project: Path, names: Sequence[str]) -> list[tuple[str, str]]:
        """Files with code that stood in others when the run began and is gone from there; each with
        a function or class of them.

        Args:
            project: as it is now.
            names: its source files.
        """
        before = {name: _defined(text) for name, text in self.texts.items()}
        now = {name: _defined(text_of(project / name, MAX_CHARS)) for name in names}
        gone = {each for name, known in before.items() for each in known - now.get(name, set())}
        found = [(name, sorted(gone & now[name] - before.get(name, set()))) for name in names]
        return [(name, moved[0]) for name, moved in found if moved][:MAX_MOVED]


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
    for tricks, suffixes in _BY_SUFFIX:
        yield from audit_lines(
            diff,
            tricks,
            is_source=lambda path, suffixes=suffixes: path.endswith(suffixes),
            project=project,
        )
    names = "|".join(first.undefined)
    gives = re.compile(
        rf"^[ \t]*(?:(?:export|const|let|var)\s+)*({names})[ \t]*(?::[^=\n]*)?=(?!=)", re.MULTILINE
    )
    elsewhere = {
        (name, path)
        for path, text in (first.texts.items() if names else ())
        for name in gives.findall(text)
    }
    for sign, path, number, text in changed_lines(diff) if names else ():
        found = gives.match(text) if sign == "+" else None
        if found:
            others = sorted(place for name, place in elsewhere if name == found[1] != place)
            known = f", which {others[0]} has," if others and others[0] != path else ""
            what = f"gives an undefined name{known} a value: {text.strip()[:100]}"
            yield Suspicion(path, number, what, reaches_runner=bool(known))
    yield from first.lost_calls(project)


def does_nothing(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
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


def _functions(text: str) -> Mapping[str, ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions of a Python file; of those with one name the last."""
    tree = parse_python(text)
    nodes = ast.walk(tree) if tree else ()
    return {
        each.name: each
        for each in nodes
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def _called(function: ast.AST) -> set[str]:
    """The names of what a function calls."""
    calls = (each for each in ast.walk(function) if isinstance(each, ast.Call))
    return {ast.unparse(each.func).rpartition(".")[2] for each in calls}


def _defined(text: str) -> set[str]:
    return {one or other for one, other in _DEFINES.findall(text)}
