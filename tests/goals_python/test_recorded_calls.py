"""What the project's code answers its tests is recorded, and played again where no tests run."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from retrai_core import RecordedCall, RunContext
from retrai_goal_support import replay_python_calls
from retrai_goals_python.pytest.recorded_calls import (
    import_paths,
    patches,
    recorded_calls,
    remove_tests,
)
from retrai_goals_python.runner import PytestRun, run_pytest

from .conftest import MakeProject

Answers = list[tuple[str, str]]


@pytest.fixture
def run(context: RunContext, make_project: MakeProject):
    """Writes a project and runs its tests, all of them recorded."""

    async def start(files: Mapping[str, str]) -> tuple[Path, PytestRun]:
        project = make_project(files)
        ids = list((await run_pytest(context.sandbox, sys.executable, project)).cases)
        found = await run_pytest(context.sandbox, sys.executable, project, record=ids)
        assert found.complete, found.problem
        return project, found

    return start


@pytest.fixture
def record(run):
    """The same, and gives back the calls and where modules came from."""

    async def start(
        files: Mapping[str, str], cases: bool = False
    ) -> tuple[list[RecordedCall], list[str]]:
        project, found = await run(files)
        paths = [str(project / path) for path in import_paths(found, project)]
        calls = recorded_calls(found, project)
        return [each for each in calls if (each.call == each.case) == cases], paths

    return start


@pytest.fixture
def replay(context: RunContext):
    """Makes calls again without tests, and gives back calls and answers."""

    async def start(
        project: Path,
        calls: Sequence[RecordedCall],
        paths: Sequence[str],
        neighbors: int = 0,
        modules: Sequence[str] = (),
        *,
        late: bool = False,
    ) -> list[RecordedCall]:
        return await replay_python_calls(
            context.sandbox,
            sys.executable,
            project,
            calls,
            paths=paths,
            modules=modules,
            neighbors=neighbors,
            timeout_s=60,
            cpu_s=15,
            late=late,
        )

    return start


def shown(calls: Sequence[RecordedCall], case: str = "") -> Answers:
    return [(each.call, each.answer) for each in calls if each.case.endswith(case)]


@pytest.mark.parametrize(
    ("asserts", "compared"),
    [
        ("found['a'] == wanted['a']", ("['tea']", "['milk']")),
        ("found.get('a') == wanted['a']", ()),  # a call is not made twice
        ("wanted['a'][0] in found['a']", ("'milk'", "['tea']", "in")),
        ("len(found) > 1", ()),
        ("found['a'] < wanted['a'], found", ("['tea']", "['milk']", "<")),
        ("found['a'] == ['milk']", ("['tea']", "['milk']")),
        ("page.title == wanted['a']", ()),  # a property may do anything
        ("page.name == wanted['a']", ("'shop'", "['milk']")),
    ],
)
async def test_what_a_helper_asserts_by_itself_is_known(record, asserts: str, compared) -> None:
    calls, _ = await record(
        {
            "shop.py": "def wares():\n    return {'a': ['tea']}\n",
            "pytest.ini": "[pytest]\npythonpath = .\n",
            "tests/helping.py": "from pages import page\n\n\n"
            f"def same(found, wanted):\n    assert {asserts}\n",
            "pages.py": "class Page:\n    title = property(lambda self: 'shop')\n\n\n"
            "page = Page()\npage.name = 'shop'\n",
            "tests/test_shop.py": "from helping import same\nfrom shop import wares\n\n\n"
            "def test_wares():\n    found = wares()\n    same(found, {'a': ['milk']})\n",
        }
    )
    assert {each.compared for each in calls if each.call == "wares()"} == {compared}


def test_what_the_code_reads_stays_where_the_tests_are_gone(make_project: MakeProject) -> None:
    kept = ["shop.py", "tests/data/pytest.ini", "tests/data/rows.json", "tox.ini"]
    gone = ["pytest.ini", "conftest.py", "tests/test_shop.py", "tests/unit/test_a.py"]
    project = make_project(dict.fromkeys([*kept, *gone], "x = 1\n"))
    remove_tests(project)
    assert sorted(str(p.relative_to(project)) for p in project.rglob("*") if p.is_file()) == kept
    assert not (project / "tests/unit").exists()


async def test_outermost_calls_are_recorded_with_all_that_came_back(record) -> None:
    calls, _ = await record(
        {
            "shop/__init__.py": """
                def inner(x):
                    return x * 2

                def outer(x, *more, scale=1, **named):
                    return inner(x) * scale

                def fails(text):
                    raise ValueError("no " + text)

                def fills(items):
                    items.append(3)

                def counts(to):
                    yield from range(to)

                class Cart:
                    def __init__(self):
                        self.items = {}

                    def add(self, name, price):
                        self.items[name] = price

                    @property
                    def total(self):
                        return sum(self.items.values())

                    def __eq__(self, other):
                        return self.items == other.items
                """,
            "test_shop.py": """
                import pytest
                import shop

                def test_values():
                    assert shop.outer(2, 5, scale=3, key="x") == 12

                def test_errors():
                    with pytest.raises(ValueError):
                        shop.fails("bread")

                def test_changes():
                    items = [1]
                    shop.fills(items)
                    assert items == [1, 3]

                def test_generator():
                    assert list(shop.counts(2)) == [0, 1]

                def test_object():
                    cart = shop.Cart()
                    cart.add("bread", 3)
                    assert cart.total == 3
                    assert cart != shop.Cart()
                """,
        }
    )
    assert shown(calls, "test_values") == [("outer(2, 5, key='x', scale=3)", "12")]
    assert shown(calls, "test_errors") == [("fails('bread')", "raises ValueError('no bread')")]
    assert shown(calls, "test_changes") == [("fills([1])", "None; items: [1, 3]")]
    assert [answer for _, answer in shown(calls, "test_generator")] == [
        "yields 0 as number 1",
        "yields 1 as number 2",
        "None after 2 values",
    ]
    assert shown(calls, "test_object")[:3] == [
        ("Cart.__init__(Cart())", "None; self: Cart(items={})"),
        ("Cart.add(Cart(items={}), 'bread', 3)", "None; self: Cart(items={'bread': 3})"),
        ("Cart.total(Cart(items={'bread': 3}))", "3"),
    ]


async def test_a_test_that_sets_something_up_is_not_plain(record) -> None:
    calls, _ = await record(
        {
            "shop.py": "RATE = 2\ndef rate():\n    return RATE\n",
            "test_shop.py": """
                import pytest, shop

                @pytest.fixture
                def number():
                    return 2

                @pytest.fixture
                def twice(number):
                    yield 2 * number

                @pytest.fixture
                def rate_is_three(monkeypatch):
                    monkeypatch.setattr(shop, "RATE", 3)

                @pytest.fixture
                def entered(tmp_path):
                    with open(tmp_path / "rate", "w") as file:
                        yield file

                def test_plain():
                    assert shop.rate() == 2

                @pytest.mark.parametrize("rate", [2])
                def test_parameters(rate):
                    assert shop.rate() == rate

                def test_environment(monkeypatch):
                    assert shop.rate() == 2

                def test_fixture(twice):
                    assert shop.rate() == twice / 2

                def test_fixture_that_sets(rate_is_three):
                    assert shop.rate() == 3

                def test_fixture_that_enters(entered):
                    assert shop.rate() == 2

                def test_assigns():
                    shop.RATE = 3
                    assert shop.rate() == 3

                class TestValues:
                    def setup_method(self):
                        self.rate = 2

                    def test_rate(self):
                        assert shop.rate() == self.rate

                class TestState:
                    def setup_method(self):
                        shop.RATE = 3

                    def test_rate(self):
                        assert shop.rate() == 3
                """,
        }
    )
    plain = {each.case.partition("::")[2]: each.plain for each in calls}
    assert plain == {
        "test_plain": True,
        "test_parameters[2]": True,
        "test_environment": False,
        "test_fixture": True,
        "test_fixture_that_sets": False,
        "test_fixture_that_enters": False,
        "test_assigns": False,
        "TestValues::test_rate": True,
        "TestState::test_rate": False,
    }


VALUES = """
    import sys
    import unittest
    from dataclasses import dataclass
    from pathlib import Path

    import shop

    HERE = Path(__file__).parent
    NAMES = sorted(HERE.name.split("/"))
    sys.path.insert(0, str(HERE))

    @dataclass
    class Case:
        rate: int

    CASES = [Case(2), Case(rate=2)]
    {line}

    class ShopTest(unittest.IsolatedAsyncioTestCase):
        @classmethod
        def setUpClass(cls):
            cls.rate = 2

        async def test_rate(self):
            for case in CASES:
                with self.subTest(case):
                    self.assertEqual(await shop.later(), case.rate)

    if __name__ == "__main__":
        unittest.main()
    """


@pytest.mark.parametrize(
    ("line", "is_plain"),
    [
        ("", True),
        ("SHOP = shop.rate()", False),
        ("shop.rate()", False),
        ("sys.setrecursionlimit(900)", False),
        ("shop.RATE = 2", False),
    ],
)
async def test_a_module_of_tests_may_make_values(record, replay, line: str, is_plain: bool) -> None:
    shop = "RATE = 2\ndef rate():\n    return RATE\nasync def later():\n    return RATE\n"
    files = {"shop.py": shop, "test_shop.py": VALUES.format(line=line)}
    calls, _ = await record(files)
    asked = [each for each in calls if each.call.startswith("later")]
    assert [(each.answer, each.plain) for each in asked] == [("2", is_plain)] * 2


async def test_calls_are_made_again_without_tests(record, replay, make_project) -> None:
    files = {
        "shop.py": """
            import sys

            def where():
                return "tests" if "pytest" in sys.modules else "shop"

            def double(x):
                return x * 2
            """,
        "test_shop.py": """
            import shop

            def test_shop():
                assert shop.where() == "tests"
                assert shop.double(4) == 8
            """,
    }
    calls, paths = await record(files)
    assert shown(calls) == [("where()", "'tests'"), ("double(4)", "8")]
    again = await replay(make_project({}), calls, paths, neighbors=5)
    assert shown([each for each in again if each.case]) == [
        ("where()", "'shop'"),
        ("double(4)", "8"),
    ]
    near = shown([each for each in again if not each.case])
    assert ("double(5)", "10") in near
    assert len(near) == 5
    assert near == shown((await replay(make_project({}), calls, paths, 5))[2:])


async def test_calls_farther_away_follow_those_that_are_near(record, replay, make_project) -> None:
    files = {
        "shop.py": """
            def ordinal(number):
                return {1: "st"}.get(number % 20, "th")
            """,
        "test_shop.py": """
            import shop

            def test_ordinal():
                assert shop.ordinal(111) == "th"
            """,
    }
    calls, paths = await record(files)
    near = shown(await replay(make_project({}), calls, paths, neighbors=60))
    assert ("ordinal(101)", "'st'") in near
    assert ("ordinal(131)", "'th'") in near  # by 10, and by 10 again
    assert len(near) == len(dict(near)) == 61


async def test_an_answer_that_only_the_first_calls_get_has_a_late_one(
    record, replay, make_project
) -> None:
    files = {
        "shop.py": """
            import itertools
            import time

            calls = itertools.count()
            numbers = itertools.count(1)
            known, uses = set(), {}

            def price(number):
                return number * (3 if next(calls) < 10 else 2)

            def number(name):
                return "%s-%d" % (name, next(numbers))

            def is_new(name):
                return name not in known and not known.add(name)

            def is_allowed(name):
                now = int(time.time()) // 1800
                uses[now] = uses.get(now, 0) + 1
                return uses[now] < 10
            """,
        "test_shop.py": """
            import shop

            def test_price():
                assert shop.price(4) == 12
                assert shop.number("tea") == "tea-1"
                assert shop.is_new("tea") and shop.is_allowed("tea")
            """,
    }
    calls, paths = await record(files)
    again = await replay(make_project({}), calls, paths, neighbors=100, late=True)
    assert [(each.call, each.answer) for each in again if each.late] == [("price(4)", "8")]


async def test_nothing_outside_of_the_process_is_touched(record, replay, make_project) -> None:
    project = make_project({"precious.txt": "kept"})
    calls, paths = await record(
        {
            "shop.py": """
                import os, socket, subprocess, tempfile

                def removes(path):
                    if os.environ.get("PYTEST_CURRENT_TEST") is None:
                        os.remove(path)
                    return 1

                def writes(path):
                    if os.environ.get("PYTEST_CURRENT_TEST") is None:
                        open(path, "w").write("gone")
                    return 1

                def starts(path):
                    if os.environ.get("PYTEST_CURRENT_TEST") is None:
                        subprocess.run(["rm", path])
                    return 1

                def sends(path):
                    if os.environ.get("PYTEST_CURRENT_TEST") is None:
                        try:
                            socket.create_connection(("127.0.0.1", 9))
                        except Exception:
                            return "tried"
                    return 1

                def waits(path):
                    if os.environ.get("PYTEST_CURRENT_TEST") is None:
                        while True:
                            pass
                    return 1

                def reads(path):
                    return open(path).read()

                def works(path):
                    with tempfile.TemporaryDirectory() as folder:
                        os.mkdir(folder + "/in")
                        open(folder + "/in/it", "w").write("one")
                        with tempfile.TemporaryFile("w+") as file:
                            file.write(open(folder + "/in/it").read())
                            file.seek(0)
                            return file.read()
                """,
            "test_shop.py": f"""
                import shop, pytest

                @pytest.mark.parametrize(
                    "name", ["removes", "writes", "starts", "sends", "waits", "reads", "works"]
                )
                def test_shop(name):
                    getattr(shop, name)({str(project / "precious.txt")!r})
                """,
        }
    )
    assert len(calls) == 7
    again = await replay(project, calls, paths)
    assert [each.answer for each in again] == ["'kept'", "'one'"]
    assert (project / "precious.txt").read_text("utf-8") == "kept"


async def test_a_process_outside_is_an_hour_old(record, replay, make_project) -> None:
    files = {
        "shop.py": """
            import time
            from time import process_time

            began = time.monotonic()

            def is_young():
                return time.monotonic() - began < 60 or process_time() < 60
            """,
        "test_shop.py": """
            import shop

            def test_age():
                assert shop.is_young()
            """,
    }
    calls, paths = await record(files)
    assert shown(calls, "test_age")[0] == ("is_young()", "True")
    again = await replay(make_project({}), calls, paths)
    assert shown(again)[0] == ("is_young()", "False")


async def test_what_follows_the_clock_has_no_answer_beside_the_tests(
    record, replay, make_project
) -> None:
    files = {
        "shop.py": """
            import time

            def age(since):
                return int(time.time()) - since

            def twice(n):
                return 2 * n
            """,
        "test_shop.py": """
            import shop

            def test_age():
                assert shop.age(5) > shop.twice(3)
            """,
    }
    calls, paths = await record(files)
    found = await replay(make_project({}), calls, paths, neighbors=20)
    assert {each.call.partition("(")[0] for each in found if not each.case} == {"twice"}


async def test_what_the_project_replaces_in_other_modules_is_recorded(run) -> None:
    _, found = await run(
        {
            "shop.py": """
                import copy, difflib, functools, json, logging, pathlib, sqlite3

                class Encoder(json.JSONEncoder):
                    __module__ = "json"

                    def default(self, value):
                        return str(value)

                json._default_encoder = Encoder()
                vars(json).update(loads=functools.partial(lambda text: 1))
                for kind in pathlib.Path.__mro__:
                    if "read_text" in vars(kind):
                        kind.read_text = lambda self: ""
                copy._deepcopy_dispatch[Encoder] = lambda value, memo: value
                difflib.Differ.compare = Encoder()
                logging.Formatter.converter = lambda *args: None  # a setting
                sqlite3.register_adapter(Encoder, lambda value: "")  # in a table for that
                """,
            "test_shop.py": """
                import json, shop

                def test_shop(monkeypatch):
                    monkeypatch.setattr(json, "dump", lambda *args: None)  # of the test
                    assert json.loads("2") == 1
                """,
        }
    )
    replaced = {"json._default_encoder", "json.loads", "pathlib.Path.read_text"}
    replaced |= {"copy._deepcopy_dispatch", "difflib.Differ.compare"}
    assert patches(found).keys() == replaced
    assert patches(found)["json.loads"] == ("shop.py", 10)


async def test_an_import_is_no_replacement_where_a_test_loads_the_source_anew(run) -> None:
    files = {
        "shop.py": "def price():\n    return 1\n",
        "test_a_reload.py": """
            import sys

            def test_reload():
                del sys.modules["shop"]
                import shop
                assert shop.price() == 1
            """,
        "test_shop.py": "from shop import price\n\ndef test_price():\n    assert price() == 1\n",
    }
    _, found = await run(files)
    assert not patches(found)


async def test_recording_gives_way_to_another_trace_function(record) -> None:
    calls, _ = await record(
        {
            "shop.py": "def one():\n    return 1\n",
            "test_shop.py": """
                import shop, sys

                def test_traces():
                    seen = []
                    sys.settrace(lambda *args: seen.append(args))
                    shop.one()
                    sys.settrace(None)
                    assert seen

                def test_other():
                    assert shop.one() == 1
                """,
        }
    )
    assert {each.case for each in calls if each.call} == {"test_shop.py::test_other"}
    assert ("", "") in shown(calls, "test_traces")  # it cannot be said what it saw


async def test_a_coroutine_is_one_call(record, replay, make_project) -> None:
    files = {
        "shop.py": """
            import asyncio

            async def total(n):
                n = n * 2
                await asyncio.sleep(0.01)
                return n
            """,
        "test_shop.py": """
            import asyncio, shop

            def test_total():
                async def both():
                    return await asyncio.gather(shop.total(3), shop.total(4))
                assert asyncio.run(both()) == [6, 8]
            """,
    }
    calls, paths = await record(files)
    assert shown(calls) == [("total(3)", "6"), ("total(4)", "8")]
    assert shown(await replay(make_project({}), calls, paths)) == shown(calls)


async def test_another_test_that_fails_by_chance_takes_no_calls_away(
    make_project, make_goal, context, tmp_path: Path
) -> None:
    chance = """
        from pathlib import Path

        def test_chance():
            count = Path("count")
            count.write_text(count.read_text() + "x" if count.exists() else "x")
            assert len(count.read_text()) != 1
        """
    tests = "import shop\n\ndef test_one():\n    assert shop.one() == 1\n"
    make_project({"shop.py": "def one():\n    return 2\n", "test_shop.py": tests})
    goal = make_goal()
    before = await goal.check({}, context.project)
    assert [each.answer for each in before.calls if each.call == "one()"] == ["2"]
    make_project({"shop.py": "def one():\n    return 1\n", "test_chance.py": chance})
    copy = tmp_path / "copies" / "project"
    shutil.copytree(context.project, copy)
    after = await goal.check({"iteration": 1}, copy)
    assert after.achieved
    assert (copy / "count").read_text() == "xx"
    assert [each.answer for each in after.calls if each.call == "one()"] == ["1"]


async def test_a_plain_test_is_a_call_too(record, replay, make_project) -> None:
    files = {
        "shop.py": "def double(n):\n    return n + n\n",
        "test_shop.py": """
            from shop import double

            def test_double():
                assert double(4) == 8

            def test_wrong():
                assert double(4) == 9

            def test_data():
                assert double(len(open("tests/data.txt").read())) == 0
            """,
        "test_many.py": """
            import pytest
            import shop

            class Box:
                pass

            @pytest.mark.parametrize("number, twice", [(1, 2), (2, 5), ([Box()], [])])
            def test_many(number, twice):
                assert shop.double(number) == twice
            """,
        "test_raises.py": """
            import pytest
            import shop

            def test_raises():
                with pytest.raises(TypeError):
                    shop.double(None)
            """,
        "tests/data.txt": "",
        "test_timed.py": "import time\nimport shop\n\ndef test_now():\n    assert shop.double(1)\n",
    }
    cases, paths = await record(files, cases=True)
    assert shown(cases) == [
        ("test_many.py::test_many[1-2]", "passes"),
        ("test_many.py::test_many[2-5]", "fails"),
        ("test_shop.py::test_double", "passes"),
        ("test_shop.py::test_wrong", "fails"),
        ("test_shop.py::test_data", "passes"),
    ]
    project = make_project({})
    found = shown(await replay(project, cases, paths))
    assert [answer for _, answer in found[:4]] == [
        "passes",
        "fails at line 7",
        "passes",
        "fails at line 7",
    ]
    (project / "shop.py").write_text("def double(n):\n    return 9\n")
    (project / "tests" / "data.txt").unlink()
    found = shown(await replay(project, cases, paths))
    assert [answer[:5] for _, answer in found] == ["fails", "fails", "fails", "passe"]


LOOKS = """\
import os
import sys
from importlib.metadata import distributions, entry_points
from importlib.util import find_spec


def surroundings(name):
    return {
        "runner": find_spec(name) is not None,
        "plugins": bool(entry_points(group="pytest11")),
        "installed": any(one.metadata["Name"] == name for one in distributions()),
        "byte code": sys.dont_write_bytecode,
        "variables": [name for name in os.environ if name.startswith("PYTHON")],
        "shell": "OLDPWD" in os.environ,
        "program": sys.argv,
    }


def needs_the_runner(name):
    import pytest

    return pytest.approx(1) == 1
"""


async def test_a_process_outside_of_the_tests_looks_like_an_ordinary_program(
    record, replay, context: RunContext
) -> None:
    calls, paths = await record(
        {
            "looks.py": LOOKS,
            "test_looks.py": "from looks import needs_the_runner, surroundings\n\n\n"
            "def test_looks():\n    assert surroundings('pytest')['runner']\n"
            "    assert needs_the_runner('pytest')\n",
        }
    )
    played = shown(await replay(context.project, calls, paths))
    assert len(played) == 1, "what imports the runner has no answer outside"
    assert "'runner': False, 'plugins': False, 'installed': False" in played[0][1]
    assert "'byte code': False, 'variables': [], 'shell': True" in played[0][1]
    assert "'program': ['app.py']" in played[0][1]


async def test_a_module_that_imports_the_runner_finds_it_outside(
    record, replay, context: RunContext
) -> None:
    calls, paths = await record(
        {
            "kit.py": "import pytest\n\n\ndef near(value):\n    return pytest.approx(1) == value\n",
            "test_kit.py": "from kit import near\n\n\ndef test_near():\n    assert near(1)\n",
        }
    )
    assert shown(await replay(context.project, calls, paths)) == [("near(1)", "True")]
