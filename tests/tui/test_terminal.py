"""The command in a real terminal, and without one."""

from __future__ import annotations

import os
import pty
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil
import pytest

from retrai_testkit import RetraiProject, ScriptedModel, call

TIMEOUT_S = 90.0
needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


class Tmux:
    """A tmux server of its own."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket

    def call(self, *words: str) -> str:
        """What a command of tmux prints."""
        command = ["tmux", "-S", str(self._socket), "-f", "/dev/null", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
        return done.stdout

    def start(self, folder: Path, *arguments: str, columns: int = 80, rows: int = 24) -> None:
        """Open a session that runs `retrai tui`, and then says how it ended."""
        command = shlex.join([sys.executable, "-m", "retrai_core", "tui", *arguments])
        size = ["-x", str(columns), "-y", str(rows)]
        shell = f"{command}; echo exit=$?; exec sleep 1000"
        self.call("new-session", "-d", *size, "-c", str(folder), f"TERM=screen sh -c '{shell}'")

    def keys(self, *keys: str) -> None:
        """Type."""
        self.call("send-keys", *keys)

    def until(self, *texts: str) -> str:
        """The screen, once it shows all of these texts."""
        ends_at = time.monotonic() + TIMEOUT_S
        while True:
            shown = self.call("capture-pane", "-p")
            if all(text in shown for text in texts):
                return shown
            assert time.monotonic() < ends_at, f"{texts} are not in\n{shown}"
            time.sleep(0.1)


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Tmux]:
    """A terminal of 80 columns, 24 rows and 8 colours."""
    server = Tmux(tmp_path / "tmux")
    yield server
    server.call("kill-server")


@pytest.fixture
def project(retrai_project: RetraiProject) -> RetraiProject:
    """A run there wants `right` in a.txt, and asks after each iteration."""
    turns = [call("put_file", path="a.txt", text=text) for text in ("first try", "right")]
    wanted = {"goal": "expected-files", "options": {"files": {"a.txt": "right"}}}
    retrai_project.configure(**ScriptedModel().play(*turns).settings, **wanted, hitl_enabled=True)
    retrai_project.write({"a.txt": "wrong"})
    return retrai_project


@needs_tmux
def test_a_run_in_tmux_by_keys_alone(tmux: Tmux, project: RetraiProject) -> None:
    tmux.start(project.folder, "expected-files")
    shown = tmux.until("new run in", "models:", "[ Start ]", "[x] ask before each new iteration")
    assert max(map(len, shown.splitlines())) <= 80
    tmux.keys("C-s")
    tmux.until("w answers", "waiting")
    tmux.call("resize-window", "-x", "130", "-y", "30")
    tmux.until("w answers", "put_file")
    tmux.call("resize-window", "-x", "80", "-y", "24")
    tmux.keys("w")
    tmux.until("Approve", "End the run")
    tmux.keys("Enter")
    tmux.until("achieved", "iteration 2")
    tmux.keys("Escape")
    tmux.until("STATUS", "GOAL", "achieved")
    tmux.keys("q")
    tmux.until("exit=0")


@needs_tmux
def test_a_run_that_goes_on_is_named_at_the_end_and_the_terminal_is_given_back(
    tmux: Tmux, project: RetraiProject
) -> None:
    tmux.start(project.folder, "expected-files")
    tmux.until("models:")
    tmux.keys("C-s")
    tmux.until("w answers")
    pane = psutil.Process(int(tmux.call("display-message", "-p", "#{pane_pid}")))
    (tui,) = [child for child in pane.children(recursive=True) if "tui" in child.cmdline()]
    tui.send_signal(signal.SIGTERM)
    said = tmux.until("exit=0")
    assert "goes on (waiting): `retrai tui" in said
    run_id = said.split("run ", 1)[1].split()[0]
    done = project.command("runs", "cancel", run_id)
    assert "aborted" in done.stdout


def run_outside(project: RetraiProject, *arguments: str, **environment: str) -> tuple[int, str]:
    """The exit code and what is printed, on a terminal of which nobody is at the keys."""
    ours, theirs = pty.openpty()
    kept = {name: text for name, text in os.environ.items() if not name.startswith("RETRAI_")}
    try:
        done = subprocess.run(
            [sys.executable, "-m", "retrai_core", "tui", *arguments],
            cwd=project.folder,
            env={**kept, "TERM": "xterm", **project.environment, **environment},
            stdin=theirs,
            stdout=theirs,
            stderr=subprocess.PIPE,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    finally:
        os.close(ours)
        os.close(theirs)
    return done.returncode, done.stderr


def kinds(error: str) -> Sequence[str]:
    """What the lines of an error begin with."""
    return [line.partition(":")[0] for line in error.splitlines()]


def test_without_a_terminal_it_says_so_in_one_line(retrai_project: RetraiProject) -> None:
    done = retrai_project.command("tui")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "needs a terminal" in done.stderr
    assert kinds(done.stderr) == ["error", "hint"]


def test_bad_arguments_and_places_are_one_line_each(
    retrai_project: RetraiProject, tmp_path: Path
) -> None:
    for arguments, said in (
        (["no-such-run"], "no goal 'no-such-run', and no run"),
        (["-C", "no-such-folder"], "no such folder"),
    ):
        code, error = run_outside(retrai_project, *arguments)
        assert (code, kinds(error)) == (2, ["error", "hint"]), error
        assert said in error
    code, error = run_outside(retrai_project, TERM="dumb")
    assert (code, kinds(error)) == (2, ["error", "hint"]), error
    (tmp_path / "file").write_text("no folder")
    code, error = run_outside(retrai_project, RETRAI_STATE_DIR=str(tmp_path / "file"))
    assert (code, kinds(error)) == (70, ["error", "hint"]), error
    assert "state folder" in error


def test_textual_is_imported_by_its_own_command_alone(retrai_project: RetraiProject) -> None:
    retrai_project.write({"a.txt": "right"})
    retrai_project.configure(
        goal="expected-files", options={"files": {"a.txt": "right"}}, model="offline"
    )
    for words in (["--help"], ["run"], ["tui", "--help"]):
        code = (
            "import sys\nfrom retrai_core.cli.main import main\n"
            f"try:\n    main({words!r})\nexcept SystemExit:\n    pass\n"
            "print([name for name in ('textual',) if name in sys.modules])"
        )
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=retrai_project.folder,
            env={**os.environ, **retrai_project.environment},
            capture_output=True,
            text=True,
            check=True,
            timeout=TIMEOUT_S,
        )
        assert done.stdout.splitlines()[-1] == "[]", words
