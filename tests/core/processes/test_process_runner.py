"""What a command sees, and what is told of it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from retrai_core import Limits, ProcessRunner, ToolError


async def test_a_program_gives_its_exit_code_and_streams(runner: ProcessRunner) -> None:
    code = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"

    done = await runner.run([sys.executable, "-c", code], timeout_s=30)

    assert (done.exit_code, done.stdout, done.stderr) == (3, "out\n", "err\n")
    assert not done.timed_out
    assert done.duration_s > 0


async def test_a_string_is_a_shell_line(runner: ProcessRunner, tmp_path: Path) -> None:
    done = await runner.run("x=1; echo $((x + 1)) | cat; pwd; ls /dev/fd | wc -l", timeout_s=30)

    assert done.stdout.split() == ["2", str(tmp_path), "4"]  # the fourth is `ls` itself


async def test_without_bash_a_shell_line_runs_in_sh(runner: ProcessRunner, tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "sh").symlink_to("/bin/sh")

    done = await runner.run("echo $0", timeout_s=30, env={"PATH": str(programs)})

    assert done.stdout == f"{programs}/sh\n"


async def test_a_signal_is_a_negative_exit_code(runner: ProcessRunner) -> None:
    assert (await runner.run("kill -USR1 $$", timeout_s=30)).exit_code == -signal.SIGUSR1


async def test_signals_that_python_ignores_work_as_in_a_terminal(runner: ProcessRunner) -> None:
    done = await runner.run(
        "trap | grep -E 'PIPE|XFSZ|XFZ'; yes | head -1; echo ${PIPESTATUS[0]}", timeout_s=30
    )

    assert done.stdout == f"y\n{128 + signal.SIGPIPE}\n"
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["no-such-program"], "'no-such-program' does not exist"),
        (["./plain"], "may not be executed"),
        ([], "empty"),
        (["a\0b"], "NUL"),
    ],
)
async def test_a_program_that_cannot_be_started_is_a_tool_error(
    runner: ProcessRunner, tmp_path: Path, command: list[str], words: str
) -> None:
    (tmp_path / "plain").write_text("no program")

    with pytest.raises(ToolError, match=words):
        await runner.run(command, timeout_s=30)

    assert (await runner.run(["true"], timeout_s=30)).exit_code == 0


async def test_a_missing_folder_is_a_tool_error(runner: ProcessRunner, tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="cannot run in"):
        await runner.run(["true"], timeout_s=30, cwd=tmp_path / "missing")


async def test_no_key_of_the_user_reaches_a_command(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    make_runner: Callable[..., ProcessRunner],
) -> None:
    for name in ("OPENAI_API_KEY", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "BASH_ENV", "DB_URL"):
        monkeypatch.setenv(name, "hidden")
    monkeypatch.setenv("LC_TIME", "C")
    runner = make_runner(pass_env=["DB_*"])

    done = await runner.run(["env"], timeout_s=30, env={"EXTRA": "1"})

    seen = dict(line.split("=", 1) for line in done.stdout.splitlines())
    assert [name for name, value in seen.items() if value == "hidden"] == ["DB_URL"]
    assert seen["TERM"] == "dumb"
    assert seen["LC_TIME"] == "C"
    assert seen["EXTRA"] == "1"
    assert seen["HOME"] == os.environ["HOME"]


async def test_the_projects_environment_is_active_in_a_command(
    tmp_path: Path, make_runner: Callable[..., ProcessRunner]
) -> None:
    programs = tmp_path / ".venv" / "bin"
    programs.mkdir(parents=True)
    (tmp_path / ".venv" / "pyvenv.cfg").write_text("")
    (programs / "python").symlink_to(sys.executable)
    runner = make_runner(python=str(programs / "python"))

    done = await runner.run("command -v python; echo $VIRTUAL_ENV", timeout_s=30)

    assert done.stdout.split() == [str(programs / "python"), str(tmp_path / ".venv")]


async def test_standard_input_is_what_was_given_and_else_empty(runner: ProcessRunner) -> None:
    data = b"x" * 3_000_000
    ignored = await runner.run(["true"], timeout_s=30, stdin=data)
    counted = await runner.run(["wc", "-c"], timeout_s=30, stdin=data)
    empty = await runner.run("test -t 0 && echo terminal; wc -c", timeout_s=30)

    assert ignored.exit_code == 0
    assert int(counted.stdout) == 3_000_000
    assert int(empty.stdout) == 0


async def test_a_flood_of_output_is_cut_in_the_middle(runner: ProcessRunner) -> None:
    flood = "echo first; yes | head -c 50000000; echo last"

    done = await runner.run(flood, timeout_s=60, limits=Limits(output_bytes=1000))

    assert done.exit_code == 0
    assert done.stdout.startswith("first\ny\n")
    assert done.stdout.endswith("y\nlast\n")
    assert f"[{50_000_000 + 11 - 1000} bytes left out]" in done.stdout
    assert len(done.stdout) < 1100


async def test_output_that_is_no_utf8_is_replaced(runner: ProcessRunner) -> None:
    done = await runner.run(r"printf '\303\244 \377'", timeout_s=30)

    assert done.stdout == "ä \ufffd"


@pytest.mark.parametrize(
    ("limits", "code", "ended"),
    [
        (Limits(cpu_s=1), "while True: pass", "-24"),  # SIGXCPU
        (Limits(memory_bytes=300_000_000), "x = bytearray(500_000_000)", "MemoryError"),
        (
            Limits(file_bytes=1000),
            "with open('f', 'wb') as f: f.write(bytes(2000))",
            "File too large",
        ),
    ],
)
async def test_limits_hold(runner: ProcessRunner, limits: Limits, code: str, ended: str) -> None:
    done = await runner.run([sys.executable, "-c", code], timeout_s=60, limits=limits)

    assert done.exit_code != 0
    assert ended in f"{done.exit_code} {done.stderr}"


async def test_no_core_dump_is_written(runner: ProcessRunner) -> None:
    done = await runner.run("ulimit -c", timeout_s=30)

    assert done.stdout == "0\n"


async def test_commands_run_side_by_side(runner: ProcessRunner) -> None:
    # Each waits for the other: one after the other, they would run out of time.
    meet = "touch {me}; until [ -e {other} ]; do sleep 0.01; done; echo {me}"
    first, second = await asyncio.gather(
        runner.run(meet.format(me="a", other="b"), timeout_s=30),
        runner.run(meet.format(me="b", other="a"), timeout_s=30),
    )

    assert (first.stdout, second.stdout) == ("a\n", "b\n")
    assert (first.exit_code, second.exit_code) == (0, 0)


async def test_arguments_and_names_may_hold_any_bytes(
    runner: ProcessRunner, tmp_path: Path
) -> None:
    folder = tmp_path / os.fsdecode(b"with space \xc3\xa4 \xff")
    folder.mkdir()

    done = await runner.run(
        ["sh", "-c", 'pwd; printf %s "$1"', "sh", os.fsdecode(b"\xff\n'")], timeout_s=30, cwd=folder
    )

    assert done.stdout == f"{tmp_path}/with space ä \ufffd\n\ufffd\n'"


async def test_nothing_stays_open(runner: ProcessRunner) -> None:
    await runner.run(["true"], timeout_s=30)
    before = os.listdir("/dev/fd")
    for _ in range(5):
        await runner.run(["true"], timeout_s=30, stdin=b"x")
        with pytest.raises(ToolError):
            await runner.run(["no-such-program"], timeout_s=30)
        await runner.run(["sleep", "60"], timeout_s=0.01)

    assert os.listdir("/dev/fd") == before
