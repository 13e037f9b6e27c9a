"""Which files of a project a command's verdict relies on, as far as that can be told by name."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path

from retrai_core import Suspicion, Trick, audit_lines

from .place import below

TESTS = [
    "/tests/",
    "/test/",
    "/spec/",
    "__tests__/",
    "__snapshots__/",
    "testdata/",
    "test_*.py",
    "*_test.py",
    "conftest.py",
    "*_test.go",
    "*.test.*",
    "*.spec.*",
    "*_spec.rb",
    "*.bats",
]
CONFIGURATION = [
    "Makefile",
    "makefile",
    "GNUmakefile",
    "*.mk",
    "pytest.ini",
    "tox.ini",
    "pyproject.toml",
    "setup.cfg",
    "package.json",
    "Cargo.toml",
    "go.mod",
]
STEERING = [
    "makefile",
    "GNUmakefile",
    "conftest.py",
    "pytest.ini",
    "tox.ini",
    "sitecustomize.py",
    "usercustomize.py",
    "*.pth",
    ".cargo/config",
    ".cargo/config.toml",
    "build.rs",
    "go.work",
    ".npmrc",
    "bunfig.toml",
    "jest.config.*",
    "vitest.config.*",
    ".mocharc.*",
    ".env",
]
SHADOWS = [
    f"/{name}{suffix}"
    for name in (*sorted(sys.stdlib_module_names), "pytest", "_pytest", "pluggy")
    # `__main__` and `_private` are no names that a shadow would take; `test` is a folder of tests.
    if (name[0] != "_" or name == "_pytest") and name != "test"
    for suffix in (".py", "/__init__.py")
]
"""A script that Python runs finds these before the real ones."""

_CHECKS = re.compile(
    r"check|test|verify|bench|spec|assert|eval|judge|measure|harness", re.IGNORECASE
)
_SEPARATORS = re.compile(r"[;&|()<>\n`$\"']+")

TRICKS = (
    Trick(re.compile(r"\|\|\s*(?:true|:)(?:\s|$)|\bset \+e\b"), "swallows a failure"),
    Trick(re.compile(r"^\s*exit 0\b"), "ends with success"),
    Trick(
        re.compile(r"\bos\._exit\b|\bsys\.exit\(0?\)|\bprocess\.exit\(0?\)|\batexit\b"),
        "ends the process",
    ),
    Trick(
        re.compile(r"\bMAKE(?:LEVEL|FLAGS|CMDGOALS)\b|_retrai|RETRAI_"),
        "asks who runs it",
        reaches_runner=True,
    ),
)
_PROSE = re.compile(r"\.(?:md|rst|txt|adoc)$")


def steering_globs(path: str) -> list[str]:
    """Gitignore globs of files that, when they are new, could steer what a command runs.

    Args:
        path: the folder that it runs in, relative to the project.
    """
    return [*STEERING, *SHADOWS, *(below(path, SHADOWS) if path != "." else ())]


def files_in_command(command: str, project: Path, path: str = ".") -> list[str]:
    """Globs of the project's files that a shell line names and whose name says that they check.

    Example:
        >>> import tempfile
        >>> project = Path(tempfile.mkdtemp())
        >>> for name in ("check.sh", "main.py"):
        ...     project.joinpath(name).touch()
        >>> files_in_command("bash ./check.sh && python main.py", project)
        ['/check.sh']
    """
    base = "" if path == "." else f"{path}/"
    found: dict[str, None] = {}
    for word in _words(command):
        name = f"{base}{word}".replace("/./", "/").removeprefix("./")
        inside = ".." not in name.split("/") and not name.startswith("/")
        if inside and _CHECKS.search(name) and (project / name).is_file():
            found[f"/{name}"] = None
    return list(found)


def audit_commands(diff: str, project: Path | None = None) -> list[Suspicion]:
    """Added lines that swallow failures or ask who runs them.

    Example:
        >>> diff = "--- a/x.sh\\n+++ b/x.sh\\n@@ -1 +1,2 @@\\n a\\n+./it || true\\n"
        >>> [(found.line, found.what) for found in audit_commands(diff)]
        [(2, 'swallows a failure: ./it || true')]
    """
    return audit_lines(diff, TRICKS, is_source=lambda p: not _PROSE.search(p), project=project)


def _words(command: str) -> Iterable[str]:
    for piece in _SEPARATORS.split(command):
        try:
            yield from shlex.split(piece)
        except ValueError:
            yield from piece.split()
