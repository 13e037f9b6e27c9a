"""Held-out tests: the agent never sees them, and `achieved` needs all of them to pass.

They lie outside the project while the run works and come back at its end. For the last check they
are put into the clean copy. What they are called and how they fail is told to nobody; only counts
come back, at the end of the run.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..contracts.context import RunContext, drop_event
from ..contracts.goal import CaseOutcome, GoalResult
from ..errors import UsageError
from ..workspace.safe_paths import SafeWorkspace
from .baseline import Baseline
from .files import copy_file, project_files, remove
from .held_files import HeldFiles, PutBack
from .held_paths import caches_about, files_of, find_held, is_outside, outside
from .masked_git import knows, make_substitute, repository_of
from .verdict import judge

_PROBE_TIMEOUT_S = 20.0
_NAME = "held out"
NOT_ALL = "the visible cases pass, and held-out ones that nobody shows you do not all pass yet"
"""What the model is told: neither how many nor which, and no output."""

AskWith = Callable[[Callable[[Path], None]], Awaitable[GoalResult]]
"""The goal's answer on a clean copy of the project that something is done to first."""


@dataclass(frozen=True, slots=True)
class HeldOut:
    """How the held-out cases ended.

    Attributes:
        total: how many there are.
        failed: how many of them did not pass.
        achieved: all passed, and the whole check with them.
    """

    total: int
    failed: int
    achieved: bool

    def __str__(self) -> str:
        if self.failed:
            return f"{self.failed} of {self.total} held-out cases fail"
        if self.achieved:
            return f"all {self.total} held-out cases pass"
        return f"all {self.total} held-out cases pass, but the check with them does not"


class Holdout:
    """The held-out tests of one run.

    Args:
        context: the run.
        patterns: globs of files in the project, and paths outside it. A folder outside is laid over
            the project: its `tests/test_x.py` becomes the project's.
        state: retrai's state folder.

    Attributes:
        masks: what commands must be shown in the place of what: a `.git` without these files.
        last: how the cases ended in the latest check; None before the first.
    """

    def __init__(self, context: RunContext, patterns: Sequence[str], state: Path) -> None:
        self._context = context
        self._project = context.project
        self._folder = context.run_dir / "holdout"
        self._patterns = patterns
        self._held = HeldFiles(self._project, self._folder, state, context.run_id)
        self._outside = [outside(pattern) for pattern in patterns if is_outside(pattern)]
        self._baseline = Baseline.load(self._folder.with_name("holdout-baseline"))
        self.masks: dict[Path, Path] = {}
        self.last: HeldOut | None = None

    async def hide(self) -> None:
        """Take the files out of the project and its history; undone by `show`.

        Raises:
            UsageError: a pattern means no file, or they cannot be hidden here, and why.
            RetraiError: a file could not be copied; nothing was changed.
        """
        paths = await asyncio.to_thread(find_held, self._project, self._patterns)
        await asyncio.to_thread(self._mask_repository, paths)
        for real in list(self.masks):
            # A monorepo's, above the project: what is hidden anyway is better left hidden.
            if real.parent != self._project and not await self._is_seen(real):
                del self.masks[real]
        caches = await asyncio.to_thread(lambda: list(caches_about(self._project, paths)))
        self._hide_names(paths)
        await asyncio.to_thread(self._held.move_out, paths, caches)
        await self._require_walls()
        if isinstance(self._context.workspace, SafeWorkspace) and self.masks:
            self._context.workspace.refuse_read = _refuse_git

    def show(self) -> PutBack | None:
        """Bring the files back; None when there are none in the project."""
        if isinstance(self._context.workspace, SafeWorkspace):
            self._context.workspace.refuse_read = None
        return self._held.put_back()

    async def take_baseline(self, visible: GoalResult, ask_with: AskWith) -> None:
        """Find out which cases the held-out files hold, before the first turn.

        Args:
            visible: the check's answer without them.
            ask_with: asks the goal about a clean copy.

        Raises:
            UsageError: the goal's check runs none of them.
        """
        if self._baseline is not None:
            return
        result = await self._ask(ask_with)
        baseline = Baseline()
        baseline.take_result(result)
        if not _held_cases(result, visible) and (visible.report is None or visible.report.cases):
            raise UsageError(
                "holdout: the goal's check finds no case in the held-out files",
                hint="the goal's own options may leave them out (`targets:`, `testpaths`)",
            )
        folder = self._folder.with_name("holdout-baseline")
        folder.mkdir(exist_ok=True)
        baseline.save(folder)
        self._baseline = baseline

    async def check(self, visible: GoalResult, ask_with: AskWith) -> HeldOut:
        """Run them on a clean copy of the project as it stands.

        Args:
            visible: the check's answer on such a copy without them.
            ask_with: asks the goal about a clean copy.
        """
        result = await self._ask(ask_with)
        judged = judge(self._baseline or Baseline(), result)
        cases = _held_cases(result, visible)
        known = self._baseline.cases if self._baseline is not None else {}
        there = set(visible.report.cases) if visible.report else set[str]()
        missing = [case for case in known if case not in cases and case not in there]
        # A file that could not be read was one case; mended, its cases begin with its name.
        missing = [case for case in missing if not any(name.startswith(case) for name in cases)]
        failed = len(missing) + sum(not _counts(case, cases, known) for case in cases)
        total = max(len(cases) + len(missing), 1)
        if not judged.achieved and not cases:
            failed = total
        self.last = HeldOut(total, failed, achieved=judged.achieved and not failed)
        return self.last

    def clean(self, copy: Path) -> None:
        """Take the real history out of a copy of the project; commands are shown the other."""
        for real, substitute in self.masks.items():
            if real.parent == self._project and (copy / ".git").is_dir():
                remove(copy / ".git")
                shutil.copytree(substitute, copy / ".git")

    async def _ask(self, ask_with: AskWith) -> GoalResult:
        """The check's whole answer, of which the goal tells nobody anything."""
        goal = self._context.goal
        goal.context = replace(self._context, on_event=drop_event)
        try:
            return await ask_with(self._put_in)
        finally:
            goal.context = self._context

    def _put_in(self, copy: Path) -> None:
        for source in (self._held.files, *self._outside):
            for path in files_of(source):
                target = copy / path.relative_to(source if source.is_dir() else source.parent)
                if target.is_symlink() or target.exists():
                    remove(target)
                copy_file(path, target)

    def _mask_repository(self, paths: Sequence[str]) -> None:
        repository = repository_of(self._project) if paths else None
        if repository is None:
            return
        place = self._project.relative_to(repository)
        held = [(place / path).as_posix() for path in paths]
        if not self._context.sandbox.arranges_view:
            if knows(repository, held):
                raise UsageError(
                    "holdout: the files lie in the git repository, and the sandbox "
                    f"{self._context.sandbox.name} cannot hide its history (`git show`)",
                    hint="`pip install retrai-sandbox-bwrap` brings one that can; or give the "
                    "held-out files as a path outside the project",
                )
            return
        substitute = self._folder.with_name("holdout-git")
        make_substitute(repository, held, substitute)
        self.masks = {repository / ".git": substitute}

    def _hide_names(self, paths: Sequence[str]) -> None:
        """What is held out is not even named: in no listing, no diff, no configuration file."""
        seen = {Path(path).name for path in project_files(self._project) if path not in set(paths)}
        outside = [path for source in self._outside for path in files_of(source)]
        names = [*paths, *self._patterns, *(str(path) for path in outside)]
        for path in (*map(Path, paths), *outside):
            names += [path.name, path.stem] if path.name not in seen else []
        self._context.redactor.hide((name for name in names if len(name) > 4), _NAME)

    async def _require_walls(self) -> None:
        """Where the sandbox has walls, they must hide the run's folder; found out by trying."""
        first = next(iter(files_of(self._held.files)), None)
        sandbox = self._context.sandbox
        if first is not None and sandbox.arranges_view and await self._is_seen(first):
            raise UsageError(
                f"holdout: commands in the sandbox {sandbox.name} can read the run's folder, "
                f"{self._folder}",
                hint="RETRAI_STATE_DIR names another place; one below your home is hidden",
            )

    async def _is_seen(self, path: Path) -> bool:
        """Whether commands see it."""
        script = '[ -e "$1" ]'
        done = await self._context.sandbox.run(
            ["/bin/sh", "-c", script, "sh", str(path)], timeout_s=_PROBE_TIMEOUT_S
        )
        return done.exit_code == 0


def _held_cases(result: GoalResult, visible: GoalResult) -> Mapping[str, CaseOutcome]:
    if result.report is None:
        return {}
    there = set(visible.report.cases) if visible.report is not None else set[str]()
    return {case: outcome for case, outcome in result.report.cases.items() if case not in there}


def _counts(case: str, cases: Mapping[str, CaseOutcome], before: Mapping[str, CaseOutcome]) -> bool:
    """It passed, or was left out from the start."""
    dodged = ("skipped", "xfailed")
    return cases[case] == "passed" or (cases[case] in dodged and before.get(case) in dodged)


def _refuse_git(path: str) -> str | None:
    if ".git" in path.split("/"):
        return "the repository's own files are not read in this run; use git_diff"
    return None
