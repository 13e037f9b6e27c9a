"""The tools `ml_train`, `visualize` and `hypothesis_test`, and what they say of bad tables."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from retrai_core import RunContext, ToolError, WorkspaceError
from retrai_goals_data.hypothesis_test_tool import HypothesisTest
from retrai_goals_data.ml_train_tool import MlTrain
from retrai_goals_data.visualize_tool import Visualize

Call = Callable[..., Any]
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def table(context: RunContext) -> None:
    """Numbers, a text with gaps, two classes and a number to predict."""
    draw = random.Random(3)
    lines = ["a,b,colour,kind,price"]
    for _ in range(60):
        a, b = draw.gauss(0, 1), draw.gauss(0, 1)
        colour = draw.choice(("red", "blue", ""))
        kind = "yes" if a + b > 0 else "no"
        lines.append(f"{a:.4f},{b if b > -1 else ''},{colour},{kind},{3 * a + 2:.4f}")
    (context.project / "t.csv").write_text("\n".join(lines) + "\n")


async def test_estimators_are_cross_validated(table: None, call: Call) -> None:
    names = ["dummy", "logistic", "tree"]
    result = await call(MlTrain, path="t.csv", target="kind", estimators=names, folds=3)
    scores = result.data["scores"]
    assert list(scores) == names
    assert scores["logistic"]["accuracy"]["mean"] > scores["dummy"]["accuracy"]["mean"]
    assert len(scores["tree"]["f1_macro"]["folds"]) == 3
    assert result.content.startswith("classification, 60 rows")
    again = await call(MlTrain, path="t.csv", target="kind", estimators=names, folds=3)
    assert again.data == result.data


async def test_a_number_is_predicted_by_regression(table: None, call: Call) -> None:
    result = await call(
        MlTrain, path="t.csv", target="price", features=["a", "colour"], estimators=["linear"]
    )
    assert result.data["task"] == "regression"
    assert result.data["scores"]["linear"]["r2"]["mean"] > 0.99
    assert result.data["scores"]["linear"]["rmse"]["mean"] >= 0


BAD = [
    ({"target": "kinds"}, "there is no column kinds; did you mean kind?"),
    ({"target": "kind", "features": ["aa"]}, "did you mean a?"),
    ({"target": "kind", "features": ["kind"]}, "cannot be a feature too"),
    ({"target": "kind", "estimators": ["forrest"]}, "did you mean forest?"),
    ({"target": "kind", "metrics": ["acuracy"]}, "did you mean accuracy?"),
    ({"target": "colour", "task": "regression"}, "the column colour is not numeric"),
    ({"target": "price", "task": "classification"}, "60 classes; is it a regression?"),
    ({"target": "kind", "path": "missing.csv"}, "missing.csv is not there"),
    ({"target": "kind", "path": "."}, "is a folder"),
]


@pytest.mark.parametrize(("args", "said"), BAD)
async def test_what_does_not_fit_the_table_is_said(
    table: None, call: Call, args: dict[str, object], said: str
) -> None:
    with pytest.raises(ToolError) as raised:
        await call(MlTrain, **{"path": "t.csv", **args})
    assert said in str(raised.value)


TABLES = [
    (b"", "it is empty"),
    (b"\n\n", "it is empty"),
    (b"a,b\n", "a header and no rows"),
    (b"a,b\n1,2\n3\n", "line 3 has 1 cell, and the header has 2"),
    (b"a,b\n1,2,3\n", "line 2 has 3 cells"),
    (b"a,a\n1,2\n", "names a more than once"),
    (b"a,\n1,2\n", "column 2 of the header has no name"),
    (b"\xff\xfe\x00a", "no UTF-8 text"),
    (b"a,b\n1,\x002\n", "NUL byte"),
    (b'a,y\n1,"2\n', "line 2: unexpected end of data"),
    (b"a,y\n" + b"1,x\n" * 6, "too few for 5 folds"),
    (b"a,y\n" + b"1,x\n" * 20, "only one class"),
    (b"a,y\n" + b"1,x\n" * 20 + b"2,z\n", "the class z has 1 rows, too few"),
    (b"a,y\n" + b"1,\n" * 20, "0 rows with a target"),
]


@pytest.mark.parametrize(("data", "said"), TABLES)
async def test_a_table_that_is_none_is_said(
    context: RunContext, call: Call, data: bytes, said: str
) -> None:
    (context.project / "bad.csv").write_bytes(data)
    with pytest.raises(ToolError, match=said):
        await call(MlTrain, path="bad.csv", target="y", estimators=["dummy"])


async def test_a_table_that_is_too_large_is_said(context: RunContext, call: Call) -> None:
    with (context.project / "huge.csv").open("wb") as file:
        file.truncate(60_000_000)
    with pytest.raises(ToolError, match="larger than 50 MB"):
        await call(MlTrain, path="huge.csv", target="y")


@pytest.mark.parametrize("kind", ["line", "bar", "scatter", "histogram", "box", "correlation"])
async def test_a_chart_is_drawn(table: None, context: RunContext, call: Call, kind: str) -> None:
    args = {"x": "a", "y": ["b", "price"]} if kind != "bar" else {"x": "kind", "y": ["price"]}
    result = await call(
        Visualize, kind=kind, path="t.csv", output=f"charts/{kind}.png", title="A title", **args
    )
    image = (context.project / "charts" / f"{kind}.png").read_bytes()
    assert image.startswith(PNG)
    assert result.data["path"] == f"charts/{kind}.png"
    assert result.data["pixels"] == [800, 500]
    width, height = int.from_bytes(image[16:20]), int.from_bytes(image[20:24])
    assert (width, height) == (800, 500)


async def test_a_chart_of_given_values(context: RunContext, call: Call) -> None:
    data = {"day": ["Mon", "Tue", "Wed"], "sales": [3, None, 5]}
    await call(Visualize, kind="line", data=data, x="day", output="sales.png", width=3, height=2)
    assert (context.project / "sales.png").read_bytes().startswith(PNG)


CHARTS = [
    ({"data": {"a": [1], "b": [1, 2]}}, "not of one length"),
    ({"data": {"a": []}}, "columns are empty"),
    ({"data": {"a": ["x"]}}, "no numeric column"),
    ({"data": {"a": [1]}, "y": ["c"]}, "there is no column c"),
    ({"data": {"a": [1]}, "kind": "scatter"}, "needs `x`"),
    ({"data": {"a": [1]}, "path": "t.csv"}, "either `path` or `data`"),
    ({"data": {"a": [1]}, "output": "a.jpg"}, "must end in .png"),
]


@pytest.mark.parametrize(("args", "said"), CHARTS)
async def test_a_chart_that_cannot_be_drawn_is_said(
    call: Call, context: RunContext, args: dict[str, object], said: str
) -> None:
    with pytest.raises(ToolError) as raised:
        await call(Visualize, **{"kind": "line", "output": "a.png", **args})
    assert said in str(raised.value)
    assert not list(context.project.iterdir())


async def test_a_chart_stays_in_the_project(call: Call) -> None:
    with pytest.raises(WorkspaceError):
        await call(Visualize, kind="line", data={"a": [1]}, output="../a.png")


ONE = [5.1, 4.9, 6.2, 5.8, 6.0, 5.5, 5.3, 6.7]
TWO = [6.9, 7.1, 6.8, 7.7, 8.0, 7.2, 7.5, 6.6]

TESTS = [
    ("t_test", [ONE, TWO], "Cohen's d", True),
    ("paired_t_test", [ONE, TWO], "Cohen's d of the differences", True),
    ("one_sample_t_test", [ONE], "Cohen's d", True),
    ("mann_whitney", [ONE, TWO], "rank-biserial correlation", True),
    ("anova", [ONE, TWO, [1.0, 2.0, 1.5]], "eta squared", True),
    ("shapiro", [ONE], "skewness", False),
    ("pearson", [ONE, TWO], "r squared", False),
    ("chi_square", [[30, 10], [12, 28]], "Cramér's V", True),
]


@pytest.mark.parametrize(("test", "samples", "effect", "significant"), TESTS)
async def test_a_hypothesis_is_tested(
    call: Call, test: str, samples: list[list[float]], effect: str, significant: bool
) -> None:
    result = await call(HypothesisTest, test=test, samples=samples)
    assert result.data["effect_name"] == effect
    assert result.data["significant"] is significant
    assert "p = " in result.content
    assert "Assumptions:\n- " in result.content


async def test_known_figures(call: Call) -> None:
    # By hand: means 2 and 4, variances 1 and 4, n = 3 each: t = -2 / sqrt(5/3).
    result = await call(HypothesisTest, test="t_test", samples=[[1, 2, 3], [2, 4, 6]])
    assert result.data["statistic"] == pytest.approx(-1.5491933, abs=1e-6)
    assert result.data["effect_size"] == pytest.approx(-2 / 2.5**0.5, abs=1e-9)
    # Four cells of expected 10: (|20 - 15| - 0.5)**2 / 15 and so on, with Yates's correction.
    result = await call(HypothesisTest, test="chi_square", samples=[[20, 10], [10, 20]])
    assert result.data["statistic"] == pytest.approx(4 * 4.5**2 / 15, abs=1e-9)
    result = await call(HypothesisTest, test="pearson", samples=[[1, 2, 3, 4], [2, 4, 6, 9]])
    assert result.data["effect_size"] == pytest.approx(11.5**2 / (5 * 26.75), abs=1e-9)


async def test_columns_of_a_table_are_tested(table: None, call: Call) -> None:
    by_group = await call(
        HypothesisTest, test="t_test", path="t.csv", columns=["price"], group="kind"
    )
    assert sum(by_group.data["n"]) == 60
    assert "yes: n " in by_group.content
    both = await call(HypothesisTest, test="pearson", path="t.csv", columns=["a", "price"])
    assert both.data["effect_size"] == pytest.approx(1.0, abs=1e-4)
    counts = await call(HypothesisTest, test="chi_square", path="t.csv", columns=["kind", "colour"])
    assert not counts.data["significant"]


HYPOTHESES = [
    ({"test": "t_test", "samples": [[1, 2]]}, "takes 2 samples, and 1 were given"),
    ({"test": "t_test", "samples": [[1], [2, 3]]}, "sample 1 has 1 values; at least 2"),
    ({"test": "shapiro", "samples": [[1, 2]]}, "at least 3"),
    ({"test": "paired_t_test", "samples": [[1, 2, 3], [1, 2]]}, "so they are no pairs"),
    ({"test": "t_test", "samples": [[1, 1], [1, 1]]}, "does not vary"),
    ({"test": "chi_square", "samples": [[1.5, 2], [3, 4]]}, "whole numbers"),
    ({"test": "chi_square", "samples": [[0, 0], [3, 4]]}, "is empty"),
    ({"test": "t_test", "samples": [[1, float("nan")], [1, 2]]}, "no finite number"),
    ({"test": "t_test"}, "either `path`"),
    ({"test": "t_test", "path": "t.csv"}, "name the columns"),
    ({"test": "t_test", "path": "t.csv", "columns": ["a", "kind"]}, "kind is not numeric"),
    ({"test": "anova", "path": "t.csv", "columns": ["a"], "group": "nope"}, "no column nope"),
]


@pytest.mark.parametrize(("args", "said"), HYPOTHESES)
async def test_what_cannot_be_tested_is_said(
    table: None, call: Call, args: dict[str, object], said: str
) -> None:
    with pytest.raises(ToolError) as raised:
        await call(HypothesisTest, **args)
    assert said in str(raised.value)


async def test_a_call_that_takes_too_long_is_ended(
    context: RunContext, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("retrai_goals_data.csv_input.START_S", 0.0)
    (context.project / "t.csv").write_text("a,y\n" + "1,2\n3,4\n" * 50)
    with pytest.raises(ToolError, match=r"took longer than 0\.05 s"):
        await call(MlTrain, {"timeout_s": 0.05}, path="t.csv", target="y")
