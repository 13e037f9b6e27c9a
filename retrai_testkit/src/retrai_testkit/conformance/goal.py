"""The contract of goals."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from retrai_core import Detection, GoalResult
from retrai_core.plugins.answers import problem
from retrai_core.plugins.describe import describe_plugin
from retrai_core.plugins.kinds import Kind
from retrai_core.plugins.soundness import options_of_the_core
from retrai_core.verification.baseline import Baseline
from retrai_core.verification.verdict import judge

from ..bench import Bench
from ..footprint import Footprint
from ..overriding import NotApplicable
from .built import BuiltConformance, cancelled
from .clear_errors import require_clear_line
from .goal_answers import cases_of, has_sign, require_globs, require_incomplete, skip_where
from .goal_observed import Observed, observe
from .plugin import required

_DIFF = "--- a/x.txt\n+++ b/x.txt\n@@ -1 +1 @@\n-one\n+two\n"


class GoalConformance(BuiltConformance):
    """The contract of a goal, as tests: inherit it and write the projects to check.

    Example:
        >>> from retrai_core import CheckReport, GoalBase, GoalOptions, GoalResult
        >>> class FileExists(GoalBase):
        ...     name = "file-exists"
        ...     class Options(GoalOptions):
        ...         path: str
        ...     async def check(self, state, cwd):
        ...         there = (cwd / self.options.path).is_file()
        ...         cases = {self.options.path: "passed" if there else "failed"}
        ...         report = CheckReport(cases, command=["test", "-f", self.options.path])
        ...         return GoalResult(there, "there" if there else "missing", "", report)
        ...     def system_prompt(self):
        ...         return f"Create the file {self.options.path}."
        >>> class TestFileExists(GoalConformance):
        ...     plugin = FileExists
        ...     options = {"path": "a.txt"}
        ...     def write_passing(self, folder):
        ...         (folder / "a.txt").touch()
        ...     def write_failing(self, folder):
        ...         (folder / "b.txt").touch()
        ...     def write_broken(self, folder):
        ...         return NotApplicable("looking for a file cannot break")
        ...     def write_endless(self, folder):
        ...         return NotApplicable("looking for a file ends by itself")
        >>> import tempfile
        >>> TestFileExists().test_a_failing_project_is_not_achieved(
        ...     Path(tempfile.mkdtemp()), {"path": "a.txt"}, kept={}
        ... )
    """

    kind: ClassVar[Kind] = "goal"
    endless_options: Mapping[str, Any] = {}
    """Options with which the check of the endless project gives up within seconds."""

    def write_passing(self, folder: Path) -> None:
        """Write a project in which the goal passes."""
        required(None, "override write_passing(folder)")

    def write_failing(self, folder: Path) -> None:
        """Write a project in which the goal does not hold yet, and could."""
        required(None, "override write_failing(folder)")

    def write_broken(self, folder: Path) -> NotApplicable | None:
        """Write a project in which the runner breaks down and gives no whole report."""
        return required(None, "override write_broken(folder)")

    def write_endless(self, folder: Path) -> NotApplicable | None:
        """Write a project whose check takes longer than anyone waits."""
        return required(None, "override write_endless(folder)")

    def write_project(self, folder: Path) -> None:
        self.write_passing(folder)

    def test_every_option_says_whether_it_loosens_the_check(self) -> None:
        """`loosens` is True or False for each option, so that users are asked about no other."""
        options = describe_plugin("goal", self.plugin).options
        silent = [name for name, o in options.items() if not o.runs and o.loosens is None]
        assert not silent, (
            f"users are asked to agree to {', '.join(silent)}: say in the option's Field "
            'json_schema_extra={"loosens": False} where no value makes the check easier to pass, '
            'else {"loosens": True}, or {"runs": True} where the value is run'
        )

    def test_a_passing_project_is_achieved(
        self, tmp_path: Path, plugin_options: Mapping[str, Any], kept: dict[str, Any]
    ) -> None:
        """`achieved` comes with a one-line reason, the exact command, and passing cases."""
        result = self._observed(tmp_path, plugin_options, kept).passing
        assert result.achieved, f"{result.reason}\n{result.details}"
        require_clear_line(result.reason)
        if result.report is not None:
            assert result.report.complete
            assert list(result.report.command), "the report lacks the command that was run"
            bad = [i for i, o in result.report.cases.items() if o in ("failed", "error")]
            assert not bad, f"achieved, though {bad} failed"

    def test_a_failing_project_is_not_achieved(
        self, tmp_path: Path, plugin_options: Mapping[str, Any], kept: dict[str, Any]
    ) -> None:
        """Without success there is a one-line reason, and a case that shows it."""
        result = self._observed(tmp_path, plugin_options, kept).failing[0]
        assert not result.achieved, result.reason
        require_clear_line(result.reason)
        if result.report is not None:
            outcomes = set(result.report.cases.values())
            assert outcomes - {"passed"}, "not achieved, though every case of its report passed"

    def test_a_pass_has_a_report_where_a_failure_has_one(
        self, tmp_path: Path, plugin_options: Mapping[str, Any], kept: dict[str, Any]
    ) -> None:
        """No run believes a pass without a report where the check had cases before."""
        seen = self._observed(tmp_path, plugin_options, kept)
        baseline = Baseline()
        baseline.take_result(seen.failing[0])
        for result in (seen.passing, seen.in_copy):
            if result.achieved and result.report is None:
                judged = judge(baseline, result)
                assert judged.achieved, judged.reason

    def test_case_ids_are_stable(
        self, tmp_path: Path, plugin_options: Mapping[str, Any], kept: dict[str, Any]
    ) -> None:
        """Two checks of one project give the same ids and outcomes, in the same order."""
        first, second = self._observed(tmp_path, plugin_options, kept).failing
        assert cases_of(first) == cases_of(second)

    def test_a_clean_copy_is_checked_like_the_project(
        self, tmp_path: Path, plugin_options: Mapping[str, Any], kept: dict[str, Any]
    ) -> None:
        """The check looks at `cwd`, wherever that is, and names its cases without it."""
        seen = self._observed(tmp_path, plugin_options, kept)
        assert seen.in_copy.achieved, f"in a copy of a passing project: {seen.in_copy.reason}"
        assert cases_of(seen.in_copy) == cases_of(seen.passing)

    def test_two_runs_share_nothing(
        self, tmp_path: Path, plugin_options: Mapping[str, Any], kept: dict[str, Any]
    ) -> None:
        """Two instances at work side by side each give their own project's verdict."""
        seen = self._observed(tmp_path, plugin_options, kept)
        verdicts = (seen.passing, seen.failing[0], seen.in_copy, seen.failing[1])
        assert [result.achieved for result in verdicts] == [True, False, True, False]

    def test_a_check_changes_no_file(
        self, tmp_path: Path, plugin_options: Mapping[str, Any], kept: dict[str, Any]
    ) -> None:
        """What the goal looks at it leaves as it is; reports go outside the project."""
        changed = self._observed(tmp_path, plugin_options, kept).changed
        assert not changed, f"a check changes {', '.join(changed)}"

    def test_processes_start_in_the_sandbox(
        self, tmp_path: Path, plugin_options: Mapping[str, Any], kept: dict[str, Any]
    ) -> None:
        """A check starts its runner through `context.sandbox` only."""
        acts = self._observed(tmp_path, plugin_options, kept).processes
        assert not acts, "; ".join(acts)

    def test_it_is_ready_where_it_holds(
        self, tmp_path: Path, plugin_options: Mapping[str, Any], kept: dict[str, Any]
    ) -> None:
        """`ready` says None where the check can be run."""
        assert self._observed(tmp_path, plugin_options, kept).ready is None

    def test_what_lies_outside_has_a_stable_fingerprint(
        self, tmp_path: Path, plugin_options: Mapping[str, Any], kept: dict[str, Any]
    ) -> None:
        """`external_state` is the same text as long as nothing changes."""
        first, second = self._observed(tmp_path, plugin_options, kept).fingerprints
        assert first == second

    def test_checking_changes_no_global_state(
        self, tmp_path: Path, plugin_options: Mapping[str, Any], kept: dict[str, Any]
    ) -> None:
        """No module or class variable, folder, environment, thread or process is left changed."""
        left = self._observed(tmp_path, plugin_options, kept).left
        self.require_unchanged(left)

    def test_a_broken_runner_is_an_answer(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """A runner that breaks down gives `achieved=False` and `complete=False`, no exception."""
        skip_where(self.write_broken(tmp_path))
        result = self._checked(tmp_path, plugin_options, self.write_broken)
        require_incomplete(result)

    def test_an_empty_folder_is_an_answer(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """Nothing at all where the project should be: an answer, no exception."""
        result = self._checked(tmp_path, plugin_options, lambda folder: None)
        require_clear_line(result.reason)

    def test_it_gives_up_by_itself(self, tmp_path: Path, plugin_options: Mapping[str, Any]) -> None:
        """A check that hangs ends at the goal's own time-out, and is no success."""
        skip_where(self.write_endless(tmp_path))
        before = Footprint(self.package)
        options = {**plugin_options, **self.endless_options}
        require_incomplete(self._checked(tmp_path / "hangs", options, self.write_endless))
        assert not before.left_running()

    def test_cancelling_a_check_leaves_no_process(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """When the user stops a run, nothing that the check started lives on."""
        skip_where(self.write_endless(tmp_path))

        async def use(bench: Bench, goal: Any) -> Sequence[str]:
            await bench.sandbox.run(["true"], timeout_s=20)  # its helper process stays
            before, uses = Footprint(self.package), bench.sandbox.uses
            await cancelled(
                goal.check({}, bench.project),
                until=lambda: bench.sandbox.uses > uses and before.new_processes(),
            )
            return await asyncio.to_thread(before.processes_left_running)

        left = self.drive(tmp_path / "hangs", plugin_options, use, write=self.write_endless)
        assert not left, "; ".join(left)

    def test_the_model_is_told_what_counts(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """The system prompt says something, the same each time."""

        async def use(bench: Bench, goal: Any) -> None:
            assert goal.system_prompt().strip()
            assert goal.system_prompt() == goal.system_prompt()

        self.drive(tmp_path, plugin_options, use)

    def test_its_globs_are_valid(self, tmp_path: Path, plugin_options: Mapping[str, Any]) -> None:
        """`protected` and `steering` give gitignore globs inside the project, for any project."""

        async def use(bench: Bench, goal: Any) -> None:
            empty = tmp_path / "empty"
            empty.mkdir(exist_ok=True)
            for ask in (goal.protected, goal.steering):
                for project in (bench.project, empty):
                    globs = ask(project)
                    require_globs(globs, ask.__name__, bench.project)
                    assert list(globs) == list(ask(project)), f"{ask.__name__} changes its mind"

        self.drive(tmp_path, plugin_options, use)

    def test_the_audit_takes_any_diff(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """Suspicions come of a diff; nothing of an empty one, and no exception of nonsense."""

        async def use(bench: Bench, goal: Any) -> None:
            assert list(goal.audit("")) == []
            for diff in (_DIFF, "no diff at all", "+++ \n@@ -x +y @@\n+\udcff\n"):
                goal.audit(diff)

        self.drive(tmp_path, plugin_options, use)

    def test_its_options_are_its_own(self) -> None:
        """No option has the name of a setting of retrai: a project's file could not set it."""
        taken = options_of_the_core(self.plugin)
        assert not taken, taken

    def test_it_is_found_by_its_markers(self, tmp_path: Path) -> None:
        """Where markers are declared, one is in the passing project, and `detect` agrees."""
        if not self.plugin.markers:
            assert self.plugin.detect(tmp_path) is None, "`detect` is never asked without markers"
            return
        self.write_passing(tmp_path)
        found = [marker for marker in self.plugin.markers if has_sign(tmp_path, marker)]
        assert found, "none of its markers is in the passing project"
        detection = self.plugin.detect(tmp_path)
        assert detection is not None, "`detect` does not take the passing project"
        wrong = problem(detection, Detection)
        assert not wrong, f"`detect` gives {wrong}"
        if detection.evidence:
            require_clear_line(detection.evidence)

    def _observed(self, base: Path, options: Mapping[str, Any], kept: dict[str, Any]) -> Observed:
        if "observed" not in kept:
            kept["observed"] = observe(
                base,
                self.prepared,
                lambda bench: self.build(bench, options),
                self.write_passing,
                self.write_failing,
                self.package,
            )
        return kept["observed"]

    def _checked(
        self, base: Path, options: Mapping[str, Any], write: Callable[[Path], object]
    ) -> GoalResult:
        async def use(bench: Bench, goal: Any) -> GoalResult:
            return await goal.check({}, bench.project)

        return self.drive(base, options, use, write=write)
