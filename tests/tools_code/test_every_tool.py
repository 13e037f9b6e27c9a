"""What holds for all of the code tools."""

from __future__ import annotations

import os
from typing import Any, Protocol

import pytest

from retrai_core import Tool, ToolArgs

NAMES = (
    "bash_exec",
    "file_list",
    "file_patch",
    "file_read",
    "file_write",
    "find_files",
    "git_diff",
    "grep_search",
)
BY_PATH: dict[str, dict[str, Any]] = {
    "file_list": {},
    "file_patch": {"old": "secret", "new": "spoiled"},
    "file_read": {},
    "file_write": {"content": "spoiled"},
    "find_files": {"pattern": "*"},
    "git_diff": {},
    "grep_search": {"pattern": "secret"},
}


class Bench(Protocol):
    project: Any

    def tool(self, name: str, **options: Any) -> Tool: ...
    def write(self, name: str, text: str | bytes) -> Any: ...
    async def refusal(self, name: str, **args: Any) -> str: ...


@pytest.mark.parametrize("name", NAMES)
def test_a_tool_tells_a_model_what_it_does_and_what_each_argument_means(
    bench: Bench, name: str
) -> None:
    tool = bench.tool(name)

    assert tool.name == name
    assert len(tool.description) > 40
    assert issubclass(tool.Args, ToolArgs)
    schema = tool.Args.model_json_schema()
    for argument, told in schema["properties"].items():
        assert len(told.get("description", "")) > 15, argument
    assert tool.needs <= {"read", "write", "run"}


@pytest.mark.parametrize("name", NAMES)
def test_limits_are_options(bench: Bench, name: str) -> None:
    assert bench.tool(name, max_chars=123).max_chars == 123


@pytest.mark.parametrize("name", BY_PATH)
@pytest.mark.parametrize(
    "path", ["../outside/secret", "/etc/passwd", "way/secret", "way", "file-way", "a\0b"]
)
async def test_no_path_leads_out_of_the_project(bench: Bench, name: str, path: str) -> None:
    outside = bench.project.parent / "outside"
    bench.write("a.py", "x")
    (bench.project / "way").symlink_to(outside)
    (bench.project / "file-way").symlink_to(outside / "secret")

    told = await bench.refusal(name, path=path, **BY_PATH[name])

    assert "the secret outside" not in told
    assert {entry: (outside / entry).read_text() for entry in os.listdir(outside)} == {
        "secret": "the secret outside"
    }


@pytest.mark.parametrize("name", ["file_patch", "file_write"])
async def test_a_protected_file_is_not_written_and_the_reason_is_told(
    bench: Any, name: str
) -> None:
    bench.write("tests/test_a.py", "secret")
    bench.workspace.refuse_write = lambda path: f"{path} is protected by the goal"

    told = await bench.refusal(name, path="tests/test_a.py", **BY_PATH[name])

    assert told == "tests/test_a.py is protected by the goal"
    assert (bench.project / "tests" / "test_a.py").read_text() == "secret"


@pytest.mark.parametrize(
    ("name", "args", "line"),
    [
        ("bash_exec", {"command": "make\nmake test"}, "make ..."),
        ("file_read", {"path": "a.py"}, "a.py"),
        ("file_read", {"path": "a.py", "start_line": 3, "end_line": 7}, "a.py:3-7"),
        ("file_write", {"path": "a.py", "content": "1\n2"}, "a.py (2 lines)"),
        ("file_patch", {"path": "a.py", "old": "1", "new": "2"}, "a.py"),
        ("grep_search", {"pattern": "def", "glob": "*.py"}, "def in *.py"),
        ("find_files", {"pattern": "*.py", "path": "src"}, "*.py in src"),
        ("git_diff", {}, ""),
        ("file_list", {}, "."),
    ],
)
def test_a_call_is_summed_up_in_one_short_line(
    bench: Bench, name: str, args: dict[str, Any], line: str
) -> None:
    tool = bench.tool(name)

    assert tool.summary(tool.Args.model_validate(args)) == line
