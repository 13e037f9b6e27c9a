"""What the model says after a run that the next one should know."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("retrai_goals_shell")
pytest.importorskip("retrai_memory_file")
pytest.importorskip("retrai_tools_code")

from retrai_testkit import FakeLLMServer, FinishedRun, RetraiProject, Turn, call, say
from retrai_testkit.chat_wire import USAGE

INSIGHTS = json.dumps(
    [
        {"kind": "avoid", "text": "Do not write wrong into a.txt."},
        {"kind": "project", "text": "The check reads a.txt alone."},
        {"kind": "gossip", "text": "The weather is fine."},
    ]
)
WRONG = call("file_write", path="a.txt", content="wrong\n")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeLLMServer]:
    for name in ("OPENAI_API_KEY", "OPENAI_API_BASE", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LLM_API_KEY", "sk-any-provider")
    with FakeLLMServer() as server:
        yield server


def run(project: RetraiProject, server: FakeLLMServer, *turns: Turn, **more: Any) -> FinishedRun:
    server.play(*turns)
    settings: dict[str, Any] = {
        "check_command": "grep -q right a.txt",
        "plugins": {"litellm": {"api_base": server.base_url, "max_retries": 0}},
        "memory": "file",
        "max_iterations": 1,
        **more,
    }
    return project.run("shell-goal", model="openai/scripted", **settings)


def system_prompt(server: FakeLLMServer) -> str:
    return str(server.requests[-1]["messages"][0]["content"])


def test_a_failed_run_teaches_the_next_one_and_what_does_not_help_sinks(
    retrai_project: RetraiProject, server: FakeLLMServer
) -> None:
    retrai_project.write({"a.txt": "start\n"})
    first = run(retrai_project, server, WRONG, say(INSIGHTS))
    assert first.record.status == "failed", first.stderr
    assert "Avoid this" not in str(server.requests[0])
    assert len(server.requests) == 2
    assert set(server.keys) == {"sk-any-provider"}
    assert first.record.tokens.total > 0
    second = run(retrai_project, server, call("file_read", path="a.txt"), say("[]"))
    told = str(server.requests[2]["messages"][0]["content"])
    assert "Avoid this: Do not write wrong into a.txt" in told
    assert "About the project: The check reads a.txt alone" in told
    assert "weather" not in told
    assert second.record.status == "failed"
    # It was told to a run that failed: one success, one failure, and it is told no more.
    run(retrai_project, server, call("file_read", path="a.txt"), insights=False)
    assert len(server.requests) == 5
    assert "Avoid this" not in system_prompt(server)


def test_no_insight_is_asked_for_beyond_the_budget(
    retrai_project: RetraiProject, server: FakeLLMServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(USAGE, "total_tokens", 100_000)
    monkeypatch.setitem(USAGE, "prompt_tokens", 99_995)
    retrai_project.write({"a.txt": "start\n"})
    right = call("file_write", path="a.txt", content="right\n")
    done = run(retrai_project, server, right, max_tokens=100_000)
    assert done.record.status == "achieved", done.stderr
    assert done.record.tokens.total == 100_000
    assert len(server.requests) == 1
