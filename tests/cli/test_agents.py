"""`retrai agents`: the installed agents, and what their graphs look like."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

SITE = Path(__file__).parents[1] / "core" / "goal_loop" / "site"


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SITE))
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def test_the_agents_are_listed_with_what_they_take(retrai: Any, tmp_path: Path) -> None:
    code, out, _ = retrai("agents", "list", "-C", tmp_path)
    assert code == 0
    rows = {line.split()[0]: " ".join(line.split()) for line in out.splitlines()}
    assert rows["goal-loop"].startswith("goal-loop needed [task] retrai-core ")
    assert rows["talk"].startswith("talk - question, [asks], [data], [circles] scripted-plugins")


def test_as_json_they_have_their_schemas_and_graphs(retrai: Any, tmp_path: Path) -> None:
    _, out, _ = retrai("agents", "list", "-C", tmp_path, "--json")
    found = {agent["name"]: agent for agent in json.loads(out)["agents"]}
    talk = found["talk"]
    assert (talk["requires_goal"], talk["default_tools"], talk["status"]) == (False, ["look"], "ok")
    assert talk["input"]["required"] == ["question"]
    assert talk["nodes"] == ["__start__", "begin", "circle", "think", "act", "__end__"]
    assert {"source": "circle", "target": "circle", "conditional": True} in talk["edges"]
    assert found["goal-loop"]["default_model"] == "offline"


def test_a_broken_agent_is_listed_as_such(retrai: Any, tmp_path: Path, monkeypatch: Any) -> None:
    info = tmp_path / "site" / "acme-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[retrai.agents]\nhalf = acme_half:Half\nnone = acme_half:No\nold = acme_half:Old\n"
    )
    (tmp_path / "site" / "acme_half.py").write_text(
        "from retrai_core import Agent\n"
        "class Half(Agent):\n"
        "    name = 'half'\n"
        "    def build_graph(self, checkpointer): return None\n"
        "    def result(self, state): return None\n"
        "class Old(Agent):\n"
        "    name = 'old'\n"
        "    def build_graph(self, checkpointer): return None\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    code, out, _ = retrai("agents", "list", "-C", tmp_path)
    rows = {line.split()[0]: " ".join(line.split()) for line in out.splitlines()}
    assert code == 0
    assert "broken: WrongPluginTypeError: `acme_half:Half` lacks initial_state" in rows["half"]
    assert "broken: " in rows["none"]
    assert rows["old"].startswith("old needed [task] acme 1.0")
    code, _, err = retrai("agents", "graph", "old", "-C", tmp_path)
    assert (code, "the graph of the agent old of acme cannot be drawn" in err) == (2, True)


def test_a_graph_is_drawn_as_mermaid_characters_and_json(retrai: Any, tmp_path: Path) -> None:
    code, out, _ = retrai("agents", "graph", "goal-loop", "-C", tmp_path)
    assert code == 0
    assert "plan -.-> act;" in out
    assert retrai("agents", "graph", "goal-loop", "-C", tmp_path, "--mermaid")[1] == out
    _, out, _ = retrai("agents", "graph", "talk", "-C", tmp_path, "--ascii")
    assert "| think |" in out
    assert out.rstrip().endswith("circle may follow itself")
    _, out, _ = retrai("agents", "graph", "goal-loop", "-C", tmp_path, "--json")
    drawn = json.loads(out)
    assert "human_check" in drawn["nodes"]
    assert {"source": "act", "target": "evaluate", "conditional": False} in drawn["edges"]


@pytest.mark.parametrize("name", ["goal-loop", "talk"])
def test_a_graph_is_drawn_as_a_picture(retrai: Any, tmp_path: Path, name: str) -> None:
    file = tmp_path / "graph.png"
    code, out, err = retrai("agents", "graph", name, "-C", tmp_path, "--png", file)
    assert (code, out, err) == (0, "", "")
    with Image.open(file) as picture:
        assert picture.format == "PNG"
        assert min(picture.size) > 200
        assert len(set(picture.convert("L").tobytes())) > 2


def test_what_is_wrong_is_said(retrai: Any, tmp_path: Path) -> None:
    code, _, err = retrai("agents", "graph", "goal-lop", "-C", tmp_path)
    assert (code, "did you mean `goal-loop`" in err) == (2, True)
    assert "`retrai agents list`" in err
    code, _, err = retrai("agents", "graph", "talk", "-C", tmp_path, "--png", tmp_path / "no" / "x")
    assert (code, "cannot be written" in err) == (2, True)
    code, _, err = retrai("agents", "graph", "talk", "--ascii", "--png", tmp_path / "x")
    assert (code, "--png stands alone" in err) == (2, True)


@pytest.mark.parametrize(("form", "library"), [("--ascii", "grandalf"), ("--png", "Pillow")])
def test_without_the_libraries_one_line_says_what_to_install(
    retrai: Any, tmp_path: Path, monkeypatch: Any, form: str, library: str
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] in ("grandalf", "PIL")]:
        monkeypatch.delitem(sys.modules, name)
    for name in ("retrai_core.cli.render.graph_picture", "langchain_core.runnables.graph_ascii"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "grandalf", None)
    monkeypatch.setitem(sys.modules, "PIL", None)
    given = [form] if form == "--ascii" else [form, tmp_path / "x.png"]
    code, out, err = retrai("agents", "graph", "goal-loop", "-C", tmp_path, *given)
    assert (code, out) == (2, "")
    assert library in err
    assert "pip install 'retrai[graph]'" in err


async def test_the_session_api_lists_them_with_their_graphs(tmp_path: Path) -> None:
    from retrai_core import FilesStore, RunManager

    async with RunManager(FilesStore(state=tmp_path / "state"), "inline") as manager:
        found = {agent.name: agent for agent in await manager.agents(tmp_path)}
    assert ("think", "act", True) in found["talk"].edges
    assert found["talk"].input["properties"]["question"]["type"] == "string"


def test_a_run_of_an_agent_without_a_goal_prints_the_answer(retrai: Any, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / ".retrai.yml").write_text(
        "{agent: talk, model: turns, input: {question: Why}, memory: none, sandbox: local, "
        "plugins: {turns: {turns: [{text: It is so.}]}}}"
    )
    code, out, err = retrai("run", "-C", project, "--trust")
    assert code == 0, err
    assert "answered: it has talked\n  It is so.\n" in out
    assert "talk" in retrai("runs", "list")[1]
