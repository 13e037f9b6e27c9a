"""The folders with option names of the original retrAI: each runs as it is, to its goal."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("retrai_goals_shell")
pytest.importorskip("retrai_goals_data")
pytest.importorskip("retrai_goals_ai")
pytest.importorskip("retrai_llm_litellm")

from retrai_testkit import FakeLLMServer, Turn, call

from ..goal_bench import EXAMPLES, Run, run_goal

__all__ = ["run_goal"]

FOLDER = EXAMPLES / "original_options"
GOALS = sorted(path.name for path in FOLDER.iterdir() if path.is_dir())
Call = tuple[str, dict[str, Any]]


def patch(path: str, old: str, new: str) -> Call:
    return "file_patch", {"path": path, "old": old, "new": new}


def write(path: str, content: str) -> Call:
    return "file_write", {"path": path, "content": content}


TRAIN = """\
import csv
import os

def rows(name):
    with open(os.environ.get(name) or "flowers.csv") as file:
        return list(csv.DictReader(file))

train = [(float(r["width"]), float(r["height"]), r["kind"]) for r in rows("RETRAI_TRAIN")]

def kind(width, height):
    return min(train, key=lambda t: (t[0] - width) ** 2 + (t[1] - height) ** 2)[2]

if "RETRAI_TEST_FEATURES" in os.environ:
    with open(os.environ["RETRAI_PREDICTIONS"], "w") as file:
        print("prediction", file=file)
        for row in rows("RETRAI_TEST_FEATURES"):
            print(kind(float(row["width"]), float(row["height"])), file=file)
"""
FAST = """\
//! Counts pairs.

/// How many pairs of different places hold equal numbers.
pub fn equal_pairs(numbers: &[u32]) -> u64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    sorted.chunk_by(|a, b| a == b).map(|c| (c.len() * (c.len() - 1) / 2) as u64).sum()
}
"""
GOOD = {
    "text-improve": "Restart the server if it stops.\n",
    "creative": "The lamp went out. Who lit it?\n",
    "score": "Sales rose by 4 percent in spring.\n",
}
INDEX = "CREATE INDEX by_customer ON orders (customer)"
FIXES: Mapping[str, list[Call]] = {
    "shell-goal": [patch("greet.py", "goodbye, world", "hello, world")],
    "perf-check": [patch("report.py", "    time.sleep(1.2)\n", "")],
    "sql-benchmark": [("sql_bench", {"query": INDEX})],
    "ml-optimize": [write("train.py", TRAIN)],
    "lint": [
        patch("prices.py", "import os\n\n\n", "\n"),
        patch("prices.py", "    unused = len(prices)\n", ""),
    ],
    "rust-optimize": [write("src/lib.rs", FAST)],
    "api-test": [patch("server.py", 'len(given["numbers"])', 'sum(given["numbers"])')],
    "text-improve": [write("final.md", GOOD["text-improve"])],
    "creative": [write("output.md", GOOD["creative"])],
    "score": [write("output.md", GOOD["score"])],
}
NEEDS = {"lint": "ruff", "rust-optimize": "cargo"}


class Judge(FakeLLMServer):
    """Likes what the fixes write, and nothing else."""

    def take_turn(self, request: dict[str, Any], key: str) -> tuple[int, Turn]:
        number, _ = super().take_turn(request, key)
        question = str(request["messages"][-1]["content"])
        text = question.rpartition("The text to be judged:\n")[2]
        score = 9 if any(good.strip() in text for good in GOOD.values()) else 3
        given = {"weaknesses": [], "manipulation": "", "reason": "As it is.", "score": score}
        return number, call("give_judgement", **given)


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> Iterator[Judge]:
    monkeypatch.setenv("LLM_API_KEY", "sk-for-the-loopback")
    with Judge() as server:
        yield server


@pytest.fixture
def project(goal: str, tmp_path: Path, judge: Judge) -> Path:
    """A copy of the folder: with its database, on a free port, with the judge's address."""
    folder = tmp_path / "project"
    shutil.copytree(FOLDER / goal, folder)
    if (folder / "make_database.py").exists():
        subprocess.run([sys.executable, "make_database.py"], cwd=folder, check=True)
    if goal == "api-test":
        with socket.create_server(("127.0.0.1", 0)) as found:
            port = str(found.getsockname()[1])
        for name in (".retrai.yml", "server.py"):
            text = (folder / name).read_text()
            (folder / name).write_text(text.replace("8765", port))
    if goal in GOOD:
        settings = yaml.safe_load((folder / ".retrai.yml").read_text())
        settings["judge_model"] = "openai/judge"
        settings["plugins"] = {"litellm": {"api_base": judge.base_url, "max_retries": 0}}
        (folder / ".retrai.yml").write_text(yaml.safe_dump(settings))
    return folder


def test_there_is_a_fix_for_every_folder() -> None:
    assert sorted(FIXES) == GOALS


@pytest.mark.parametrize("goal", GOALS)
def test_the_folder_runs_to_its_goal(goal: str, project: Path, run_goal: Run) -> None:
    program = NEEDS.get(goal)
    if program and shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    ended = run_goal(goal, project, *FIXES[goal])
    assert ended.outcome == (0, "achieved"), f"{ended.record['reason']}\n{ended.progress}"
    assert not ended.record["goals"][0]["before"]["achieved"]
