"""The guard of one run: baseline, refusals, restoring, verdicts, the final check."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..config.files import LOCK_FILE, PROJECT_FILE
from ..contracts.context import RunContext
from ..contracts.goal import GoalBase, GoalResult, RecordedCall
from ..contracts.sandbox import View
from ..workspace.repository_paths import folds_case
from ..workspace.tree_walk import OWN_FOLDER
from .baseline import (
    Baseline,
    Stamp,
    copy_protected,
    differing,
    load_calls,
    save_calls,
    stamp_of,
)
from .clean_copy import make_clean_copy
from .environment_files import ENVIRONMENT, OutsideFiles
from .globs import Globs, exactly
from .guarded_sandbox import CheckCommands, GuardedSandbox
from .holdout import Holdout
from .node_packages import NodePackages, package_folders
from .refusal import Refusal
from .repository_files import copy_surroundings, place_in_repository
from .restore import SET_ASIDE, restore_check, restore_files
from .verdict import judge

_OWN_FILES = (PROJECT_FILE, LOCK_FILE)
MAX_LINKED = 16
"""At most so many `node_modules` are mounted for a check: each mount takes time."""


class Guard:
    """Protects the check of one run from tampering.

    Args:
        context: the run, with a guarded sandbox; its goal says what is protected and what steers
            the runner.
        allow_edit: globs of protected files that the user wants changed.

    Attributes:
        refusals: everything refused or undone in this process, in order.
        baseline: what stood before the first turn; loaded again when a run is resumed.
        holdout: the held-out tests; without patterns where there are none.
        above: copies of the files above the project that affect its check.
        outside: the environment's files that decide the verdict.
        packages: what the run changed in `node_modules`.
    """

    def __init__(self, context: RunContext, allow_edit: list[str]) -> None:
        sandbox = context.sandbox
        assert isinstance(sandbox, GuardedSandbox), "the guard needs a guarded sandbox"
        self.context, self._sandbox = context, sandbox
        self.refusals: list[Refusal] = []
        self._folder = context.run_dir / "baseline"
        self.above = self._folder / "above"
        self._allow_edit = allow_edit
        # The next run takes options of the check, and the plugins that it may use, from them.
        own = [f"/{name}" for name in _OWN_FILES]
        self._protected = Globs([*context.goal.protected(context.project), *own])
        self._steering_globs = [*context.goal.steering(context.project), *own]
        self._steering = Globs(self._steering_globs)
        self.outside = OutsideFiles(self._folder / ENVIRONMENT)
        self.packages = NodePackages(context, self._folder / "lock_files", self.is_allowed)
        self.baseline = Baseline.load(self._folder) or Baseline()
        self._allowed = self._what_is_allowed()
        self.holdout = Holdout(context)
        self._may_link = True
        self._linked: frozenset[Path] = frozenset()
        """Folders of the project with packages that copies have links to."""
        self._forbid_changes()

    @property
    def has_baseline(self) -> bool:
        """Whether the baseline was taken, in this process or in the one that it resumes."""
        return (self._folder / "baseline.json").exists()

    async def take_baseline(self) -> GoalResult:
        """Copy the protected files, run the first check, and keep both."""
        project = self.context.project
        self.baseline = await asyncio.to_thread(self._copy_check)
        self.baseline.steering_globs = self._steering_globs
        self.baseline.allow_edit = self._allow_edit
        await asyncio.to_thread(self.packages.keep_lock_files)
        environment = await self.context.goal.environment(project)
        await asyncio.to_thread(self.outside.keep, environment)
        before = await asyncio.to_thread(self.stamps, project)
        result = await self.ask({}, project)
        after = await asyncio.to_thread(self.stamps, project)
        self.baseline.touched = [path for path in before if before[path] != after.get(path)]
        self.baseline.take_result(result)
        written = await asyncio.to_thread(self._differing)
        # The suite itself writes these; changing them is not the agent's doing.
        self.baseline.volatile = written
        await asyncio.to_thread(restore_files, project, self._folder, written)
        await asyncio.to_thread(self.baseline.save, self._folder)
        await asyncio.to_thread(save_calls, result.calls, self._folder)
        self._forbid_changes()
        return result

    def baseline_calls(self) -> list[RecordedCall]:
        """What the project's code answered the cases that failed at the start."""
        return load_calls(self._folder)

    async def take_over(self, given: Baseline) -> None:
        """Hold checks against a baseline from elsewhere, a receipt's; nothing is run.

        Only its answer counts: the protected files are those of the project as it stands.
        """
        here = await asyncio.to_thread(self._copy_check)
        kept = here.model_dump(include={"protected", "steering", "taken_at", "place"})
        self.baseline = given.model_copy(update=kept)

    def refuse_write(self, path: str) -> str | None:
        """Why `path` may not be written, or None; the workspace asks before every write."""
        path = self._known_spelling(path)
        if self.is_held_out(path):
            return self.refuse_read(path)
        if self._allowed.match(path):
            return None
        if path == OWN_FOLDER or path.startswith(f"{OWN_FOLDER}/"):
            return f"{path} is retrai's own and may not be changed"
        if path in self.baseline.protected:
            return f"{path} belongs to the check of this goal and may not be changed"
        if self._steering.match(path) and path not in self.baseline.steering:
            return f"{path} would change how this goal is checked; fix the sources instead"
        return None

    def refuse_read(self, path: str) -> str | None:
        """Why `path` may not be read or listed, or None; the workspace asks before every read."""
        return self.holdout.refuse(path)

    def _known_spelling(self, path: str) -> str:
        """The path as retrai or the baseline has it, where the file system takes both for one."""
        first, slash, rest = path.partition("/")
        if first.casefold() == OWN_FOLDER:
            known = f"{OWN_FOLDER}{slash}{rest}"
        else:
            ours = {name.casefold(): name for name in (*_OWN_FILES, *self.baseline.protected)}
            known = path if path in self.baseline.protected else ours.get(path.casefold(), path)
        return known if known != path and folds_case(self.context.project) else path

    def note_refusal(self, path: str, reason: str) -> None:
        """A write was refused; told to the model by the tool, counted here."""
        self.refusals.append(Refusal(path, reason))
        self.context.publish("log", level="warning", message=f"refused: {reason}")

    def allow(self, paths: Sequence[str]) -> None:
        """A person lets the run change these after all: they count as in `allow_edit` from now."""
        self.baseline.approved += [path for path in paths if path not in self.baseline.approved]
        self.baseline.save(self._folder)
        self._allowed = self._what_is_allowed()
        self._forbid_changes()
        message = f"a person lets the run change {', '.join(paths)}"
        self.context.publish("log", level="warning", message=message)

    def allowed_edits(self) -> list[str]:
        """Protected files that were changed with leave, and whose leave it was."""
        return [
            f"{path}: {'approved by a person' if path in self.baseline.approved else 'allow_edit'}"
            for path in self._differing()
            if self._allowed.match(path)
        ]

    async def restore(self) -> list[Refusal]:
        """Put protected files back and set new steering files aside; what was undone."""
        undone = await asyncio.to_thread(self._restore, self.context.project)
        kept = bool(undone)
        environment = await self.context.goal.environment(self.context.project)
        undone += await asyncio.to_thread(self.outside.restore, environment)
        for refusal in undone:
            line = str(refusal)
            self.context.publish("log", level="warning", message=f"undone: {line}", refused=[line])
        if kept:
            told = f"what stood there is kept in {self._folder / SET_ASIDE}"
            self.context.publish("log", level="info", message=told)
        self.refusals.extend(undone)
        return undone

    async def check(self, state: Mapping[str, Any]) -> GoalResult:
        """The goal's check on the project as it stands, held against the baseline."""
        result = await self.judged(state, self.context.project)
        await asyncio.to_thread(self._note_written)
        return result

    def belongs_to_check(self, path: str) -> bool:
        """Whether the goal protects files like this one, new ones too, or it is data of a case."""
        return self._protected.match(path) or path in self.baseline.protected

    def is_case_data(self, path: str) -> bool:
        """Whether it is protected only as data of a case, which a program that the agent starts may
        write: it is put back, and that is no attempt to change the check."""
        return path in self.baseline.protected and not self._protected.match(path)

    def steers(self, path: str) -> bool:
        """Whether a file like this one would steer the check, and may not be made."""
        return self._steering.match(path)

    def is_allowed(self, path: str) -> bool:
        """Whether the user lets the run change this file."""
        return self._allowed.match(path)

    def is_held_out(self, path: str) -> bool:
        """Whether this file is one of those that the agent never sees."""
        return self.holdout.is_hidden(path)

    async def judged(self, state: Mapping[str, Any], folder: Path) -> GoalResult:
        """The goal's answer on the project or a copy of it, held against the baseline."""
        return judge(self.baseline, await self.ask(state, folder))

    async def ask(
        self, state: Mapping[str, Any], folder: Path, goal: GoalBase | None = None
    ) -> GoalResult:
        """What the goal, or another instance of it, says of the project or a copy of it."""
        asked = goal or self.context.goal
        result = await self._answer(folder, lambda: asked.check(state, folder))
        assert result is not None  # its type was looked at where it answered
        return result

    async def ask_without(
        self, state: Mapping[str, Any], copy: Path, paths: Sequence[str]
    ) -> GoalResult | None:
        """The same without some files of the check; None where the goal cannot tell."""
        goal = self.context.goal
        return await self._answer(copy, lambda: goal.check_without(state, copy, paths))

    async def _answer(
        self,
        folder: Path,
        ask: Callable[[], Awaitable[GoalResult | None]],
        *,
        is_second: bool = False,
    ) -> GoalResult | None:
        """What the goal says; a check that was killed is run once more before it counts."""
        with self.checking(folder) as commands:
            found = await ask()
        if found is None:
            return None
        redact, found = self.context.redact, commands.mark(found)
        found = replace(found, reason=redact(found.reason), details=redact(found.details))
        if found.cut_off != "killed" or is_second:
            return found
        message = f"the check did not end by itself and is run once more: {found.reason}"
        self.context.publish("log", level="warning", message=message)
        return await self._answer(folder, ask, is_second=True)

    def checking(self, folder: Path) -> AbstractContextManager[CheckCommands]:
        """While a check of the tree in `folder` runs: it may write everything, and where that tree
        is a copy, it stands in the project's place too, for what imports the project from there."""
        project, hidden = self.context.project, self.holdout.shown
        view = View(shown=hidden, scratch="check")
        if folder != project:
            # Above the copy lies what lies above the project in its repository.
            depth = len(place_in_repository(project).parts) or 1
            room = folder.parents[depth - 1]
            # The copy brings its own.
            above = {p: s for p, s in hidden.items() if not p.is_relative_to(project)}
            view = View(self._linked, shown={project: folder, room: room, **above})
        return self._sandbox.check(view)

    def _what_is_allowed(self) -> Globs:
        return Globs([*self._allow_edit, *map(exactly, self.baseline.approved)])

    def _forbid_changes(self) -> None:
        """The agent's commands meet a wall where its write tools meet a refusal."""
        volatile = set(self.baseline.volatile)
        paths = frozenset(
            self.context.project / path
            for path in self.baseline.protected
            if not self.is_case_data(path)
            and path not in volatile
            and not self._allowed.match(path)
            and not self.is_held_out(path)
        )
        self._sandbox.agent_view = View(read_only=paths, shown=self.holdout.shown, scratch="agent")

    async def hold_out(self, patterns: Sequence[str]) -> None:
        """Hide tests from the agent's tools and commands, and from every check but the last.

        Raises:
            UsageError: they cannot be hidden here, and why.
        """
        holdout = Holdout(self.context, patterns)
        await holdout.find()
        self.holdout = holdout
        self._forbid_changes()
        await holdout.require_hidden()

    def make_copy(self, room: Path) -> Path:
        """A clean copy of the project below `room`, a resolved path, without what steers or is held
        out.

        Protected files are as they were.
        """
        project = self.context.project
        if self.above.is_dir():
            shutil.copytree(self.above, room, dirs_exist_ok=True)
        # The project's own name is kept: a suite may look at it.
        copy = room / (self.baseline.place or project.name)
        make_clean_copy(project, copy, link_packages=bool(self._linked))
        # What the check in place has written or added there is none of the copy's.
        self._restore(copy)
        self.holdout.remove_from(copy)
        return copy

    def link_packages(self) -> bool:
        """Give copies links to the packages in `node_modules` from now on, where no command can
        write through them and the run has changed none; whether it did."""
        self._linked = frozenset()
        if self._may_link and self.context.sandbox.arranges_view and not self.changed_packages():
            project = self.context.project
            folders = frozenset(project / path for path in package_folders(project))
            self._linked = folders if len(folders) <= MAX_LINKED else frozenset()
        return bool(self._linked)

    def copy_packages(self) -> None:
        """Give copies packages of their own for the rest of the run."""
        self._may_link, self._linked = False, frozenset()

    def changed_packages(self) -> list[str]:
        """What the run changed in `node_modules`; nothing while copies have links to it."""
        return [] if self._linked else self.packages.changed(self.baseline.taken_at)

    def _copy_check(self) -> Baseline:
        """Copy what belongs to the check as it stands, in the project and above it."""
        self._folder.mkdir(parents=True, exist_ok=True)
        project, taken_at = self.context.project, time.time()
        baseline = copy_protected(project, self._protected, self._steering, self._folder)
        place = place_in_repository(project)
        baseline.taken_at, baseline.place = taken_at, place.as_posix()

        def wanted(name: str) -> bool:
            return self.belongs_to_check(name) or self.steers(name)

        copy_surroundings(project, place, wanted, self.above)
        return baseline

    def _note_written(self) -> None:
        """Data that the suite itself writes is nobody's tampering, also when it begins late."""
        known = set(self.baseline.volatile)
        written = [p for p in self._differing() if p not in known and not self._decides(p)]
        if written:
            self.baseline.volatile += written
            self.baseline.written_late += written
            self.baseline.save(self._folder)
            self._forbid_changes()

    def _decides(self, path: str) -> bool:
        """Whether the file holds cases or steers the runner, and so decides the verdict."""
        return self._steering.match(path) or any(
            case == path or case.startswith(f"{path}:") for case in self.baseline.cases
        )

    def must_not_change(self, path: str) -> bool:
        """Whether a file of a copy decides the verdict, and has to be as it was."""
        exempt = self._allowed.match(path) or self.is_held_out(path)
        return not exempt and self._decides(path)

    def stamps(self, folder: Path) -> dict[str, Stamp]:
        """Where each protected file of the project or a copy of it lies, and when it was changed
        last; without those that the check itself writes."""
        paths = [path for path in self.baseline.protected if path not in self.baseline.volatile]
        return {path: stamp for path in paths if (stamp := stamp_of(folder / path))}

    def _differing(self) -> list[str]:
        return differing(self.context.project, self.baseline)

    def _restore(self, project: Path) -> list[Refusal]:
        """Put protected files back in the project or a copy of it, and set steering ones aside."""
        return restore_check(
            project,
            self._folder,
            self.baseline,
            self._steering,
            self._allowed.match,
            keeps=project == self.context.project,  # a copy is thrown away
        )
