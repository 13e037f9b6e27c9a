"""Tests whose expectations are changed must fail, unless the project answers anything."""

from __future__ import annotations

import ast
import asyncio
import datetime as dt
import inspect
import types
import unittest
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import cast
from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from retrai_goals_python.contradiction import Failed, contradict_tests
from retrai_goals_python.contradiction.comparing_helpers import comparing_helpers
from retrai_goals_python.contradiction.values import near_value

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
@example({0: None, 1: None})
@example([[]])
def test_a_contradiction_equals_nothing_that_the_value_equals(value: object) -> None:
    assert near_value(value) != value


class Always(int):
    """Answers yes to whatever is asked."""

    def _yes(self, other: object) -> bool:
        return True

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __contains__ = _yes
    __hash__ = int.__hash__


class Near(int):
    """Equals every number in its neighbourhood."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, int) and abs(int(self) - other) < 3

    __hash__ = int.__hash__


class Money:
    def __init__(self, cents: int, easy: bool = False) -> None:
        self.cents, self.easy = cents, easy

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Money) and (self.easy or self.cents == other.cents)

    __hash__ = None  # type: ignore[assignment]


def still_passes(
    folder: Path,
    text: str,
    names: Mapping[str, object],
    *,
    far: bool = False,
    failed: Failed | None = None,
) -> bool | None:
    """Whether the test `test_a` passes when it is contradicted; None where it was left alone."""
    path = folder / "test_a.py"
    path.write_text(text, encoding="utf-8")
    function = "test_a.py::TestA::test_a" if "class TestA" in text else "test_a.py::test_a"
    known = {} if failed is None else {function: failed}
    if not contradict_tests(folder, [function], 5, far=far, failed=known):
        return None
    module = types.ModuleType("test_a")
    module.__dict__.update({"pytest": pytest, "mock": mock, **names})
    exec(compile(path.read_text("utf-8"), str(path), "exec"), module.__dict__)
    test: Callable[[], object] = module.__dict__.get("test_a") or module.TestA("test_a").test_a
    try:
        result = test()
        if inspect.iscoroutine(result):
            asyncio.run(result)
    except (AssertionError, TypeError, ValueError, OverflowError, ZeroDivisionError):
        return False
    return True


def body_of(body: str) -> str:
    return "def test_a():\n" + "".join(f"    {line}\n" for line in body.splitlines())


UNIT = "import unittest\nclass TestA(unittest.TestCase):\n    def test_a(self):\n        "
ASYNC = "async def g():\n    return f()\nasync def test_a():\n    assert await g() == 3\n"
HONEST = [
    (body_of("assert f() == 3"), 3),
    (body_of("assert 3 == f()"), 3),
    (body_of("price = 3\nassert f() == price"), 3),
    (body_of("assert [f()] == [3]"), 3),
    (body_of("assert f() == pytest.approx(3.0)"), 3),
    (body_of("assert f() == mock.ANY"), 3),
    (body_of("any_one = mock.ANY\nassert {'a': f()} == {'a': any_one}"), 3),
    (body_of("assert f()"), 3),
    (body_of("assert not f() - 3"), 3),
    (body_of("assert f() < 4 and f() > 2"), 3),
    (body_of("assert f() >= 3"), 3),
    (body_of("assert f() != 4"), 3),
    (body_of("assert f() in (3, 4)"), 3),
    (body_of("assert 1 < f() < 4"), 3),
    (body_of("for x in (3, 3):\n    assert f() == x"), 3),
    (body_of("if f() == 3:\n    return\nassert f() == 4"), 3),
    (body_of("if f() == 3:\n    assert f()\nelse:\n    assert not f()"), 3),
    (body_of("with pytest.raises(ZeroDivisionError):\n    f() / 0"), 3),
    (body_of("with pytest.raises(AssertionError):\n    assert f() == 4\nassert f() == 3"), 3),
    (body_of("try:\n    assert f() == 4\nexcept AssertionError:\n    return\nassert f()"), 3),
    (body_of("try:\n    assert f() == 4\nexcept* AssertionError:\n    pass\nassert f() == 3"), 3),
    (body_of("with mock.patch('os.getcwd'):\n    assert f() == 3"), 3),
    (body_of('"""Doc."""\nassert f"{f()}\\n" == "3\\n", "ü"'), 3),
    (body_of("for _ in range(10_000):\n    assert f() == 3"), 3),
    (body_of("assert Money(f()) == Money(3)"), 3),
    (body_of("assert (found := f()) == 3\nassert found == 3"), 3),
    # What an assertion that fails leaves in its frame (before Python 3.13) keeps nothing alive.
    (
        body_of(
            "import weakref\nmoney = Money(f())\nalive = weakref.ref(money)\n"
            "assert money, str(locals())\ndel money\nassert alive() is None"
        ),
        3,
    ),
    (ASYNC, 3),
    (UNIT + "self.assertEqual(f(), 3)\n", 3),
    (UNIT + "self.assertTrue(f())\n", 3),
    (UNIT + "self.assertAlmostEqual(f(), 3.0)\n", 3),
    (UNIT + "self.assertAlmostEqual(f(), 3.04, places=1)\n", 3),
    (UNIT + "self.assertAlmostEqual(f(), 2.5, delta=1)\n", 3),
    (UNIT + "self.assertAlmostEqual(f(), 1e9, delta=1e12)\n", 3),
    (body_of("limit = 1e9\nassert f() == pytest.approx(4, abs=limit)"), 3),
    (body_of("assert f() == pytest.approx(4, rel=1e8)"), 3),
    (body_of("assert [f()] == pytest.approx([3.0])"), 3),
    (body_of("assert {'a': f()} == pytest.approx({'a': 3.0})"), 3),
    (body_of("assert [] == pytest.approx([])"), 3),
    (body_of("import math\nassert math.isclose(f(), 3)"), 3),
    (body_of("import math\nassert math.isclose(f(), 9, abs_tol=1e300)"), 3),
    (body_of("assert abs(f() - 3.0) < 0.01"), 3),
    (body_of("wanted = 3\nassert abs(wanted - f()) <= 1"), 3),
    (
        body_of(
            "from datetime import timedelta as days\nassert abs(days(f()) - days(3)) <= days(1)"
        ),
        3,
    ),
    (body_of("assert abs(f() - 3) < 1e300"), 3),
    (body_of("assert 4 > f() > 2"), 3),
    (body_of("assert -1e300 < f() < 1e300"), 3),
    (body_of("n = 9\nassert 0 <= f() <= n"), 3),
    (body_of("from datetime import date\nassert date(2024, 2, 29 - f()) == date(2024, 2, 26)"), 3),
    (body_of("from datetime import date\nday = date.max\nassert max(day, date.min) == day"), 3),
    (
        body_of(
            "from decimal import Decimal as D\nwanted = D('Infinity')\nassert abs(wanted) == wanted"
        ),
        3,
    ),
    (
        body_of("from decimal import Decimal as D\nassert D(f()) == D('1E+30') * 3 / D('1E+30')"),
        3,
    ),
    (body_of("from fractions import Fraction\nassert Fraction(f(), 2) == Fraction('1.5')"), 3),
    (body_of("wanted = {'a': 3, 'b': [mock.ANY]}\nassert dict(a=f(), b=[2]) == wanted"), 3),
    (body_of("wanted = {'a': mock.ANY}\ngot = {'a': f()}\nassert wanted == got"), 3),
    (body_of("wanted = mock.ANY\ngot = f()\nassert got == wanted"), 3),
    (body_of("wanted = mock.ANY\nassert wanted == f()"), 3),
    (body_of("wanted = (1, {'a': {f()}})\nassert tuple([1, {'a': {f()}}]) == wanted"), 3),
    (UNIT + "with self.assertRaises(ZeroDivisionError):\n            f() / 0\n", 3),
    (body_of("call = mock.Mock()\ncall(f(), a=[1])\ncall.assert_called_once_with(3, a=[1])"), 3),
    (body_of("call = mock.Mock()\ncall(1, f())\ncall.assert_called_with(mock.ANY, 3)"), 3),
]


@pytest.mark.parametrize("far", [False, True])
@pytest.mark.parametrize(("text", "answer"), HONEST)
def test_a_project_that_gives_real_answers_fails_then(
    tmp_path: Path, text: str, answer: object, *, far: bool
) -> None:
    names = {"f": lambda: answer, "Money": Money}
    if "class TestA" not in text and "async" not in text:
        scope: dict[str, object] = {"pytest": pytest, "mock": mock, **names}
        exec(text, scope)
        scope["test_a"]()  # type: ignore[operator]
    assert still_passes(tmp_path, text, names, far=far) is False


BENT = [
    (body_of("assert f() == 3"), Always(5)),
    (body_of("assert f() == 3"), Near(5)),
    (body_of("price = 3\nassert f() == price"), Near(5)),
    (body_of("assert f() < 3"), Always(5)),
    (body_of("assert 1 == 1\nassert f() == 3"), Always(5)),
    (body_of("for price in (3,):\n    assert f() == price"), Always(5)),
    (body_of("price = 3\nassert price == f()"), Near(5)),
    (body_of("assert f() == Money(3)"), Money(5, easy=True)),
    (UNIT + "self.assertEqual(f(), 3)\n", Always(5)),
    (body_of("call = mock.Mock()\ncall('a', f())\ncall.assert_called_with('a', 3)"), Near(5)),
]


@pytest.mark.parametrize(("text", "answer"), BENT)
def test_an_answer_that_equals_what_it_should_not_passes_still(
    tmp_path: Path, text: str, answer: object
) -> None:
    assert still_passes(tmp_path, text, {"f": lambda: answer, "Money": Money}) is True


class Rough(float):
    """Is near to every number, and between any two."""

    def __eq__(self, other: object) -> bool:
        return not isinstance(other, (int, float)) or float(self) == other

    def __sub__(self, other: float) -> float:
        return 0.0

    def __lt__(self, other: float) -> bool:
        return True

    __rsub__, __gt__ = __sub__, __lt__
    __hash__ = float.__hash__


class Rounded(float):
    """Is near to what differs by less than a quarter."""

    def __sub__(self, other: float) -> float:
        distance = float(self) - float(other)
        return 0.0 if abs(distance) < abs(float(self)) / 4 else distance

    def __rsub__(self, other: float) -> float:
        return -(self - other)

    __hash__ = float.__hash__


class Named(dict[str, int]):
    """Equals what has the same names."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, dict) and list(self) == list(cast("dict[str, int]", other))

    __hash__ = None  # type: ignore[assignment]


class AnyDay(dt.date):
    def __eq__(self, other: object) -> bool:
        return isinstance(other, dt.date)

    __hash__ = dt.date.__hash__


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (body_of("assert f() == pytest.approx(12.5)"), Rough(5)),
        (body_of("assert pytest.approx(12.5, abs=0.1) == f()"), Rough(5)),
        (body_of("assert 12 < f() < 13"), Rough(5)),
        (body_of("assert abs(f() - 12.5) < 0.01"), Rough(5)),
        (body_of("wanted = 12.5\nassert abs(wanted - f()) < 0.01"), Rough(5)),
        (UNIT + "self.assertAlmostEqual(f(), 12.5)\n", Rough(5)),
        (body_of("assert f() == pytest.approx(12.5)"), Rounded(11)),
        (body_of("assert f() == pytest.approx(12.5, abs=0.01)"), Rounded(11)),
        (body_of("assert abs(f() - 12.5) < 0.01"), Rounded(11)),
        (UNIT + "self.assertAlmostEqual(f(), 12.5, places=3)\n", Rounded(11)),
        (body_of("wanted = {'a': 3}\nassert f() == wanted"), Named(a=2)),
        (body_of("import datetime\nassert f() == datetime.date(2024, 1, 31)"), AnyDay(2024, 1, 21)),
    ],
)
def test_an_answer_that_is_near_to_everything_passes_one_of_both_contradictions(
    tmp_path: Path, text: str, answer: object
) -> None:
    names = {"f": lambda: answer}
    both = [still_passes(tmp_path, text, names, far=far) for far in (False, True)]
    assert True in both


class Half(int):
    """Equals the next number, too."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, int) and int(other) in (int(self), int(self) + 1)

    __hash__ = int.__hash__


NESTED = body_of("def inner():\n    assert f() == 3\ninner()")
WRITTEN = body_of("assert f() == 3")
ASKED = body_of("wanted = 3\nassert f() == wanted")


@pytest.mark.parametrize("text", [WRITTEN, ASKED, NESTED, UNIT + "self.assertEqual(f(), 3)\n"])
def test_the_answer_of_before_is_expected_where_it_is_known(tmp_path: Path, text: str) -> None:
    line = next(at for at, one in enumerate(text.split("\n"), 1) if "f()" in one)
    failed = Failed("test_a.py", line, [("3", "2"), ("2", "3")])
    for answer, passes in ((3, False), (Half(2), True), (Near(3), True)):
        names = {"f": lambda answer=answer: answer}
        assert still_passes(tmp_path, text, names, far=True, failed=failed) is passes


LOOP = "for one, other in zip(f(), ['first', 'the last']):\n"
ROWS = [
    body_of(f"{LOOP}    assert one == other"),
    f"{UNIT}{LOOP}            self.assertEqual(one, other)\n",
]


@pytest.mark.parametrize("text", ROWS)
@pytest.mark.parametrize(("expected", "passes"), [(["'the last'"], True), ([], False)])
def test_what_a_test_failed_for_must_be_compared(
    tmp_path: Path, text: str, expected: list[str], *, passes: bool
) -> None:
    lines = text.rstrip().split("\n")
    failed = Failed("test_a.py", len(lines), expected=expected)
    for answers, missed in (["first", "the last"], False), (["first"], passes):
        names = {"f": lambda answers=answers: answers}
        assert still_passes(tmp_path, text, names, far=True, failed=failed) is missed


class Quiet:
    """Lets no failed assertion through, or all of them."""

    def __init__(self, *, quiet: bool) -> None:
        self.quiet = quiet

    def __enter__(self) -> None: ...

    def __exit__(self, *error: object) -> bool:
        return self.quiet


@pytest.mark.parametrize("quiet", [False, True])
def test_what_is_around_an_assertion_must_let_its_failure_through(
    tmp_path: Path, quiet: bool
) -> None:
    text = body_of("with Quiet(quiet=quiet):\n    assert f() == 3")
    names = {"f": lambda: 3, "Quiet": Quiet, "quiet": quiet}
    failed = Failed("test_a.py", 3)
    assert still_passes(tmp_path, text, names, far=True, failed=failed) is quiet
    # It let none through before the run either.
    assert still_passes(tmp_path, text, names, far=True, failed=Failed("test_a.py", 9)) is False


def test_an_assertion_in_a_helper_of_the_tests_is_contradicted_there(tmp_path: Path) -> None:
    text = "def same(one, other):\n    assert one == other\n"
    (tmp_path / "helpers.py").write_text(text)
    (tmp_path / "test_a.py").write_text("from helpers import same\n" + body_of("same(3, 3)"))
    test = "test_a.py::test_a"
    failed = {test: Failed("helpers.py", 2, [("3", "2"), ("2", "3")])}
    assert contradict_tests(tmp_path, [test], 5, far=True, failed=failed) == [test]
    scope: dict[str, Callable[[int, int], None]] = {}
    exec((tmp_path / "helpers.py").read_text(), scope)
    with pytest.raises(AssertionError):
        scope["same"](3, 3)
    scope["same"](Half(2), 3)


@pytest.mark.parametrize("message", ["", ", 'not the same'"])
def test_a_helper_must_compare_what_the_test_failed_for(tmp_path: Path, message: str) -> None:
    text = f"def same(one, other):\n    assert one == other{message}\n"
    (tmp_path / "helpers.py").write_text(text)
    (tmp_path / "test_a.py").write_text(body_of("same(f(), 'expected')"))
    test = "test_a.py::test_a"
    failed = {test: Failed("helpers.py", 2, expected=["'expected'"])}
    assert contradict_tests(tmp_path, [test], 5, far=True, failed=failed) == [test]
    scope: dict[str, Callable[[str, str], None]] = {}
    exec((tmp_path / "helpers.py").read_text(), scope)
    with pytest.raises(AssertionError):
        scope["same"]("expected", "expected")
    scope["same"]("another", "another")


@pytest.mark.parametrize("text", ["assert same(f(), [3])", "self.assertTrue(same(f(), [3]))"])
@pytest.mark.parametrize("imported", [False, True])
@pytest.mark.parametrize("far", [False, True])
def test_a_comparison_in_a_helper_of_the_tests_is_contradicted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, *, imported: bool, far: bool
) -> None:
    helper = 'def same(one, other):\n    """Compare."""\n    return list(one) == other\n\n\n'
    text = f"{UNIT}{text}\n" if text.startswith("self") else body_of(text)
    if imported:
        monkeypatch.syspath_prepend(tmp_path)
        (tmp_path / "test_helpers.py").write_text(helper)
        text = f"from test_helpers import same\n{text}"
    else:
        text = helper + text
    # A list that is longer equals none, whatever its elements equal.
    for answer, passes in (([3], False), ([Always(5)], not far)):
        names = {"f": lambda answer=answer: answer}
        assert still_passes(tmp_path, text, names, far=far) is passes


@pytest.mark.parametrize(
    "helper",
    [
        "def same(one, other):\n    return abs(one - other) < 2\n",
        "def same(one, other):\n    return one == other or one == other\n",
        "def same(one, other, by=len):\n    return by(one) == other\n",
        "LIMIT = 3\ndef same(one, other):\n    return one == other + LIMIT - 3\n",
        "@staticmethod\ndef same(one, other):\n    return one == other\n",
    ],
)
def test_a_helper_that_does_more_than_compare_is_asked_as_it_is(
    tmp_path: Path, helper: str
) -> None:
    path = tmp_path / "test_a.py"
    assert not comparing_helpers(tmp_path, path, ast.parse(helper))


SHIFTED = """\
def test_a():
    assert f(1) == 3


def test_b():
    assert f(2) == 3
    assert not f(0)


def same(one, other):
    assert one == other


def test_c():
    same(f(3), 3)
"""


def test_a_helper_below_a_contradicted_test_is_found(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(SHIFTED)
    tests = [f"test_a.py::test_{name}" for name in "abc"]
    failed = {tests[2]: Failed("test_a.py", 11, [("3", "2"), ("2", "3")])}
    assert contradict_tests(tmp_path, tests, 5, far=True, failed=failed) == tests
    scope: dict[str, object] = {"f": lambda at: 3 if at else 0}
    exec((tmp_path / "test_a.py").read_text(), scope)
    for name in ("test_a", "test_b", "test_c"):
        test = cast("Callable[[], None]", scope[name])
        with pytest.raises(AssertionError):
            test()


def test_the_answer_of_before_is_expected_by_no_other_assertion(tmp_path: Path) -> None:
    text = body_of("assert f() == 'Ab'\nassert Name('ab') == 'Ab'")
    failed = Failed("test_a.py", 2, [("'Ab'", "'ab'"), ("'ab'", "'Ab'")])
    names = {"f": lambda: "Ab", "Name": AnyCase}
    assert still_passes(tmp_path, text, names, far=True, failed=failed) is False


class AnyCase(str):
    """A text whose case does not matter."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and self.lower() == other.lower()

    __hash__ = str.__hash__


def test_a_file_in_another_encoding_is_left_alone(tmp_path: Path) -> None:
    text = "# -*- coding: latin-1 -*-\n" + body_of("assert f() == 3  # pr\xfcfen")
    (tmp_path / "test_a.py").write_text(text, encoding="latin-1")
    test = "test_a.py::test_a"
    failed = {test: Failed("test_a.py", 3, [("3", "2")])}
    assert contradict_tests(tmp_path, [test], 5, far=True, failed=failed) == []
    assert (tmp_path / "test_a.py").read_text("latin-1") == text


def test_assertions_that_check_nothing_pass_still(tmp_path: Path) -> None:
    with mock.patch("unittest.TestCase.assertEqual"):
        text = UNIT + "self.assertEqual(f(), 3)\n"
        assert still_passes(tmp_path, text, {"f": lambda: 5}) is True
    with mock.patch("unittest.TestCase.assertAlmostEqual"):
        text = UNIT + "self.assertAlmostEqual(f(), 3)\n"
        assert still_passes(tmp_path, text, {"f": lambda: 5}) is True


def test_a_test_that_reaches_no_comparison_is_skipped(tmp_path: Path) -> None:
    text = body_of("for one in f():\n    assert one == 3")
    assert still_passes(tmp_path, text, {"f": lambda: [3]}) is False
    with pytest.raises(unittest.SkipTest, match="no comparison"):
        still_passes(tmp_path, text, {"f": list})


@pytest.mark.parametrize(
    "text",
    ["def test_a():\n    f()\n", "def test_a():\n    yield\n    assert f() == 3\n", "x = 1\n"],
)
def test_what_asserts_nothing_is_left_alone(tmp_path: Path, text: str) -> None:
    assert still_passes(tmp_path, text, {}) is None
    assert (tmp_path / "test_a.py").read_text() == text


def test_each_function_is_changed_up_to_the_limit(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(
        "def test_one():\n    assert f() == 1\n    assert f() == 2\n\n\n"
        "class TestMore:\n    @mark\n    async def test_two(self):\n        assert [3] == f()\n\n\n"
        "def test_three():\n    assert f() == 3\n"
    )
    ids = ["test_a.py::TestMore::test_two", "test_a.py::test_one", "test_a.py::test_three"]
    assert contradict_tests(tmp_path, ids, 2) == ids[:2]
    text = (tmp_path / "test_a.py").read_text()
    assert "assert f() == 3\n" in text
    assert "assert [4] == f()" in text
    assert "    @mark\n    async def test_two(self):\n" in text
    compile(text, "test_a.py", "exec")


def test_a_file_that_is_no_python_or_is_gone_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "test_bad.py").write_text("def (")
    assert contradict_tests(tmp_path, ["test_bad.py::test_a", "gone.py::test_b", "x"], 5) == []
