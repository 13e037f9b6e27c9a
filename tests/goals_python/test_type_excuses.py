"""What tells a type checker to look away is counted, and only that."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrai_goals_python.type_excuses import count_excuses, excuses_in


@pytest.mark.parametrize(
    "text",
    [
        "a = f()  # type: ignore[arg-type]\n",
        "# pyright: basic\na = 1\n",
        "a = f()  # pyright: ignore\n",
        "# pyright: reportCallIssue=false\n",
        "@typing.no_type_check\ndef f(): ...\n",
        "if not TYPE_CHECKING:\n    def f(): return 1\n",
        "if TYPE_CHECKING:\n    def f() -> int: ...\nelse:\n    def f(): return ''\n",
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


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("if sys.platform == 'none':\n    def f(): ...\n", 1),
        ("if sys.version_info < (3, 0):\n    print(1 + '')\n", 1),
        ("if sys.version_info >= (3, 0):\n    import a\nelse:\n    def f(): ...\n", 1),
        ("if sys.platform.startswith('none'):\n    f()\n", 1),
        ("def f():\n    return 1\n    return '' + 1\n", 1),
        ("def f():\n    if True:\n        return 1\n    return '' + 1\n", 1),
        ("if False:\n    f()\n", 1),
        # What honest code has: a fallback that only names things, and tests that may go either way.
        ("if sys.version_info < (3, 0):\n    import a\nelse:\n    import b\n", 0),
        ("if sys.argv == ['a']:\n    f()\n", 0),
        ("def f():\n    if g():\n        return 1\n    return 2\n", 0),
    ],
)
def test_code_that_never_runs_here_is_an_excuse(text: str, count: int) -> None:
    assert count_excuses(text) == count
