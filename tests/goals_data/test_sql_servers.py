"""The goal `sql-benchmark` and the tool `sql_bench` on DuckDB and on a PostgreSQL of their own."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

from retrai_core import RunContext
from retrai_goals_data.database.jobs import Job, Target
from retrai_goals_data.database.main import do
from retrai_goals_data.sql_bench_tool import SqlBench
from retrai_goals_data.sql_goal import SqlBenchmark

SLOW = (
    "SELECT c.name, (SELECT sum(o.total) FROM orders o WHERE o.customer_id = c.id) AS spent "
    "FROM customers c WHERE c.id % 10 = 3 ORDER BY spent DESC, c.name"
)
FAST = (
    "SELECT c.name, sum(o.total) AS spent FROM customers c LEFT JOIN orders o "
    "ON o.customer_id = c.id WHERE c.id % 10 = 3 GROUP BY c.id, c.name ORDER BY spent DESC, c.name"
)
FEWER = FAST.replace("LEFT JOIN", "JOIN")
TABLES = (
    "CREATE TABLE customers (id integer PRIMARY KEY, name text NOT NULL)",
    "CREATE TABLE orders (id integer, customer_id integer, total numeric(10, 2), tags text[])",
    "INSERT INTO customers SELECT i, 'customer ' || i FROM generate_series(0, 499) AS s(i)",
    """INSERT INTO orders
    SELECT i, i * 7919 % 480, (i * 7877 % 100000) / 100.0, ARRAY['a', 'b']
    FROM generate_series(0, 19999) AS s(i)""",
)
START_TIMEOUT_S = 60


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def binaries() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    return found[-1].parent if found else None


@pytest.fixture(scope="module")
def server() -> Generator[str]:
    """The address of a database `shop` on a server of these tests' own, without its scheme."""
    folder = binaries()
    if folder is None:
        pytest.skip("postgresql is not installed (Debian: postgresql)")
    pytest.importorskip("psycopg")
    room = Path(tempfile.mkdtemp(prefix="retrai-pg-"))
    user: dict[str, Any] = {}
    if os.geteuid() == 0:  # the server refuses to run as root
        who = pwd.getpwnam("nobody")
        os.chown(room, who.pw_uid, who.pw_gid)
        user = {"user": who.pw_uid, "group": who.pw_gid, "extra_groups": []}
    port, data = free_port(), room / "data"

    def run(*command: object) -> None:
        quiet = {"cwd": room, "timeout": START_TIMEOUT_S, "capture_output": True}
        subprocess.run([str(part) for part in command], check=True, **quiet, **user)

    setup = [folder / "initdb", "-D", data, "-U", "retrai", "-A", "trust", "--no-sync"]
    run(*setup, "--locale=C", "-E", "UTF8")
    settings = f"-p {port} -k {room} -c listen_addresses=127.0.0.1 -c fsync=off"
    control = [folder / "pg_ctl", "-D", data, "-w"]
    run(*control, "-l", room / "log", "-o", settings, "start")
    try:
        yield f"retrai@127.0.0.1:{port}"
    finally:
        run(*control, "-m", "immediate", "stop")
        shutil.rmtree(room, ignore_errors=True)


@pytest.fixture
def postgres(server: str, context: RunContext) -> str:
    """The address of a fresh database with the tables."""
    import psycopg

    with psycopg.connect(f"postgresql://{server}/postgres", autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS shop WITH (FORCE)")
        connection.execute("CREATE DATABASE shop")
    address = f"postgresql://{server}/shop"
    with psycopg.connect(address) as connection:
        for statement in TABLES:
            connection.execute(statement)
    return address


@pytest.fixture
def duck(context: RunContext) -> str:
    """The address of a DuckDB file with the tables."""
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("duckdb_engine")
    path = context.project / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        for statement in TABLES:
            connection.execute(statement)
    return "duckdb:///shop.duckdb"


@pytest.fixture(params=["duck", "postgres"])
def address(request: pytest.FixtureRequest) -> str:
    return request.getfixturevalue(request.param)


@pytest.fixture
def goal(address: str, new_goal: Callable[..., Any], context: RunContext) -> SqlBenchmark:
    (context.project / "report.sql").write_text(SLOW)
    return new_goal(
        SqlBenchmark, dsn=address, query_file="report.sql", max_ms=60_000, runs=2, warmup=0
    )


VIEWS = (
    f"CREATE VIEW spent AS {FAST.partition(' ORDER BY')[0]}",
    "CREATE VIEW sums AS SELECT * FROM spent",
)
REMADE = {
    "a table": (
        "CREATE TABLE kept AS SELECT * FROM spent",
        "DROP VIEW sums",
        "DROP VIEW spent",
        "ALTER TABLE kept RENAME TO spent",
        VIEWS[1],
    ),
    "a materialized view": (
        "DROP VIEW sums",
        "DROP VIEW spent",
        VIEWS[0].replace("VIEW", "MATERIALIZED VIEW"),
        VIEWS[1],
    ),
}


@pytest.mark.parametrize("kind", REMADE)
async def test_what_a_view_reads_may_not_become_something_else_with_the_same_rows(
    goal: SqlBenchmark, address: str, context: RunContext, kind: str
) -> None:
    if "postgres" not in address and kind != "a table":
        pytest.skip("DuckDB has none")
    (context.project / "report.sql").write_text("SELECT name, spent FROM sums ORDER BY 2 DESC, 1")
    target = goal.target(context.project)
    for view in VIEWS:
        execute(target, view)
    assert (await goal.check({}, context.project)).achieved
    execute(target, "CREATE INDEX by_customer ON orders (customer_id)")
    assert (await goal.check({}, context.project)).achieved
    for statement in REMADE[kind]:
        execute(target, statement)
    result = await goal.check({}, context.project)
    assert not result.achieved
    assert f"spent is {kind}, and was a view at the start" in result.reason


async def test_a_rewrite_is_told_from_an_answer_that_only_looks_alike(
    goal: SqlBenchmark, context: RunContext
) -> None:
    assert await goal.ready() is None
    first = await goal.check({}, context.project)
    assert first.achieved, first.details
    plan = first.details.partition("Plan of ")[2]
    assert "orders" in plan or "ORDER_BY" in plan
    (context.project / "report.sql").write_text(FAST)
    rewritten = await goal.check({}, context.project)
    assert rewritten.achieved, rewritten.details
    assert "not compared" not in rewritten.reason
    # As it happens every such customer has orders, so only the samples show the difference.
    (context.project / "report.sql").write_text(FEWER)
    fewer = await goal.check({}, context.project)
    assert not fewer.achieved
    assert "rows" in fewer.reason


async def test_a_query_cannot_write_even_where_its_text_would_pass(address: str, tmp_path: Path):
    target = target_of(address, tmp_path / "shop")
    for query in (
        "WITH d AS (DELETE FROM orders RETURNING 1) SELECT * FROM d",
        "DROP TABLE orders",
    ):
        assert "refused" in do(Job(kind="bench", target=target, query=query)).problem
    nextval = "SELECT setval('numbers', 5)" if target.dialect == "postgresql" else "LOAD httpfs"
    if target.dialect == "postgresql":
        import psycopg

        with psycopg.connect(address) as connection:
            connection.execute("CREATE SEQUENCE numbers")
    problem = do(Job(kind="bench", target=target, query=nextval)).problem
    assert "read-only transaction" in problem or "refused" in problem


def target_of(address: str, project: Path) -> Target:
    from retrai_goals_data.dsn import Dsn

    return Dsn.parse(address).target(project, project)


async def test_an_index_is_made_through_the_tool_and_seen(
    goal: SqlBenchmark, context: RunContext, call: Callable[..., Any]
) -> None:
    before = await goal.external_state(context.project)
    assert before == await goal.external_state(context.project)
    made = await call(SqlBench, query="CREATE INDEX by_customer ON orders (customer_id)")
    assert made.ok, made.content
    assert await goal.external_state(context.project) != before
    asked = await call(SqlBench, query="SELECT count(*) FROM orders WHERE customer_id = 7")
    assert asked.ok, asked.content
    assert "1 row" in asked.content
    refused = await call(SqlBench, query="DELETE FROM orders")
    assert not refused.ok
    assert "refused" in refused.content


async def test_deleted_rows_are_seen(goal: SqlBenchmark, context: RunContext) -> None:
    await goal.check({}, context.project)
    target = goal.target(context.project)
    # Of a customer that the query does not ask for.
    execute(target, "DELETE FROM orders WHERE customer_id = 4")
    result = await goal.check({}, context.project)
    assert not result.achieved
    assert "orders has " in result.reason


async def test_changed_values_are_seen(goal: SqlBenchmark, context: RunContext) -> None:
    await goal.check({}, context.project)
    execute(goal.target(context.project), "UPDATE orders SET tags = NULL WHERE id = 4")
    assert "orders has other values" in (await goal.check({}, context.project)).reason


def execute(target: Target, statement: str) -> None:
    from retrai_goals_data.database.connecting import opened

    with opened(target, timeout_s=30, write=True, autocommit=True) as database:
        database.cursor().execute(statement)


async def test_duckdb_reads_files_only_where_they_are_named_and_so_protected(
    new_goal: Callable[..., Any], context: RunContext, tmp_path: Path
) -> None:
    pytest.importorskip("duckdb_engine")
    data = context.project / "data"
    data.mkdir()
    (data / "orders.csv").write_text("id,total\n" + "".join(f"{n},{n * 3}\n" for n in range(500)))
    (context.project / "kept.csv").write_text("rows,spent\n500,374250\n")
    query = "SELECT count(*) AS rows, sum(total) AS spent FROM read_csv('data/orders.csv')"
    (context.project / "q.sql").write_text(query)
    given = {"dsn": "duckdb:///:memory:", "query_file": "q.sql", "max_ms": 60_000, "runs": 1}
    closed = await new_goal(SqlBenchmark, **given).check({}, context.project)
    assert not closed.achieved
    assert "disabled" in closed.reason
    context.run_dir = tmp_path / "another-run"
    goal = new_goal(SqlBenchmark, **given, data_files="data/*.csv")
    assert "data/*.csv" in goal.protected(context.project)
    assert (await goal.check({}, context.project)).achieved
    copy = tmp_path / "copy"
    shutil.copytree(context.project, copy)
    assert (await goal.check({}, copy)).achieved
    (context.project / "q.sql").write_text("SELECT rows, spent FROM read_csv('kept.csv')")
    assert "it reads READ_CSV('kept.csv')" in (await goal.check({}, context.project)).reason
    (context.project / "q.sql").write_text("SELECT rows, spent FROM 'kept.csv'")
    assert "it reads kept.csv" in (await goal.check({}, context.project)).reason


async def test_a_query_that_takes_too_long_is_ended(
    address: str, new_goal: Callable[..., Any], context: RunContext
) -> None:
    query = "SELECT count(*) FROM orders a, orders b, orders c WHERE a.total + b.total < c.total"
    goal = new_goal(SqlBenchmark, dsn=address, query=query, max_ms=5, timeout_s=0.5)
    result = await goal.check({}, context.project)
    assert "took longer than 0.5 s" in result.reason


async def test_a_server_that_does_not_answer_is_said(
    new_goal: Callable[..., Any], context: RunContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("psycopg")
    monkeypatch.setenv("SHOP_PASSWORD", "hunter2/secret")
    address = f"postgresql://retrai:${{SHOP_PASSWORD}}@127.0.0.1:{free_port()}/shop"
    goal = new_goal(SqlBenchmark, dsn=address, query="SELECT 1", max_ms=5)
    problem = await goal.ready()
    assert problem is not None
    assert "cannot be reached" in problem
    result = await goal.check({}, context.project)
    assert not result.achieved
    assert "hunter2" not in f"{problem}{result}{goal.system_prompt()}"
    monkeypatch.delenv("SHOP_PASSWORD")
    assert "SHOP_PASSWORD in the dsn is not set" in (await goal.ready() or "")


async def test_a_server_that_accepts_and_says_nothing_is_given_up(
    context: RunContext, call: Callable[..., Any]
) -> None:
    pytest.importorskip("psycopg")
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        dsn = f"postgresql://a@127.0.0.1:{listener.getsockname()[1]}/shop"
        result = await call(SqlBench, {"dsn": dsn}, query="SELECT 1")
    assert not result.ok
    assert "cannot be reached" in result.content
