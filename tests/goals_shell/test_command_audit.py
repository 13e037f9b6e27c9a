"""What is a trick in whatever a command runs, and what is plain work."""

from __future__ import annotations

import pytest

from retrai_goals_shell.command_audit import GOES_ON, audit_commands


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
        ("ages.js", ["require('node:assert'); assert.equal = () => {};"]),
        ("lib/ages.sh", ["shopt -s expand_aliases", "alias exit='return'"]),
        ("lib/ages.sh", ["readonly -f fail"]),
        ("lib/ages.sh", ["[() {", "  true", "}"]),
        ("lib/ages.sh", ["function [ {", "  true", "}"]),
        ("lib/ages.sh", ["cmp() {", "  command cmp -n 4", "}"]),
        ("lib/ages.sh", ["function grep() {", "  true", "}"]),
    ],
)
def test_source_that_bends_the_check_is_suspect(path: str, lines: list[str]) -> None:
    assert _suspect(path, *lines)


@pytest.mark.parametrize(
    ("path", "lines"),
    [
        ("main.py", ["if __name__ == '__main__':", "    sys.exit(main(sys.argv[1:]))"]),
        ("age.py", ["    sys.exit(1)"]),
        ("age.py", ["raise SystemExit('no such age')"]),
        ("age.py", ["atexit.register(pool.close)"]),
        ("age.py", ["text = 'Dear ' + name + ', welcome'"]),
        ("tests/test_more.py", ["import unittest"]),
        ("README.md", ["Run `python -m unittest`; its modules stand in sys.modules"]),
        ("options.py", ["    if argv is None:", "        argv = sys.argv[1:]"]),
        ("options.js", ["const given = process.argv.slice(2);"]),
        ("bin/run.js", ["process.exit(0);"]),
        ("check.rb", ["assert_equal 3, total"]),
        ("lib/ages.sh", ["alias ll='ls -l'", "readonly -a NAMES", "tested() {", "}"]),
        ("lib/ages.sh", ["compare() {", "  cmp one two", "}", "function difference {", "}"]),
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
    "line",
    [
        "if os.fork() == 0:",
        "subprocess.Popen(line, start_new_session=True)",
        "spawn('node', ['more.js'], { detached: true });",
        "nohup ./more.sh &",
    ],
)
def test_work_that_goes_on_after_the_end_is_suspect_where_time_counts(line: str) -> None:
    diff = f"--- a/job.py\n+++ b/job.py\n@@ -0,0 +1 @@\n+{line}\n"
    assert [each.reaches_runner for each in audit_commands(diff, also=[GOES_ON])] == [True]
    assert not any(each.reaches_runner for each in audit_commands(diff))
