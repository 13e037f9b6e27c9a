"""`file_write`."""

from __future__ import annotations

import os
from typing import Any


async def test_a_file_is_created_with_the_folders_above_it(bench: Any) -> None:
    answer = await bench.text("file_write", path="src/new/a.py", content="x = 'ä'\n")

    assert answer == "created src/new/a.py: 1 line"
    assert (bench.project / "src/new/a.py").read_bytes() == "x = 'ä'\n".encode()


async def test_a_file_is_replaced(bench: Any) -> None:
    bench.write("a", "1\n2\n3\n")

    answer = await bench.text("file_write", path="a", content="1\n2")

    assert answer == "replaced a: 2 lines (before: 3 lines)"
    assert (bench.project / "a").read_bytes() == b"1\n2"


async def test_the_same_content_touches_nothing(bench: Any) -> None:
    path = bench.write("a", "1\n")
    os.utime(path, (1, 1))

    answer = await bench.text("file_write", path="a", content="1\n")

    assert "already had exactly this content" in answer
    assert path.stat().st_mtime == 1


async def test_what_cannot_be_written_says_why(bench: Any) -> None:
    (bench.project / "folder").mkdir()

    assert "is a folder" in await bench.refusal("file_write", path="folder", content="")
    assert "surrogate" in await bench.refusal("file_write", path="a", content="\ud800")
    assert "at most 2000000" in await bench.refusal("file_write", path="a", content="x" * 2_000_001)
    assert os.listdir(bench.project) == ["folder"]
