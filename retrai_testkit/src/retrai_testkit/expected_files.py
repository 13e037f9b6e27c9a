"""A goal and a tool small enough to try out an agent, a provider or a hook in a real run."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field

from retrai_core import (
    CaseOutcome,
    CheckReport,
    GoalBase,
    GoalOptions,
    GoalResult,
    RunContext,
    Tool,
    ToolArgs,
    ToolResult,
)


class ExpectedFilesOptions(GoalOptions):
    """Which files must hold what."""

    files: dict[str, str] = Field(
        default_factory=dict[str, str], json_schema_extra={"loosens": True}
    )
    """Required text of each file, by path; surrounding white space is ignored."""


class ExpectedFiles(GoalBase[ExpectedFilesOptions]):
    """Each file holds its text: one case a file.

    Example:
        >>> ExpectedFilesOptions(files={"a.txt": "right"}).files
        {'a.txt': 'right'}
    """

    name: ClassVar[str] = "expected-files"
    summary: ClassVar[str] = "files contain given texts, for tests of plugins"
    needs: ClassVar[frozenset[str]] = frozenset({"read"})
    default_tools: ClassVar[Sequence[str]] = ("put_file",)

    async def check(self, state: Mapping[str, Any], cwd: Path) -> GoalResult:
        cases = await asyncio.to_thread(_compare, cwd, self.options.files)
        wrong = [name for name, outcome in cases.items() if outcome != "passed"]
        reason = f"{len(wrong)} of {len(cases)} files are wrong" if wrong else "all files are right"
        report = CheckReport(cases, command=["compare", *self.options.files])
        return GoalResult(bool(cases) and not wrong, reason, "\n".join(wrong), report)

    def system_prompt(self) -> str:
        wanted = "\n".join(f"{path}: {text}" for path, text in self.options.files.items())
        return f"Make these files hold these texts.\n{wanted}"


def _compare(folder: Path, files: Mapping[str, str]) -> dict[str, CaseOutcome]:
    cases: dict[str, CaseOutcome] = {}
    for path, text in files.items():
        file = folder / path
        found = file.read_text("utf-8", "replace").strip() if file.is_file() else None
        cases[path] = "passed" if found == text.strip() else "failed"
    return cases


class PutFileArgs(ToolArgs):
    """What to write where."""

    path: str = Field(description="The file, relative to the project.")
    text: str = Field(description="The file's whole content.")


class PutFile(Tool[PutFileArgs]):
    """Writes a file."""

    name: ClassVar[str] = "put_file"
    description: ClassVar[str] = "Write a file, for tests of plugins."
    needs: ClassVar[frozenset[str]] = frozenset({"write"})

    async def run(self, args: PutFileArgs, context: RunContext) -> ToolResult:
        data = args.text.encode()
        await asyncio.to_thread(context.workspace.write_bytes, args.path, data)
        return ToolResult(f"wrote {args.path}")
