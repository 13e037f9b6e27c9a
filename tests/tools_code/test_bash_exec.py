"""`bash_exec`."""

from __future__ import annotations

from typing import Any

import pytest

from retrai_tools_code.ruinous import why_ruinous


async def test_the_answer_holds_exit_code_and_both_streams(bench: Any) -> None:
    result = await bench.call("bash_exec", command="pwd; echo problem >&2; exit 3")

    assert result.content == f"exit code 3\n{bench.project}\n[stderr]\nproblem"
    assert result.ok
    assert result.data["exit_code"] == 3


async def test_silence_is_an_answer(bench: Any) -> None:
    assert await bench.text("bash_exec", command="true") == "exit code 0"


async def test_a_signal_is_named(bench: Any) -> None:
    assert await bench.text("bash_exec", command="kill -9 $$") == "ended by signal 9"


async def test_a_command_that_takes_too_long_is_ended_and_what_it_printed_is_kept(
    bench: Any,
) -> None:
    result = await bench.call("bash_exec", command="echo begun; sleep 600", timeout_s=1)

    assert not result.ok
    assert "ended after 1 s" in result.content
    assert "timeout_s can be up to 600" in result.content
    assert result.content.endswith("begun")


@pytest.mark.parametrize(
    ("options", "asked", "used"),
    [({}, None, "60"), ({"timeout_s": 1.5}, None, "1.5"), ({"max_timeout_s": 1}, 500, "1")],
)
async def test_the_time_out_is_the_options_unless_asked_within_the_limit(
    bench: Any, options: dict[str, float], asked: float | None, used: str
) -> None:
    if used == "60":
        assert bench.tool("bash_exec").options.timeout_s == 60
        return

    result = await bench.call("bash_exec", options, command="sleep 600", timeout_s=asked)

    assert f"ended after {used} s" in result.content


async def test_long_output_keeps_its_beginning_and_its_end(bench: Any) -> None:
    result = await bench.call("bash_exec", command="echo first; yes | head -c 50000000; echo last")

    assert result.content.startswith("exit code 0\nfirst\ny\n")
    assert result.content.endswith("y\nlast")
    assert "left out" in result.content
    assert 7000 < len(result.content) <= 8000


async def test_no_key_is_in_its_environment(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-hidden")

    assert "sk-hidden" not in await bench.text("bash_exec", command="env")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("rm -rf /", "`rm` of /"),
        ("cd x && sudo rm -fr --no-preserve-root '/'*", "`rm` of /*"),
        ("ls; rm -r -f ~/", "`rm` of ~/"),
        ('X=1 rm --recursive "$HOME"/*', "`rm` of $HOME/*"),
        ("true\nchmod -R 777 /etc", "`chmod` of /etc"),
        ("mkfs.ext4 /dev/sda1", "`mkfs.ext4` on /dev/sda1"),
        ("dd if=/dev/zero of=/dev/sda", "`dd` over /dev/sda"),
        ("cat x > /dev/nvme0n1", "over a disk"),
        (":(){ :|:& };:", "a fork bomb"),
    ],
)
def test_a_line_that_would_ruin_the_machine_is_refused_by_name(line: str, why: str) -> None:
    assert why in (why_ruinous(line) or "")


@pytest.mark.parametrize(
    "line",
    [
        "rm -rf build ./dist ~/.cache/mine /tmp/x",
        "rm -rf . ../other",
        "rm /",
        "echo 'rm -rf /' \"mkfs /dev/sda\"",
        "dd if=/dev/zero of=disk.img; mkfs.ext4 disk.img",
        "dd if=a of=/dev/null; echo > /dev/stderr",
        "f() { g | g & }; f",
        "echo 'open",
    ],
)
def test_an_ordinary_line_is_none_of_these(line: str) -> None:
    assert why_ruinous(line) is None


async def test_a_refused_line_is_not_run(bench: Any) -> None:
    result = await bench.call("bash_exec", command="touch ran; : | rm -rf / --help")
    assert not result.ok
    assert result.content.startswith("refused: `rm` of /")
    assert not (bench.project / "ran").exists()
