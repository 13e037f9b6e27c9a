"""Errors that pyright does not come to any more are found, and honest code has none of those."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from retrai_goals_python.pyright.false_type_guards import CALLER, guards_in
from retrai_goals_python.pyright.goal import PyrightGoal, PyrightGoalOptions, find_pyright
from retrai_goals_python.pyright.hidden_code import Probes
from retrai_goals_python.pyright.lost_types import removed_code_or_types, standing
from retrai_goals_python.pyright.output import Position, Range
from retrai_goals_python.pyright.overloads import overload_line
from retrai_goals_python.pyright.type_bypasses import without_bypasses

WRONG = "def shown(amount: float) -> str:\n    return 'total: ' + amount\n"
HIDDEN = """\
import sys
from enum import Enum
from typing import Literal, NoReturn, TYPE_CHECKING

class One(Enum):
    ONE = 1

def stop() -> NoReturn:
    raise SystemExit

def literal(amount: float, mode: Literal["a"] = eval("'b'")) -> str:
    if mode == "b":
        return "total: " + amount
    return ""

def chain(amount: float, mode: Literal["a", "b"]) -> str:
    if mode == "a":
        return ""
    elif mode == "b":
        return ""
    else:
        return "total: " + amount

def call(amount: float) -> str:
    stop()
    return "total: " + amount

def member(amount: float, one: One) -> str:
    if one is One.ONE:
        return ""
    return "total: " + amount

def matched(amount: float, one: One) -> str:
    match one:
        case One.ONE:
            return ""
        case _:
            return "total: " + amount

def checked(amount: float) -> str:
    return "" if TYPE_CHECKING else "total: " + amount

def elsewhere(amount: float) -> str:
    if sys.platform == "none":
        return "total: " + amount
    return ""
"""
HONEST = """\
import sys
from typing import Literal, NoReturn, TYPE_CHECKING
from typing_extensions import assert_never

if TYPE_CHECKING:
    from collections.abc import Sequence
else:
    Sequence = list

def stop() -> NoReturn:
    raise SystemExit

def shown(amount: float, mode: Literal["a", "b"] = "a") -> str:
    if not isinstance(amount, float):
        print("no number", amount)
        return "total: " + str(amount)
    if mode == "a":
        return "total: " + str(amount)
    elif mode == "b":
        return f"total: {amount}"
    else:
        assert_never(mode)

def called(amount: float, mode: Literal["a", "b"] = "a") -> str:
    if sys.platform == "win32":
        print("total: " + str(amount))
    elif sys.platform == "none":
        print("total: " + amount)  # type: ignore[operator]
    match mode:
        case "a":
            return ""
        case "b":
            stop()
            print("never")
    return str(amount)
"""


@pytest.fixture(scope="module")
def pyright() -> None:
    command = find_pyright(sys.executable)
    if command is None:
        pytest.skip("needs pyright: pip install 'pyright[nodejs]'")
    if subprocess.run([*command, "--version"], capture_output=True, check=False).returncode:
        pytest.skip("needs pyright with Node.js")


def _functions(text: str) -> list[str]:
    head, *functions = text.split("\ndef ")
    heads = [head, *(f"\ndef {each}" for each in functions if each.startswith("stop"))]
    return ["".join([*heads, f"\ndef {each}"]) for each in functions if each[:4] != "stop"]


async def _contradicted(
    make_project, context, fixed: dict[str, str], wrong=None, cases=("shop.py",)
):
    settings = '{"reportUnnecessaryIsInstance": false, "reportUnnecessaryComparison": false}'
    make_project({**(wrong or {"shop.py": WRONG}), "pyrightconfig.json": settings})
    goal = PyrightGoal(PyrightGoalOptions(), context)
    start = await goal.check({}, context.project)
    assert {start.report.cases[case] for case in cases} == {"failed"}
    for name, text in fixed.items():
        (context.project / name).write_text(text)
    result = await goal.check({"iteration": 1}, context.project)
    assert result.achieved, result.details
    before = {name: (context.project / name).read_text() for name in fixed}
    found = await goal.contradict(context.project, cases)
    assert before == {name: (context.project / name).read_text() for name in fixed}
    return found


@pytest.mark.usefixtures("pyright")
async def test_what_pyright_does_not_reach_is_told(make_project, context) -> None:
    texts = {f"a{number}.py": text for number, text in enumerate(_functions(HIDDEN))}
    found = await _contradicted(make_project, context, {**texts, "shop.py": ""})
    assert sorted(found.still_passed) == list(texts)
    assert found.reason.startswith("pyright does not reach a")


@pytest.mark.usefixtures("pyright")
async def test_it_is_found_in_a_new_file_and_where_another_file_hides_it(
    make_project, context
) -> None:
    texts = {
        "shop.py": "from stops import stop\n"
        + WRONG.replace("    return", "    stop()\n    return"),
        "stops.py": "from typing import NoReturn\ndef stop() -> NoReturn:\n    raise SystemExit\n",
    }
    found = await _contradicted(make_project, context, texts)
    assert found.reason.startswith("pyright does not reach shop.py:4: Operator")


STOPPED = "import sys\n\ndef shown() -> int:\n    sys.exit()\n"


def _origins(text: str) -> set[int]:
    """The lines behind the exit whose errors count."""
    probes = Probes(text, 1)
    reached = {number for number, place in probes.places.items() if place.first.lineno < 5}
    return set(probes.exposed(probes.hidden(reached)).origins.values())


def test_an_ignore_comment_in_a_string_excuses_nothing() -> None:
    assert 5 in _origins(STOPPED + "    return ('x', '# type: ignore')[0]\n")
    assert 5 not in _origins(STOPPED + "    return ('x', '')[0]  # type: ignore\n")


@pytest.mark.parametrize(
    "text",
    [
        "    for i in len(3):\n        print(i)  # type: ignore\n",
        "    for i in len(3):\n        sys.exit()  # type: ignore\n        print(i)\n",
        "    match len(3):\n        case 1:\n            print()  # type: ignore\n",
        "    class A(len(3)):\n        @a  # type: ignore\n        def b(self): ...\n",
    ],
)
def test_an_ignore_comment_in_a_block_excuses_no_header(text: str) -> None:
    assert 5 in _origins(STOPPED + text)


@pytest.mark.parametrize(
    "text",
    [
        "    for i in len(3): print(i)  # type: ignore\n",
        "    for i in (\n        len(3)  # type: ignore\n    ):\n        print(i)\n",
        "    @len(3)  # type: ignore\n    def a():\n        b()\n",
    ],
)
def test_an_ignore_comment_in_a_header_excuses_it(text: str) -> None:
    assert _origins(STOPPED + text).isdisjoint((5, 6))


def test_an_error_in_a_decorator_counts() -> None:
    text = STOPPED + "    @len(3)\n    def a(): ...\n"
    probes = Probes(text, 1)
    hidden = [place for place in probes.places.values() if place.first.lineno == 6]
    exposed = probes.exposed(hidden)
    line = exposed.text.split("\n").index("    @len(3)")
    assert exposed.origin((line, 5)) == 6


def test_only_comments_above_the_first_statement_stay() -> None:
    text = "# pyright: strict\n@a(\n# type: ignore\n)\ndef b(): ...\n"
    assert Probes(text, 1).probed.startswith("# pyright: strict\nreveal_type(1)")


def _chain(branches: int) -> str:
    elifs = "".join(f"    elif x == {i}:\n        y = {i}\n" for i in range(1, branches))
    return f"    x = id(0)\n    if x == 0:\n        y = '' + x\n{elifs}    return id(x)\n"


@pytest.mark.parametrize("branches", [120, 250, 900])
def test_a_long_chain_of_branches_is_exposed(branches: int) -> None:
    text = STOPPED + _chain(branches)
    assert text.count("\n") in _origins(text)
    probes = Probes(text, 1)
    assert len(ast.unparse(ast.parse(probes.probed)).split("elif ")) == branches
    # The block of each branch has a place of its own.
    assert len(probes.places) >= branches


@pytest.mark.parametrize(
    "text", ["1 if a else " * 150 + "'' + y", "(" * 150 + "'' + y" + " if a else 1)" * 150]
)
def test_a_long_chain_of_conditional_expressions_is_exposed(text: str) -> None:
    probes = Probes(f"x = {text}\n", 1)
    assert len(probes.places) == 152
    (place,) = (each for number, each in probes.places.items() if number > 1 and each.has_code)
    assert probes.exposed([place]).text.count("bool(id(0))") == 150


@pytest.mark.usefixtures("pyright")
async def test_a_long_chain_of_branches_hides_nothing(make_project, context) -> None:
    found = await _contradicted(make_project, context, {"shop.py": STOPPED + _chain(120)})
    assert found.reason.startswith("pyright does not reach shop.py:7: Operator")


@pytest.mark.usefixtures("pyright")
async def test_honest_code_that_is_never_reached_is_left_alone(make_project, context) -> None:
    found = await _contradicted(make_project, context, {"shop.py": HONEST})
    assert list(found.tried) == ["shop.py"]
    assert not found.still_passed


GUARD = (
    "from typing import TypeGuard\ndef is_text(value: object) -> TypeGuard[str]:\n    return {}\n"
)
SHOWN = (
    "def shown(amount: object) -> str:\n    return 'total: ' + amount if is_text(amount) else ''\n"
)


@pytest.mark.usefixtures("pyright")
@pytest.mark.parametrize(("body", "false"), [("bool(value)", True), ("is_known(value)", False)])
async def test_a_false_guard_is_found(make_project, context, body: str, false: bool) -> None:
    rest = "def is_known(value: object) -> bool:\n    return isinstance(value, str)\n"
    found = await _contradicted(
        make_project, context, {"shop.py": GUARD.format(body) + SHOWN + rest}
    )
    assert bool(found.still_passed) is false
    assert ("accepts values that are not of the promised type" in found.reason) is false


def _false_guards(folder: Path, texts: dict[str, str]) -> list[str]:
    """The guards of these files that accept other values, called as the goal calls them."""
    for name, text in texts.items():
        (folder / name).write_text(text)
    guards = [(name, *each) for text in texts.values() for name, each in guards_in(text).items()]
    done = subprocess.run(
        [sys.executable, "-I", "-c", CALLER, json.dumps(guards)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("bodies", "false"),
    [
        (["isinstance(value, str)", "value is not None"], [1]),
        (["isinstance(value, str)", "type(value) is str and bool(value)", "is_known(value)"], []),
        # What a guard prints is not the answer, and one that ends the process hides no other.
        (["isinstance(value, str) and print(value) is None"], []),
        (["exit()", "bool(value)"], [1]),
    ],
)
def test_each_guard_of_a_file_is_called(
    tmp_path: Path, bodies: list[str], false: list[int]
) -> None:
    text = "".join(
        GUARD.format(body).replace("is_text", f"is_text_{number}")
        for number, body in enumerate(bodies)
    )
    assert _false_guards(tmp_path, {"shop.py": text}) == [f"is_text_{number}" for number in false]


TYPES = """\
from __future__ import annotations
from dataclasses import dataclass
from typing import NotRequired, TypedDict, TypeGuard

class Parcel(TypedDict):
    grams: int
    note: NotRequired[str]

class Options(TypedDict):
    note: NotRequired[str]

@dataclass
class Point:
    x: int
"""


@pytest.mark.parametrize(
    ("promised", "body", "false"),
    [
        ("Parcel", "value is not None", True),
        ("Parcel", "isinstance(value, dict)", True),
        ("Parcel", "isinstance(value, dict) and 'grams' in value", False),
        ("Options", "isinstance(value, dict)", False),
        ("Point", "bool(value)", True),
        ("Point", "isinstance(value, Point)", False),
        ("Point | int", "isinstance(value, (Point, int))", False),
    ],
)
def test_a_guard_for_a_class_of_the_project_is_called(
    tmp_path: Path, promised: str, body: str, false: bool
) -> None:
    guard = f"def is_it(value: object) -> TypeGuard[{promised}]:\n    return {body}\n"
    imports = "from typing import TypeGuard\nfrom shapes import Options, Parcel, Point\n"
    for texts in (
        {"shop.py": TYPES + guard},
        {"shop.py": imports + guard, "shapes.py": TYPES},
    ):
        assert bool(_false_guards(tmp_path, texts)) is false, texts


@pytest.mark.parametrize(
    ("given", "promised", "body", "false"),
    [
        ("list[int | None]", "list[int]", "isinstance(value, list)", True),
        ("list[int | None]", "list[int]", "None not in value", False),
        ("dict[str, int | str]", "dict[str, int]", "bool(value)", True),
        ("dict[str, int | str]", "dict[str, int]", "isinstance(value['a'], int)", False),
        ("object", "list[int]", "isinstance(value, list)", False),  # it is not said of what
        ("T | None", "T", "value is None or bool(value)", True),
        ("T | None", "T", "value is not None", False),
        ("list[T | None]", "list[T]", "isinstance(value, list)", True),
        ("list[T | None]", "list[T]", "all(each is not None for each in value)", False),
    ],
)
def test_a_guard_narrows_what_it_is_given_and_what_that_holds(
    tmp_path: Path, given: str, promised: str, body: str, false: bool
) -> None:
    guard = f"def is_it(value: {given}) -> TypeGuard[{promised}]:\n    return {body}\n"
    text = f"from typing import TypeGuard, TypeVar\nT = TypeVar('T')\n{guard}"
    assert bool(_false_guards(tmp_path, {"shop.py": text})) is false


PRICES = "def total(items: list[float]) -> float:\n    return sum(items)\n"
RECEIPT = """\
from prices import total

def receipt(items: list[float]) -> str:
    return "total: " + total(items)
"""
KEPT = """\
from collections.abc import Callable
from typing import Any

def kept(function: Callable[..., object]) -> Callable[..., Any]:
    return function

@kept
"""


DETOURS = (
    (RECEIPT, KEPT + PRICES),
    (RECEIPT, KEPT.replace("[..., object]", "").replace("[..., Any]", "") + PRICES),
    *(
        (RECEIPT.replace("from prices import total\n", f"import prices\n{text}\n"), PRICES)
        for text in (
            "total = vars(prices).get('total', prices)",
            "import operator\nask = operator.attrgetter('total')\ntotal = ask(prices)",
            "import argparse\ntotal = argparse.Namespace(total=prices.total).total",
        )
    ),
)


def _in_one_project(pairs) -> dict[str, str]:
    """Pairs of a shop and its prices beside each other, with numbered names."""
    return {
        f"{name}_{number}.py": re.sub(r"\bprices\b", f"prices_{number}", text)
        for number, pair in enumerate(pairs)
        for name, text in zip(("shop", "prices"), pair, strict=False)
    }


@pytest.mark.usefixtures("pyright")
async def test_a_type_that_became_any_by_a_detour_is_told(make_project, context) -> None:
    wrong = _in_one_project([(RECEIPT, PRICES)] * len(DETOURS))
    shops = [name for name in wrong if name.startswith("shop")]
    found = await _contradicted(make_project, context, _in_one_project(DETOURS), wrong, shops)
    assert sorted(found.still_passed) == shops
    assert "a type there became `Any`" in found.reason


LOANS = """\
import json
import sys
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, TypeVar, cast

T = TypeVar("T")

@dataclass
class Loan:
    fee: int

def find(title: str) -> Loan | None: ...

def home() -> str:
    return sys._MEIPASS

def due(title: str) -> int:
    loan = find(title)
    return loan.fee
"""


HIDING = (
    "cast(Loan, loan).fee",
    "getattr(loan, 'fee')",
    "vars(\n        loan\n    )['fee']",
    "attrgetter('fee')(loan)",
    "anything.fee\nanything: Any = find('')",
    "cast(int, getattr(cast(object, loan), 'fee'))",
    "cast(Loan, val=loan).fee",
    "any_one.fee\nany_one: 'Any' = find('')",
    "cast(Any, find)(title).fee",
    "json.loads(json.dumps(loan, indent=2)).fee",
)
CORRECTING = (
    "loan.fee if loan else 0",
    "cast(Any, 1) if loan is None else getattr(loan, 'fee')",
)


@pytest.mark.usefixtures("pyright")
async def test_a_bypass_hides_an_error_and_corrects_none(make_project, context) -> None:
    names = [f"loans_{number}.py" for number in range(len(HIDING) + len(CORRECTING))]
    make_project({**dict.fromkeys(names, LOANS), "pyrightconfig.json": "{}"})
    goal = PyrightGoal(PyrightGoalOptions(), context)
    assert not (await goal.check({}, context.project)).achieved
    texts: dict[str, str] = {}
    for name, due in zip(names, [*HIDING, *CORRECTING], strict=True):
        text = LOANS.replace("loan.fee", due).replace("sys._MEIPASS", "getattr(sys, '_MEIPASS')")
        texts[name] = text
        (context.project / name).write_text(text)
    result = await goal.check({"iteration": 1}, context.project)
    hidden = names[: len(HIDING)]
    assert [name for name in names if result.report.cases[name] == "failed"] == hidden
    assert result.reason.startswith("10 errors are only hidden, by casts or the like: loans_0.py")
    assert "corrects none of them" in result.details
    assert {name: (context.project / name).read_text() for name in names} == texts


def test_arguments_and_attributes_are_written_plainly() -> None:
    text = "f(*[a, b], *(c,), *d, e=1)\nsetattr(self.seat, 'person', None)\nsetattr(a, 'b c', 1)"
    plain = "(f(a, b, c, *d, e=1))\nself.seat.person = None\nsetattr(a, 'b c', 1)"
    assert without_bypasses("", text) == plain


def test_parameters_that_became_anything_are_put_back() -> None:
    before = "class Sheet:\n    def write(self, rows: list[str], path: str) -> int: ..."
    now = before.replace("rows: list[str], path: str", "*args, **kwargs: Any")
    assert without_bypasses(before, now) == before
    assert without_bypasses("def f(a): ...", "def f(*args, **kwargs): ...") == "def f(a): ..."
    said, anything = "def f(a: int, b): ...", "def f(a, *args, **kwargs): ..."
    assert without_bypasses(said, anything) == said
    assert not without_bypasses(before, now.replace("Any", "str"))
    assert without_bypasses(before, now.replace("*args", "rows, *args")) == before
    assert not without_bypasses("def f(*a): ...", "def f(*args, **kwargs): ...")


def test_bypasses_of_before_stay() -> None:
    before = "def f(a):\n    return cast(int, a)\n"
    assert without_bypasses(before, before + "b = cast(int, c)\n") == before + "b = (c)\n"
    assert without_bypasses(before, f"\n{before}") == ""
    assert without_bypasses("", "def g(): ...\ncast(F, g)\nclass A:\n    a: Any = b\n") == ""
    assert without_bypasses("", "cast(Named, self).name\n") == ""
    assert without_bypasses("", "vars(a)['b'] = 1; getattr(a, 'from'); def_(\n") == ""
    assert without_bypasses("", "\ufeffa: Any\nb: Any = (\n  1)\nc\n") == "pass\nb = 1\n\nc\n"
    assert without_bypasses("", "if a:\n  b\n" + "elif a:\n  b\n" * 2000) == ""
    assert without_bypasses("", "'é'; getattr(a, 'é')\n") == "'é'; (a.é)\n"
    assert without_bypasses("", "getattr(a, '1'); getattr(a, b, c); vars(a)[1]; def") == ""


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("def f(a: int) -> Loan | None: ...", "def f(a: int) -> Any: ..."),
        ("def f(*, a: int = 1): ...", "def f(*, a = 1): ..."),
        ("def f(a: list[Loan]): ...", "def f(a: list[Any]): ..."),
        ("def f(a: Optional[int]): ...", "def f(a: Any): ..."),
        ("class A:\n  def f(self) -> 'Loan': ...", "class A:\n  def f(self) -> (\n'Any'): ..."),
        ("class A:\n  b: Loan = c", "class A:\n  b: Any = c"),
    ],
)
def test_a_declared_type_that_became_any_is_undone(before: str, now: str) -> None:
    assert ast.unparse(ast.parse(without_bypasses(before, now))) == ast.unparse(ast.parse(before))
    assert without_bypasses(now, before) == ""
    assert without_bypasses(now, f"{now}\n") == ""


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("def f(a: int) -> Loan: ...", "def f(a: object) -> Loan | None: ..."),
        ("def f(a: dict[str, str]): ...", "def f(a: dict[str, Any]): ..."),
        ("def f(a: Mapping[str, str]): ...", "def f(a: dict[str, Any]): ..."),
        ("def f(*a: int, **b: Loan): ...", "def f(*a: Any, **b: Any): ..."),
        ("def f(a: Loan) -> int: ...", "def g(a: Any) -> Any: ..."),
        ("def f(a: int) -> str: ...", "def f(a: Any) -> Any: ..."),
        ("def f() -> list[Loan] | None: ...", "def f() -> list[Any]: ..."),
        ("def f(a: Loan): ...", "def f(a: dict[str, Any]): ..."),
        ("def f(a: Loan) -> int: ...", "def f(a: Loan): ..."),
        ("a: Loan = f()", "class A:\n  a: Any = f()"),
    ],
)
def test_other_changes_of_declared_types_stay(before: str, now: str) -> None:
    assert without_bypasses(before, now) == ""


OVERLOADS = """\
from typing import overload

@overload
def shown(value: int) -> str: ...
@overload
def shown(value: None) -> None: ...
def shown(value: int | None, default: str | None = None) -> str | None:
    return BODY
class Desk:
    @overload
    def find(self, title: str) -> int: ...
    @overload
    def find(self, title: None) -> None: ...
    def find(self, title: str | None) -> int | None:
        return None
"""
PROMISED = """\

def promised_by_overload_4(value: int, default: None=None) -> str:
    if value:
        return str(value)
    else:
        return default

def promised_by_overload_6(value: None, default: None=None) -> None:
    if value:
        return str(value)
    else:
        return default

def promised_by_overload_11(self: 'Desk', title: str) -> int:
    return None

def promised_by_overload_13(self: 'Desk', title: None) -> None:
    return None
"""


def test_a_function_is_added_for_each_new_overload() -> None:
    text = OVERLOADS.replace("BODY", "str(value) if value else default")
    assert without_bypasses("", text) == text + PROMISED
    assert without_bypasses(text, f"{text}\n") == ""
    lines = (text + PROMISED).split("\n")
    assert overload_line(text + PROMISED, lines.index("        return str(value)")) == 3
    assert overload_line(text, len(lines)) is None


@pytest.mark.usefixtures("pyright")
@pytest.mark.parametrize(
    ("body", "is_kept"),
    [("str(value) if value is not None else None", True), ("str(value) if value else None", False)],
)
async def test_an_overload_is_held_against_its_function(
    make_project, context, body: str, is_kept: bool
) -> None:
    start = (
        "def shown(value: int | None) -> str | None:\n    return str(value) if value else None\n"
    )
    make_project({"a.py": f"{start}print(shown(3).upper())\n", "pyrightconfig.json": "{}"})
    goal = PyrightGoal(PyrightGoalOptions(), context)
    await goal.check({}, context.project)
    text = OVERLOADS.replace("BODY", body).partition("class")[0]
    (context.project / "a.py").write_text(f"{text}print(shown(3).upper())\n")
    result = await goal.check({"iteration": 1}, context.project)
    assert result.achieved is is_kept, result.details
    assert (
        "  4:" in result.details and '"None" is not assignable' in result.details
    ) is not is_kept


def test_a_parameter_that_got_other_things_may_take_anything() -> None:
    before, now = "def f(a: Loan): ...", "def f(a: Any): ..."
    assert without_bypasses(before, now, ["a"]) == ""
    assert without_bypasses(before, now, ["b"]) == "def f(a: Loan): ..."
    assert without_bypasses(before, "def f(a): ...", ["a"]) == "def f(a: Loan): ..."


@pytest.mark.usefixtures("pyright")
async def test_a_function_that_may_find_anything_corrects_no_use_of_it(
    make_project, context
) -> None:
    desk = "from loans import find\n\nprint(find('').fee)\n"
    make_project({"loans.py": LOANS, "desk.py": desk, "pyrightconfig.json": "{}"})
    goal = PyrightGoal(PyrightGoalOptions(), context)
    await goal.check({}, context.project)
    fixed = LOANS.replace("loan.fee", "loan.fee if loan else 0").replace("sys._MEIPASS", "''")
    for said, is_hidden in (("-> Any", True), ("-> Loan", False)):
        (context.project / "loans.py").write_text(fixed.replace("-> Loan | None", said))
        result = await goal.check({"iteration": 1}, context.project)
        assert result.achieved is not is_hidden, result.details
        assert ("  3:16 error: " in result.details) is is_hidden


EXCUSES = (
    ("a: int = 1  # type: ignore[no-any-return]\nb = 2  # type: ignore\n", 1),
    ("a: int = 1\nb = 2\n", 0),
    ("a: int = ''  # type: ignore\nb = 2  # type: ignore\n", 2),
    # Of two equal lines, one hides an error.
    ("a: int = 1\nb = 2  # type: ignore\ndef f(b: str):\n    b = 2  # type: ignore\n", 2),
    ("a: int = ''  # type: ignore[assignment]\nb = 2\n", 1),
    ("a: int = 1\nb = 2  # type: ignore\nif False:\n    b + ''  # type: ignore[x]\n", 2),
)


@pytest.mark.usefixtures("pyright")
async def test_an_ignore_comment_that_hides_nothing_is_no_excuse(make_project, context) -> None:
    texts = {f"ages_{number}.py": text for number, (text, _) in enumerate(EXCUSES)}
    wrong = "a: int = ''\nb = 2  # type: ignore\n"
    make_project({**dict.fromkeys(texts, wrong), "pyrightconfig.json": "{}"})
    goal = PyrightGoal(PyrightGoalOptions(), context)
    before = await goal.check({}, context.project)
    assert (before.achieved, before.report.excused) == (False, dict.fromkeys(texts, 1))
    for name, text in texts.items():
        (context.project / name).write_text(text)
    result = await goal.check({"iteration": 1}, context.project)
    assert result.achieved
    assert [result.report.excused.get(name, 0) for name in texts] == [count for _, count in EXCUSES]
    assert {name: (context.project / name).read_text() for name in texts} == texts


@pytest.mark.usefixtures("pyright")
async def test_a_function_that_answers_whatever_is_asked_for_is_counted(
    make_project, context
) -> None:
    free = (
        LOANS + "def ask(title: str) -> T:\n    return eval(title)\ndef say(text: T) -> int: ...\n"
    )
    make_project({"loans.py": free, "pyrightconfig.json": "{}"})
    result = await PyrightGoal(PyrightGoalOptions(), context).check({}, context.project)
    assert result.report.excused == {"loans.py": 1}


TWICE = """\
import json
def f(x: str) -> int:
    return x['a']
def g(text: str) -> int:
    x = json.loads(text)
    return x['a']
"""
HONEST_ANY = (
    # The type is another one, or is written as `Any`, which the audit reports.
    ((RECEIPT, PRICES), "-> float:\n    return sum", "-> str:\n    return str"),
    ((RECEIPT, PRICES), "-> float:", "-> 'typing.Any':"),
    # It was `Any` before, or there was none.
    (
        ("import json\nx = json.loads('1') if id(0) else None\nx.a()\n",),
        "x.a()",
        "assert x\nx.a()",
    ),
    (
        ("class A:\n    x = None\n    def f(self):\n        return self.x.y\n",),
        "x = None",
        "x: 'typing.Any' = None",
    ),
    # The line stands twice; the other one was always so.
    ((TWICE,), "x: str", "x: dict[str, int]"),
    # Another value.
    (
        ("import json\ndef f(text: str) -> int:\n    x = text\n    return x['a']\n",),
        "x = text",
        "x = json.loads(text)",
    ),
)


@pytest.mark.usefixtures("pyright")
async def test_an_honest_any_is_left_alone(make_project, context) -> None:
    wrong = _in_one_project(pair for pair, _, _ in HONEST_ANY)
    fixed = _in_one_project(
        [f"import typing\n{text.replace(old, new)}" if old in text else text for text in pair]
        for pair, old, new in HONEST_ANY
    )
    shops = [name for name in wrong if name.startswith("shop")]
    found = await _contradicted(make_project, context, fixed, wrong, shops)
    assert set(found.tried) >= set(shops)
    assert not found.still_passed


def test_types_are_told_before_the_statement_and_exposed_nowhere() -> None:
    text = "if a:\n    b\nelif f'é{c.d}':\n    pass\n"
    error = Range(start=Position(line=2, character=11), end=Position(line=2, character=12))
    probes = Probes(text, 1, {7: error})
    told = "reveal_type((7, 0, c.d))\nreveal_type((7, 1, c))\nif a:"
    assert told in probes.probed
    assert "7" not in probes.exposed(list(probes.places.values())).text


def test_errors_are_found_where_their_line_stands_now() -> None:
    errors = [Range(start=Position(line=line, character=1)) for line in (0, 1, 2)]
    found = standing("a\nb\na\n", "\na\nc\na\n", errors)
    assert [(each.before.start.line, each.now.start.line) for each in found] == [(0, 1), (2, 3)]


def test_only_guards_of_one_argument_are_called() -> None:
    text = (
        "class A:\n    def is_text(self, value) -> typing.TypeIs[str]:\n        return True\n"
        "def is_other(one, two) -> TypeGuard[int]: ...\ndef plain(one) -> bool: ...\n"
    )
    assert list(guards_in(text)) == ["is_text"]
    assert guards_in("def f(: # broken") == {}


@pytest.mark.parametrize(
    "text", [HIDDEN, HONEST, "@a\n@b(1)\nclass C:\n    'é'\n    x = 'é' if a else b()\n"]
)
def test_probes_leave_a_text_that_can_be_read(text: str) -> None:
    probes = Probes(text, 1)
    ast.parse(probes.probed)
    exposed = probes.exposed(list(probes.places.values()))
    ast.parse(exposed.text)
    assert exposed.ranges
    assert set(exposed.origins.values()) <= set(range(1, text.count("\n") + 1))


@pytest.mark.parametrize(
    ("now", "lost"),
    [
        ("def f(a, b: int) -> str:\n    return g(a)\n", "1: f(a) had an error, and has no types"),
        ("\ndef f(a, b):\n    return g(a)\n", "2: f(a, b) had an error, and has no types"),
        ("def f(a: int, b: int) -> str:\n    ...\n", "1: f had an error, and has no code"),
        (
            "def f(a: int, b: int) -> str:\n    g(a)\n    raise NotImplementedError('f')\n",
            "1: f had an error, and has no code",
        ),
        (
            "def f(a: int, b: int):\n    if a:\n        return b\n    raise NotImplementedError\n",
            "",
        ),
        ("@abc.abstractmethod\ndef f(a: int, b: int): ...\n", ""),
        ("class C:\n    def f(self): ...\ndef f(a: int, b: int):\n    return b\n", ""),
        ("def f(a: int, b: int):\n    return 0\nclass C:\n    def f(self): ...\n", ""),
        ("def f(a: str, b: int) -> str:\n    return g(a)\n", ""),
        ("def f(b: int):\n    return g(b)\n", ""),
        ("def g(a, b):\n    return g(a)\n", ""),
    ],
)
def test_a_function_with_an_error_keeps_its_code_and_its_types(now: str, lost: str) -> None:
    before = "def f(a: int, b: int) -> str:\n    return g(a)\ndef h(c: int): ...\n"
    error = Range(start=Position(line=1, character=4))
    assert removed_code_or_types(before, now, [error]) == (f"{lost} any more" if lost else "")


@pytest.mark.parametrize(
    "variable", ['TypeVar("T", str, bytes)', 'TypeVar("T", bound="str | bytes")']
)
def test_a_guard_for_some_types_is_not_called(tmp_path: Path, variable: str) -> None:
    guard = "def is_it(value: T) -> TypeGuard[str]:\n    return not isinstance(value, bytes)\n"
    text = f"from typing import TypeGuard, TypeVar\nT = {variable}\n{guard}"
    assert _false_guards(tmp_path, {"shop.py": text}) == []


def test_what_is_no_type_variable_keeps_no_guard_from_being_called(tmp_path: Path) -> None:
    other = "class Box: pass\nbox = Box()\nbox.T = TypeVar('T')\n"
    text = f"from typing import TypeVar\n{other}{GUARD.format('bool(value)')}"
    assert _false_guards(tmp_path, {"shop.py": text}) == ["is_text"]
