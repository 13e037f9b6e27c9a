"""The tools, in a run's workspace, and the command."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from retrai_core import RunContext, Tool
from retrai_core.workspace.safe_paths import SafeWorkspace

CLASSES: dict[str, type[Tool]] = {
    point.name: point.load()
    for point in entry_points(group="retrai.tools")
    if point.value.startswith("retrai_codeindex.")
}
CART = '''"""A shop."""


class Cart:
    """What a customer wants."""

    def total(self):
        """The sum of all prices."""
        return add_up(self.prices)


def add_up(prices):
    return sum(prices)
'''


class Tools:
    """The tools of one run."""

    def __init__(self, project) -> None:
        self.project = project
        self.workspace = SafeWorkspace(project.folder)
        folder = project.folder
        self.context = RunContext("r1", folder, self.workspace, sys.executable, folder)
        self.tools: list[Tool] = []

    async def ask(self, tool_name: str, /, **args: object) -> str:
        kind = CLASSES[tool_name]
        tool = kind(kind.Options(), self.context)
        self.tools.append(tool)
        return (await tool.run(tool.Args.model_validate(args), self.context)).content


@pytest.fixture
async def tools(project):
    project.write("cart.py", CART)
    project.write("use.py", "from cart import Cart\n\ndef show():\n    Cart().total()\n")
    made = Tools(project)
    yield made
    for tool in made.tools:
        await tool.aclose()


async def test_each_tool_answers_with_places(tools: Tools) -> None:
    assert (await tools.ask("search_codebase", query="sum of all prices")).startswith(
        "cart.py:7-9  method Cart.total"
    )
    assert "method cart.Cart.total  cart.py:7-9" in await tools.ask(
        "get_symbol_definition", name="total"
    )
    assert "use.show  use.py:3-4  calls in line 4" in await tools.ask(
        "get_callers", function_name="Cart.total"
    )
    callees = await tools.ask("get_callees", function_name="add_up")
    assert "<builtin>.sum  called in line 13 of cart.py" in callees
    chain = await tools.ask("get_call_chain", function_name="show")
    assert chain.splitlines()[:3] == [
        "use.show  use.py:3-4",
        "    cart.Cart  cart.py:4-9",
        "    cart.Cart.total  cart.py:7-9",
    ]
    summary = await tools.ask("get_module_summary", path="cart.py")
    assert "def add_up(prices)  cart.py:12-13" in summary
    assert summary.index("A shop.") < summary.index("class Cart")


async def test_an_answer_follows_the_edits_of_the_run(tools: Tools) -> None:
    assert "none" in await tools.ask("get_callers", function_name="show")
    tools.workspace.write_bytes("main.py", b"import use\nuse.show()\n")

    assert "main  main.py:1-2  calls in line 2" in await tools.ask(
        "get_callers", function_name="show"
    )


async def test_what_a_run_may_not_read_is_in_no_answer(tools: Tools) -> None:
    tools.workspace.refuse_read = lambda path: "hidden" if path == "use.py" else None
    asked = [
        await tools.ask("search_codebase", query="show"),
        await tools.ask("get_symbol_definition", name="show"),
        await tools.ask("get_callers", function_name="Cart.total"),
        await tools.ask("get_call_chain", function_name="total", direction="callers"),
        await tools.ask("get_module_summary", path="use.py"),
    ]
    assert not [answer for answer in asked if "use.py:" in answer or "use.show" in answer]


async def test_unknown_names_lists_similar_ones_and_long_answers_are_cut(tools: Tools) -> None:
    assert "cart.add_up  cart.py:12-13" in await tools.ask("get_symbol_definition", name="add_upp")
    lines = (f"def f{n}():\n    add_up([])\n" for n in range(2000))
    tools.project.write("many.py", "from cart import add_up\n" + "".join(lines))
    answer = await tools.ask("get_callers", function_name="add_up")
    assert len(answer) <= 8000
    assert "more" in answer.splitlines()[-1]


Retrai = Callable[..., CompletedProcess[str]]


def test_the_command_answers_in_words_and_json(project, retrai_here: Retrai) -> None:
    project.write("cart.py", CART)

    def run(*words: str) -> CompletedProcess[str]:
        return retrai_here("index", *words, env=dict(os.environ))

    at = ("-C", str(project.folder))
    done = run(*at, "--stats")
    assert done.returncode == 0, done.stderr
    assert "indexed files: 1 added" in done.stdout
    (first, *_) = json.loads(run("search", "sum prices", *at, "--json").stdout)
    assert set(first) == {"path", "start_line", "end_line", "symbol", "score"}
    assert (first["path"], first["symbol"]) == ("cart.py", "Cart.total")
    assert len(json.loads(run(*at, "search", "cart", "-n", "1", "--json").stdout)) == 1
    assert json.loads(run("graph", *at, "--json").stdout)["cart.Cart.total"] == ["cart.add_up"]
    assert "cart.Cart.total -> cart.add_up" in run("graph", *at).stdout
    (call,) = json.loads(run("callers", "add_up", *at, "--json").stdout)
    assert call["caller"]["name"] == "cart.Cart.total"
    assert "<builtin>.sum" in run("callees", "add_up", *at).stdout
    assert "cart.py:12-13" in run("definition", "add_up", *at).stdout
    assert run("path", "total", "add_up", *at).stdout.count("cart.py:") == 2
    assert json.loads(run(*at, "--json").stdout)["files"] == 1


def test_the_command_says_what_is_wrong(project, retrai_here: Retrai, tmp_path: Path) -> None:
    missing = retrai_here("index", "-C", str(tmp_path / "none"), env=dict(os.environ))
    assert (missing.returncode, "is not a folder" in missing.stderr) == (2, True)
    done = retrai_here("index", "callers", "x", "-C", str(project.folder), env=dict(os.environ))
    assert (done.returncode, done.stdout) == (1, "nothing in this project is called 'x'\n")
    words = ("index", "definition", "x", "--json", "-C", str(project.folder))
    done = retrai_here(*words, env=dict(os.environ))
    assert (done.returncode, json.loads(done.stdout)) == (1, [])
    assert done.stderr == "nothing in this project is called 'x'\n"
