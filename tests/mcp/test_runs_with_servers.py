"""Whole runs whose model gets the tools of a server."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from retrai_testkit import RetraiProject, ScriptedModel, call

from .conftest import bad

FILES = {"a.txt": "right"}
MEND = call("put_file", path="a.txt", text="right")


def test_a_run_calls_a_server_s_tool(retrai_project: RetraiProject) -> None:
    retrai_project.write({"a.txt": "wrong"})
    # As an API gives it back, where a dot is not allowed.
    model = ScriptedModel().play(call("one__echo", text="hello from far"), MEND)
    run = retrai_project.run("expected-files", model=model, files=FILES, mcp={"one": bad("good")})
    assert run.record.status == "achieved", run.stderr
    assert run.tool_results()[0] == "hello from far"
    assert run.events("tool_call")[0].payload["tool"] == "one.echo"
    said = [str(event.payload.get("message")) for event in run.events("log")]
    assert "the MCP server one offers 6 tools" in said


def test_a_run_goes_on_without_a_server_that_hangs(retrai_project: RetraiProject) -> None:
    retrai_project.write({"a.txt": "wrong"})
    mcp = {"slow": bad("silent", start_timeout_s=1)}
    model = ScriptedModel().play(MEND)
    run = retrai_project.run("expected-files", model=model, files=FILES, mcp=mcp)
    assert run.record.status == "achieved"
    assert any("slow is done without" in str(e.payload) for e in run.events("log"))


def test_the_rules_of_permissions_hold_for_a_server_s_tools(
    retrai_project: RetraiProject,
) -> None:
    pytest.importorskip("retrai_permissions")
    retrai_project.write({"a.txt": "wrong"})
    model = ScriptedModel().play(call("one.echo", text="hello"), MEND)
    run = retrai_project.run(
        "expected-files",
        model=model,
        files=FILES,
        mcp={"one": bad("good")},
        permissions={"deny": ["needs:network"]},
    )
    assert "refused" in run.tool_results()[0]


WAITS = """
import pathlib, time

def test_the_server_starts_meanwhile():
    meeting = pathlib.Path({folder!r})
    (meeting / "check-started").touch()
    while not (meeting / "server-started").exists():
        time.sleep(0.02)

def test_it():
    assert pathlib.Path("a.txt").read_text() == "right"
"""


def test_servers_start_beside_the_baseline_check(
    retrai_project: RetraiProject, tmp_path: Path
) -> None:
    """The server answers only once the check has begun, which ends only once the server has."""
    pytest.importorskip("retrai_goals_python")
    pytest.importorskip("retrai_tools_code")
    retrai_project.write(
        {
            "test_it.py": WAITS.format(folder=str(tmp_path)),
            "a.txt": "wrong",
            "pytest.ini": "[pytest]\naddopts = -p no:langsmith_plugin\n",
        }
    )
    entry = bad("waits-for-the-check")
    entry["command"] = [*entry["command"], str(tmp_path)]
    fix = call("file_write", path="a.txt", content="right")
    model = ScriptedModel().play(call("one.echo", text="there in time"), fix)
    run = retrai_project.run("pytest", model=model, mcp={"one": entry}, timeout_s=100)
    assert run.record.status == "achieved", run.stderr
    assert run.tool_results()[0] == "there in time"


def test_a_run_without_servers_does_not_import_the_sdk() -> None:
    code = (
        "import sys\nimport retrai_mcp.hook\n"
        "print(sorted({'mcp', 'httpx2', 'anyio'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"comand": "x"}, "mcp.one"),
        ({}, "give either a `command` or a `url`"),
        ({"command": "x", "url": "http://127.0.0.1"}, "give either a `command` or a `url`"),
        ({"url": "ftp://127.0.0.1"}, "must begin with http"),
        ({"command": "x", "needs": ["everything"]}, "mcp.one.needs"),
        ({"command": "x", "timeout_s": 0}, "mcp.one.timeout_s"),
    ],
)
def test_a_wrong_entry_is_refused_before_the_run(
    retrai_project: RetraiProject, entry: dict[str, object], said: str
) -> None:
    run = retrai_project.run("expected-files", model="scripted", files=FILES, mcp={"one": entry})
    assert run.exit_code == 2
    assert said in run.stderr


def test_a_server_s_name_must_fit_into_a_tool_s(retrai_project: RetraiProject) -> None:
    run = retrai_project.run(
        "expected-files", model="scripted", files=FILES, mcp={"a b": {"command": "x"}}
    )
    assert run.exit_code == 2
    assert "no server's name" in run.stderr


def test_without_the_plugin_the_section_is_refused_with_the_package_s_name(
    retrai_project: RetraiProject,
) -> None:
    retrai_project.environment["RETRAI_DISABLE_PLUGINS"] = "retrai-mcp"
    run = retrai_project.run(
        "expected-files", model="scripted", files=FILES, mcp={"one": {"command": sys.executable}}
    )
    assert run.exit_code == 2
    assert "pip install retrai-mcp" in run.stderr
