"""A `retrai watch` in a process of its own."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from retrai_testkit import RetraiProject

TIMEOUT_S = 90


class Watched:
    """What it prints, line by line."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self._lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def next(self, kind: str) -> dict[str, Any]:
        """The next line, which is of this kind."""
        line = self._lines.get(timeout=TIMEOUT_S)
        assert line is not None, self.ended()
        said = json.loads(line)
        assert said["kind"] == kind, said
        return said

    def ended(self) -> tuple[int, str]:
        """The exit code and standard error, once it has ended."""
        code = self.process.wait(TIMEOUT_S)
        assert self.process.stderr is not None
        return code, self.process.stderr.read()

    def stop(self, number: signal.Signals = signal.SIGINT) -> tuple[int, str]:
        """Send a signal; how it ended."""
        self.process.send_signal(number)
        return self.ended()


def environment(project: RetraiProject) -> dict[str, str]:
    """The variables of a command of the project."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("RETRAI_")}
    return {**kept, **project.environment}


@contextmanager
def watching(project: RetraiProject, *arguments: str) -> Iterator[Watched]:
    """Watch a project until the block ends."""
    process = subprocess.Popen(
        [sys.executable, "-m", "retrai_core", "watch", "--json", "--debounce", "0.1", *arguments],
        cwd=project.folder,
        env=environment(project),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield Watched(process)
        finally:
            if process.poll() is None:
                process.kill()
