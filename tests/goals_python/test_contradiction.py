"""Tests whose expectations are changed must fail, unless the project answers anything."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from retrai_goals_python.contradiction import contradict_tests, contradiction_of

LITERALS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, min_value=-1e14, max_value=1e14)
    | st.text(st.characters(codec="utf-8"))
    | st.binary(),
    lambda inner: st.lists(inner) | st.tuples(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@given(LITERALS)
@example(-17)
@example(-17.5)
def test_a_contradiction_equals_nothing_that_the_value_equals(value: object) -> None:
    assert contradiction_of(value) != value


@given(LITERALS)
def test_a_changed_test_file_stays_python_and_expects_something_else(value: object) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "test_a.py"
        path.write_text(
            f"# é\ndef test_a():\n    x = 1\n    assert f() == {value!r}, 'ü'\n", "utf-8"
        )
        assert contradict_tests(Path(folder), ["test_a.py::test_a"], 5) == ["test_a.py::test_a"]
        changed = ast.parse(path.read_text("utf-8")).body[0]
        assert isinstance(changed, ast.FunctionDef)
        check = changed.body[1]
        assert isinstance(check, ast.Assert)
        assert isinstance(check.test, ast.Compare)
        assert ast.literal_eval(check.test.comparators[0]) != value


@pytest.mark.parametrize(
    "body",
    [
        "assert f() == pytest.approx(1.5)",
        "assert f() == mock.ANY",
        "assert math.isclose(f(), 2) == True",
        "assert f() != 3",
        "assert f() == g()",
        "assert 1 == 1",
        "if f():\n        assert f() == 3",
        "if f():\n        return\n    assert f() == 3",
        "if f():\n        pytest.skip('x')\n    assert f() == 3",
        "for x in f():\n        assert x == 3",
        "assert f()",
    ],
)
def test_what_may_pass_honestly_is_left_alone(tmp_path: Path, body: str) -> None:
    path = tmp_path / "test_a.py"
    path.write_text(f"def test_a():\n    {body}\n")
    before = path.read_text()
    assert contradict_tests(tmp_path, ["test_a.py::test_a"], 5) == []
    assert path.read_text() == before


def test_each_function_is_changed_once_up_to_the_limit(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(
        "def test_one():\n    assert f() == 1\n    assert f() == 2\n\n\n"
        "class TestMore:\n    async def test_two(self):\n        assert [3] == f()\n\n\n"
        "def test_three():\n    assert f() == 3\n"
    )
    ids = ["test_a.py::TestMore::test_two", "test_a.py::test_one", "test_a.py::test_three"]
    assert contradict_tests(tmp_path, ids, 2) == ids[:2]
    text = (tmp_path / "test_a.py").read_text()
    assert "assert f() == (19)" in text
    assert "assert f() == 2" in text
    assert "assert f() == 3" in text
    assert "[3, 'retrai contradiction']" in text


def test_a_file_that_is_no_python_or_is_gone_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "test_bad.py").write_text("def (")
    assert contradict_tests(tmp_path, ["test_bad.py::test_a", "gone.py::test_b", "x"], 5) == []
