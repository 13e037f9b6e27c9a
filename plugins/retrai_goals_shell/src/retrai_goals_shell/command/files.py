"""Which files of a project a command's verdict relies on, as far as that can be told by name."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection
from pathlib import Path, PurePosixPath

from retrai_goal_support import globs_below, text_of

from ..makefile import MAKEFILES

TESTS = [
    "/tests/",
    "/test/",
    "/spec/",
    "/t/",
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
    *MAKEFILES,
    "noxfile.py",
    "justfile",
    "Justfile",
    ".justfile",
    "Taskfile.y*ml",
    ".pre-commit-config.yaml",
    "Rakefile",
    "phpunit.xml*",
    ".rspec",
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
"""A script that Python runs finds these before the real ones, in its folder or on PYTHONPATH."""
_PYTHONPATH = re.compile(
    r"\bPYTHONPATH=[\"']?([^\s;\"']+)|\bsys\.path\.insert\( *0, *[\"']([^\"']+)"
)
_PATH = re.compile(r"\bPATH=[\"']?([^\s;\"']+)")
_HERE = re.compile(r"\$(?:PWD|\{PWD\}|\(pwd\))/")
_PLAIN_FOLDER = re.compile(r"(?!\.{1,2}$|/|\.\./)[\w./-]+")
_PROGRAMS = """\
[ef]grep awk bc cat cksum cmp comm cut diff echo expr false grep head jq md5sum od paste printf sed
sha*sum sort tail tee test tr true uniq wc xargs xmllint xxd yq
"""
"""What scripts compare with; a test that puts the project's programs first on PATH finds these."""

_CHECKS = re.compile(
    r"check(?!out|point|box|list|sum|in|ers)\w*|(?!spellcheck)\w*check(?:s|er)?|test(?!imon|ament)\w*"
    r"|(?!(?:la|con|pro|at|fas|grea)tests?$)\w*tests?|verify\w*|bench\w*|assert\w*|judge\w*"
    r"|harness\w*"
)
_MAY_CHECK = re.compile(r"eval\w*|specs?|measure\w*")
"""Checks in scripts; in compiled languages often ordinary sources (`eval.c`)."""
_ANSWERS = re.compile(
    r"(?:expect|golden|reference|fixture|snapshot|oracle|answer|baseline)\w*|cases?|want(?:ed|s)?"
)
"""What data is called that an output is compared with."""
_WORDS = re.compile(r"[\W\d_]+|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
CODE = re.compile(r"\.(?:py|[cm]?[jt]sx?|go|rs|rb|php|pl|java|kt|c|cc|cpp|h|hpp|cs|swift|lua|ex)$")
_COMPILED = re.compile(r"\.(?:go|rs|java|kt|c|cc|cpp|h|hpp|cs|swift)$")
MAX_TEXT = 200_000
_MAX_DEPTH = 3
_SEPARATORS = re.compile(r"(?:[;&|()<>\n`$\"']|(?<!\\)[ \t\r])+")


def steering_globs(path: str, text: str) -> list[str]:
    """Gitignore globs of files that, when they are new, could steer what a command runs.

    Args:
        path: the folder that it runs in, relative to the project.
        text: what the shell runs, and the scripts of the check.

    Example:
        >>> globs = steering_globs(".", "PYTHONPATH=src python3 check.py; PATH=$PWD/tools:$PATH x")
        >>> [glob in globs for glob in ("/src/json.py", "/tools/cmp", "**/bin/cmp", "/tools/x")]
        [True, True, True, False]
    """
    folders = [".", path, *_folders(_PYTHONPATH, path, text)]
    shadows = (glob for folder in dict.fromkeys(folders) for glob in globs_below(folder, SHADOWS))
    bins = ["**/bin", *(f"/{folder}" for folder in _folders(_PATH, path, text))]
    programs = (f"{folder}/{name}" for folder in bins for name in _PROGRAMS.split())
    return [*STEERING, *programs, *shadows]


def _folders(variable: re.Pattern[str], path: str, text: str) -> list[str]:
    """The project's folders that a search path names."""
    given = (each for found in variable.finditer(text) for each in found.groups() if each)
    named = (_HERE.sub("", folder) for one in given for folder in one.split(":"))
    return [str(PurePosixPath(path, each)) for each in named if _PLAIN_FOLDER.fullmatch(each)]


def files_in_command(
    command: str, project: Path, path: str = ".", known: Collection[str] = ()
) -> list[str]:
    """Globs of the project's files that a shell line names and whose name says that they check.

    Files that such a file names are looked at in the same way, and those that one of `known` names,
    which belong to the check anyhow.

    Example:
        >>> import tempfile
        >>> project = Path(tempfile.mkdtemp())
        >>> _ = (project / "check.sh").write_text("python main.py | diff - notes.txt expected.txt")
        >>> for name in ("main.py", "notes.txt", "expected.txt"):
        ...     project.joinpath(name).touch()
        >>> files_in_command("bash ./check.sh && python main.py", project)
        ['/check.sh', '/expected.txt']
    """
    found = dict.fromkeys(known)
    texts = [(command, path), *((text_of(project / name, MAX_TEXT), path) for name in found)]
    for _ in range(_MAX_DEPTH):
        named = [name for text, folder in texts for name in named_files(text, project, folder)]
        new = [name for name in dict.fromkeys(named) if name not in found and _checks(name)]
        found |= dict.fromkeys(new)
        # A script names files as they read from where it is started, or from where it stands.
        texts = [
            (text_of(project / name, MAX_TEXT), folder)
            for name in new
            for folder in dict.fromkeys([path, str(PurePosixPath(name).parent)])
        ]
    return [f"/{name}" for name in found]


def named_files(text: str, project: Path, path: str = ".") -> list[str]:
    """The project's files that a text names as they read from a folder, relative to the project."""
    found: list[str] = []
    for piece in dict.fromkeys(_SEPARATORS.split(text)):
        word = re.sub(r"\\(.)", r"\1", piece)
        # Of `$FOLDER/NAME` there is `/NAME`.
        name = PurePosixPath(path, word if path == "." else word.lstrip("/"))
        inside = ".." not in name.parts and not name.is_absolute()
        if inside and os.path.isfile(project / name):  # whatever the word is
            found.append(str(name))
    return found


def _checks(name: str) -> bool:
    words = [word.lower() for word in _WORDS.split(name)]
    kinds = [_CHECKS]
    if not _COMPILED.search(name):
        kinds.append(_MAY_CHECK)
    if not CODE.search(name):
        kinds.append(_ANSWERS)
    return any(kind.fullmatch(word) for kind in kinds for word in words)
