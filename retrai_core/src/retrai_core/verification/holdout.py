"""Held-out tests: the agent never sees them, and `achieved` needs all of them to pass.

They stay in place. The sandbox shows an empty folder instead of theirs, and the tools that read
files refuse it. The clean copy of the last check contains them. Their names and failures are never
reported, only counts at the end of the run.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..contracts.context import RunContext
from ..contracts.goal import CaseOutcome, GoalResult
from ..errors import UsageError
from .baseline import Baseline
from .files import clear_place, copy_file, remove, walk_project
from .guarded_sandbox import can_reach
from .held_out_paths import files_of, find_held, folders_to_hide, is_outside, outside
from .masked_git import make_substitute, repository_of
from .verdict import DODGED, judge

_NAME = "held out"
NOT_ALL = "the visible cases pass, and held-out ones that nobody shows you do not all pass yet"
"""What the model is told: neither how many nor which, and no output."""


@dataclass(frozen=True, slots=True)
class HeldOut:
    """The results of the held-out cases.

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

    Attributes:
        patterns: as given.
        shown: what commands see in the place of what: an empty folder for one with held-out files,
            a `.git` without them.
        baseline: the check with them before the first turn; None until it was taken.
        last: how the cases ended in the latest check; None before the first.
    """

    def __init__(self, context: RunContext, patterns: Sequence[str] = ()) -> None:
        self._context = context
        self._project = context.project
        self._folder = context.run_dir / "holdout"
        self.patterns = patterns
        self._paths: list[str] = []
        self._hidden: list[str] = []
        self._outside = [outside(pattern) for pattern in patterns if is_outside(pattern)]
        self.baseline = Baseline.load(self._folder / "baseline")
        self.shown: dict[Path, Path] = {}
        self.last: HeldOut | None = None

    async def find(self) -> None:
        """Find the files, and what to show in their place.

        Raises:
            UsageError: a pattern means no file, or they cannot be hidden here, and why.
        """
        self._paths = await asyncio.to_thread(find_held, self._project, self.patterns)
        sandbox = self._context.sandbox
        if self._paths and not sandbox.arranges_view:
            raise UsageError(
                f"holdout: {self._paths[0]} lies in the project, and the sandbox {sandbox.name} "
                "cannot hide it from commands",
                hint="`pip install retrai-sandbox-bwrap` brings one that can; or move the held-out "
                "files outside the project: `holdout: [~/held-out]` lays that folder over it",
            )
        self._hidden = await asyncio.to_thread(folders_to_hide, self._project, self._paths)
        await asyncio.to_thread(self._make_substitutes)
        for real in list(self.shown):
            # A monorepo's, above the project: what is hidden anyway is better left hidden.
            is_above = not real.is_relative_to(self._project)
            if is_above and not await can_reach(sandbox, real, "-e"):
                del self.shown[real]
        self._hide_names()

    def is_hidden(self, path: str) -> bool:
        """Whether a path of the project is held out, or tells about what is."""
        return any(path == one or path.startswith(f"{one}/") for one in self._hidden)

    def refuse(self, path: str) -> str | None:
        """Why tools may not read or write this path; None where they may."""
        if self.is_hidden(path):
            return f"{path} is not part of this run"
        if self._paths and ".git" in path.split("/"):
            return "the repository's own files are not read in this run; use git_diff"
        return None

    async def require_hidden(self) -> None:
        """Make sure that commands see neither the files nor what the run's folder holds of them.

        Raises:
            UsageError: they do.
        """
        if not self._paths:
            return
        kept = self._folder / "hidden"
        kept.touch()
        for path in (self._project / self._paths[0], kept):
            if await can_reach(self._context.sandbox, path, "-e"):
                raise UsageError(
                    f"holdout: commands in the sandbox {self._context.sandbox.name} can see {path}",
                    hint="RETRAI_STATE_DIR names another place for the run's folder, and one below "
                    "your home is hidden; or name held-out files outside the project",
                )

    def take_baseline(self, visible: GoalResult, result: GoalResult) -> None:
        """Find out which cases the held-out files hold, before the first turn.

        Args:
            visible: the check's answer without them.
            result: its answer on a clean copy with them.

        Raises:
            UsageError: the goal's check runs none of them.
        """
        baseline = Baseline()
        baseline.take_result(result)
        if not _held_cases(result, visible) and (visible.report is None or visible.report.cases):
            raise UsageError(
                "holdout: the goal's check finds no case in the held-out files",
                hint="the goal's own options may leave them out (`targets:`, `testpaths`)",
            )
        folder = self._folder / "baseline"
        folder.mkdir(parents=True, exist_ok=True)
        baseline.save(folder)
        self.baseline = baseline

    def count(self, visible: GoalResult, result: GoalResult) -> HeldOut:
        """How the held-out cases ended; `last` from now on.

        Args:
            visible: the check's answer on a clean copy without them.
            result: its answer on a copy with them.
        """
        baseline = self.baseline or Baseline()
        judged, known = judge(baseline, result), baseline.cases
        cases = _held_cases(result, visible)
        missing = [case for case in known if case not in cases and case not in visible.cases]
        # A file that could not be read was one case; fixed, its cases begin with its name.
        missing = [case for case in missing if not any(name.startswith(case) for name in cases)]
        failed = len(missing) + sum(not _counts(case, cases, known) for case in cases)
        total = max(len(cases) + len(missing), 1)
        if not judged.achieved and not cases:
            failed = total
        self.last = HeldOut(total, failed, achieved=judged.achieved and not failed)
        return self.last

    def remove_from(self, copy: Path) -> None:
        """Take the files and the real history out of a copy of the project."""
        for folder in self._hidden:
            _clear(copy, folder)
        substitute = self.shown.get(self._project / ".git")
        if substitute is not None and (copy / ".git").is_dir():
            remove(copy / ".git")
            shutil.copytree(substitute, copy / ".git")

    def put_in(self, copy: Path) -> None:
        """Put the files into a copy of the project that lacks them."""
        for path in self._paths:
            copy_file(self._project / path, _clear(copy, path))
        for source in self._outside:
            for path in files_of(source):
                place = path.relative_to(source if source.is_dir() else source.parent)
                copy_file(path, _clear(copy, place))

    def _make_substitutes(self) -> None:
        if not self._paths:
            return
        shutil.rmtree(self._folder / "shown", ignore_errors=True)
        for number, name in enumerate(self._hidden):
            folder, empty = self._project / name, self._folder / "shown" / str(number)
            empty.mkdir(parents=True)
            # Shown in their own place, so that no command moves them away with what is below.
            self.shown |= {one: one for one in folder.parents if self._project in one.parents}
            self.shown[folder] = empty
        repository = repository_of(self._project)
        if repository is not None:
            place = self._project.relative_to(repository)
            held = [(place / path).as_posix() for path in self._paths]
            substitute = self._folder / "shown" / "git"
            make_substitute(repository, held, substitute)
            self.shown[repository / ".git"] = substitute

    def _hide_names(self) -> None:
        """Keep the names too from whoever reads a listing, a diff or a configuration file."""
        visible = [path for path in walk_project(self._project) if not self.is_hidden(path)]
        seen = {part for path in visible for part in Path(path).parts}
        held = [*map(Path, self._paths)]
        held += {folder for path in held for folder in path.parents if folder.name not in seen}
        held += [path for source in self._outside for path in files_of(source)]
        names = [*self.patterns, *map(str, held)]
        for path in held:
            names += [path.name, path.stem] if path.name not in seen else []
        self._context.redactor.hide((name for name in names if len(name) > 4), _NAME)


def _clear(copy: Path, path: str | Path) -> Path:
    """Remove what a copy has at `path`; the place. No symlink of the run leads out of the copy."""
    target = copy / path
    if Path(os.path.realpath(target.parent)).is_relative_to(os.path.realpath(copy)):
        remove(target)
    else:
        clear_place(copy, target)
    return target


def _held_cases(result: GoalResult, visible: GoalResult) -> Mapping[str, CaseOutcome]:
    return {case: how for case, how in result.cases.items() if case not in visible.cases}


def _counts(case: str, cases: Mapping[str, CaseOutcome], before: Mapping[str, CaseOutcome]) -> bool:
    """It passed, or was left out from the start."""
    return cases[case] == "passed" or (cases[case] in DODGED and before.get(case) in DODGED)
