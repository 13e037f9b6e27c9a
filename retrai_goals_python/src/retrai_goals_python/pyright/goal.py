"""The goal `pyright`: the project has no type errors."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import shutil
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field

from retrai_core import (
    CaseOutcome,
    CheckReport,
    Completed,
    Contradiction,
    GoalResult,
    Limits,
    Marker,
    Suspicion,
    ToolError,
    make_clean_copy,
)
from retrai_goal_support import FolderOptions, ShellWords, fresh_folder, text_of

from ..environment.probing import how_to_install
from ..python_goal import PythonGoal
from ..python_source import write_files
from .audit import audit_types, became_any, moved_out_of_sight
from .false_type_guards import CALLER, guards_in
from .files import checked_files, read_configuration
from .hidden_errors import FirstErrors, HiddenErrors
from .output import (
    Diagnostic,
    PyrightReport,
    group_by_file,
    read_report,
    relative_path,
    render_diagnostics,
)
from .type_bypasses import HINT
from .type_excuses import REPORT_UNNECESSARY, excuses_in, unbound_returns

PRIORITY = 30
MAX_DETAILS = 16_000
GUARDS_TIMEOUT_S = 20.0
OUTPUT_BYTES = 20_000_000
_PYRIGHT = "'pyright[nodejs]'"
"""What to install; the extra brings Node.js along, which pyright runs on."""
PROMPT = """\
The goal is `pyright`: pyright reports no error for this project, with the configuration it has.

- Start from the diagnostics you are given: file, line, rule and the source line. One wrong \
annotation often causes many of them, so fix declarations before uses.
- Say what the code really does: narrow a type by checking it, give a function the annotation that \
fits all its callers, make None explicit. Behaviour must not change; run the tests if there are any.
- `# type: ignore`, `# pyright:` comments, excludes and looser rules are no solution: new ones are \
counted, and the goal does not hold with more of them. Nor is a cast, `getattr` or `Any` that only \
hides an error: pyright is asked again without it. pyright's configuration is protected.
- A missing import may mean a package that is not installed in the project's environment; say so \
instead of hiding it.
- No checked file may disappear.\
"""


class PyrightGoalOptions(FolderOptions):
    """Options of the goal `pyright`."""

    targets: ShellWords = Field(default_factory=list[str], json_schema_extra={"loosens": True})
    """Files and folders to check. Default: those of pyright's configuration."""
    level: Literal["error", "warning"] = Field(
        default="warning", json_schema_extra={"loosens": False}
    )
    """Lowest severity of the diagnostics that the model sees."""
    warnings_as_errors: bool = Field(default=False, json_schema_extra={"loosens": False})
    """Whether warnings also fail the goal."""
    timeout_s: float = Field(default=300.0, gt=0, json_schema_extra={"loosens": False})
    """Maximum wall-clock seconds for one run of pyright."""


class PyrightGoal(PythonGoal[PyrightGoalOptions]):
    """pyright reports no error."""

    name: ClassVar[str] = "pyright"
    summary: ClassVar[str] = "no type errors (pyright)"
    runner: ClassVar[str] = "pyright"
    markers: ClassVar[Sequence[Marker]] = (
        Marker("pyrightconfig.json", priority=PRIORITY),
        Marker("pyproject.toml", "[tool.pyright]", PRIORITY),
    )
    protects: ClassVar[str] = "pyrightconfig.json and pyproject.toml"
    steers: ClassVar[str] = (
        "new configuration of pyright, and files that change its types or its Python"
    )

    async def ready(self) -> str | None:
        python = self.context.python
        install = how_to_install(python, _PYRIGHT)
        command = find_pyright(python)
        if command is None:
            return f"pyright is not installed; {install}"
        try:
            done = await self._start([*command, "--version"], self.context.project)
        except ToolError as error:
            return f"pyright cannot be started: {error}; {install}"
        if done.exit_code == 0:
            return None
        said = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()[-1]
        # Without Node.js, pyright's Python package fetches one at its first start.
        return (
            "pyright cannot be started (it needs Node.js, or the network once to fetch it): "
            f"{said}; {install}"
        )

    async def check(self, state: Mapping[str, Any], cwd: Path) -> GoalResult:
        folder = cwd / self.options.path
        found = find_pyright(self.context.python)
        if found is None:
            problem = f"pyright is not installed; {how_to_install(self.context.python, _PYRIGHT)}"
            return self._incomplete(problem, ("pyright",))
        command = self._command(found, folder, self.options.targets)
        try:
            done = await self._start(command, folder)
        except ToolError as error:
            return self._incomplete(f"pyright cannot be started: {error}", command)
        if done.timed_out:
            problem = f"pyright was still running after {self.options.timeout_s:g} s"
            return self._incomplete(problem, command)
        report = read_report(done.stdout)
        # 0: no errors; 1: errors; all else: a crash, or settings that pyright cannot use.
        if report is None or done.exit_code not in (0, 1):
            said = (done.stderr.strip() or done.stdout.strip())[-3000:]
            last = (said.splitlines() or ["no output"])[-1]
            problem = f"pyright gave no result (exit status {done.exit_code}): {last}"
            return self._incomplete(problem, command, said)
        at_baseline = not state and cwd == self.context.project
        result = await asyncio.to_thread(self._judge, report, folder, command, at_baseline)
        if not result.achieved:
            return result
        first = await asyncio.to_thread(FirstErrors.load, self._first_errors)
        if first is None:
            return result
        hidden = await self._hidden_errors(first, cwd)
        if not hidden:
            return await self._without_unnecessary_ignores(result, first, cwd)
        return await asyncio.to_thread(self._with_hidden_errors, result, hidden, cwd)

    async def contradict(self, copy: Path, cases: Sequence[str]) -> Contradiction:
        first = await asyncio.to_thread(FirstErrors.load, self._first_errors)
        if first is None:
            return Contradiction()
        folder = copy / self.options.path
        names = checked_files(folder, self.options.targets)
        texts = await asyncio.to_thread(first.suspects, folder, names)
        hidden = HiddenErrors(folder, self._diagnostics, self._counts, first)
        found = await hidden.find(texts)
        if found:
            return Contradiction(list(found), list(found), next(iter(found.values())))
        guards = await asyncio.to_thread(first.guards)
        for name, text in texts.items():
            if guard := await self._false_guard(folder, text, guards):
                what = f"{name}: {guard} accepts values that are not of the promised type"
                return Contradiction([name], [name], what)
        return Contradiction(list(texts))

    async def _hidden_errors(self, first: FirstErrors, cwd: Path) -> list[Diagnostic]:
        """The first errors that only casts and the like hide, in files below `cwd`."""
        folder = cwd / self.options.path
        names = await asyncio.to_thread(checked_files, folder, self.options.targets)
        texts = await asyncio.to_thread(first.without_bypasses, folder, names)
        known = {*texts, *first.errors}
        said = await self._said_with(texts, [name for name in names if name in known], cwd)
        return await asyncio.to_thread(first.remaining, filter(self._counts, said), folder, texts)

    async def _without_unnecessary_ignores(
        self, result: GoalResult, first: FirstErrors, cwd: Path
    ) -> GoalResult:
        """The result, in which a new ignore comment that hides nothing from pyright is no excuse:
        another type checker may need it."""
        assert result.report is not None
        folder = cwd / self.options.path
        texts = await asyncio.to_thread(first.with_new_ignores, folder, result.report.excused)
        asked = {name: f"{text}\n{REPORT_UNNECESSARY}\n" for name, text in texts.items()}
        said = await self._said_with(asked, sorted(asked), cwd)
        excused = Counter(result.report.excused)
        excused -= await asyncio.to_thread(first.unnecessary_ignores, said, folder, texts)
        return replace(result, report=replace(result.report, excused=excused))

    async def _said_with(
        self, texts: Mapping[str, str], names: Sequence[str], cwd: Path
    ) -> list[Diagnostic]:
        """What pyright says of files below `cwd`, in a copy in which some have other texts."""
        if not texts:
            return []
        folder = cwd / self.options.path
        async with fresh_folder("retrai-pyright") as room:
            copy = room / cwd.name
            await asyncio.to_thread(make_clean_copy, cwd, copy, without=frozenset({".git"}))
            there = copy / self.options.path
            # A link in the copy may lead to a file of the project.
            files = {
                there / name: text.encode()
                for name, text in texts.items()
                if (there / name).is_file()
                and (there / name).resolve().is_relative_to(copy.resolve())
            }
            if not files:
                return []
            await asyncio.to_thread(write_files, files)
            asked = [name for name in names if (there / name).is_file()]
            return [
                found.model_copy(update={"file": str(folder / relative_path(found.file, there))})
                for found in await self._diagnostics(there, asked, readable=[room]) or ()
            ]

    def _with_hidden_errors(
        self, result: GoalResult, hidden: list[Diagnostic], cwd: Path
    ) -> GoalResult:
        folder = cwd / self.options.path
        files = {relative_path(found.file, folder) for found in hidden}
        assert result.report is not None
        cases = {**result.report.cases, **dict.fromkeys(files, "failed")}
        errors = "1 error is" if len(hidden) == 1 else f"{len(hidden)} errors are"
        reason = f"{errors} only hidden, by casts or the like: {', '.join(sorted(files))}"
        details = f"{render_diagnostics(hidden, folder, MAX_DETAILS)}\n\n{HINT}"
        return GoalResult(False, reason, details, replace(result.report, cases=cases))

    async def _false_guard(self, folder: Path, text: str, known: Mapping[str, list[str]]) -> str:
        """The name of a new type guard that accepts other values; empty where none does."""
        guards = guards_in(text).items()
        new = [(name, *each) for name, each in guards if known.get(name, [])[:3] != each[:3]]
        if not new:
            return ""
        done = await self.context.sandbox.run(
            [self.context.python, "-I", "-c", CALLER, json.dumps(new)],
            timeout_s=GUARDS_TIMEOUT_S,
            cwd=folder,
        )
        return done.stdout.strip().partition("\n")[0].strip('"')

    async def _diagnostics(
        self, folder: Path, names: Sequence[str], readable: Sequence[Path] = ()
    ) -> list[Diagnostic] | None:
        """What pyright says of some files; None where it says nothing."""
        found = find_pyright(self.context.python)
        if found is None:
            return None
        done = await self._start(self._command(found, folder, names), folder, readable)
        report = read_report(done.stdout)
        return report and report.general_diagnostics

    def _command(self, found: list[str], folder: Path, targets: Sequence[str]) -> list[str]:
        # The project's interpreter, unless pyright's own configuration names an environment.
        names_another = "venv" in read_configuration(folder)
        python = [] if names_another else ["--pythonpath", self.context.python]
        return [*found, "--outputjson", *python, *targets]

    @property
    def _first_errors(self) -> Path:
        return self.context.run_dir / "pyright" / "first.json"

    def _judge(
        self, report: PyrightReport, folder: Path, command: Sequence[str], at_baseline: bool
    ) -> GoalResult:
        bad = [found for found in report.general_diagnostics if self._counts(found)]
        failed = group_by_file(bad, folder)
        scope = checked_files(folder, self.options.targets)
        if bad and at_baseline:
            texts = {name: text_of(folder / name) for name in scope}
            FirstErrors(errors=failed, texts=texts).save(self._first_errors)
        cases: dict[str, CaseOutcome] = {
            name: "failed" if name in failed else "passed" for name in sorted({*scope, *failed})
        }
        wants_warnings = self.options.level == "warning" or self.options.warnings_as_errors
        severities = ("error", "warning") if wants_warnings else ("error",)
        shown = [found for found in report.general_diagnostics if found.severity in severities]
        total = report.summary.files_analyzed
        if not total:
            reason = "pyright found no file to check"
        elif bad:
            errors = "error" if len(bad) == 1 else "errors"
            reason = f"{len(bad)} {errors} in {len(failed)} of {total} files"
        else:
            reason = f"no errors in {total} {'file' if total == 1 else 'files'}"
        return GoalResult(
            bool(total) and not bad,
            reason,
            render_diagnostics(shown, folder, MAX_DETAILS),
            CheckReport(
                cases,
                command,
                self.context.python,
                excused=Counter(excuses_in(folder, cases)) + unbound_returns(report, folder),
                ids_may_change=True,
            ),
        )

    def system_prompt(self) -> str:
        return PROMPT

    def protected(self, project: Path) -> Sequence[str]:
        return ("pyrightconfig.json", "pyproject.toml")

    def steering(self, project: Path) -> Sequence[str]:
        return ("pyrightconfig.json", "pyproject.toml", "pyvenv.cfg", "__builtins__.pyi")

    def audit(self, diff: str) -> Sequence[Suspicion]:
        project, base = self.context.project, self.options.path
        names = checked_files(project / base, self.options.targets)
        checked = [f"{base}/{name}" for name in names]
        return [*audit_types(diff), *became_any(diff), *moved_out_of_sight(diff, project, checked)]

    def _counts(self, found: Diagnostic) -> bool:
        as_error = self.options.warnings_as_errors and found.severity == "warning"
        return found.severity == "error" or as_error

    async def _start(
        self, command: Sequence[str], folder: Path, readable: Sequence[Path] = ()
    ) -> Completed:
        return await self.context.sandbox.run(
            command,
            timeout_s=self.options.timeout_s,
            cwd=folder,
            env={"PYRIGHT_PYTHON_IGNORE_WARNINGS": "1", "PYTHONDONTWRITEBYTECODE": "1"},
            limits=Limits(output_bytes=OUTPUT_BYTES),
            readable=[Path(sys.prefix), *readable],
        )

    def _incomplete(self, problem: str, command: Sequence[str], details: str = "") -> GoalResult:
        report = CheckReport({}, command, self.context.python, complete=False)
        return GoalResult(False, problem, details, report)


def find_pyright(python: str) -> list[str] | None:
    """The command that starts pyright, or None where there is none.

    The project's own environment comes first, then PATH, then retrai's environment.

    Args:
        python: the project's interpreter.
    """
    found = shutil.which("pyright", path=Path(python).parent) or shutil.which("pyright")
    if found is not None:
        return [found]
    has_package = importlib.util.find_spec("pyright") is not None
    return [sys.executable, "-m", "pyright"] if has_package else None
