"""The goal `ai-eval`: the frozen harness, run alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("retrai_goals_ai")

from retrai_goals_ai.ai_eval_goal import AiEvalGoal
from retrai_goals_ai.harness import HARNESS, sealed

TESTS = """
def test_short_words_come_first():
    from words import sort_words
    assert sort_words(["pear", "fig"]) == ["fig", "pear"]

def test_nothing_stays_nothing():
    from words import sort_words
    assert sort_words([]) == []
"""
WRONG = "def sort_words(words):\n    return words\n"
RIGHT = "def sort_words(words):\n    return sorted(words, key=lambda w: (len(w), w))\n"


def lay_out(project: Path, source: str, harness: str = TESTS) -> None:
    (project / ".retrai").mkdir(exist_ok=True)
    (project / HARNESS).write_text(sealed(harness), encoding="utf-8")
    (project / "words.py").write_text(source, encoding="utf-8")


async def test_the_harness_s_tests_are_the_cases(goals: Any) -> None:
    async with goals(AiEvalGoal) as goal:
        project = goal.context.project
        lay_out(project, WRONG)
        assert await goal.ready() is None
        before = await goal.check({}, project)
        (project / "words.py").write_text(RIGHT)
        after = await goal.check({}, project)
    ids = [f"{HARNESS}::test_short_words_come_first", f"{HARNESS}::test_nothing_stays_nothing"]
    assert (before.achieved, after.achieved) == (False, True)
    assert dict(before.report.cases) == {ids[0]: "failed", ids[1]: "passed"}
    assert list(after.report.cases) == ids


async def test_no_file_of_the_project_steers_the_harness(goals: Any) -> None:
    async with goals(AiEvalGoal) as goal:
        project = goal.context.project
        lay_out(project, WRONG)
        (project / "conftest.py").write_text(
            "import pytest\n\n@pytest.hookimpl(tryfirst=True)\n"
            "def pytest_pyfunc_call(pyfuncitem):\n    return True\n"
        )
        (project / "pytest.ini").write_text("[pytest]\naddopts = -k nothing --co\n")
        (project / ".retrai" / "words.py").write_text(RIGHT)
        result = await goal.check({}, project)
    assert not result.achieved
    assert sorted(result.report.cases.values()) == ["failed", "passed"]


async def test_a_project_with_a_src_folder_is_importable(goals: Any) -> None:
    async with goals(AiEvalGoal) as goal:
        project = goal.context.project
        lay_out(project, "")
        (project / "words.py").unlink()
        (project / "src").mkdir()
        (project / "src" / "words.py").write_text(RIGHT)
        assert (await goal.check({}, project)).achieved


async def test_what_is_missing_or_changed_is_said_before_the_run(goals: Any) -> None:
    async with goals(AiEvalGoal) as goal:
        project = goal.context.project
        assert "retrai generate-eval" in await goal.ready()
        lay_out(project, WRONG)
        path = project / HARNESS
        path.write_text(path.read_text().replace('["fig", "pear"]', '["pear", "fig"]'))
        assert "changed after it was generated" in await goal.ready()
        path.write_text("def test_by_hand():\n    assert True\n")
        assert await goal.ready() is None, "one that somebody wrote by hand needs no hash"
        path.write_text("no python at all !")
        assert "is no harness: it is no Python" in await goal.ready()


async def test_a_harness_that_vanishes_is_an_answer(goals: Any) -> None:
    async with goals(AiEvalGoal) as goal:
        result = await goal.check({}, goal.context.project)
    assert (result.achieved, result.reason) == (False, f"there is no {HARNESS}")


async def test_a_harness_that_hangs_is_ended(goals: Any) -> None:
    async with goals(AiEvalGoal, timeout_s=3) as goal:
        lay_out(goal.context.project, WRONG, "def test_it():\n    import time; time.sleep(1000)\n")
        result = await goal.check({}, goal.context.project)
    assert not result.achieved
    assert not result.report.complete


def test_source_that_looks_for_the_harness_is_suspect(goals: Any) -> None:
    goal = AiEvalGoal(AiEvalGoal.Options(), _NoRun())
    diff = "--- a/words.py\n+++ b/words.py\n@@ -1 +1,2 @@\n one\n+open('.retrai/eval_harness.py')\n"
    assert [found.reaches_runner for found in goal.audit(diff)] == [True]


class _NoRun:
    project = Path("/nowhere")
