"""`find_files` and the globs."""

from __future__ import annotations

from typing import Any

import pytest

from retrai_core import ToolError
from retrai_tools_code.globs import glob_matcher


@pytest.mark.parametrize(
    ("pattern", "fits", "others"),
    [
        ("*.py", ["a.py", "x/y/a.py", ".py"], ["a.pyc", "a.py/b"]),
        ("src/*.py", ["src/a.py"], ["src/x/a.py", "a.py", "x/src/a.py"]),
        ("src/**/*.py", ["src/a.py", "src/x/y/a.py"], ["a.py"]),
        ("**/test_*.py", ["test_a.py", "x/test_b.py"], ["x/a_test_b.py"]),
        ("**", ["a", "x/y"], []),
        ("src/", ["src/a", "src/x/y"], ["src", "a"]),
        ("./a", ["a"], []),
        ("{a,b}.{py,toml}", ["a.py", "x/b.toml"], ["c.py", "a.md"]),
        ("a?c", ["abc", "x/a.c"], ["ac", "a/c"]),
        ("[ab]x", ["ax", "bx"], ["cx", "x"]),
        ("[!ab]x", ["cx"], ["ax"]),
        ("[]x]y", ["]y", "xy"], ["ay"]),
        ("x/[!a]b", ["x/cb"], ["x//b"]),
        (r"a\*", ["a*"], ["ab"]),
        ("a+(b)", ["a+(b)"], ["aab"]),
        ("a,b}", ["a,b}"], ["a"]),
    ],
)
def test_a_glob_fits_what_it_says(pattern: str, fits: list[str], others: list[str]) -> None:
    matches = glob_matcher(pattern)

    assert [path for path in fits if not matches(path)] == []
    assert [path for path in others if matches(path)] == []


@pytest.mark.parametrize("pattern", ["", "./", "[a", "{a,b", "[z-a]"])
def test_a_glob_that_is_none_is_an_error(pattern: str) -> None:
    with pytest.raises(ToolError):
        glob_matcher(pattern)


async def test_files_are_found_below_a_folder(bench: Any) -> None:
    for name in ("src/a.py", "src/x/b.py", "tests/c.py", "build/d.py", ".gitignore"):
        bench.write(name, "build/\n")

    assert await bench.text("find_files", pattern="*.py") == "src/a.py\nsrc/x/b.py\ntests/c.py"
    assert await bench.text("find_files", pattern="x/*.py", path="src/") == "src/x/b.py"
    assert "build/d.py" in await bench.text("find_files", pattern="*.py", ignored=True)
    assert await bench.text("find_files", pattern="*.rs") == "no file fits '*.rs'"


async def test_a_long_answer_is_cut_and_says_so(bench: Any) -> None:
    for number in range(30):
        bench.write(f"f{number:02}", "")

    few = await bench.call("find_files", {"max_results": 10}, pattern="f*")
    short = await bench.call("find_files", {"max_chars": 100}, pattern="f*")

    assert few.content.split("\n")[-1] == "[... 20 more files; make the pattern narrower]"
    assert len(short.content) <= 100
    assert "more files" in short.content
