"""The goal `sql-benchmark` on SQLite: what is achieved, and what only looks like it."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from retrai_core import GoalResult, RunContext
from retrai_goals_data.database.changed_copy import compare_on_changed_copy
from retrai_goals_data.database.connecting import opened
from retrai_goals_data.database.jobs import Dialect, Job, Target
from retrai_goals_data.database.keys_in_rows import keys_in_rows
from retrai_goals_data.database.main import do
from retrai_goals_data.database.reading import read_query
from retrai_goals_data.database.samples import compare_on_samples
from retrai_goals_data.database.unique_columns import (
    referring_in,
    unique_by_index,
    unique_together_in,
)
from retrai_goals_data.sql_goal import SqlBenchmark

MS = 60.0
FAST = """\
SELECT c.name, sum(o.total) AS spent
FROM orders o JOIN customers c ON c.id = o.customer_id
GROUP BY c.id, c.name
HAVING max(o.total) > 990
ORDER BY spent DESC, c.name
"""
Goals = Callable[..., SqlBenchmark]


@pytest.fixture
def goal(project: Path, new_goal: Callable[..., Any]) -> SqlBenchmark:
    return new_goal(
        SqlBenchmark, dsn="sqlite:///shop.db", query_file="report.sql", max_ms=MS, runs=3
    )


def execute(project: Path, *statements: str) -> None:
    with closing(sqlite3.connect(project / "shop.db")) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def rewrite(project: Path, query: str) -> None:
    (project / "report.sql").write_text(query, encoding="utf-8")


async def after(goal: SqlBenchmark, project: Path, change: Callable[[], object]) -> GoalResult:
    """What the check says after a change, having seen the project before it."""
    before = await goal.check({}, project)
    assert not before.achieved
    assert "it is too slow" in before.reason, before.details
    change()
    return await goal.check({}, project)


async def test_an_index_makes_it_fast_enough(goal: SqlBenchmark, project: Path) -> None:
    index = "CREATE INDEX by_customer ON orders (customer_id, total)"
    state = await goal.external_state(project)
    result = await after(goal, project, lambda: execute(project, index))
    assert result.achieved, result.details
    assert result.reason.startswith("median ")
    assert result.report is not None
    assert set(result.report.cases.values()) == {"passed"}
    assert len(result.report.cases) == 4
    assert "USING COVERING INDEX by_customer" in result.details
    assert await goal.external_state(project) != state


async def test_a_query_that_asks_the_same_otherwise_makes_it_fast_enough(
    goal: SqlBenchmark, project: Path
) -> None:
    result = await after(goal, project, lambda: rewrite(project, FAST))
    assert result.achieved, result.details
    assert "not compared" not in result.reason


async def test_the_plan_is_told(goal: SqlBenchmark, project: Path) -> None:
    result = await goal.check({}, project)
    assert "SCAN" in result.details
    assert "CORRELATED SCALAR SUBQUERY" in result.details


async def test_a_clean_copy_is_judged_by_the_same_answer(
    goal: SqlBenchmark, project: Path, tmp_path: Path
) -> None:
    await goal.check({}, project)
    copy = tmp_path / "copy"
    shutil.copytree(project, copy)
    rewrite(copy, FAST)
    assert (await goal.check({}, copy)).achieved
    assert not (await goal.check({}, project)).achieved


CHEATS = {
    "fewer rows": FAST.replace("> 990", "> 995"),
    "a limit": f"{FAST} LIMIT 5",
    "another column name": FAST.replace("AS spent", "AS total").replace("BY spent", "BY total"),
    "another order": FAST.replace("DESC, c.name", "ASC, c.name"),
    "rounded too far": FAST.replace("sum(o.total) AS", "round(sum(o.total)) AS"),
}


@pytest.mark.parametrize("query", CHEATS.values(), ids=list(CHEATS))
async def test_other_rows_are_not_the_same_answer(
    goal: SqlBenchmark, project: Path, query: str
) -> None:
    result = await after(goal, project, lambda: rewrite(project, query))
    assert not result.achieved
    assert "it gives other rows than at the start" in result.reason


async def test_how_the_rows_differ_is_told(goal: SqlBenchmark, project: Path) -> None:
    (name, spent), *_ = slow_rows(project)
    without_first = FAST.replace("HAVING", f"HAVING c.name <> '{name}' AND")
    result = await after(goal, project, lambda: rewrite(project, without_first))
    assert f"missing:\nname | spent\n{name} | {spent}" in result.details


async def test_rows_that_the_answer_does_not_need_may_not_be_deleted(
    goal: SqlBenchmark, project: Path
) -> None:
    keep = "SELECT customer_id FROM orders WHERE total > 990"
    result = await after(
        goal,
        project,
        lambda: execute(project, f"DELETE FROM orders WHERE customer_id NOT IN ({keep})"),
    )
    assert not result.achieved
    assert "the data was changed (orders has " in result.reason


async def test_values_may_not_be_changed_either(goal: SqlBenchmark, project: Path) -> None:
    result = await after(
        goal, project, lambda: execute(project, "UPDATE orders SET id = id + 1 WHERE id = 17")
    )
    assert "orders has other values" in result.reason


def slow_rows(project: Path) -> list[tuple[str, float]]:
    with closing(sqlite3.connect(project / "shop.db")) as connection:
        return connection.execute((project / "report.sql").read_text()).fetchall()


def written_down(project: Path) -> str:
    rows = slow_rows(project)
    first, *others = [f"SELECT '{name}' AS name, {spent!r} AS spent" for name, spent in rows]
    return " UNION ALL ".join([first, *others])


async def test_an_answer_that_is_written_down_reads_nothing_and_fails(
    goal: SqlBenchmark, project: Path
) -> None:
    text = written_down(project)
    result = await after(goal, project, lambda: rewrite(project, f"{text} ORDER BY 2 DESC, 1"))
    assert not result.achieved
    assert "on samples of the data it gives other rows" in result.reason


async def test_an_answer_behind_a_condition_that_only_this_data_meets_fails(
    goal: SqlBenchmark, project: Path
) -> None:
    known = "(SELECT count(*) FROM orders) = 9000"
    hidden = f"SELECT * FROM ({written_down(project)}) WHERE {known}"
    honest = FAST.partition("ORDER BY")[0]
    query = f"{hidden} UNION ALL SELECT * FROM ({honest}) WHERE NOT {known} ORDER BY 2 DESC, 1"
    result = await after(goal, project, lambda: rewrite(project, query))
    assert not result.achieved
    assert "values of the answer stand in the query itself" in result.details


async def test_ids_behind_such_a_condition_fail_too(goal: SqlBenchmark, project: Path) -> None:
    names = [name for name, _ in slow_rows(project)]
    numbers = ", ".join(name.removeprefix("customer ") for name in names)
    quick = f"c.id IN ({numbers}) AND (SELECT count(*) FROM orders) = 9000"
    right = "max(o.total) > 990 AND (SELECT count(*) FROM orders) <> 9000"
    query = FAST.replace("max(o.total) > 990", f"{quick} OR {right}")
    result = await after(goal, project, lambda: rewrite(project, query))
    assert not result.achieved
    assert "on a sample of the dealt-out data the rows are others" in result.details


def encoded(project: Path, known: str) -> str:
    """A query that holds its rows as characters, and gives them where a condition holds."""
    cents = [(int(name.split()[1]), round(spent * 100)) for name, spent in slow_rows(project)]
    coded = "".join(chr(256 + i) + chr(256 + n // 5000) + chr(256 + n % 5000) for i, n in cents)
    figures = [f"(unicode(substr(t, 3 * i + {place}, 1)) - 256)" for place in (1, 2, 3)]
    slow = (project / "report.sql").read_text().partition("\n")[2].partition("ORDER BY")[0]
    return (
        "WITH RECURSIVE n(i) AS"
        f" (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {len(cents) - 1}),"
        f" kept(t) AS (SELECT '{coded}') SELECT 'customer ' || {figures[0]} AS name,"
        f" ({figures[1]} * 5000 + {figures[2]}) / 100.0 AS spent FROM n, kept WHERE {known}"
        f" UNION ALL {slow.replace('WHERE EXISTS', f'WHERE NOT ({known}) AND EXISTS')}"
        " ORDER BY spent DESC, name"
    )


SOME_ROWS = (
    "(SELECT count(*) FROM orders WHERE total = CASE id WHEN 17 THEN {} WHEN 4021 THEN {} END) = 2"
)
ALL_ROWS = "(SELECT sum(id * CAST(total * 100 AS INTEGER) % 9973) FROM orders) = {}"
LIMITED = "(SELECT total FROM orders ORDER BY id DESC LIMIT 1) = {}"


@pytest.mark.parametrize(
    ("condition", "asked"),
    [
        (SOME_ROWS, "SELECT total FROM orders WHERE id IN (17, 4021) ORDER BY id"),
        (ALL_ROWS, "SELECT sum(id * CAST(total * 100 AS INTEGER) % 9973) FROM orders"),
        (LIMITED, "SELECT total FROM orders ORDER BY id DESC LIMIT 1"),
    ],
)
async def test_rows_that_are_known_again_by_some_or_all_of_the_data_fail_on_a_changed_copy(
    goal: SqlBenchmark, project: Path, tmp_path: Path, condition: str, asked: str
) -> None:
    with closing(sqlite3.connect(project / "shop.db")) as connection:
        values = [row[0] for row in connection.execute(asked)]
    await goal.check({}, project)
    rewrite(project, encoded(project, condition.format(*values)))
    copy = tmp_path / "copy"
    shutil.copytree(project, copy)
    result = await goal.check({"iteration": 1}, copy)
    assert not result.achieved
    # The rows are others, or they are right and as slow as they were.
    assert "on a copy with a few other rows" in result.details


@pytest.mark.parametrize("key", ["", "PRIMARY KEY"])
def test_a_changed_copy_has_other_rows_whether_a_table_has_a_key_or_not(
    tmp_path: Path, key: str
) -> None:
    file = tmp_path / "shop.db"
    rows = [(number, number % 150, number * 37 % 501) for number in range(3000)]
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(
            f"CREATE TABLE orders (id INTEGER {key}, customer INTEGER, total INTEGER)"
        )
        connection.executemany("INSERT INTO orders VALUES (?, ?, ?)", rows)
        connection.execute("CREATE TABLE names (customer INTEGER, name TEXT)")
        connection.executemany(
            "INSERT INTO names VALUES (?, 'c' || ?)", [(i, i) for i in range(150)]
        )
        connection.commit()
    slow = "SELECT name, sum(total) AS due FROM names JOIN orders USING (customer) GROUP BY name"
    with closing(sqlite3.connect(file)) as connection:
        known = " UNION ALL ".join(
            f"SELECT '{n}' AS name, {t} AS due" for n, t in connection.execute(slow)
        )
    queries = [read_query(text, "sqlite") for text in (slow, known)]
    target = Target("sqlite", path=str(file))
    sizes = {"orders": 3000, "names": 150}
    compared = compare_on_changed_copy(target, *queries, sizes, "salt", 100.0)
    assert "on a copy with a few other rows they are others: missing" in compared.differ


def target_of(
    file: Path, dialect: Dialect, made: Mapping[str, Sequence[Sequence[object]]]
) -> Target:
    """A new database file, with the rows of each table by its definition."""
    driver = sqlite3 if dialect == "sqlite" else pytest.importorskip("duckdb")
    with closing(driver.connect(str(file))) as connection:
        for table, rows in made.items():
            connection.execute(f"CREATE TABLE {table}")
            places = ", ".join("?" for _ in rows[0])
            connection.executemany(f"INSERT INTO {table.split()[0]} VALUES ({places})", rows)
        connection.commit()
    return Target(dialect, path=str(file))


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_a_changed_copy_has_more_rows(tmp_path: Path, dialect: Dialect) -> None:
    rows = [(number, f"day {number % 30}", number % 2) for number in range(500)]
    made = {"orders (id INTEGER PRIMARY KEY, day TEXT, paid INTEGER)": rows}
    target = target_of(tmp_path / "shop.db", dialect, made)
    slow = "SELECT day, paid, COUNT(*) AS n FROM orders GROUP BY day, paid"
    for condition, is_honest in (("id >= 0 AND paid IN (0, 1)", True), ("id < 500", False)):
        quick = slow.replace("GROUP", f"WHERE {condition} GROUP")
        queries = [read_query(text, dialect) for text in (slow, quick)]
        compared = compare_on_changed_copy(target, *queries, {"orders": 500}, "salt", 100.0)
        assert bool(compared.differ) is not is_honest
        assert compared.samples if is_honest else "they are others" in compared.differ


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_bounds_are_lowered_where_no_sample_reaches_them(tmp_path: Path, dialect: Dialect) -> None:
    rows = [(number, number % 200, 400 if number % 50 == 3 else 9) for number in range(8000)]
    made = {"visits (id INTEGER PRIMARY KEY, station INTEGER, minutes INTEGER)": rows}
    target = target_of(tmp_path / "visits.db", dialect, made)
    slow = "SELECT station, SUM(minutes) AS n FROM visits GROUP BY station HAVING n > 9000"
    quick = slow.replace(" GROUP", " WHERE {} GROUP")
    for other, is_honest in ((quick.format("id >= 0"), True), (quick.format("id % 50 = 3"), False)):
        queries = [read_query(text, dialect) for text in (slow, other)]
        with opened(target, timeout_s=20) as database:
            compared = compare_on_samples(database, *queries, {"visits": 8000}, "salt")
        assert bool(compared.differ) is not is_honest
        assert compared.samples > 0
    more = read_query(f"{slow} AND n + 1 > 9000", dialect)
    assert more.with_lower_bounds(read_query(slow, dialect)) is None


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_samples_stand_in_the_place_of_tables_with_the_usual_schema(
    tmp_path: Path, dialect: Dialect
) -> None:
    rows = [(number, number % 90) for number in range(3000)]
    made = {"visits (id INTEGER PRIMARY KEY, station INTEGER)": rows}
    target = target_of(tmp_path / "visits.db", dialect, made)
    slow = "SELECT main.visits.station FROM main.visits WHERE visits.station > 80"
    right = "WITH v AS (SELECT * FROM main.visits) SELECT station FROM v WHERE station > 80"
    hidden = "WITH visits AS (SELECT * FROM main.visits) SELECT visits.station FROM visits"
    for other, is_right in (
        (right, True),
        (f"{slow} AND id > 80", False),
        (f"{hidden} WHERE station > 80", True),
        (f"{hidden} AS v WHERE station > 80 AND id > 80".replace("visits.s", "v.s"), False),
    ):
        queries = [read_query(text, dialect) for text in (slow, other)]
        with opened(target, timeout_s=20) as database:
            compared = compare_on_samples(database, *queries, {"visits": 3000}, "salt")
        assert bool(compared.differ) is not is_right
        assert compared.samples or not is_right
    queries = read_query(slow, dialect).for_samples(read_query(hidden, dialect)) or ()
    assert [query.qualifies for query in queries] == [False, False]


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_no_rows_are_added_that_refer_to_none(tmp_path: Path, dialect: Dialect) -> None:
    made = {
        "users (id INTEGER PRIMARY KEY, name TEXT)": [(n, f"user {n}") for n in range(500)],
        "profiles (user INTEGER PRIMARY KEY REFERENCES users(id), city TEXT)": [
            (n, f"city {n % 9}") for n in range(500)
        ],
    }
    target = target_of(tmp_path / "shop.db", dialect, made)
    slow = "SELECT city, COUNT(*) AS n FROM profiles JOIN users ON id = user GROUP BY city"
    queries = [
        read_query(text, dialect) for text in (slow, slow.replace("JOIN users ON id = user", ""))
    ]
    assert not compare_on_changed_copy(target, *queries, {"profiles": 500}, "salt", 100.0).differ


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
@pytest.mark.parametrize(
    ("slow", "careless", "careful"),
    [
        (
            "SELECT a.id, COALESCE(a.days, 14) AS days FROM loans a",
            "SELECT id, days FROM loans",
            "SELECT id, CASE WHEN days IS NULL THEN 14 ELSE days END AS days FROM loans",
        ),
        (
            "SELECT count(*) AS n FROM loans a WHERE a.gone IS NULL",
            "SELECT count(*) AS n FROM loans",
            "SELECT count(*) - count(gone) AS n FROM loans",
        ),
        (
            "SELECT id FROM loans a WHERE NOT EXISTS (SELECT 1 FROM lost b WHERE b.loan = a.id)",
            "SELECT id FROM loans",
            "SELECT id FROM loans LEFT JOIN lost ON loan = id WHERE loan IS NULL",
        ),
        (
            "SELECT days, cents FROM loans a WHERE a.cents = (SELECT max(b.cents) FROM loans b)",
            "SELECT days, cents FROM loans ORDER BY cents DESC LIMIT 1",
            "SELECT days, cents FROM loans JOIN (SELECT max(cents) AS c FROM loans) ON cents = c",
        ),
    ],
)
def test_a_changed_copy_has_what_the_first_query_is_careful_about(
    tmp_path: Path, dialect: Dialect, slow: str, careless: str, careful: str
) -> None:
    loans = [(n, n % 20, n * 7 % 1009, None) for n in range(400)]
    made = {
        "loans (id INTEGER PRIMARY KEY, days INTEGER, cents INTEGER, gone TEXT)": loans,
        "lost (loan INTEGER, reason TEXT)": [(n + 9000, "late") for n in range(100)],
    }
    target = target_of(tmp_path / "shop.db", dialect, made)
    sizes = {"loans": 400, "lost": 100}
    for text, is_right in ((careless, False), (careful, True)):
        queries = [read_query(each, dialect) for each in (slow, text)]
        compared = compare_on_changed_copy(target, *queries, sizes, "salt", 100.0)
        assert (bool(compared.differ), compared.not_tried) == (not is_right, "")


@pytest.mark.parametrize(
    ("slow", "quick"),
    [
        (
            "SELECT a.id FROM rentals a LEFT JOIN lost b ON b.rental = a.id WHERE b.id IS NOT NULL",
            "SELECT a.id FROM rentals a JOIN lost b ON b.rental = a.id",
        ),
        (
            "SELECT a.id FROM rentals a JOIN coupons c ON a.coupon = c.code",
            "SELECT id FROM rentals WHERE coupon IS NOT NULL",
        ),
        (
            """SELECT p.id FROM paid p JOIN rentals r ON r.id = p.rental
            WHERE NOT EXISTS (SELECT 1 FROM refunds f WHERE f.rental = r.id)""",
            """SELECT id FROM paid p
            WHERE NOT EXISTS (SELECT 1 FROM refunds f WHERE f.rental = p.rental)""",
        ),
        (
            """SELECT r.id FROM paid p JOIN rentals r ON r.id = p.rental
            WHERE p.cents = (SELECT MAX(x.cents) FROM paid x)""",
            "SELECT rental AS id FROM paid WHERE cents = (SELECT MAX(cents) FROM paid)",
        ),
    ],
)
@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_keys_stay_as_they_are_on_a_changed_copy(
    tmp_path: Path, dialect: Dialect, slow: str, quick: str
) -> None:
    made = {
        "coupons (code TEXT PRIMARY KEY, percent INTEGER)": [("a", 1), ("b", 2)],
        "rentals (id INTEGER PRIMARY KEY, coupon TEXT REFERENCES coupons(code))": [
            (n, None) for n in range(300)
        ],
        "lost (id TEXT PRIMARY KEY, rental INTEGER)": [(f"x{n}", n * 3) for n in range(90)],
        "paid (id INTEGER PRIMARY KEY, rental INTEGER REFERENCES rentals(id), cents INTEGER)": [
            (n, n, n * 7 % 293) for n in range(300)
        ],
        "refunds (rental INTEGER, reason TEXT)": [(n + 900, "late") for n in range(50)],
    }
    target = target_of(tmp_path / "shop.db", dialect, made)
    sizes = {"coupons": 2, "rentals": 300, "lost": 90, "paid": 300, "refunds": 50}
    queries = [read_query(text, dialect) for text in (slow, quick)]
    compared = compare_on_changed_copy(target, *queries, sizes, "salt", 100.0)
    assert not compared.differ
    # DuckDB changes no row that another one refers to.
    assert dialect == "duckdb" or compared.samples


@pytest.mark.parametrize(
    ("slow", "quick"),
    [
        (
            """SELECT a.station, a.hour FROM readings a WHERE a.level > 3 + (SELECT b.level
            FROM readings b WHERE b.station = a.station AND b.hour = a.hour - 1)""",
            """SELECT station, hour FROM (SELECT *, LAG(hour) OVER w AS before,
            LAG(level) OVER w AS other FROM readings
            WINDOW w AS (PARTITION BY station ORDER BY hour))
            WHERE before = hour - 1 AND level > 3 + other""",
        ),
        (
            """SELECT a.station, a.level FROM readings a
            WHERE a.hour = (SELECT MAX(b.hour) FROM readings b WHERE b.station = a.station)""",
            """SELECT station, level FROM (SELECT *, ROW_NUMBER() OVER
            (PARTITION BY station ORDER BY hour DESC) AS place FROM readings) WHERE place = 1""",
        ),
        (
            "SELECT COUNT(DISTINCT day) AS days FROM visits WHERE station = 's3' AND kind = 'k2'",
            "SELECT COUNT(*) AS days FROM visits WHERE station = 's3' AND kind = 'k2'",
        ),
    ],
)
@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_what_is_unique_without_a_constraint_may_be_relied_on(
    tmp_path: Path, dialect: Dialect, slow: str, quick: str
) -> None:
    stations, hours = range(9), range(90)
    made = {
        "readings (station TEXT, hour INTEGER, level INTEGER)": [
            (f"s{s}", h, (s * 7 + h * h) % 11) for s in stations for h in hours
        ],
        "visits (station TEXT, day INTEGER, kind TEXT, people INTEGER)": [
            (f"s{s}", d, f"k{k}", (s + d * k) % 5)
            for s in stations
            for d in range(30)
            for k in range(4)
            if (s + d + k) % 3
        ],
    }
    target = target_of(tmp_path / "readings.db", dialect, made)
    queries = [read_query(each, dialect) for each in (slow, quick)]
    sizes = {"readings": 810} if "readings" in slow else {"visits": 720}
    with opened(target, timeout_s=20) as database:
        compared = compare_on_samples(database, *queries, sizes, "salt")
    assert (compared.differ, compared.samples) == ("", 3)
    compared = compare_on_changed_copy(target, *queries, sizes, "salt", 100.0)
    assert (compared.differ, compared.not_tried) == ("", "")


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_what_is_unique_by_chance_is_no_key(tmp_path: Path, dialect: Dialect) -> None:
    few = [(n % 45, n * n % 47, None if n == 3 else n % 6, n % 8, 0) for n in range(46)]
    grid = [(n // 40, n % 40, n // 40, n, n % 3) for n in range(2000)]
    columns = "(a INTEGER, b INTEGER, c INTEGER, d INTEGER, e INTEGER)"
    made = {f"few {columns}": few, f"grid {columns}": grid}
    assert len({row[:2] for row in few}) == len(few)
    with opened(target_of(tmp_path / "some.db", dialect, made), timeout_s=20) as database:
        assert keys_in_rows(database, '"few"') == []
        assert keys_in_rows(database, '"grid"') == [("a", "b"), ("b", "c")]
        assert keys_in_rows(database, '"nothing"') == []


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_a_key_of_the_rows_hides_no_answer_that_is_written_down(
    tmp_path: Path, dialect: Dialect
) -> None:
    readings = [(s, f"n{s}", h, (s * h) % 5) for s in range(9) for h in range(90)]
    columns = "(station INTEGER, name TEXT, hour INTEGER, level INTEGER)"
    target = target_of(tmp_path / "readings.db", dialect, {f"readings {columns}": readings})
    slow = "SELECT hour, SUM(level) AS n FROM readings WHERE name IN ('n3', 'n5') GROUP BY hour"
    known = slow.replace("name IN ('n3', 'n5')", "station IN (3, 5)")
    queries = [read_query(each, dialect) for each in (slow, known)]
    with opened(target, timeout_s=20) as database:
        keys = keys_in_rows(database, '"readings"')
        assert keys == [("station", "hour"), ("name", "hour")]
        assert compare_on_samples(database, *queries, {"readings": 810}, "salt").differ
    count_and_sum = sum(100_000 + hour for _, _, hour, _ in readings)
    slow = "SELECT COUNT(*) * 100000 + SUM(hour) AS n FROM readings"
    known = f"SELECT MAX({count_and_sum}) AS n FROM readings"
    queries = [read_query(each, dialect) for each in (slow, known)]
    compared = compare_on_changed_copy(target, *queries, {"readings": 810}, "salt", 100.0)
    assert "they are others" in compared.differ


@pytest.mark.parametrize(
    ("dialect", "index"),
    [
        ("sqlite", "CREATE UNIQUE INDEX every ON orders (id, day, paid)"),
        ("sqlite", "create unique index every on orders (id, day, paid) where 0"),
        ("sqlite", "CREATE UNIQUE INDEX every ON orders (abs(id), day)"),
        ("duckdb", "CREATE UNIQUE INDEX every ON orders (id, day, paid)"),
        ("sqlite", ""),
        ("duckdb", ""),
    ],
)
def test_a_key_of_all_columns_keeps_no_data_as_it_is(
    tmp_path: Path, dialect: Dialect, index: str
) -> None:
    rows = [(number, number % 30, number % 7) for number in range(700)]
    key = "" if index else ", PRIMARY KEY (id), UNIQUE (id, day, paid)"
    table = f"orders (id INTEGER, day INTEGER, paid INTEGER{key})"
    target = target_of(tmp_path / "shop.db", dialect, {table: rows})
    driver = sqlite3 if dialect == "sqlite" else pytest.importorskip("duckdb")
    with closing(driver.connect(target.path)) as connection:
        connection.execute(index)
        connection.commit()
    paid = sum(paid for _, day, paid in rows if day < 15)
    slow = "SELECT SUM(paid) AS n FROM orders WHERE day < 15"
    day_by_id = "SELECT SUM(paid) AS n FROM orders WHERE id % 30 < 15"
    for known in (day_by_id, f"SELECT MAX({paid}) AS n FROM orders"):
        queries = [read_query(each, dialect) for each in (slow, known)]
        with opened(target, timeout_s=20) as database:
            compared = compare_on_samples(database, *queries, {"orders": 700}, "salt")
        assert "dealt-out" in compared.differ or "sample" in compared.differ
        compared = compare_on_changed_copy(target, *queries, {"orders": 700}, "salt", 100.0)
        assert "they are others" in compared.differ


async def test_a_threshold_that_only_fits_this_data_fails(
    goal: SqlBenchmark, project: Path
) -> None:
    least = min(spent for _, spent in slow_rows(project))
    having = f"HAVING sum(o.total) >= {least!r} AND max(o.total) > 0"
    query = FAST.replace("HAVING max(o.total) > 990", having)
    before_samples = await after(goal, project, lambda: rewrite(project, query))
    assert not before_samples.achieved


async def test_an_answer_kept_in_another_table_is_not_read(
    goal: SqlBenchmark, project: Path
) -> None:
    def keep() -> None:
        execute(project, f"CREATE TABLE kept AS {FAST}")
        rewrite(project, "SELECT name, spent FROM kept ORDER BY spent DESC, name")

    result = await after(goal, project, keep)
    assert "it reads kept, which it did not read at the start" in result.reason


async def test_nor_under_the_name_of_a_part_of_the_query(goal: SqlBenchmark, project: Path) -> None:
    def keep() -> None:
        execute(project, f"CREATE TABLE kept AS {FAST}")
        query = "WITH kept AS (SELECT * FROM kept) SELECT name, spent FROM kept ORDER BY 2 DESC, 1"
        rewrite(project, query)

    assert "it reads kept" in (await after(goal, project, keep)).reason


async def test_a_table_of_the_same_name_in_its_place_is_seen(
    goal: SqlBenchmark, project: Path
) -> None:
    def swap() -> None:
        execute(
            project,
            "ALTER TABLE orders RENAME TO all_orders",
            "CREATE VIEW orders AS SELECT * FROM all_orders WHERE total > 990",
        )

    assert "the data was changed" in (await after(goal, project, swap)).reason


SPENT = """\
CREATE VIEW spent AS SELECT c.id, c.name, (
    SELECT sum(o.total) FROM orders o WHERE o.customer_id = c.id AND o.total > 900
) AS spent FROM customers c"""
SUMS = "CREATE VIEW sums AS SELECT * FROM spent"
OF_SPENT = "SELECT name, spent FROM spent ORDER BY spent DESC, name"
OF_SUMS = "SELECT name, spent FROM sums ORDER BY spent DESC, name"
KEPT = "CREATE TABLE kept AS SELECT * FROM spent"
REMADE: dict[str, tuple[str, list[str], str]] = {
    "a table in a view's place": (
        OF_SPENT,
        [KEPT, "DROP VIEW spent", "CREATE TABLE spent AS SELECT * FROM kept"],
        "spent is a table, and was a view at the start",
    ),
    "a view of a table in its place": (
        OF_SPENT,
        [KEPT, "DROP VIEW spent", "CREATE VIEW spent AS SELECT * FROM kept"],
        "the view spent is defined otherwise than at the start",
    ),
    "a table in the place of a view that a view reads": (
        OF_SUMS,
        [KEPT, "DROP VIEW spent", "CREATE TABLE spent AS SELECT * FROM kept"],
        "spent is a table, and was a view at the start",
    ),
    "a table in the place of a view that is named with its schema": (
        OF_SPENT.replace("FROM spent", "FROM main.spent"),
        [KEPT, "DROP VIEW spent", "CREATE TABLE spent AS SELECT * FROM kept"],
        "spent is a table, and was a view at the start",
    ),
    "a table in the place of a view whose name has a blank": (
        'SELECT name, spent FROM "of them" ORDER BY spent DESC, name',
        [KEPT, 'DROP VIEW "all spent"', 'CREATE TABLE "all spent" AS SELECT * FROM kept'],
        "all spent is a table, and was a view at the start",
    ),
}
BLANKS = (
    'CREATE VIEW "all spent" AS SELECT * FROM spent',
    'CREATE VIEW "of them" AS SELECT * FROM "all spent"',
)


@pytest.mark.parametrize(("query", "statements", "told"), REMADE.values(), ids=list(REMADE))
async def test_a_view_of_the_same_rows_may_not_become_a_table(
    project: Path, new_goal: Goals, query: str, statements: list[str], told: str
) -> None:
    execute(project, SPENT, SUMS, *BLANKS)
    rewrite(project, query)
    options = {"dsn": "sqlite:///shop.db", "query_file": "report.sql", "max_ms": 60_000, "runs": 1}
    goal = new_goal(SqlBenchmark, **options)
    first = await goal.check({}, project)
    assert first.achieved, first.details
    execute(project, *statements)
    result = await goal.check({}, project)
    assert not result.achieved
    assert result.reason.startswith(f"what is read was made anew ({told})")
    assert "`allow_redefined`" in result.details
    goal.options.allow_redefined = ["Spent", "all spent"]
    assert (await goal.check({}, project)).achieved


async def test_what_leaves_a_view_as_it_is_may_be_made(project: Path, new_goal: Goals) -> None:
    execute(project, SPENT, SUMS)
    rewrite(project, OF_SUMS)
    options = {"dsn": "sqlite:///shop.db", "query_file": "report.sql", "max_ms": 60_000, "runs": 1}
    goal = new_goal(SqlBenchmark, **options)
    assert (await goal.check({}, project)).achieved
    index = "CREATE INDEX by_customer ON orders (customer_id, total)"
    execute(project, index, "ANALYZE", "CREATE VIEW other AS SELECT 1", KEPT)
    execute(project, "DROP VIEW sums", SUMS.replace(" AS ", "\n  AS "))
    result = await goal.check({}, project)
    assert result.achieved, result.details


WRITING = [
    "DELETE FROM orders",
    "INSERT INTO orders VALUES (1, 1, 1)",
    "UPDATE orders SET total = 0 RETURNING *",
    "DROP TABLE orders",
    "PRAGMA journal_mode=DELETE",
    "PRAGMA writable_schema=ON",
    "ATTACH 'other.db' AS other",
    "VACUUM",
    "SELECT 1; DELETE FROM orders",
]


@pytest.mark.parametrize("query", WRITING)
def test_a_query_that_writes_is_refused_and_changes_nothing(project: Path, query: str) -> None:
    path = project / "shop.db"
    before = path.read_bytes()
    target = Target("sqlite", path=str(path))
    for kind in ("check", "bench"):
        report = do(Job(kind=kind, target=target, query=query))
        assert "refused" in report.problem or "give one" in report.problem
        assert report.answer is None
    assert path.read_bytes() == before


async def test_a_refused_query_is_no_verdict(goal: SqlBenchmark, project: Path) -> None:
    rewrite(project, "DELETE FROM orders")
    result = await goal.check({}, project)
    assert not result.achieved
    assert "this DELETE statement is refused" in result.reason
    assert result.report is not None
    assert not result.report.complete


async def test_a_query_that_may_write_is_rolled_back_each_time(
    project: Path, new_goal: Goals
) -> None:
    query = "UPDATE orders SET total = total + 1 WHERE customer_id = 3 RETURNING id"
    goal = new_goal(
        SqlBenchmark, dsn="sqlite:///shop.db", query=query, max_ms=60_000, allow_writes=True
    )
    before = (project / "shop.db").read_bytes()
    result = await goal.check({}, project)
    assert result.achieved, result.details
    assert (project / "shop.db").read_bytes() == before


async def test_a_database_in_wal_mode_gets_no_files_beside_it(
    project: Path, goal: SqlBenchmark
) -> None:
    execute(project, "PRAGMA journal_mode=WAL", "CREATE INDEX i ON orders (customer_id, total)")
    before = {path.name: path.read_bytes() for path in project.iterdir()}
    assert (await goal.check({}, project)).achieved
    assert {path.name: path.read_bytes() for path in project.iterdir()} == before


async def test_a_query_that_never_ends_is_ended(project: Path, new_goal: Goals) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    goal = new_goal(SqlBenchmark, dsn="sqlite:///shop.db", query=endless, max_ms=10, timeout_s=0.5)
    result = await goal.check({}, project)
    assert "took longer than 0.5 s" in result.reason
    assert result.report is not None
    assert not result.report.complete


async def test_rows_that_were_not_known_at_first_are_asked_of_the_first_query_later(
    project: Path, new_goal: Goals
) -> None:
    goal = new_goal(
        SqlBenchmark, dsn="sqlite:///shop.db", query_file="report.sql", max_ms=MS, timeout_s=0.02
    )
    assert "took longer than 0.02 s" in (await goal.check({}, project)).reason
    goal.options.timeout_s = 60.0
    rewrite(project, FAST.replace("> 990", "> 995"))
    result = await goal.check({}, project)
    assert "it gives other rows than at the start" in result.reason, result.reason
    rewrite(project, FAST)
    assert (await goal.check({}, project)).achieved


async def test_the_first_answer_outlives_the_process_that_saw_it(
    goal: SqlBenchmark, project: Path, context: RunContext
) -> None:
    await goal.check({}, project)
    rewrite(project, FAST.replace("> 990", "> 995"))
    resumed = SqlBenchmark(goal.options, context)
    assert "other rows" in (await resumed.check({}, project)).reason


async def test_rows_in_another_order_are_the_same_where_none_was_asked_for(
    project: Path, new_goal: Goals
) -> None:
    goal = new_goal(
        SqlBenchmark, dsn="sqlite:///shop.db", query_file="report.sql", max_ms=60_000, runs=1
    )
    rewrite(project, "SELECT id, total / 3 AS third FROM orders")
    await goal.check({}, project)
    rewrite(project, "SELECT id, total / 3.0 AS third FROM orders ORDER BY total")
    result = await goal.check({}, project)
    assert result.achieved, result.details


async def test_it_says_before_the_first_step_what_is_missing(
    project: Path, new_goal: Goals
) -> None:
    def ready(**options: object) -> Any:
        given = {"dsn": "sqlite:///shop.db", "query_file": "report.sql", "max_ms": MS}
        return new_goal(SqlBenchmark, **{**given, **options}).ready()

    assert await ready() is None
    assert "no database file" in await ready(dsn="sqlite:///missing.db")
    assert "query_file missing.sql: No such file" in await ready(query_file="missing.sql")
    (project / "text.db").write_text("this is no database at all, but a text that is long enough")
    assert "file is not a database" in await ready(dsn="sqlite:///text.db")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"dsn": "shop.db"}, "must be an address like"),
        ({"dsn": "mysql://host/shop"}, "mysql is not supported"),
        ({"dsn": "sqllite:///shop.db"}, "did you mean sqlite"),
        ({"dsn": "sqlite://shop.db"}, "three slashes"),
        ({"dsn": "sqlite:///:memory:"}, "holds nothing"),
        ({"max_ms": 0}, "greater than 0"),
        ({"runs": 0}, "greater than or equal to 1"),
        ({"timeout_s": -1}, "greater than 0"),
        ({"query_file": "../other.sql"}, "must be a file inside the project"),
        ({"query_file": ""}, "either query or query_file"),
        ({"query": "SELECT 1"}, "either query or query_file"),
        ({"order": "maybe"}, "'auto', 'yes' or 'no'"),
        ({"max_msec": 3}, "max_msec"),
    ],
)
def test_options_out_of_range_are_said(options: dict[str, object], said: str) -> None:
    given = {"dsn": "sqlite:///shop.db", "query_file": "report.sql", "max_ms": 10, **options}
    with pytest.raises(ValueError, match=said):
        SqlBenchmark.Options.model_validate(given)


def test_keys_and_unique_columns_are_found_however_they_are_declared(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    with closing(sqlite3.connect(path)) as base:
        base.executescript(
            'CREATE TABLE "a ""b" (x UNIQUE, y, "z""1", PRIMARY KEY ("z""1", y), UNIQUE (y, x));'
            "CREATE VIEW v AS SELECT 1 AS one; CREATE TABLE plain (x)"
            ";CREATE TABLE indexed (x, y REFERENCES plain(x)); CREATE UNIQUE INDEX i ON indexed (x)"
        )
    target = Target("sqlite", path=str(path))
    with opened(target, timeout_s=5) as database:
        assert unique_together_in(database)("indexed") == [[]]
        assert unique_by_index(database, "indexed") == [["x"]]
        assert referring_in(database)("indexed") == {"y"}
        unique_in = unique_together_in(database)
        found = [list(names) for names in unique_in('a "b') or ()]
        assert sorted(found) == [["x"], ['z"1', "y"]]
        assert [name for names in unique_in("v") or () for name in names] == []
        assert [name for names in unique_in("plain") or () for name in names] == []


def test_sqlite_has_the_functions_that_sqlalchemy_gives_it(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    sqlite3.connect(path).close()
    target = Target("sqlite", path=str(path))
    query = "SELECT 'orders' REGEXP '^or', NULL REGEXP 'a', floor(2.5)"
    report = do(Job(kind="bench", target=target, query=query, runs=1, show_rows=1))
    assert report.shown.splitlines()[1:] == ["1 | None | 2"], report.problem


@pytest.mark.parametrize(
    "query",
    [
        "SELECT text FROM notes WHERE notes MATCH 'tea'",
        "SELECT e.value FROM labels, json_each(labels.names) AS e LIMIT 1",
        "SELECT name FROM pragma_table_info('labels')",
    ],
)
def test_virtual_tables_can_be_read(tmp_path: Path, query: str) -> None:
    path = tmp_path / "t.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "CREATE VIRTUAL TABLE notes USING fts5(text); INSERT INTO notes VALUES ('tea, two');"
            "CREATE TABLE labels (names TEXT); INSERT INTO labels VALUES ('[1, 2]')"
        )
    target = Target("sqlite", path=str(path))
    report = do(Job(kind="bench", target=target, query=query, runs=1, show_rows=1))
    assert len(report.shown.splitlines()) == 2, report.problem
