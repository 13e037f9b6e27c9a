"""LangChain tools, made by LangChain's own means, as tools of a run."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

pytest.importorskip("retrai_tools_langchain")

from retrai_core import RunContext, Tool, ToolError, UsageError
from retrai_core.agents.tool_schema import schema
from retrai_core.workspace.safe_paths import SafeWorkspace
from retrai_testkit import HookConformance, RetraiProject, ScriptedModel, call
from retrai_tools_langchain.hook import LangChainTools
from retrai_tools_langchain.settings import LangChainOptions

MODULE = '''
import asyncio
import threading
from langchain_core.tools import BaseTool, BaseToolkit, ToolException, tool
from pydantic import BaseModel, Field

@tool
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b

@tool
async def later(text: str) -> dict:
    """Say it later."""
    await asyncio.sleep(0)
    return {"said": text}

@tool
def refuses(text: str) -> str:
    """Always refuses."""
    raise ToolException("not with me")

@tool
def leaves() -> str:
    """Ends the program."""
    raise SystemExit(3)

hold = threading.Event()

@tool
def hangs() -> str:
    """Never ends."""
    hold.wait(60)
    return "late"

@tool
async def hangs_politely() -> str:
    """Never ends either."""
    await asyncio.sleep(1000)
    return "late"

class GreetArgs(BaseModel):
    name: str = Field(description="Who is greeted.")

class Greeter(BaseTool):
    name: str = "greet"
    description: str = "Greet somebody."
    args_schema: type[BaseModel] = GreetArgs
    word: str

    def _run(self, name: str) -> str:
        return f"{self.word}, {name}!"

class Kit(BaseToolkit):
    def get_tools(self):
        return [add, Greeter(word="Hi")]

def make_greeter(word: str) -> Greeter:
    return Greeter(word=word)

number = 42
'''


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    folder = tmp_path / "packages"
    folder.mkdir()
    (folder / "some_langchain_tools.py").write_text(MODULE)
    (folder / "exits_at_import.py").write_text("raise SystemExit(1)\n")
    monkeypatch.syspath_prepend(str(folder))
    yield "some_langchain_tools"
    known = sys.modules.pop("some_langchain_tools", None)
    if known is not None:
        known.hold.set()


def offered(folder: Path, *tools: dict[str, Any]) -> dict[str, Tool]:
    context = RunContext("r1", folder, SafeWorkspace(folder), sys.executable, folder)
    options = LangChainOptions.model_validate({"tools": tools})
    return {tool.name: tool for tool in LangChainTools(options).tools(context)}


async def ask(tool: Tool, **args: Any) -> str:
    return (await tool.run(tool.Args.model_validate(args), tool.context)).content


async def test_a_decorated_function_is_a_tool(module: str, tmp_path: Path) -> None:
    tools = offered(tmp_path, {"name": f"{module}.add", "needs": []})
    assert await ask(tools["add"], a=2, b=3) == "5"
    told = schema(tools["add"])["function"]
    assert told["description"] == "Add two numbers."
    assert told["parameters"]["required"] == ["a"]
    assert tools["add"].needs == frozenset()


async def test_a_class_is_made_with_the_given_arguments(module: str, tmp_path: Path) -> None:
    for name in ("Greeter", "make_greeter"):
        entry = {
            "name": f"{module}.{name}",
            "needs": ["network"],
            "args": {"word": "Hello"},
            "rename": "welcome",
        }
        tools = offered(tmp_path, entry)
        assert await ask(tools["welcome"], name="Ann") == "Hello, Ann!"
        told = schema(tools["welcome"])["function"]["parameters"]["properties"]
        assert told["name"]["description"] == "Who is greeted."
        assert tools["welcome"].needs == {"network"}


async def test_a_toolkit_brings_all_its_tools(module: str, tmp_path: Path) -> None:
    tools = offered(tmp_path, {"name": f"{module}.Kit", "needs": ["read"]})
    assert sorted(tools) == ["add", "greet"]


async def test_an_asynchronous_tool_runs_as_such(module: str, tmp_path: Path) -> None:
    tools = offered(tmp_path, {"name": f"{module}.later", "needs": []})
    assert '"said": "x"' in await ask(tools["later"], text="x")


@pytest.mark.parametrize(
    ("name", "args", "said"),
    [
        ("refuses", {"text": "x"}, "refuses failed: not with me"),
        ("leaves", {}, "leaves failed: 3"),
        ("add", {"a": "no number"}, "add failed: .*a"),
        ("add", {}, "add failed: .*a"),
    ],
)
async def test_what_a_tool_raises_is_an_error_for_the_model(
    module: str, tmp_path: Path, name: str, args: dict[str, Any], said: str
) -> None:
    tools = offered(tmp_path, {"name": f"{module}.{name}", "needs": []})
    with pytest.raises(ToolError, match=f"(?s){said}"):
        await ask(tools[name], **args)


@pytest.mark.parametrize("name", ["hangs", "hangs_politely"])
async def test_a_tool_that_hangs_is_given_up(module: str, tmp_path: Path, name: str) -> None:
    tools = offered(tmp_path, {"name": f"{module}.{name}", "needs": [], "timeout_s": 0.2})
    with pytest.raises(ToolError, match=r"did not answer within 0\.2 s"):
        await ask(tools[name])


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"name": "MODULE.add"}, r"tools\.0\n.*say what the tool does: `needs: \[\]`"),
        ({"name": "add", "needs": []}, "must be a dotted name"),
        ({"name": "MODULE.add", "needs": ["all"]}, r"tools\.0\.needs\.0"),
        ({"name": "MODULE.add", "needs": [], "arg": {}}, r"tools\.0\.arg"),
        ({"name": "MODULE.add", "needs": [], "timeout_s": 0}, "timeout_s"),
        ({"name": "MODULE.add", "needs": [], "rename": "a b"}, "rename"),
        ({"name": "MODULE.no_such", "needs": []}, "has no no_such"),
        ({"name": "no_such_package.x", "needs": []}, "install the package that brings no_such"),
        ({"name": "langchain_community.no.Such", "needs": []}, r"retrai-tools-langchain\[commun"),
        ({"name": "MODULE.number", "needs": []}, "is a int, no LangChain tool"),
        ({"name": "MODULE.GreetArgs", "needs": [], "args": {"name": "x"}}, "makes a GreetArgs"),
        ({"name": "MODULE.Greeter", "needs": []}, "cannot be made with args"),
        ({"name": "MODULE.add", "needs": [], "args": {"a": 1}}, "takes no `args`"),
        ({"name": "exits_at_import.x", "needs": []}, "SystemExit: 1"),
    ],
)
def test_what_is_configured_wrongly_is_a_usage_error(
    module: str, tmp_path: Path, entry: dict[str, Any], said: str
) -> None:
    entry["name"] = entry["name"].replace("MODULE", module)
    with pytest.raises((UsageError, ValidationError)) as caught:
        offered(tmp_path, entry)
    assert re.search(said, f"{caught.value} {getattr(caught.value, 'hint', '')}")


def test_without_a_section_langchain_s_tools_are_not_imported() -> None:
    code = (
        "import sys\nimport retrai_tools_langchain.hook\n"
        "print('langchain_core.tools' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_tool_of_langchain_community_works(tmp_path: Path) -> None:
    pytest.importorskip("langchain_community", reason="langchain-community is not installed")
    (tmp_path / "a.txt").write_text("hello")
    name = "langchain_community.tools.file_management.read.ReadFileTool"
    tools = offered(
        tmp_path, {"name": name, "needs": ["read"], "args": {"root_dir": str(tmp_path)}}
    )
    assert asyncio.run(ask(tools["read_file"], file_path="a.txt")) == "hello"


def test_a_run_calls_a_langchain_tool(
    retrai_project: RetraiProject, module: str, tmp_path: Path
) -> None:
    retrai_project.environment["PYTHONPATH"] = str(tmp_path / "packages")
    retrai_project.environment["RETRAI_TRUST"] = "1"
    retrai_project.write({"a.txt": "wrong"})
    model = ScriptedModel().play(
        call("add", a=40, b=2), call("put_file", path="a.txt", text="right")
    )
    tools = [{"name": f"{module}.add", "needs": []}]
    run = retrai_project.run(
        "expected-files",
        model=model,
        files={"a.txt": "right"},
        plugins={"langchain": {"tools": tools}},
    )
    assert run.record.status == "achieved", run.stderr
    assert run.tool_results()[0] == "42"


def test_a_wrong_tool_ends_the_run_before_its_first_step(retrai_project: RetraiProject) -> None:
    retrai_project.environment["RETRAI_TRUST"] = "1"
    run = retrai_project.run(
        "expected-files",
        model="scripted",
        files={"a.txt": "right"},
        plugins={"langchain": {"tools": [{"name": "no_such_package.x", "needs": []}]}},
    )
    assert run.exit_code == 2
    assert "no_such_package.x cannot be imported" in run.stderr


def test_an_unknown_option_is_named_with_the_hook(retrai_project: RetraiProject) -> None:
    run = retrai_project.run(
        "expected-files",
        model="scripted",
        files={"a.txt": "right"},
        plugins={"langchain": {"tool": []}},
    )
    assert run.exit_code == 2
    assert "no option of the hook langchain" in run.stderr


class TestLangChainTools(HookConformance):
    plugin = LangChainTools
    entry_point = "langchain"
