"""Many objects in one file, in git's pack format: making a file for each costs more than them."""

from __future__ import annotations

import hashlib
import struct
import zlib
from pathlib import Path

_HEAD = struct.Struct(">4sII")
_KINDS = {"tree": 2, "blob": 3}
_LEVEL = 1


class ObjectPack:
    """A pack that is being written.

    Args:
        path: its file; `git index-pack` makes it readable once it is finished.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("w+b")
        self._file.write(_HEAD.pack(b"PACK", 2, 0))
        self._count = 0

    def add(self, kind: str, data: bytes) -> None:
        """Add an object of git's kind `blob` or `tree`; each only once."""
        size = len(data)
        byte = _KINDS[kind] << 4 | size & 0x0F
        size >>= 4
        head = bytearray()
        while size:
            head.append(byte | 0x80)
            byte = size & 0x7F
            size >>= 7
        head.append(byte)
        self._file.write(bytes(head) + zlib.compress(data, _LEVEL))
        self._count += 1

    def finish(self) -> None:
        """Write how many there are, and the sum over all of it; close the file."""
        file = self._file
        file.seek(0)
        file.write(_HEAD.pack(b"PACK", 2, self._count))
        file.seek(0)
        digest = hashlib.sha1(usedforsecurity=False)
        while piece := file.read(1 << 20):
            digest.update(piece)
        file.write(digest.digest())
        file.close()

    def close(self) -> None:
        """Close the file as it is, finished or not."""
        self._file.close()
