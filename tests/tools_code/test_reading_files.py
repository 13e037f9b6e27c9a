"""`file_read` and `file_list`."""

from __future__ import annotations

from typing import Any

import pytest


async def test_a_file_is_shown_as_it_is(bench: Any) -> None:
    bench.write("a.py", "def f():\n\treturn 'ä\x0c'\n")

    assert await bench.text("file_read", path="a.py") == "def f():\n\treturn 'ä\x0c'"


@pytest.mark.parametrize(
    ("args", "shown"),
    [
        ({"start_line": 2, "end_line": 3}, "two\nthree\n[lines 2 to 3 of 4]"),
        ({"start_line": 4}, "four\n[line 4 of 4]"),
        ({"end_line": 1}, "one\n[line 1 of 4]"),
        ({"end_line": 900}, "one\ntwo\nthree\nfour"),
        ({"start_line": 3, "line_numbers": True}, "3\tthree\n4\tfour\n[lines 3 to 4 of 4]"),
    ],
)
async def test_a_range_of_lines_is_shown(bench: Any, args: dict[str, Any], shown: str) -> None:
    bench.write("a", "one\ntwo\nthree\nfour\n")

    assert await bench.text("file_read", path="a", **args) == shown


@pytest.mark.parametrize(
    ("args", "words"),
    [({"start_line": 5}, "only 4 lines"), ({"start_line": 3, "end_line": 2}, "lies after")],
)
async def test_a_range_that_is_none_is_an_error(
    bench: Any, args: dict[str, Any], words: str
) -> None:
    bench.write("a", "one\ntwo\nthree\nfour\n")

    assert words in await bench.refusal("file_read", path="a", **args)


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"", "[the file is empty]"),
        (b"a\r\nb\r\n", "a\nb\n[CRLF line ends]"),
        (b"a\r\nb\n", "a\nb\n[mixed CRLF and LF line ends]"),
        (b"\xef\xbb\xbfa\n", "a\n[starts with a byte order mark]"),
        ("ä\n".encode("utf-16"), "ä\n[encoding utf-16-le]"),
        (b"# -*- coding: cp1252 -*-\n\x80\n", "# -*- coding: cp1252 -*-\n€\n[encoding cp1252]"),
        (b"# coding: nonsense\n\xe4\n", "# coding: nonsense\nä\n[encoding latin-1]"),
        (b"\xe4\n", "ä\n[encoding latin-1]"),
    ],
)
async def test_encodings_and_line_ends_are_told(bench: Any, data: bytes, shown: str) -> None:
    bench.write("a", data)

    assert await bench.text("file_read", path="a") == shown


async def test_a_large_file_is_cut_at_200_kb_and_read_on_from_there(bench: Any) -> None:
    bench.write("a", "".join(f"line {number:06}\n" for number in range(1, 30_001)))

    first = await bench.call("file_read", path="a")

    shown = first.data["shown"]
    assert len(first.content.encode()) < 200_200
    assert shown == 200_000 // 12
    assert f"[lines 1 to {shown} of 30000; cut at 200000 bytes" in first.content
    rest = await bench.text("file_read", path="a", start_line=shown + 1, end_line=shown + 1)
    assert rest.startswith(f"line {shown + 1:06}\n")


async def test_one_endless_line_is_cut(bench: Any) -> None:
    bench.write("a", "ä" * 300_000)

    result = await bench.call("file_read", {"max_bytes": 1001}, path="a")

    assert result.content.startswith("ä" * 500 + " [... the line goes on]")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("image", "binary file of 8 bytes"),
        ("src", "is a folder"),
        ("cart.py", "did you mean 'src/shop/cart.py'?"),
        ("src/shop/card.py", "did you mean 'src/shop/cart.py'?"),
        ("qqq", "does not exist"),
    ],
)
async def test_what_cannot_be_read_says_why(bench: Any, path: str, words: str) -> None:
    bench.write("image", b"\x89PNG\0\0\0\0")
    bench.write("src/shop/cart.py", "")

    assert words in await bench.refusal("file_read", path=path)


async def test_a_folder_is_listed(bench: Any) -> None:
    for name in (".gitignore", "src/shop/cart.py", "src/main.py", "README", "build/x"):
        bench.write(name, "build/\n")
    (bench.project / "link").symlink_to("README")

    assert (await bench.text("file_list")).split("\n") == [
        ".gitignore (7)",
        "README (7)",
        "build/",
        "link (symlink)",
        "src/",
    ]
    assert await bench.text("file_list", path="src") == "src/main.py (7)\nsrc/shop/"
    assert (await bench.text("file_list", depth=3)).split("\n") == [
        ".gitignore (7)",
        "README (7)",
        "build/",
        "link (symlink)",
        "src/",
        "src/main.py (7)",
        "src/shop/",
        "src/shop/cart.py (7)",
    ]


async def test_deeper_levels_are_cut_at_the_depth(bench: Any) -> None:
    bench.write("a/b/c/d/e", "")

    assert await bench.text("file_list", path="a", depth=2) == "a/b/\na/b/c/"
    assert await bench.text("file_list", path="a/b", depth=9) == "a/b/c/\na/b/c/d/\na/b/c/d/e (0)"


async def test_a_long_listing_is_cut_and_says_so(bench: Any) -> None:
    for number in range(30):
        bench.write(f"f{number:02}", "")

    result = await bench.call("file_list", {"max_entries": 10})

    assert result.content.split("\n")[-1].startswith("[... 20 more entries")
    assert "f09" in result.content
    assert "f10" not in result.content


async def test_an_empty_folder_is_an_answer(bench: Any) -> None:
    assert await bench.text("file_list") == "[the folder is empty]"


async def test_read_file_and_list_directory_are_second_names(bench) -> None:
    bench.write("src/a.py", "one\ntwo\nthree\n")

    assert (
        await bench.text("read_file", file_path="src/a.py", start_line=2, end_line=3)
    ).startswith("2\ttwo\n3\tthree")
    assert await bench.text("list_directory", path="src") == "src/a.py (14)"
    assert "goes up" in await bench.refusal("read_file", file_path="../outside/secret")
