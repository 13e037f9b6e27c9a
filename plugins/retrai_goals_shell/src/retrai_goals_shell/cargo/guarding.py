"""What a Rust project's tests rely on, and what looks like a trick in Rust."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tree_sitter import Node

from retrai_core import Suspicion
from retrai_goal_support import LOOKS_FOR_RETRAI, Trick, audit_lines, changed_lines, text_of

from ..syntax_tree import descendants, text_of_node
from .source import parse_rust

STEERING = [".cargo/config", ".cargo/config.toml", "build.rs", "rust-toolchain*"]
PROTECTED = [
    "/tests/",
    "/benches/",
    "/*/tests/",
    "/crates/*/tests/",
    "/**/tests/**/*.rs",
    "*.snap",
    "Cargo.toml",
    "Cargo.lock",
    *STEERING,
]
_TEST_PATH = re.compile(r"(?:^|/)(?:tests|benches|examples)/")

TRICKS = (
    Trick(re.compile(r"#\[\s*ignore\b|cfg_attr\([^)]*ignore"), "a new `#[ignore]`"),
    Trick(
        re.compile(
            r"#!?\[\s*cfg\s*\((?!\s*(?:test|feature|debug_assertions|target_\w+|unix|windows)\b)"
        ),
        "hides code by a condition",
    ),
    Trick(re.compile(r"#\[\s*should_panic"), "a new `#[should_panic]`"),
    Trick(re.compile(r"#!?\[\s*allow\s*\("), "silences the compiler"),
    Trick.reaching(
        r"macro_rules!\s*(?:assert|debug_assert|panic|unreachable)\w*", "changes what assertions do"
    ),
    Trick(
        re.compile(r"\bpanic::(?:set_hook|take_hook|catch_unwind)|\bcatch_unwind\b"),
        "catches panics",
    ),
    Trick.reaching(r"\bimpl\b.*\bTermination\s+for\b", "says how a test ends"),
    Trick.reaching(r"\bcfg!\s*\(\s*(?:not\s*\(\s*)?(?:test|doctest)\b", "asks whether tests run"),
    Trick.reaching(
        r"\bcfg(?:_attr)?!?\s*\([^\]]*\bnot\s*\([^\]]*\b(?:test|doctest)\b",
        "differs when tests run",
    ),
    Trick.reaching(r"\bas\s+(?:debug_)?assert\w*\s*[;,}]", "changes what assertions do"),
    Trick.reaching(
        r"\bcurrent_exe\s*\(|RUST_TEST_|CARGO_TARGET_|thread::current\(\)(?!\.id)|\bThread::name\b"
        r"|\b(?:var(?:_os)?|option_env!)\s*\(\s*\"(?:CARGO(?!_PKG_VERSION)|RUST(?!_LOG|_BACKTRACE))"
        r"|\benv::vars.*\"(?:CARGO|RUST)|/proc/(?:self|\{|\")|\bBacktrace::(?:capture|force_capture)\b",
        "asks how it was started",
    ),
    Trick.reaching(
        r"include(?:_str|_bytes)?!\s*\([^)]*tests?/|\bpath\s*=\s*\"[^\"]*(?:tests|benches|examples)/|\"[^\"]*(?<![\w-])tests?/[\w./-]*\.rs\""
        r"|\"(?:\./)?tests/?\"",
        "reads a test file",
    ),
    Trick.reaching(r"cfg_attr\s*\([^,]*\btest\b[^,]*,\s*path\b", "differs when tests run"),
    Trick.reaching(
        # A block with one assertion and nothing else is what `debug_assert!` stands for.
        r"\bdebug_assertions\b(?!\)\s*\{\s*(?:debug_)?assert(?:_eq|_ne)?!"
        r'\((?:[^;{}"]|"(?:\\.|[^"\\])*")*\);?\s*\}(?!\s*else))',
        "differs when tests run",
        lines=8,
    ),
    Trick.reaching(
        r"\bfn\s+(?:_?exit|_Exit|quick_exit)\s*\(\s*\w+\s*:\s*(?:[\w:]*c_int|i32)",
        "ends the process",
    ),
    Trick(re.compile(r"impl\b.*\bPartialEq\b|fn (?:eq|ne)\s*\(&self"), "defines what equals"),
    LOOKS_FOR_RETRAI,
)

OF_PROGRAMS = (
    Trick.reaching(
        r"\b(?:process::(?:exit|abort)|libc::_?exit|intrinsics::abort)\b", "ends the process"
    ),
    Trick.reaching(
        # What follows the program's name says nothing of who started it.
        r"\benv::args(?:_os)?\s*\(\s*\)(?!\s*\.skip\(1\))",
        "asks how it was started",
        lines=2,
    ),
)
"""What a program does for good reasons, and a library that is tested does not."""
_NAMES = frozenset({"identifier", "shorthand_field_identifier"})
_DROPPED = re.compile(r"let\s+_\w*\s*=\s*&?\w+\s*;|drop\s*\(\s*\w+\s*\)")
_PROGRAM = re.compile(r"(?:^|/)(?:main\.rs$|bin/)")


def audit_rust(diff: str, project: Path | None = None) -> list[Suspicion]:
    """Added lines that skip tests, end the process or reach into the test runner.

    Example:
        >>> diff = "--- a/x.rs\\n+++ b/x.rs\\n@@ -1 +1,2 @@\\n a\\n+std::process::exit(0);\\n"
        >>> [(found.line, found.reaches_runner) for found in audit_rust(diff)]
        [(2, True)]
    """
    found = audit_lines(diff, TRICKS, is_source=_is_source, project=project)
    if project is not None:
        found += _equal_to_everything(diff, project)
    return found + audit_lines(diff, OF_PROGRAMS, is_source=_is_library, project=project)


def is_test_program(path: str) -> bool:
    """Whether a file is a test program of its own, which may change what was built for others.

    A module that tests share is none by itself: it lies in a folder of theirs.

    Example:
        >>> [is_test_program(f"tests/{name}.rs") for name in ("orders", "shared/mod")]
        [True, False]
    """
    folder = path.rpartition("/")[0]
    return path.endswith(".rs") and folder.rpartition("/")[2] in ("tests", "benches")


def _equal_to_everything(diff: str, project: Path) -> Iterator[Suspicion]:
    """Comparisons that the run changed and that do not look at what they compare with."""
    changed: dict[str, set[int]] = {}
    for _, path, number, _ in changed_lines(diff):
        if _is_source(path):
            changed.setdefault(path, set()).add(number)
    for path, lines in changed.items():
        for node in descendants(parse_rust(text_of(project / path))):
            first, last = node.start_point.row + 1, node.end_point.row + 1
            is_changed = not lines.isdisjoint(range(first, last + 1))
            if node.type == "function_item" and is_changed and _ignores_other(node):
                yield Suspicion(path, first, "equals everything", reaches_runner=True)


def _ignores_other(function: Node) -> bool:
    """Whether a function `eq` or `ne` does not use its second parameter."""
    name, parameters, body = (
        function.child_by_field_name(field) for field in ("name", "parameters", "body")
    )
    if name is None or parameters is None or body is None:
        return False
    taken = [each for each in parameters.named_children if each.type.endswith("parameter")]
    if text_of_node(name) not in ("eq", "ne") or len(taken) != 2:
        return False
    pattern = taken[1].child_by_field_name("pattern")
    return pattern is not None and _names(pattern).isdisjoint(_names(body))


def _names(node: Node) -> set[str]:
    """The variables in a part of the tree, without those that are only dropped."""
    parts = descendants(node, skip=_is_dropped)
    return {text_of_node(part) for part in parts if part.type in _NAMES}


def _is_dropped(node: Node) -> bool:
    may_be = node.type in ("let_declaration", "call_expression")
    return may_be and bool(_DROPPED.fullmatch(text_of_node(node)))


def _is_source(path: str) -> bool:
    return path.endswith(".rs") and not _TEST_PATH.search(path)


def _is_library(path: str) -> bool:
    return _is_source(path) and not _PROGRAM.search(path)
