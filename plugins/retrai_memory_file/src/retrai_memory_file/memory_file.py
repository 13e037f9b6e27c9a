"""The file itself: read, changed under a lock, replaced as a whole, set aside when it is broken.

All is done relative to an open handle of `.retrai`, which must be a real folder: a project that
brings a symlink there cannot make a run write elsewhere.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ValidationError

from .document import VERSION, Document

FOLDER = ".retrai"
NAME = "memory.json"
HALF_WRITTEN = "memory.json.tmp"
MAX_BYTES = 10_000_000
LOCK_TIMEOUT_S = 20.0
LOCK_PAUSE_S = 0.02
CLOSE_ON_EXEC = os.O_CLOEXEC


class MemoryUnavailableError(Exception):
    """The file cannot be used now; it is left as it is. The message is one line for people."""


class BrokenMemoryError(Exception):
    """The file is no memory; it can be set aside."""


class Versioned(BaseModel):
    version: int = 0


@dataclass
class MemoryFile:
    """`.retrai/memory.json` of one project.

    Attributes:
        project: the project's absolute path.
        lock_timeout_s: how long to wait for other runs that are writing.
        warnings: what a person should hear about, one line each; taken away by the caller.
    """

    project: Path
    lock_timeout_s: float = LOCK_TIMEOUT_S
    warnings: list[str] = field(default_factory=list[str])

    @property
    def path(self) -> Path:
        return self.project / FOLDER / NAME

    def read(self) -> Document:
        """What the file holds; empty when there is none.

        A broken file is set aside first, under the lock, for another run may be doing the same.

        Raises:
            MemoryUnavailableError: it cannot be read, or is of a newer version.
        """
        try:
            with self.folder(create=False) as folder:
                try:
                    return load(folder)
                except BrokenMemoryError:
                    with self.locked(folder):
                        return self.load_or_set_aside(folder)
        except FileNotFoundError:
            return Document()
        except OSError as error:
            raise self.unavailable(error) from error

    def change(self, change: Callable[[Document], None]) -> None:
        """Read, change and replace the file, alone among all runs.

        Raises:
            MemoryUnavailableError: it cannot be read or written, or is of a newer version.
        """
        try:
            with self.folder(create=True) as folder, self.locked(folder):
                document = self.load_or_set_aside(folder)
                change(document)
                replace(folder, document)
        except OSError as error:
            raise self.unavailable(error) from error

    @contextmanager
    def folder(self, *, create: bool) -> Generator[int]:
        """A handle of `.retrai`."""
        path = self.project / FOLDER
        made = False
        if create:
            with suppress(FileExistsError):
                path.mkdir()
                made = True
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | CLOSE_ON_EXEC)
        try:
            if made:
                give_to_owner(handle, self.project.stat())
            yield handle
        finally:
            os.close(handle)

    @contextmanager
    def locked(self, folder: int) -> Generator[None]:
        """Hold the lock on the folder; it dies with its process and leaves no file behind."""
        deadline = time.monotonic() + self.lock_timeout_s
        while True:
            try:
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise MemoryUnavailableError(
                        f"{self.path}: other runs held its lock for {self.lock_timeout_s:.0f} s"
                    ) from None
                time.sleep(LOCK_PAUSE_S)
        try:
            yield
        finally:
            fcntl.flock(folder, fcntl.LOCK_UN)

    def load_or_set_aside(self, folder: int) -> Document:
        """What the file holds; a broken one is renamed, with a warning, and counts as none."""
        try:
            return load(folder)
        except BrokenMemoryError as error:
            aside = free_name(folder)
            try:
                os.rename(NAME, aside, src_dir_fd=folder, dst_dir_fd=folder)
            except OSError as refused:
                raise MemoryUnavailableError(
                    f"{self.path} is not a memory file ({error}) and cannot be set aside: "
                    f"{refused.strerror}"
                ) from refused
            self.warnings.append(f"{self.path} is not a memory file ({error}): kept as {aside}")
            return Document()

    def unavailable(self, error: OSError) -> MemoryUnavailableError:
        return MemoryUnavailableError(f"{self.path}: {error.strerror or error}")


def load(folder: int) -> Document:
    """Read the file below an open folder.

    Raises:
        BrokenMemoryError: it is no memory.
        MemoryUnavailableError: it is of a newer version.
        OSError: it cannot be read.
    """
    try:
        # Non-blocking: a named pipe would wait for a writer.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | CLOSE_ON_EXEC
        handle = os.open(NAME, flags, dir_fd=folder)
    except FileNotFoundError:
        return Document()
    try:
        text = read_regular(handle)
    finally:
        os.close(handle)
    try:
        version = Versioned.model_validate_json(text).version
        if version > VERSION:
            raise MemoryUnavailableError(
                f"{FOLDER}/{NAME} is of version {version}, newer than {VERSION}: it is left alone"
            )
        return Document.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise BrokenMemoryError(f"{where}: {first['msg']}" if where else first["msg"]) from error


def read_regular(handle: int) -> bytes:
    """The bytes of an open file, which must be a plain one of a sensible size."""
    found = os.fstat(handle)
    if not stat.S_ISREG(found.st_mode):
        raise BrokenMemoryError("not a regular file")
    if found.st_size > MAX_BYTES:
        raise BrokenMemoryError(f"larger than {MAX_BYTES} bytes")
    with open(handle, "rb", closefd=False) as file:
        return file.read()


def replace(folder: int, document: Document) -> None:
    """Put the document in the file's place, whole; the lock must be held."""
    # One fixed name: what a killed run left half written is overwritten, never piled up.
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | CLOSE_ON_EXEC
    handle = os.open(HALF_WRITTEN, flags, 0o644, dir_fd=folder)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        give_to_owner(file.fileno(), os.fstat(folder))
        file.write(document.model_dump_json(indent=2) + "\n")
        file.flush()
        os.fsync(file.fileno())
    os.rename(HALF_WRITTEN, NAME, src_dir_fd=folder, dst_dir_fd=folder)


def give_to_owner(handle: int, above: os.stat_result) -> None:
    """Give what was just made to the owner of the folder above; nothing but as root.

    Else root's run in another user's project would keep that user from writing the memory.
    """
    if os.geteuid() == 0:
        with suppress(PermissionError):  # root of a container, over files of somebody outside
            os.fchown(handle, above.st_uid, above.st_gid)


def free_name(folder: int) -> str:
    """A name for a file that is set aside, which overwrites no earlier one."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    taken = set(os.listdir(folder))
    name = f"{NAME}.corrupt-{stamp}"
    number = 1
    while name in taken:
        number += 1
        name = f"{NAME}.corrupt-{stamp}-{number}"
    return name
