"""A git repository of the run's own: git writes, reads and compares its files and trees."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO

from ..errors import RetraiError, WorkspaceError
from ..workspace.beneath import Place, open_file, reach
from ..workspace.temporary import temporary_prefix
from ..workspace.tree_walk import StatKey

FILE, EXECUTABLE, SYMLINK = "100644", "100755", "120000"
"""git's modes; it knows no other bits of a file's permissions."""

_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Entry:
    """A file in a tree: git's mode (100644, 100755 executable, 120000 symlink) and blob id."""

    mode: str
    blob: str

    @property
    def is_file(self) -> bool:
        """A file, and no symlink."""
        return self.mode.startswith("100")


Reader = Callable[[Entry], bytes]
"""Gives the bytes of a file, or the target of a symlink."""


class GitStore:
    """Stores files and trees; each content once.

    Args:
        folder: the repository; made by the first `open`.
        timeout_s: seconds for one call of git.
    """

    def __init__(self, folder: Path, timeout_s: float = 120) -> None:
        self._folder = folder
        self._timeout_s = timeout_s
        self._git = shutil.which("git")
        self._known_entries = lru_cache(maxsize=2)(self._list)

    @property
    def available(self) -> bool:
        """Whether the `git` program is there."""
        return self._git is not None

    def open(self) -> None:
        """Make the repository where there is none yet, or where a kill left half of one."""
        if not (self._folder / "objects" / "info").is_dir():  # what git makes last
            self._folder.mkdir(exist_ok=True)
            self.run("init", "--quiet", "--bare", "--template=", str(self._folder))

    def write_tree(
        self, root: Path, base: str, gone: Iterable[str], files: Mapping[str, str]
    ) -> str:
        """Store a tree like another one with some files changed; its id.

        A file that is gone, special or unreadable is left out.

        Args:
            root: the folder that the files are in, with no symlink in its path.
            base: the other tree's id; empty for none.
            gone: the paths of files that are no longer in the tree.
            files: where each changed file stands below `root`, by its path in the tree.

        Raises:
            RetraiError: git failed.
        """
        command, env = self._command("fast-import", "--quiet", "--depth=0")
        pipe = subprocess.PIPE
        with subprocess.Popen(
            command,
            cwd=self._folder,
            env=env,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            restore_signals=False,  # a file that grows too large is an error that git tells
            start_new_session=True,  # Ctrl-C on the terminal is retrai's, not git's
        ) as git:
            assert git.stdin is not None
            try:
                with suppress(BrokenPipeError):  # it has failed, and says below why
                    git.stdin.write(
                        b"commit refs/none\ncommitter retrai <retrai> 0 +0000\ndata 0\n"
                    )
                    if base:
                        git.stdin.write(f'M 040000 {base} ""\n'.encode())
                    # First, so that a folder can take the place of a file.
                    git.stdin.writelines(b"D %s\n" % _quoted(path) for path in [*gone, *files])
                    for name, path in files.items():
                        _write_file(git.stdin, root, path, _quoted(name))
                    # The reset leaves no reference behind, and no lock of one after a kill.
                    git.stdin.write(b'ls ""\nreset refs/none\n')
                answer, message = git.communicate(timeout=self._timeout_s)
            except BaseException as error:
                git.kill()
                with suppress(BrokenPipeError):
                    git.stdin.close()
                if isinstance(error, subprocess.TimeoutExpired):
                    raise _too_slow("fast-import", self._timeout_s) from error
                raise
        _raise_if_failed("fast-import", git.returncode, message)
        return answer.split()[2].decode()

    def entries(self, tree: str) -> dict[str, Entry]:
        """Every file and symlink of a tree, by path; those of the latest two trees are kept, and
        must not be changed."""
        return self._known_entries(tree)

    def _list(self, tree: str) -> dict[str, Entry]:
        found: dict[str, Entry] = {}
        for line in self.run("ls-tree", "-r", "-z", tree).split("\0") if tree else []:
            if line:
                about, _, path = line.partition("\t")
                mode, _, blob = about.split(" ")
                found[path] = Entry(mode, blob)
        return found

    @contextmanager
    def reading(self) -> Generator[Reader]:
        """Reads contents, all of them through one process of git."""
        command, env = self._command("cat-file", "--batch")
        pipe = subprocess.PIPE
        with subprocess.Popen(
            command, cwd=self._folder, env=env, stdin=pipe, stdout=pipe, start_new_session=True
        ) as git:
            requests, answers = git.stdin, git.stdout
            assert requests is not None
            assert answers is not None

            def read(entry: Entry) -> bytes:
                requests.write(entry.blob.encode() + b"\n")
                requests.flush()
                head = answers.readline().split()
                if len(head) != 3:
                    raise RetraiError(f"the snapshots do not hold the object {entry.blob}")
                size = int(head[2])
                return answers.read(size + 1)[:size]

            yield read

    def staged(self, index: bytes) -> str:
        """What is staged in an index of some repository, without what it remembers of files' stats.

        Raises:
            RetraiError: it is no index, or one in a form that this git does not read.
        """
        with tempfile.TemporaryDirectory(prefix=temporary_prefix("retrai-undo")) as folder:
            file = Path(folder, "index")
            file.write_bytes(index)
            return self.run("ls-files", "--stage", "-v", "-z", GIT_INDEX_FILE=str(file))

    def run(self, *args: str, **variables: str) -> str:
        """What git says, asked about the store, without anybody's configuration.

        Raises:
            RetraiError: it failed, or took longer than `timeout_s`.
        """
        command, env = self._command(*args)
        try:
            done = subprocess.run(  # our own git, our own store: not the agent's command
                command,
                cwd=self._folder,
                env=env | variables,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=self._timeout_s,
                check=False,
                restore_signals=False,
                start_new_session=True,
            )
        except subprocess.TimeoutExpired as error:
            raise _too_slow(args[0], self._timeout_s) from error
        _raise_if_failed(args[0], done.returncode, done.stderr)
        return done.stdout.decode(errors="surrogateescape")

    def _command(self, *args: str) -> tuple[list[str], dict[str, str]]:
        """How git is called: the command, and its environment."""
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
        env = kept | {
            "GIT_DIR": str(self._folder),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_DEFAULT_HASH": "sha1",
            "LC_ALL": "C.UTF-8",
        }
        # Objects are small and mostly never read again, so they are compressed fast.
        settings = ["core.compression=1", "core.protectHFS=false", "core.protectNTFS=false"]
        options = [word for setting in settings for word in ("-c", setting)]
        return [str(self._git), *options, *args], env


class FollowedTree:
    """A tree in the store that follows a project and reads only what changed.

    Args:
        store: keeps it.
        root: the project's folder, with no symlink in its path.
        name: how a file's path in the tree is made of its path in the project.
    """

    def __init__(
        self, store: GitStore, root: Path, name: Callable[[str], str] = lambda path: path
    ) -> None:
        self._store = store
        self._root = root
        self._name = name
        self._seen: Mapping[str, StatKey] = {}
        self._settled_ns = 0
        self._tree = ""

    def follow(self, files: Mapping[str, StatKey], settled_ns: int) -> str:
        """Bring it to the state of the project; the id of the tree.

        Args:
            files: the keys of its files and symlinks, by path.
            settled_ns: a file that changed later than this may change again and keep its key, so
                that it is read the next time too.
        """
        seen, before = self._seen, self._settled_ns
        gone = [self._name(path) for path in seen.keys() - files.keys()]
        changed = {
            self._name(path): path
            for path, key in files.items()
            if (seen.get(path) != key or key[1] >= before or key[2] >= before)
            and not _is_refused(self._name(path), key[4])
        }
        if gone or changed or not self._tree:
            self._tree = self._store.write_tree(self._root, self._tree, gone, changed)
        # Only now: what a full disk kept from being written is written the next time.
        self._seen, self._settled_ns = dict(files), settled_ns
        return self._tree


def _write_file(to: IO[bytes], root: Path, path: str, name: bytes) -> None:
    """Write a file or a symlink of the project as git's `fast-import` reads it."""
    try:
        # No symlink on the way is followed out of the project.
        with reach(root, path, follow_last=False) as place:
            target = _link_target(place)
            file = None if target else open_file(place.folder, place.name)
    except (OSError, WorkspaceError):
        return
    if file is None:
        to.write(b"M 120000 inline %s\ndata %d\n%s\n" % (name, len(target), target))
        return
    with file:
        status = os.fstat(file.fileno())
        mode = EXECUTABLE if status.st_mode & 0o100 else FILE
        to.write(b"M %s inline %s\ndata %d\n" % (mode.encode(), name, status.st_size))
        left = status.st_size
        while left:
            # One that became shorter meanwhile is read again the next time; git waits for the rest.
            piece = file.read(min(left, _CHUNK_BYTES)) or bytes(min(left, _CHUNK_BYTES))
            to.write(piece)
            left -= len(piece)
        to.write(b"\n")


def _link_target(place: Place) -> bytes:
    """Where a symlink leads; empty for anything else."""
    try:
        return os.fsencode(os.readlink(place.name, dir_fd=place.folder))
    except OSError:
        return b""


def _is_refused(path: str, mode: int) -> bool:
    """Whether newer versions of git keep no such path, for what it may do in a repository."""
    names = path.lower().split("/")
    return ".git" in names or (stat.S_ISLNK(mode) and names[-1] == ".gitmodules")


def _quoted(path: str) -> bytes:
    data = os.fsencode(path)
    for byte, escaped in ((b"\\", b"\\\\"), (b'"', b'\\"'), (b"\n", b"\\n")):
        data = data.replace(byte, escaped)
    return b'"%s"' % data


def _too_slow(what: str, timeout_s: float) -> RetraiError:
    return RetraiError(f"git {what} took longer than {timeout_s:g} s")


def _raise_if_failed(what: str, code: int, message: bytes) -> None:
    if code != 0:
        # It may go on with where it put its crash report.
        lines = message.decode(errors="replace").strip().splitlines()
        fatal = [line for line in lines if line.startswith("fatal: ")] or lines[-1:]
        raise RetraiError(f"git {what} failed: {fatal[0] if fatal else 'no message'}")
