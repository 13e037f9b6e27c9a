"""The example agent: killed between its nodes, resumed, asked again about what it has answered."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tomllib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from retrai_core import AgentEvent, FilesStore, Run, RunManager
from retrai_testkit import RetraiProject, ScriptedModel, call, say

AGENTS = Path(__file__).parents[2] / "examples" / "agents"

ASKING = """
import asyncio, sys
from retrai_core import RunManager

async def ask(project, question):
    async with RunManager(engine="inline") as manager:
        given = {"question": question}
        request = await manager.prepare(project, agent="explain", input=given, interactive=True)
        run = await manager.submit(request)
        print(run.id, flush=True)
        await run.result()

asyncio.run(ask(*sys.argv[1:]))
"""


@pytest.fixture
def explain(
    retrai_project: RetraiProject,
    scripted_model: ScriptedModel,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> RetraiProject:
    """A project where the example is installed, as `pip install ./examples/agents` does."""
    built = tomllib.loads((AGENTS / "pyproject.toml").read_text())["project"]
    site = tmp_path / "site"
    info = site / f"{built['name'].replace('-', '_')}-{built['version']}.dist-info"
    info.mkdir(parents=True)
    needs = "".join(f"Requires-Dist: {each}\n" for each in built["dependencies"])
    head = f"Metadata-Version: 2.1\nName: {built['name']}\nVersion: {built['version']}\n"
    (info / "METADATA").write_text(head + needs)
    points = [f"{k} = {v}" for k, v in built["entry-points"]["retrai.agents"].items()]
    (info / "entry_points.txt").write_text("\n".join(["[retrai.agents]", *points]))
    for folder in (site, AGENTS / "src"):
        monkeypatch.syspath_prepend(str(folder))
    retrai_project.environment["PYTHONPATH"] = os.pathsep.join([str(site), str(AGENTS / "src")])
    for name, value in retrai_project.environment.items():
        monkeypatch.setenv(name, value)
    scripted_model.play(call("file_read", path="price.py"), say("In price.py, by `total`."))
    retrai_project.write({"price.py": "def total(items): ...\n"})
    retrai_project.configure(**scripted_model.settings)
    return retrai_project


def start(project: RetraiProject, question: str) -> subprocess.Popen[str]:
    """A process that asks, and prints the run's id."""
    command = [sys.executable, "-c", ASKING, str(project.folder), question]
    kept = {name: text for name, text in os.environ.items() if not name.startswith("RETRAI_")}
    environment = kept | project.environment
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


async def until(run: Run, kind: str, after: int = 0, **payload: Any) -> AgentEvent:
    """The first event like this behind number `after`."""
    events: AsyncIterator[AgentEvent] = run.events(after=after)
    async for event in events:
        if event.kind == kind and payload.items() <= dict(event.payload).items():
            return event
    raise AssertionError(f"no {kind} {payload}")


async def answered(run: Run, words: str, after: int = 0) -> None:
    await until(run, "human_check_required", after)
    [question] = await run.questions()
    assert question.text == "Who is the answer for?"
    assert await run.answer(question.id, text=words)


async def test_it_is_killed_between_its_nodes_and_answers_a_second_question(
    explain: RetraiProject,
) -> None:
    child = start(explain, "Where is the price computed?")
    assert child.stdout is not None
    run_id = child.stdout.readline().strip()
    async with RunManager(FilesStore(state=explain.state), engine="inline") as manager:
        run = await manager.get(run_id)
        killed_at = await until(run, "step_start", node="answer")
        os.kill(child.pid, signal.SIGKILL)
        assert child.wait() == -signal.SIGKILL
        child.stdout.close()

        await run.resume()
        await answered(run, "a beginner", killed_at.seq)
        first = await run.result()
        assert (first.status, first.exit_code) == ("answered", 0), first.reason
        assert first.output == "In price.py, by `total`."
        asked = sent(explain, run_id)
        assert len(asked) == 2, "the model was asked again for what it had answered"
        assert asked[1][-1] == "Now answer, for a beginner."
        assert any("def total" in text for text in asked[1])

        request = await manager.prepare(
            explain.folder,
            agent="explain",
            input={"question": "Who calls that?"},
            continues=run_id,
            interactive=True,
        )
        run = await manager.submit(request)
        await answered(run, "an expert")
        second = await run.result()
        assert (second.status, second.continues) == ("answered", run_id)
        assert sent(explain, run.id)[0][1:] == [
            "Earlier I asked: Where is the price computed?\nYou answered: In price.py, by `total`.",
            "Who calls that?",
        ]
        assert second.data == {"question": "Who calls that?"}


async def test_it_goes_on_where_nobody_can_be_asked(explain: RetraiProject) -> None:
    async with RunManager(FilesStore(state=explain.state), engine="inline") as manager:
        given = {"question": "Where is the price computed?"}
        request = await manager.prepare(explain.folder, agent="explain", input=given)
        run = await manager.submit(request)
        record = await run.result()
        assert record.status == "answered"
        assert sent(explain, run.id)[1][-1].endswith("somebody who knows the language.")


def sent(project: RetraiProject, run_id: str) -> list[list[str]]:
    """What the model was sent, request by request."""
    path = project.state / "runs" / run_id / "scripted_seen.jsonl"
    return [json.loads(line)["messages"] for line in path.read_text().splitlines()]
