"""Append-only files of lines: only whole lines are appended, and a torn one harms no other."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


class LineFile:
    """A file that is open for appending.

    Args:
        path: the file; made when missing.

    Raises:
        OSError: it cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        self.handle = os.open(path, flags, 0o600)

    def append(self, lines: Iterable[str]) -> None:
        """Hand whole lines to the system in one write, so that no kill of retrai takes one back.

        A line that a kill left half written is ended first. Waiting for the disk as well would
        cost milliseconds each time, and help only against a power cut.

        Raises:
            OSError: they cannot be written (the disk is full); then none of them is.
        """
        # Half a surrogate pair, which JSON from a model may hold, is written as JSON's own escape.
        data = "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")
        size = os.fstat(self.handle).st_size
        if size and os.pread(self.handle, 1, size - 1) != b"\n":
            data = b"\n" + data
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self.handle, rest) :]
        except OSError:
            with suppress(OSError):
                os.ftruncate(self.handle, size)
            raise

    def close(self) -> None:
        """No more lines."""
        if self.handle >= 0:
            os.close(self.handle)
            self.handle = -1


def append_once(path: Path, *lines: str) -> None:
    """Append lines to a file that is open only for that."""
    file = LineFile(path)
    try:
        file.append(lines)
    finally:
        file.close()


def read_lines(path: Path, offset: int = 0, max_bytes: int = -1) -> tuple[list[bytes], int]:
    """Lines from an offset on, and where they end; one that is not ended yet is left out.

    Args:
        path: the file; one that is missing has no lines.
        offset: where a line begins.
        max_bytes: about so many bytes at a time, at least one line; all when negative.
    """
    try:
        with path.open("rb") as file:
            file.seek(offset)
            data = file.read(max_bytes)
            if max_bytes > 0 and len(data) == max_bytes:
                data += file.readline()
    except FileNotFoundError:
        return [], offset
    whole = data[: data.rfind(b"\n") + 1]
    # Not `splitlines`: it also splits at a carriage return.
    return whole.split(b"\n")[:-1], offset + len(whole)
