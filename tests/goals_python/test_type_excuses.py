"""What tells a type checker to look away is counted, and only that."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrai_goals_python.pyright.type_excuses import comments_in, count_excuses, excuses_in


@pytest.mark.parametrize(
    "text",
    [
        "a = f()  # type: ignore[arg-type]\n",
        "# pyright: basic\na = 1\n",
        "a = f()  # pyright: ignore\n",
        "# pyright: reportCallIssue=false\n",
        "@typing.no_type_check\ndef f(): ...\n",
        "class A:\n    def __getattr__(self, name: str) -> int: ...\n",
        "class A:\n    __getattribute__ = answer\n",
        "class A(typing.Any): ...\n",
        "from typing import Any as Base\nclass A(Base): ...\n",
        "Base = typing.Any\nclass A(Base): ...\n",
        "if TYPE_CHECKING:\n    def f() -> int: ...\nelse:\n    def f(): return None\n",
    ],
)
def test_each_way_to_look_away_counts_once(text: str) -> None:
    assert count_excuses(text) == 1


@pytest.mark.parametrize(
    "text",
    [
        "# pyright: strict\n",
        "# pyright: reportCallIssue=true\n",
        "a = '# type: ignore'\n",
        "if TYPE_CHECKING:\n    from a import B\nelse:\n    B = object\n",
        "if TYPE_CHECKING:\n    Base = list[int]\nelse:\n    Base = list\n",
        "if not TYPE_CHECKING:\n    def __getattr__(name): ...\n",
        "Json = Any\ndef f(a: Json) -> Json: ...\n",
        "def f(: # broken\n",
    ],
)
def test_what_is_no_excuse_counts_nothing(text: str) -> None:
    assert count_excuses(text) == 0


def test_a_stub_beside_its_source_is_one(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "a.pyi").write_text("x: int\n")
    (tmp_path / "b.pyi").write_text("x: int\n")
    assert excuses_in(tmp_path, ["a.py", "a.pyi", "b.pyi", "gone.py"]) == {"a.pyi": 1}


def test_comments_are_found_on_the_lines_that_the_parser_counts() -> None:
    assert comments_in("a = 1\rb = '# no'\r\nc = 2  # yes\n") == {3: "# yes"}
    assert comments_in("a = (\nb  # yes\n") == {2: "# yes"}
