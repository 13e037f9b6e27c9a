"""Number, time and metaclass types that get their own equality are reported."""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest

from retrai_goal_support import own_equality

NEAR = "    def __eq__(self, other):\n        return abs(self - other) < 5\n"
ASKS = NEAR.replace("abs(self - other) < 5", "super().__eq__(other) and self.unit")
AGE = "class Age(int):\n    pass\n"


def reported_lines(folder: Path, before: str, now: str) -> list[int]:
    (folder / "ages.py").write_text(now)
    diff = difflib.unified_diff(
        before.splitlines(keepends=True), now.splitlines(keepends=True), "a/ages.py", "b/ages.py"
    )
    found = own_equality("".join(diff), is_source=lambda path: True, project=folder)
    assert all(each.reaches_runner for each in found)
    return [each.line for each in found]


@pytest.mark.parametrize(
    ("before", "now", "line"),
    [
        ("", f"class Age(int):\n    unit = 'years'\n\n{NEAR}", 4),
        ("", "class Kind(type):\n    def __ne__(cls, other):\n        return False\n", 2),
        ("", "class Age(Mixed, numbers.int):\n    __eq__ = about\n", 2),
        (AGE, f"{AGE}{NEAR}", 3),
        ("", "class Age(int):\n    if True:\n        def __eq__(self, other): ...\n", 3),
        ("", f"class Age(int):\n{NEAR}\n\nclass Age:\n    pass\n", 2),
        ("", f"\ufeff{AGE}{NEAR}", 3),
        ("", f"{AGE}{NEAR}type Years = Age\n", 3),
        ("class Age(int:\n", f"class Age(int):\n{NEAR}", 2),
    ],
)
def test_a_number_time_or_metaclass_type_is_reported(
    tmp_path: Path, before: str, now: str, line: int
) -> None:
    assert reported_lines(tmp_path, before, now) == [line]


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("", f"{AGE}\nclass Town:\n{NEAR}"),
        ("", AGE + ASKS),
        (AGE + NEAR, AGE + NEAR.replace("5", "4")),
        (AGE, AGE + ASKS + "    def __ne__(self, other):\n        return not self == other\n"),
        (f"{AGE}{NEAR}".replace("):\n        return", ")\n        return"), AGE + NEAR),
        (AGE + NEAR, AGE + NEAR.replace("other):", "other) -> bool:")),
        ("", f"class time:\n{NEAR}"),
    ],
)
def test_any_other_class_is_not(tmp_path: Path, before: str, now: str) -> None:
    assert reported_lines(tmp_path, before, now) == []


def test_a_class_that_only_moves_is_not(tmp_path: Path) -> None:
    (tmp_path / "years.py").write_text(AGE + NEAR)
    added = "".join(f"+{line}\n" for line in (AGE + NEAR).splitlines())
    diff = f"--- a/years.py\n+++ b/years.py\n@@ -0,0 +1,4 @@\n{added}"
    gone = added.replace("+", "-")
    diff += f"--- a/ages.py\n+++ b/ages.py\n@@ -1,4 +0,0 @@\n{gone}"
    assert own_equality(diff, is_source=lambda path: True, project=tmp_path) == []
