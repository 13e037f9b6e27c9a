"""Files and trees as git objects in a folder of the run's own: written here, compared by git."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import shutil
import stat
import subprocess
import tempfile
import time
import zlib
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..errors import RetraiError, WorkspaceError
from ..workspace.beneath import Place, reach
from .object_pack import ObjectPack

FILE, EXECUTABLE, SYMLINK, FOLDER = "100644", "100755", "120000", "40000"
"""git's modes; it knows no other bits of a file's permissions."""

_LEVEL = 1
"""Of compression: the fastest, since most objects are small and never read again."""

_CHUNK_BYTES = 1 << 20
_TIMEOUT_S = 120


@dataclass(frozen=True, slots=True)
class Entry:
    """A file in a snapshot: git's mode (100644, 100755 executable, 120000 symlink) and blob id."""

    mode: str
    blob: str

    @property
    def is_file(self) -> bool:
        """A file, and no symlink."""
        return self.mode.startswith("100")


class ObjectStore:
    """Keeps what it is given under the SHA-1 of its content, each content once.

    Objects are written without git: a process for each snapshot costs more than all else in it.

    Args:
        folder: where they are kept; made by the first `open`.
        project: the folder whose files are stored.
    """

    def __init__(self, folder: Path, project: Path) -> None:
        self._folder = folder
        self._project = project
        self._root = Path(os.path.realpath(project))
        self._git = shutil.which("git")
        # Another one may write at the same time.
        self._name = f"incoming-{secrets.token_hex(4)}"
        self._incoming = f"{folder}/{self._name}"
        self._known: set[str] = set()
        self._pack: ObjectPack | None = None
        self._reader: subprocess.Popen[bytes] | None = None

    @property
    def available(self) -> bool:
        """Whether the `git` program is there, without which nothing can be read back."""
        return self._git is not None

    def open(self) -> None:
        """Make the store where there is none yet; else see what it holds.

        Whoever else makes it at the same time, or is killed meanwhile, leaves no half of one.
        """
        if not self._folder.is_dir() and self._make():
            return
        ids = ("--batch-all-objects", "--batch-check=%(objectname)")
        self._known.update(self.run("cat-file", *ids).split())

    def _make(self) -> bool:
        """Make it beside its place and move it there; False where another one came first."""
        with tempfile.TemporaryDirectory(
            dir=self._folder.parent, prefix="making-", ignore_cleanup_errors=True
        ) as room:
            made = Path(room, self._folder.name)
            self.run("init", "--quiet", "--bare", "--template=", str(made), in_store=False)
            info = made / "info"
            info.mkdir()
            # Wins over the project's own .gitattributes: bytes go in and come out as they are.
            attributes = "* -text -filter -ident -working-tree-encoding !diff\n"
            (info / "attributes").write_text(attributes, encoding="utf-8")
            try:
                made.rename(self._folder)
            except OSError as error:
                if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                    raise
                return False
        return True

    @contextmanager
    def in_one_pack(self) -> Generator[None]:
        """What is added inside goes into one file; for many objects."""
        known = set(self._known)
        room = self._folder / "objects" / "pack"
        pack = self._pack = ObjectPack(room / f"{self._name}.pack")
        try:
            yield
            pack.finish()
            # By a name of its own: git takes it for a pack once it has an index.
            own = f"{len(known)}-{time.time_ns()}-{self._name[-8:]}"
            done = pack.path.rename(room / f"pack-{own}.pack")
            self.run("index-pack", str(done))
        except BaseException:
            self._known = known
            pack.path.unlink(missing_ok=True)
            raise
        finally:
            pack.close()
            self._pack = None

    def add_file(self, path: str) -> Entry | None:
        """Store a file or a symlink of the project; None where it is gone, special or unreadable.

        Args:
            path: relative to the project; no symlink on the way is followed out of it.
        """
        try:
            with reach(self._root, path, follow_last=False) as place:
                target = _target(place)
                flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
                handle = -1 if target else os.open(place.name, flags, dir_fd=place.folder)
        except (OSError, WorkspaceError):
            return None
        if target:
            return Entry(SYMLINK, self.add("blob", target))
        with open(handle, "rb", buffering=0) as file:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                return None
            mode = EXECUTABLE if status.st_mode & 0o100 else FILE
            if status.st_size <= _CHUNK_BYTES:
                return Entry(mode, self.add("blob", file.readall()))
            return Entry(mode, self._add_large(handle, status.st_size))

    def add_tree(self, children: Mapping[str, tuple[str, str]]) -> str:
        """Store a folder; its id.

        Args:
            children: git's mode and the object's id of what stands in it, by name.
        """

        def order(child: tuple[bytes, str, str]) -> bytes:
            name, mode, _ = child
            return name + b"/" if mode == FOLDER else name

        listed = sorted(
            ((os.fsencode(name), mode, id_) for name, (mode, id_) in children.items()), key=order
        )
        lines = [b"%s %s\0%s" % (m.encode(), name, bytes.fromhex(i)) for name, m, i in listed]
        return self.add("tree", b"".join(lines))

    def add(self, kind: str, data: bytes) -> str:
        """Store an object of git's kind `blob` or `tree`; its id."""
        whole = b"%s %d\0%s" % (kind.encode(), len(data), data)
        name = hashlib.sha1(whole, usedforsecurity=False).hexdigest()
        if name in self._known:
            return name
        if self._pack is not None:
            self._pack.add(kind, data)
        else:
            with open(self._incoming, "wb", buffering=0) as file:
                file.write(zlib.compress(whole, _LEVEL))
            self._move_in(name)
        self._known.add(name)
        return name

    def entries(self, tree: str) -> dict[str, Entry]:
        """Every file and symlink of a tree, by relative path."""
        found: dict[str, Entry] = {}
        for line in self.run("ls-tree", "-r", "-z", tree).split("\0") if tree else []:
            if line:
                about, _, path = line.partition("\t")
                mode, _, blob = about.split(" ")
                found[path] = Entry(mode, blob)
        return found

    def content(self, entry: Entry) -> bytes:
        """The bytes of a file, or the target of a symlink."""
        if self._reader is None:
            return self.run("cat-file", "blob", entry.blob).encode(errors="surrogateescape")
        asked, answers = self._reader.stdin, self._reader.stdout
        assert asked is not None
        assert answers is not None
        asked.write(entry.blob.encode() + b"\n")
        asked.flush()
        head = answers.readline().split()
        if len(head) != 3:
            raise RetraiError(f"the snapshots do not hold the object {entry.blob}")
        size = int(head[2])
        return answers.read(size + 1)[:size]

    @contextmanager
    def reading(self) -> Generator[None]:
        """One process of git answers all that is asked for inside; for many contents."""
        command, env = self._command("cat-file", "--batch")
        pipe = subprocess.PIPE
        with subprocess.Popen(
            command, env=env, stdin=pipe, stdout=pipe, start_new_session=True
        ) as reader:
            self._reader = reader
            try:
                yield
            finally:
                self._reader = None

    def run(
        self, *args: str, in_store: bool = True, variables: Mapping[str, str] | None = None
    ) -> str:
        """What git says, asked about the store, without anybody's configuration.

        Raises:
            RetraiError: it failed, or took longer than two minutes.
        """
        command, env = self._command(*args, in_store=in_store)
        try:
            done = subprocess.run(  # our own git, our own store: not the agent's command
                command,
                cwd=self._project,
                env={**env, **(variables or {})},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_TIMEOUT_S,
                check=False,
                start_new_session=True,  # Ctrl-C on the terminal is retrai's, not git's
            )
        except subprocess.TimeoutExpired as error:
            raise RetraiError(f"git {args[0]} took longer than {_TIMEOUT_S} s") from error
        if done.returncode != 0:
            message = done.stderr.decode(errors="replace").strip().splitlines()
            raise RetraiError(f"git {args[0]} failed: {message[-1] if message else 'no message'}")
        return done.stdout.decode(errors="surrogateescape")

    def _command(self, *args: str, in_store: bool = True) -> tuple[list[str], dict[str, str]]:
        """How git is called: the command, and its environment."""
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
        env = kept | {
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_DEFAULT_HASH": "sha1",
            "GIT_OPTIONAL_LOCKS": "0",
            "LC_ALL": "C.UTF-8",
        }
        settings = ["core.fileMode=true", "core.symlinks=true", "core.quotePath=false"]
        command = [str(self._git)]
        for setting in [*settings, "core.bare=false", "gc.auto=0"]:
            command += ["-c", setting]
        if in_store:
            command += [f"--git-dir={self._folder}", f"--work-tree={self._project}"]
        return [*command, *args], env

    def _add_large(self, handle: int, size: int) -> str:
        """Store a blob piece by piece; as many bytes as it had when it was opened."""
        digest = hashlib.sha1(usedforsecurity=False)
        packer = zlib.compressobj(_LEVEL)
        with open(self._incoming, "wb") as file:
            piece = b"blob %d\0" % size
            left = size
            while piece:
                digest.update(piece)
                file.write(packer.compress(piece))
                piece = os.read(handle, min(left, _CHUNK_BYTES))
                left -= len(piece)
            file.write(packer.flush())
        if left:  # it became shorter meanwhile
            os.lseek(handle, 0, os.SEEK_SET)
            return self._add_large(handle, os.fstat(handle).st_size)
        self._move_in(digest.hexdigest())
        return digest.hexdigest()

    def _move_in(self, name: str) -> None:
        room = self._folder / "objects" / name[:2]
        room.mkdir(exist_ok=True)
        os.replace(self._incoming, room / name[2:])


def blob_id(data: bytes) -> str:
    """The id under which a file of this content is kept."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _target(place: Place) -> bytes:
    """Where a symlink leads; empty for anything else."""
    try:
        return os.fsencode(os.readlink(place.name, dir_fd=place.folder))
    except OSError:
        return b""
