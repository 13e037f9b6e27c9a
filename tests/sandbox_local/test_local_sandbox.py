"""The sandbox `local`: commands with the user's rights. Its contract is tried in tests/testkit."""

from __future__ import annotations

import sys
from pathlib import Path

from retrai_core import Completed, ProcessOptions, RunContext
from retrai_core.workspace.safe_paths import SafeWorkspace
from retrai_sandbox_local.sandbox import LocalSandbox


def context_in(folder: Path) -> RunContext:
    return RunContext("r1", folder, SafeWorkspace(folder), sys.executable, folder)


async def test_commands_have_the_user_s_rights(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    sandbox = LocalSandbox(ProcessOptions(), context_in(project))
    try:
        done = await sandbox.run("echo hello > ../beside; cat", timeout_s=30, stdin=b"in")
        assert (done.exit_code, done.stdout) == (0, "in")
        assert (tmp_path / "beside").read_text() == "hello\n"
    finally:
        await sandbox.aclose()


async def test_a_probe_that_does_not_end_says_so(tmp_path: Path) -> None:
    class Slow(LocalSandbox):
        async def run(self, *_: object, **__: object) -> Completed:
            return Completed(-15, "", "", timed_out=True)

    slow = Slow(ProcessOptions(), context_in(tmp_path))
    assert await slow.probe() == "`true` had not ended after 10 s"
    await slow.aclose()
