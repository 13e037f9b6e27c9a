"""The final verification: repeats the check on a clean copy, and rates the verdict."""

from __future__ import annotations

import ast
import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from ..contracts.context import RunContext
from ..contracts.goal import CheckReport, GoalResult
from ..errors import ToolError
from ..workspace.temporary import temporary_prefix
from .baseline import Baseline, differing, stamp_of
from .clean_copy import make_clean_copy
from .clean_up import clear_set_id_in_copy
from .environment_files import OutsideFiles
from .files import project_files
from .node_packages import NodePackages, take_out
from .verdict import judge, suspicion


@dataclass(frozen=True, slots=True)
class FinalCheck:
    """The inputs of a final verification.

    Attributes:
        context: the run.
        baseline: what stood before the first turn.
        folder: where the baseline is kept.
        ask: the goal's check in a folder.
        ask_without: the same, without some of its files; None where the goal cannot tell.
        checking: around commands that belong to a check of the tree in a folder.
        belongs: whether a path is of a kind that the goal protects.
        allowed: whether the user lets the run change a path.
        clean: restores protected files in a folder, and sets new steering ones there aside.
        decides: whether a protected file holds cases or steers the runner.
        outside: what runs the check.
        packages: what the run changed in `node_modules`.
    """

    context: RunContext
    baseline: Baseline
    folder: Path
    outside: OutsideFiles
    packages: NodePackages
    ask: Callable[[Path], Awaitable[GoalResult]]
    ask_without: Callable[[Path, Sequence[str]], Awaitable[GoalResult | None]]
    checking: Callable[[Path], AbstractContextManager[object]]
    belongs: Callable[[str], bool]
    allowed: Callable[[str], bool]
    clean: Callable[[Path], object]
    decides: Callable[[str], bool]

    async def run(self, *, contradict: bool = True) -> tuple[GoalResult, str]:
        """Check a clean copy with the protected files of the baseline.

        Args:
            contradict: contradict the tests too; once is enough for one tree.

        Returns:
            the verdict, and why it is suspect although it holds; empty when it is not.
        """
        with self._room() as folder:
            copy = await asyncio.to_thread(self._copy, folder)
            stamps = await asyncio.to_thread(self._stamps, copy)
            result, suspect = await self._without_changed_packages(copy)
            if suspect or not result.achieved or result.report is None:
                return result, suspect
            if elsewhere := self._imported_from_project(result.report):
                return replace(result, achieved=False, reason=elsewhere, details=elsewhere), ""
            if rewritten := await asyncio.to_thread(self._rewritten, copy, stamps):
                return result, f"{rewritten} was changed while the check ran"
            if leaning := await self._leans_on_new(copy):
                return leaning, ""
            return result, await self._contradicted(copy, result.report) if contradict else ""

    async def _without_changed_packages(self, copy: Path) -> tuple[GoalResult, str]:
        """The verdict on a copy that has nothing of what the run changed in `node_modules`.

        Where it does not hold so, the packages are installed anew, and at last with their install
        scripts; where they cannot be, it may hold with what the run changed, and is suspect.
        """
        changed = await asyncio.to_thread(self.packages.changed, self.baseline.taken_at)
        await asyncio.to_thread(take_out, copy, changed)
        result = judge(self.baseline, await self.ask(copy))
        have_scripts = bool(changed) and await asyncio.to_thread(self.packages.have_scripts)
        for with_scripts in (False, True) if have_scripts else (False,):
            if result.achieved or result.cut_off or not changed:
                break
            problem = await self._install(copy, changed, with_scripts=with_scripts)
            result = judge(self.baseline, await self.ask(copy))
            if problem:
                return result, problem if result.achieved else ""
        if changed and not result.achieved:
            note = f"what the run changed in node_modules does not count: {changed[0]}"
            result = replace(result, reason=f"{result.reason} ({note})")
        return result, ""

    async def _install(self, copy: Path, changed: Sequence[str], *, with_scripts: bool) -> str:
        """Install the packages anew; else they are as the run left them, and why is told."""
        room = Path(await asyncio.to_thread(tempfile.mkdtemp, dir=copy.parent))
        try:
            with self.checking(copy):
                await self.packages.install(copy, changed, room, with_scripts=with_scripts)
        except ToolError as error:
            problem = error.message
        else:
            return ""
        await asyncio.to_thread(self.packages.restore_as_changed, copy)
        return (
            f"it passes only with what the run changed in node_modules ({changed[0]}), and the "
            f"packages could not be installed anew: {problem}; `allow_edit: [node_modules/]` "
            "takes them as they are"
        )

    async def _leans_on_new(self, copy: Path) -> GoalResult | None:
        """A refusal where the cases of the start hold only by what was added to the check.

        Files in a folder of the check are gone meanwhile, whatever they are; others may be sources
        all the same, and the goal leaves them out.
        """
        new = await asyncio.to_thread(self._new_files_of_check, copy) if self.baseline.cases else ()
        beside = [path for path in new if self._is_beside_check(copy, path)]
        others = [path for path in new if path not in beside]
        with _moved_away(copy, beside):
            alone = await self.ask_without(copy, others) if others else None
            if alone is None and beside:
                alone = await self.ask(copy)
        if alone is None:
            return None
        judged = judge(self.baseline, alone)
        # The cases decide: what a runner wants of a suite as a whole, coverage say, the new tests
        # may have been written for.
        whole = replace(alone, achieved=alone.report is not None)
        if judged.achieved or judge(self.baseline, whole).achieved:
            return None
        reason = f"it does not pass without the new {', '.join(new[:3])}: {judged.reason}"
        return replace(judged, reason=reason)

    def _new_files_of_check(self, copy: Path) -> list[str]:
        known = self.baseline.protected
        return [path for path in project_files(copy) if path not in known and self.belongs(path)]

    def _is_beside_check(self, copy: Path, path: str) -> bool:
        """Whether all files in the folder of a new one are the check's, and it says something: an
        empty `__init__.py` only tells two modules of one name apart."""
        folder = Path(path).parent
        beside = not self.allowed(path) and self.belongs(str(folder / "any"))
        return beside and not _says_nothing(copy / path)

    @asynccontextmanager
    async def copy_with(self, change: Callable[[Path], None]) -> AsyncGenerator[Path]:
        """A clean copy that `change` was made to, with its packages installed anew."""
        with self._room() as folder:
            copy = await asyncio.to_thread(self._copy, folder)
            changed = await asyncio.to_thread(self.packages.changed, self.baseline.taken_at)
            if changed:
                have_scripts = await asyncio.to_thread(self.packages.have_scripts)
                if await self._install(copy, changed, with_scripts=have_scripts):
                    await asyncio.to_thread(take_out, copy, changed)
            await asyncio.to_thread(change, copy)
            yield copy

    def _room(self) -> tempfile.TemporaryDirectory[str]:
        # What the check leaves there and we may not remove must not cost the verdict.
        return tempfile.TemporaryDirectory(
            prefix=temporary_prefix("retrai-final"), ignore_cleanup_errors=True
        )

    async def _contradicted(self, copy: Path, report: CheckReport) -> str:
        passed = [case for case, outcome in report.cases.items() if outcome == "passed"]
        fixed = [case for case in passed if self.baseline.cases.get(case) != "passed"]
        held = set(passed) - set(fixed)
        with self.checking(copy):
            found = await self.context.goal.contradict(copy, [*fixed, *sorted(held)])
        return suspicion(found, set(fixed))

    def _copy(self, room: str) -> Path:
        folder = Path(room).resolve()
        above = self.folder / "above"
        if above.is_dir():
            shutil.copytree(above, folder, dirs_exist_ok=True)
        # The project's own name is kept: a suite may look at it.
        copy = folder / (self.baseline.place or self.context.project.name)
        make_clean_copy(self.context.project, copy)
        clear_set_id_in_copy(self.context.run_dir, copy)
        # What the check in place has written or added there is none of the copy's.
        self.clean(copy)
        return copy

    def _imported_from_project(self, report: CheckReport) -> str:
        """Why the copy proves nothing, when code of the original was loaded; empty when it does.

        Where the sandbox shows the copy in the project's place, a path there is the copy's.
        """
        if self.context.sandbox.arranges_view:
            return ""
        project = os.path.realpath(self.context.project) + os.sep
        originals = [path for path in report.imported_from if path.startswith(project)]
        if not originals:
            return ""
        return (
            "the clean copy was not what was tested: "
            f"{originals[0].removeprefix(project)} was still imported from the project itself. "
            "The project's installation may be the cause: `pip install -e . "
            "--config-settings editable_mode=compat` makes one that can be checked"
        )

    def _stamps(self, copy: Path) -> dict[str, tuple[int, int]]:
        """Where each protected file of the copy lies, and when it was changed last."""
        paths = [path for path in self.baseline.protected if path not in self.baseline.volatile]
        return {path: stamp for path in paths if (stamp := stamp_of(copy / path))}

    def _rewritten(self, copy: Path, stamps: Mapping[str, tuple[int, int]]) -> str:
        """The first file with cases, or of what runs them, that the check itself has changed.

        Others that it has written are noted, also those that are again as they were.
        """
        other = set(differing(copy, self.baseline)) - set(self.baseline.volatile)
        for path in sorted(other):
            if self.decides(path):
                return path
        known = {*self.baseline.touched, *self.baseline.written_late}
        for path, stamp in stamps.items():
            if stamp != stamp_of(copy / path) and path not in known and not self.allowed(path):
                self.baseline.written_late.append(path)
        return ", ".join(self.outside.changed()[:3])


def _says_nothing(path: Path) -> bool:
    """Whether a file is empty, or a Python file with no more than comments and a docstring."""
    if path.is_symlink() or not path.is_file():
        return False
    if path.suffix != ".py":
        return path.stat().st_size == 0
    try:
        body = ast.parse(path.read_bytes()).body
    except (SyntaxError, ValueError, RecursionError):
        return False
    return all(isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) for one in body)


@contextmanager
def _moved_away(copy: Path, paths: Sequence[str]) -> Generator[None]:
    """While these files of a copy are elsewhere."""
    with tempfile.TemporaryDirectory(dir=copy.parent) as room:
        kept = {copy / path: Path(room) / str(number) for number, path in enumerate(paths)}
        for path, place in kept.items():
            path.rename(place)
        try:
            yield
        finally:
            for path, place in kept.items():
                path.parent.mkdir(parents=True, exist_ok=True)
                place.rename(path)
