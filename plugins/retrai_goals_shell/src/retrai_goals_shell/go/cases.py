"""Holds what `go test` reported against the tests that the files hold, case by case."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from retrai_core import CaseOutcome
from retrai_goal_support import text_of

from .output import Ending, ListedPackage, PackageRun

_PIECE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|`[^`]*`|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'""", re.DOTALL
)
_TEST = re.compile(
    r"^func\s+((?:Test|Fuzz)(?:[^a-z\W]\w*)?)\s*\(\s*\w+\s+\*testing\.[TF]\s*\)\s*\{",
    re.MULTILINE,
)

_OUTCOMES: Mapping[Ending, CaseOutcome] = {"pass": "passed", "fail": "failed", "skip": "skipped"}


@dataclass
class GoCases:
    """Outcomes by case id, what the model reads of failures, and why it is not complete.

    Attributes:
        root: the folder that go ran in, which is cut from what tests print.
    """

    root: str
    cases: dict[str, CaseOutcome] = field(default_factory=dict[str, CaseOutcome])
    failures: dict[str, str] = field(default_factory=dict[str, str])
    problem: str = ""

    def add(self, name: str, package: PackageRun, files: Mapping[str, str], runs_all: bool) -> None:
        """Take every case of a package.

        Args:
            name: its import path.
            package: what was reported.
            files: the file of each test function.
            runs_all: no argument leaves tests out.
        """
        broken = [test for test, ending in package.tests.items() if ending == "fail"]
        for test, ending in package.tests.items():
            case = _case(name, test, files)
            self.cases[case] = _OUTCOMES.get(ending, "error")
            inner = any(other.startswith(f"{test}/") for other in broken)
            if ending == "fail" and not inner:
                text = "".join(package.output.get(test, ())) or "it failed without a word"
                self.failures[case] = _readable(text, self.root)
            elif not ending:
                self.failures[case] = f"it did not end{_first(package)}"
        missing = [test for test in files if test not in package.tests] if runs_all else []
        if package.ended == "fail":
            why = package.build or f"it was not run{_first(package)}"
            untested = [_case(name, test, files) for test in missing]
            self.cases |= dict.fromkeys(untested, "error")
            for case in untested[:1]:
                self.failures[case] = _readable(f"{name} was not tested:\n{why}", self.root)
            if not missing and not broken and not self.problem:
                output = _readable("".join(package.printed) or package.build, self.root)
                self.problem = f"{name} failed, though no test of it did: {output[:300]}"
        elif missing and not self.problem:
            more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            self.problem = (
                f"{name} ended without running {missing[0]}{more} (look for os.Exit in an init or "
                "a TestMain)"
            )


def expected_tests(packages: Sequence[ListedPackage], folder: Path) -> dict[str, dict[str, str]]:
    """By import path: the file of each test function, relative to `folder`.

    Files that this platform and these tags leave out are not among what go lists.
    """
    root = os.path.realpath(folder)
    found: dict[str, dict[str, str]] = {}
    for package in packages:
        tests = found.setdefault(package.import_path, {})
        for name in (*package.test_go_files, *package.x_test_go_files):
            path = Path(package.dir, name)
            place = os.path.relpath(os.path.realpath(path), root).replace(os.sep, "/")
            tests.update(dict.fromkeys(test_names(text_of(path)), place))
    return found


def test_names(source: str) -> list[str]:
    """The functions that `go test` runs, examples left out.

    Example:
        >>> test_names("func TestA(t *testing.T) { f() }\\nfunc Testing() {}\\n")
        ['TestA']
    """
    # Comments, strings and runes hold none.
    return _TEST.findall(_PIECE.sub("", source))


def judge_packages(
    packages: Mapping[str, PackageRun],
    expected: Mapping[str, Mapping[str, str]],
    runs_all: bool,
    root: str,
) -> GoCases:
    """Every case of every package.

    Args:
        packages: what was reported, by import path.
        expected: the file of each test function, by import path.
        runs_all: no argument leaves tests out.
        root: the folder that go ran in, which is cut from what tests print.
    """
    found = GoCases(root)
    for name in sorted({*packages, *(expected if runs_all else ())}):
        package = packages.get(name, PackageRun())
        found.add(name, package, expected.get(name, {}), runs_all)
    return found


def _readable(text: str, root: str) -> str:
    """Places as they read from the project; steps of a panic through Go itself are left out."""
    kept: list[str] = []
    for line in text.replace(f"{root}/", "").splitlines():
        if line.startswith("\t/"):
            if kept:
                kept.pop()  # the function that the place belongs to
        else:
            kept.append(line)
    return "\n".join(kept).strip()


def _case(package: str, test: str, files: Mapping[str, str]) -> str:
    return f"{files.get(test.partition('/')[0], package)}::{test}"


def _first(package: PackageRun) -> str:
    """What ended the package: a panic tells where."""
    failed = next((test for test, ending in package.tests.items() if ending == "fail"), "")
    return f", since {failed} ended the package's tests" if failed else ""
