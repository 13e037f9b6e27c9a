"""Adds a failing test to Go packages: a run of their tests must fail then."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path

from retrai_goal_support import text_of

from .output import PackageRun

MAX_PACKAGES = 20
_PACKAGE = re.compile(r"^package\s+(\w+)", re.MULTILINE)
_OWN_MAIN = re.compile(r"^func\s+TestMain\s*\(", re.MULTILINE)
_TEST = """\
package {package}

import "testing"

func {name}(t *testing.T) {{ t.Fatal("it must fail") }}
"""


def add_failing_tests(folder: Path, cases: Iterable[str]) -> dict[str, str]:
    """Add one to the package of each case; the test's name by the package's folder.

    A package with a `TestMain` gets none: that may exit with 0 whatever the tests say.

    Args:
        folder: where go runs.
        cases: their ids, `cart/cart_test.go::TestTotal`.
    """
    added: dict[str, str] = {}
    for case in cases:
        place = folder_of(case)
        if place is None or place in added or len(added) == MAX_PACKAGES:
            continue
        package = _PACKAGE.search(text_of(folder / case.partition("::")[0]))
        if package is None:
            continue
        tests = (folder / place).glob("*_test.go")
        if not any(_OWN_MAIN.search(text_of(path)) for path in tests):
            added[place] = f"TestX{secrets.token_hex(8)}"
            # Go runs tests in the order of their files.
            path = folder / place / f"zz{secrets.token_hex(8)}_test.go"
            path.write_text(_TEST.format(package=package[1], name=added[place]), encoding="utf-8")
    return added


def folder_of(case: str) -> str | None:
    """The folder of a case's package; None for an example, whose file is not known.

    Example:
        >>> folder_of("cart/cart_test.go::TestTotal"), folder_of("shop/cart::ExampleTotal")
        ('cart', None)
    """
    file = case.partition("::")[0]
    return str(Path(file).parent) if file.endswith("_test.go") else None


def still_passing(added: Mapping[str, str], runs: Mapping[str, PackageRun]) -> list[str]:
    """The folders of packages that passed, or did not run the test.

    Args:
        added: from `add_failing_tests`.
        runs: what was reported, by import path; where a package was not built, nothing is known.
    """
    if any(run.build for run in runs.values()):
        return []
    failed = {name for run in runs.values() if run.ended == "fail" for name in run.tests}
    return [place for place, name in added.items() if name not in failed]
