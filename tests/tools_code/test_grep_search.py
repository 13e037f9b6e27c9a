"""`grep_search`: Python decides what matches, ripgrep only makes it quicker."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from retrai_core import ToolError
from retrai_tools_code.grep_worker import search_file
from retrai_tools_code.rg_filter import weaker_pattern

needs_rg = pytest.mark.skipif(shutil.which("rg") is None, reason="ripgrep (rg) is not installed")


@pytest.fixture(params=["python", pytest.param("ripgrep", marks=needs_rg)])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With ripgrep, and as on a machine without it."""
    if request.param == "python":
        folders = os.environ["PATH"].split(os.pathsep)
        kept = [folder for folder in folders if not Path(folder, "rg").exists()]
        monkeypatch.setenv("PATH", os.pathsep.join(kept))
    return request.param


@pytest.fixture
def tree(bench: Any) -> Any:
    bench.write("src/shop/cart.py", "def total(items):\n    return sum(items)\n\n\nTOTAL = 1\n")
    bench.write("src/b.py", "x = total\r\ny = 2\r\n")
    bench.write("README", "The total.\nÄrger über Größe: 10 €\n")
    bench.write("-dash", "total\n")
    bench.write("bom", b"\xef\xbb\xbftotal = 1\n")
    bench.write("latin", b"total \xe4 gr\xf6\xdfe\n")
    bench.write("image.png", b"total\0\n")
    bench.write("wide", "total\n".encode("utf-16"))
    bench.write(".hidden/x", "total\n")
    bench.write("build/out", "total\n")
    bench.write(".gitignore", "build/\n")
    bench.write(".git/config", "total\n")
    (bench.project / "link").symlink_to("README")
    return bench


@pytest.mark.parametrize(
    ("args", "lines"),
    [
        (
            {"pattern": "total"},
            [
                "-dash:1: total",
                ".hidden/x:1: total",
                "README:1: The total.",
                "bom:1: total = 1",
                "latin:1: total \ufffd gr\ufffd\ufffde",
                "src/b.py:1: x = total",
                "src/shop/cart.py:1: def total(items):",
            ],
        ),
        ({"pattern": r"^total\b.=", "path": "."}, ["bom:1: total = 1"]),
        ({"pattern": "total$", "path": "src"}, ["src/b.py:1: x = total"]),
        ({"pattern": "total", "path": "src/b.py"}, ["src/b.py:1: x = total"]),
        ({"pattern": "total", "path": "link"}, ["link:1: The total."]),
        ({"pattern": "total", "path": "build"}, ["build/out:1: total"]),
        (
            {"pattern": "TOTAL", "ignore_case": True, "glob": "*.py"},
            [
                "src/b.py:1: x = total",
                "src/shop/cart.py:1: def total(items):",
                "src/shop/cart.py:5: TOTAL = 1",
            ],
        ),
        ({"pattern": r"\(items\)", "glob": "src/**/*.py"}, None),
        ({"pattern": "ärger", "ignore_case": True}, ["README:2: Ärger über Größe: 10 €"]),
        ({"pattern": r"gr.{2}e"}, ["latin:1: total \ufffd gr\ufffd\ufffde"]),
        ({"pattern": r"Gr.{2}e: \d+ €"}, ["README:2: Ärger über Größe: 10 €"]),
        ({"pattern": r"(?i)(?<=x = )TOTAL(?!s)"}, ["src/b.py:1: x = total"]),
        (
            {"pattern": "return", "context_lines": 1},
            [
                "src/shop/cart.py-1- def total(items):",
                "src/shop/cart.py:2:     return sum(items)",
                "src/shop/cart.py-3- ",
            ],
        ),
        (
            {"pattern": "def|TOTAL", "context_lines": 1, "path": "src/shop"},
            [
                "src/shop/cart.py:1: def total(items):",
                "src/shop/cart.py-2-     return sum(items)",
                "--",
                "src/shop/cart.py-4- ",
                "src/shop/cart.py:5: TOTAL = 1",
            ],
        ),
    ],
)
async def test_matching_lines_are_given_sorted(
    tree: Any, engine: str, args: dict[str, Any], lines: list[str] | None
) -> None:
    text = await tree.text("grep_search", **args)

    if lines is None:
        lines = [
            "src/shop/cart.py:1: def total(items):",
            "src/shop/cart.py:2:     return sum(items)",
        ]
    assert text.split("\n") == lines


async def test_no_match_is_an_answer(tree: Any, engine: str) -> None:
    result = await tree.call("grep_search", pattern="nowhere to be found")

    assert result.content == "no line matches 'nowhere to be found'"
    assert result.ok
    assert result.data["matches"] == 0


async def test_many_matches_are_cut_and_the_answer_says_so(bench: Any, engine: str) -> None:
    for number in range(5):
        bench.write(f"f{number}", "x\n" * 10)

    exact = await bench.call("grep_search", {"max_matches": 50}, pattern="x")
    cut = await bench.call("grep_search", {"max_matches": 25}, pattern="x+")

    assert len(exact.content.split("\n")) == 50
    assert cut.content.split("\n")[24:] == [
        "f2:5: x",
        "[more than 25 matches; make the pattern or the path narrower]",
    ]
    assert cut.data["matches"] == 25


async def test_long_lines_and_large_files_are_told(bench: Any, engine: str) -> None:
    bench.write("long", "x" * 5000 + "\n")
    bench.write("large", "x\n" * 600_000)

    result = await bench.call("grep_search", {"max_file_bytes": 1_000_000}, pattern="x")

    line, note = result.content.split("\n")
    assert line == "long:1: " + "x" * 400 + " [...]"
    assert note == "[1 files larger than 1000000 bytes not searched]"


@pytest.mark.parametrize("pattern", ["(a", "[z-a]", "*", "a{2,1}", "(?P<n>a)(?P<n>b)", "\\"])
async def test_a_pattern_that_is_none_is_explained(tree: Any, pattern: str) -> None:
    told = await tree.refusal("grep_search", pattern=pattern)

    assert "is not a regular expression" in told
    assert repr(pattern) in told


async def test_a_pattern_that_would_take_for_ever_is_ended(bench: Any, engine: str) -> None:
    bench.write("a", "a" * 40 + "!\n")
    bench.write("b", "a" * 40 + "!\n")

    with pytest.raises(ToolError, match="took longer than 1 s"):
        await bench.call("grep_search", {"timeout_s": 1}, pattern="(a+)+$")


async def test_file_names_of_any_bytes_are_searched(bench: Any, engine: str) -> None:
    for name in (b"\xff", b"new\nline", b"sp ace", "ä".encode()):
        Path(os.fsdecode(os.fsencode(bench.project) + b"/" + name)).write_text("total")

    text = await bench.text("grep_search", pattern="total")

    assert text.split("\n") == [
        "new",
        "line:1: total",
        "sp ace:1: total",
        "ä:1: total",
        "\\udcff:1: total",
    ]


@pytest.mark.parametrize(
    ("pattern", "weaker"),
    [
        ("foo", "foo"),
        (r"foo\.bar", r"foo\x{2E}bar"),
        ("a(b|c)d", "a(?:b|c)d"),
        (r"^\s*$", None),
        (r"(?i)foo", None),
        (r"(a)\1", None),
        ("a++b", "a+b"),
        ("a{,3}b", "a{0,3}b"),
        ("a{x}", r"a\x{7B}x\x{7D}"),
        ("a{900}", None),
        ("a\nb", None),
    ],
)
def test_ripgrep_gets_a_weaker_pattern(pattern: str, weaker: str | None) -> None:
    assert weaker_pattern(pattern, ignore_case=False) == weaker


ATOM = st.one_of(
    st.sampled_from(list("abikKsSäßÄ.-_ 1{}]&~\u017f\u212a\u0130\u0131\ufffd")),
    st.sampled_from([r"\w", r"\d", r"\s", r"\W", r"\b", r"\.", r"\-", r"\ä", "^", "$"]),
    st.sampled_from(["[a-k]", "[^a]", "[]a]", "[^]]", r"[\]s]", "[ä-ü]", r"[\w-]"]),
)
PATTERN = st.recursive(
    ATOM,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{,2}", "*?"])).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        ),
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.tuples(inner, inner).map("|".join).map("({})".format),
    ),
    max_leaves=6,
)
LINE = st.one_of(
    st.text("abikKsSäßÄ.-_ 1{}]&~\u017f\u212a\u0130\u0131²\u0301\x1c", max_size=10).map(str.encode),
    st.binary(max_size=6),
)


@needs_rg
@settings(max_examples=150)
@given(pattern=PATTERN, lines=st.lists(LINE, min_size=1, max_size=12), ignore_case=st.booleans())
def test_ripgrep_leaves_out_no_file_in_which_python_finds_the_pattern(
    pattern: str, lines: list[bytes], ignore_case: bool
) -> None:
    try:
        regex = re.compile(pattern, re.IGNORECASE if ignore_case else 0)
    except re.error:
        assume(False)
        raise
    weaker = weaker_pattern(pattern, ignore_case=ignore_case)
    assume(weaker is not None)
    assert weaker is not None
    with tempfile.TemporaryDirectory() as folder:
        for number, line in enumerate(lines):
            Path(folder, str(number)).write_bytes(line)
        found = subprocess.run(
            [
                "rg",
                "--no-config",
                "-l",
                "--text",
                "--encoding=none",
                "-e",
                weaker,
                "--",
                *map(str, range(len(lines))),
            ],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
    assert found.returncode in (0, 1), found.stderr
    listed = {int(name) for name in found.stdout.split()}
    for number, line in enumerate(lines):
        if search_file(regex, line, context=0, room=1):
            assert number in listed, (weaker, line)
