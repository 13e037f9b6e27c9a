"""Records the calls of the Python programs that a shell line starts, into what a run changed."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from retrai_core import Limits, RunContext
from retrai_goal_support import PythonCalls, fresh_folder, python_recorder

from ..edits import read_editable
from ..makefile import find_makefile
from ..trial_copy import temporary_folders, trial_copy
from .files import named_files

_SHELL_SETS_PATH = re.compile(r"(?<![$\w])PYTHONPATH=(?=[^\s=])")
_MAKE_SETS_PATH = re.compile(r"(?m)^((?:export[ \t]+)?PYTHONPATH[ \t]*)[:?]?=[ \t]*(?=\S)")


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
        folder, recording = trial.folder / path, str(recorder.folder)
        await asyncio.to_thread(_record_in_files, folder, shell_text, recording)
        known = os.environ.get("PYTHONPATH", "")
        await context.sandbox.run(
            [_record_in_shell(word, recording) for word in command],
            timeout_s=timeout_s,
            cwd=folder,
            env={
                "PYTHONPATH": os.pathsep.join(filter(None, [recording, known])),
                **temporary_folders(fresh),
            },
            limits=Limits(output_bytes=1000),
            writable=[recorder.folder, trial.room, fresh],
        )
        return await asyncio.to_thread(recorder.read, " ".join(command))


def _record_in_shell(text: str, recording: str) -> str:
    """A shell line with the recorder's folder put first wherever it sets PYTHONPATH."""
    first = f"{shlex.quote(recording)}{os.pathsep}"
    return _SHELL_SETS_PATH.sub(lambda found: found[0] + first, text)


def _record_in_files(folder: Path, shell_text: str, recording: str) -> None:
    """The same for a makefile and for the shell scripts that a shell line names."""
    makefile = find_makefile(folder)
    scripts = [folder / name for name in named_files(shell_text, folder) if name.endswith(".sh")]
    for file in ([makefile] if makefile else []) + scripts:
        # A link could lead to a file that is no copy.
        text = read_editable(file) if file.resolve().is_relative_to(folder.resolve()) else None
        if text is None or file.is_symlink():
            continue
        changed = _record_in_shell(text, recording)
        if file == makefile:
            # `?=` sets nothing that is set already.
            changed = _MAKE_SETS_PATH.sub(
                lambda found: f"{found[1]}:={recording}{os.pathsep}", changed
            )
        if changed != text:
            file.write_text(changed, encoding="utf-8")
