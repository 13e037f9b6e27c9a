"""Whose rights commands have when retrai runs as root on a project of another user's.

They run as that user: bubblewrap sets the mounts up as root of a user namespace, in which
setpriv(1) then takes the user's ids and drops every capability. Where the user cannot write every
file of the project, or not read the interpreter (root's, with a umask of 077), commands keep one:
to use files whatever their mode says (CAP_DAC_OVERRIDE), in a namespace that knows the ids of root
and of those files alone, so that it counts for no other file (user_namespaces(7)).
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .interpreters import interpreter_files
from .places import within

_SYSTEM = "/usr/bin:/bin:/usr/sbin:/sbin"
_UNWRITTEN = frozenset({"__pycache__", ".pytest_cache", ".retrai", ".retrai.yml"})
"""What commands need not write: Python and pytest do without, and retrai's is not for them."""
_REPOSITORIES = frozenset({".git", ".hg", ".svn"})
_MAX_RANGES = 340
"""Lines that /proc/PID/uid_map takes (user_namespaces(7))."""

# Unshares, waits for its maps, forbids further namespaces inside, and waits until it is open.
_HELPER = """
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
if libc.unshare(0x10000000):  # CLONE_NEWUSER
    sys.exit(1)
print(flush=True)
sys.stdin.readline()
with open("/proc/sys/user/max_user_namespaces", "w") as file:
    file.write("0")
print(flush=True)
sys.stdin.readline()
"""


@dataclass(frozen=True)
class Owner:
    """A user that commands run as.

    Attributes:
        uid, gid: the user, and the group of the project's folder.
        others: user and group ids of the files that commands need, where the user's own rights do
            not do; else nothing.
        setpriv: the program that takes the ids.
    """

    uid: int
    gid: int
    others: frozenset[tuple[int, int]]
    setpriv: str

    def words(self) -> list[str]:
        """Words before a command, inside, where it starts as root of the namespace."""
        kept = "-all,+dac_override" if self.others else "-all"
        words = [self.setpriv, f"--reuid={self.uid}", f"--regid={self.gid}", "--clear-groups"]
        words += [f"--{kind}-caps={kept}" for kind in ("inh", "ambient")]
        words.append(f"--bounding-set={kept}")
        if self.others:  # else access(2) would forget the capability
            words.append("--securebits=+no_setuid_fixup,+no_setuid_fixup_locked")
        return [*words, "--"]

    def capabilities(self) -> list[str]:
        """Arguments of bubblewrap: what it needs to enter folders, and `words`, which drop it."""
        words = ["--cap-drop", "ALL"]
        for name in ("DAC_OVERRIDE", "SETUID", "SETGID", "SETPCAP"):
            words += ["--cap-add", f"CAP_{name}"]
        return words

    def may_read(self, path: Path) -> bool:
        """Whether commands can read a file, or enter a folder, which stands at `path` itself."""
        try:
            status = path.stat()
        except OSError:
            return False
        if self.others and status.st_uid in self.uids and status.st_gid in self.gids:
            return True
        wanted = stat.S_IXOTH if stat.S_ISDIR(status.st_mode) else stat.S_IROTH
        return self.may(status, wanted)

    @property
    def uids(self) -> set[int]:
        """The users that the namespace knows where `others` is not empty."""
        return {0, self.uid, *(uid for uid, _ in self.others)}

    @property
    def gids(self) -> set[int]:
        """The groups that the namespace knows where `others` is not empty."""
        return {0, self.gid, *(gid for _, gid in self.others)}

    def closed(self, paths: Sequence[Path]) -> Iterator[Path]:
        """The outermost folder above each path that the user cannot enter."""
        for path in paths:
            for above in reversed(path.parents):
                if not above.exists():
                    break  # a folder of PATH that is not there
                if not self.may(above.stat(), stat.S_IXOTH):
                    yield above
                    break

    def may(self, status: os.stat_result, wanted: int) -> bool:
        """Whether the mode has the bit for the user; `wanted` is the one for others (S_IROTH)."""
        if status.st_uid == self.uid:
            return bool(status.st_mode & (wanted << 6))
        if status.st_gid == self.gid:
            return bool(status.st_mode & (wanted << 3))
        return bool(status.st_mode & wanted)

    def variables(self, project: Path) -> dict[str, str]:
        """Variables that have git take a repository which is somebody else's in part, as the
        files' rights do (`safe.directory` in git-config(1))."""
        for folder in (project, *project.parents):
            if not (git := folder / ".git").exists():
                continue
            if all(path.stat().st_uid == self.uid for path in (git, folder)):
                return {}
            return {
                "GIT_CONFIG_COUNT": "1",
                "GIT_CONFIG_KEY_0": "safe.directory",
                "GIT_CONFIG_VALUE_0": "*",
            }
        return {}

    def give(self, folders: Sequence[Path], state: Path) -> None:
        """Make what is retrai's own of `folders` the user's: clean copies, temporary folders."""
        for folder in folders:
            if within(folder, state) or _is_temporary(folder):
                _give(folder, self.uid, self.gid)


def owner_of(project: Path, python: str) -> Owner | None:
    """The user that commands shall run as; None where that is whoever runs retrai.

    That is the owner of the project's folder, or of most of its files where the folder is root's:
    those of a repository, which root may have made, do not count.

    Args:
        project: the project's folder.
        python: its interpreter, which commands have to be able to start.
    """
    if os.geteuid() != 0:
        return None
    found = shutil.which("setpriv", path=_SYSTEM)
    top = project.stat()
    files = list(_entries(project))
    uids = Counter(status.st_uid for status in _entries(project, _UNWRITTEN | _REPOSITORIES))
    uid = top.st_uid or (uids.most_common(1)[0][0] if uids else 0)
    if uid == 0 or found is None:
        return None
    groups = Counter(status.st_gid for status in files if status.st_uid == uid)
    gid = top.st_gid if top.st_uid == uid or not groups else groups.most_common(1)[0][0]
    owner = Owner(uid, gid, frozenset(), found)
    foreign = [status for status in (top, *files) if status.st_uid != uid]
    needed = (path for path in interpreter_files(python) if path.exists())
    closed = [path.stat() for path in needed if not owner.may_read(path)]
    if not closed and all(owner.may(status, stat.S_IWOTH) for status in foreign):
        return owner
    ids = frozenset((status.st_uid, status.st_gid) for status in (top, *files, *closed))
    return Owner(uid, gid, ids, found)


def _entries(project: Path, left_out: frozenset[str] = _UNWRITTEN) -> Iterator[os.stat_result]:
    for folder, names, files in os.walk(project):
        names[:] = [name for name in names if name not in left_out]
        for name in (*names, *(name for name in files if name not in left_out)):
            with suppress(OSError):
                status = os.lstat(os.path.join(folder, name))
                if not stat.S_ISLNK(status.st_mode):
                    yield status


def open_namespace(owner: Owner) -> int:
    """A user namespace for the user's commands, by its descriptor; no other can be made in it.

    Raises:
        OSError: it cannot be made.
    """
    uids = gids = None
    if owner.others:
        uids, gids = owner.uids, owner.gids
    command = [sys.executable, "-I", "-S", "-c", _HELPER]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL) as helper:
        assert helper.stdin is not None
        assert helper.stdout is not None
        try:
            if not helper.stdout.readline():
                raise OSError("no user namespace can be made")
            for kind, ids in (("uid", uids), ("gid", gids)):
                Path(f"/proc/{helper.pid}/{kind}_map").write_text(_ranges(kind, ids))
            helper.stdin.write(b"\n")
            helper.stdin.flush()
            if not helper.stdout.readline():
                raise OSError("namespaces in it cannot be forbidden")
            return os.open(f"/proc/{helper.pid}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
        finally:
            helper.kill()


def _ranges(kind: str, ids: set[int] | None) -> str:
    """The text of a map in which ids stand for themselves; all that there are for None."""
    known: list[tuple[int, int]] = []
    for line in Path(f"/proc/self/{kind}_map").read_text().splitlines():
        first, _, count = map(int, line.split())
        known.append((first, count))
    if ids is not None:
        inside = [one for one in sorted(ids) if any(a <= one < a + n for a, n in known)]
        known = [(one, 1) for one in inside[:_MAX_RANGES]]
    return "".join(f"{first} {first} {count}\n" for first, count in known)


def _is_temporary(path: Path) -> bool:
    """Whether it lies in a temporary folder of this process (`temporary_prefix`)."""
    temporary = Path(tempfile.gettempdir()).resolve()
    if not within(path, temporary) or path == temporary:
        return False
    first = path.relative_to(temporary).parts[0]
    return f"-{os.getpid()}." in first


def _give(folder: Path, uid: int, gid: int) -> None:
    """Change the owner of root's files; through open folders, for a command may still run there."""
    with suppress(OSError):
        if folder.lstat().st_uid == 0:
            os.chown(folder, uid, gid, follow_symlinks=False)
    for _, names, files, handle in os.fwalk(folder):
        for name in (*names, *files):
            with suppress(OSError):
                status = os.stat(name, dir_fd=handle, follow_symlinks=False)
                if status.st_uid == 0:
                    os.chown(name, uid, gid, dir_fd=handle, follow_symlinks=False)


def loader_variables(environ: Mapping[str, str]) -> list[str]:
    """The variables that have a program load code or data: not for bubblewrap and setpriv, which
    would do it with root's rights."""
    named = ("GCONV_PATH", "GLIBC_TUNABLES", "LOCPATH", "NLSPATH")
    return [name for name in environ if name.startswith("LD_") or name in named]
