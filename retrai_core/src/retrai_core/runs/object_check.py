"""Whether an object file of a repository still is what git once wrote: its content names it."""

from __future__ import annotations

import hashlib
import re
import zlib
from pathlib import Path

_LOOSE = re.compile(r"(?:^|/)objects/([0-9a-f]{2})/([0-9a-f]{38}|[0-9a-f]{62})$")
_LARGE = re.compile(r"(?:^|/)lfs/objects/[0-9a-f]{2}/[0-9a-f]{2}/([0-9a-f]{64})$")
_SUMMED = re.compile(r"(?:^|/)objects/pack/[^/]+\.(?:pack|idx|rev|bitmap|mtimes)$")
_CHUNK_BYTES = 1 << 20
_SHA1_BYTES, _SHA256_BYTES = 20, 32


def is_sound(path: str, file: Path) -> bool:
    """Whether `file` holds what belongs at `path`; True where git gives no means to tell.

    Args:
        path: of the object in its repository, or any that ends like it.
        file: where it lies now.

    Raises:
        OSError: it cannot be read.
    """
    if found := _LOOSE.search(path):
        return _loose_id(file, len(found[2])) == found[1] + found[2]
    if found := _LARGE.search(path):
        with file.open("rb") as data:
            return hashlib.file_digest(data, "sha256").hexdigest() == found[1]
    return _ends_with_its_sum(file) if _SUMMED.search(path) else True


def _loose_id(file: Path, digits: int) -> str:
    """The id of what is in it; empty where it cannot be unpacked."""
    digest = hashlib.sha1(usedforsecurity=False) if digits == 38 else hashlib.sha256()
    unpacker = zlib.decompressobj()
    try:
        with file.open("rb") as data:
            while piece := data.read(_CHUNK_BYTES):
                if unpacker.eof:
                    return ""
                while piece and not unpacker.eof:
                    # Whoever wrote it may have packed more than memory holds.
                    digest.update(unpacker.decompress(piece, _CHUNK_BYTES))
                    piece = unpacker.unconsumed_tail
            digest.update(unpacker.flush())
    except zlib.error:
        return ""
    # What is left over after the end would be damage too.
    return digest.hexdigest() if unpacker.eof and not unpacker.unused_data else ""


def _ends_with_its_sum(file: Path) -> bool:
    """As packs and what lies beside them do, by SHA-1, or SHA-256 in a newer repository."""
    size = file.stat().st_size
    return any(
        size >= length and _sum_fits(file, size - length, name)
        for name, length in (("sha1", _SHA1_BYTES), ("sha256", _SHA256_BYTES))
    )


def _sum_fits(file: Path, size: int, name: str) -> bool:
    digest = hashlib.new(name, usedforsecurity=False)
    with file.open("rb") as data:
        left = size
        while left and (piece := data.read(min(left, _CHUNK_BYTES))):
            digest.update(piece)
            left -= len(piece)
        return not left and data.read() == digest.digest()
