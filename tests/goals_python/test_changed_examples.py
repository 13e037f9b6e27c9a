"""Examples that are tests may be added and moved, and not changed."""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest

from retrai_goals_python.pytest.guarding import changed_examples

OLD = '''\
def label(name):
    """As it is printed.

    >>> label(" a ")
    'A'
    """
    return name
'''


PROSE = "# bill\n\n    >>> label('b')\n    'B'\n\nMore.\n"


@pytest.mark.parametrize(
    ("name", "old", "new", "suspect"),
    [
        ("bill.py", OLD, OLD.replace("'A'", "'a'"), True),
        ("bill.py", OLD, OLD.replace(">>> label", ">>> print").replace("'A'", "a"), True),
        ("bill.py", OLD, OLD.replace("    >>> label(\" a \")\n    'A'\n", ""), True),
        ("bill.py", OLD, OLD.replace("return name", "return name.strip().upper()"), False),
        ("bill.py", OLD, OLD.replace("    'A'", "    'A'\n    >>> label('b')\n    'B'"), False),
        ("bill.py", OLD, "import os\n\n\n" + OLD, False),
        ("README.md", PROSE, PROSE.replace("'B'", "'b'"), True),
        ("README.md", PROSE, PROSE + "\n    >>> label('c')\n    'C'\n", False),
    ],
)
def test_an_example_that_expects_something_else_is_found(
    tmp_path: Path, name: str, old: str, new: str, suspect: bool
) -> None:
    (tmp_path / name).write_text(new)
    lines = difflib.unified_diff(
        old.splitlines(True), new.splitlines(True), f"a/{name}", f"b/{name}"
    )
    diff = "".join(lines)
    assert bool(list(changed_examples(diff, tmp_path, {name}))) == suspect
    assert not list(changed_examples(diff, tmp_path, set()))
