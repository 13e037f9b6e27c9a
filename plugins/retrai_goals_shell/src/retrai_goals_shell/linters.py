"""The linters that the goal `lint` runs by itself: their configuration, command and report."""

from __future__ import annotations

import json
import shutil
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from retrai_core import Completed

from .rust_guarding import STEERING as RUST_STEERING

CONFIGURATION = [
    "ruff.toml",
    ".ruff.toml",
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
    "eslint.config.*",
    ".eslintrc",
    ".eslintrc.*",
    ".eslintignore",
    "package.json",
    "tsconfig*.json",
    "clippy.toml",
    ".clippy.toml",
    "Cargo.toml",
    "Cargo.lock",
    *RUST_STEERING,
    ".golangci.*",
    "go.mod",
    "go.sum",
    "go.work",
    ".gitignore",
    ".ignore",
    ".gitattributes",
    "Makefile",
    "makefile",
    "GNUmakefile",
    "*.mk",
]
"""Globs of what says what a linter looks for and at."""
_FIRST_LINE = 300


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
    """A linter, ready to be run.

    Attributes:
        name: its name.
        command: what is run, in the folder.
        suffixes: the names of the files that it looks at end so.
        read: its findings.
        list_files: what is run to see the files that it looks at; empty where its report says it.
        read_files: those files; None where it does not say.
    """

    name: str
    command: Sequence[str]
    suffixes: Sequence[str]
    read: Callable[[Completed, Path], list[Finding]]
    list_files: Sequence[str] = ()
    read_files: Callable[[Completed, Path], list[str]] | None = None


@dataclass(frozen=True, slots=True)
class _Kind:
    configured: Callable[[Path], bool]
    program: str
    arguments: Sequence[str]
    by_hand: Sequence[str]
    suffixes: Sequence[str]
    read: Callable[[Completed, Path], list[Finding]]
    how_to_install: str
    list_files: Sequence[str] = ()
    read_files: Callable[[Completed, Path], list[str]] | None = None


def find_linter(folder: Path, wanted: str, python: str) -> Linter:
    """The linter that is wanted, or the first that the folder has a configuration of.

    Args:
        folder: where it runs.
        wanted: its name, or `auto`.
        python: the project's interpreter, beside which a Python linter may lie.

    Raises:
        LinterError: none is configured, or it is not installed.
    """
    name = wanted
    if wanted == "auto":
        name = next((name for name, kind in BY_NAME.items() if kind.configured(folder)), "")
    if not name:
        raise LinterError(
            f"{folder} has no configuration of a linter ({', '.join(BY_NAME)}); name one with "
            "--option linter=ruff, or give --option lint_command='...'"
        )
    kind = BY_NAME[name]
    places = [Path(python).parent / kind.program, folder / "node_modules/.bin" / kind.program]
    program = next((str(path) for path in places if path.is_file()), shutil.which(kind.program))
    if program is None:
        raise LinterError(f"{name} is not installed; {kind.how_to_install}")
    return Linter(
        name,
        [program, *kind.arguments],
        kind.suffixes,
        kind.read,
        [program, *kind.list_files] if kind.list_files else (),
        kind.read_files,
    )


def _has(*names: str) -> Callable[[Path], bool]:
    return lambda folder: any(True for name in names for _ in folder.glob(name))


def _has_ruff(folder: Path) -> bool:
    if _has("ruff.toml", ".ruff.toml")(folder):
        return True
    try:
        data = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))
    except (OSError, ValueError):
        return False
    return "ruff" in data.get("tool", {})


def _has_eslint(folder: Path) -> bool:
    if _has("eslint.config.*", ".eslintrc", ".eslintrc.*")(folder):
        return True
    try:
        return "eslintConfig" in json.loads((folder / "package.json").read_bytes())
    except (OSError, ValueError, TypeError):
        return False


def _relative(name: str, folder: Path) -> str:
    path = Path(name)
    for root in (folder, folder.resolve()):
        if path.is_absolute() and path.is_relative_to(root):
            return path.relative_to(root).as_posix()
    return path.as_posix()


def _ended(done: Completed, name: str, well: Sequence[int]) -> None:
    """Refuse a run that was cut off or that went wrong by itself."""
    said = (done.stderr.strip() or done.stdout.strip()).splitlines()
    if done.timed_out:
        raise LinterError(f"{name} was ended by its time-out", done.stderr)
    if done.exit_code not in well:
        first = next((line for line in said if line.strip()), "no output")[:_FIRST_LINE]
        raise LinterError(f"{name} ended with exit status {done.exit_code}: {first}", done.stderr)


def _json_of(done: Completed, name: str) -> Any:
    try:
        return json.loads(done.stdout)
    except ValueError:
        raise LinterError(f"{name} left no report", f"{done.stdout}\n{done.stderr}") from None


def _read_ruff(done: Completed, folder: Path) -> list[Finding]:
    _ended(done, "ruff", (0, 1))
    items = cast("list[dict[str, Any]]", _json_of(done, "ruff"))
    found = [
        Finding(
            _relative(str(item["filename"]), folder),
            _row_of(item.get("location")),
            str(item.get("code") or "syntax"),
            str(item.get("message", "")),
        )
        for item in items
    ]
    return _all_or_error(found, done, "ruff")


def _files_of_ruff(done: Completed, folder: Path) -> list[str]:
    _ended(done, "ruff", (0,))
    return [_relative(line, folder) for line in done.stdout.splitlines()]


def _row_of(location: object) -> int:
    return int(cast("dict[str, Any]", location).get("row", 0)) if location else 0


def _read_eslint(done: Completed, folder: Path) -> list[Finding]:
    _ended(done, "eslint", (0, 1))
    items = cast("list[dict[str, Any]]", _json_of(done, "eslint"))
    found = [
        Finding(
            _relative(str(item["filePath"]), folder),
            int(message.get("line") or 0),
            str(message.get("ruleId") or "error"),
            " ".join(str(message.get("message", "")).split()),
        )
        for item in items
        for message in item["messages"]
    ]
    return _all_or_error(found, done, "eslint")


def _files_of_eslint(done: Completed, folder: Path) -> list[str]:
    items = cast("list[dict[str, Any]]", _json_of(done, "eslint"))
    return [_relative(str(item["filePath"]), folder) for item in items]


def _read_clippy(done: Completed, folder: Path) -> list[Finding]:
    found: dict[Finding, None] = {}
    finished = False
    for line in done.stdout.splitlines():
        try:
            item = json.loads(line)
        except ValueError:
            continue
        finished = finished or item.get("reason") == "build-finished"
        message = item.get("message")
        if item.get("reason") != "compiler-message" or message.get("level") not in (
            "warning",
            "error",
        ):
            continue
        spans = cast("list[dict[str, Any]]", message["spans"])
        span = next((span for span in spans if span.get("is_primary")), None)
        if span is None:  # a count of what was told before
            continue
        code = cast("dict[str, Any]", message.get("code") or {})
        rule = code.get("code") or message["level"]
        path = _relative(str(span["file_name"]), folder)
        found[Finding(path, int(span["line_start"]), str(rule), str(message["message"]))] = None
    if done.timed_out or not finished or (done.exit_code != 0 and not found):
        _ended(done, "clippy", ())
    return list(found)


def _read_golangci(done: Completed, folder: Path) -> list[Finding]:
    _ended(done, "golangci-lint", (0, 1))
    items = cast("dict[str, Any]", _json_of(done, "golangci-lint"))
    found = [
        Finding(
            _relative(str(item["Pos"]["Filename"]), folder),
            int(item["Pos"].get("Line", 0)),
            str(item.get("FromLinter", "")),
            str(item.get("Text", "")),
        )
        for item in items.get("Issues") or ()
    ]
    return _all_or_error(found, done, "golangci-lint")


def _all_or_error(found: list[Finding], done: Completed, name: str) -> list[Finding]:
    """The findings; status and report must say the same."""
    if bool(found) != bool(done.exit_code) and done.exit_code:
        raise LinterError(f"{name} ended with exit status {done.exit_code} without a finding")
    return found


BY_NAME: Mapping[str, _Kind] = {
    "ruff": _Kind(
        configured=_has_ruff,
        program="ruff",
        arguments=("check", "--no-fix", "--no-cache", "--quiet", "--output-format=json", "."),
        by_hand=("ruff", "check"),
        suffixes=(".py", ".pyi", ".ipynb"),
        read=_read_ruff,
        how_to_install="`pip install ruff` in the project's environment",
        list_files=("check", "--show-files", "--no-cache", "."),
        read_files=_files_of_ruff,
    ),
    "eslint": _Kind(
        configured=_has_eslint,
        program="eslint",
        arguments=("--format=json", "--no-error-on-unmatched-pattern", "."),
        by_hand=("npx", "eslint", "."),
        suffixes=(".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue"),
        read=_read_eslint,
        how_to_install="`npm install --save-dev eslint` in the project",
        read_files=_files_of_eslint,
    ),
    "clippy": _Kind(
        configured=_has("Cargo.toml"),
        program="cargo",
        arguments=("clippy", "--all-targets", "--message-format=json"),
        by_hand=("cargo", "clippy", "--all-targets"),
        suffixes=(".rs",),
        read=_read_clippy,
        how_to_install="`rustup component add clippy`",
    ),
    "golangci-lint": _Kind(
        configured=_has(".golangci.*"),
        program="golangci-lint",
        arguments=("run", "--output.json.path=stdout", "--output.text.path=/dev/null"),
        by_hand=("golangci-lint", "run"),
        suffixes=(".go",),
        read=_read_golangci,
        how_to_install="see https://golangci-lint.run (version 2)",
    ),
}
"""By name, in the order in which their configuration is looked for."""
