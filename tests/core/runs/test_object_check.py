"""An object of git's is known by its content, however it is packed."""

from __future__ import annotations

import hashlib
import tracemalloc
import zlib
from pathlib import Path

import pytest

from retrai_core.runs.object_check import is_sound

LARGE = b"blob 67108864\0" + bytes(64 << 20)


def _written(folder: Path, content: bytes, packed: bytes) -> tuple[str, Path]:
    name = hashlib.sha1(content, usedforsecurity=False).hexdigest()
    file = folder / "object"
    file.write_bytes(packed)
    return f".git/objects/{name[:2]}/{name[2:]}", file


@pytest.mark.parametrize("content", [b"blob 0\0", b"blob 3\0abc", bytes(range(256)) * 9_000, LARGE])
@pytest.mark.parametrize("level", [0, 1, 9])
def test_what_git_wrote_is_sound(content: bytes, level: int, tmp_path: Path) -> None:
    path, file = _written(tmp_path, content, zlib.compress(content, level))
    assert is_sound(path, file)


@pytest.mark.parametrize("damage", ["cut", "longer", "other"])
def test_what_was_changed_is_not(damage: str, tmp_path: Path) -> None:
    content = bytes(range(256)) * 9_000
    packed = zlib.compress(content)
    changed = {
        "cut": packed[:-1],
        "longer": packed + b"x",
        "other": zlib.compress(content + b"x"),
    }
    assert not is_sound(*_written(tmp_path, content, changed[damage]))


def test_an_object_that_unpacks_to_very_much_takes_little_memory(tmp_path: Path) -> None:
    path, file = _written(tmp_path, LARGE, zlib.compress(LARGE))
    tracemalloc.start()
    try:
        assert is_sound(path, file)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 16 << 20
