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
