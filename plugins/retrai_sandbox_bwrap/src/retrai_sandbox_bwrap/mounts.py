"""The arguments of bubblewrap: what is mounted where, in which order."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from retrai_core import View

from .owner import Owner
from .places import is_plain, within
from .repository import anchored, kept
from .scratch import clear_way
from .walls import Walls

NOBODY = 65_534
"""Who commands are when retrai runs as root: without any of root's privileges."""
MAX_READ_ONLY = 48
"""Protected files that are mounted read-only one by one: bubblewrap takes longer for each mount
the more there are (10 ms for 50, 60 ms for 200). The guard puts the others back."""
_SMALL_BYTES = 2**30
_TMP = Path("/tmp")


@dataclass(frozen=True)
class Request:
    """What one command needs beside the walls.

    Attributes:
        project: the project's folder.
        cwd: where the command runs.
        view: the guard's wishes.
        scratch: the folder that stands for /tmp and the caches.
        writable, readable: folders outside the project.
        network: whether it reaches the network.
        named: variables that the caller sets for it; the user's of such a name name other folders.
        owner: who it runs as, where that is not whoever runs retrai.
    """

    project: Path
    cwd: Path
    view: View
    scratch: Path
    writable: Sequence[Path] = ()
    readable: Sequence[Path] = ()
    network: bool = False
    named: Collection[str] = ()
    owner: Owner | None = None


@dataclass
class _Arguments:
    """Arguments in the order of the mounts; a later one covers an earlier one."""

    words: list[str] = field(default_factory=list[str])
    writable: list[Path] = field(default_factory=list[Path])
    mode: Sequence[str] = ()
    """Before a new folder that commands can write, where another user than theirs makes it."""

    def add(self, *words: str | Path) -> None:
        self.words.extend(str(word) for word in words)

    def empty(self, path: Path) -> None:
        """Put an empty folder, or an empty file, in a path's place."""
        if os.path.isdir(path):
            self.add(*self.mode, "--size", str(_SMALL_BYTES), "--tmpfs", path)
        else:
            self.add("--ro-bind", "/dev/null", path)

    def let_write(self, source: Path, target: Path) -> None:
        self.add("--bind", source, target)
        self.writable.append(target)


def bwrap_arguments(walls: Walls, request: Request) -> list[str]:
    """The arguments for one command, without the program's name and the command itself."""
    mode = ["--perms", "1777"] if request.owner else []
    made = _Arguments(_namespaces(request), mode=mode)
    made.add("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
    made.add(*mode, "--size", str(_SMALL_BYTES), "--tmpfs", "/dev/shm", "--remount-ro", "/dev")
    for path in walls.controls:
        made.add("--ro-bind", path, path)
    binds = _binds(walls, request)
    tmp = request.scratch / "tmp"
    _mount_hidden(made, walls, tmp, request.owner)
    inner = [target for _, target, _ in binds]
    network = walls.network if request.network else []
    places = [*walls.shown, *network]
    clear_way(tmp, sorted([*places, *inner]), _TMP, request.owner)
    if request.owner:
        _make_folders(made, walls, [*places, *inner])
    for path in places:
        made.add("--ro-bind", path, path)
    # A service may have ended since; where nothing stands, nothing can be mounted.
    sockets = (path for path in walls.sockets if os.path.exists(path))
    closed = [path for path in sockets if not any(within(path, place) for place in network)]
    for path in (*walls.secrets, *closed):
        if not any(within(path, target) for target in inner) and _is_seen(path, walls, places):
            made.empty(path)
    for source, target, may_write in binds:
        if may_write:
            made.let_write(source, target)
        else:
            made.add("--ro-bind", source, target)
    _mount_environment(made, walls, request)
    written = [target for _, target, may_write in binds if may_write]
    for path in walls.secrets:
        if path not in written and any(within(path, target) for target in inner):
            made.empty(path)
    _mount_protected(made, request)
    made.add("--chdir", request.cwd)
    return made.words


def _namespaces(request: Request) -> list[str]:
    words = [] if request.owner else ["--unshare-user", "--disable-userns"]
    words += ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    words.append("--die-with-parent")
    if not request.network:
        words.append("--unshare-net")  # with a loopback interface of its own
    if os.getuid() == 0 and not request.owner:
        words += ["--uid", str(NOBODY), "--gid", str(NOBODY)]
    for name in ("XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "XDG_STATE_HOME", "GOCACHE"):
        if name not in request.named:
            words += ["--unsetenv", name]
    return words


def _mount_hidden(made: _Arguments, walls: Walls, tmp: Path, owner: Owner | None) -> None:
    for folder in walls.hidden:
        if folder == _TMP:
            made.let_write(tmp, folder)
        else:
            made.empty(folder)
            made.writable.append(folder)
    for home in walls.homes[:1]:
        clear_way(tmp, [home / ".cache"], _TMP, owner)
        if owner:
            _make_folders(made, walls, [home / ".cache"])
        made.let_write(tmp.parent / "cache", home / ".cache")


def _mount_environment(made: _Arguments, walls: Walls, request: Request) -> None:
    """Show the project's environment in a copy, which comes without."""
    copy = request.view.shown.get(request.project)
    for path in walls.environment if copy is not None else ():
        if copy is not None and is_plain(path, request.project):
            made.add("--ro-bind", path, path)
            # A command may name it by a relative path (`.venv/bin/python`).
            made.add("--ro-bind", path, _real(copy) / path.relative_to(request.project))
            # `uv run` would install the project anew, since it stands at another place.
            made.add("--setenv", "UV_NO_SYNC", "1")


def _make_folders(made: _Arguments, walls: Walls, targets: Iterable[Path]) -> None:
    """Make the folders that mounts need within what is hidden and empty, for commands to write."""
    above = {path for target in targets for path in target.parents}
    for path in sorted(above):
        if walls.hide(path) and path not in walls.hidden and not within(path, _TMP):
            made.add(*made.mode, "--dir", path)


def _binds(walls: Walls, request: Request) -> list[tuple[Path, Path, bool]]:
    """Source, target, and whether it may be written: the project, and what the caller names."""
    shown = {
        target: source for target, source in request.view.shown.items() if os.path.isdir(source)
    }
    found = {request.project: (request.project, True)}
    for path in request.readable:
        found[_real(path)] = (_real(path), False)
    for path in (*request.writable, *shown.values()):
        found[_real(path)] = (_real(path), True)
    for target, source in shown.items():
        found[target] = (_real(source), True)
    cwd = request.cwd
    covered = any(within(cwd, target) for target in found)
    if not covered and walls.hide(cwd) and not walls.holds_hidden(cwd):
        found[cwd] = (cwd, True)
    binds = [(source, target, write) for target, (source, write) in found.items()]
    return sorted(
        (bind for bind in binds if os.path.exists(bind[0]) and _is_narrow(bind[1], walls, request)),
        key=lambda bind: bind[1],
    )


def _is_narrow(path: Path, walls: Walls, request: Request) -> bool:
    """Whether showing `path` takes no wall down; the project is shown wherever it is."""
    return path == request.project or not walls.holds_hidden(path)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _is_seen(path: Path, walls: Walls, shown: Iterable[Path]) -> bool:
    return not walls.hide(path) or any(within(path, place) for place in shown)


def _mount_protected(made: _Arguments, request: Request) -> None:
    """Mount what commands may not change in the project."""
    git = request.project / ".git"
    # A copy of the project is thrown away, and a repository that is shown in its place too.
    own = not any(within(git, target) for target in request.view.shown)
    for path in anchored(request.project) if own else ():
        made.add("--bind", path, path)
    for path in (*_kept(request), *(kept(request.project) if own else ())):
        made.add("--ro-bind", path, path)


def _kept(request: Request) -> list[Path]:
    """What the guard wants read-only: existing files of the project, reached through no symlink."""
    project = request.project
    wanted = sorted(request.view.read_only, key=lambda path: (len(path.parts), path))
    plain = (path for path in wanted if within(path, project) and is_plain(path, project))
    return list(islice(plain, MAX_READ_ONLY))
