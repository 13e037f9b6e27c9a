"""Which files of installed packages count as changed by a run."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from retrai_core import RunContext
from retrai_core.verification.node_packages import NodePackages, take_out
from retrai_core.workspace.safe_paths import SafeWorkspace

Changed = Callable[..., list[str]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


@pytest.fixture
def changed(project: Path, tmp_path: Path) -> Changed:
    def look(since_s: float = 0, allowed: str = "") -> list[str]:
        context = RunContext("r1", project, SafeWorkspace(project), sys.executable, tmp_path)
        return sorted(NodePackages(context, tmp_path / "kept", allowed.__eq__).changed(since_s))

    return look


def write(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"text of {name}\n", encoding="utf-8")


def test_packages_count_wherever_they_stand_and_caches_of_tools_do_not(
    project: Path, changed: Changed
) -> None:
    packages = [
        "node_modules/.bin/jest",
        "node_modules/.pnpm/pad@1/node_modules/pad/index.js",
        "node_modules/jest/.cache/more.js",
        "node_modules/jest/.git/more.js",
        "node_modules/jest/index.js",
        "src/node_modules/chai/index.js",
    ]
    write(project, *packages)
    write(project, "node_modules/.vite/results.json", "node_modules/.package-lock.json", "a.js")
    write(project, "env/pyvenv.cfg", "env/lib/node_modules/npm/index.js")
    assert changed() == packages
    assert changed(allowed=packages[-1]) == packages[:-1]


def test_a_changed_file_is_known_by_a_time_that_nobody_can_set(
    project: Path, changed: Changed
) -> None:
    name = "node_modules/jest/index.js"
    write(project, name)
    written = (project / name).lstat().st_ctime
    os.utime(project / name, (0, 0))
    assert changed(written - 1) == [name]
    assert changed(written + 3600) == []


def test_a_link_counts_as_changed_with_what_is_behind_it(
    project: Path, changed: Changed, tmp_path: Path
) -> None:
    write(tmp_path, "shared/node_modules/pad/index.js")
    (project / "node_modules").symlink_to(tmp_path / "shared" / "node_modules")
    linked = (project / "node_modules").lstat().st_ctime
    assert changed(linked - 1) == ["node_modules"]
    assert changed(linked + 3600) == []
    write(project, "out/pad/index.js")
    (project / "node_modules").unlink()
    (project / "node_modules").mkdir()
    (project / "node_modules" / "pad").symlink_to("../out/pad")
    assert changed() == ["node_modules/pad"]


def test_what_is_taken_out_of_a_copy_leaves_no_empty_package(project: Path) -> None:
    write(project, "node_modules/pad/lib/index.js", "node_modules/other/index.js")
    take_out(project, ["node_modules/pad/lib/index.js"])
    assert os.listdir(project / "node_modules") == ["other"]


def test_packages_are_restored_in_a_copy_and_nowhere_else(project: Path, tmp_path: Path) -> None:
    write(project, "packages/a/node_modules/pad/index.js")
    write(tmp_path / "copy", "moved/a/index.js")
    write(tmp_path / "elsewhere", "a/node_modules/mine.js")
    # A check has put a link there.
    (tmp_path / "copy" / "packages").symlink_to(tmp_path / "elsewhere")
    context = RunContext("r1", project, SafeWorkspace(project), sys.executable, tmp_path)
    NodePackages(context, tmp_path / "kept", "".__eq__).restore_as_changed(tmp_path / "copy")
    assert os.listdir(tmp_path / "elsewhere/a/node_modules") == ["mine.js"]
    assert os.listdir(tmp_path / "copy/packages/a/node_modules") == ["pad"]
