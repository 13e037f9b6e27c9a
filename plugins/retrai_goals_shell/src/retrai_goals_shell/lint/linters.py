"""The linters that the goal `lint` runs by itself: their configuration, command and report."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from pydantic import AliasPath, BaseModel, Field

from retrai_core import Completed
from retrai_goal_support import json_lines

from ..cargo.guarding import STEERING as RUST_STEERING
from ..makefile import MAKEFILES
from .excuses import RUFF_COMMENT

_FIRST_LINE = 300
_UNUSED_NOQA = "RUF100"


class LinterError(Exception):
    """No linter can be run, or it did not run to its end; the message is one line for people.

    Attributes:
        output: what it printed.
    """

    def __init__(self, message: str, output: str = "") -> None:
        super().__init__(message)
        self.output = output


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding of a linter; the path is relative to the folder that it ran in."""

    path: str
    line: int
    rule: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule} {self.text}"


@dataclass(frozen=True, slots=True)
class Linter:
    """A linter: how it is found, what is run, and how its report is read.

    Attributes:
        name: its name.
        configuration: globs of its configuration.
        program: its program; the path, once `find_linter` has found it.
        arguments: of the program, for a report.
        by_hand: the command as a person types it.
        suffixes: the names of the files that it looks at end so.
        findings: those of the report on standard output, with paths as the linter writes them; a
            ValueError says that it is no report.
        how_to_install: what a person without it is told.
        ends_well: the exit statuses of a run that ended by itself.
        list_files: arguments to see the files that it looks at; empty where its report says it.
        files: those files, from standard output; None where it does not say.
        has_section: whether a file of the folder that others share has a configuration of it.
        runs_code: whether it may run code of the project: its configuration, a plugin, a macro.
        excuses: the suppression comments that it reads; None for those of all linters.
        report_unused: more arguments, with which it reports suppression comments that hide nothing.
        unused: the files and lines of these, from that report.
    """

    name: str
    configuration: Sequence[str]
    program: str
    arguments: Sequence[str]
    by_hand: Sequence[str]
    suffixes: Sequence[str]
    findings: Callable[[str], Iterable[Finding]]
    how_to_install: str
    ends_well: Sequence[int] = (0, 1)
    list_files: Sequence[str] = ()
    files: Callable[[str], Iterable[str]] | None = None
    has_section: Callable[[Path], bool] = lambda _: False
    runs_code: bool = True
    excuses: re.Pattern[str] | None = None
    report_unused: Sequence[str] = ()
    unused: Callable[[str], Iterable[tuple[str, int]]] = lambda _: ()

    def is_configured(self, folder: Path) -> bool:
        """Whether a folder has a configuration of it."""
        files = (path for glob in self.configuration for path in folder.glob(glob))
        return next(files, None) is not None or self.has_section(folder)

    @property
    def command(self) -> list[str]:
        """What is run for the report."""
        return [self.program, *self.arguments]

    def read(self, done: Completed, folder: Path) -> list[Finding]:
        """The findings of a run in a folder.

        Raises:
            LinterError: it was cut off or went wrong by itself; status and report must agree.
        """
        self.check_end(done, self.ends_well)
        try:
            report = list(self.findings(done.stdout))
        except ValueError:
            printed = f"{done.stdout}\n{done.stderr}"
            raise LinterError(f"{self.name} left no report", printed) from None
        found = [replace(each, path=_relative(each.path, folder)) for each in report]
        if done.exit_code and not found:
            self.check_end(done, ())
        return list(dict.fromkeys(found))

    def read_files(self, done: Completed, folder: Path) -> set[str] | None:
        """The files that it looked at, relative to the folder; None where it does not say.

        Raises:
            LinterError: it was cut off or went wrong by itself.
        """
        if self.files is None:
            return None
        self.check_end(done, self.ends_well)
        return {_relative(name, folder) for name in self.files(done.stdout)}

    def read_unused(self, done: Completed, folder: Path) -> set[tuple[str, int]]:
        """The files, relative to the folder, and lines of suppression comments that hide nothing;
        none where the report cannot be read."""
        with suppress(ValueError, LookupError, TypeError):
            return {(_relative(name, folder), line) for name, line in self.unused(done.stdout)}
        return set()

    def check_end(self, done: Completed, well: Sequence[int]) -> None:
        """Raise a LinterError where it was cut off or went wrong by itself."""
        if done.timed_out:
            raise LinterError(f"{self.name} was ended by its time-out", done.stderr)
        if done.exit_code not in well:
            lines = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()
            message = (
                f"{self.name} ended with exit status {done.exit_code}: {lines[0][:_FIRST_LINE]}"
            )
            raise LinterError(message, done.stderr)


def find_linter(folder: Path, wanted: str, python: str) -> Linter:
    """The linter that is wanted, or the first that the folder has a configuration of.

    Args:
        folder: where it runs.
        wanted: its name, or `auto`.
        python: the project's interpreter, beside which a Python linter may lie.

    Raises:
        LinterError: none is configured, or it is not installed.
    """
    configured = (linter for linter in BY_NAME.values() if linter.is_configured(folder))
    linter = next(configured, None) if wanted == "auto" else BY_NAME[wanted]
    if linter is None:
        raise LinterError(
            f"{folder} has no configuration of a linter ({', '.join(BY_NAME)}); name one with "
            "--option linter=ruff, or give --option lint_command='...'"
        )
    name = linter.program
    places = [Path(python).parent / name, folder / "node_modules/.bin" / name]
    program = next((str(path) for path in places if path.is_file()), shutil.which(name))
    if program is None:
        raise LinterError(f"{linter.name} is not installed; {linter.how_to_install}")
    return replace(linter, program=program)


def _has_ruff_section(folder: Path) -> bool:
    with suppress(OSError, ValueError):
        project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))
        return "ruff" in project.get("tool", {})
    return False


def _has_eslint_section(folder: Path) -> bool:
    with suppress(OSError, ValueError, TypeError):
        return "eslintConfig" in json.loads((folder / "package.json").read_bytes())
    return False


def _relative(name: str, folder: Path) -> str:
    path = Path(name)
    roots = (root for root in (folder, folder.resolve()) if path.is_relative_to(root))
    root = next(roots, None)
    return (path.relative_to(root) if root else path).as_posix()


def _of_ruff(stdout: str) -> Iterator[Finding]:
    for item in json.loads(stdout):
        row = (item.get("location") or {}).get("row", 0)
        yield Finding(item["filename"], row, item.get("code") or "syntax", item.get("message", ""))


def _unused_of_ruff(stdout: str) -> Iterator[tuple[str, int]]:
    """Where its own fix would remove a whole comment, and not only some of the rules in it.
    Notebooks are left out: their lines are counted in each cell."""
    for item in json.loads(stdout):
        edits = (item["fix"] or {}).get("edits", ())
        if item["code"] == _UNUSED_NOQA and len(edits) == 1 and not edits[0]["content"]:
            begin, place = edits[0]["location"], item["location"]
            is_whole = begin["row"] == place["row"] and begin["column"] <= place["column"]
            if is_whole and not item["filename"].endswith(".ipynb"):
                yield item["filename"], place["row"]


def _of_eslint(stdout: str) -> Iterator[Finding]:
    for item in json.loads(stdout):
        for message in item["messages"]:
            text = " ".join(message.get("message", "").split())
            rule = message.get("ruleId") or "error"
            yield Finding(item["filePath"], message.get("line") or 0, rule, text)


def _of_golangci(stdout: str) -> Iterator[Finding]:
    for item in json.loads(stdout).get("Issues") or ():
        place = item["Pos"]
        rule, text = item.get("FromLinter", ""), item.get("Text", "")
        yield Finding(place["Filename"], place.get("Line", 0), rule, text)


class _Span(BaseModel):
    file_name: str
    line_start: int
    is_primary: bool = False


class _Diagnostic(BaseModel):
    level: str
    message: str
    rule: str = Field(default="", validation_alias=AliasPath("code", "code"))
    spans: Sequence[_Span] = ()


class _FromCargo(BaseModel):
    reason: Literal["compiler-message", "build-finished"]
    message: _Diagnostic | None = None


def _of_clippy(stdout: str) -> Iterator[Finding]:
    """From the messages of the compiler, which stand one a line among those of cargo and whatever a
    macro or a build script prints; no report where the build did not come to its end."""
    lines = list(json_lines(stdout.splitlines(), _FromCargo))
    if all(line.reason != "build-finished" for line in lines):
        raise ValueError
    for found in (line.message for line in lines if line.message):
        if found.level in ("warning", "error"):
            # A count of what was told before has no place.
            for span in [each for each in found.spans if each.is_primary][:1]:
                rule = found.rule or found.level
                yield Finding(span.file_name, span.line_start, rule, found.message)


_LINTERS = (
    Linter(
        name="ruff",
        configuration=("ruff.toml", ".ruff.toml"),
        program="ruff",
        arguments=("check", "--no-fix", "--no-cache", "--quiet", "--output-format=json", "."),
        by_hand=("ruff", "check"),
        suffixes=(".py", ".pyi", ".ipynb"),
        findings=_of_ruff,
        how_to_install="`pip install ruff` in the project's environment",
        list_files=("check", "--show-files", "--no-cache", "."),
        files=str.splitlines,
        has_section=_has_ruff_section,
        runs_code=False,
        excuses=RUFF_COMMENT,
        report_unused=("--extend-select", _UNUSED_NOQA),
        unused=_unused_of_ruff,
    ),
    Linter(
        name="eslint",
        configuration=("eslint.config.*", ".eslintrc", ".eslintrc.*"),
        program="eslint",
        arguments=("--format=json", "--no-error-on-unmatched-pattern", "."),
        by_hand=("npx", "eslint", "."),
        suffixes=(".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue"),
        findings=_of_eslint,
        how_to_install="`npm install --save-dev eslint` in the project",
        files=lambda stdout: [item["filePath"] for item in json.loads(stdout)],
        has_section=_has_eslint_section,
    ),
    Linter(
        name="clippy",
        configuration=("Cargo.toml",),
        program="cargo",
        arguments=("clippy", "--all-targets", "--message-format=json"),
        by_hand=("cargo", "clippy", "--all-targets"),
        suffixes=(".rs",),
        findings=_of_clippy,
        ends_well=(0, 101),
        how_to_install="`rustup component add clippy`",
    ),
    Linter(
        name="golangci-lint",
        configuration=(".golangci.*",),
        program="golangci-lint",
        arguments=("run", "--output.json.path=stdout", "--output.text.path=/dev/null"),
        by_hand=("golangci-lint", "run"),
        suffixes=(".go",),
        findings=_of_golangci,
        how_to_install="see https://golangci-lint.run (version 2)",
    ),
)
BY_NAME: Mapping[str, Linter] = {linter.name: linter for linter in _LINTERS}
"""In the order in which their configuration is looked for."""
CONFIGURATION = [
    *(glob for linter in _LINTERS for glob in linter.configuration),
    "pyproject.toml",
    "setup.cfg",
    "tox.ini",
    ".flake8",
    ".pylintrc",
    "pylintrc",
    "mypy.ini",
    ".mypy.ini",
    "pyrightconfig.json",
    ".isort.cfg",
    "biome.json",
    "biome.jsonc",
    ".rubocop.yml",
    ".shellcheckrc",
    ".eslintignore",
    "package.json",
    "tsconfig*.json",
    "clippy.toml",
    ".clippy.toml",
    "Cargo.lock",
    *RUST_STEERING,
    "go.mod",
    "go.sum",
    "go.work",
    ".gitignore",
    ".ignore",
    ".gitattributes",
    *MAKEFILES,
]
"""Globs of what says what a linter looks for and at."""
