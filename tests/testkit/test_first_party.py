"""Every plugin of this repository keeps its contract, by the kit that strangers use."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from retrai_core.agents.goal_loop.graph import GoalLoopAgent
from retrai_core.agents.goal_loop.report_impossible import ReportImpossible
from retrai_sandbox_local.sandbox import LocalSandbox
from retrai_testkit import (
    AgentConformance,
    Bench,
    EndlessCall,
    GoalConformance,
    HookConformance,
    LLMProviderConformance,
    MemoryStoreConformance,
    NotApplicable,
    SandboxConformance,
    ToolConformance,
    ToolExample,
    overrides,
    say,
)
from retrai_testkit.expected_files import ExpectedFiles, PutFile
from retrai_testkit.scripted import ScriptedProvider

pytest.importorskip("retrai_goals_python")
pytest.importorskip("retrai_llm_litellm")
pytest.importorskip("retrai_llm_offline")
pytest.importorskip("retrai_llm_replay")
pytest.importorskip("retrai_mcp")
pytest.importorskip("retrai_memory_file")
pytest.importorskip("retrai_memory_sqlite")
pytest.importorskip("retrai_permissions")
pytest.importorskip("retrai_sandbox_bwrap")
pytest.importorskip("retrai_tools_code")

from retrai_goals_python.pyright.goal import PyrightGoal
from retrai_goals_python.pytest.goal import PytestGoal
from retrai_goals_python.pytest.run_tool import RunPytest
from retrai_goals_python.python_exec_tool import PythonExec
from retrai_llm_litellm.provider import LiteLLMProvider
from retrai_llm_offline.provider import OfflineProvider
from retrai_llm_replay.provider import ReplayProvider
from retrai_mcp.hook import McpServers
from retrai_memory_file.store import FileMemory
from retrai_memory_sqlite.store import SqliteMemory
from retrai_permissions.gate import PermissionGate
from retrai_sandbox_bwrap.sandbox import BwrapSandbox
from retrai_tools_code.bash_exec import BashExec
from retrai_tools_code.file_list import FileList
from retrai_tools_code.file_patch import FilePatch
from retrai_tools_code.file_read import FileRead
from retrai_tools_code.file_write import FileWrite
from retrai_tools_code.find_files import FindFiles
from retrai_tools_code.git_diff import GitDiff
from retrai_tools_code.grep_search import GrepSearch

IMMEDIATE = "it starts nothing and ends by itself"


# langsmith's pytest plugin, which langchain-core brings here, takes two seconds to import.
PYTEST_INI = "[pytest]\naddopts = -p no:langsmith_plugin\n"


class TestPytestGoal(GoalConformance):
    plugin = PytestGoal
    bad_options = ({"timeout_s": 0}, {"path": "../elsewhere"})
    endless_options = {"timeout_s": 1}

    def write_passing(self, folder: Path) -> None:
        (folder / "pytest.ini").write_text(PYTEST_INI)
        (folder / "test_it.py").write_text("def test_it():\n    assert True\n")

    def write_failing(self, folder: Path) -> None:
        (folder / "pytest.ini").write_text(PYTEST_INI)
        (folder / "test_it.py").write_text("def test_it():\n    assert 1 == 2\n")

    def write_broken(self, folder: Path) -> None:
        (folder / "conftest.py").write_text("import os\nos._exit(0)\n")
        self.write_passing(folder)

    def write_endless(self, folder: Path) -> None:
        (folder / "pytest.ini").write_text(PYTEST_INI)
        (folder / "test_it.py").write_text("import time\n\ndef test_it():\n    time.sleep(1000)\n")


class TestPyrightGoal(GoalConformance):
    plugin = PyrightGoal
    bad_options = ({"timeout_s": 0}, {"level": "no-such-level"})

    def write_passing(self, folder: Path) -> None:
        (folder / "pyrightconfig.json").write_text("{}")
        (folder / "it.py").write_text("x: int = 1\n")

    def write_failing(self, folder: Path) -> None:
        (folder / "pyrightconfig.json").write_text("{}")
        (folder / "it.py").write_text("x: int = 'one'\n")

    def write_broken(self, folder: Path) -> None:
        (folder / "pyrightconfig.json").write_text("{ this is no JSON")
        (folder / "it.py").write_text("x: int = 1\n")

    endless_options = {"timeout_s": 0.05}

    def write_endless(self, folder: Path) -> None:
        self.write_passing(folder)


class TestExpectedFiles(GoalConformance):
    plugin = ExpectedFiles
    options = {"files": {"a.txt": "right"}}

    def write_passing(self, folder: Path) -> None:
        (folder / "a.txt").write_text("right\n")

    def write_failing(self, folder: Path) -> None:
        (folder / "a.txt").write_text("wrong\n")

    def write_broken(self, folder: Path) -> NotApplicable:
        return NotApplicable("comparing texts cannot break")

    def write_endless(self, folder: Path) -> NotApplicable:
        return NotApplicable(IMMEDIATE)


class TestLocalSandbox(SandboxConformance):
    plugin = LocalSandbox
    bad_options = ({"grace_s": -1}, {"cpu_s": 0})


class TestBwrapSandbox(SandboxConformance):
    plugin = BwrapSandbox
    bad_options = ({"grace_s": -1}, {"processes": 1}, {"network": "sometimes"})

    @pytest.fixture(autouse=True)
    def _where_it_works(self, tmp_path: Path) -> None:
        problem = asyncio.run(_problem_with_bwrap(tmp_path / "trial"))
        if problem is not None:
            pytest.skip(f"bwrap: {problem}")


async def _problem_with_bwrap(folder: Path) -> str | None:
    async with Bench.open(folder) as bench:
        sandbox = BwrapSandbox(BwrapSandbox.Options(), bench.context)
        try:
            return await sandbox.probe()
        finally:
            await sandbox.aclose()


class TestGoalLoop(AgentConformance):
    plugin = GoalLoopAgent


class TestFileMemory(MemoryStoreConformance):
    plugin = FileMemory
    bad_options = ({"max_entries": 0},)

    def damage(self, project: Path) -> None:
        (project / ".retrai" / "memory.json").write_text("{ half of a")


class TestSqliteMemory(MemoryStoreConformance):
    plugin = SqliteMemory
    bad_options = ({"max_entries": 0}, {"max_recalled": -1})

    @pytest.fixture(autouse=True)
    def a_state_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.state = tmp_path / "state"
        monkeypatch.setenv("RETRAI_STATE_DIR", str(self.state))

    def damage(self, project: Path) -> None:
        (self.state / "memory.sqlite3").write_bytes(b"half of a database" * 1000)


class TestOfflineProvider(LLMProviderConformance):
    plugin = OfflineProvider
    model = "offline"
    bad_options = ({"cpu_s": 0}, {"max_searches": 0})
    bad_model = NotApplicable("there is only one model")
    unready_model = NotApplicable("it needs no key and no file")


class TestReplayProvider(LLMProviderConformance):
    plugin = ReplayProvider
    model = "replay:record.traj.json"
    bad_options = ({"path_prefixes": ["relative"]}, {"on_end": "explode"})
    bad_model = "replay:no-such-file.json"
    unready_model = "replay:"

    def write_project(self, folder: Path) -> None:
        answer = {
            "role": "assistant",
            "content": "Look.",
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "bash", "arguments": '{"command": "ls"}'},
                }
            ],
        }
        record = {"trajectory_format": "mini-swe-agent-1.1", "info": {}, "messages": [answer]}
        (folder / "record.traj.json").write_text(json.dumps(record))


class TestLiteLLMProvider(LLMProviderConformance):
    plugin = LiteLLMProvider
    model = "openai/gpt-4o-mini"
    bad_options = ({"timeout_s": 0}, {"max_retries": -1})
    bad_model = "no-such-provider/no-such-model"
    unready_model = "openai/gpt-4o-mini"

    @pytest.fixture(autouse=True)
    def no_keys(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("OPENAI_API_KEY", "OPENAI_API_BASE", "OPENAI_BASE_URL"):
            monkeypatch.delenv(name, raising=False)

    @pytest.fixture
    def ready_environment(self, no_keys: None, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-for-the-loopback")

    @pytest.fixture
    def plugin_options(self, request: pytest.FixtureRequest) -> Mapping[str, Any]:
        if "ready_environment" not in request.fixturenames:
            return {}
        server = request.getfixturevalue("fake_llm_server")
        server.play(*[say("hello")] * 10)
        return {"api_base": server.base_url, "max_retries": 0}


class TestScriptedProvider(LLMProviderConformance):
    plugin = ScriptedProvider
    model = "scripted"
    options = {"turns": [{"text": "hello"}]}
    bad_options = ({"turns": [{"no_such_key": 1}]},)
    bad_model = NotApplicable("there is only one model")
    unready_model = NotApplicable("it needs no key and no file")


class OnSomeFiles(ToolConformance):
    """Tools tried on a small project under git."""

    def write_project(self, folder: Path) -> None:
        (folder / "src").mkdir()
        (folder / "src" / "a.py").write_text("def one():\n    return 1\n")
        (folder / "long.txt").write_text("".join(f"line number {n}\n" for n in range(500)))
        for number in range(60):
            (folder / "src" / f"part_{number}.py").write_text("")


class TestBashExec(OnSomeFiles):
    plugin = BashExec
    bad_options = ({"timeout_s": 0},)
    examples = (
        ToolExample({"command": "echo hello > made.txt"}, writes={"made.txt": "hello\n"}),
        ToolExample({"command": "cat src/a.py"}, contains="def one"),
    )
    bad_examples = NotApplicable("a command that fails is an answer")
    path_argument = NotApplicable("a shell line is held back by the sandbox alone")
    long_example = {"command": "cat long.txt"}
    endless = EndlessCall({"command": "sleep 1000"}, {"timeout_s": 0.3})


class TestFileRead(OnSomeFiles):
    plugin = FileRead
    examples = (ToolExample({"path": "src/a.py"}, contains="def one"),)
    bad_examples = ({"path": "missing.py"}, {"path": "src"}, {"path": "src/a.py", "start_line": 99})
    path_argument = "path"
    long_example = NotApplicable("it is limited by max_bytes, which its answers name")
    endless = NotApplicable(IMMEDIATE)


class TestFileList(OnSomeFiles):
    plugin = FileList
    examples = (ToolExample({"path": "."}, contains="src/"),)
    bad_examples = ({"path": "missing"},)
    path_argument = "path"
    long_example = {"path": "src"}
    endless = NotApplicable(IMMEDIATE)


class TestFileWrite(OnSomeFiles):
    plugin = FileWrite
    examples = (
        ToolExample({"path": "new/b.py", "content": "x = 1\n"}, writes={"new/b.py": "x = 1\n"}),
    )
    bad_examples = ({"path": "src", "content": "a folder"}, {"path": "c.py", "content": "\ud800"})
    path_argument = "path"
    long_example = NotApplicable("its answer is one line")
    endless = NotApplicable(IMMEDIATE)


class TestFilePatch(OnSomeFiles):
    plugin = FilePatch
    examples = (
        ToolExample(
            {"path": "src/a.py", "old": "    return 1\n", "new": "    return 2\n"},
            writes={"src/a.py": "def one():\n    return 2\n"},
        ),
    )
    bad_examples = (
        {"path": "missing.py", "old": "a", "new": "b"},
        {"path": "src/a.py", "old": "nowhere", "new": "b"},
    )
    path_argument = "path"
    long_example = NotApplicable("its answer shows only the place that changed")
    endless = NotApplicable(IMMEDIATE)


class TestFindFiles(OnSomeFiles):
    plugin = FindFiles
    examples = (ToolExample({"pattern": "*a.py"}, contains="src/a.py"),)
    bad_examples = ({"pattern": "*.py", "path": "missing"},)
    path_argument = "path"
    long_example = {"pattern": "*.py"}
    endless = NotApplicable(IMMEDIATE)


class TestGrepSearch(OnSomeFiles):
    plugin = GrepSearch
    bad_options = ({"timeout_s": 0},)
    examples = (ToolExample({"pattern": "def o.e"}, contains="src/a.py:1"),)
    bad_examples = ({"pattern": "("}, {"pattern": "a", "path": "missing"})
    path_argument = "path"
    long_example = {"pattern": "number"}
    endless = EndlessCall({"pattern": "(a+)+$", "path": "slow.txt"}, {"timeout_s": 0.5})

    def write_project(self, folder: Path) -> None:
        super().write_project(folder)
        (folder / "slow.txt").write_text("a" * 60 + "b\n")


class TestGitDiff(OnSomeFiles):
    plugin = GitDiff
    examples = (ToolExample({}, contains="return 2"),)
    bad_examples = NotApplicable("a path that is not there has no changes")
    path_argument = "path"
    long_example = {"path": "long.txt"}
    endless = NotApplicable("git ends by itself, and its time-out is the sandbox's")

    def write_project(self, folder: Path) -> None:
        super().write_project(folder)
        text = (folder / "long.txt").read_text()
        (folder / "long.txt").write_text("")
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
        for command in (("init", "-q"), ("add", "."), (*who, "commit", "-q", "-m", "first")):
            subprocess.run(["git", *command], cwd=folder, check=True, capture_output=True)
        (folder / "long.txt").write_text(text)
        (folder / "src" / "a.py").write_text("def one():\n    return 2\n")


class TestPythonExec(OnSomeFiles):
    plugin = PythonExec
    bad_options = ({"max_timeout_s": 0},)
    examples = (
        ToolExample({"code": "import src.a\nprint(src.a.one() + 41)"}, contains="42"),
        ToolExample({"code": "raise ValueError('no')"}, ok=False, contains="ValueError"),
        ToolExample({"code": "open('made.txt', 'w').write('x')"}, writes={"made.txt": "x"}),
    )
    bad_examples = ({"code": "this is no Python"},)
    path_argument = NotApplicable("code is held back by the sandbox alone")
    long_example = {"code": "print('x' * 5000)"}
    endless = EndlessCall({"code": "while True: pass"}, {"max_timeout_s": 0.5})


class TestRunPytest(ToolConformance):
    plugin = RunPytest
    bad_options = ({"timeout_s": 0},)
    examples = (ToolExample({"targets": ["test_it.py::test_bad"]}, contains="assert 1 == 2"),)
    bad_examples = ({"targets": ["missing.py"]},)
    path_argument = NotApplicable("pytest is held back by the sandbox alone")
    long_example = NotApplicable("it cuts each failure, and shows the same few at any length")
    endless = EndlessCall({"targets": ["slow.py"]}, {"timeout_s": 1})

    @overrides(reason="quoting the lines around a failure, the runner reads test files")
    def test_it_touches_the_project_only_through_its_context(
        self, tmp_path: Path, plugin_options: Mapping[str, Any], kept: dict[str, Any]
    ) -> None:
        """What it starts goes through the sandbox; by itself it opens tests and their settings."""
        tried = self._observed(tmp_path, plugin_options, kept).tried
        assert [act for one in tried for act in one.acts.processes] == []
        opened = [act for one in tried for act in one.acts.files]
        own = [
            act for act in opened if not act.endswith(("/test_it.py itself", "/pytest.ini itself"))
        ]
        assert own == []

    def write_project(self, folder: Path) -> None:
        (folder / "pytest.ini").write_text(PYTEST_INI)
        (folder / "test_it.py").write_text("def test_bad():\n    assert 1 == 2\n")
        (folder / "slow.py").write_text("import time\n\ndef test_it():\n    time.sleep(1000)\n")


class TestReportImpossible(ToolConformance):
    plugin = ReportImpossible
    examples = (ToolExample({"reason": "a.py:1 wants 1 and 2"}, contains="a.py:1"),)
    bad_examples = NotApplicable("every reason is noted")
    path_argument = NotApplicable("it takes no path")
    long_example = NotApplicable("its answer repeats what the model wrote")
    endless = NotApplicable(IMMEDIATE)


class TestPutFile(ToolConformance):
    plugin = PutFile
    examples = (ToolExample({"path": "a.txt", "text": "right"}, writes={"a.txt": "right"}),)
    bad_examples = ({"path": ".", "text": "a folder"},)
    path_argument = "path"
    long_example = NotApplicable("its answer is one line")
    endless = NotApplicable(IMMEDIATE)


class TestPermissionGate(HookConformance):
    plugin = PermissionGate
    entry_point = "permissions"


class TestMcpServers(HookConformance):
    plugin = McpServers
    entry_point = "mcp"
