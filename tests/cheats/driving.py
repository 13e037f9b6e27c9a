"""Runs a trajectory: through retrai, and without it."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import yaml
from corpus.trajectory import Step, Trajectory

from retrai_core import FilesStore, RunConfig, RunManager, RunRecord, RunRequest

STEP_LIMIT_S = 120
CHECK_LIMIT_S = 120
JS = Path(os.environ.get("TESTS_JS_DIR") or Path(__file__).parents[2] / ".tox" / "js")
"""Where `tests/goals_js/install_bun.sh` puts bun; programs there are found like any other."""
PROJECT_PYTHON = os.environ.get("TESTS_PROJECT_PYTHON", sys.executable)
"""Of projects without an environment of their own; the benchmark takes the one that it runs in."""
IDLE_ITERATIONS = 1
"""After the last call the model says that it is done; the check may answer once more."""

os.environ["PATH"] += f"{os.pathsep}{JS / 'bin'}"


def make_project(trajectory: Trajectory, folder: Path, prepared: Path | None = None) -> Path:
    """Write the project; its interpreter, with an environment of its own where it has one.

    Args:
        trajectory: whose project.
        folder: where it is to be.
        prepared: a folder that keeps projects as they were after `Trajectory.prepare`, so that what
            several have in common is done once.
    """
    if trajectory.prepare and prepared is not None:
        text = repr((sorted(trajectory.files.items()), trajectory.prepare))
        kept = prepared / hashlib.sha256(text.encode()).hexdigest()
        if not kept.exists():
            # Under its name only when it is whole.
            with tempfile.TemporaryDirectory(dir=kept.parent) as room:
                _write(trajectory, Path(room) / "project")
                with suppress(OSError):
                    (Path(room) / "project").rename(kept)
        shutil.copytree(kept, folder, symlinks=True)
    else:
        _write(trajectory, folder)
    if not trajectory.environment:
        return Path(PROJECT_PYTHON)
    venv.create(folder / ".venv", with_pip=False, symlinks=True)
    python = folder / ".venv" / "bin" / "python"
    site = next((folder / ".venv" / "lib").glob("python*/site-packages"))
    # Of the tests' own, so that nothing has to be installed for each trajectory.
    there = Path(PROJECT_PYTHON).parents[1] / "lib" / site.parent.name
    line = f"import site; site.addsitedir({str(there / site.name)!r})"
    if find_spec("sitecustomize"):
        # Debian's Python has one, which stands before that of any environment.
        line += f"; import sys; sys.path.insert(0, {str(site)!r})"
    (site / "there.pth").write_text(line + "\n", encoding="utf-8")
    for name, text in trajectory.installed.items():
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("{project}", str(folder)), encoding="utf-8")
    return python


def _write(trajectory: Trajectory, folder: Path) -> None:
    for name, text in trajectory.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    if trajectory.prepare:
        subprocess.run(
            ["bash", "-c", trajectory.prepare], cwd=folder, check=True, timeout=STEP_LIMIT_S
        )


def run_guarded(
    trajectory: Trajectory,
    room: Path,
    settings: Mapping[str, object] | None = None,
    prepared: Path | None = None,
) -> RunRecord:
    """Let retrai replay the trajectory, an iteration a call; the run's record."""
    project = room / "project"
    python = make_project(trajectory, project, prepared)
    config = config_of(trajectory, project, python, settings)

    async def whole() -> RunRecord:
        async with RunManager(FilesStore(state=room / "state"), "inline") as manager:
            run = await manager.submit(RunRequest(config=config))
            return await run.result()

    return asyncio.run(whole())


def config_of(
    trajectory: Trajectory,
    project: Path,
    python: Path,
    settings: Mapping[str, object] | None = None,
) -> RunConfig:
    """What `retrai run` would read from the project's `.retrai.yml`, which is written too.

    The decisions to replay are kept beside the project.
    """
    record = project.with_name(f"{project.name}.jsonl")
    record.write_text("".join(_lines(trajectory)), encoding="utf-8")
    more = {"python": str(python), **trajectory.settings, **(settings or {})}
    known = {key: more.pop(key) for key in list(more) if key in RunConfig.model_fields}
    (project / ".retrai.yml").write_text(yaml.safe_dump({**known, **more}), encoding="utf-8")
    return RunConfig.model_validate(
        {
            "goal": trajectory.goal,
            "cwd": project,
            "model": f"replay:{record}",
            "max_iterations": len(trajectory.steps) + IDLE_ITERATIONS,
            "memory": "none",
            "options": more,
            **known,
        }
    )


def fools_exit_code(trajectory: Trajectory, room: Path, prepared: Path | None = None) -> bool:
    """Do the same without retrai; whether the plain command's exit code is 0 afterwards."""
    project = room / "plain"
    python = make_project(trajectory, project, prepared)
    for step in trajectory.steps:
        apply(step, project)
    return exit_code(trajectory, project, python) == 0


def apply(step: Step, project: Path) -> None:
    """Do what the call would do where nothing is refused."""
    args = step.args
    if step.tool == "bash_exec":
        subprocess.run(
            ["bash", "-c", args["command"]],
            cwd=project,
            check=False,
            timeout=STEP_LIMIT_S,
            capture_output=True,
        )
        return
    path = project / args["path"]
    path.parent.mkdir(parents=True, exist_ok=True)
    if step.tool == "file_write":
        path.write_text(args["content"], encoding="utf-8")
        return
    text = path.read_text(encoding="utf-8")
    assert text.count(args["old"]) == 1, f"{args['old']!r} stands not once in {args['path']}"
    path.write_text(text.replace(args["old"], args["new"]), encoding="utf-8")


def exit_code(trajectory: Trajectory, project: Path, python: Path) -> int:
    """What the plain check says in `project`."""
    argv = [str(python) if part == "{python}" else part for part in trajectory.command]
    path = os.pathsep.join([str(python.parent), os.environ["PATH"]])
    done = subprocess.run(
        argv,
        cwd=project,
        check=False,
        timeout=CHECK_LIMIT_S,
        capture_output=True,
        env={**os.environ, "PATH": path},
    )
    return done.returncode


def _lines(trajectory: Trajectory) -> list[str]:
    lines: list[str] = []
    for number, step in enumerate(trajectory.steps):
        call = {"id": f"c{number}", "name": step.tool, "args": dict(step.args)}
        payload = {"text": f"step {number}", "tool_calls": [call]}
        event = {"kind": "llm_usage", "run_id": "r", "iteration": number, "ts": 0.0}
        lines.append(json.dumps({**event, "payload": payload}) + "\n")
    return lines
