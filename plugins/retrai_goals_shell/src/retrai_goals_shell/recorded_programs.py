"""Records the calls of the Python programs that a shell line starts, into what a run changed."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Sequence
from pathlib import Path

from retrai_core import Limits, RunContext
from retrai_goal_support import PythonCalls, fresh_folder, python_recorder

from .command_files import named_files
from .edits import read_editable
from .makefile import find_makefile
from .trial_copy import trial_copy

_SETS_PATH = re.compile(r"\bPYTHONPATH[ \t]*[:?]?=[ \t]*")


async def record_programs(
    context: RunContext,
    command: Sequence[str],
    shell_text: str,
    copy: Path,
    path: str,
    sources: Sequence[str],
    *,
    timeout_s: float,
) -> PythonCalls:
    """Start a command once more, in a copy of its own, with its Python programs recording.

    Args:
        context: of the run.
        command: what is started.
        shell_text: what the shell runs then.
        copy: a copy of the project.
        path: the folder that the command runs in, relative to the project.
        sources: the files whose calls are wanted, relative to the project.
        timeout_s: wall-clock seconds.

    Raises:
        OSError: there is no copy to start it in.
        ToolError: it cannot be started.
    """
    python = [source for source in sources if source.endswith(".py")]
    if not python:
        return PythonCalls()
    async with (
        trial_copy(copy, context.project) as trial,
        python_recorder([trial.folder, context.project], python) as recorder,
        fresh_folder("tmp") as fresh,
    ):
        leading = f"{recorder.folder}{os.pathsep}"
        folder = trial.folder / path
        await asyncio.to_thread(_lead_in_files, folder, shell_text, leading)
        await context.sandbox.run(
            [_lead(word, leading) for word in command],
            timeout_s=timeout_s,
            cwd=folder,
            env={
                "PYTHONPATH": f"{leading}{os.environ.get('PYTHONPATH', '')}",
                "TMPDIR": str(fresh),
                "XDG_CACHE_HOME": str(fresh / "cache"),
            },
            limits=Limits(output_bytes=1000),
            writable=[recorder.folder, trial.room, fresh],
        )
        return await asyncio.to_thread(recorder.read, " ".join(command))


def _lead(text: str, leading: str) -> str:
    """The text with something put first wherever it sets PYTHONPATH."""
    return _SETS_PATH.sub(lambda found: found[0] + leading, text)


def _lead_in_files(folder: Path, shell_text: str, leading: str) -> None:
    makefile = find_makefile(folder)
    named = [folder / name for name in named_files(shell_text, folder)]
    for file in ([makefile] if makefile else []) + named:
        text = read_editable(file)
        if text is not None and file.suffix != ".py" and _SETS_PATH.search(text):
            file.write_text(_lead(text, leading), encoding="utf-8")
