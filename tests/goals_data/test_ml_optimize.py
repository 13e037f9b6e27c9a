"""The goal `ml-optimize`: what is achieved on held-out rows, and what a script only claims."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from retrai_core import RunContext
from retrai_goals_data.ml_goal import MlOptimize
from retrai_goals_data.ml_reporting import reported

EXAMPLE = Path(__file__).parents[2] / "examples" / "ml-optimize"
HELD_OUT = {
    "train_script": "train.py",
    "target_metric": "accuracy",
    "target_value": 0.9,
    "test_data": "../held-out/flowers.csv",
    "target": "kind",
}
Goals = Callable[..., MlOptimize]


@pytest.fixture
def flowers(context: RunContext) -> Path:
    """The example, whose straight line cannot learn."""
    shutil.copytree(EXAMPLE, context.project, dirs_exist_ok=True)
    subprocess.run([sys.executable, "seed.py"], cwd=context.project, check=True, timeout=60)
    return context.project


def change(project: Path, old: str, new: str) -> None:
    path = project / "train.py"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def use_a_tree(project: Path) -> None:
    change(project, "linear_model import LogisticRegression", "tree import DecisionTreeClassifier")
    change(project, "LogisticRegression()", "DecisionTreeClassifier(random_state=0)")


async def test_a_better_model_reaches_the_target_on_held_out_rows(
    flowers: Path, new_goal: Callable[..., Any]
) -> None:
    goal = new_goal(MlOptimize, **HELD_OUT)
    assert await goal.ready() is None
    before = await goal.check({}, flowers)
    assert not before.achieved
    assert "on 120 held-out rows, wanted >= 0.9" in before.reason
    use_a_tree(flowers)
    after = await goal.check({}, flowers)
    assert after.achieved, after.details
    assert await goal.check({}, flowers) == after
    assert after.report is not None
    twin = await goal.contradict(flowers, list(after.report.cases))
    assert list(twin.tried) == ["accuracy >= 0.9"]
    assert not twin.still_passed


async def test_the_script_gets_no_held_out_target(flowers: Path, new_goal: Goals) -> None:
    change(
        flowers, "rows = read", 'print(read(os.environ["RETRAI_TEST_FEATURES"])[0])\nrows = read'
    )
    result = await new_goal(MlOptimize, **HELD_OUT).check({}, flowers)
    assert "{'length': '" in result.details
    assert "'kind'" not in result.details


async def test_predictions_that_do_not_fit_are_said(flowers: Path, new_goal: Goals) -> None:
    goal = new_goal(MlOptimize, **HELD_OUT)
    change(flowers, "*answers]", "*answers[1:]]")
    assert "there are 119, for 120 held-out rows" in (await goal.check({}, flowers)).reason
    change(flowers, '["prediction",', '["answer",')
    change(flowers, "*answers[1:]]", "*answers]")
    assert "there is no column prediction" in (await goal.check({}, flowers)).reason
    change(flowers, "open(os.environ[", "open(os.environ[:0][")
    assert "ended with status 1: TypeError" in (await goal.check({}, flowers)).reason
    (flowers / "train.py").write_text("pass\n")
    assert "the script wrote no predictions" in (await goal.check({}, flowers)).reason


async def test_the_held_out_rows_are_those_of_the_first_check(
    flowers: Path, new_goal: Goals
) -> None:
    goal = new_goal(MlOptimize, **HELD_OUT)
    before = await goal.check({}, flowers)
    held_out = flowers.parent / "held-out" / "flowers.csv"
    held_out.write_text(held_out.read_text().replace("tulip", "rose"))
    assert (await goal.check({}, flowers)).reason == before.reason


async def test_a_figure_that_the_script_writes_down_is_as_good_without_anything_to_learn(
    flowers: Path, new_goal: Goals
) -> None:
    (flowers / "train.py").write_text("print('accuracy=0.97')\n")
    goal = new_goal(
        MlOptimize,
        train_script="train.py",
        target_metric="accuracy",
        target_value=0.9,
        target="kind",
    )
    result = await goal.check({}, flowers)
    assert result.achieved
    assert "accuracy 0.97 as the script itself says" in result.reason
    assert result.report is not None
    twin = await goal.contradict(flowers, list(result.report.cases))
    assert list(twin.still_passed) == ["accuracy >= 0.9"]


async def test_seeds_are_fixed_and_differ_from_run_to_run(
    context: RunContext, new_goal: Goals
) -> None:
    script = "import random\nprint({'loss': 0} and f'{{\"loss\": {random.random()}}}')\n"
    (context.project / "train.py").write_text(script)
    given = {"train_script": "train.py", "target_metric": "loss", "target_value": 1}
    goal = new_goal(MlOptimize, **given, runs=3)
    first = await goal.check({}, context.project)
    assert first.achieved
    assert "median of 3" in first.reason
    assert (await goal.check({}, context.project)).reason == first.reason
    other = new_goal(MlOptimize, **given, runs=3, seed=100)
    assert (await other.check({}, context.project)).reason != first.reason


@pytest.mark.parametrize(
    ("seed", "lucky", "is_kept"), [(4, {4}, True), (7, {7}, False), (7, {7, 1008}, True)]
)
async def test_a_new_seed_in_the_script_is_tried_with_two_others(
    context: RunContext, new_goal: Goals, seed: int, lucky: set[int], is_kept: bool
) -> None:
    text = (
        f"def split(random_state):\n    return 0.9 if random_state in {lucky} else 0.4\n\n\n"
        "print(f'accuracy={split(random_state=4)}')\n"
    )
    script = context.project / "train.py"
    script.write_text(text)
    given = {"train_script": "train.py", "target_metric": "accuracy", "target_value": 0.8}
    goal = new_goal(MlOptimize, **given)
    await goal.check({}, context.project)
    script.write_text(text.replace("=4", f"={seed}"))
    result = await goal.check({"iteration": 1}, context.project)
    assert result.achieved is is_kept, result.reason
    assert ("median of 3" in result.reason) is (seed != 4)
    assert script.read_text() == text.replace("=4", f"={seed}")


async def test_a_script_that_never_ends_is_ended(context: RunContext, new_goal: Goals) -> None:
    (context.project / "train.py").write_text("while True: pass\n")
    given = {"train_script": "train.py", "target_metric": "loss", "target_value": 1}
    result = await new_goal(MlOptimize, **given, timeout_s=0.5).check({}, context.project)
    assert "still running after 0.5 s" in result.reason
    assert result.report is not None
    assert not result.report.complete


async def test_it_says_before_the_first_step_what_is_missing(
    flowers: Path, new_goal: Goals
) -> None:
    def ready(**options: object) -> Any:
        return new_goal(MlOptimize, **{**HELD_OUT, **options}).ready()

    assert "no file missing.py" in await ready(train_script="missing.py")
    assert "No such file" in await ready(test_data="../missing.csv")
    assert "did you mean kind" in await ready(target="kinds")
    assert "lies in the project" in await ready(test_data="train.csv")
    assert await ready(test_data="train.csv", test_data_visible=True) is None


def test_what_bends_the_figure_is_looked_for(new_goal: Goals) -> None:
    goal = new_goal(MlOptimize, **HELD_OUT)
    lines = (
        "sklearn.metrics.accuracy_score = lambda *a: 1.0",
        "accuracy = 0.973",
        "answers = open('../held-out/flowers.csv')",
        "accuracy = model.score(x, y)",
    )
    diff = "--- a/train.py\n+++ b/train.py\n@@ -1 +1,4 @@\n" + "".join(f"+{one}\n" for one in lines)
    found = {one.line: one.reaches_runner for one in goal.audit(diff)}
    assert found == {1: True, 2: False, 3: True}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"target_metric": "acuracy"}, "did you mean accuracy"),
        ({"target": ""}, "test_data needs target"),
        ({"test_data": "", "target_metric": "elegance"}, "direction: say whether elegance"),
        ({"runs": 0}, "greater than or equal to 1"),
        ({"seed": -1}, "greater than or equal to 0"),
        ({"timeout_s": 0}, "greater than 0"),
        ({"target_value": "nan"}, "finite number"),
        ({"train_script": "../train.py"}, "must be a file inside the project"),
        ({"train_script": ""}, "at least 1 character"),
        ({"direction": ">"}, "'auto', '>=' or '<='"),
    ],
)
def test_options_out_of_range_are_said(options: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        MlOptimize.Options.model_validate({**HELD_OUT, **options})


@pytest.mark.parametrize(("name", "wanted"), [("f1", ">="), ("recall", ">="), ("loss", "<=")])
def test_the_direction_of_a_usual_metric_is_known(name: str, wanted: str) -> None:
    assert MlOptimize.Options.model_validate({"target_metric": name}).wanted == wanted


def test_less_is_better_where_it_is() -> None:
    given = {**HELD_OUT, "target_metric": "rmse", "target_value": 2}
    options: Any = MlOptimize.Options.model_validate(given)
    assert (options.wanted, options.reached(1.9), options.reached(2.1)) == ("<=", True, False)


@pytest.mark.parametrize(
    ("written", "printed", "value"),
    [
        ('{"f1": 0.5}', "f1=0.9", 0.5),
        ("", 'epoch 1\n{"f1": 0.25, "loss": 3}\n', 0.25),
        ("", "f1: 0.5\nf1: 0.75\n", 0.75),
        ("", "macro_f1=0.9", None),
        ("", "f1=nan", None),
        ('{"f1": NaN}', "", None),
        ('{"f1": true}', "", None),
        ('["f1"]', "", None),
    ],
)
def test_the_figure_is_read_where_it_is_reported(
    tmp_path: Path, written: str, printed: str, value: float | None
) -> None:
    (tmp_path / "metrics.json").write_text(written)
    found = reported(tmp_path / "metrics.json", printed, "f1")
    assert (found if isinstance(found, float) else None) == value
