"""Looks through what a run changed where no snapshot looks: ignored files, installed packages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Collection, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from ..contracts.goal import Suspicion
from ..contracts.installed_files import InstalledFiles
from ..guard.guard import Guard
from ..runs.snapshots import Snapshots
from ..runs.unseen import (
    ChangedFile,
    as_added,
    changed_files,
    leads_to_unwalked,
    unseen_changes,
)
from ..workspace.installed import package_of

MAX_FILES = 2_000
MAX_BYTES = 1_000_000


class Vouchers(Protocol):
    """Who knows which installed files are as the user asked for them."""

    @property
    def missing(self) -> str:
        """What to install, in words for people, where nobody knows; empty where somebody does."""
        ...

    def ask(self, files: InstalledFiles) -> AsyncGenerator[Collection[str], None]:
        """What is vouched for so far, each time that there is an answer more."""
        ...


async def audit_around(guard: Guard, snapshots: Snapshots, vouchers: Vouchers) -> list[Suspicion]:
    """What a goal holds for suspect outside of the diff.

    An installed file that a plugin vouches for is no suspicion, whatever is in it. Plugins are
    asked where packages were changed, and for more as long as something installed is suspect.

    Args:
        guard: of the run.
        snapshots: of the run.
        vouchers: the plugins that know what was installed.
    """
    context, since_s = guard.context, guard.baseline.taken_at
    outside = await context.goal.audit_environment(context.project, since_s)
    changed = await asyncio.to_thread(changed_files, context.project, since_s)
    audit = _Audit(guard, snapshots, outside, changed)
    found: list[Suspicion] | None = None
    if any(file.is_installed for file in changed):
        files = await asyncio.to_thread(_installed_files, guard, snapshots, changed)
        async with aclosing(vouchers.ask(files)) as answers:
            async for vouched in answers:
                found = await asyncio.to_thread(audit.look, vouched)
                if not any(map(audit.is_doubtful, found)):
                    return found
    if found is None:
        found = await asyncio.to_thread(audit.look, ())
    return [
        replace(each, what=f"{each.what}; {vouchers.missing}")
        if vouchers.missing and audit.is_doubtful(each)
        else each
        for each in found
    ]


@dataclass(frozen=True, slots=True)
class _Audit:
    """What a goal's audit is asked of: all that was changed, but for what is vouched for."""

    guard: Guard
    snapshots: Snapshots
    outside: Sequence[Suspicion]
    changed: Sequence[ChangedFile]

    def look(self, vouched: Collection[str]) -> list[Suspicion]:
        """What is suspect, without what is vouched for."""
        project = self.guard.context.project
        outside = [each for each in self.outside if _inside(each.path, project) not in vouched]
        return [*_first_of_each(outside), *self._inside_project(vouched)]

    def is_doubtful(self, found: Suspicion) -> bool:
        """Whether it is an installed file that makes the verdict suspect."""
        path = _inside(found.path, self.guard.context.project)
        return found.reaches_runner and bool(package_of(path))

    def _inside_project(self, vouched: Collection[str]) -> list[Suspicion]:
        """What the goal's audit finds in files that no snapshot holds, and what was too much."""
        goal, project = self.guard.context.goal, self.guard.context.project
        every = self.snapshots.all()
        if not self.snapshots.available or not every:
            return []
        seen = self.snapshots.entries(every[-1]).keys() | set(vouched)
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
            found = [each for each in found if package_of(each.path) or _kind(each) not in usual]
        found += self._links(vouched)
        if unseen.unread:
            more = len(unseen.unread) - 1
            what = "was not looked through, there is too much" + (
                f" (nor were {more} more files)" if more else ""
            )
            found.append(Suspicion(unseen.unread[0], 1, what, reaches_runner=True))
        return found

    def _links(self, vouched: Collection[str]) -> Iterator[Suspicion]:
        """Links through which packages are loaded that no audit sees."""
        project, since_s = self.guard.context.project, self.guard.baseline.taken_at
        for file in self.changed:
            doubtful = file.is_link and file.is_installed and file.path not in vouched
            if file.leads_elsewhere:
                what = "was made a link during the run"
            elif doubtful and leads_to_unwalked(project, file.path, since_s):
                what = "leads to what the run changed where no diff looks"
            else:
                continue
            yield Suspicion(file.path, 1, what, reaches_runner=True)


def _installed_files(
    guard: Guard, snapshots: Snapshots, changed: Sequence[ChangedFile]
) -> InstalledFiles:
    every = snapshots.all() if snapshots.available else []
    as_found = snapshots.entries(every[0]) if every and not every[0].iteration else {}
    return InstalledFiles(
        context=guard.context,
        paths=[file.path for file in changed if file.is_installed],
        changed=frozenset(file.path for file in changed),
        known=[path for path, entry in as_found.items() if entry.is_file],
        before=lambda path: snapshots.content(as_found[path]),
        may_change=guard.is_allowed,
    )


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
        first.setdefault((each.what, package_of(each.path) or each), each)
    return list(first.values())


def _inside(path: str, project: Path) -> str:
    """A path as it stands in the project; as it is where it does not."""
    try:
        return Path(path).relative_to(project).as_posix()
    except ValueError:
        return path


def _kind(suspicion: Suspicion) -> str:
    return suspicion.what.partition(":")[0]
