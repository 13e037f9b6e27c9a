"""Where bubblewrap cannot work, retrai says so loudly, or does not run at all."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence

import pytest

pytest.importorskip("retrai_goals_python")
pytest.importorskip("retrai_llm_offline")

from retrai_sandbox_bwrap import sandbox
from retrai_sandbox_bwrap.options import BwrapOptions

BWRAP = shutil.which("bwrap")
pytestmark = pytest.mark.skipif(BWRAP is None, reason="needs bwrap")


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "test_one.py").write_text("def test_one():\n    assert True\n")
    (folder / "pytest.ini").write_text("[pytest]\naddopts = -p no:langsmith_plugin\n")
    return folder


@pytest.fixture
def run(project, tmp_path, walled):
    """`retrai run` on a project whose goal passes; with or without the right to make namespaces."""

    def start(
        *words: str, namespaces: bool = True, around: Sequence[str] = ()
    ) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "retrai_core", "run", "pytest", "-C", str(project)]
        command += ["--model", "offline", *words]
        if not namespaces:
            forbid = [str(BWRAP), "--unshare-user", "--disable-userns", "--die-with-parent"]
            # bubblewrap's kernel parts are all there but the right to make another namespace.
            command = [*forbid, "--bind", "/", "/", "--dev", "/dev", "--", *command]
        command = [*around, *command]
        environ = {**os.environ, "RETRAI_STATE_DIR": str(tmp_path / "state2"), "NO_COLOR": "1"}
        environ["COLUMNS"] = "1000"
        return subprocess.run(
            command, capture_output=True, text=True, timeout=120, env=environ, check=False
        )

    return start


def test_bwrap_is_what_a_run_takes_and_records(run):
    done = run("--sandbox", "strict", "--json")
    assert json.loads(done.stdout)["sandboxes"] == ["bwrap"]


def test_without_namespaces_a_run_goes_on_and_says_so_loudly(run):
    done = run(namespaces=False)
    said = done.stdout + done.stderr
    assert "NO ISOLATION" in said
    assert "bwrap does not work here" in said
    assert done.returncode == 0, said


def test_strict_refuses_to_run_without_walls(run):
    done = run("--sandbox", "strict", namespaces=False)
    assert done.returncode == 2
    assert "forbids user namespaces" in done.stderr
    assert "--sandbox local" in done.stderr


def test_the_user_may_choose_to_have_none(run):
    record = json.loads(run("--sandbox", "local", "--json").stdout)
    assert record["sandboxes"] == ["local"]


@pytest.mark.parametrize("below", [False, True])
def test_a_project_whose_mode_lets_nobody_write_keeps_the_walls(run, project, below):
    if below:
        (project / "test_one.py").chmod(0o444)
    project.chmod(0o555)
    try:
        done = run("--sandbox", "strict", "--json")
    finally:
        project.chmod(0o755)
    assert json.loads(done.stdout)["sandboxes"] == ["bwrap"], done.stderr
    assert done.returncode == 0


def test_a_read_only_mount_keeps_the_walls(run, project):
    line = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"'
    ro = ["unshare", "--mount", "sh", "-c", line, "sh", str(project)]
    if subprocess.run([*ro, "true"], capture_output=True, check=False).returncode:
        pytest.skip("nothing can be mounted here")
    done = run("--sandbox", "strict", "--json", around=ro)
    assert json.loads(done.stdout)["sandboxes"] == ["bwrap"], done.stderr


@pytest.mark.skipif(os.getuid() != 0, reason="needs root, who may make another user's files")
@pytest.mark.parametrize("mode", [0o755, 0o700, 0o555])
def test_a_project_of_another_user_s_keeps_the_walls(run, project, mode):
    for path in (project, *project.iterdir()):
        os.chown(path, 1234, 1234)
    project.chmod(mode)
    done = run("--sandbox", "strict", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["sandboxes"] == ["bwrap"], done.stderr
    assert {path.stat().st_uid for path in project.iterdir() if path.name != ".retrai"} == {1234}


async def test_a_trial_that_does_not_end_is_told_as_such(walled, context, monkeypatch):
    slow = context.project / "python"
    slow.write_text("#!/bin/sh\nexec sleep 600\n")
    slow.chmod(0o755)
    context.python = str(slow)
    monkeypatch.setattr(sandbox, "_PROBE_TIMEOUT_S", 0.2)
    another = sandbox.BwrapSandbox(BwrapOptions(grace_s=0.1), context)
    try:
        problem = await another.probe()
    finally:
        await another.aclose()
    assert problem == f"the trial, which starts {slow} in it, had not ended after 0.2 s"
