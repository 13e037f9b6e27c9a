"""`retrai ask` on a real terminal: the prompt, the plan, the answer, Ctrl-D."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")

ATTEMPTS = 600
KEPT = (
    *("PATH", "HOME", "PYTHONPATH", "LANG", "XDG_CONFIG_HOME"),
    *("RETRAI_STATE_DIR", "RETRAI_CACHE_DIR"),
)


class Terminal:
    """A tmux server of its own with one window."""

    def __init__(self, folder: Path) -> None:
        self._socket = folder / "tmux"

    def tmux(self, *args: str) -> str:
        command = ["tmux", "-S", str(self._socket), *args]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        return done.stdout

    def start(self, project: Path, *args: str) -> None:
        line = shlex.join([sys.executable, "-m", "retrai_core", *args])
        shell = f"unset NO_COLOR; cd {shlex.quote(str(project))}; {line}; echo exit=$?; exec cat"
        env = [f"-e{name}={os.environ[name]}" for name in KEPT if name in os.environ]
        self.tmux("-f/dev/null", "new-session", "-d", "-x120", "-y200", *env, "bash", "-c", shell)

    def wait_for(self, text: str, count: int = 1) -> str:
        screen = ""
        for _ in range(ATTEMPTS):
            screen = self.tmux("capture-pane", "-p", "-J")
            if screen.count(text) >= count:
                return screen
            # Looking at a screen is all that a terminal lets us do, so look again a little later.
            subprocess.run(["bash", "-c", "read -t 0.1 <> <(:)"], check=False)
        raise AssertionError(f"{text!r} never came; the screen:\n{screen}")


@pytest.fixture
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    folder = tmp_path_factory.mktemp("t")
    yield Terminal(folder)
    command = ["tmux", "-S", str(folder / "tmux"), "kill-server"]
    subprocess.run(command, capture_output=True, check=False)


def test_a_prompt_answers_one_question_after_the_other_until_ctrl_d(
    terminal: Terminal, shop: Path
) -> None:
    terminal.start(shop, "ask")
    terminal.wait_for("ask>")
    terminal.tmux("send-keys", "How is the total of a cart made?", "Enter")
    screen = terminal.wait_for("answered with")
    assert "[x] Follow the calls of the best matches" in screen
    assert "The best match is Cart.total (shop/cart.py:12-14)" in screen
    terminal.wait_for("ask>", 2)
    terminal.tmux("send-keys", "Who calls price_of?", "Enter")
    terminal.wait_for("answered with", 2)
    terminal.wait_for("ask>", 3)
    terminal.tmux("send-keys", "C-d")
    assert "exit=0" in terminal.wait_for("exit=")
