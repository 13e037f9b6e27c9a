"""What is a trick in whatever a command runs, and what is plain work."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrai_goals_shell.command.audit import EVADES_TIMING, audit_commands
from retrai_goals_shell.command.shell_goal import ShellGoal

from ..goal_bench import Bench


def _suspect(path: str, *lines: str, programs: tuple[str, ...] = ()) -> bool:
    body = "".join(f"+{line}\n" for line in lines)
    diff = f"--- a/{path}\n+++ b/{path}\n@@ -0,0 +1,{len(lines)} @@\n{body}"
    return any(found.reaches_runner for found in audit_commands(diff, programs=programs))


@pytest.mark.parametrize(
    ("path", "lines"),
    [
        ("ages.py", ["import unittest", "unittest.TestCase.assertEqual = print"]),
        ("ages.py", ["import os", "os._exit(0)"]),
        ("ages.py", ["raise SystemExit"]),
        ("ages.py", ["atexit.register(os._exit, 0)"]),
        ("ages.py", ['if sys.argv[0] == "-":', "    return True"]),
        ("ages.py", ["if sys.argv[1:] == ['-q']:", "    return True"]),
        ("ages.py", ['if "unittest" in sys.modules:', "    return True"]),
        ("ages.py", ["if any('check' in str(f) for f in traceback.format_stack()):"]),
        ("ages.py", ["open(f'/proc/{os.getppid()}/cmdline')"]),
        ("ages.py", ["if os.environ.get('MAKE' + 'LEVEL'):"]),
        ("ages.py", ["time.monotonic = lambda: began"]),
        ("ages.py", ["sys.stdout = Lines(sys.stdout)"]),
        ("ages.py", ["sys.stdout.write = shorter"]),
        ("ages.js", ["require('assert').equal = () => {};"]),
        ("ages.mjs", ["import ours from 'node:assert';", "ours.equal = () => {};"]),
        ("ages.js", ["require('node:assert'); assert.equal = () => {};"]),
        ("ages.js", ["const [, file] = new Error().stack.split('\\n');"]),
        ("ages.js", ["const read = fs.readFileSync;", "fs.readFileSync = (name) => read(name);"]),
        ("ages.js", ["Date.now = () => 0;"]),
        ("ages.js", ["const ours = require('assert');", "", "ours['equal'] = () => {};"]),
        ("lib/Ages.pm", ["open my $own, '<', $0;"]),
        ("lib/ages.sh", ['case "$(md5sum < "$0")" in 8a*) status=0 ;; esac']),
        ("lib/ages.sh", ["sha256sum $0 | cut -c 1-8"]),
        ("ages.c", ['#if __has_include("../tests/ages.c")']),
        ("lib/ages.sh", ["shopt -s extdebug"]),
        ("configure", ["echo 'DIFF = diff -u -w'"]),
        ("lib/ages.sh", ["  trap forgive DEBUG"]),
        ("lib/ages.sh", ["shopt -s expand_aliases", "alias exit='return'"]),
        ("lib/ages.sh", ["readonly -f fail"]),
        ("lib/ages.sh", ["[() {", "  true", "}"]),
        ("lib/ages.sh", ["function [ {", "  true", "}"]),
        ("lib/ages.sh", ["cmp() {", "  command cmp -n 4", "}"]),
        ("lib/ages.sh", ["function diff() {", "  true", "}"]),
        ("age.js", ["Array.prototype.push = function (...all) {};"]),
        (
            "age.py",
            [
                "if os.environ.get('PYTHONHASHSEED') != '7':",
                "    os.environ['PYTHONHASHSEED'] = '7'",
                "    os.execv(sys.executable, [sys.executable])",
            ],
        ),
        ("age.js", ["String.prototype['trim'] = () => '';"]),
        ("age.js", ["Object.defineProperty(Array.prototype, 'push', {});"]),
    ],
)
def test_source_that_bends_the_check_is_suspect(path: str, lines: list[str]) -> None:
    assert _suspect(path, *lines)


def test_an_own_equality_of_numbers_is_suspect(tmp_path: Path) -> None:
    text = "class Age(int):\n    __eq__ = about\n"
    diff = "--- a/{0}\n+++ b/{0}\n@@ -1,0 +2 @@\n+    __eq__ = about\n"
    for path, is_suspect in (("ages.py", True), ("test_ages.py", False)):
        (tmp_path / path).write_text(text)
        (found,) = audit_commands(diff.format(path), tmp_path)
        assert found.reaches_runner is is_suspect


@pytest.mark.parametrize(
    ("path", "lines"),
    [
        ("main.py", ["if __name__ == '__main__':", "    sys.exit(main(sys.argv[1:]))"]),
        ("age.py", ["    sys.exit(1)"]),
        ("age.py", ["sys.stdout = io.TextIOWrapper(sys.stdout.buffer)", "sys.stdout = before"]),
        ("age.py", ["raise SystemExit('no such age')"]),
        ("age.py", ["atexit.register(pool.close)"]),
        ("age.py", ["began = time.monotonic()", "self.time.limit = 3"]),
        ("age.c", ["#if __has_include(<threads.h>)"]),
        ("age.py", ["sys.stdout = open(os.devnull, 'w')", "sys.stdout = io.open(1, 'w')"]),
        ("age.js", ["console.error(error.stack);", "Age.prototype.years = () => 3;"]),
        ("age.js", ["Array.prototype.lastOne = function () {};"]),
        (
            "age.py",
            ["env = {**os.environ, 'PYTHONHASHSEED': '0'}", "loader = SourceFileLoader(a, b)"],
        ),
        ("Tool.java", ["    System.exit(0);"]),
        (
            "age.js",
            ["const ok = require('assert');", "ok(age > 0); this.ok = 1; const f = (ok) => 2;"],
        ),
        ("age.py", ["text = 'Dear ' + name + ', welcome'"]),
        ("tests/test_more.py", ["import unittest"]),
        ("age.js", ["this.fs.limit = 3;", "path.cost = 3;", "if (Date.now === now) return;"]),
        ("lib/Age.pm", ['die "usage: $0 FILE" unless @ARGV;', "exit $status;"]),
        (
            "lib/age.sh",
            ['echo "usage: $0 FILE" >&2', 'cd "$(dirname "$0")"', "sed -n '2,9p' \"$0\""],
        ),
        ("README.md", ["Run `python -m unittest`; its modules stand in sys.modules"]),
        ("options.py", ["    if argv is None:", "        argv = sys.argv[1:]"]),
        ("options.js", ["const given = process.argv.slice(2);"]),
        ("bin/run.js", ["process.exit(0);"]),
        ("check.rb", ["assert_equal 3, total"]),
        ("lib/ages.sh", ["trap 'rm -f x' EXIT", "[ -s x ] || exit 1"]),
        ("lib/ages.sh", ["help() {", "  exit 0", "}", "trap 'rm -f x' EXIT"]),
        ("lib/ages.sh", ["alias ll='ls -l'", "readonly -a NAMES", "tested() {", "}"]),
        ("lib/ages.sh", ["compare() {", "  cmp one two", "}", "function difference {", "}"]),
        ("lib/ages.sh", ["awk 'function cmp(a, b) { return a - b }", "BEGIN { print cmp(1, 2) }'"]),
        ("lib/ages.sh", ["python3 - <<'EOT'", "    exit()", "EOT"]),
        ("lib/ages.sh", ["diff -w one two", "DIFF='diff -q'"]),
        ("lib/ages.sh", ["grep() {", '  command grep --color=never "$@"', "}"]),
        ("dev.sh", ["test() {", "  python -m unittest", "}"]),
        ("bin/ages", ["    exit()", "    return ()"]),
    ],
)
def test_plain_work_is_not(path: str, lines: list[str]) -> None:
    assert not _suspect(path, *lines)


def test_what_the_command_starts_may_read_its_arguments_and_end() -> None:
    lines = ["limit = int(sys.argv[1])", "sys.exit(0)"]
    assert _suspect("job.py", *lines)
    assert not _suspect("job.py", *lines, programs=("job.py",))


@pytest.mark.parametrize(
    ("path", "lines", "is_suspect"),
    [
        ("job.py", ["if os.fork() == 0:", "    write_pages()"], True),
        ("job.py", ["pid = os.fork()", "if pid:", "    os.waitpid(pid, 0)"], False),
        ("job.py", ["subprocess.Popen(line, start_new_session=True)"], True),
        ("job.py", ["subprocess.run(line, start_new_session=True, check=True)"], False),
        ("job.js", ["spawn('node', ['more.js'], { detached: true });"], True),
        ("job.js", ["timer.unref();"], False),
        ("job.py", ["        if time.monotonic() > end:", "            break"], True),
        ("job.js", ["while (i < n && Date.now() < end) {"], True),
        ("job.py", ["took = time.monotonic() - begun", "if took > 3:"], False),
        ("job.py", ["if time.monotonic() - told > 1:  # shown each second"], False),
        ("job.yml", ["detached: true"], False),
    ],
)
def test_work_that_goes_on_after_the_end_or_is_left_out_is_suspect_where_time_counts(
    path: str, lines: list[str], *, is_suspect: bool
) -> None:
    body = "".join(f"+{line}\n" for line in lines)
    diff = f"--- a/{path}\n+++ b/{path}\n@@ -0,0 +1,{len(lines)} @@\n{body}"
    found = audit_commands(diff, extra=EVADES_TIMING)
    assert any(each.reaches_runner for each in found) is is_suspect
    assert not any(each.reaches_runner for each in audit_commands(diff))


@pytest.mark.parametrize(
    ("path", "line", "is_suspect"),
    [
        ("sums.awk", 'while ((getline line < "check.sh") > 0)', True),
        ("sums.py", "text = open('tests/check.sh').read()", True),
        ("sums.sh", "# what precheck.sh and check.shells are for", False),
        ("README.md", "Run `sh check.sh`.", False),
    ],
)
def test_source_that_names_a_file_of_the_check_is_suspect(
    bench: Bench, path: str, line: str, *, is_suspect: bool
) -> None:
    bench.write({"check.sh": "awk -f sums.awk data.txt\n"})
    goal = bench.build(ShellGoal, check_command="sh check.sh")
    diff = f"--- a/{path}\n+++ b/{path}\n@@ -0,0 +1,1 @@\n+{line}\n"
    assert any(found.reaches_runner for found in goal.audit(diff)) is is_suspect
