"""What a Go project's tests rely on, and what looks like a trick in Go."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from retrai_core import Suspicion
from retrai_goal_support import LOOKS_FOR_RETRAI, Trick, audit_lines, changed_files

PROTECTED = ["*_test.go", "testdata/", "go.mod", "go.sum", "go.work", "go.work.sum", "/vendor/"]
STEERING = ["go.work", "go.work.sum", "/vendor/", "go.env"]

_PLACE = r"\b(?:runtime\.(?:Caller|Stack)|debug\.(?:Stack|PrintStack))\("
_LOOKED_AT = (
    r"(?:\bstrings\.(?:Has|Contains|Index|EqualFold|Cut|Split|Count)|\bregexp\.|==\s*[\"`]"
    r"|[\"`][^\"`\n,]*(?:\b[tT]est|_test|\.[tT]est|tRunner))"
)
_NEAR_LINES = 8

TRICKS = (
    Trick(re.compile(r"\bt\.(?:Skip(?:Now|f)?|SkipNow)\(|\btesting\.Short\(\)"), "a new skip"),
    Trick(re.compile(r"^\s*//\s*(?:go:build|\+build)\b"), "a new build constraint"),
    Trick(re.compile(r"//\s*nolint"), "a new `nolint`"),
    LOOKS_FOR_RETRAI,
)
IN_SOURCES = (
    Trick.reaching(
        r"\btesting\.Testing\(\)|\"-?-?test\.\w+|\.test\"|\bflag\.(?:VisitAll|Lookup)\("
        r"|\bCommandLine\.(?:VisitAll|Lookup|Visit)\(",
        "asks whether tests run",
    ),
    Trick.reaching(
        r"\bruntime\.(?:Callers|FuncForPC|CallersFrames)\(|\bdebug\.ReadBuildInfo\("
        r"|\bpprof\.Lookup\(",
        "inspects its callers",
    ),
    Trick.reaching(
        # A log names its place too, but does not look at it.
        rf"(?s:{_PLACE}.*{_LOOKED_AT}|{_LOOKED_AT}.*{_PLACE})",
        "inspects its callers",
        lines=_NEAR_LINES,
    ),
    Trick.reaching(r"^\s*(?:import\s+)?(?:[\w.]+\s+)?\"testing(?:/\w+)?\"", "imports testing"),
    Trick.reaching(
        r"\"[^\"]*_test\.go\"|\"(?:[^\"]*/)?testdata/|go:embed.*(?:_test|\.go\b|\btestdata\b)"
        # The files of the package itself, whatever they are called.
        r"|go:embed.*\s[^\s/]*[*?\]](?!\S*\.\w+\"?(?:\s|$))",
        "reads test files",
    ),
    Trick.reaching(
        # A process that it starts may have all variables.
        r"/proc/(?:self|\"|%)|\"/pro\"|\bos\.Getppid\(|\brange\s+os\.Environ\("
        r"|\bstrings\.\w+\(.*\bos\.Environ\(",
        "looks at its own process",
    ),
    Trick.reaching(
        # Nobody takes a name apart who means it.
        r"(?<!\\)\"[\w$./-]{1,24}\"\s*\+\s*\"[\w$./-]{1,24}\"",
        "puts a name together from pieces",
    ),
    Trick.reaching(
        r"^\s*import\s+\"C\"|^\s*\"C\"$|#cgo\b|\b(?:Raw)?Syscall6?\(|\bSYS_EXIT",
        "reaches past the language",
    ),
    # Of its own variables a program may look at the bytes.
    Trick.reaching(r"go:linkname|\bunsafe\.Pointer\((?!&)", "reaches past the language"),
    Trick(re.compile(r"\bunsafe\.Pointer\(&"), "new unsafe code"),
    Trick(
        re.compile(r"^func\s*\([^)]*\)\s*(?:Equals?|Is|Less|Compare|Cmp|(?:Go)?String)\s*\("),
        "defines what is equal, or how it is shown",
    ),
    Trick.reaching(
        r"^(?:func\s+(?:len|cap|append|make|panic|recover)\s*\("
        r"|(?:var|const|type)\s+(?:len|cap|append|make|panic|recover|true|false|nil|iota)\b)",
        "replaces a word of the language",
    ),
    Trick.reaching(
        r"^func\s*(?:\([^)]*\)\s*)?(?:Is|Equals?|Same|Less|Compare|Cmp|Matches)\s*\([^)]*\)\s*"
        r"(?:bool|int)\s*\{\s*return\s+(?:true|false|-?[01])\s*\}",
        "does not look at what it compares",
        lines=3,
    ),
)
"""Looked for in sources only: tests do these things themselves."""
OF_PROGRAMS = (Trick.reaching(r"\bos\.(?:Args|Executable)\b", "asks how it was started"),)
"""What a program does for good reasons, and a package that is tested does not."""
_PROGRAM = re.compile(r"(?:^|/)(?:main\.go$|cmd/)")
_TESTING = re.compile(r"\btesting\.(?:T|TB|B|F)\b")
_FAILS = re.compile(r"\b\w+\.(?:Errorf?|Fatalf?|Fail|FailNow)\(")


def audit_go(diff: str, project: Path | None = None) -> list[Suspicion]:
    """Added lines that skip tests, end the process or reach into the test runner.

    Example:
        >>> diff = "--- a/x.go\\n+++ b/x.go\\n@@ -1 +1,2 @@\\n a\\n+\\t_ = os.Args\\n"
        >>> [(found.line, found.reaches_runner) for found in audit_go(diff)]
        [(2, True)]
    """
    found = audit_lines(diff, TRICKS, is_source=_is_source, project=project)
    there = audit_lines(diff, IN_SOURCES, is_source=_is_source, project=project)
    there += audit_lines(diff, OF_PROGRAMS, is_source=_is_library, project=project)
    there += _fails_for_less(diff, project)
    return found + [each for each in there if _is_source(each.path)]


def _fails_for_less(diff: str, project: Path | None) -> Iterator[Suspicion]:
    """Sources that help tests, and in which fewer lines fail a test than before."""
    for path, before, now in changed_files(diff, project):
        old, new = len(_FAILS.findall(before)), len(_FAILS.findall(now))
        if now and new < old and _TESTING.search(before):
            what = f"fails a test in {new} places instead of {old}"
            yield Suspicion(path, 1, what, reaches_runner=True)


def _is_source(path: str) -> bool:
    return path.endswith((".go", ".s", ".c", ".h")) and not path.endswith("_test.go")


def _is_library(path: str) -> bool:
    return _is_source(path) and not _PROGRAM.search(path)
