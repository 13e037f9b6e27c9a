"""Source that reaches for pytest or the interpreter is found however it is spelled."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from retrai_goals_python.diff_audit import PYTHON_TRICKS, audit_added_lines
from retrai_goals_python.reaching_code import reaching

HIDDEN = base64.b64encode(b"import _pytest").decode()
REACHING = [
    "from sys import modules\nfor module in modules.values(): pass",
    "import sys as s\nvars(s)['mod' + 'ules']",
    "import sys\nname = ''.join(chr(n + 1) for n in b'lnctkdr')\ngetattr(sys, name)",
    "import sys\n'pytest' in sys.modules",
    "import sys\nsys.modules['test_bill'].total = 1",
    "import importlib\nrunner = importlib.import_module('.'.join(['_py' + 'test', 'runner']))",
    "runner = __import__('tsetyp_'[::-1])",
    f"import base64\nexec(base64.b64decode('{HIDDEN}'))",
    "import builtins as b\nb.__dict__['AssertionError'] = SystemExit",
    "__builtins__['len'] = max",
    "globals()['__builtins__'].len = max",
    "import unittest\nunittest.TestCase.assertEqual = print",
    "from unittest import case\nsetattr(case.TestCase, 'assert' + 'Equal', print)",
    "from unittest.mock import patch\npatch('builtins.len').start()",
    "from hypothesis import settings\nsettings.load_profile('fast')",
    "from inspect import currentframe as here\nhere()",
    "import traceback\nfor frame, _ in traceback.walk_stack(None): pass",
    "def f(error): return getattr(error.__traceback__, 'tb_' + 'frame')",
    "import os\nos.environ.get('PYT' 'EST_CURRENT_TEST')",
    "import gc as g\ng.get_objects()",
    "import sys\nsys.monitoring.use_tool_id(0, 'x')",
    "import sys\ngetattr(sys, input())",
]
HONEST = [
    "import sys\nhere = sys.modules[__name__]",
    "import sys\nif 'numpy' in sys.modules or sys.modules.get('torch'): pass",
    "import sys\ndef scope(cls): return sys.modules[cls.__module__].__dict__",
    "import sys\nfrozen = getattr(sys, 'frozen', False)\nsys.setrecursionlimit(9)",
    "import inspect\ninspect.signature(print)\ninspect.getmembers(inspect)",
    "import builtins\ndef load(name): return getattr(builtins, name)",
    "import importlib\ndef load(name): return getattr(importlib.import_module(name), 'main')",
    "import ctypes\nctypes.CDLL(None).abs(-1)",
    "import atexit, codecs, operator, threading, traceback\ntraceback.format_exc()",
    "import json\njson.JSONEncoder.default = str",
    "import math\narea = math.pi * 2\noperator = math\n",
    '"""Like pytest, see sys.modules and _pytest."""',
    "text = 'a' * 10 ** 9\nother = '%999999999d' % 1\nmore = bytes(10 ** 12)",
]

FIXTURE = "import pytest\n@pytest.fixture\ndef shop({}):\n    {}\n"
AUTOMATIC = FIXTURE.replace("fixture", "fixture(autouse=True)")
FIXTURES = [
    FIXTURE.format("", "return 1"),
    FIXTURE.format("request", "yield request.param").replace("import", "import os,", 1),
    FIXTURE.format("", "yield").replace("fixture", "fixture(params=[pytest.param(1, id='one')])"),
    """\
from pytest import fixture as given, FixtureRequest
@given(name='x')
def shop(request: FixtureRequest):
    request.addfinalizer(print)
    if request.node.get_closest_marker('slow') or request.config.getoption('--fast'):
        return request.getfixturevalue('tmp_path')
""",
    FIXTURE.format("monkeypatch", "monkeypatch.setattr('shop.payments.charge', print)"),
    FIXTURE.format("monkeypatch", "monkeypatch.setenv('SHOP', 'x')"),
    AUTOMATIC.format("", "yield"),
    """\
import pytest as pt
pytest_plugins = ['shop.more']
def mp() -> pt.MonkeyPatch: ...
class Kit:
    @pt.fixture
    def shop(self): return 1
""",
    "import pytest\ndef fails(what):\n    with pytest.raises(what, match='x'): yield\n",
]
RUNNER_FIXTURES = [
    FIXTURE.format("request", "request.node.runtest = lambda: None"),
    FIXTURE.format("request", "type(request.node).runtest = print"),
    FIXTURE.format("request", "handle = request; handle.session.items.clear()"),
    FIXTURE.format("request", "request.config.pluginmanager.register(object())"),
    FIXTURE.format("request", "request.module.of_age = lambda age: True"),
    FIXTURE.format("request", "request.function.__code__ = print.__code__"),
    FIXTURE.format("request", "request.getfixturevalue('req' + 'uest').node"),
    FIXTURE.format("request", "look = request.getfixturevalue"),
    FIXTURE.format("request", "locals()['req' + 'uest'].node"),
    FIXTURE.format("pytestconfig", "pytestconfig.pluginmanager.unregister('terminal')"),
    FIXTURE.format("caplog", "caplog._item.obj = print"),
    FIXTURE.format("caplog", "getattr(caplog, '_it' + 'em').obj = print"),
    FIXTURE.format("capsys", "capsys.request.node.obj = print"),
    FIXTURE.format("monkeypatch", "monkeypatch.setattr(pytest.Function, 'runtest', print)"),
    FIXTURE.format("monkeypatch", "monkeypatch.setattr('_pytest.python.Function.runtest', print)"),
    FIXTURE.format("monkeypatch", "monkeypatch.setattr('tests.test_ages.of_age', print)"),
    AUTOMATIC.format("monkeypatch", "monkeypatch.setattr('ages.of_age', print)"),
    AUTOMATIC.format("request", "return request.param"),
    FIXTURE.format("", "pytest.fixture = print"),
    FIXTURE.format("", "pytest.Function.runtest = print"),
    FIXTURE.format("", "setattr(pytest, 'fail', print)"),
    FIXTURE.format("", "vars(pytest)['fail'] = print"),
    FIXTURE.format("", "pytest.fixture.__globals__['x'] = 1"),
    FIXTURE.format("", "pytest.exit('done', returncode=0)"),
    FIXTURE.format("", "return pytest.approx(1, abs=9e9)"),
    FIXTURE.format("", "other = pytest"),
    FIXTURES[0] + "def pytest_runtest_makereport(item): ...\n",
    "import pytest\nfor name in ['x']: pytest_pyfunc_call = print\n",
    "import pytest\nimport _pytest.runner\n",
    "import pytest, pluggy\n",
]


@pytest.mark.parametrize("text", FIXTURES)
def test_fixtures_that_a_package_ships_are_none(text: str) -> None:
    assert reaching(text) == []
    # A file that has them may go on to use pytest as it likes.
    assert reaching(text, fixtures=True)


@pytest.mark.parametrize("text", RUNNER_FIXTURES)
def test_a_fixture_that_goes_beyond_the_tests_own_request_is_found(text: str) -> None:
    assert reaching(text)


@pytest.mark.parametrize("text", REACHING)
def test_what_reaches_for_the_runner_is_found(text: str) -> None:
    assert reaching(text)


@pytest.mark.parametrize("text", HONEST)
def test_what_many_programs_do_is_none(text: str) -> None:
    assert reaching(text) == []


def test_what_is_no_python_is_not_known() -> None:
    assert reaching("def (") is None


def diff_of(name: str, old: str, new: str) -> str:
    removed = "".join(f"-{line}\n" for line in old.split("\n")) if old else ""
    added = "".join(f"+{line}\n" for line in new.split("\n"))
    counts = (old.count("\n") + 1 if old else 0, new.count("\n") + 1)
    return f"--- a/{name}\n+++ b/{name}\n@@ -1,{counts[0]} +1,{counts[1]} @@\n{removed}{added}"


@pytest.mark.parametrize(
    ("name", "old", "new", "suspect"),
    [
        ("bill.py", "", "import sys as s\ns._getframe()", True),
        # The file did so before, in other words.
        ("bill.py", "import sys\nsys._getframe(1)", "from sys import _getframe as f\nf()", False),
        ("bill.py", "", "import sys\nx = sys.modules[__name__]", False),
        ("kit.py", "", FIXTURES[0], False),
        ("kit.py", FIXTURES[0], FIXTURES[0] + "def skip(): pytest.skip('later')\n", False),
        ("kit.py", FIXTURES[0], FIXTURES[0] + "pytest.Function.runtest = print\n", True),
        ("kit.py", "", RUNNER_FIXTURES[0], True),
        # Lines end where Python has them end, and git puts unusual names into quotes.
        ("bill.py", "", "x = 1\n\x0cimport _pytest", True),
        ('"b\\303\\251.py"', "", "import _pytest", True),
    ],
)
def test_the_audit_goes_by_what_a_file_means(
    tmp_path: Path, name: str, old: str, new: str, suspect: bool
) -> None:
    (tmp_path / ("bé.py" if name[0] == '"' else name)).write_text(new, "utf-8")
    diff = diff_of(name, old, new).replace('b/"b', '"b/b')
    found = audit_added_lines(diff, PYTHON_TRICKS, tmp_path)
    assert any(one.reaches_runner for one in found) == suspect
