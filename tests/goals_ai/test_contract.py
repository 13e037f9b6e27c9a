"""The goals and the command keep their contracts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("retrai_goals_ai")

from retrai_goals_ai.ai_eval_goal import AiEvalGoal
from retrai_goals_ai.generate_eval import GenerateEval
from retrai_goals_ai.harness import HARNESS, sealed
from retrai_goals_ai.judged_goals import CreativeGoal, ScoreGoal, TextImproveGoal
from retrai_testkit import Bench, FrontendConformance, GoalConformance, NotApplicable

from .conftest import JUDGE, Judge, score, text_of


class TestAiEval(GoalConformance):
    plugin = AiEvalGoal
    bad_options = ({"timeout_s": 0},)
    endless_options = {"timeout_s": 1}

    def write_harness(self, folder: Path, code: str) -> None:
        (folder / ".retrai").mkdir(exist_ok=True)
        (folder / HARNESS).write_text(sealed(code))

    def write_passing(self, folder: Path) -> None:
        self.write_harness(folder, "def test_it():\n    assert True\n")

    def write_failing(self, folder: Path) -> None:
        self.write_harness(folder, "def test_it():\n    assert 1 == 2\n")

    def write_broken(self, folder: Path) -> None:
        self.write_harness(folder, "import os\nos._exit(0)\n\ndef test_it():\n    pass\n")

    def write_endless(self, folder: Path) -> None:
        self.write_harness(folder, "def test_it():\n    import time; time.sleep(1000)\n")


class WithAJudge(GoalConformance):
    """Goals whose judge likes spoons."""

    bad_options = ({"target_score": -1}, {"file": "../a.md"}, {"timeout_s": 0})
    options: Mapping[str, Any] = {"file": "a.md", "judge_model": JUDGE}

    def build(self, bench: Bench, options: Mapping[str, Any]) -> Any:
        """The context can make the judge's model, as a run's can."""
        judge = Judge()
        judge.answers = lambda question: score(9 if "spoon" in text_of(question) else 2)
        bench.context.models_part = lambda name, *_: judge.create(name, 0.0, bench.context)
        return super().build(bench, options)

    def write_passing(self, folder: Path) -> None:
        (folder / "a.md").write_text("A spoon.\n")

    def write_failing(self, folder: Path) -> None:
        (folder / "a.md").write_text("A fork.\n")

    def write_broken(self, folder: Path) -> NotApplicable:
        return NotApplicable("a judge that gives no score is tried in test_judging.py")

    def write_endless(self, folder: Path) -> NotApplicable:
        return NotApplicable("a judge that does not answer is the provider's to end")


class TestScore(WithAJudge):
    plugin = ScoreGoal
    options = {"file": "a.md", "judge_model": JUDGE, "rubric": "Spoons."}


class TestTextImprove(WithAJudge):
    plugin = TextImproveGoal


class TestCreative(WithAJudge):
    plugin = CreativeGoal
    options = {"file": "a.md", "judge_model": JUDGE, "brief": "On spoons."}


class TestGenerateEval(FrontendConformance):
    plugin = GenerateEval
    bad_arguments = ([], [""], ["-C", "/no/such/folder", "--seal"], ["x", "--timeout", "0"])
