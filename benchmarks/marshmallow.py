"""A real model's recorded decisions, replayed on the real project they were made for.

    python benchmarks/marshmallow.py [--trajectory FILE] [--keep FOLDER]

Takes the source distribution of marshmallow 3.0.0 from the package registry, unpacks it, makes an
environment beside it, adds one test (a `DateTime` inside a `List` takes the schema's
`datetimeformat`) that fails, and lets `retrai run pytest --model replay:FILE` make the 74 tool
calls that deepseek-chat made under mini-swe-agent, until the check passes. Prints what came of it.
Exits 1 unless the run ends `achieved` with 912 passed tests, and no step that changed no file ran
the tests again.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PINNED = "marshmallow==3.0.0"
BESIDE_IT = ("pytest<8", "pytz", "simplejson", "python-dateutil", "setuptools<70", "wheel")
TRAJECTORY = "../shared/data/trajectories/marshmallow-1359.traj.json"
EXPECTED_BEFORE = {"failed": 1, "passed": 911}
EXPECTED_AFTER = {"passed": 912}
TEST = """\
import datetime as dt

from marshmallow import Schema, fields


def test_datetime_inside_a_list_takes_the_datetimeformat_of_its_schema():
    class MySchema(Schema):
        class Meta:
            datetimeformat = "%d.%m.%Y"

        times = fields.List(fields.DateTime())

    dumped = MySchema().dump({"times": [dt.datetime(2019, 8, 21)]})
    assert dumped == {"times": ["21.08.2019"]}
"""


@dataclass(frozen=True)
class Measured:
    """One replay.

    Attributes:
        record: the run record that `--json` printed.
        events: the run's log.
        wall_s: wall-clock seconds of the whole command.
        cpu_s: CPU seconds of the command and of all that it started.
    """

    record: Mapping[str, Any]
    events: Sequence[Mapping[str, Any]]
    wall_s: float
    cpu_s: float


def main() -> int:
    """Prepare, replay, print; the exit code."""
    parser = argparse.ArgumentParser(description="Replay a recorded run on marshmallow 3.0.0.")
    default = Path(__file__).resolve().parents[1] / TRAJECTORY
    parser.add_argument("--trajectory", type=Path, default=default)
    parser.add_argument("--keep", type=Path, help="a folder to work in, and to leave behind")
    options = parser.parse_args()
    if not options.trajectory.is_file():
        print(f"there is no {options.trajectory}; name the recorded run with --trajectory")
        return 2
    with ExitStack() as closing:
        folder = options.keep or Path(closing.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        folder = folder.resolve()
        project, environment = prepare(folder)
        measured = replay(folder, project, environment, options.trajectory.resolve())
    return report(measured)


def prepare(folder: Path) -> tuple[Path, Path]:
    """The unpacked project with its failing test, and its environment."""
    environment = folder / "environment"
    python = environment / "bin" / "python"
    call([sys.executable, "-m", "venv", str(environment)])
    pip = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check"]
    call([*pip, "install", *BESIDE_IT])
    downloads = folder / "downloads"
    call([*pip, "download", "--no-binary", ":all:", "--no-deps", PINNED, "--dest", str(downloads)])
    (archive,) = downloads.glob("*.tar.gz")
    shutil.unpack_archive(archive, folder)
    project = folder / archive.name.removesuffix(".tar.gz")
    call([*pip, "install", "--no-build-isolation", "--no-deps", "--editable", str(project)])
    (project / "tests" / "test_datetime_in_list.py").write_text(TEST, encoding="utf-8")
    return project, environment


def call(command: Sequence[str]) -> None:
    """Run a step of the preparation; its output is shown only when it fails."""
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\nfailed:\n{done.stdout}")


def replay(folder: Path, project: Path, environment: Path, trajectory: Path) -> Measured:
    """One `retrai run`, with its runs kept below `folder`."""
    command = [
        *(sys.executable, "-m", "retrai_core", "run", "pytest", "-C", str(project)),
        *("--model", f"replay:{trajectory}", "--max-iterations", "100", "--json"),
    ]
    state = folder / "state"
    variables = {
        **os.environ,
        "VIRTUAL_ENV": str(environment),
        "XDG_STATE_HOME": str(state),
        "XDG_CONFIG_HOME": str(folder / "config"),
    }
    before, started = children_cpu_s(), time.monotonic()
    with (folder / "progress.log").open("w", encoding="utf-8") as progress:
        done = subprocess.run(
            command, env=variables, stdout=subprocess.PIPE, stderr=progress, text=True, check=False
        )
    wall_s, cpu_s = time.monotonic() - started, children_cpu_s() - before
    if not done.stdout.strip():
        sys.exit((folder / "progress.log").read_text(encoding="utf-8"))
    (log,) = state.rglob("events.jsonl")
    events = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    return Measured(json.loads(done.stdout), events, wall_s, cpu_s)


def children_cpu_s() -> float:
    """CPU seconds of every process that was started and waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def report(measured: Measured) -> int:
    """Print the figures; 1 when the run did not end as it should."""
    record = measured.record
    checks = [e["payload"] for e in measured.events if e["kind"] == "goal_check"]
    run = [check for check in checks if not check["remembered"]]
    calls = sum(1 for event in measured.events if event["kind"] == "tool_call")
    needless = [step for step in reading_steps(measured.events) if not step.remembered]
    rows = [
        ("outcome", f"{record['status']}: {record['reason']}"),
        ("before", counted(record["goals"][0]["before"])),
        ("after", counted(record["goals"][0]["after"])),
        ("iterations", record["iterations"]),
        ("tool calls", calls),
        ("checks that ran", f"{len(run)} ({', '.join(check['phase'] for check in run)})"),
        ("checks remembered", len(checks) - len(run)),
        ("steps that changed no file and ran the tests", len(needless)),
        ("seconds in checks", round(sum(check["duration_s"] for check in run), 1)),
        ("CPU seconds", round(measured.cpu_s, 1)),
        ("wall seconds", round(measured.wall_s, 1)),
    ]
    for label, value in rows:
        print(f"{label:45} {value}")
    for step in needless:
        print(f"  needless: {step.command}")
    as_expected = (
        record["status"] == "achieved"
        and record["goals"][0]["before"]["counts"] == EXPECTED_BEFORE
        and record["goals"][0]["after"]["counts"] == EXPECTED_AFTER
        and not needless
    )
    return 0 if as_expected else 1


@dataclass(frozen=True)
class Step:
    """One iteration whose command only looked at files, and whether its check was remembered."""

    command: str
    remembered: bool


def reading_steps(events: Sequence[Mapping[str, Any]]) -> list[Step]:
    """The steps whose every command is one that cannot change a file."""
    steps: list[Step] = []
    commands: list[str] = []
    for event in events:
        payload = event["payload"]
        if event["kind"] == "tool_call":
            commands.append(str(payload["args"].get("command", "")))
        elif event["kind"] == "goal_check" and payload["phase"] == "iteration":
            if commands and all(only_reads(command) for command in commands):
                steps.append(Step("; ".join(commands), payload["remembered"]))
            commands = []
    return steps


def only_reads(command: str) -> bool:
    first = command.split(maxsplit=1)[0] if command.split() else ""
    return first in ("grep", "sed", "head", "find", "pwd") and not re.search(r">| -i\b", command)


def counted(evidence: Mapping[str, Any]) -> str:
    return ", ".join(f"{number} {name}" for name, number in evidence["counts"].items())


if __name__ == "__main__":
    sys.exit(main())
