"""A project beside a home full of secrets; the sandbox with walls, and the one without."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("retrai_sandbox_bwrap")

from retrai_core import Completed, ProcessOptions, RunContext, Sandbox
from retrai_core.workspace.safe_paths import SafeWorkspace
from retrai_sandbox_bwrap.options import BwrapOptions
from retrai_sandbox_bwrap.sandbox import BwrapSandbox
from retrai_sandbox_local.sandbox import LocalSandbox

SECRET = "the-secret-of-the-user"
TIMEOUT_S = 60.0

Make = Callable[..., Awaitable[BwrapSandbox]]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with credentials, also in the folder of a tool chain."""
    home = tmp_path / "home"
    for name in (
        ".ssh/id_ed25519",
        ".aws/credentials",
        ".netrc",
        ".npmrc",
        ".config/gh/hosts.yml",
        ".cargo/credentials.toml",
        "letters/private.txt",
    ):
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"password = {SECRET}\n")
    tool = home / ".cargo" / "bin" / "a-tool"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\necho the tool runs\n")
    tool.chmod(0o755)
    (home / ".gitconfig").write_text("[user]\n\tname = Jo\n")
    monkeypatch.setenv("HOME", str(home))
    return home


@pytest.fixture
def context(tmp_path: Path, home: Path) -> RunContext:
    """A run on an empty project."""
    project = tmp_path / "a project"
    run_dir = tmp_path / "state" / "runs" / "r1"
    project.mkdir()
    run_dir.mkdir(parents=True)
    (run_dir / "baseline.json").write_text(SECRET)
    return RunContext("r1", project, SafeWorkspace(project), sys.executable, run_dir)


@pytest.fixture
async def make(context: RunContext) -> AsyncIterator[Make]:
    """Builds the sandbox with walls; skips where bubblewrap cannot work."""
    async with AsyncExitStack() as stack:

        async def build(**options: Any) -> BwrapSandbox:
            sandbox = BwrapSandbox(BwrapOptions(grace_s=0.2, **options), context)
            stack.push_async_callback(sandbox.aclose)
            problem = await sandbox.probe()
            if problem is not None:
                pytest.skip(f"bwrap does not work here: {problem}")
            return sandbox

        yield build


@pytest.fixture
async def walled(make: Make) -> BwrapSandbox:
    """The sandbox with walls, as a run gets it."""
    return await make()


@pytest.fixture
async def local(context: RunContext) -> AsyncIterator[LocalSandbox]:
    """The sandbox without walls: where an attack works, which shows that it is one."""
    sandbox = LocalSandbox(ProcessOptions(grace_s=0.2), context)
    yield sandbox
    await sandbox.aclose()


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder of the user's beside the project."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "notes.txt").write_text("as it was")
    return folder


@pytest.fixture
def other() -> Iterator[subprocess.Popen[bytes]]:
    """A process of the user's that has a secret in its environment."""
    nap = ["sleep", str(uuid.uuid4().int % 10**9 + 10**6)]
    with subprocess.Popen(nap, env={**os.environ, "A_KEY": SECRET}) as process:
        yield process
        process.kill()


@pytest.fixture
def make_environment() -> Callable[[Path], str]:
    """Makes a virtual environment; its interpreter."""

    def make(folder: Path) -> str:
        command = [sys.executable, "-m", "venv", "--without-pip", str(folder)]
        subprocess.run(command, check=True, timeout=60)
        return str(folder / "bin" / "python")

    return make


async def attempt(sandbox: Sandbox, line: str, *words: str | Path, **more: Any) -> Completed:
    """Run a shell line with arguments `$1`, `$2`..."""
    command = ["bash", "-c", line, "attempt", *map(str, words)]
    return await sandbox.run(command, timeout_s=TIMEOUT_S, **more)


async def attempt_python(sandbox: Sandbox, code: str, *words: str | Path, **more: Any) -> Completed:
    """Run Python code with arguments."""
    command = [sandbox.context.python, "-I", "-c", code, *map(str, words)]
    return await sandbox.run(command, timeout_s=TIMEOUT_S, **more)
