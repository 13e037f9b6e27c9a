"""A control group for a run's commands: what bounds processes and memory, also of root.

Version 1 has a tree for each controller, version 2 one tree for all (cgroups(7)). A group is made
beside or below the one that retrai is in; where none can be made there (no rights, a read-only
mount) there is none, which is not an error.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

_ROOT = Path("/sys/fs/cgroup")
_MEMBERSHIP = Path("/proc/self/cgroup")
_GIVE_UP_S = 2.0
_NAME = re.compile(r"retrai-(\d+)-\d+")


@dataclass
class ControlGroup:
    """The folders of a group, one for each controller that has a tree of its own.

    Attributes:
        folders: where it stands.
        binds: the controllers that limit it: `pids`, `memory`.
    """

    folders: list[Path] = field(default_factory=list[Path])
    binds: set[str] = field(default_factory=set[str])

    @property
    def joins(self) -> list[str]:
        """The files that a process writes itself into."""
        return [str(folder / "cgroup.procs") for folder in self.folders]

    def memory_kills(self) -> int:
        """How many of its processes the kernel has ended for want of memory."""
        for folder in self.folders:
            for name in ("memory.events", "memory.oom_control"):
                with suppress(OSError):
                    for line in (folder / name).read_text().splitlines():
                        if line.startswith("oom_kill "):
                            return int(line.split()[1])
        return 0

    def remove(self) -> None:
        """Remove it; its processes must have been ended, and may take a moment to vanish."""
        give_up_at = time.monotonic() + _GIVE_UP_S
        while self.folders:
            try:
                self.folders[-1].rmdir()
            except FileNotFoundError:
                pass
            except OSError:
                if time.monotonic() < give_up_at:
                    time.sleep(0.01)
                    continue
            self.folders.pop()


def make_group(number: int, processes: int, memory_bytes: int) -> ControlGroup:
    """Make a group with limits; without folders where none can be made.

    Args:
        number: tells the groups of one process apart.
        processes: processes and threads in it at once.
        memory_bytes: their memory together.
    """
    group = ControlGroup()
    name = f"retrai-{os.getpid()}-{number}"
    own = _own_places()
    if "" in own:
        _make_unified(group, own[""], name, processes, memory_bytes)
    for controller in ("pids", "memory", "cpu"):
        if controller in own and controller not in group.binds:
            _make_single(group, controller, own[controller], name, processes, memory_bytes)
    return group


def _own_places() -> dict[str, Path]:
    """By controller, and by `` for version 2: the folder of the group that this process is in."""
    places: dict[str, Path] = {}
    with suppress(OSError):
        for line in _MEMBERSHIP.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            inner = path.lstrip("/")
            if not controllers:
                mounts = [_ROOT / "unified", _ROOT]
                found = [at / inner for at in mounts if (at / "cgroup.controllers").is_file()]
                places.update({"": found[0]} if found else {})
                continue
            for name in controllers.split(","):
                for at in (_ROOT / controllers / inner, _ROOT / name / inner):
                    if at.is_dir():
                        places[name] = at
                        break
    return places


def _make_unified(
    group: ControlGroup, own: Path, name: str, processes: int, memory_bytes: int
) -> None:
    """Below the own group, or beside it: but for the root, a group with members hands no controller
    of a domain down. The kernel's rules stand in Documentation/admin-guide/cgroup-v2.rst."""
    limits = {"pids.max": processes, "memory.max": memory_bytes, "memory.swap.max": 0}
    for parent in (own, own.parent):
        # Who moves a process writes to the group above both ends, too.
        if not os.access(parent / "cgroup.procs", os.W_OK):
            continue
        with suppress(OSError):
            _hand_down(parent, ("pids", "memory", "cpu"))
            _forget_old(parent)
            folder = parent / name
            folder.mkdir()
            group.folders.append(folder)
            # Below a group of threads it would be `domain invalid`, and take no process.
            if (folder / "cgroup.type").read_text().strip() == "domain":
                bound = {
                    file.partition(".")[0]
                    for file, value in limits.items()
                    if _set(folder / file, value)
                }
                group.binds |= bound
            if group.binds:
                return
        group.remove()


def _hand_down(parent: Path, controllers: Iterable[str]) -> None:
    """Let the groups below `parent` have controllers; each by itself, since one may be refused."""
    offered = (parent / "cgroup.controllers").read_text().split()
    handed = (parent / "cgroup.subtree_control").read_text().split()
    for one in controllers:
        if one in offered and one not in handed:
            _set(parent / "cgroup.subtree_control", f"+{one}")


def _make_single(
    group: ControlGroup, controller: str, own: Path, name: str, processes: int, memory_bytes: int
) -> None:
    limits = {
        "pids": ("pids.max", processes),
        "memory": ("memory.limit_in_bytes", memory_bytes),
        # All of the group count as one task beside those of others; a bomb leaves room for them.
        "cpu": ("cpu.shares", 1024 * (os.cpu_count() or 1)),
    }
    file, value = limits[controller]
    with suppress(OSError):
        _forget_old(own)
        folder = own / name
        folder.mkdir()
        if _set(folder / file, value):
            group.folders.append(folder)
            group.binds.add(controller)
        else:
            folder.rmdir()


def _set(file: Path, value: int | str) -> bool:
    try:
        with open(file, "r+b", buffering=0) as opened:  # never made: the kernel's, or not there
            opened.write(str(value).encode())
    except OSError:
        return False
    return True


def _forget_old(parent: Path) -> None:
    """Remove what processes of retrai that were killed have left."""
    for entry in list(os.scandir(parent)):
        found = _NAME.fullmatch(entry.name)
        if found and not os.path.exists(f"/proc/{found[1]}"):
            with suppress(OSError):  # not empty, or gone already
                os.rmdir(entry.path)
