"""A command under bubblewrap behaves as one without, and what goes wrong is said."""

from __future__ import annotations

import signal

import pytest

from retrai_core import ToolError

from .conftest import TIMEOUT_S, attempt


@pytest.mark.parametrize("code", [0, 1, 3, 77, 126, 128, 255])
async def test_exit_codes_are_the_program_s(walled, code):
    assert (await attempt(walled, f"exit {code}")).exit_code == code


@pytest.mark.parametrize("name", ["SIGKILL", "SIGSEGV", "SIGABRT", "SIGTERM"])
async def test_a_signal_is_told_as_one(walled, name):
    done = await attempt(walled, f"kill -{name.removeprefix('SIG')} $$")
    assert done.exit_code == -signal.Signals[name]


async def test_a_program_that_is_hidden_is_said_to_be(walled, home):
    program = home / "letters" / "program"
    program.write_text("#!/bin/sh\necho hello\n")
    program.chmod(0o755)
    line = '"$1" || echo no'
    assert (await attempt(walled, line, program)).stdout == "no\n"
    with pytest.raises(ToolError, match="hidden in the sandbox"):
        await walled.run(["no-such-program"], timeout_s=TIMEOUT_S)


async def test_a_folder_that_is_not_there_is_a_tool_error(walled, tmp_path):
    with pytest.raises(ToolError, match="no such folder"):
        await walled.run(["true"], timeout_s=TIMEOUT_S, cwd=tmp_path / "nowhere")


async def test_temporary_files_have_a_place(walled):
    line = 'd=$(mktemp -d) && echo hello > "$d/a" && cat "$d/a" && dirname "$d"'
    assert (await attempt(walled, line)).stdout == "hello\n/tmp\n"


async def test_files_belong_to_whoever_runs_retrai(walled, context):
    done = await attempt(walled, "echo hello > made; mkdir sub; stat -c %u .")
    made = context.project / "made"
    assert made.stat().st_uid == context.project.stat().st_uid
    made.write_text("again")
    (context.project / "sub").rmdir()
    own = (await attempt(walled, "id -u")).stdout
    assert done.stdout == own, "the project is somebody else's for the command"


async def test_a_project_below_a_repository_sees_it_and_cannot_change_it(make, context, tmp_path):
    repository = tmp_path / "repository"
    context.project = repository / "part"
    context.project.mkdir(parents=True)
    (repository / ".git").mkdir()
    (repository / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    done = await attempt(await make(), "cat ../pyproject.toml; echo x > ../pyproject.toml")
    assert done.stdout == "[tool.pytest.ini_options]\n"
    assert "Read-only file system" in done.stderr
