"""What commands in a sandbox can see and read is found out by trying."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from retrai_core import (
    Completed,
    RunContext,
    Sandbox,
    SandboxOptions,
    ToolError,
    UsageError,
)
from retrai_core.verification.guarded_sandbox import can_reach
from retrai_core.verification.holdout import Holdout
from retrai_core.workspace.safe_paths import SafeWorkspace


class Plain(Sandbox[SandboxOptions]):
    """Runs commands as they are; as root, as somebody who may not read everything."""

    name: ClassVar[str] = "plain"
    arranges_view: ClassVar[bool] = True

    async def run(self, command: Sequence[str] | str, **options: Any) -> Completed:
        user = {"user": 65534, "group": 65534} if os.geteuid() == 0 else {}
        process = await asyncio.create_subprocess_exec(*command, **user)
        return Completed(await process.wait(), "", "")


class Broken(Plain):
    """Does not start."""

    name: ClassVar[str] = "broken"

    async def run(self, command: Sequence[str] | str, **options: Any) -> Completed:
        raise ToolError("no user namespaces here")


@pytest.fixture
def project() -> Generator[Path]:
    with tempfile.TemporaryDirectory() as room:
        os.chmod(room, 0o755)
        (Path(room) / "tests").mkdir()
        (Path(room) / "tests" / "test_held.py").write_text("")
        yield Path(room)


def context(project: Path, run_dir: Path, kind: type[Plain]) -> RunContext:
    context = RunContext("r1", project, SafeWorkspace(project), sys.executable, run_dir)
    context.sandbox_part = kind(SandboxOptions(), context)
    return context


async def test_a_file_that_is_closed_is_seen_but_not_read(project: Path, tmp_path: Path) -> None:
    sandbox = context(project, tmp_path, Plain).sandbox
    held = project / "tests" / "test_held.py"
    held.chmod(0)
    assert await can_reach(sandbox, held, "-e")
    assert not await can_reach(sandbox, held, "-r")
    assert not await can_reach(sandbox, project / "none", "-e")


async def test_a_held_out_file_is_not_hidden_by_its_mode(project: Path, tmp_path: Path) -> None:
    (project / "tests" / "test_held.py").chmod(0)
    (tmp_path / "holdout").mkdir()
    holdout = Holdout(context(project, tmp_path, Plain), ["tests/**"])
    await holdout.find()
    with pytest.raises(UsageError, match="can see"):
        await holdout.require_hidden()


async def test_a_sandbox_that_does_not_start_says_so_itself(project: Path, tmp_path: Path) -> None:
    (tmp_path / "holdout").mkdir()
    holdout = Holdout(context(project, tmp_path, Broken), ["tests/**"])
    await holdout.find()
    with pytest.raises(ToolError, match="no user namespaces here"):
        await holdout.require_hidden()


async def test_held_out_files_are_laid_over_no_folder_outside_the_copy(
    project: Path, tmp_path: Path
) -> None:
    laid_over, home, copy = tmp_path / "held", tmp_path / "home", tmp_path / "copy"
    for folder in (laid_over / "tests" / "Documents", home / "Documents"):
        folder.mkdir(parents=True)
        (folder / "thesis").write_text(str(folder))
    copy.mkdir()
    (copy / "tests").symlink_to(home)  # made by the run
    holdout = Holdout(context(project, tmp_path, Plain), [str(laid_over)])
    await holdout.find()
    holdout.put_in(copy)
    assert (home / "Documents" / "thesis").read_text() == str(home / "Documents")
    assert (copy / "tests" / "Documents" / "thesis").exists()
    assert not (copy / "tests").is_symlink()
