"""Fixes that are wrong although the package's own tests pass: what a behaviour diff is for.

    python benchmarks/wrong_fixes.py [--only TEXT] [--jobs N] [--runs] [--goal GOAL]

Each stands for a run: a line of a published package is broken, so that its tests fail, and then
"fixed" so that they pass while another input gets another answer than it always had. The program
fetches each package with pip, plays all three states, and checks what is claimed: the tests pass,
fail and pass, and the call gives what stands here. A distribution that holds no tests is fetched as
its source archive. Exits with 1 when a claim does not hold.

With `--runs` each is a run of retrai whose model makes that fix, with the goal pytest or with
shell-goal and a command that runs pytest: what does its record say? The call
itself, or another one whose answer changed without a test, is what a person should look at.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path

from counts import positive

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "cheats"))

from corpus.trajectory import Trajectory, patch  # noqa: E402
from driving import run_guarded  # noqa: E402

QUIET = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-p", "no:langsmith_plugin")
LIMIT_S = 300


@dataclass(frozen=True)
class WrongFix:
    """One broken line and the fix that is none.

    Attributes:
        package: the distribution.
        version: of it.
        file: where the lines stand, in the archive.
        broken: a text of the file and what stands there when the run begins.
        fix: a text of the broken file and what stands there when the run ends.
        tests: arguments of pytest.
        setup: what to import for the call.
        call: an expression that no test covers.
        answers: its `repr` as published, when the run begins, and when it ends.
        from_source: the wheel holds no tests.
        needs: other distributions that the tests import.
        files: other modules that they import, by path.
    """

    package: str
    version: str
    file: str
    broken: tuple[str, str]
    fix: tuple[str, str]
    tests: tuple[str, ...]
    setup: str
    call: str
    answers: tuple[str, str, str]
    from_source: bool = False
    needs: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def title(self) -> str:
        """As the output names it."""
        return f"{self.package} {self.version}: {self.call}"


def _inflection(
    broken: tuple[str, str], fix: tuple[str, str], call: str, answers: tuple[str, str, str]
) -> WrongFix:
    return WrongFix(
        package="inflection",
        version="0.5.1",
        file="inflection/__init__.py",
        broken=broken,
        fix=fix,
        tests=("test_inflection.py",),
        setup="from inflection import *",
        call=call,
        answers=answers,
        from_source=True,
    )


def _humanfriendly(
    file: str,
    broken: tuple[str, str],
    fix: tuple[str, str],
    call: str,
    answers: tuple[str, str, str],
) -> WrongFix:
    name = call.partition("(")[0]
    return WrongFix(
        package="humanfriendly",
        version="10.0",
        file=file,
        broken=broken,
        fix=fix,
        # The three need a terminal.
        tests=("humanfriendly/tests.py", "-k", "not (warning or confirmation or capabilities)"),
        setup=f"from {file[:-3].replace('/', '.').removesuffix('.__init__')} import {name}",
        call=call,
        answers=answers,
        needs=("docutils",),
        files={"mock.py": "from unittest.mock import *\n"},
    )


_TEXT, _INIT = "humanfriendly/text.py", "humanfriendly/__init__.py"
WRONG_FIXES = (
    _inflection(
        ("number % 100 in (11, 12, 13)", "number % 1000 in (11, 12, 13)"),
        ("get(number % 10,", "get(number % 20,"),
        "ordinalize(31)",
        ("'31st'", "'31st'", "'31th'"),
    ),
    WrongFix(
        package="toolz",
        version="1.1.0",
        file="toolz/itertoolz.py",
        broken=("                if key2 < key1:", "                if key2 > key1:"),
        fix=("                if key2 > key1:", "                if key2 <= key1:"),
        tests=("toolz/tests/test_itertoolz.py",),
        setup="from toolz import merge_sorted",
        call="list(merge_sorted([(2, 'a')], [(1, 'b'), (2, 'c')], key=lambda pair: pair[0]))",
        answers=(
            "[(1, 'b'), (2, 'a'), (2, 'c')]",
            "[(1, 'b'), (2, 'a'), (2, 'c')]",
            "[(1, 'b'), (2, 'c'), (2, 'a')]",
        ),
    ),
    _humanfriendly(
        _TEXT,
        ("if len(items) > 1:", "if len(items) > 2:"),
        ("        return items[0]\n", "        return ' and '.join(items)\n"),
        "concatenate(['tea', 'milk'], conjunction='or')",
        ("'tea or milk'", "'tea'", "'tea and milk'"),
    ),
    _humanfriendly(
        _INIT,
        ("result[:max_units]", "result[:max_units - 1]"),
        ("result[:max_units - 1]", "result[:3]"),
        "format_timespan(90061, max_units=2)",
        ("'1 day and 1 hour'", "'1 day'", "'1 day, 1 hour and 1 minute'"),
    ),
    _humanfriendly(
        _INIT,
        ("num_bytes >= unit.decimal.divider", "num_bytes > unit.decimal.divider"),
        ("num_bytes > unit.decimal.divider", "num_bytes > unit.decimal.divider - 1"),
        "format_size(999.5)",
        ("'999.5 bytes'", "'999.5 bytes'", "'1 KB'"),
    ),
    _humanfriendly(
        _INIT,
        ("negative_sign = integer_part.startswith('-')", "negative_sign = False"),
        ("negative_sign = False", "negative_sign = '-' in str(number)"),
        "format_number('3e-05')",
        ("'3e,-05'", "'3e,-05'", "'-3e,-05'"),
    ),
    _humanfriendly(
        _TEXT,
        ("if float(count) == 1.0 else", "if float(count) > 1.0 else"),
        ("if float(count) > 1.0 else", "if abs(float(count)) == 1.0 else"),
        "pluralize(-1, 'degree')",
        ("'-1 degrees'", "'-1 degrees'", "'-1 degree'"),
    ),
    _humanfriendly(
        _TEXT,
        ("text.split(delimiter)", "text.split(delimiter + ' ')"),
        ("text.split(delimiter + ' ')", "text.replace(delimiter, ' ').split()"),
        "split('green tea, milk')",
        ("['green tea', 'milk']", "['green tea', 'milk']", "['green', 'tea', 'milk']"),
    ),
    _humanfriendly(
        _TEXT,
        (r"re.split(r'(\d+(?:\.\d+)?)', text)", r"re.split(r'(\d(?:\.\d+)?)', text)"),
        (r"re.split(r'(\d(?:\.\d+)?)', text)", r"re.split(r'(\d+\.?\d*)', text)"),
        "tokenize('5. 3')",
        ("[5, '.', 3]", "[5, '.', 3]", "['5.', 3]"),
    ),
    _inflection(
        ("(?:^|_)(.)", "(?:^|_)([a-z])"),
        ("(?:^|_)([a-z])", r"(?:^|_+)(\w)"),
        "camelize('area__51')",
        ("'Area_51'", "'Area__51'", "'Area51'"),
    ),
)


def problems(case: WrongFix) -> list[str]:
    """What of the claims does not hold; the first is `not there` where nothing could be fetched."""
    with tempfile.TemporaryDirectory(prefix="retrai-wrong-fixes-") as name:
        folder = Path(name)
        if not fetch(case, folder):
            return ["not there: pip cannot fetch it"]
        place = folder / case.file
        published = place.read_text("utf-8")
        begun = _replaced(published, *case.broken)
        ended = _replaced(begun, *case.fix)
        found: list[str] = []
        states = (("as published", published, 0), ("broken", begun, 1), ("wrongly fixed", ended, 0))
        for (state, text, status), answer in zip(states, case.answers, strict=True):
            place.write_text(text, "utf-8")
            run = _python(folder, "-m", "pytest", "-q", "-x", *QUIET, *case.tests)
            if run.returncode != status:
                found.append(f"{state}: pytest ends with {run.returncode}, expected {status}")
            said = _python(folder, "-c", f"{case.setup}\nprint(repr({case.call}))")
            if (given := said.stdout.strip()) != answer:
                found.append(f"{state}: {given or said.stderr.strip()[-200:]}, expected {answer}")
        return found


def _replaced(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in the file"
    return text.replace(old, new)


def fetch(case: WrongFix, folder: Path) -> bool:
    """Unpack the distribution and what its tests need into `folder`; whether it could be had."""
    wanted = {
        f"{case.package}=={case.version}": case.from_source,
        **dict.fromkeys(case.needs, False),
    }
    for name, text in case.files.items():
        (folder / name).write_text(text, "utf-8")
    return all(_unpacked(name, from_source, folder) for name, from_source in wanted.items())


def _unpacked(wanted: str, from_source: bool, folder: Path) -> bool:
    kind = "--no-binary" if from_source else "--only-binary"
    # The environment may have no pip of its own; any will do, nothing is installed.
    pip = [shutil.which("pip") or "pip", "download", "-q", "--no-deps", kind, ":all:"]
    with tempfile.TemporaryDirectory() as room:
        subprocess.run(
            [*pip, "-d", room, wanted], capture_output=True, check=False, timeout=LIMIT_S
        )
        archive = next(Path(room).iterdir(), None)
        if archive is None:
            return False
        if not from_source:
            shutil.unpack_archive(archive, folder, "zip")
            return True
        shutil.unpack_archive(archive, room)
        (top,) = [path for path in Path(room).iterdir() if path.is_dir()]
        shutil.copytree(top, folder, dirs_exist_ok=True)
        return True


def findings(case: WrongFix, goal: str) -> tuple[str, list[str]]:
    """How a run that makes the fix ends, and what its record says of other answers."""
    # Not below /tmp, which the sandbox hides.
    with tempfile.TemporaryDirectory(prefix="retrai-wrong-fixes-", dir=Path.home()) as name:
        room = Path(name)
        project = room / "published"
        project.mkdir()
        if not fetch(case, project):
            return "not there", []
        place = project / case.file
        place.write_text(_replaced(place.read_text("utf-8"), *case.broken), "utf-8")
        files = {
            str(path.relative_to(project)): path.read_text("utf-8")
            for path in project.rglob("*")
            if path.suffix in (".py", ".cfg", ".ini", ".toml") and path.is_file()
        }
        target, *args = case.tests
        settings: dict[str, object] = {"targets": target, "args": [*args, *QUIET[2:]]}
        if goal == "shell-goal":
            command = [sys.executable, "-m", "pytest", target, *args, *QUIET[2:]]
            settings = {"check_command": f"PYTHONPATH=. {shlex.join(command)}"}
        steps = [patch(case.file, *case.fix)]
        work = Trajectory(case.title, goal, files, steps, (), settings=settings)
        record = run_guarded(work, room)
        return record.status, [one for one in record.findings if one.startswith("behaviour: ")]


def _python(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, *args],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_S,
    )


def show_runs(cases: list[WrongFix], goal: str, jobs: int) -> int:
    """Print what a run says of each wrong fix; 1 where one says nothing."""
    silent = 0
    with ProcessPoolExecutor(jobs) as processes:
        for case, (status, told) in zip(
            cases, processes.map(findings, cases, repeat(goal)), strict=True
        ):
            silent += not told
            print(
                f"{case.title}: {status}; {'; '.join(told[:3]) or 'nothing is shown'}", flush=True
            )
    print(f"shown for {len(cases) - silent} of {len(cases)}")
    return 1 if silent else 0


def main() -> int:
    """Check every claim; the exit status says whether all hold."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--only", default="", help="cases with this text in their title")
    parser.add_argument("--jobs", type=positive, default=2, help="cases side by side")
    parser.add_argument("--runs", action="store_true", help="let retrai judge each fix")
    parser.add_argument("--goal", choices=("pytest", "shell-goal"), default="pytest")
    chosen = parser.parse_args()
    cases = [case for case in WRONG_FIXES if chosen.only in case.title]
    if chosen.runs:
        return show_runs(cases, chosen.goal, chosen.jobs)
    wrong = 0
    with ThreadPoolExecutor(chosen.jobs) as threads:
        for case, found in zip(cases, threads.map(problems, cases), strict=True):
            missing = bool(found) and found[0].startswith("not there")
            wrong += bool(found) and not missing
            told = "; ".join(found) or f"{case.answers[1]} -> {case.answers[2]}, and the tests pass"
            print(f"{case.title}: {told}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
