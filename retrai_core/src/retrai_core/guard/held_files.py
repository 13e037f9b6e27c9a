"""Moves files out of a project while a run works in it, so that no crash can lose one.

The order is what makes it safe: every file is copied to the run's folder and is on the disk, then a
note of them is, then the originals are removed. Whatever happens after the note, `put_back` or any
later command of retrai finds the note and brings the files back; before it, nothing was removed.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from pydantic import BaseModel, ValidationError

from ..errors import RetraiError, WorkspaceLockedError
from ..workspace.lock import WorkspaceLock
from ..workspace.owners import make_folders
from .files import fingerprint

_NOTES = "held_out"
"""The folder of the notes, in the state folder."""
_ASIDE = "aside"


class _Note(BaseModel):
    """What was moved out, and where to."""

    project: Path
    run_id: str
    folder: Path
    paths: dict[str, str]
    """Fingerprint by path; relative to the project."""
    caches: list[str] = []
    """Those of them that are put back only where nothing else has come in their place."""
    modes: dict[str, int] = {}
    """Mode of each folder that is gone with its last file."""


@dataclass(frozen=True, slots=True)
class PutBack:
    """What was brought back.

    Attributes:
        project: the project.
        run_id: the run that had moved the files out.
        count: how many files there are.
        aside: where what stood in a file's place was moved; empty where nothing did.
    """

    project: Path
    run_id: str
    count: int
    aside: list[Path]


def told(back: PutBack | None) -> list[str]:
    """Where the files are now that stood in the place of held-out ones, one line each."""
    moved = back.aside if back is not None else []
    return [f"what stood in the place of a held-out file is now {path}" for path in moved]


class HeldFiles:
    """Files of one project that a run does not see.

    Args:
        project: the project.
        folder: where they are kept, in the run's own folder.
        state: retrai's state folder, where the note of them stands.
        run_id: the run.
    """

    def __init__(self, project: Path, folder: Path, state: Path, run_id: str) -> None:
        self.project = project
        self.folder = folder
        self._state = state
        self._run_id = run_id

    @property
    def files(self) -> Path:
        """The folder of the copies, laid out as in the project."""
        return self.folder / "files"

    def move_out(self, paths: Iterable[str], caches: Iterable[str] = ()) -> None:
        """Take these files out of the project.

        Args:
            paths: relative ones of files and symlinks.
            caches: the same of caches that tell about those files.

        Raises:
            RetraiError: one could not be copied; none was removed.
        """
        caches = sorted(caches)
        every = [*sorted(paths), *caches]
        # Not the whole folder: what an earlier put-back has moved aside is in it too.
        shutil.rmtree(self.files, ignore_errors=True)
        note = _Note(
            project=self.project,
            run_id=self._run_id,
            folder=self.folder,
            paths={path: fingerprint(self.project / path) for path in every},
            caches=caches,
            modes=self._modes(every),
        )
        for path in every:
            _copy(self.project / path, self.files / path)
            if fingerprint(self.files / path) != note.paths[path]:
                raise RetraiError(f"{path} changed while it was copied; nothing was moved")
        _write(_note_path(self._state, self.project), note.model_dump_json())
        for path in every:
            (self.project / path).unlink()
        self._remove_empty(every)

    def put_back(self) -> PutBack | None:
        """Bring the files back; None when they are all there already."""
        return put_back(self._state, self.project)

    def _modes(self, paths: Iterable[str]) -> dict[str, int]:
        """The folders that hold nothing else."""
        moved = {self.project / path for path in paths}
        found: dict[str, int] = {}
        for folder in _parents(paths):
            there = {path for path in (self.project / folder).rglob("*") if not _is_folder(path)}
            if there <= moved:
                mode = (self.project / folder).stat().st_mode & 0o7777
                found[folder.as_posix()] = mode
        return found

    def _remove_empty(self, paths: Iterable[str]) -> None:
        for folder in reversed(_parents(paths)):
            with suppress(OSError):  # there is more in it
                (self.project / folder).rmdir()


def put_back(state: Path, project: Path) -> PutBack | None:
    """Bring back what a run has moved out of `project`; the workspace's lock must be held.

    A file that stands in the place of one of them is moved to the run's folder, never lost.

    Raises:
        OSError: a file cannot be written; all that is left to do is tried again the next time.
    """
    path = _note_path(state, project)
    note = _read(path)
    if note is None:
        return None
    aside = note.folder / _ASIDE / secrets.token_hex(4)
    moved: list[Path] = []
    caches = set(note.caches)
    for name, known in note.paths.items():
        target = project / name
        if fingerprint(target) == known:
            continue
        if name in caches and os.path.lexists(target):
            continue
        moved += _clear_way(project, name, aside)
        make_folders(target.parent)
        # One fixed name: what a kill left half written is taken by the next try.
        temporary = target.with_name(f".retrai-{sha256(os.fsencode(name)).hexdigest()[:16]}.tmp")
        temporary.unlink(missing_ok=True)
        _copy(note.folder / "files" / name, temporary)
        temporary.replace(target)
        _sync_folder(target.parent)
    for name, mode in note.modes.items():
        with suppress(OSError):  # a cache that was left where it is
            (project / name).chmod(mode)
    path.unlink()
    _sync_folder(path.parent)
    return PutBack(project, note.run_id, len(note.paths) - len(caches), moved)


def put_all_back(state: Path) -> list[PutBack]:
    """Bring back what killed runs have left moved out, in every project where no run works."""
    done: list[PutBack] = []
    for path in sorted((state / _NOTES).glob("*.json")):
        note = _read(path)
        if note is None or not note.project.is_dir():
            continue
        try:
            with WorkspaceLock(note.project, state, f"putting back files of {note.run_id}"):
                found = put_back(state, note.project)
        except WorkspaceLockedError:
            continue  # that run is alive, and does it itself
        done += [found] if found else []
    return done


def holds_files_of(state: Path, run_id: str) -> bool:
    """Whether the only copy of somebody's files lies in the run's folder."""
    notes = (_read(path) for path in (state / _NOTES).glob("*.json"))
    if any(note is not None and note.run_id == run_id for note in notes):
        return True
    # What stood in the place of a held-out file when that came back.
    aside = (state / "runs" / run_id).glob(f"*/{_ASIDE}/**/*")
    return any(not _is_folder(path) for path in aside)


def _parents(paths: Iterable[str]) -> list[Path]:
    """The folders that the files lie in, the outer ones first."""
    folders = {parent for path in paths for parent in Path(path).parents if parent != Path()}
    return sorted(folders, key=lambda folder: (len(folder.parts), folder))


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _note_path(state: Path, project: Path) -> Path:
    name = sha256(os.fsencode(os.path.realpath(project))).hexdigest()[:24]
    return state / _NOTES / f"{name}.json"


def _read(path: Path) -> _Note | None:
    try:
        return _Note.model_validate(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (ValueError, ValidationError) as error:
        raise RetraiError(
            f"{path} cannot be read: {error}",
            hint="it says which files a run has moved out of a project, and where they are now",
        ) from error


def _clear_way(project: Path, name: str, aside: Path) -> list[Path]:
    """Move away what stands in the file's place, or where one of its folders was."""
    found: list[Path] = []
    steps = [*reversed(Path(name).parents), Path(name)]
    for step in steps:
        place = project / step
        in_the_way = os.path.lexists(place) and (
            step == Path(name) or place.is_symlink() or not place.is_dir()
        )
        if in_the_way and step != Path():
            target = aside / step
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(place, target)
            found.append(target)
    return found


def _copy(source: Path, target: Path) -> None:
    """Copy a file or a symlink with its mode, times and, where we may, its owner, to the disk."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target, follow_symlinks=False)
    status = source.lstat()
    with suppress(OSError):
        os.chown(target, status.st_uid, status.st_gid, follow_symlinks=False)
    if not target.is_symlink():
        handle = os.open(target, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    _sync_folder(target.parent)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    temporary = path.with_suffix(".new")
    with temporary.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
