"""For each goal and runner a pair of whole runs: one that fixes, and a twin that fixes nothing."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from ..goal_bench import EXAMPLES, Run
from .conftest import JS, needs_bun, needs_npm, needs_runners
from .projects import PROJECTS, RIGHT, WRONG

LOOK = ("file_list", {"path": "."})
SHORT = ("jest", "vitest", "mocha")


def patch(path: str, old: str, new: str) -> tuple[str, dict[str, Any]]:
    return "file_patch", {"path": path, "old": old, "new": new}


MENDING = {
    "npm-test": [
        patch("src/slug.js", "[^a-z0-9]/g", "[^a-z0-9]+/g"),
        patch("src/slug.js", "let number = 1;", "let number = 2;"),
    ],
    "bun-test": [
        patch("src/intervals.ts", "next.start < last.end", "next.start <= last.end"),
        patch("src/intervals.ts", "last.end = next.end", "last.end = Math.max(last.end, next.end)"),
    ],
    **{name: [patch("src/total.js", WRONG, RIGHT)] for name in SHORT},
}
MARKS = {"npm-test": needs_npm, "bun-test": needs_bun}
KINDS = [pytest.param(name, marks=MARKS.get(name, needs_runners)) for name in MENDING]


@pytest.fixture
def make_project(tmp_path: Path) -> Any:
    def make(kind: str) -> tuple[str, Path]:
        project = tmp_path / "project"
        if kind not in SHORT:
            shutil.copytree(EXAMPLES / kind, project)
            return kind, project
        for name, text in PROJECTS[kind].items():
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            (project / name).write_text(text, encoding="utf-8")
        (project / "node_modules").symlink_to(JS / "node_modules")
        return "npm-test", project

    return make


@pytest.mark.parametrize("kind", KINDS)
def test_a_trajectory_that_mends_the_project_is_achieved(
    kind: str, make_project: Any, run_goal: Run
) -> None:
    goal, project = make_project(kind)
    ended = run_goal(goal, project, *MENDING[kind])
    assert ended.outcome == (0, "achieved"), ended.progress
    assert "pass" in ended.record["reason"]


@pytest.mark.parametrize("kind", KINDS)
def test_its_twin_that_mends_nothing_has_failed(
    kind: str, make_project: Any, run_goal: Run
) -> None:
    goal, project = make_project(kind)
    ended = run_goal(goal, project, LOOK, LOOK)
    assert ended.outcome == (1, "failed"), ended.progress
