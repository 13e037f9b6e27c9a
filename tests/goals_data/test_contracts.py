"""The goals and tools of retrai-goals-data keep their contracts."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from retrai_goals_data.hypothesis_test_tool import HypothesisTest
from retrai_goals_data.ml_goal import MlOptimize
from retrai_goals_data.ml_train_tool import MlTrain
from retrai_goals_data.sql_bench_tool import SqlBench
from retrai_goals_data.sql_goal import SqlBenchmark
from retrai_goals_data.visualize_tool import Visualize
from retrai_testkit import (
    EndlessCall,
    GoalConformance,
    NotApplicable,
    ToolConformance,
    ToolExample,
)

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


def write_database(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "shop.db")) as connection:
        connection.execute("CREATE TABLE numbers (n INTEGER)")
        connection.executemany("INSERT INTO numbers VALUES (?)", [(n,) for n in range(80)])
        connection.commit()


class TestSqlBenchmark(GoalConformance):
    plugin = SqlBenchmark
    options = {"dsn": "sqlite:///shop.db", "query_file": "q.sql", "max_ms": 40, "runs": 1}
    bad_options = ({"max_ms": 0}, {"dsn": "nothing"}, {"query": "both"})
    endless_options = {"timeout_s": 0.5}

    def write_passing(self, folder: Path) -> None:
        write_database(folder)
        (folder / "q.sql").write_text("SELECT sum(n) AS total FROM numbers")

    def write_failing(self, folder: Path) -> None:
        write_database(folder)
        slow = "SELECT count(*) FROM numbers a, numbers b, numbers c, numbers d WHERE a.n * b.n > 9"
        (folder / "q.sql").write_text(slow)

    def write_broken(self, folder: Path) -> None:
        (folder / "shop.db").write_text("no database, though as long as the head of one is" * 9)
        (folder / "q.sql").write_text("SELECT 1")

    def write_endless(self, folder: Path) -> None:
        write_database(folder)
        (folder / "q.sql").write_text(ENDLESS)


class TestMlOptimize(GoalConformance):
    plugin = MlOptimize
    options = {"train_script": "train.py", "target_metric": "accuracy", "target_value": 0.9}
    bad_options = ({"runs": 0}, {"target_value": "high"}, {"target_metric": "elegance"})
    endless_options = {"timeout_s": 0.5}

    def write_passing(self, folder: Path) -> None:
        (folder / "train.py").write_text("print('accuracy=0.95')\n")

    def write_failing(self, folder: Path) -> None:
        (folder / "train.py").write_text("print('accuracy=0.5')\n")

    def write_broken(self, folder: Path) -> None:
        (folder / "train.py").write_text("def (\n")

    def write_endless(self, folder: Path) -> None:
        (folder / "train.py").write_text("while True:\n    pass\n")


class TestSqlBench(ToolConformance):
    plugin = SqlBench
    bad_options = ({"timeout_s": 0}, {"max_runs": 0}, {"dsn": "nothing"})
    examples = (
        ToolExample({"query": "SELECT sum(n) AS total FROM numbers", "database": "shop.db"}),
        ToolExample(
            {"query": "DROP TABLE numbers", "database": "shop.db"}, ok=False, contains="refused"
        ),
    )
    bad_examples = (
        {"query": "SELECT 1", "database": "missing.db"},
        {"query": "SELECT 1", "database": "q.txt"},
        {"query": "SELECT 1"},
        {"query": "SELECT FROM WHERE", "database": "shop.db"},
        {"query": "SELECT x FROM nowhere", "database": "shop.db"},
    )
    path_argument = "database"
    long_example = {
        "query": "SELECT n, n * n, 'and some more text in each row' FROM numbers",
        "database": "shop.db",
        "rows": 100,
    }
    endless = EndlessCall({"query": ENDLESS, "database": "shop.db"}, {"timeout_s": 0.5})

    def write_project(self, folder: Path) -> None:
        write_database(folder)
        (folder / "q.txt").write_text("no database")


class OnATable(ToolConformance):
    def write_project(self, folder: Path) -> None:
        rows = "".join(f"{n % 7},{n * n % 11},{'yes' if n % 3 else 'no'}\n" for n in range(400))
        (folder / "t.csv").write_text(f"a,b,kind\n{rows}")


class TestMlTrain(OnATable):
    plugin = MlTrain
    bad_options = ({"timeout_s": 0},)
    examples = (
        ToolExample(
            {"path": "t.csv", "target": "kind", "estimators": ["dummy", "tree"]}, contains="tree"
        ),
    )
    bad_examples = (
        {"path": "missing.csv", "target": "kind"},
        {"path": "t.csv", "target": "kinds"},
    )
    path_argument = "path"
    long_example = NotApplicable("a line for each of at most nine estimators")
    endless = NotApplicable("a call of this size ends; its time-out is tried in test_data_tools")


class TestVisualize(OnATable):
    plugin = Visualize
    bad_options = ({"timeout_s": 0},)
    examples = (ToolExample({"path": "t.csv", "kind": "histogram", "output": "h.png"}),)
    bad_examples = (
        {"path": "missing.csv", "kind": "line", "output": "a.png"},
        {"path": "t.csv", "kind": "line", "output": "a.txt"},
        {"path": "t.csv", "kind": "line", "y": ["kind"], "output": "a.png"},
    )
    path_argument = "path"
    long_example = NotApplicable("its answer is one line")
    endless = NotApplicable("drawing ends by itself, and its time-out is the child's")


class TestHypothesisTest(OnATable):
    plugin = HypothesisTest
    bad_options = ({"timeout_s": 0},)
    examples = (
        ToolExample(
            {"path": "t.csv", "test": "t_test", "columns": ["a", "b"]}, contains="Cohen's d"
        ),
    )
    bad_examples = (
        {"path": "missing.csv", "test": "t_test", "columns": ["a", "b"]},
        {"path": "t.csv", "test": "t_test", "columns": ["a"]},
    )
    path_argument = "path"
    long_example = {"path": "t.csv", "test": "anova", "columns": ["a"], "group": "b"}
    endless = NotApplicable("a test ends by itself, and its time-out is the child's")
