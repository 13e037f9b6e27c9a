"""Code that is moved out of a type checker's sight is found, and honest moves are none."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from retrai_goals_python.pyright.audit import moved_out_of_sight
from retrai_goals_python.pyright.type_excuses import excuses_in

SHOP = "def receipt(items):\n    return items\n"


def diff_of(name: str, sign: str, text: str) -> str:
    count = text.count("\n")
    counts = f"-1,{count} +0,0" if sign == "-" else f"-0,0 +1,{count}"
    lines = "".join(f"{sign}{line}\n" for line in text.splitlines())
    return f"--- a/{name}\n+++ b/{name}\n@@ {counts} @@\n{lines}"


@pytest.mark.parametrize(
    ("now", "checked", "suspect"),
    [
        ({"shop.inc": SHOP, "shop.py": "exec(open('shop.inc').read())\n"}, ["shop.py"], True),
        ({".impl/shop.py": SHOP}, [], True),
        ({"shop.py": f"TEXT = '''\n{SHOP}'''\nexec(TEXT)\n"}, ["shop.py"], True),
        ({"lib/shop.py": SHOP}, ["lib/shop.py"], False),
        ({"shop.py": "def bill(items):\n    return items\n"}, ["shop.py"], False),
        # Python 3.12 has this syntax, and retrai may run on an older one.
        ({"shop.py": "def receipt[T](items: T) -> T:\n    return items\n"}, ["shop.py"], False),
    ],
)
def test_a_definition_that_stands_where_nobody_looks(
    tmp_path: Path, now: Mapping[str, str], checked: list[str], suspect: bool
) -> None:
    diff = diff_of("shop.py", "-", SHOP)
    for name, text in now.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
        diff += diff_of(name, "+", text)
    assert bool(list(moved_out_of_sight(diff, tmp_path, checked))) == suspect


def test_a_stub_of_the_projects_own_module_is_an_excuse_wherever_it_stands(tmp_path: Path) -> None:
    names = ["typings/prices/__init__.pyi", "typings/oldlib/__init__.pyi"]
    for name in (*names, "prices.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    assert excuses_in(tmp_path, names) == {names[0]: 1}


def test_a_definition_that_a_docstring_goes_on_showing_was_not_moved(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(f'"""Define:\n\n{SHOP}"""\n')
    diff = f"--- a/shop.py\n+++ b/shop.py\n@@ -6,{SHOP.count(chr(10))} +6,0 @@\n"
    diff += "".join(f"-{line}\n" for line in SHOP.splitlines())
    assert not list(moved_out_of_sight(diff, tmp_path, ["shop.py"]))
