"""Runs a project's pytest with the project's own interpreter and gives back every case by its id.

This is the documented library module of `retrai-goals-python`: other distributions may use
`run_pytest`, `render_failures`, `contradict_tests`, `PytestRun` and `Failure`.

The results come from pytest's own reports, which a small reporter (standard library only, put on
the interpreter's path for this run) writes to a pipe in a fresh folder outside the project. The
reporter changes no outcome: it lifts `--maxfail`, `-x` and `--stepwise` so that every case is seen,
goes on after collection errors, keeps pytest's cache outside the project, and asks for short
tracebacks.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from retrai_core import Limits, Sandbox, ToolError
from retrai_goal_support import CALL_RECORDER_FILES, Failure, fresh_folder

from .contradiction import contradict_tests
from .environment.probing import probe_environment, why_unusable
from .pytest.copied_project import CopiedProject
from .pytest.live_report import LiveReport
from .pytest.report_reading import make_run
from .pytest.run import PytestRun, render_failures
from .pytest.unrequested_plugins import disabling_arguments

__all__ = ["FAILED", "Failure", "PytestRun", "contradict_tests", "render_failures", "run_pytest"]

REPORTER = "_retrai_pytest_report"
OUTPUT_BYTES = 200_000
FAILED: Sequence[str] = ("*",)
"""For `run_pytest(record=...)`: all cases that do not pass."""


async def run_pytest(
    sandbox: Sandbox,
    python: str,
    cwd: Path,
    *,
    targets: Sequence[str] = (),
    extra_args: Sequence[str] = (),
    timeout_s: float = 120.0,
    max_chars_per_failure: int = 4000,
    env: Mapping[str, str] | None = None,
    copied: CopiedProject | None = None,
    outcomes_only: bool = False,
    record: Sequence[str] = (),
) -> PytestRun:
    """Run `PYTHON -m pytest` in `cwd` and read what every case came to.

    What a project does raises nothing: a crash, a hang, a missing pytest or an unreadable report
    is a run that is not `complete`, with the reason in `problem`.

    Args:
        sandbox: where the process is started.
        python: the project's interpreter (`context.python`), 3.7 or newer with pytest 6 or newer.
        cwd: the project, or a copy of it.
        targets: files, folders or test ids; all that pytest finds when empty.
        extra_args: more arguments for pytest, before the targets.
        timeout_s: wall-clock seconds for the whole run.
        max_chars_per_failure: the longest text of one failure, in characters.
        env: variables for the tests, beside the sandbox's own.
        copied: `cwd` lies in this copy of a project, and what would be imported from the original
            is imported from there.
        outcomes_only: leave out why a case failed; of thousands of failures the explanations take
            longer than the tests.
        record: ids of cases; what the project's code answered them is kept (`PytestRun.calls`).
            `FAILED`: of all cases that do not pass.

    Raises:
        ToolError: the folder of temporary files cannot hold a named pipe.

    Example:
        >>> import asyncio, sys, tempfile
        >>> from pathlib import Path
        >>> from retrai_core import ProcessOptions, RunContext
        >>> from retrai_core.workspace.safe_paths import SafeWorkspace
        >>> from retrai_sandbox_local.sandbox import LocalSandbox
        >>> project = Path(tempfile.mkdtemp()).resolve()
        >>> _ = (project / "test_one.py").write_text("def test_one():\\n    assert 1 + 1 == 2\\n")
        >>> context = RunContext("r1", project, SafeWorkspace(project), sys.executable, project)
        >>> sandbox = LocalSandbox(ProcessOptions(), context)
        >>> dict(asyncio.run(run_pytest(sandbox, sys.executable, project)).cases)
        {'test_one.py::test_one': 'passed'}
    """
    arguments = [*extra_args, *targets]
    command = (python, "-m", "pytest", *arguments)
    settings = {
        "outcomes_only": outcomes_only,
        "record": list(record),
        "imports": [str(copied.original), str(copied.copy), copied.roots] if copied else None,
    }
    disabling = await asyncio.to_thread(disabling_arguments, python, cwd, arguments, env)
    async with fresh_folder("retrai-pytest") as folder:
        await asyncio.to_thread(_lay_out, folder, settings)
        report = LiveReport(folder / "report")
        try:
            done = await sandbox.run(
                [python, "-m", "pytest", "-p", REPORTER, *disabling, *arguments],
                timeout_s=timeout_s,
                cwd=cwd,
                env=_variables(folder, env or {}, copied),
                limits=Limits(output_bytes=OUTPUT_BYTES),
                writable=[folder],
            )
        except ToolError as error:
            problem = f"{python} cannot be run: {error}"
            return PytestRun({}, (), False, -1, command, python, 0.0, problem)
        finally:
            await asyncio.to_thread(report.close)
        data, most = report.data, max_chars_per_failure
        run = await asyncio.to_thread(make_run, data, done, cwd, command, timeout_s, most, folder)
    if not run.complete and not run.pytest_version:
        # pytest never began: say so plainly when the reason is that it is not installed.
        found = await probe_environment(sandbox, python, "pytest", cwd)
        problem = why_unusable(found, python, "pytest")
        return replace(run, problem=problem, output_tail="") if problem else run
    return run


def _lay_out(folder: Path, settings: Mapping[str, object]) -> None:
    """The reporter in a folder of its own, for the path, and room for the report beside it."""
    (folder / "path").mkdir()
    own = (Path(__file__).parent / "inside").glob("*.py")
    for source in (*own, *CALL_RECORDER_FILES):
        shutil.copyfile(source, folder / "path" / source.name)
    whole = {**settings, "cache_dir": str(folder / "cache")}
    (folder / "settings.json").write_text(json.dumps(whole), encoding="utf-8")


def _variables(
    folder: Path, env: Mapping[str, str], copied: CopiedProject | None
) -> dict[str, str]:
    """What the process gets beside the sandbox's own variables, with `_lay_out`'s folder."""
    before = env.get("PYTHONPATH", os.environ.get("PYTHONPATH", ""))
    if copied:
        before = copied.import_path(before)
    return {
        # Compiled files and coverage data would be litter in the project; a stale compiled file
        # could even hide an edit made in the same second.
        "PYTHONDONTWRITEBYTECODE": "1",
        "COVERAGE_FILE": str(folder / "coverage"),
        **env,
        "RETRAI_PYTHONPATH_BEFORE": before,
        "RETRAI_PYTEST_REPORT": str(folder / "report"),
        "PYTHONPATH": os.pathsep.join(filter(None, [str(folder / "path"), before])),
    }
