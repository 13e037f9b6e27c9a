"""Records the calls of Python code, and makes them again in a process in which no tests run."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections import defaultdict
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import islice, zip_longest
from pathlib import Path

from pydantic import BaseModel, Field

from retrai_core import RecordedCall, Sandbox, fresh_folder

from .folders import bytes_of
from .replays import json_lines, play_calls

_INSIDE = Path(__file__).parent / "inside"
CALL_RECORDER_FILES = [_INSIDE / f"_retrai_{name}.py" for name in ("record", "values")]
"""What records calls in a Python process: modules that lie side by side on its path."""
_PROGRAM = _INSIDE / "_retrai_program.py"
_SITE = """\
import sys
import _retrai_program

_retrai_program.start()
del sys.modules["sitecustomize"]
try:
    import sitecustomize
except ImportError:
    pass
"""
_ANSWERS = "answers"
_MAX_PROCESSES, _MAX_BYTES, _MAX_LINES = 500, 5_000_000, 20_000
"""So much is read of what all processes recorded."""
_MAX_CALLS = 400
"""So many calls are made again."""
_MAX_NAMES = 500
_START = """\
def start():
    import json, sys
    values, replay, ordinary = [{{"__name__": name}} for name in ("values", "replay", "ordinary")]
    exec({values!r}, values)
    exec({replay!r}, replay)
    exec({ordinary!r}, ordinary)
    with open(sys.argv.pop()) as file:
        job = json.load(file)
    globals().clear()
    globals()["__name__"] = "__main__"
    replay["main"](job, values, ordinary["look_ordinary"]())

start()
"""


async def replay_python_calls(
    sandbox: Sandbox,
    python: str,
    root: Path,
    calls: Sequence[RecordedCall],
    *,
    paths: Sequence[str],
    modules: Sequence[str],
    neighbors: int,
    timeout_s: float,
    cpu_s: float,
    late: bool = False,
) -> list[RecordedCall]:
    """Make calls again in a process without tests.

    Args:
        sandbox: where it is started.
        python: the project's interpreter.
        root: the project or a copy of it, without tests.
        calls: as recorded.
        paths: where modules are imported from.
        modules: those of the project are imported first: what they register counts for the tests.
        neighbors: at most so many more calls, with arguments near the recorded ones.
        timeout_s: wall-clock seconds.
        cpu_s: seconds of processor time after which no more neighbors are asked, so that a busy
            machine hides no difference. One call may take half of it, and at most a second.
        late: add late answers, see `RecordedCall.late`.
    """
    names = ("values", "replay", "ordinary")
    inside = {name: (_INSIDE / f"_retrai_{name}.py").read_text("utf-8") for name in names}
    async with fresh_folder("tmp") as room:
        # A file: the project's code can read the command line, and no ordinary one has such a text.
        program = room / "app.py"
        await asyncio.to_thread(program.write_text, _START.format(**inside), "utf-8")
        return await play_calls(
            sandbox,
            [python, str(program)],
            {
                # As for a program that is started there, and not as a runner puts them.
                "paths": [str(root), *(path for path in paths if path != str(root))],
                "modules": list(modules),
                "neighbors": neighbors,
                "cpu_s": cpu_s,
                "late": late,
            },
            calls,
            root=root,
            timeout_s=timeout_s,
            env={"PYTHONHASHSEED": "1"},
            readable=[room],
        )


class _Line(BaseModel):
    """Of what a process recorded: its interpreter and its modules, or a call."""

    python: str = ""
    paths: list[str] = Field(default_factory=list[str])
    modules: list[str] = Field(default_factory=list[str])
    call: str = ""
    answer: str = ""
    again: str = ""


@dataclass(frozen=True)
class PythonRecorder:
    """Records in the Python processes that have its folder on their path.

    Attributes:
        folder: to be put first on PYTHONPATH; the processes must be allowed to write there.
        roots: the folders that hold the project, for its processes.
    """

    folder: Path
    roots: Sequence[Path]

    def read(self, case: str) -> PythonCalls:
        """What the processes of the first interpreter have recorded that have ended.

        Args:
            case: what made the calls.
        """
        python = ""
        paths, modules = dict[str, None](), dict[str, None]()
        calls = dict[tuple[str, str], RecordedCall]()
        for lines in self._processes():
            first = next(lines, _Line())
            python = python or first.python
            if first.python != python:
                continue
            paths |= dict.fromkeys(first.paths)
            modules |= dict.fromkeys(first.modules)
            for line in lines:
                one = RecordedCall(case, line.call, line.answer, line.again)
                calls.setdefault((line.call, line.answer), one)
        again = _in_turn([each for each in calls.values() if each.replay])
        chosen = dict.fromkeys(islice(again, _MAX_CALLS))
        left = [replace(each, replay="") for each in calls.values() if each not in chosen]
        return PythonCalls(
            [*chosen, *left],
            [self._in_project(path) for path in islice(paths, _MAX_NAMES)],
            list(islice(modules, _MAX_NAMES)),
            self._in_project(python),
        )

    def _processes(self) -> Iterator[Iterator[_Line]]:
        lines_left, bytes_left = _MAX_LINES, _MAX_BYTES
        for file in sorted((self.folder / _ANSWERS).iterdir())[:_MAX_PROCESSES]:
            data = bytes_of(file, bytes_left)
            lines = data.splitlines()[:lines_left]
            lines_left, bytes_left = lines_left - len(lines), bytes_left - len(data)
            yield json_lines(lines, _Line)

    def _in_project(self, path: str) -> str:
        root = next((one for one in self.roots if Path(path).is_relative_to(one)), None)
        return path if root is None else os.path.relpath(path, root)


def _in_turn(calls: Iterable[RecordedCall]) -> Iterator[RecordedCall]:
    """The first call of each function, the second of each, and so on."""
    by_function: defaultdict[str, list[RecordedCall]] = defaultdict(list)
    for each in calls:
        by_function[each.call.partition("(")[0]].append(each)
    for several in zip_longest(*by_function.values()):
        yield from (one for one in several if one is not None)


@dataclass(frozen=True)
class PythonCalls:
    """Calls that programs made.

    Attributes:
        calls: each once with the same answer, those first that can be made again.
        paths: where their modules are imported from; relative to the project what lies in it.
        modules: those that the calls go to.
        python: the interpreter, relative to the project where it lies in it.
    """

    calls: Sequence[RecordedCall] = ()
    paths: Sequence[str] = ()
    modules: Sequence[str] = ()
    python: str = ""


@asynccontextmanager
async def python_recorder(
    roots: Sequence[Path], files: Iterable[str]
) -> AsyncGenerator[PythonRecorder]:
    """What makes Python processes record the outermost calls with arguments into some files.

    Args:
        roots: the folders that hold the project, for its processes; they run in the first.
        files: those that are followed, relative to the project.

    Example:
        >>> import subprocess, sys, tempfile
        >>> project = Path(tempfile.mkdtemp())
        >>> _ = (project / "shop.py").write_text("def twice(n): return 2 * n")
        >>> async def record() -> list[str]:
        ...     async with python_recorder([project], ["shop.py"]) as recorder:
        ...         path = {**os.environ, "PYTHONPATH": str(recorder.folder)}
        ...         program = [sys.executable, "-c", "import shop; shop.twice(4)"]
        ...         subprocess.run(program, cwd=project, env=path, check=True)
        ...         return [f"{each.call}: {each.answer}" for each in recorder.read("demo").calls]
        >>> asyncio.run(record())
        ['twice(4): 8']
    """
    paths = [str(root / file) for root in roots for file in files]
    async with fresh_folder("tmp") as folder:
        settings = {"root": str(roots[0]), "files": paths, "answers": str(folder / _ANSWERS)}

        def lay_out() -> None:
            for file in (*CALL_RECORDER_FILES, _PROGRAM):
                shutil.copyfile(file, folder / file.name)
            (folder / "sitecustomize.py").write_text(_SITE)
            (folder / "settings.json").write_text(json.dumps(settings))
            (folder / _ANSWERS).mkdir()

        await asyncio.to_thread(lay_out)
        yield PythonRecorder(folder, roots)
