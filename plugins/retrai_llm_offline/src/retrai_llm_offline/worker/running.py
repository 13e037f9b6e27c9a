"""Run collected pytest items in this process, without the cost of reports where that is safe.

To run an item more than once, pytest itself resets its private `_request` (see `runtestprotocol`),
and unittest items keep their failures in `_excinfo`; there is no public way to either.
"""

# ruff: noqa: SLF001

from __future__ import annotations

import os
import sys
from types import FrameType
from typing import Any, Callable, Dict, List, Optional, Sequence, Set, Tuple

from . import limits

PASSED, FAILED, SKIPPED, TIMED_OUT, CRASHED, NOT_RUN = "p", "f", "s", "t", "c", "?"


class Runner:
    """Runs items of one session; `cpu_s` limits each test, `wall_s` what it may sleep."""

    def __init__(self, items: Sequence[Any], cpu_s: float, wall_s: float) -> None:
        self.items = items
        self.cpu_s = cpu_s
        self.wall_s = wall_s
        import pytest

        self._skipped: Any = pytest.skip.Exception
        self._alarm = limits.Alarm()
        self._keep_folders = _result_of_tmp_path()
        self._subtests = _Subtests.of(items)

    def run(
        self, indices: Sequence[int], official: "Set[int]", stop_at_failure: bool = False
    ) -> str:
        """One letter for each test; tests after a time-out are not run."""
        outcome = ""
        for position, index in enumerate(indices):
            following = self.items[indices[position + 1]] if position + 1 < len(indices) else None
            letter = self.one(index, following, index in official)
            outcome += letter
            if letter == TIMED_OUT or (stop_at_failure and letter == FAILED):
                break
        return outcome + NOT_RUN * (len(indices) - len(outcome))

    def one(self, index: int, following: Any, official: bool) -> str:
        """Run one test and say how it ended."""
        item = self.items[index]
        try:
            try:
                self._subtests.failed = False
                self._alarm.arm(self.cpu_s, self.wall_s)
                official = official or _is_asked_about(item)
                letter = (
                    self._official(item, following) if official else self._direct(item, following)
                )
            finally:
                self._alarm.disarm()
        except (limits.OutOfTimeError, MemoryError):
            return TIMED_OUT
        if self._alarm.rang:
            return TIMED_OUT
        return FAILED if letter == PASSED and self._subtests.failed else letter

    def _official(self, item: Any, following: Any) -> str:
        from _pytest.runner import runtestprotocol

        reports: List[Any] = runtestprotocol(item, log=False, nextitem=following)
        if any(report.failed for report in reports):
            return FAILED
        return SKIPPED if any(report.skipped for report in reports) else PASSED

    def _direct(self, item: Any, following: Any) -> str:
        if hasattr(item, "_request") and not item._request:
            item._initrequest()
        if self._keep_folders is not None:
            item.stash.setdefault(self._keep_folders, {})
        letter = PASSED
        try:
            try:
                item.ihook.pytest_runtest_setup(item=item)
                item.ihook.pytest_runtest_call(item=item)
                letter = self._unittest_outcome(item)
            finally:
                item.ihook.pytest_runtest_teardown(item=item, nextitem=following)
        except self._skipped:
            letter = SKIPPED
        except (limits.OutOfTimeError, MemoryError):
            raise
        except BaseException:  # noqa: BLE001 - whatever a test raises is its failure
            letter = FAILED
        if hasattr(item, "_request"):
            item._request = False
            item.funcargs = None
        return letter

    def _unittest_outcome(self, item: Any) -> str:
        problems: Any = item.__dict__.get("_excinfo")
        if not problems:
            return PASSED
        item._excinfo = None
        for problem in problems:
            error: Any = getattr(problem, "value", None)
            if isinstance(error, (limits.OutOfTimeError, MemoryError)):
                raise error
            if isinstance(error, self._skipped):
                return SKIPPED
        return FAILED


def _is_asked_about(item: Any) -> bool:
    """Whether a `conftest.py` looks at the test's reports: its fixtures may ask for them."""
    return any(
        os.path.basename(getattr(hook.plugin, "__file__", None) or "") == "conftest.py"
        for hook in item.ihook.pytest_runtest_makereport.get_hookimpls()
    )


class _Subtests:
    """Hears of subtests: a test passes by its own reports though one of them fails."""

    NAME = "retrai-offline-subtests"

    def __init__(self) -> None:
        self.failed = False

    @classmethod
    def of(cls, items: Sequence[Any]) -> "_Subtests":
        """The one that listens in these items' session."""
        heard = cls()
        if items:
            plugins = items[0].config.pluginmanager
            heard = plugins.get_plugin(cls.NAME) or heard
            if not plugins.has_plugin(cls.NAME):
                plugins.register(heard, cls.NAME)
        return heard

    def pytest_runtest_logreport(self, report: Any) -> None:
        """The search logs no report of its own, so this is a subtest's."""
        self.failed = self.failed or report.failed


def _result_of_tmp_path() -> Any:
    """Where reports leave what `tmp_path` asks when it is torn down; None where it asks nothing."""
    try:
        from _pytest.tmpdir import tmppath_result_key
    except ImportError:  # before pytest 7.3
        return None
    return tmppath_result_key


Lines = Dict[str, List[int]]


def traced(run: Callable[[], str], root: str, skip: Callable[[str], bool]) -> Tuple[str, Lines]:
    """Run something and record which lines of the project's files it executes."""
    seen: Dict[str, Set[int]] = {}
    wanted: Dict[str, Optional[Set[int]]] = {}

    def of_file(name: str) -> Optional[Set[int]]:
        if name not in wanted:
            path = os.path.realpath(name)
            inside = path.startswith(root) and not skip(path)
            wanted[name] = seen.setdefault(path, set()) if inside else None
        return wanted[name]

    def local(frame: FrameType, event: str, _argument: object) -> Any:
        if event == "line":
            lines = wanted[frame.f_code.co_filename]
            if lines is not None:
                lines.add(frame.f_lineno)
        return local

    def outer(frame: FrameType, _event: str, _argument: object) -> Any:
        return local if of_file(frame.f_code.co_filename) is not None else None

    sys.settrace(outer)
    try:
        outcome = run()
    finally:
        sys.settrace(None)
    return outcome, {path: sorted(lines) for path, lines in seen.items() if lines}
