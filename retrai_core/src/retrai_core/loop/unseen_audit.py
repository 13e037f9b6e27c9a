"""Looks through what a run changed where no snapshot looks: ignored files, installed packages."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from ..contracts.goal import Suspicion
from ..errors import WorkspaceError
from ..guard.guard import Guard
from ..installed.archives import Archives
from ..installed.lock_files import LOCK_NAMES, LockFile, roots_of
from ..installed.registry import Registry, user_cache
from ..installed.vouching import MAX_MANIFEST_BYTES, Vouching
from ..runs.snapshots import Snapshots
from ..runs.unseen import (
    ChangedFile,
    as_added,
    changed_files,
    leads_to_unwalked,
    unseen_changes,
)
from ..workspace.safe_paths import SafeWorkspace
from ..workspace.temporary import temporary_prefix

MAX_FILES = 2_000
MAX_BYTES = 1_000_000
MAX_LOCKED_ANEW = 5
"""Folders of a project for which a lock file is made."""
_MANIFEST = "package.json"
_READ_BY_NPM = (_MANIFEST, ".npmrc", *LOCK_NAMES[:2])


async def audit_around(guard: Guard, snapshots: Snapshots) -> list[Suspicion]:
    """What a goal holds for suspect outside of the diff.

    An installed file that the user's own lock file vouches for is no suspicion, whatever is in it.
    Where archives are not at hand, the registry is asked, and only if something would be suspect.

    Args:
        guard: of the run.
        snapshots: of the run.
    """
    context, since_s = guard.context, guard.baseline.taken_at
    outside = await context.goal.audit_environment(context.project, since_s)
    audit = await asyncio.to_thread(_Audit.begin, guard, snapshots, outside)
    room = await asyncio.to_thread(_empty_folder)
    try:
        found = await asyncio.to_thread(audit.look)
        if audit.doubtful(found):
            registry = Registry(context.sandbox, room)
            if await audit.ask(registry):
                found = await asyncio.to_thread(audit.look)
    finally:
        await asyncio.to_thread(shutil.rmtree, room, ignore_errors=True)
    return found


@dataclass
class _Audit:
    """One look, which may be repeated when more archives are at hand."""

    guard: Guard
    snapshots: Snapshots
    outside: Sequence[Suspicion]
    changed: list[ChangedFile]
    texts: Mapping[str, str]
    """Manifests and lock files by path, as the user had them or lets the run change them."""
    locks: list[LockFile]
    archives: Archives
    vouched: set[str] = field(default_factory=set[str])

    @classmethod
    def begin(cls, guard: Guard, snapshots: Snapshots, outside: Sequence[Suspicion]) -> _Audit:
        project = guard.context.project
        changed = changed_files(project, guard.baseline.taken_at)
        texts = _texts(guard, snapshots) if any(file.is_installed for file in changed) else {}
        locks = [
            LockFile(_folder(path), text)
            for path, text in texts.items()
            if PurePosixPath(path).name in LOCK_NAMES
        ]
        single = [project / lock.folder / path for lock in locks for path in lock.local_archives()]
        archives = Archives([user_cache()], single)
        return cls(guard, snapshots, outside, changed, texts, locks, archives)

    def look(self) -> list[Suspicion]:
        """What is suspect, without what is vouched for."""
        known = {file.path for file in self.changed}
        vouching = self._vouching(known)
        self.vouched = vouching.vouched(self._installed)
        project = self.guard.context.project
        outside = [each for each in self.outside if _inside(each.path, project) not in self.vouched]
        return [*_first_of_each(outside), *self._inside_project()]

    def doubtful(self, found: Sequence[Suspicion]) -> bool:
        """Whether an installed file would make the verdict suspect."""
        project = self.guard.context.project
        return any(each.reaches_runner and roots_of(_inside(each.path, project)) for each in found)

    async def ask(self, registry: Registry) -> bool:
        """Fetch what could vouch for the rest; whether there is anything new."""
        left = [path for path in self._installed if path not in self.vouched]
        known = len(self.locks)
        for folder in self._without_lock(left)[:MAX_LOCKED_ANEW]:
            lock = await registry.lock(self._manifests(folder), folder)
            if lock is not None:
                self.locks.append(lock)
        missing = self._vouching(set()).missing(left)
        if not missing:
            return len(self.locks) > known
        self.guard.context.publish(
            "log",
            level="info",
            message=f"asks the npm registry for {len(missing)} packages, to compare them with what"
            " was installed",
        )
        settings = {name: text for name, text in self.texts.items() if name == ".npmrc"}
        await registry.fetch(missing, settings)
        self.archives.fetched = registry.cache
        return True

    @property
    def _installed(self) -> list[str]:
        return [file.path for file in self.changed if file.is_installed]

    def _vouching(self, known: set[str]) -> Vouching:
        project = self.guard.context.project
        return Vouching(project, self.locks, self.archives, known.__contains__)

    def _without_lock(self, paths: Sequence[str]) -> list[str]:
        """Folders with a manifest, and packages, that no lock file of the user's speaks of."""
        folders = dict.fromkeys(f"/{path}".partition("/node_modules/")[0][1:] for path in paths)
        changed = {_folder(path) for path in self.texts if self.guard.is_allowed(path)}
        return [
            folder
            for folder in folders
            if f"{folder}/{_MANIFEST}".lstrip("/") in self.texts
            and (
                folder in changed
                or not any(
                    lock.names_archives and f"{folder}/".startswith(f"{lock.folder}/".lstrip("/"))
                    for lock in self.locks
                )
            )
        ]

    def _manifests(self, folder: str) -> dict[str, str]:
        start = f"{folder}/".lstrip("/")
        return {
            path[len(start) :]: text
            for path, text in self.texts.items()
            if path.startswith(start) and PurePosixPath(path).name in _READ_BY_NPM
        }

    def _inside_project(self) -> list[Suspicion]:
        """What the goal's audit finds in files that no snapshot holds, and what was too much."""
        goal, project = self.guard.context.goal, self.guard.context.project
        every = self.snapshots.all()
        if not self.snapshots.available or not every:
            return []
        seen = self.snapshots.entries(every[-1]).keys() | self.vouched
        unseen = unseen_changes(project, self.changed, seen, self.snapshots.diff())
        found = [each for each in goal.audit(unseen.diff) if each.reaches_runner and unseen.diff]
        if found:
            # What is built from sources does what those do; packages are not.
            usual = {
                _kind(each)
                for text in _sources(self.snapshots)
                for each in goal.audit(text)
                if each.reaches_runner
            }
            found = [each for each in found if roots_of(each.path) or _kind(each) not in usual]
        found += self._links()
        if unseen.unread:
            more = len(unseen.unread) - 1
            what = "was not looked through, there is too much" + (
                f" (nor were {more} more files)" if more else ""
            )
            found.append(Suspicion(unseen.unread[0], 1, what, reaches_runner=True))
        return found

    def _links(self) -> Iterator[Suspicion]:
        """Links through which packages are loaded that no audit sees."""
        project, since_s = self.guard.context.project, self.guard.baseline.taken_at
        for file in self.changed:
            doubtful = file.is_link and file.is_installed and file.path not in self.vouched
            if file.leads_elsewhere:
                what = "was made a link during the run"
            elif doubtful and leads_to_unwalked(project, file.path, since_s):
                what = "leads to what the run changed where no diff looks"
            else:
                continue
            yield Suspicion(file.path, 1, what, reaches_runner=True)


def _empty_folder() -> Path:
    return Path(tempfile.mkdtemp(prefix=temporary_prefix("retrai-installed"))).resolve()


def _texts(guard: Guard, snapshots: Snapshots) -> dict[str, str]:
    """Manifests and lock files of the project as the run found them.

    One that the user lets the run change counts as it is now; but a lock file is no word of the
    user's then, since whoever wrote the package could write its digest.
    """
    every = snapshots.all()
    if not snapshots.available or not every or every[0].iteration:
        return {}
    found: dict[str, str] = {}
    for path, entry in snapshots.entries(every[0]).items():
        name = PurePosixPath(path).name
        if not entry.is_file or name not in (*_READ_BY_NPM, *LOCK_NAMES):
            continue
        text = snapshots.content(entry).decode("utf-8", errors="replace")
        if guard.is_allowed(path):
            if name == ".npmrc":
                found[path] = text  # the registry is the one that the user named
                continue
            now = _read(guard.context.project, path)
            if now != text and name in LOCK_NAMES:
                continue
            text = now
        found[path] = text
    return found


def _sources(snapshots: Snapshots) -> Iterator[str]:
    first = snapshots.all()[0]
    files = [(path, entry) for path, entry in snapshots.entries(first).items() if entry.is_file]
    for path, entry in files[:MAX_FILES]:
        data = snapshots.content(entry)
        if len(data) <= MAX_BYTES and b"\0" not in data:
            yield as_added(path, data.decode("utf-8", errors="replace"))


def _first_of_each(found: Sequence[Suspicion]) -> list[Suspicion]:
    """Of one kind the first in each installed package; everything else."""
    first: dict[object, Suspicion] = {}
    for each in found:
        roots = roots_of(each.path.lstrip("/"))
        first.setdefault((each.what, roots[0][0] if roots else each), each)
    return list(first.values())


def _inside(path: str, project: Path) -> str:
    """A path as it stands in the project; as it is where it does not."""
    try:
        return Path(path).relative_to(project).as_posix()
    except ValueError:
        return path


def _folder(path: str) -> str:
    parent = PurePosixPath(path).parent.as_posix()
    return "" if parent == "." else parent


def _kind(suspicion: Suspicion) -> str:
    return suspicion.what.partition(":")[0]


def _read(project: Path, path: str) -> str:
    """A plain file's text; nothing of a pipe, a device or a link, nor of what is too long."""
    try:
        data = SafeWorkspace(project).read_bytes(path, MAX_MANIFEST_BYTES + 1)
    except WorkspaceError:
        return ""
    return data.decode("utf-8", errors="replace") if len(data) <= MAX_MANIFEST_BYTES else ""
