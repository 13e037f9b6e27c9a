"""The baseline: the state before the first turn, stored outside the workspace."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from ..contracts.goal import CaseOutcome, CheckReport, GoalResult, RecordedCall
from ..workspace.atomic_write import replace_file
from .case_files import case_files
from .files import copy_file, fingerprint, project_entries
from .globs import Globs


class Baseline(BaseModel):
    """Protected files by hash, the existing steering files, and the result of the first check."""

    protected: dict[str, str] = Field(default_factory=dict)
    """SHA-256 of each protected file's content and mode, by relative path."""
    steering: list[str] = Field(default_factory=list)
    """Files that steer the runner and were there before the run."""
    volatile: list[str] = Field(default_factory=list)
    """Protected files that the check itself writes: restored, but never counted as tampering."""
    written_late: list[str] = Field(default_factory=list)
    """Protected files that the check writes now, and did not write before the run."""
    touched: list[str] = Field(default_factory=list)
    """Protected files that the check itself writes as they were, or moves away and back."""
    taken_at: float = 0.0
    """When it was taken, in seconds since the epoch."""
    steering_globs: list[str] = Field(default_factory=list)
    """What steers the runner, for whoever cleans up after a run that was killed."""
    allow_edit: list[str] = Field(default_factory=list)
    """Globs of protected files that the user lets the run change."""
    approved: list[str] = Field(default_factory=list)
    """Protected files that a person let the run change."""
    place: str = ""
    """Where the project stands in its repository; a clean copy stands as deep."""
    achieved: bool = False
    reason: str = ""
    details: str = ""
    cases: dict[str, CaseOutcome] = Field(default_factory=dict)
    command: list[str] = Field(default_factory=list)
    interpreter: str = ""
    complete: bool = False
    excused: dict[str, int] = Field(default_factory=dict)
    """How often each file told the runner to look away."""

    def take_result(self, result: GoalResult) -> None:
        """Keep the first check's answer."""
        self.achieved, self.reason, self.details = result.achieved, result.reason, result.details
        if result.report is not None:
            self.cases = dict(result.report.cases)
            self.command = list(result.report.command)
            self.interpreter = result.report.interpreter
            self.complete = result.report.complete
            self.excused = dict(result.report.excused)

    def result(self) -> GoalResult:
        """The first check's answer again."""
        report = CheckReport(self.cases, self.command, self.interpreter, self.complete)
        return GoalResult(self.achieved, self.reason, self.details, report)

    def save(self, folder: Path) -> None:
        """Write it to `baseline.json` in `folder`."""
        replace_file(folder / "baseline.json", self.model_dump_json().encode())

    @classmethod
    def load(cls, folder: Path) -> Baseline | None:
        """Read it back; None when this run has none yet."""
        path = folder / "baseline.json"
        return cls.model_validate_json(path.read_text(encoding="utf-8")) if path.exists() else None


_CALLS: TypeAdapter[list[RecordedCall]] = TypeAdapter(list[RecordedCall])


def save_calls(calls: Sequence[RecordedCall], folder: Path) -> None:
    """Write what the project's code answered before the first turn to `calls.json` in `folder`."""
    (folder / "calls.json").write_bytes(_CALLS.dump_json(list(calls)))


def load_calls(folder: Path) -> list[RecordedCall]:
    """Read it back; empty where nothing was recorded."""
    try:
        return _CALLS.validate_json((folder / "calls.json").read_bytes())
    except (FileNotFoundError, ValidationError):
        return []  # also where it was cut off, or is of another version


class Stamp(NamedTuple):
    """Where a file lies, whose it is, and when it and its content were changed, in nanoseconds."""

    inode: int
    owner: int
    changed_ns: int
    modified_ns: int

    def is_written(self, now: Stamp | None) -> bool:
        """Whether somebody has written the file since.

        Nobody can set the time of a change, unlike that of a modification. But root gives a copy
        to the user that commands run as, which changes nothing else.
        """
        if now is None or now.inode != self.inode or now.owner == self.owner:
            return now != self
        return now.modified_ns != self.modified_ns


def stamp_of(path: Path) -> Stamp | None:
    """The stamp of a file; None where there is none."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return Stamp(found.st_ino, found.st_uid, found.st_ctime_ns, found.st_mtime_ns)


def copy_protected(project: Path, protected: Globs, steering: Globs, folder: Path) -> Baseline:
    """Hash and copy every protected file, and note the steering files that are there."""
    baseline = Baseline()
    entries = list(project_entries(project))
    cases = case_files(path for path, _ in entries)
    for path, is_link in entries:
        if steers(project, path, is_link, steering):
            baseline.steering.append(path)
        # What cannot be read is none of the check's: it could not read it either.
        is_protected = path in cases or protected.match(path)
        if is_protected and (known := fingerprint(project / path)):
            baseline.protected[path] = known
            copy_file(project / path, folder / "files" / path)
    return baseline


def steers(project: Path, path: str, is_link: bool, steering: Globs) -> bool:
    """Whether the file or symlink steers the runner.

    A symlink to a folder is one entry of the tree, and to the runner a folder with all that is in
    it: `pytest -> lib/mine` stands for `pytest/__init__.py`.
    """
    if steering.match(path):
        return True
    if not is_link:
        return False
    try:
        return any(steering.match(f"{path}/{name}") for name in os.listdir(project / path))
    except OSError:
        return False  # no folder, or not readable by us, and so not by the runner


def differing(project: Path, baseline: Baseline) -> list[str]:
    """Protected paths whose file is not the baseline's any more, sorted."""
    known = sorted(baseline.protected.items())
    return [path for path, expected in known if fingerprint(project / path) != expected]
