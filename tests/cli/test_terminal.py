"""A run on a real terminal: live lines, a spinner, questions, Ctrl-C."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .kept import kept_runs

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")

RIGHT = ("write_answer", {"text": "42"})
WRONG = ("write_answer", {"text": "54"})
ATTEMPTS = 300
TIMEOUT_S = 60


class Terminal:
    """A tmux server of its own with one window, in which one command runs."""

    def __init__(self, folder: Path) -> None:
        self.socket = folder / "tmux"
        self.ended = folder / "ended"

    def tmux(self, *args: str) -> str:
        done = subprocess.run(
            ["tmux", "-S", str(self.socket), *args],
            capture_output=True,
            text=True,
            check=True,
            timeout=TIMEOUT_S,
        )
        return done.stdout

    def start(self, *args: str) -> None:
        line = shlex.join([sys.executable, "-m", "retrai_core", *args])
        # The window stays after the command has ended, so that its last lines can be read.
        then = f"echo exit=$?; tmux -S {self.socket} wait-for -S ended; exec cat"
        shell = f"unset NO_COLOR; {line}; {then}"
        env = [f"-e{name}={os.environ[name]}" for name in KEPT if name in os.environ]
        self.tmux("-f/dev/null", "new-session", "-d", "-x120", "-y40", *env, "bash", "-c", shell)

    def screen(self) -> str:
        return self.tmux("capture-pane", "-p", "-J")

    def wait_for(self, text: str) -> str:
        """The screen as soon as `text` is on it."""
        for _ in range(ATTEMPTS):
            screen = self.screen()
            if text in screen:
                return screen
            if "exit=" in screen:
                break
            # Looking at a screen is all that a terminal lets us do, so look again a little later.
            subprocess.run(["bash", "-c", "read -t 0.1 <> <(:)"], check=False)
        raise AssertionError(f"{text!r} never came; the screen:\n{self.screen()}")

    def type(self, *keys: str) -> None:
        self.tmux("send-keys", *keys)

    def wait_for_end(self) -> str:
        self.tmux("wait-for", "ended")
        return self.wait_for("exit=")


KEPT = ("PATH", "HOME", "PYTHONPATH", "RETRAI_STATE_DIR", "XDG_CONFIG_HOME", "LANG")


@pytest.fixture
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    terminal = Terminal(tmp_path_factory.mktemp("t"))
    yield terminal
    subprocess.run(
        ["tmux", "-S", str(terminal.socket), "kill-server"], capture_output=True, check=False
    )


def test_a_spinner_shows_what_is_waited_for_and_goes_away(
    terminal: Terminal, toy: Callable[..., list[str]], project: Path
) -> None:
    fifo = project / "go-on"
    os.mkfifo(fifo)
    terminal.start(*toy([("shell", {"line": "cat go-on"})], [RIGHT]))
    waiting = terminal.wait_for("shell cat go-on,")
    assert "tokens" in waiting
    fifo.write_text("go on\n")
    screen = terminal.wait_for_end()
    assert "shell cat go-on," not in screen
    assert "achieved: it says 42" in screen
    assert "exit=0" in screen


def test_ctrl_c_ends_the_run_with_a_record(
    terminal: Terminal, toy: Callable[..., list[str]], project: Path
) -> None:
    os.mkfifo(project / "go-on")
    terminal.start(*toy([("shell", {"line": "cat go-on"})]))
    terminal.wait_for("shell cat go-on,")
    terminal.type("C-c")
    assert "exit=130" in terminal.wait_for_end()
    (record,) = kept_runs()
    assert record.status == "interrupted"


def test_a_person_is_asked_and_can_say_yes(
    terminal: Terminal, toy: Callable[..., list[str]]
) -> None:
    terminal.start(*toy([WRONG], [RIGHT]), "--hitl")
    terminal.wait_for("[yes, no")
    terminal.type("yes", "Enter")
    assert "exit=0" in terminal.wait_for_end()


def test_a_person_is_asked_and_can_say_no(
    terminal: Terminal, toy: Callable[..., list[str]]
) -> None:
    terminal.start(*toy([WRONG], [RIGHT]), "--hitl")
    terminal.wait_for("[yes, no")
    terminal.type("no", "Enter")
    assert "exit=3" in terminal.wait_for_end()


def test_a_slip_at_the_question_is_asked_once_more(
    terminal: Terminal, toy: Callable[..., list[str]]
) -> None:
    terminal.start(*toy([WRONG], [RIGHT]), "--hitl")
    terminal.wait_for("[yes, no")
    terminal.type("yse", "Enter")
    terminal.wait_for("'yse' is no choice")
    terminal.type("yes", "Enter")
    assert "exit=0" in terminal.wait_for_end()


def test_ctrl_c_works_while_a_person_is_asked(
    terminal: Terminal, toy: Callable[..., list[str]]
) -> None:
    terminal.start(*toy([WRONG], [RIGHT]), "--hitl")
    terminal.wait_for("[yes, no")
    terminal.type("C-c")
    assert "exit=130" in terminal.wait_for_end()
