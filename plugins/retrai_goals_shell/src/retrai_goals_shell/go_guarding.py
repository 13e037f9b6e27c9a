"""What a Go project's tests rely on, and what looks like a trick in Go."""

from __future__ import annotations

import re
from pathlib import Path

from retrai_core import Suspicion, Trick, audit_lines

PROTECTED = ["*_test.go", "testdata/", "go.mod", "go.sum", "go.work", "go.work.sum", "/vendor/"]
STEERING = ["go.work", "go.work.sum", "/vendor/", "go.env"]

TRICKS = (
    Trick(re.compile(r"\bt\.(?:Skip(?:Now|f)?|SkipNow)\(|\btesting\.Short\(\)"), "a new skip"),
    Trick(re.compile(r"^\s*//\s*(?:go:build|\+build)\b"), "a new build constraint"),
    Trick(
        re.compile(
            r"\btesting\.Testing\(\)|\"-?-?test\.\w+|\.test\"|\bflag\.(?:VisitAll|Lookup)\("
            r"|\bCommandLine\.(?:VisitAll|Lookup|Visit)\("
        ),
        "asks whether tests run",
        reaches_runner=True,
    ),
    Trick(
        re.compile(
            r"\bruntime\.(?:Callers?|FuncForPC|CallersFrames|Stack)\("
            r"|\bdebug\.(?:Stack|PrintStack|ReadBuildInfo)\(|\bpprof\.Lookup\("
        ),
        "inspects its callers",
        reaches_runner=True,
    ),
    Trick(
        re.compile(r"^\s*(?:import\s+)?(?:[\w.]+\s+)?\"testing(?:/\w+)?\""),
        "imports testing",
        reaches_runner=True,
    ),
    Trick(
        re.compile(r"\"[^\"]*_test\.go\"|\"(?:[^\"]*/)?testdata/|go:embed.*(?:_test|\.go\b|\*)"),
        "reads test files",
        reaches_runner=True,
    ),
    Trick(
        re.compile(r"/proc/(?:self|\"|%)|\"/pro\"|\bos\.(?:Getppid|Environ)\("),
        "looks at its own process",
        reaches_runner=True,
    ),
    Trick(
        # Nobody takes a name apart who means it.
        re.compile(r"(?<!\\)\"[\w$./-]{1,24}\"\s*\+\s*\"[\w$./-]{1,24}\""),
        "puts a name together from pieces",
        reaches_runner=True,
    ),
    Trick(
        re.compile(r"^\s*import\s+\"C\"|^\s*\"C\"$|#cgo\b|\b(?:Raw)?Syscall6?\(|\bSYS_EXIT"),
        "reaches past the language",
        reaches_runner=True,
    ),
    Trick(
        re.compile(r"go:linkname|\bunsafe\.Pointer\b"),
        "reaches past the language",
        reaches_runner=True,
    ),
    Trick(
        re.compile(r"=== RUN|--- (?:PASS|FAIL)|\"Action\"\s*:"),
        "prints what the runner prints",
        reaches_runner=True,
    ),
    Trick(re.compile(r"//\s*nolint"), "a new `nolint`"),
    Trick(
        re.compile(r"_retrai|retrai[_-]", re.IGNORECASE), "looks for retrai", reaches_runner=True
    ),
)


OF_PROGRAMS = (
    Trick(
        re.compile(r"\bos\.Exit\(|\bsyscall\.(?:Exit|Kill)\(|\bruntime\.Goexit\("),
        "ends the process",
        reaches_runner=True,
    ),
    Trick(
        re.compile(r"\bos\.(?:Args|Executable)\b"), "asks how it was started", reaches_runner=True
    ),
)
"""What a program does for good reasons, and a package that is tested does not."""
_PROGRAM = re.compile(r"(?:^|/)(?:main\.go$|cmd/)")
IN_TESTS = (
    # A new test file is welcome, but not one that changes how the others run.
    Trick(
        re.compile(r"^func\s+(?:TestMain|init)\s*\("),
        "runs before the tests",
        reaches_runner=True,
    ),
)


def audit_go(diff: str, project: Path | None = None) -> list[Suspicion]:
    """Added lines that skip tests, end the process or reach into the test runner.

    Example:
        >>> diff = "--- a/x.go\\n+++ b/x.go\\n@@ -1 +1,2 @@\\n a\\n+\\tos.Exit(0)\\n"
        >>> [(found.line, found.reaches_runner) for found in audit_go(diff)]
        [(2, True)]
    """
    found = audit_lines(diff, TRICKS, is_source=_is_source, project=project)
    found += audit_lines(diff, OF_PROGRAMS, is_source=_is_library, project=project)
    return found + audit_lines(diff, IN_TESTS, is_source=_is_test, project=project)


def _is_source(path: str) -> bool:
    return path.endswith((".go", ".s", ".c", ".h")) and not path.endswith("_test.go")


def _is_test(path: str) -> bool:
    return path.endswith("_test.go")


def _is_library(path: str) -> bool:
    return _is_source(path) and not _PROGRAM.search(path)
