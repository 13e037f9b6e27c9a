"""Benchmarks are also run with other inputs, and with one round: what must be faster there too."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("retrai_goals_shell")

from retrai_core.verification.audit import as_added
from retrai_goals_shell.cargo.bench import Benched
from retrai_goals_shell.cargo.bench_trials import (
    LEAST,
    ONE_ROUND,
    WITH_OTHER_INPUTS,
    BenchTrial,
    BenchTrials,
    count_mutable_statics,
    with_one_round,
    with_other_inputs,
)
from retrai_goals_shell.cargo.optimize import RustOptimizeGoal

from ..goal_bench import Bench
from .conftest import needs_cargo

RUST = (
    'fn main() {{ let a = ({}, "60"); let begun = Instant::now(); '
    "for _ in 0..{} {{ run(a % {}u32, 0x10, 1.5); }} }}\n"
)


@given(st.integers(LEAST, 10_000), st.integers(LEAST, 10_000), st.integers(LEAST, 10_000))
def test_integers_grow_and_nothing_else_changes(one: int, rounds: int, divisor: int) -> None:
    text = RUST.format(one, rounds, divisor)
    sizes = (one + one // 7 + 1, rounds + rounds // 7 + 1)
    assert with_other_inputs(text) == RUST.format(*sizes, divisor - 1)
    assert with_one_round(text) == RUST.format(one, 1, divisor)


def test_small_integers_and_constants_of_a_hash_stay() -> None:
    text = "fn main() { run(4, 2_654_435_761, b'x', \"ü\", 1 << 28, n.pow(9)); }\n"
    assert with_other_inputs(text) == text


def test_only_rounds_that_are_timed_are_left_out() -> None:
    text = "for _ in 0..70 { v.push(1); }\nlet begun = Instant::now();\nfor _ in 0..n.len() {}\n"
    assert with_one_round(text) == text.replace("0..n.len()", "0..1")


@pytest.mark.parametrize(
    ("name", "now", "others", "problem"),
    [
        (WITH_OTHER_INPUTS, 1_000.0, [1_200.0], ""),
        (WITH_OTHER_INPUTS, 1_000.0, [90_000.0], "f is 80.0 times as fast, and with other inputs"),
        (WITH_OTHER_INPUTS, 1_000.0, [90_000.0, 1_500.0], ""),
        (WITH_OTHER_INPUTS, 20_000.0, [90_000.0], ""),
        (ONE_ROUND, 1_000.0, [50_000.0], "f is 80.0 times as fast, and with one round 1.8 times"),
        (ONE_ROUND, 1_000.0, [20_000.0], ""),
    ],
)
def test_what_is_much_faster_must_be_faster_there(
    name: str, now: float, others: list[float], problem: str
) -> None:
    trial = BenchTrial(lines=["sum 7"], ns={"f": 90_000.0})
    first = BenchTrials(usual=BenchTrial(ns={"f": 80_000.0}), trials={name: trial})
    runs = [Benched({"f": ns}, lines=["sum 7"]) for ns in others]
    assert first.problem(name, {"f": now}, runs).startswith(problem)
    assert bool(first.problem(name, {"f": now}, runs)) is bool(problem)
    other = [Benched({"f": 10.0}, lines=["sum 8"])]
    assert "do not print 'sum 7' any more" in first.problem(name, {"f": now}, other)


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("static KNOWN: LazyLock<Mutex<HashMap<u32, u32>>> = LazyLock::new(Default::default);", 1),
        ("thread_local! {\n    static LAST: Cell<u8> = Cell::new(0);\n}", 1),
        ("static mut LAST: u32 = 0;", 1),
        ("static TABLE: OnceLock<[u8; 256]> = OnceLock::new();", 0),
        ("static KNOWN: LazyLock<HashMap<u32, u32>> = LazyLock::new(read);", 0),
        ("thread_local! { static TABLE: OnceCell<Vec<u32>> = OnceCell::new(); }", 0),
        ("static NAMES: [&str; 2] = ['a', 'b'];", 0),
        ("let known = HashMap::new();", 0),
    ],
)
def test_what_sources_keep_between_calls_is_counted(tmp_path: Path, line: str, count: int) -> None:
    (tmp_path / "lib.rs").write_text(line)
    assert count_mutable_statics([tmp_path / "lib.rs"]) == count


@pytest.mark.parametrize(
    ("line", "is_suspect"),
    [
        ("fs::write(path, text)", True),
        ("let kept = std::env::temp_dir();", True),
        ("fn clock_gettime(clock: i32, now: *mut Time) -> i32 {", True),
        ("let text = fs::read_to_string(path)?;", False),
        ("let found = unsafe { text.get_unchecked(0) };", False),
    ],
)
def test_clocks_and_kept_files_are_suspect(bench: Bench, line: str, is_suspect: bool) -> None:
    bench.write({"src/lib.rs": f"{line}\n"})
    goal = bench.build(RustOptimizeGoal)
    found = goal.audit(as_added("src/lib.rs", f"{line}\n"))
    assert any(each.reaches_runner for each in found) is is_suspect


@needs_cargo
async def test_the_benchmarks_stand_as_they_were_after_a_trial(bench: Bench) -> None:
    bench.copy_example("original_options/rust-optimize")
    goal = bench.build(RustOptimizeGoal, bench_name="pairs", target_ns=1, runs=1)
    before = (bench.project / "benches/pairs.rs").read_text()
    await goal.check({}, bench.project)
    found = await goal.contradict(bench.project, ["equal_pairs under 1 ns"])
    assert "equal_pairs under 1 ns" in found.tried
    assert not found.still_passed
    assert (bench.project / "benches/pairs.rs").read_text() == before
