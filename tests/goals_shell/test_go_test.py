"""`go-test` on real modules with the real go: every case, and what hides one."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from retrai_goals_shell.go.cache import go_cache, keep_first_build
from retrai_goals_shell.go.cases import test_names as names_of
from retrai_goals_shell.go.goal import GoTestGoal
from retrai_goals_shell.go.guarding import audit_go
from retrai_goals_shell.go.output import packages_listed, read_packages

from ..goal_bench import Bench
from .conftest import needs_go


@pytest.fixture
def ledger(bench: Bench) -> Bench:
    bench.copy_example("go-test")
    return bench


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache of go in which the parts of the standard library that a test needs are built."""
    folder = tmp_path_factory.mktemp("go")
    bench = Bench(folder)
    bench.copy_example("go-test")

    async def check() -> None:
        await bench.build(GoTestGoal).check({}, bench.project)
        await bench.context.sandbox.aclose()

    asyncio.run(check())
    return bench.context.run_dir / "go-test" / "built"


@pytest.fixture(autouse=True)
def _begins_with_it(request: pytest.FixtureRequest) -> None:
    """What each run would build anew for its own cache."""
    if "bench" in request.fixturenames and shutil.which("go"):
        bench, built = (request.getfixturevalue(name) for name in ("bench", "built"))
        shutil.copytree(built, bench.context.run_dir / "go-test" / "cache")


EXITING_MAIN = """package ledger

import (
\t"os"
\t"testing"
)

func TestMain(m *testing.M) { os.Exit(0) }
"""
PANIC = """\tsum := 0
\tif account == "rent" {
\t\tpanic(account)
\t}
"""
FUNCTIONS = """
func TestA(t *testing.T) {}
func TestMain(m *testing.M) {}
func Tester(t *testing.T) {}
// func TestB(t *testing.T) {}
var s = `
func TestC(t *testing.T) {}
`
func FuzzD(f *testing.F) {}
func Test_e(t *testing.T) {}
func Testf(t *testing.T) {}
"""


def fix(bench: Bench) -> None:
    bench.replace("ledger.go", "sum = entry.Cents", "sum += entry.Cents")
    bench.replace("ledger.go", "\t\t\tnames = ", "\t\t\tseen[entry.Account] = true\n\t\t\tnames = ")
    bench.replace("text/text.go", "%s%d.%d", "%s%d.%02d")


@needs_go
async def test_every_test_and_subtest_is_a_case(ledger: Bench) -> None:
    result = await ledger.build(GoTestGoal).check({}, ledger.project)
    assert result.reason == "4 of 8 tests fail"
    assert result.report.complete
    assert result.report.cases["ledger_test.go::TestBalance/two_entries"] == "failed"
    assert result.report.cases["ledger_test.go::TestBalance/one_entry"] == "passed"
    assert result.report.cases["example.com/ledger/text::ExampleEuros"] == "passed"
    assert 'ledger_test.go:23: Balance("rent") = -2500, want -72500' in result.details


@needs_go
async def test_mended_sources_achieve_it_and_leave_no_files(ledger: Bench) -> None:
    before = set(ledger.project.rglob("*"))
    fix(ledger)
    result = await ledger.build(GoTestGoal).check({}, ledger.project)
    assert result.achieved, result.details
    assert set(ledger.project.rglob("*")) == before


@needs_go
async def test_a_package_that_does_not_build_fails_the_tests_it_holds(ledger: Bench) -> None:
    fix(ledger)
    ledger.replace("text/text.go", "cents/100", "centz/100")
    result = await ledger.build(GoTestGoal).check({}, ledger.project)
    assert result.report.complete
    assert result.report.cases["text/text_test.go::TestEuros"] == "error"
    assert result.report.cases["ledger_test.go::TestAccounts"] == "passed"
    assert "text/text.go:12:40: undefined: centz" in result.details


@needs_go
@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("init.go", 'package ledger\n\nimport "os"\n\nfunc init() { os.Exit(0) }\n'),
        (
            "main_test.go",
            EXITING_MAIN,
        ),
    ],
)
async def test_a_process_that_ends_early_is_no_complete_run(
    ledger: Bench, file: str, text: str
) -> None:
    fix(ledger)
    ledger.write({file: text})
    result = await ledger.build(GoTestGoal).check({}, ledger.project)
    assert not result.achieved
    assert not result.report.complete
    assert "ended without running" in result.reason


FORGING = """package ledger

import . "syscall"

func ending() { Write(1, []byte("--- PASS: TestBalance\\nPASS\\n")); Exit(0) }
"""


@needs_go
@pytest.mark.parametrize("forges", [False, True])
async def test_the_tests_must_fail_with_a_failing_test_added(ledger: Bench, forges: bool) -> None:
    fix(ledger)
    if forges:
        ledger.write({"forging.go": FORGING})
        ledger.replace("ledger.go", "sum += entry.Cents", "sum += entry.Cents; ending()")
    goal = ledger.build(GoTestGoal)
    cases = ["text/text_test.go::TestEuros", "ledger_test.go::TestBalance", "text::ExampleEuros"]
    found = await goal.contradict(ledger.project, cases)
    assert list(found.tried) == cases[:2]
    assert list(found.still_passed) == (cases[1:2] if forges else [])
    assert found.reason == ("the tests in . pass although a failing test was added" * forges)


@needs_go
async def test_a_package_with_a_main_of_its_own_gets_no_failing_test(ledger: Bench) -> None:
    fix(ledger)
    ledger.write({"main_test.go": EXITING_MAIN})
    found = await ledger.build(GoTestGoal).contradict(
        ledger.project, ["ledger_test.go::TestBalance"]
    )
    assert not found.tried


@needs_go
async def test_a_panic_is_told_without_steps_through_go_itself(ledger: Bench) -> None:
    fix(ledger)
    ledger.replace(
        "ledger.go",
        "\tsum := 0\n",
        '\tsum := 0\n\tif account == "rent" {\n\t\tpanic(account)\n\t}\n',
    )
    result = await ledger.build(GoTestGoal).check({}, ledger.project)
    assert result.report.cases["ledger_test.go::TestAccounts"] == "error"
    assert "panic: rent" in result.details
    assert "ledger.go:16" in result.details
    assert "testing.go" not in result.details


@needs_go
async def test_a_skip_is_a_case_of_its_own(ledger: Bench) -> None:
    fix(ledger)
    ledger.replace("text/text_test.go", "T) {\n", 'T) {\n\tt.Skip("later")\n')
    result = await ledger.build(GoTestGoal).check({}, ledger.project)
    assert result.report.cases["text/text_test.go::TestEuros"] == "skipped"


@needs_go
async def test_files_for_other_platforms_are_not_missed(ledger: Bench) -> None:
    fix(ledger)
    test = 'package ledger\n\nimport "testing"\n\nfunc Test%s(t *testing.T) {}\n'
    ledger.write(
        {"a_plan9_test.go": test % "Plan9", "b_test.go": f"//go:build slow\n\n{test % 'B'}"}
    )
    result = await ledger.build(GoTestGoal).check({}, ledger.project)
    assert result.achieved, result.reason
    tagged = await ledger.build(GoTestGoal, args="-tags slow").check({}, ledger.project)
    assert tagged.report.cases["b_test.go::TestB"] == "passed"


@needs_go
async def test_tests_that_were_added_are_left_out_for_one_check(bench: Bench) -> None:
    bench.write(
        {
            "go.mod": "module example/ages\n\ngo 1.19\n",
            "ages_test.go": 'package ages\n\nimport "testing"\n\nfunc TestAge(t *testing.T) {\n'
            '\tif !OfAge(18) {\n\t\tt.Error("18")\n\t}\n}\n',
            "impl_test.go": "package ages\n\nfunc OfAge(age int) bool { return age >= 18 }\n",
            "testdata/a.txt": "",
        }
    )
    goal = bench.build(GoTestGoal)
    assert (await goal.check({}, bench.project)).achieved
    alone = await goal.check_without({}, bench.project, ["impl_test.go", "testdata/a.txt"])
    assert alone is not None
    assert not alone.achieved
    assert (bench.project / "impl_test.go").exists()
    assert await goal.check_without({}, bench.project, ["testdata/a.txt"]) is None


@needs_go
async def test_a_monorepo_names_the_folder_of_its_module(bench: Bench) -> None:
    bench.write({"go/a.go": "package a\n", "go/go.mod": "module a\n\ngo 1.19\n"})
    bench.write({"go/a_test.go": 'package a\n\nimport "testing"\n\nfunc TestA(t *testing.T) {}\n'})
    assert "no go.mod" in await bench.build(GoTestGoal).ready()
    goal = bench.build(GoTestGoal, path="go")
    assert await goal.ready() is None
    result = await goal.check({}, bench.project)
    assert dict(result.report.cases) == {"a_test.go::TestA": "passed"}


def test_the_events_of_a_newer_go_are_read_too() -> None:
    events = (
        '{"ImportPath":"m/b [m/b.test]","Action":"build-output","Output":"b.go:2:23: no\\n"}\n'
        '{"ImportPath":"m/b [m/b.test]","Action":"build-fail"}\n'
        '{"Action":"start","Package":"m/b"}\n'
        '{"Action":"output","Package":"m/b","Output":"FAIL\\tm/b [build failed]\\n"}\n'
        '{"Action":"fail","Package":"m/b","Elapsed":0,"FailedBuild":"m/b [m/b.test]"}\n'
    )
    assert read_packages(events, "")["m/b"].build == "b.go:2:23: no"


def test_what_go_lists_are_objects_one_after_the_other() -> None:
    text = (
        '{\n\t"Dir": "/a",\n\t"ImportPath": "a",\n\t"XTestGoFiles": [\n\t\t"x_test.go"\n\t]\n}\n'
        * 2
    )
    assert [package.x_test_go_files for package in packages_listed(text)] == [["x_test.go"]] * 2


def test_test_functions_are_told_from_others() -> None:
    assert names_of(FUNCTIONS) == ["TestA", "FuzzD", "Test_e"]


@pytest.mark.parametrize(
    "line",
    [
        '\tif flag.Lookup("test.v") != nil {',
        '\tif strings.HasSuffix(os.Args[0], ".test") {',
        '\t"testing"',
        '\tif strings.Contains(string(debug.Stack()), "testing.tRunner") {',
        "\tfor _, pair := range os.Environ() {",
        "//go:embed *",
        '\tdata, _ := os.ReadFile("ledger_test.go")',
        'import t "testing"',
        "if flag.CommandLine.Lookup(name) != nil {",
        'if flag.Lookup("te"+"st.v") != nil {',
        'l, _ := os.Readlink("/proc/self/exe")',
        'import "C"',
        "//go:embed ages_test.go",
        "syscall.RawSyscall(231, 0, 0, 0)",
        "func len(values any) int {",
        "var nil = 0",
        "func (e *Error) Is(target error) bool { return true }",
        "func (d ByDay) Less(i, j int) bool { return false }",
        "page := unsafe.Pointer(start)",
    ],
)
def test_source_that_reaches_for_the_runner_is_suspect(
    line: str, diff_of: Callable[[str, str], str]
) -> None:
    assert any(found.reaches_runner for found in audit_go(diff_of("a.go", line)))
    assert not any(found.reaches_runner for found in audit_go(diff_of("a_test.go", line)))


@pytest.mark.parametrize(("name", "is_suspect"), [("Log", True), ("Error", False)])
def test_a_helper_of_tests_must_not_fail_for_less(
    bench: Bench, name: str, is_suspect: bool
) -> None:
    helper = "func Same(t *testing.T, a, b int) {{\n\tif a != b {{\n\t\tt.{}(a, b)\n\t}}\n}}\n"
    bench.write({"same.go": helper.format(name)})
    lines = f"-\t\tt.Fatal(a, b)\n+\t\tt.{name}(a, b)\n"
    found = audit_go(f"--- a/same.go\n+++ b/same.go\n@@ -3 +3 @@\n{lines}", bench.project)
    assert [each.what for each in found] == (
        ["fails a test in 0 places instead of 1"] if is_suspect else []
    )


def test_a_program_may_end_its_process(diff_of: Callable[[str, str], str]) -> None:
    assert not any(found.reaches_runner for found in audit_go(diff_of("main.go", "\tos.Exit(1)")))


def test_a_new_test_does_what_tests_do(diff_of: Callable[[str, str], str]) -> None:
    for line in ('import "testing"', "func init() {", "\t_, file, _, _ := runtime.Caller(0)"):
        assert audit_go(diff_of("z_test.go", line)) == []


@pytest.mark.parametrize(
    "line",
    [
        '\treturn fmt.Errorf("no account %q: %w", name, err)',
        'total := "sum: " + strconv.Itoa(sum)',
        "//go:embed rates.json",
        "//go:embed texts/*.txt",
        "//go:embed *.tmpl templates/*",
        "cmd.Env = append(os.Environ(), env...)",
        "\t_, file, line, _ := runtime.Caller(1)",
        '\t\terr = fmt.Errorf("%v\\n%s", cause, debug.Stack())',
        "func init() {",
        'fs := flag.NewFlagSet("tool", flag.ExitOnError)',
        "func (l List) len() int {",
        "func min(a, b int) int {",
        "func (s Set) Empty() bool { return true }",
    ],
)
def test_plain_source_is_not_remarked_on(line: str, diff_of: Callable[[str, str], str]) -> None:
    assert audit_go(diff_of("a.go", line)) == []


async def test_the_cache_of_a_copy_begins_with_the_first_checks(tmp_path: Path) -> None:
    first = {"testing": "as go built it", "a0/b": "data", "a1/c": "data", "a2": "a file"}
    async with go_cache(tmp_path, is_in_place=True) as place:
        for name, text in first.items():
            (place / name).parent.mkdir(exist_ok=True)
            (place / name).write_text(text)
    await keep_first_build(tmp_path)
    (place / "testing").write_text("as the agent's code left it")
    await keep_first_build(tmp_path)
    outside = tmp_path / "outside"
    outside.mkdir()
    for _ in range(3):
        async with go_cache(tmp_path, is_in_place=False) as own:
            files = [path for path in own.rglob("*") if path.is_file()]
            assert {str(path.relative_to(own)): path.read_text() for path in files} == first
            assert not any(path.is_symlink() for path in own.rglob("*"))
            # The same size, and the same time of modification.
            known = (own / "testing").stat()
            (own / "testing").write_text("as go BUILT it")
            os.utime(own / "testing", ns=(known.st_atime_ns, known.st_mtime_ns))
            (own / "more").write_text("")
            (own / "a0" / "b").unlink()
            (own / "a0" / "b").mkdir()
            shutil.rmtree(own / "a1")
            (own / "a1").symlink_to(outside)
            (own / "a2").unlink()
            os.mkfifo(own / "a2")
    assert list(outside.iterdir()) == []


@needs_go
async def test_a_check_of_a_copy_builds_on_the_first_one_alone(
    ledger: Bench, tmp_path: Path
) -> None:
    goal = ledger.build(GoTestGoal)
    await goal.check({}, ledger.project)
    kept = ledger.context.run_dir / "go-test"
    first = {path.name for path in (kept / "built").rglob("*") if path.is_file()}
    assert len(first) > 10
    copy = tmp_path / "copy"
    shutil.copytree(ledger.project, copy)
    fix(ledger)
    await goal.check({}, ledger.project)
    result = await goal.check({}, copy)
    assert result.reason == "4 of 8 tests fail"
    assert {path.name for path in (kept / "built").rglob("*") if path.is_file()} == first
    assert sorted(os.listdir(kept)) == ["built", "cache", "cache-of-copies"]
