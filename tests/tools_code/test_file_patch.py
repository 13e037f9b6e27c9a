"""`file_patch`: one exact place, or an answer that helps to name it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrai_core import ToolError
from retrai_tools_code.patch_match import apply_patch

CART = """\
class Cart:
    def total(self):
        total = 0
        for item in self.items:
            total += item.price
        return total

    def count(self):
        return len(self.items)
"""


async def test_one_place_is_replaced_and_the_rest_keeps_its_bytes(bench: Any) -> None:
    bench.write("cart.py", CART)

    answer = await bench.text(
        "file_patch",
        path="cart.py",
        old="            total += item.price\n",
        new="            total += item.price * item.quantity\n            checked = True\n",
    )

    assert answer == "patched cart.py at line 5 to 6: 1 out, 2 in"
    assert (bench.project / "cart.py").read_text() == CART.replace(
        "item.price\n", "item.price * item.quantity\n            checked = True\n"
    )


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a\r\nb\r\nc\r\n", "b\n", "x\ny\n", b"a\r\nx\r\ny\r\nc\r\n"),
        (b"a\r\nb\r\nc", "c", "x\ny", b"a\r\nb\r\nx\r\ny"),
        (b"a\nb\r\nc\n", "b", "x", b"a\nx\r\nc\n"),
        (b"a\nb\r\nc\n", "b\nc", "x\ny", b"a\nx\r\ny\n"),
        (b"a\nb", "b", "c", b"a\nc"),
        (b"a\nb", "b\n", "c\n", b"a\nc"),
        (b"a\nb\n", "b", "", b"a\n\n"),
        (b"a\nb\n", "b\n", "", b"a\n"),
        (b"\xef\xbb\xbfa\n", "a", "b", b"\xef\xbb\xbfb\n"),
        (b"\xe4 a\n", "a", "\u00f6", b"\xe4 \xf6\n"),
        ("äa\n".encode("utf-16"), "a", "b", "äb\n".encode("utf-16")),
        (b"a\x0cb\x85c\n", "c", "d", b"a\x0cb\x85d\n"),
    ],
)
async def test_encoding_line_ends_and_the_last_line_stay_as_they_are(
    bench: Any, before: bytes, old: str, new: str, after: bytes
) -> None:
    bench.write("a", before)

    await bench.text("file_patch", path="a", old=old, new=new)

    assert (bench.project / "a").read_bytes() == after


@pytest.mark.parametrize(
    ("old", "new", "after", "note"),
    [
        # blanks at line ends
        (
            "def f():  \n    return 1",
            "def f():\n    return 2",
            "def f():\n    return 2\n",
            "blanks",
        ),
        # `old` lacks the indentation, and `new` gets it
        (
            "for x in y:\n    go(x)",
            "for x in z:\n    if x:\n\n        go(x)",
            "def f():\n    for x in z:\n        if x:\n\n            go(x)\n",
            "indentation",
        ),
        # `old` has too much of it, and `new` loses it
        (
            "        def f():\n            return 1\n",
            "        def f():\n            return 3\n",
            "def f():\n    return 3\n",
            "indentation",
        ),
    ],
)
def test_blanks_may_differ_where_one_place_fits(old: str, new: str, after: str, note: str) -> None:
    before = (
        "def f():\n    for x in y:\n        go(x)\n"
        if "for x" in old
        else "def f():\n    return 1\n"
    )

    done = apply_patch(before, old, new)

    assert done.text == after
    assert note in done.note


@pytest.mark.parametrize(
    ("before", "old"),
    [
        # the indentation differs from line to line: in Python that is another program
        ("if a:\n    b()\n    c()\n", "if a:\n    b()\nc()\n"),
        ("x = 'a  b'\n", "x = 'a b'\n"),  # blanks inside a line
        ("\n\n\n", "   \n"),  # nothing but blanks
    ],
)
def test_other_differences_in_blanks_are_not_guessed(before: str, old: str) -> None:
    with pytest.raises(ToolError, match="not found"):
        apply_patch(before, old, "z")


def test_blanks_may_not_differ_where_two_places_fit() -> None:
    with pytest.raises(ToolError, match="found 2 times, at lines 2, 4"):
        apply_patch("if a:\n    go()\nelse:\n      go()\n", "go() \n", "stop()\n")


def test_an_exact_place_comes_before_others_that_differ_in_blanks() -> None:
    assert apply_patch("a  \n a\n", " a\n", "b\n").text == "a  \nb\n"


def test_several_places_are_named_by_their_lines() -> None:
    with pytest.raises(ToolError, match=r"found 2 times, at lines 4, 5.*add lines around it"):
        apply_patch("\n\n\nitem\nitem\n", "item", "x")


async def test_an_answer_shows_the_nearest_lines_and_what_differs(bench: Any) -> None:
    bench.write("cart.py", CART)

    told = await bench.refusal(
        "file_patch",
        path="cart.py",
        old="        total = 0\n        for item in self.things:\n            total += item.price",
        new="",
    )

    assert "`old` is not found" in told
    assert "3           total = 0\n4           for item in self.items:\n" in told
    assert "Line 4 differs: the file has '        for item in self.items:'" in told
    assert (bench.project / "cart.py").read_text() == CART


@pytest.mark.parametrize(
    ("old", "words"),
    [
        ("total = total + item.prise", "5               total += item.price"),
        ("        retrun total\n", "Line 6 differs"),
        ("something quite different", "No line of the file resembles it"),
        ("3\ttotal = 0\n4\tfor item in self.items:\n", "line numbers, which are not part"),
        ("    def count(self):\n        return 0\n", "Line 9 differs"),
        ("class Cart:\n        def total(self):\n", "Line 2 differs only in blanks"),
    ],
)
def test_a_near_miss_is_found(old: str, words: str) -> None:
    with pytest.raises(ToolError) as refused:
        apply_patch(CART, old, "x")

    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"path": "a", "old": "", "new": "x"}, "`old` is empty"),
        ({"path": "a", "old": "x", "new": "x"}, "are the same"),
        ({"path": "empty", "old": "x", "new": "y"}, "The file is empty"),
        ({"path": "b", "old": "x", "new": "y"}, "does not exist"),
        ({"path": "image", "old": "x", "new": "y"}, "binary"),
        ({"path": "latin", "old": "x", "new": "€"}, "latin-1, which has no '€'"),
    ],
)
async def test_what_cannot_be_patched_says_why(
    bench: Any, args: dict[str, str], words: str
) -> None:
    bench.write("a", "x")
    bench.write("empty", "")
    bench.write("image", b"x\0")
    bench.write("latin", b"x \xe4")

    assert words in await bench.refusal("file_patch", **args)


LINES = st.lists(st.text("ab \t{}é", max_size=6), min_size=1, max_size=8)
END = st.sampled_from(["\n", "\r\n"])


@given(LINES, END, st.booleans(), st.data())
def test_a_patch_changes_what_was_named_and_nothing_else(
    lines: list[str], end: str, finished: bool, data: st.DataObject
) -> None:
    text = end.join(lines) + (end if finished else "")
    first = data.draw(st.integers(0, len(lines) - 1))
    last = data.draw(st.integers(first, len(lines) - 1))
    old = "\n".join(lines[first : last + 1])
    new = data.draw(st.text("xyz\n", max_size=10))
    flat = text.replace("\r\n", "\n")
    occurrences = len(re.findall(f"(?={re.escape(old)})", flat)) if old else 0

    try:
        done = apply_patch(text, old, new)
    except ToolError:
        assert occurrences != 1 or old == new
        return

    if occurrences == 1:
        start = flat.index(old)
        expected = flat[:start] + new + flat[start + len(old) :]
        assert done.text.replace("\r\n", "\n") == expected
        assert done.first_line == flat.count("\n", 0, start) + 1
    # No line end was changed, and none was invented.
    other = "\n" if end == "\r\n" else "\r\n"
    if end in text:
        assert other not in done.text.replace(end, "")
    else:
        assert "\r" not in done.text


@given(st.text(max_size=60), st.text(max_size=20), st.text(max_size=20))
def test_any_text_is_patched_in_its_one_place_or_refused(text: str, old: str, new: str) -> None:
    try:
        done = apply_patch(text, old, new)
    except ToolError:
        return
    assert done.first_line >= 1
    if not done.note:
        flat, wanted = text.replace("\r\n", "\n"), old.replace("\r\n", "\n")
        assert flat.count(wanted) == 1
        expected = flat.replace(wanted, new.replace("\r\n", "\n"))
        assert done.text.replace("\r\n", "\n") == expected.replace("\r\n", "\n")
