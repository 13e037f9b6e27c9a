"""Types that became `Any` are told, and what honest repairs write is not."""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest

from retrai_core import RunContext
from retrai_goals_python.pyright.audit import became_any
from retrai_goals_python.pyright.goal import PyrightGoal

HEAD = "import typing\nfrom typing import Any, Optional, cast\n\n"


def told(folder: Path, before: str, now: str) -> list[tuple[int, str]]:
    """What is found in one file that changed."""
    diff = changed(folder, HEAD + before, HEAD + now)
    return [(found.line, found.what) for found in became_any(diff)]


def changed(folder: Path, before: str, now: str) -> str:
    """Write `a.py` as it is now; the diff of it."""
    (folder / "a.py").write_text(now)
    old, new = before.splitlines(keepends=True), now.splitlines(keepends=True)
    return "".join(difflib.unified_diff(old, new, "a/a.py", "b/a.py"))


@pytest.mark.parametrize(
    ("before", "now", "what"),
    [
        ("x: int = f()\n", "x: Any = f()\n", "x: int = f()` became `x: Any = f()"),
        (
            "def f(x: object): ...\n",
            "def f(x: typing.Any): ...\n",
            "` became `def f(x: typing.Any)",
        ),
        ("def f() -> int: ...\n", 'def f() -> "Any": ...\n', 'became `def f() -> "Any"'),
        ("def f(x: int): ...\n", "def f(x: Any | None): ...\n", "became `def f(x: Any | None)"),
        ("class A:\n    x: int\n", "class A:\n    x: Optional[Any]\n", "became `x: Optional[Any]"),
        ("x: list[int]\n", "x: list[Any]\n", "`x: list[int]` became `x: list[Any]`"),
        ("x: dict[str, int]\n", "x: dict[str, Any]\n", "became `x: dict[str, Any]`"),
        ("y = f(x)\n", "y = f(cast(Any, x))\n", "a new cast to `Any`"),
        ("y = f(x)\n", 'y = f(typing.cast("Any", x))\n', "a new cast to `Any`"),
    ],
)
def test_a_type_that_became_any_is_told(tmp_path: Path, before: str, now: str, what: str) -> None:
    ((_, found),) = told(tmp_path, before, now)
    assert what in found
    assert told(tmp_path, now, before) == []


@pytest.mark.parametrize(
    ("before", "now"),
    [
        # Nothing was said of it, or less.
        ("def f(x): ...\n", "def f(x: Any, **rest: Any) -> dict[str, Any]: ...\n"),
        ("x: dict\n", "x: dict[str, Any]\n"),
        ("data = lib.call()\n", "data: Any = lib.call()\n"),
        # It is known what it is.
        ("y = x + 1\n", "assert isinstance(x, int)\ny = cast(int, x) + 1\n"),
        ("y = f(x)\n", 'y = f(cast("dict[str, Any]", x))\n'),
        ("x: Any = f()\n", "x: int = f()\n"),
        # It was so before, elsewhere in the file.
        ("def f(x: Any): ...\ny = cast(Any, 1)\n", "y = cast(Any, 1)\ndef f(x: Any): ...\n"),
        ("def f(x: Any): ...\n", "def g(x: Any): ...\n"),
        ("def f(x: Anyone): ...\n", "def f(x: Anything): ...\n"),
    ],
)
def test_honest_repairs_are_not(tmp_path: Path, before: str, now: str) -> None:
    assert told(tmp_path, before, now) == []


def test_the_goal_pyright_asks_for_a_look_and_does_not_decide(context: RunContext) -> None:
    diff = changed(context.project, f"{HEAD}x: int = f()\n", f"{HEAD}x: Any = f()\n")
    (found,) = PyrightGoal(PyrightGoal.Options(), context).audit(diff)
    assert (found.path, found.line, found.reaches_runner) == ("a.py", 4, False)
