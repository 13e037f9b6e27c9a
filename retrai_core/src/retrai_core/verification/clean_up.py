"""Removes what a run left in the project: set-user-id bits, programs for git, changed checks.

The initial state is recorded before the first turn. After a kill, the next run in the project and
`retrai runs undo` clean up.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast

from ..errors import StateFolderError, WorkspaceLockedError
from ..workspace.atomic_write import replace_file
from ..workspace.lock import WorkspaceLock
from .baseline import Baseline
from .files import remove
from .globs import Globs, exactly
from .refusal import Refusal
from .repository_programs import COPIES, note_programs, undo_programs
from .restore import restore_check
from .set_id import drop_set_id, find_set_id

_NOTE = "left_behind.json"
"""In the run's folder while the run goes on: it is still there after a kill."""
_BEAT_S = 1.0
_SLACK_NS = 2_000_000_000


def note(project: Path, run_dir: Path, allow_edit: list[str]) -> None:
    """Remember what is there now."""
    # After a kill in between, an older note would have new copies, or none, beside it.
    (run_dir / _NOTE).unlink(missing_ok=True)
    note_programs(project, run_dir)
    known = {
        "project": str(project),
        "allow_edit": allow_edit,
        "set_id": find_set_id(project),
    }
    replace_file(run_dir / _NOTE, json.dumps(known).encode())


@contextmanager
def keep_note_fresh(run_dir: Path) -> Generator[None]:
    """Update the note's modification time every second: after a kill it shows when that was."""
    over = threading.Event()

    def beat() -> None:
        while not over.wait(_BEAT_S):
            with suppress(OSError):
                os.utime(run_dir / _NOTE)

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def take_back(run_dir: Path, is_later: Callable[[Path], bool] = lambda _: False) -> list[Refusal]:
    """Take set-user-id bits and programs for version control back; what was undone.

    Nothing is done where nothing is noted, or a second time.

    Args:
        run_dir: the run's folder.
        is_later: whether somebody has changed a file since the run was over.
    """
    known = _read(run_dir)
    if known is None:
        return []
    _require_keys(known)
    project, allowed = Path(known["project"]), Globs(known["allow_edit"])
    undone = undo_programs(project, run_dir, allowed.match, is_later)
    undone += drop_set_id(project, known["set_id"], is_later)
    (run_dir / _NOTE).unlink(missing_ok=True)
    remove(run_dir / COPIES)
    return undone


def clean_up_killed_runs(state: Path, project: Path) -> list[str]:
    """The same, and protected and steering files, for runs in `project` that were killed.

    The workspace's lock must be held. What has been changed since is left: that is the user's.

    Returns:
        what a person is told of it, one line each.
    """
    lines: list[str] = []
    for place in (state / "runs").glob(f"*/{_NOTE}"):
        try:
            known = _read(place.parent)
            killed_ns = place.stat().st_mtime_ns + _SLACK_NS
        except (OSError, ValueError):  # damaged, or gone meanwhile
            continue
        if known is None or known.get("project") != str(project):
            continue

        def is_later(path: Path, killed_ns: int = killed_ns) -> bool:
            return _changed_ns(path) > killed_ns

        failed = f"what run {place.parent.name}, which was killed, left could not be cleaned up"
        try:
            _require_keys(known)
            undone = _restore(project, place.parent / "baseline", is_later)
            undone += take_back(place.parent, is_later)
            lines += [refusal.describe() for refusal in undone]
        except OSError as error:
            lines.append(f"{failed}: {error}; make the files writable, then start again")
        except ValueError as error:
            lines.append(
                f"{failed}: {error}; look at `git config --local --list`, `.git/hooks` and "
                f"`find . -perm /6000`, then remove {place}"
            )
    return lines


def clean_up_before(project: Path, state: Path) -> list[str]:
    """The same, before the settings of the next run are read: a killed run may have made them.

    Nothing is done while a run works in the project.
    """
    if not any((state / "runs").glob(f"*/{_NOTE}")):
        return []
    folder = Path(os.path.realpath(project))
    try:
        with WorkspaceLock(folder, state, "cleaning up after killed runs"):
            return clean_up_killed_runs(state, folder)
    except (WorkspaceLockedError, StateFolderError):
        return []  # told by the run that is about to begin


def _read(run_dir: Path) -> dict[str, Any] | None:
    try:
        known: object = json.loads((run_dir / _NOTE).read_bytes())
    except FileNotFoundError:
        return None
    if not isinstance(known, dict):
        raise ValueError("the note of what the project was like is damaged")
    return cast("dict[str, Any]", known)


def _require_keys(known: dict[str, Any]) -> None:
    if not known.keys() >= {"project", "allow_edit", "set_id"}:
        raise ValueError("what the project was like was noted by another version of retrai")


def _restore(project: Path, folder: Path, is_later: Callable[[Path], bool]) -> list[Refusal]:
    """What the guard does at the end of a run."""
    baseline = Baseline.load(folder)
    if baseline is None:  # it was killed before its first turn
        return []
    allowed = Globs([*baseline.allow_edit, *map(exactly, baseline.approved)])

    def is_exempt(path: str) -> bool:
        return allowed.match(path) or is_later(project / path)

    steering = Globs(baseline.steering_globs)
    return restore_check(project, folder, baseline, steering, is_exempt, keeps=True)


def _changed_ns(path: Path) -> int:
    """When it was last changed: no command can set that time. Of what is gone, its folder's."""
    while not os.path.lexists(path):
        path = path.parent
    return path.lstat().st_ctime_ns
