"""What the last check of a clean copy showed of the project's files, for the audit of a diff."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from retrai_core import Suspicion

from .diff_audit import is_source, is_test
from .diff_lines import added_lines, text_before
from .environment_audit import STEP_S
from .installed import ctime_ns
from .pytest_run import PytestRun
from .reaching_code import CALLERS, reaching

PLUGS_IN = "plugs into pytest"
PUTS_IN = "puts its own function into "
_INSPECTS = (CALLERS, "looks at its tests")


@dataclass
class SeenInCheck:
    """Files by their path relative to the project.

    Attributes:
        reached: what the project's own code did to pytest, or looked up in it.
        opened: the files that were opened or imported; None where that is not known.
        needed: those of them that are named like tests, and are sources all the same.
        holding: the files that cases stand in.
    """

    reached: Sequence[Suspicion] = ()
    opened: frozenset[str] | None = None
    needed: frozenset[str] = frozenset()
    holding: frozenset[str] = frozenset()
    _in_diff: set[str] = field(default_factory=set[str])

    @classmethod
    def of(
        cls, run: PytestRun, folder: str, needed: Sequence[str] = (), known: Collection[str] = ()
    ) -> SeenInCheck:
        """What a run in `folder` of the project showed.

        Args:
            run: the run.
            folder: relative to the project.
            needed: files that are named like tests and were not collected.
            known: what was seen before the run and is no file's in particular.
        """
        base = "" if folder == "." else f"{folder}/"
        found = [
            Suspicion(
                f"{base}{one.path}" if one.path else "", one.line, one.what, one.reaches_runner
            )
            for one in run.reached
            if one.path or one.what not in known
        ]
        holding = frozenset(f"{base}{case.partition('::')[0]}" for case in run.cases)
        if run.touched is None:
            return cls(found, holding=holding)
        opened = frozenset(f"{base}{path}" for path in run.touched)
        return cls(found, opened, opened.intersection(needed), holding)

    def counts_as_source(self, path: str) -> bool:
        """Whether the code of a file runs in the check and is no test's."""
        if path in self.needed:
            return True
        return is_source(path) and (self.opened is None or path in self.opened)

    @property
    def examples_in(self) -> frozenset[str]:
        """Files that are no tests' and hold cases all the same: examples in prose or docstrings."""
        return frozenset(path for path in self.holding if not is_test(path))

    def suspicions(self, diff: str, project: Path) -> Iterator[Suspicion]:
        """What changed files were seen to do.

        A file that was a plugin of pytest before is one still.
        """
        self._in_diff = {path for path, _, _ in added_lines(diff)}
        for found in self.reached:
            if not (project / found.path).is_file():
                yield found  # code of an archive, or of no file at all: in no diff
            if found.path not in self._in_diff:
                continue
            if not (is_source(found.path) or found.path in self.needed):
                continue
            if found.what == PLUGS_IN and "pytest" in _text_before(diff, found.path, project):
                # Honest where the plugin is what the tests test.
                what = "changes a plugin of pytest"
                yield replace(found, what=what, reaches_runner=False, sign="unchanged")
                continue
            if found.what in _INSPECTS and _inspected_before(diff, found.path, project):
                continue
            if found.what.startswith(PUTS_IN) and not self._writes(
                project / found.path, found.what
            ):
                continue  # a test did
            yield found

    @staticmethod
    def _writes(path: Path, what: str) -> bool:
        """Whether a file assigns the attribute that `what` ends with, or has its name as a text."""
        name = what.rpartition(".")[2]
        try:
            tree = ast.parse(path.read_bytes())
        except (OSError, SyntaxError, ValueError, RecursionError):
            return True
        for node in ast.walk(tree):
            match node:
                case ast.Attribute(_, attribute, ast.Store()) if attribute == name:
                    return True
                case ast.Constant(str(text)) if name in text:
                    return True
                case ast.keyword(arg) if arg == name:
                    return True
                case _:
                    pass
        return False

    def beside_diff(self, project: Path, since_s: float) -> Iterator[Suspicion]:
        """What files reach for that changed since, and that no diff shows: ignored ones.

        Args:
            project: where they stand.
            since_s: seconds since the epoch.
        """
        since_ns = int((since_s - STEP_S) * 1e9)
        for path in sorted((self.opened or frozenset()) - self._in_diff):
            if not is_source(path) or ctime_ns(project / path) <= since_ns:
                continue
            text = (project / path).read_bytes()
            for reach in reaching(text) or ():
                yield Suspicion(path, reach.line, reach.what, reaches_runner=True)


def _inspected_before(diff: str, path: str, project: Path) -> bool:
    """Whether a file looked for its callers before: then it finds its tests there, too."""
    before = reaching(_text_before(diff, path, project), fixtures=True)
    return any(reach.what == CALLERS for reach in before or ())


def _text_before(diff: str, path: str, project: Path) -> str:
    now = (project / path).read_text("utf-8", errors="replace")
    return text_before(diff, path, now.split("\n"))


def inside(path: str, folder: str) -> str:
    """A path of the project as it is called in one of its folders; empty when it lies elsewhere.

    Example:
        >>> inside("api/tests/test_a.py", "api"), inside("tests/test_a.py", "api")
        ('tests/test_a.py', '')
    """
    if folder == ".":
        return path
    return path.removeprefix(f"{folder}/") if path.startswith(f"{folder}/") else ""
