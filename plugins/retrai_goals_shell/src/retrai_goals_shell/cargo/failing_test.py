"""Adds a failing test to Rust test programs: a run of them must fail then."""

from __future__ import annotations

import itertools
import re
import secrets
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

from retrai_goal_support import text_of

# What follows one of these is its value, and names no test.
_TAKES_VALUE = re.compile(
    r"-[FjpZ]|--(?:package|exclude|bin|example|test|bench|features|target|jobs|profile|target-dir"
    r"|color|message-format|config|manifest-path)"
)
_TEST = """
#[cfg(test)]
mod {name} {{
    #[test]
    fn must_fail() {{
        None::<()>.unwrap();
    }}
}}
"""


def add_failing_tests(folder: Path, cases: Iterable[str]) -> list[str]:
    """Add one to the program of each case, at the end of its root file; these files.

    Programs with a harness of their own (`harness = false`) get none.

    Args:
        folder: where cargo runs.
        cases: their ids, `src/lib.rs::tests::adds`.
    """
    added: list[str] = []
    for place in dict.fromkeys(case.partition("::")[0] for case in cases):
        path = folder / place
        if path.suffix == ".rs" and path.is_file() and not _has_own_harness(path):
            with path.open("a", encoding="utf-8") as file:
                # libtest runs tests in the order of their names.
                file.write(_TEST.format(name=f"zz{secrets.token_hex(8)}"))
            added.append(place)
    return added


def runs_every_test(args: Sequence[str]) -> bool:
    """Whether arguments of `cargo test` leave out no test of a program, as a name would.

    Example:
        >>> [runs_every_test(args) for args in (["-p", "shop"], ["--lib", "sums"], ["--", "a"])]
        [True, False, False]
    """
    pairs = itertools.pairwise(["", *args])
    return "--" not in args and all(
        arg.startswith("-") or _TAKES_VALUE.fullmatch(before) for before, arg in pairs
    )


def _has_own_harness(path: Path) -> bool:
    """Whether the package of a file says of any test program that libtest is not in it."""
    manifests = (folder / "Cargo.toml" for folder in path.parents)
    try:
        manifest = tomllib.loads(text_of(next(filter(Path.is_file, manifests))))
    except (StopIteration, tomllib.TOMLDecodeError):
        return True
    tables = [manifest.get("lib", {}), *manifest.get("test", []), *manifest.get("bin", [])]
    return any(table.get("harness") is False for table in tables)
