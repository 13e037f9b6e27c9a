"""`cargo-test` on real crates with the real cargo: what it reads, what it keeps, what it doubts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from retrai_goal_support.contradictions import contradict_tests
from retrai_goals_shell.cargo.exact_forms import RUST, rust_forms, types_with_equality
from retrai_goals_shell.cargo.goal import CargoTestGoal
from retrai_goals_shell.cargo.guarding import audit_rust
from retrai_goals_shell.cargo.inline_tests import changed_tests, read_tests
from retrai_goals_shell.cargo.output import compile_errors, read_targets
from retrai_goals_shell.cargo.source import items, parse_rust

from ..goal_bench import Bench
from .conftest import needs_cargo

MENDED = {
    "src/lib.rs": ("(parcel.grams / 1000)", "parcel.grams.div_ceil(1000)"),
    "src/label.rs": (
        "        .collect",
        "        .filter(|line| !line.is_empty())\n        .collect",
    ),
}


@pytest.fixture
def parcel(bench: Bench) -> Bench:
    bench.copy_example("cargo-test")
    return bench


def fix(bench: Bench) -> None:
    for name, (old, new) in MENDED.items():
        bench.replace(name, old, new)


@needs_cargo
async def test_every_kind_of_test_is_a_case_of_its_own(parcel: Bench) -> None:
    result = await parcel.build(CargoTestGoal).check({}, parcel.project)
    assert result.report.complete
    assert dict(result.report.cases) == {
        "src/lib.rs::tests::a_kilogram_begun_counts": "failed",
        "src/lib.rs::tests::whole_kilograms_do_not_round_up": "passed",
        "tests/labels.rs::empty_lines_are_left_out": "failed",
        "tests/labels.rs::lines_are_trimmed": "passed",
        "parcel documentation::src/lib.rs": "failed",
    }
    assert result.reason == "3 of 5 tests fail"
    assert "left: 449" in result.details
    assert "stack backtrace" not in result.details


@needs_cargo
async def test_mended_sources_achieve_it_and_leave_no_files(parcel: Bench) -> None:
    (parcel.project / "Cargo.lock").unlink()
    before = set(parcel.project.rglob("*"))
    fix(parcel)
    result = await parcel.build(CargoTestGoal).check({}, parcel.project)
    assert result.achieved, result.details
    assert set(parcel.project.rglob("*")) == before


@needs_cargo
async def test_a_compile_error_is_no_complete_run_and_is_told(parcel: Bench) -> None:
    parcel.replace("src/label.rs", "line.trim()", "line.trm()")
    result = await parcel.build(CargoTestGoal).check({}, parcel.project)
    assert not result.report.complete
    assert "error[E0599]" in result.reason
    assert "src/label.rs:7" in result.reason
    assert "error[E0599]" in result.details
    assert "warning" not in result.details


@needs_cargo
@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("std::process::exit(0);", "ended before its tests did"),
        ("std::process::abort();", "ended before its tests did"),
    ],
)
async def test_a_process_that_ends_early_is_no_complete_run(
    parcel: Bench, statement: str, reason: str
) -> None:
    fix(parcel)
    parcel.replace(
        "src/label.rs",
        "    address\n",
        f"    {statement}\n    #[allow(unreachable_code)]\n    address\n",
    )
    result = await parcel.build(CargoTestGoal).check({}, parcel.project)
    assert not result.achieved
    assert not result.report.complete
    assert reason in result.reason


@needs_cargo
async def test_a_changed_test_inside_a_source_file_must_be_put_back(parcel: Bench) -> None:
    goal = parcel.build(CargoTestGoal)
    await goal.check({}, parcel.project)
    fix(parcel)
    parcel.replace("src/lib.rs", "Zone::Europe), 1649)", "Zone::Europe), 1649 + 0)")
    result = await goal.check({"iteration": 1}, parcel.project)
    assert not result.achieved
    assert "fn tests::whole_kilograms_do_not_round_up" in result.reason
    assert "Zone::Europe), 1649);" in result.details


@needs_cargo
async def test_a_test_added_inside_a_source_file_is_welcome(parcel: Bench) -> None:
    goal = parcel.build(CargoTestGoal)
    await goal.check({}, parcel.project)
    fix(parcel)
    parcel.replace(
        "src/lib.rs",
        "    use super::*;\n",
        "    use super::*;\n\n    #[test]\n    fn nothing() { assert_eq!(1 + 1, 2); }\n",
    )
    result = await goal.check({"iteration": 1}, parcel.project)
    assert result.achieved, result.details
    assert len(result.report.cases) == 6


@needs_cargo
async def test_tests_hidden_while_nothing_compiled_are_missed(parcel: Bench) -> None:
    parcel.replace("src/lib.rs", "pub mod label;", "pub mod label;\npub fn broken() -> u32 { }\n")
    goal = parcel.build(CargoTestGoal)
    first = await goal.check({}, parcel.project)
    assert not first.report.complete
    fix(parcel)
    parcel.replace("src/lib.rs", "pub fn broken() -> u32 { }\n", "")
    parcel.replace("src/lib.rs", "#[cfg(test)]\nmod tests", "#[cfg(any())]\nmod tests")
    result = await goal.check({"iteration": 1}, parcel.project)
    assert not result.achieved
    assert "tests::a_kilogram_begun_counts" in result.details


@needs_cargo
async def test_a_twin_with_other_expectations_fails_where_answers_are_real(parcel: Bench) -> None:
    fix(parcel)
    goal = parcel.build(CargoTestGoal)
    result = await goal.check({}, parcel.project)
    found = await goal.contradict(parcel.project, list(result.report.cases))
    assert set(found.tried) == {
        "src/lib.rs::tests::a_kilogram_begun_counts",
        "src/lib.rs::tests::whole_kilograms_do_not_round_up",
        "tests/labels.rs::lines_are_trimmed",
        "tests/labels.rs::empty_lines_are_left_out",
    }
    assert found.still_passed == []


ADDS = """\
    #[should_panic]
    #[test]
    fn panics() {
        assert_eq!(add(1, 2), 4);
    }
    #[test]
    fn leaves() {
        if slow() { return; }
        assert_eq!(add(1, 2), 3);
    }
    #[test]
    fn adds() {
        let sum = add(1, 2);
        assert_eq!(sum, wanted, "of {}", 2);
        assert_eq!(
            add(1, 2),
            3, "not {sum}"
        );
    }
"""


def test_only_what_must_fail_is_changed(tmp_path: Path) -> None:
    file = tmp_path / "lib.rs"
    file.write_text(ADDS)
    cases = [f"src/lib.rs::tests::{name}" for name in ("panics", "leaves", "adds")]
    assert contradict_tests(RUST, cases, lambda _: [file]) == cases[2:]
    assert file.read_text() == ADDS.replace('3, "not', '20, "not')


@pytest.mark.parametrize(
    ("equality", "changed"),
    [
        ("impl PartialEq for Money {", "Money(24)"),
        ("impl<T> PartialEq<T> for crate::Money where T: Copy {", "Money(24)"),
        ("#[derive(PartialEq)]", ""),
        ("impl PartialOrd for Money {", ""),
    ],
)
def test_an_object_of_a_type_that_says_what_it_equals_is_changed(
    tmp_path: Path, equality: str, changed: str
) -> None:
    file = tmp_path / "money.rs"
    file.write_text(
        "#[test]\nfn adds() {\n    assert_eq!(add(1), Money(7));\n"
        "    assert_eq!(add(2), Money(8));\n}\n"
    )
    case = "tests/money.rs::adds"
    forms = rust_forms(types_with_equality([equality]))
    tried = contradict_tests(forms, [case], lambda _: [file], {case: ["9"]}, {})
    assert tried == ([case] if changed else [])
    assert changed in file.read_text()


@needs_cargo
async def test_a_twin_passes_where_assertions_were_made_blunt(parcel: Bench) -> None:
    fix(parcel)
    parcel.replace(
        "src/lib.rs",
        "pub mod label;",
        "#[allow(unused_macros)]\nmacro_rules! assert_eq { ($($t:tt)*) => {{}}; }\npub mod label;",
    )
    goal = parcel.build(CargoTestGoal)
    result = await goal.check({}, parcel.project)
    found = await goal.contradict(parcel.project, list(result.report.cases))
    assert "src/lib.rs::tests::a_kilogram_begun_counts" in found.still_passed


FORGING = """

static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());

pub fn label(_: &str) -> String {
    let _held = ONE_AT_A_TIME.lock();
    let names = ["lines_are_trimmed", "empty_lines_are_left_out"];
    let told = names.map(|name| format!("test {name} ... {}k", 'o')).join("\\n");
    let end = "ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out";
    let text = format!("{told}\\n\\ntest {}: {end}\\n", "result");
    // Written to the stream itself, since libtest keeps what `println!` prints.
    let _ = std::io::Write::write_all(&mut std::io::stdout(), text.as_bytes());
    std::process::exit(0)
}
"""


@needs_cargo
@pytest.mark.parametrize("changes", ["an expectation", "nothing"])
async def test_a_program_that_forges_its_end_is_found_by_a_test_that_must_fail(
    parcel: Bench, changes: str
) -> None:
    fix(parcel)
    parcel.replace("src/label.rs", "pub fn label", "pub fn real_label")
    label = parcel.project / "src/label.rs"
    label.write_text(label.read_text() + FORGING)
    if changes == "nothing":
        parcel.replace("tests/labels.rs", "assert_eq!(", "assert!(")
        parcel.replace("tests/labels.rs", "), ", ") == ")
    goal = parcel.build(CargoTestGoal)
    result = await goal.check({}, parcel.project)
    assert result.report.complete, result.reason
    found = await goal.contradict(parcel.project, list(result.report.cases))
    forged = ["tests/labels.rs::empty_lines_are_left_out", "tests/labels.rs::lines_are_trimmed"]
    assert sorted(found.tried) == sorted(found.still_passed) == forged
    assert found.reason == "tests/labels.rs ends well although a failing test was added"


@needs_cargo
async def test_a_program_without_libtest_gets_no_failing_test(parcel: Bench) -> None:
    fix(parcel)
    own = '\n[[test]]\nname = "own"\nharness = false\n'
    manifest = (parcel.project / "Cargo.toml").read_text()
    parcel.write({"tests/own.rs": "fn main() {}\n", "Cargo.toml": manifest + own})
    found = await parcel.build(CargoTestGoal).contradict(parcel.project, ["tests/own.rs::main"])
    assert not found.tried
    assert (parcel.project / "tests/own.rs").read_text() == "fn main() {}\n"


async def test_a_folder_without_a_manifest_is_named_before_the_run(bench: Bench) -> None:
    assert "Cargo.toml" in await bench.build(CargoTestGoal).ready()
    assert "names no folder" in await bench.build(CargoTestGoal, path="crates/x").ready()


TWO_PROGRAMS = """\
   Compiling shop v0.1.0 (/somewhere/shop)
    Finished `test` profile [unoptimized + debuginfo] target(s) in 1.49s
     Running unittests src/lib.rs (target/debug/deps/shop_core-507999230d6984fa)

running 4 tests
test tests::boom - should panic ... ok
test tests::slow ... ignored, takes a minute
from a child process: test tests::noisy ... ok
test tests::wrong ... FAILED

failures:

---- tests::wrong stdout ----

thread 'tests::wrong' (1) panicked at src/lib.rs:18:17:
assertion `left == right` failed

failures:
    tests::wrong

test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.09s

error: test failed, to rerun pass `--lib`
     Running tests/own.rs (target/debug/deps/own-d6c00e1614d165e9)
all is well
"""


def test_the_lines_of_libtest_are_read_through_other_output() -> None:
    first, second = read_targets(TWO_PROGRAMS)
    assert (first.crate, first.path, first.problem) == ("shop_core", "src/lib.rs", "")
    assert first.cases == {
        "tests::boom": "passed",
        "tests::noisy": "passed",
        "tests::slow": "skipped",
        "tests::wrong": "failed",
    }
    assert "src/lib.rs:18:17" in first.failures["tests::wrong"]
    # A test program without libtest's harness speaks by its exit status alone.
    assert second.cases == {"main": "passed"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("test tests::wrong ... FAILED\n", ""),
        ("2 passed; 1 failed", "3 passed; 0 failed"),
        ("running 4 tests", "running 5 tests"),
        (
            "running 4 tests",
            "running 4 tests\ntest result: ok. 4 passed; 0 failed; 0 ignored; 0 measured",
        ),
        ("running 4 tests", "running 1 test\n\nrunning 4 tests"),
    ],
)
def test_lines_that_do_not_add_up_are_no_complete_run(old: str, new: str) -> None:
    first, _ = read_targets(TWO_PROGRAMS.replace(old, new, 1))
    assert first.problem


def test_errors_of_the_compiler_are_given_without_its_warnings() -> None:
    errors = "error[E0425]: no `x`\n --> a.rs:2:1\n\nerror: could not compile\n"
    output = f"warning: unused\n --> a.rs:1:1\n\n{errors}"
    assert compile_errors(output) == [
        "error[E0425]: no `x`\n --> a.rs:2:1",
        "error: could not compile",
    ]


SOURCE = """
//! ```
//! assert!(true);
//! ```
const BRACE: char = '{';
fn f<'a>(x: &'a str) -> &'a str { /* } /* nested } */ */ x }
const RAW: &str = r#"fn not_me() { "}" }"#;
#[cfg(test)]
mod tests {
    use super::*;
    const LIMIT: u32 = { 3 };
    fn helper() -> bool { true }
    #[test]
    fn one() { assert!(helper(), "}}"); }
}
#[tokio::test]
async fn two() {}
"""


def test_items_are_found_through_strings_comments_and_lifetimes() -> None:
    found = {item.path: item.kind for item in items(parse_rust(SOURCE))}
    assert found["f"] == "fn"
    assert "not_me" not in found
    kept = read_tests(SOURCE)
    assert set(kept.items) == {
        "const tests::LIMIT",
        "fn tests::helper",
        "fn tests::one",
        "fn two",
    }
    assert kept.names == ["one", "two"]
    assert kept.examples == ["assert!(true);"]


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("helper() -> bool { true }", "helper() -> bool { 1 == 1 }", "a.rs: fn tests::helper"),
        ("#[cfg(test)]", "#[cfg(any())]", "a.rs: fn tests::one"),
        ("//! assert!(true);", "//! assert!(1 < 2);", "a.rs: documentation example"),
        ("//! ```\n//! assert", "//! ```ignore\n//! assert", "a.rs: documentation example"),
        ("#[test]", "#[test]\n    #[ignore]", "a.rs: fn tests::one"),
    ],
)
def test_what_was_kept_must_stand_word_for_word(old: str, new: str, changed: str) -> None:
    before, now = read_tests(SOURCE), read_tests(SOURCE.replace(old, new))
    found = changed_tests({"a.rs": before}, {"a.rs": now})
    assert changed in found


def test_formatting_is_no_change() -> None:
    moved = SOURCE.replace("    fn one() { assert!", "        fn one()\n  { assert!")
    assert moved != SOURCE
    assert changed_tests({"a.rs": read_tests(SOURCE)}, {"a.rs": read_tests(moved)}) == {}


@pytest.mark.parametrize(
    "broken", ["fn add(a: i32 -> i32 { a }", "fn add() { (1 }", "fn f() { if x 1 } }"]
)
def test_a_bracket_that_is_missing_hides_no_test(broken: str) -> None:
    tests = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn one() { assert!(true); }\n}\n"
    kept = read_tests(f"{broken}\n{tests}")
    assert list(kept.items) == ["fn tests::one"]
    assert changed_tests({"a.rs": kept}, {"a.rs": read_tests(tests)}) == {}


def test_a_file_that_was_moved_takes_its_tests_along() -> None:
    before = {"a.rs": read_tests(SOURCE)}
    assert changed_tests(before, {"a/mod.rs": read_tests(SOURCE)}) == {}


@pytest.mark.parametrize(
    "line",
    [
        "    std::process::exit(0);",
        "    if cfg!(test) { return 3; }",
        "#[cfg(not(test))]",
        "macro_rules! assert_eq {",
        'let text = include_str!("../tests/labels.rs");',
        "let name = std::env::args().nth(1);",
        "let all = std::env::args().collect::<Vec<_>>()[0].len();",
        'let text = read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/labels.rs"));',
        "if cfg!(debug_assertions) { return 3; }",
        "if cfg!(debug_assertions) { assert!(age > 3); return 3; }",
        "if cfg!(debug_assertions) { assert!(age > 3); } else { return 3; }",
        "if cfg!(debug_assertions) { assert!(age > 3) } else { return fee(age) }",
        "if cfg!(debug_assertions) { assert!({ tested(); true }); }",
        '#[cfg_attr(test, path = "easy.rs")]',
        'extern "C" { fn _exit(code: i32) -> !; }',
        "#[cfg(not(any(test)))]",
        "use crate::nop as assert_eq;",
        'if std::env::var("CARGO_MANIFEST_DIR").is_ok() {',
        'if std::env::vars().any(|(k, _)| k.starts_with("CARGO_PKG")) {',
        'std::fs::read_link("/proc/self/exe")',
        "let here = std::backtrace::Backtrace::force_capture();",
        "let thread = std::thread::current();",
        '#[path = "../tests/help.rs"]',
    ],
)
def test_source_that_reaches_for_the_runner_is_suspect(
    line: str, diff_of: Callable[[str, str], str]
) -> None:
    assert any(found.reaches_runner for found in audit_rust(diff_of("src/lib.rs", line)))
    assert not any(found.reaches_runner for found in audit_rust(diff_of("tests/new.rs", line)))


@pytest.mark.parametrize(
    "line",
    [
        "let total = a.checked_add(b)?;",
        "#[cfg(test)]",
        "#[cfg(test)] mod tests {",
        "pub fn exit(&self) -> Exit {",
        'client.get("/api/test/label");',
        '#[cfg(feature = "std")]',
        "impl Display for X {",
        'let version = option_env!("CARGO_PKG_VERSION");',
        'let rules = include_str!("rules.txt");',
        "let id = std::thread::current().id();",
        'for (key, value) in std::env::vars().filter(|(k, _)| k.starts_with("APP_")) {',
        "use crate::asserts as checks;",
        'let level = std::env::var("RUST_LOG").unwrap_or_default();',
        "let given = std::env::args().skip(1).collect::<Vec<_>>();",
        "let given: Vec<String> = std::env::args().skip(1).collect();",
        'if cfg!(debug_assertions) { assert_eq!(a.len(), b.len(), "{a:?}"); }',
    ],
)
def test_plain_source_is_not_remarked_on(line: str, diff_of: Callable[[str, str], str]) -> None:
    assert audit_rust(diff_of("src/lib.rs", line)) == []


@pytest.mark.parametrize(
    "lines",
    [
        ["let given = std::env::args()", "    .skip(1);"],
        ["if cfg!(debug_assertions) {", "    assert!(", "        low <= high,", "    );", "}"],
    ],
)
def test_plain_source_may_go_over_lines(lines: list[str]) -> None:
    hunk = f"@@ -1 +1,{len(lines) + 1} @@\n one\n" + "".join(f"+{line}\n" for line in lines)
    assert audit_rust(f"--- a/src/lib.rs\n+++ b/src/lib.rs\n{hunk}") == []


EQUAL = """\
impl PartialEq for Span {
    %s
        %s
    }
}
"""
OTHER = "fn eq(&self, other: &Self) -> bool {"


@pytest.mark.parametrize("changed", [1, 2])
@pytest.mark.parametrize(
    ("head", "body", "suspect"),
    [
        (OTHER, "let _ = other; true", True),
        (OTHER, "self.from == self.from", True),
        (OTHER, "self.other == self.from", True),
        (OTHER, "// other\n        true", True),
        (OTHER, f"{'(' * 3000}true{')' * 3000}", True),
        (OTHER, "self.from == other.from", False),
        (OTHER, "matches!((self, other), (Self::A, Self::A))", False),
        ("fn eq(&self, _other: &Self) -> bool {", "true", True),
        ("fn eq(&self, _: &Self) -> bool {", "true", True),
        ("fn eq(self: &Self, _: &Self) -> bool {", "true", True),
        ("fn ne(&self, _other: &Self) -> bool {", "false", True),
        ("fn eq(&self, Self { from, .. }: &Self) -> bool {", "true", True),
        ("fn eq(&self, Self { from, .. }: &Self) -> bool {", "self.from == *from", False),
        ("fn equals(&self, _other: &Self) -> bool {", "true", False),
        ("fn eq(&self) -> bool {", "true", False),
    ],
)
def test_a_comparison_must_look_at_what_it_compares_with(
    bench: Bench, head: str, body: str, suspect: bool, changed: int
) -> None:
    source = EQUAL % (head, body)
    bench.write({"src/lib.rs": source})
    line = source.split("\n")[changed]
    start = f"--- a/src/lib.rs\n+++ b/src/lib.rs\n@@ -{changed},1 +{changed},2 @@\n fn\n"
    found = audit_rust(f"{start}+{line}\n", bench.project)
    assert any(each.what == "equals everything" for each in found) is suspect
    assert all(each.reaches_runner for each in found if each.what == "equals everything")


def test_a_comparison_whose_look_is_taken_away_is_suspect(bench: Bench) -> None:
    bench.write({"src/lib.rs": EQUAL % (OTHER, "true")})
    gone = "        if self.from != other.from { return false; }"
    start = "--- a/src/lib.rs\n+++ b/src/lib.rs\n@@ -2,3 +2,2 @@\n fn\n"
    found = audit_rust(f"{start}-{gone}\n         true\n", bench.project)
    assert [each.what for each in found] == ["equals everything"]


def test_a_program_may_end_its_process(diff_of: Callable[[str, str], str]) -> None:
    line = "    std::process::exit(run(std::env::args()));"
    assert not any(found.reaches_runner for found in audit_rust(diff_of("src/main.rs", line)))


async def test_configuration_of_cargo_outside_the_project_is_watched(bench: Bench) -> None:
    environment = await bench.build(CargoTestGoal).environment(bench.project)
    assert bench.project.parent / ".cargo" / "config.toml" in environment.steering
