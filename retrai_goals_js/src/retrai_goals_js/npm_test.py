"""The goal `npm-test`: every test that `npm test` runs passes."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from retrai_core import Completed, Detection, Marker
from retrai_goal_support import ShellWords, bytes_of

from .jest_report import read_jest_report
from .js_goal import JsGoal, JsOptions
from .node_programs import HOW_TO_INSTALL_NODE
from .node_report import read_node_report
from .package_json import (
    Runner,
    TestScript,
    find_test_script,
    read_package,
    runner_among_dependencies,
)
from .suite_run import MAX_BYTES, SuiteRun

PRIORITY = 70
REPORTERS: Mapping[Runner, str] = {
    "mocha": "retrai-reporter-for-mocha.cjs",
    "node": "retrai-reporter-for-node.mjs",
}
"""Programs of ours that write the report; they are put beside it."""
_ARGUMENTS: Mapping[Runner, Sequence[str]] = {
    "jest": ("--ci", "--json", "--outputFile={report}", "--watchAll=false"),
    "vitest": ("--run", "--reporter=default", "--reporter=json", "--outputFile.json={report}"),
    "mocha": ("--reporter", "{reporter}"),
    "node": (),
}


class NpmTestOptions(JsOptions):
    """Options of the goal `npm-test`."""

    script: str = Field(
        default="test", min_length=1, pattern=r"^[^-\s]\S*$", json_schema_extra={"runs": True}
    )
    """Script in package.json; its last command must be the test runner."""
    args: ShellWords = Field(default_factory=list[str], json_schema_extra={"loosens": True})
    """Additional arguments for the test runner, split like a shell line."""


class NpmTestGoal(JsGoal[NpmTestOptions]):
    """The project's own `npm test` ends well and every test passes, by the report of the runner:
    jest, vitest, mocha or node:test, found from the script. Each test is a case
    (`src/sum.test.ts::sum::adds`); those of the beginning must all be there and none may be newly
    skipped. The report goes outside the project; a runner that leaves none, because something ended
    its process, and a file that ends without running the tests it declares are no complete run."""

    name: ClassVar[str] = "npm-test"
    summary: ClassVar[str] = "every test passes (npm test: jest, vitest, mocha, node:test)"
    markers: ClassVar[Sequence[Marker]] = tuple(
        Marker("package.json", text, PRIORITY)
        for text in ("jest", "vitest", "mocha", "node --test", '"test"')
    )
    programs: ClassVar[Sequence[str]] = ("npm",)
    what: ClassVar[str] = (
        "every test that the project's own `npm test` runs passes, test by test, as its runner "
        "(jest, vitest, mocha or node:test) reports it"
    )
    one_test: ClassVar[str] = "`npm test -- FILE` runs one file with most runners"

    @classmethod
    def detect(cls, project: Path) -> Detection | None:
        package = read_package(project)
        if isinstance(package, str):
            return None
        found = find_test_script(package, "test")
        if not isinstance(found, str):
            return Detection(f"package.json: the script `{found.script}` runs {found.runner}")
        runner = runner_among_dependencies(package)
        return Detection(f"package.json: {runner} among the dependencies") if runner else None

    def command(self) -> Sequence[str]:
        rest = ["--", *self.options.args] if self.options.args else []
        return ["npm", "run", self.options.script, *rest]

    def program(self) -> str | None:
        return shutil.which("node")

    async def ready(self) -> str | None:
        folder = self.context.project / self.options.path
        if problem := await super().ready():
            return problem
        for program in ("node", "npm"):
            if shutil.which(program) is None:
                return f"{program} is not installed; {HOW_TO_INSTALL_NODE}"
        script = await asyncio.to_thread(self.script, folder)
        if isinstance(script, str):
            return script
        if not await asyncio.to_thread(_is_installed, script, folder):
            return f"{script.program} is not installed in {folder}; type `npm install` there"
        return None

    async def run_suite(self, folder: Path, reports: Path) -> tuple[SuiteRun, Completed | str]:
        script = await asyncio.to_thread(self.script, folder)
        if isinstance(script, str):
            return SuiteRun(), script
        report = reports / "report"
        reporter = reports / REPORTERS.get(script.runner, "")
        if script.runner in REPORTERS:
            source = Path(__file__).parent / "inside" / reporter.name
            await asyncio.to_thread(shutil.copyfile, source, reporter)
        arguments = [
            part.format(report=report, reporter=reporter) for part in _ARGUMENTS[script.runner]
        ]
        caches = self.context.run_dir / "npm-test"
        await asyncio.to_thread(caches.mkdir, parents=True, exist_ok=True)
        env = {
            "npm_config_cache": str(caches / "npm"),
            "npm_config_update_notifier": "false",
            "npm_config_fund": "false",
            "npm_config_audit": "false",
        }
        if script.program == "jest":
            arguments.append(f"--cacheDirectory={caches / 'jest'}")
        if script.runner == "node":
            env["NODE_OPTIONS"] = f"--test-reporter={reporter} --test-reporter-destination={report}"
        given = [*arguments, *self.options.args]
        command = [shutil.which("npm") or "npm", "run", script.script]
        command += ["--", *given] if given else []
        writable = [reports, caches]
        done = await self.start(command, folder, env, writable, self.options.timeout_s)
        data = await asyncio.to_thread(bytes_of, report, MAX_BYTES)
        read = read_node_report if script.runner == "node" else read_jest_report
        return await asyncio.to_thread(read, data, folder), done

    def script(self, folder: Path) -> TestScript | str:
        package = read_package(folder)
        if isinstance(package, str):
            return package
        return find_test_script(package, self.options.script)


def _is_installed(script: TestScript, folder: Path) -> bool:
    """Whether the runner can be found as npm would find it: here, or in a folder above."""
    if script.runner == "node":
        return True
    name = script.program.removeprefix("_")
    places = (folder, *folder.parents)
    there = any((place / "node_modules" / ".bin" / name).exists() for place in places)
    return there or shutil.which(name) is not None
