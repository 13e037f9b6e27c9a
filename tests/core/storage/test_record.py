"""The run record, and that no kill, text or file name costs it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from retrai_core import CheckReport, GoalResult
from retrai_core.contracts.record import EXIT_CODES, CheckEvidence, GoalRecord, RunRecord


def a_record(**fields: object) -> RunRecord:
    values = {
        "id": "abc",
        "goals": [{"name": "pytest"}],
        "model": "offline",
        "project": Path("/p"),
    } | fields
    return RunRecord.model_validate(values)


def test_a_record_comes_back_as_it_was_saved(tmp_path: Path) -> None:
    record = a_record(
        status="achieved",
        goals=[
            GoalRecord(
                name="pytest",
                before=CheckEvidence(achieved=False, reason="2 failed", counts={"failed": 2}),
            )
        ],
        changed_files=["näme with spaces.py"],
        config={"goal": "pytest"},
        cost_usd=0.25,
    )
    record.save(tmp_path)
    assert RunRecord.load(tmp_path) == record


def test_saving_leaves_one_file_that_only_the_user_can_read(tmp_path: Path) -> None:
    record = a_record()
    for _ in range(3):
        record.save(tmp_path)
    [path] = tmp_path.iterdir()
    assert path.name == "run.json"
    assert path.stat().st_mode & 0o077 == 0


def test_names_that_are_not_utf_8_cost_no_record(tmp_path: Path) -> None:
    record = a_record(project=Path(os.fsdecode(b"/p/caf\xe9")))
    record.reason = "half a pair \ud83d of a surrogate"
    record.changed_files = [os.fsdecode(b"caf\xe9.py")]
    record.save(tmp_path)
    assert RunRecord.load(tmp_path).reason == "half a pair ? of a surrogate"


def test_the_configuration_names_the_run_so_that_a_resume_finds_it(tmp_path: Path) -> None:
    a_record(config={"goal": "pytest"}).save(tmp_path)
    assert RunRecord.load(tmp_path).config == {"goal": "pytest", "run_id": "abc"}


def test_fields_of_a_later_version_are_passed_over(tmp_path: Path) -> None:
    a_record().save(tmp_path)
    later = json.loads((tmp_path / "run.json").read_text()) | {"mood": "good"}
    (tmp_path / "run.json").write_text(json.dumps(later))
    assert RunRecord.load(tmp_path).id == "abc"


def test_a_record_of_retrai_0_1_is_read_with_its_goal(tmp_path: Path) -> None:
    check = {"achieved": False, "reason": "1 fails", "counts": {"failed": 1}}
    old = {
        "schema_version": 1,
        "id": "abc",
        "goal": "pytest",
        "goal_evidence": "conftest.py",
        "model": "offline",
        "project": "/p",
        "task": "mind the gap",
        "status": "failed",
        "started_at": 1.5,
        "before": check,
        "flaky": ["t::a"],
        "config": {"goal": "pytest", "options": {"args": "-x"}, "max_iterations": 9},
    }
    (tmp_path / "run.json").write_text(json.dumps(old))
    record = RunRecord.load(tmp_path)
    (goal,) = record.goals
    assert (record.schema_version, goal.name, goal.found_by) == (2, "pytest", "conftest.py")
    assert goal.before is not None
    assert goal.before.counts == {"failed": 1}
    assert (goal.options, goal.flaky) == ({"args": "-x"}, ["t::a"])
    assert (record.limits.max_iterations, record.created_at) == (9, 1.5)
    assert record.input == {"task": "mind the gap"}


def test_a_record_of_a_later_form_is_refused_with_what_to_do(tmp_path: Path) -> None:
    later = a_record().model_dump(mode="json") | {"schema_version": 3}
    (tmp_path / "run.json").write_text(json.dumps(later))
    with pytest.raises(ValueError, match="the form 3, and this retrai knows 2: `pip install -U"):
        RunRecord.load(tmp_path)


@pytest.mark.parametrize(
    ("status", "resumable"),
    [
        ("pending", True),
        ("failed", True),
        ("interrupted", True),
        ("error", True),
        ("achieved", False),
        ("aborted", False),
        ("tampered", False),
    ],
)
def test_what_can_be_gone_on_with(status: str, resumable: bool) -> None:
    assert a_record(status=status).resumable is resumable


def test_every_status_that_ends_a_run_badly_has_an_exit_code_of_its_own() -> None:
    codes = [code for status, code in EXIT_CODES.items() if status not in ("achieved", "answered")]
    assert len(set(codes)) == len(codes)
    assert EXIT_CODES["achieved"] == EXIT_CODES["answered"] == 0
    assert 0 not in codes
    assert 2 not in EXIT_CODES.values(), "2 is a usage error"


def test_evidence_counts_cases_and_names_command_and_interpreter() -> None:
    report = CheckReport(
        {"a": "passed", "b": "failed", "c": "passed"}, command=["pytest"], interpreter="/py"
    )
    evidence = CheckEvidence.of(GoalResult(False, "1 failed", report=report))
    assert evidence.counts == {"passed": 2, "failed": 1}
    assert (evidence.command, evidence.interpreter) == (["pytest"], "/py")
    assert CheckEvidence.of(GoalResult(True, "ok")).counts == {}


SAVING = """
import sys
from pathlib import Path
from retrai_core.contracts.record import RunRecord

record = RunRecord(id="abc", model="offline", project=Path("/p"))
while True:
    record.iterations += 1
    record.reason = "x" * 20_000
    record.save(Path(sys.argv[1]))
    print(flush=True)
"""


def test_a_record_is_whole_whenever_the_process_is_killed(tmp_path: Path) -> None:
    saving = subprocess.Popen([sys.executable, "-c", SAVING, str(tmp_path)], stdout=subprocess.PIPE)
    assert saving.stdout is not None
    for _ in range(20):
        saving.stdout.readline()
        assert RunRecord.load(tmp_path).iterations > 0
    saving.send_signal(signal.SIGKILL)
    saving.wait()
    saving.stdout.close()
    record = RunRecord.load(tmp_path)
    assert record.iterations >= 20
    assert len(record.reason) == 20_000
