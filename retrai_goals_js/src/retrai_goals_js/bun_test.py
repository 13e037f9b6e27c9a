"""The goal `bun-test`: every test that `bun test` finds passes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from retrai_core import Completed, Detection, Marker
from retrai_goal_support import ShellWords, bytes_of

from .bun_report import read_bun_report
from .js_goal import JsGoal, JsOptions
from .node_programs import HOW_TO_INSTALL_BUN, find_bun
from .suite_run import MAX_BYTES, SuiteRun

PRIORITY = 60
LOCK_FILES = ("bun.lock", "bun.lockb")


class BunTestOptions(JsOptions):
    """Options of the goal `bun-test`."""

    targets: ShellWords = Field(default_factory=list[str], json_schema_extra={"loosens": True})
    """Files, folders or parts of paths to test; empty for all tests. Split like a shell line."""
    args: ShellWords = Field(default_factory=list[str], json_schema_extra={"loosens": True})
    """Additional arguments for `bun test` (`--timeout 10000`), split like a shell line."""


class BunTestGoal(JsGoal[BunTestOptions]):
    """`bun test` ends well and every test passes, by bun's JUnit report. Each test is a case
    (`src/sum.test.ts::sum::adds`); those of the beginning must all be there and none may be newly
    skipped. The report goes outside the project; a run that leaves none, because something ended
    the process, is no complete run. A file that cannot be loaded is a case that failed."""

    name: ClassVar[str] = "bun-test"
    summary: ClassVar[str] = "every test passes (bun test)"
    markers: ClassVar[Sequence[Marker]] = tuple(Marker(name, "", PRIORITY) for name in LOCK_FILES)
    programs: ClassVar[Sequence[str]] = ("bun",)
    what: ClassVar[str] = "every test that `bun test` finds in this project passes, test by test"
    one_test: ClassVar[str] = (
        "`bun test FILE` runs one file, `bun test -t NAME` the tests of a name"
    )

    @classmethod
    def detect(cls, project: Path) -> Detection | None:
        lock = next((name for name in LOCK_FILES if (project / name).is_file()), None)
        if lock is None or not (project / "package.json").is_file():
            return None
        return Detection(f"package.json with {lock}")

    def command(self) -> Sequence[str]:
        return ["bun", "test", *self.options.args, *self.options.targets]

    def program(self) -> str | None:
        return find_bun()

    async def ready(self) -> str | None:
        if problem := await super().ready():
            return problem
        bun = self.program()
        if bun is None:
            return f"bun is not installed; {HOW_TO_INSTALL_BUN}"
        version = await self.version()
        return None if version[:1].isdigit() else f"{bun} cannot be run: {version}"

    async def run_suite(self, folder: Path, reports: Path) -> tuple[SuiteRun, Completed | str]:
        report = reports / "report.xml"
        reporter = ["--reporter=junit", f"--reporter-outfile={report}"]
        command = [self.program() or "bun", "test", *reporter, *self.command()[2:]]
        # What bun has compiled before is not taken from where a command could have put it.
        env = {"BUN_RUNTIME_TRANSPILER_CACHE_PATH": "0"}
        done = await self.start(command, folder, env, [reports], self.options.timeout_s)
        data = await asyncio.to_thread(bytes_of, report, MAX_BYTES)
        printed = f"{done.stdout}\n{done.stderr}"
        return await asyncio.to_thread(read_bun_report, data, printed, folder), done
