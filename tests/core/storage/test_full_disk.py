"""A disk that fills up in the middle of a run ends it with one line, and never with a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SITE = Path(__file__).parents[1] / "goal_loop" / "site"
RUN = """
import asyncio, json, resource, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from retrai_core import FilesStore, RunConfig, RunManager, RunRequest
from retrai_core.cli.failures import explain_failure

project, state, limit = Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])
turns = {"turns": [{"calls": [{"name": "look", "args": {"path": "a.txt"}}]}]}

class FillingUp(FilesStore):
    async def append_events(self, claim, events):
        last_seq = await super().append_events(claim, events)
        if any(event.kind == "goal_check" for event in events):
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        return last_seq

async def main():
    config = RunConfig(cwd=project, model="turns", plugins={"turns": turns}, memory="none",
                       python=sys.executable, sandbox="local", max_iterations=40)
    async with RunManager(FillingUp(state=state), "inline") as manager:
        return await (await manager.submit(RunRequest(config=config))).result()

try:
    record = asyncio.run(main())
except BaseException as error:
    sys.exit(explain_failure(error))
print(json.dumps([record.status, record.reason]))
"""


@pytest.mark.parametrize("limit", [0, 3000, 20_000])
def test_a_disk_that_fills_up_ends_the_run_with_one_line(tmp_path: Path, limit: int) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "expected.txt").write_text("a.txt: right\n")
    (project / "a.txt").write_text("wrong\n")
    command = [sys.executable, "-c", RUN, str(SITE), str(project), str(tmp_path / "s"), str(limit)]
    # Python keeps what it could write of a module's byte code, and every later import of it fails.
    env = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        command, env=env, capture_output=True, text=True, check=False, timeout=100
    )
    assert "Traceback" not in done.stderr
    if done.stdout:
        status, reason = json.loads(done.stdout)
        assert status == "error"
        said = reason
    else:
        assert done.returncode == 70
        said = done.stderr
    assert "File too large" in said or "disk" in said
    assert "this is a bug" not in said
