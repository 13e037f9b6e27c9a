"""The final verification: repeats the check on a clean copy, and rates the verdict."""

from __future__ import annotations

import ast
import asyncio
import os
import tempfile
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..contracts.context import drop_event
from ..contracts.goal import CheckReport, GoalResult
from ..errors import ToolError
from ..workspace.temporary import fresh_folder
from .baseline import Stamp, differing, stamp_of
from .clean_copy import without_files
from .files import walk_project
from .guard import Guard
from .node_packages import take_out
from .verdict import judge, suspicion

State = Mapping[str, Any]
"""The loop's state, as the goal gets it."""


async def final_check(
    guard: Guard, state: State, *, contradict: bool = True
) -> tuple[GoalResult, str]:
    """Check a clean copy with the protected files of the baseline.

    Args:
        guard: of the run.
        state: the loop's state.
        contradict: contradict the tests too; once is enough for one tree.

    Returns:
        the verdict, and why it is suspect although it holds; empty when it is not.
    """
    if await asyncio.to_thread(guard.link_packages):
        result, suspect = await _check_copy(guard, state, contradict=contradict)
        if result.cut_off or (result.achieved and not suspect):
            return result, suspect
        # A package may look for the project around it, or want to write into its own folder.
        guard.copy_packages()
        message = "checks once more, with copies of the packages in node_modules"
        guard.context.publish("log", level="info", message=message)
    return await _check_copy(guard, state, contradict=contradict)


async def _check_copy(guard: Guard, state: State, *, contradict: bool) -> tuple[GoalResult, str]:
    async with changed_copy(guard) as copy:
        stamps = await asyncio.to_thread(guard.stamps, copy)
        result, suspect = await _without_changed_packages(guard, state, copy)
        if suspect or not result.achieved or result.report is None:
            return result, suspect
        if elsewhere := _imported_from_project(guard, result.report):
            return replace(result, achieved=False, reason=elsewhere, details=elsewhere), ""
        if rewritten := await asyncio.to_thread(_rewritten, guard, copy, stamps):
            return result, f"{rewritten} was changed while the check ran"
        if leaning := await _leans_on_new(guard, copy):
            return leaning, ""
        return result, await _contradicted(guard, copy, result.report) if contradict else ""


async def check_with(guard: Guard, change: Callable[[Path], None]) -> GoalResult:
    """What the goal says of a clean copy after `change` was made to it.

    Nothing is judged, and the goal publishes nothing. It gets an empty state, so that it
    records nothing for what it is not judged by.
    """
    known = guard.context.goal
    silent = type(known)(known.options, replace(guard.context, on_event=drop_event))
    async with aclosing(silent) as goal, changed_copy(guard, change) as copy:
        return await guard.ask({}, copy, goal)


@asynccontextmanager
async def changed_copy(
    guard: Guard, change: Callable[[Path], None] = lambda _: None
) -> AsyncGenerator[Path]:
    """A clean copy that `change` was made to; gone afterwards."""
    async with fresh_folder("retrai-final") as room:
        copy = await asyncio.to_thread(guard.make_copy, room)
        await asyncio.to_thread(change, copy)
        yield copy


async def _without_changed_packages(
    guard: Guard, state: State, copy: Path
) -> tuple[GoalResult, str]:
    """The verdict on a copy that has nothing of what the run changed in `node_modules`.

    Where it does not hold so, the packages are installed anew, and at last with their install
    scripts; where they cannot be, it may hold with what the run changed, and is suspect.
    """
    changed = await asyncio.to_thread(guard.changed_packages)
    await asyncio.to_thread(take_out, copy, changed)
    result = await guard.judged(state, copy)
    have_scripts = bool(changed) and await asyncio.to_thread(guard.packages.have_scripts)
    for with_scripts in (False, True) if have_scripts else (False,):
        if result.achieved or result.cut_off or not changed:
            break
        problem = await _install(guard, copy, changed, with_scripts=with_scripts)
        result = await guard.judged(state, copy)
        if problem:
            return result, problem if result.achieved else ""
    if changed and not result.achieved:
        note = f"what the run changed in node_modules does not count: {changed[0]}"
        result = replace(result, reason=f"{result.reason} ({note})")
    return result, ""


async def _install(guard: Guard, copy: Path, changed: Sequence[str], *, with_scripts: bool) -> str:
    """Install the packages anew; else they are as the run left them, and why is told."""
    room = Path(await asyncio.to_thread(tempfile.mkdtemp, dir=copy.parent))
    try:
        with guard.checking(copy):
            await guard.packages.install(copy, changed, room, with_scripts=with_scripts)
        return ""
    except ToolError as error:
        await asyncio.to_thread(guard.packages.restore_as_changed, copy)
        return (
            f"it passes only with what the run changed in node_modules ({changed[0]}), and the "
            f"packages could not be installed anew: {error.message}; `allow_edit: [node_modules/]` "
            "takes them as they are"
        )


async def _leans_on_new(guard: Guard, copy: Path) -> GoalResult | None:
    """A refusal where the cases of the start hold only by what was added to the check.

    Files in a folder of the check are gone meanwhile, whatever they are; others may be sources all
    the same, and the goal leaves them out.
    """
    baseline = guard.baseline
    new = await asyncio.to_thread(_new_files_of_check, guard, copy) if baseline.cases else {}
    beside = [path for path, is_beside in new.items() if is_beside]
    others = [path for path, is_beside in new.items() if not is_beside]
    with without_files(copy, beside):
        alone = await guard.ask_without({}, copy, others) if others else None
        if alone is None and beside:
            alone = await guard.ask({}, copy)
    if alone is None:
        return None
    verdict = judge(baseline, alone)
    # The cases decide: what a runner wants of a suite as a whole, coverage say, the new tests may
    # have been written for.
    whole = replace(alone, achieved=alone.report is not None)
    if verdict.achieved or judge(baseline, whole).achieved:
        return None
    reason = f"it does not pass without the new {', '.join([*new][:3])}: {verdict.reason}"
    return replace(verdict, reason=reason)


def _new_files_of_check(guard: Guard, copy: Path) -> dict[str, bool]:
    """The new files of the check, each with whether all files in its folder are the check's, and it
    says something: an empty `__init__.py` only tells two modules of one name apart."""
    return {
        path: not guard.is_allowed(path)
        and guard.belongs_to_check(str(Path(path).parent / "any"))
        and not _says_nothing(copy / path)
        for path in walk_project(copy)
        if path not in guard.baseline.protected and guard.belongs_to_check(path)
    }


async def _contradicted(guard: Guard, copy: Path, report: CheckReport) -> str:
    passed = [case for case, outcome in report.cases.items() if outcome == "passed"]
    fixed = [case for case in passed if guard.baseline.cases.get(case) != "passed"]
    held = set(passed) - set(fixed)
    with guard.checking(copy):
        found = await guard.context.goal.contradict(copy, [*fixed, *sorted(held)])
    return suspicion(found, set(fixed))


def _imported_from_project(guard: Guard, report: CheckReport) -> str:
    """Why the copy proves nothing, when code of the original was loaded; empty when it does.

    Where the sandbox shows the copy in the project's place, a path there is the copy's.
    """
    if guard.context.sandbox.arranges_view:
        return ""
    project = os.path.realpath(guard.context.project) + os.sep
    originals = [path for path in report.imported_from if path.startswith(project)]
    if not originals:
        return ""
    return (
        "the clean copy was not what was tested: "
        f"{originals[0].removeprefix(project)} was still imported from the project itself. "
        "The project's installation may be the cause: `pip install -e . "
        "--config-settings editable_mode=compat` makes one that can be checked"
    )


def _rewritten(guard: Guard, copy: Path, stamps: Mapping[str, Stamp]) -> str:
    """The first file with cases, or of what runs them, that the check itself has changed.

    Others that it has written are noted, also those that are again as they were.
    """
    baseline = guard.baseline
    for path in differing(copy, baseline):
        if path not in baseline.volatile and guard.must_not_change(path):
            return path
    known = {*baseline.touched, *baseline.written_late}
    for path, stamp in stamps.items():
        is_written = stamp.is_written(stamp_of(copy / path))
        if is_written and path not in known and not guard.is_allowed(path):
            baseline.written_late.append(path)
    return ", ".join(guard.outside.changed()[:3])


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
