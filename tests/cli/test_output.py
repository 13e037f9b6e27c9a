"""What a file, a tool or a model is called is shown as text, and never steers the terminal."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from retrai_core import cli
from retrai_core.cli.columns import aligned
from retrai_core.cli.output import echo, visible, visible_name
from retrai_core.cli.render.lines import EventLines
from retrai_core.cli.render.terminal import RunTerminal, make_console

from .kept import kept_runs

HOSTILE = "a\x1b[2J\x9b1m\u202egnp.\u2066\u200b\x7f\r.txt"
SHOWN = r"a\u001b[2J\u009b1m\u202egnp.\u2066\u200b\u007f\r.txt"


@pytest.mark.parametrize("char", ["\x1b", "\x07", "\x85", "\x9b", "\u061c", "\u2028", "\U000e0041"])
def test_every_control_and_format_character_is_written_out_as_json_writes_it(char: str) -> None:
    assert json.loads(f'"{visible(char)}"') == char
    assert visible(char).isascii()


def test_honest_text_is_left_as_it_is() -> None:
    text = "naïve\tжук 好 é \N{GRINNING FACE}\nnext\n"
    assert visible(text) == text
    assert visible_name("a\nb") == r"a\nb"


def test_json_stays_what_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    value = {HOSTILE: ["\U000e0041", "é\n"]}
    echo(json.dumps(value, ensure_ascii=False))
    written = capsys.readouterr().out
    assert json.loads(written) == value
    assert "\u202e" not in written


def test_a_cell_of_a_table_begins_no_line() -> None:
    assert aligned([("NAME", "KIND"), (f"x\n{HOSTILE}", "goal")]).splitlines()[1:] == [
        rf"x\n{SHOWN}  goal"
    ]


def test_no_command_writes_past_the_one_place() -> None:
    folder = Path(cli.__file__).parent
    past = [
        path.name
        for path in folder.rglob("*.py")
        if path.name != "output.py" and "click.echo(" in path.read_text(encoding="utf-8")
    ]
    assert past == []


def test_the_live_display_shows_names_as_text(event, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    terminal = RunTerminal(make_console())
    terminal.hear(event("step_start", node="act"))
    for summary in (HOSTILE, "two\nlines"):
        terminal.hear(event("tool_call", id="1", tool=f"x\n{HOSTILE}", summary=summary))
        terminal.hear(
            event("tool_result", id="1", tool=f"x\n{HOSTILE}", error=True, content=HOSTILE,
                  duration_s=0.1)
        )  # fmt: skip
    terminal.say(HOSTILE)
    terminal.console.print(HOSTILE)
    written = stream.getvalue()
    assert not set(HOSTILE) - set(SHOWN) & set(written)
    assert len(written.splitlines()) == 6
    assert r"x\na\u001b[2J" in written


def test_what_is_waited_for_is_one_safe_line(event) -> None:
    lines = EventLines(100)
    lines.write(event("tool_call", id="1", tool=f"x\n{HOSTILE}", summary=HOSTILE))
    assert lines.waiting_for.isascii()
    assert lines.waiting_for.isprintable()


def test_an_error_names_a_file_as_text(retrai, tmp_path: Path) -> None:
    code, _, err = retrai("run", "-C", tmp_path / HOSTILE)
    assert code == 2
    assert SHOWN in err
    assert err.count("\n") == 2


@pytest.fixture
def hostile_run(retrai, toy, project: Path) -> str:
    """A run that made a file with such a name, and one whose name is two lines."""
    line = "printf 'one\\x1b[2Jtwo\\r\\n' > \"$(printf 'a\\x1b[2J\\xe2\\x80\\xae.txt')\"; "
    line += "echo 1 > \"$(printf 'b\\nrestored  c')\""
    retrai(*toy([("shell", {"line": line})], [("write_answer", {"text": "42"})]))
    (record,) = kept_runs()
    assert (project / "a\x1b[2J\u202e.txt").exists()
    return record.id


def test_undo_and_show_write_file_names_as_text(retrai, hostile_run: str) -> None:
    _, shown, _ = retrai("runs", "show", hostile_run)
    _, replayed, _ = retrai("runs", "show", hostile_run, "--events")
    _, undone, _ = retrai("runs", "undo", hostile_run)
    for written in (shown, replayed, undone):
        assert not {"\x1b", "\u202e"} & set(written)
    assert r"removed   a\u001b[2J\u202e.txt" in undone.splitlines()
    assert r"removed   b\nrestored  c" in undone.splitlines()


def test_a_diff_is_exact_in_a_pipe_and_text_on_a_terminal(
    retrai, hostile_run: str, project: Path
) -> None:
    command = [sys.executable, "-m", "retrai_core", "runs", "diff", hostile_run]
    piped = subprocess.run(command, capture_output=True, timeout=120, check=True).stdout
    assert b"one\x1b[2Jtwo\r\n" in piped
    terminal, end = pty.openpty()
    with subprocess.Popen(command, stdout=end, stderr=subprocess.PIPE) as process:
        os.close(end)
        written = b""
        while chunk := _read(terminal):
            written += chunk
        assert process.wait(timeout=120) == 0
    os.close(terminal)
    assert rb"one\u001b[2Jtwo\r" in written
    assert b"\x1b[2J" not in written
    assert retrai("runs", "undo", hostile_run)[0] == 0
    subprocess.run(["git", "apply"], input=piped, cwd=project, check=True, timeout=120)
    assert (project / "a\x1b[2J\u202e.txt").read_bytes() == b"one\x1b[2Jtwo\r\n"


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # the other end is closed
        return b""
