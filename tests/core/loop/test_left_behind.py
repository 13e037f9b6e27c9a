"""However a run ends, nothing of it is left that bends the next check or gives rights away."""

from __future__ import annotations

import asyncio
import stat
from typing import Any

from retrai_core.guard.set_id import drop_of_killed, note_set_id
from retrai_core.run_manager import RunManager

Runs = Any

BEND = "printf 'goal: other\\n' > .retrai.yml; echo bent > steer.cfg; echo bent > checks/check.txt"


def call(name: str, **args: Any) -> dict[str, Any]:
    return {"text": f"calling {name}", "calls": [{"name": name, "args": args}]}


async def stopped_at(runs: Runs, name: str, turns: list[dict[str, Any]], **settings: Any) -> Any:
    """A run that is cancelled as soon as it calls this tool."""
    manager = RunManager(runs.store)
    record = await manager.create(runs.config(turns, **settings))
    hears = manager.bus(record.id).subscribe()
    going = asyncio.create_task(manager.start(record.id))
    async for event in hears:
        if event.kind == "tool_call" and event.payload["name"] == name:
            manager.cancel(record.id)
            break
    return await going


async def test_what_bends_the_check_is_undone_when_a_run_is_interrupted(runs: Runs) -> None:
    turns = [{"calls": [*call("shell", line=BEND)["calls"], *call("hang")["calls"]]}]
    record = await stopped_at(runs, "hang", turns, tools=["shell", "hang"])
    assert record.status == "interrupted"
    assert not (runs.project / ".retrai.yml").exists()
    assert not (runs.project / "steer.cfg").exists()
    assert (runs.project / "checks" / "check.txt").read_text() == "the check\n"
    for name in (".retrai.yml", "steer.cfg", "checks/check.txt"):
        assert any(line.startswith(name) for line in record.refused), record.refused
    aside = runs.store.folder(record.id) / "baseline" / "set_aside"
    assert [path.read_text() for path in aside.rglob(".retrai.yml")] == ["goal: other\n"]
    assert record.changed_files == []


async def test_a_new_project_file_does_not_outlive_a_run_that_ends(runs: Runs) -> None:
    record = await runs.run([call("shell", line=BEND)], max_iterations=1)
    assert not (runs.project / ".retrai.yml").exists()
    assert any(line.startswith(".retrai.yml") for line in record.refused)


async def test_a_tool_writes_none_of_retrais_files(runs: Runs) -> None:
    paths = [".retrai.yml", ".retrai/eval_harness.py"]
    calls = [{"name": "put", "args": {"path": path, "text": "x"}} for path in paths]
    record = await runs.run([{"calls": calls}], max_iterations=1)
    assert [event.payload["ok"] for event in runs.events(record, "tool_result")] == [False, False]


async def test_the_user_can_let_the_project_file_be_made(runs: Runs) -> None:
    made = call("put", path=".retrai.yml", text="max_iterations: 3\n")
    mend = call("put", path="a.txt", text="right\n")
    record = await runs.run([made, mend], allow_edit=[".retrai.yml"])
    assert (record.status, record.refused) == ("achieved", [])
    assert (runs.project / ".retrai.yml").read_text() == "max_iterations: 3\n"


async def test_set_id_bits_of_the_run_are_taken(runs: Runs) -> None:
    own = runs.project / "own"
    own.write_text("the user's\n")
    own.chmod(0o4755)
    shared = runs.project / "node_modules"
    shared.mkdir()
    shared.chmod(0o2775)
    (runs.project / ".gitignore").write_text("node_modules/\n")
    line = "cp a.txt node_modules/x; chmod 6755 node_modules/x; cp a.txt y; chmod 4755 y"
    record = await runs.run([call("shell", line=line)], max_iterations=1)
    modes = {
        path: stat.S_IMODE((runs.project / path).stat().st_mode)
        for path in ("node_modules/x", "y", "own", "node_modules")
    }
    assert modes == {"node_modules/x": 0o755, "y": 0o755, "own": 0o4755, "node_modules": 0o2775}
    assert sum("set-user-id" in line for line in record.refused) == 2


async def test_set_id_bits_of_a_killed_run_are_taken_by_the_next(runs: Runs) -> None:
    killed = runs.store.runs / "killed"
    killed.mkdir(parents=True)
    note_set_id(runs.project, killed)
    left = runs.project / "left"
    left.write_text("x")
    left.chmod(0o4755)
    await runs.run([call("put", path="a.txt", text="right\n")])
    assert stat.S_IMODE(left.stat().st_mode) == 0o755
    assert drop_of_killed(runs.store.state, runs.project) == []
