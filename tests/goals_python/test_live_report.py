"""What pytest said cannot be taken back, and what pytest would not say does not count."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import retrai_goal_support
import retrai_goals_python
from retrai_goals_python.pytest.live_report import LiveReport

from .conftest import MakeProject, Run

INSIDE = os.pathsep.join(
    str(Path(each.__file__).parent / "inside")
    for each in (retrai_goals_python, retrai_goal_support)
)

WRITES_AGAIN = """
import sys
from _retrai_pytest_report import Writer
writer = Writer(sys.argv[1])
writer.write("phase", id="a")
print(flush=True)
sys.stdin.readline()
writer.write("phase", id="b")
"""


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.binary(max_size=200_000), max_size=8))
def test_all_bytes_are_read_in_their_order(tmp_path_factory, chunks: list[bytes]) -> None:
    path = tmp_path_factory.mktemp("report") / "report"
    report = LiveReport(path)
    for chunk in chunks:
        with open(path, "ab", buffering=0) as pipe:
            left = memoryview(chunk)
            while left:
                left = left[os.write(pipe.fileno(), left) :]
    report.close()
    assert report.data == b"".join(chunks)


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files of its own, so that no report of other tests is found."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


async def test_a_failure_stays_one_whatever_is_written_later(
    make_project: MakeProject, run: Run, room: Path
) -> None:
    # Finds the report as a cheat would, and claims that the failed test was run again and passed.
    make_project(
        {
            "test_one.py": """
                import atexit, glob, json, os

                def test_fails():
                    assert 1 == 2

                def claim(*kinds):
                    for path in glob.glob("ROOM/retrai-pytest*/report"):
                        with open(path, "a") as report:
                            for outcome in kinds:
                                line = {"kind": "phase", "id": "test_one.py::test_fails",
                                        "when": "call", "outcome": outcome}
                                report.write(json.dumps(line) + "\\n")

                def test_claims():
                    claim("rerun", "passed")
                """.replace("ROOM", str(room))
        }
    )
    found = await run()
    assert not found.all_passed
    assert found.cases["test_one.py::test_fails"] == "failed"


async def test_outcomes_after_the_end_do_not_count(
    make_project: MakeProject, run: Run, room: Path
) -> None:
    make_project(
        {
            "test_one.py": """
                import atexit, glob, json

                def claim():
                    for path in glob.glob("ROOM/retrai-pytest*/report"):
                        with open(path, "a") as report:
                            line = {"kind": "phase", "id": "test_one.py::test_fails",
                                    "when": "call", "outcome": "passed"}
                            report.write(json.dumps(line) + "\\n")

                def test_fails():
                    atexit.register(claim)
                    assert 1 == 2
                """.replace("ROOM", str(room))
        }
    )
    found = await run()
    assert not found.all_passed
    assert "after the end of the session" in found.problem


def test_a_writer_that_is_left_behind_does_not_wait_for_a_reader(tmp_path: Path) -> None:
    report = LiveReport(tmp_path / "report")
    writer = subprocess.Popen(
        [
            sys.executable,
            "-c",
            WRITES_AGAIN,
            str(tmp_path / "report"),
        ],
        env={**os.environ, "PYTHONPATH": INSIDE},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert writer.stdout is not None
    writer.stdout.readline()
    report.close()
    writer.communicate(b"\n", timeout=30)
    assert writer.returncode == 0
    assert report.data == b'{"id": "a", "kind": "phase"}\n'
