"""The check cannot be bent: protected files, steering files, tampering, cases that went away."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest

from retrai_core.contracts.goal import CaseOutcome, CheckReport, GoalResult
from retrai_core.errors import RetraiError
from retrai_core.storage.snapshots import Snapshots
from retrai_core.verification import clean_copy
from retrai_core.verification.baseline import Baseline, stamp_of
from retrai_core.verification.clean_copy import make_clean_copy
from retrai_core.verification.verdict import judge

Runs = Any


def call(name: str, **args: Any) -> dict[str, Any]:
    """One turn that calls one tool."""
    return {"text": f"calling {name}", "calls": [{"name": name, "args": args}]}


MEND = call("put", path="a.txt", text="right\n")
BEND = "a.txt: wrong\nb.txt: fine\n"


async def test_writing_a_protected_file_is_refused_with_the_reason(runs: Runs) -> None:
    record = await runs.run([call("put", path="expected.txt", text=BEND), MEND])
    assert record.status == "achieved"
    result = runs.events(record, "tool_result")[0].payload
    assert result["error"]
    assert "expected.txt belongs to the check" in result["content"]
    assert len(record.refused) == 1
    assert record.changed_files == ["a.txt"]


async def test_a_shell_that_changes_the_check_is_undone_and_told(runs: Runs) -> None:
    bend = call("shell", line=f"printf '{BEND}' > expected.txt; rm -r checks; ln -s /etc checks")
    record = await runs.run([bend, MEND])
    assert record.status == "achieved"
    assert "a.txt: right" in (runs.project / "expected.txt").read_text()
    assert (runs.project / "checks" / "check.txt").read_text() == "the check\n"
    assert not (runs.project / "checks").is_symlink()
    told = "\n".join(runs.seen(record)[-1])
    assert "Undone: expected.txt: changed, but it belongs to the check" in told
    # A person may have written it: nothing is lost.
    aside = runs.store.folder(record.id) / "baseline" / "set_aside"
    assert [path.read_text() for path in aside.rglob("expected.txt")] == [BEND]
    assert f"what stood there is kept in {aside}" in [
        event.payload["message"] for event in runs.events(record, "log")
    ]


async def test_a_new_steering_file_is_set_aside(runs: Runs) -> None:
    record = await runs.run([call("shell", line="echo bent > steer.cfg"), MEND])
    assert record.status == "achieved"
    assert not (runs.project / "steer.cfg").exists()
    kept = list((runs.store.folder(record.id) / "baseline" / "set_aside").rglob("steer.cfg"))
    assert [path.read_text() for path in kept] == ["bent\n"]


async def test_the_clean_copy_of_a_monorepos_part_stands_below_the_repositorys_configuration(
    runs: Runs,
) -> None:
    repository = runs.project.parent
    (repository / ".git").mkdir()
    (repository / "steer.cfg").write_text("the repository's own\n")
    expected = "a.txt: right\n../steer.cfg: the repository's own\n"
    (runs.project / "expected.txt").write_text(expected)
    record = await runs.run([MEND])
    assert record.status == "achieved"
    copy = Path(runs.checks(record)[-1])
    assert copy != runs.project
    assert copy.parts[-2:] == runs.project.parts[-2:]


async def test_a_link_to_a_folder_with_a_steering_file_is_set_aside(runs: Runs) -> None:
    (runs.project / "own").symlink_to("checks")
    bend = "mkdir lib; echo bent > lib/steer.txt; ln -s lib linked"
    record = await runs.run([call("shell", line=bend), MEND])
    assert record.status == "achieved"
    assert not (runs.project / "linked").is_symlink()
    assert (runs.project / "lib" / "steer.txt").exists()
    assert (runs.project / "own").is_symlink(), "it was there before"


async def test_a_steering_file_that_was_there_stays(runs: Runs) -> None:
    (runs.project / "steer.cfg").write_text("the project's own\n")
    record = await runs.run([MEND])
    assert record.status == "achieved"
    assert record.refused == []
    assert (runs.project / "steer.cfg").exists()


async def test_what_programs_write_beside_inputs_is_put_back_and_no_tampering(runs: Runs) -> None:
    cases = runs.project / "cases"
    cases.mkdir()
    (cases / "a.in").write_text("2\n")
    (cases / "a.out").write_text("4\n")
    tries = [call("shell", line=f"echo {number} > cases/a.out") for number in range(4)]
    record = await runs.run([*tries, MEND])
    assert record.status == "achieved"
    assert (cases / "a.out").read_text() == "4\n"


@pytest.mark.parametrize(
    "bend",
    [
        call("shell", line=f"printf '{BEND}' > expected.txt"),
        call("put", path="expected.txt", text=BEND),
    ],
    ids=["undone", "refused"],
)
async def test_tampering_again_and_again_ends_the_run_as_tampered(
    runs: Runs, bend: dict[str, Any]
) -> None:
    record = await runs.run([bend], max_iterations=10)
    assert (record.status, record.exit_code, record.iterations) == ("tampered", 4, 3)
    assert len(record.refused) == 3
    assert record.reason == "changes of protected files were refused or undone 3 times"
    leave = "; `allow_edit: [expected.txt]` in .retrai.yml lets a run change it"
    assert record.next_step.endswith(leave)


async def test_writes_that_were_refused_again_and_again_are_not_told_as_changes(runs: Runs) -> None:
    write = call("put", path=".git/config", text="[core]\n")
    record = await runs.run([write], max_iterations=10)
    assert (record.status, record.iterations) == ("tampered", 3)
    assert record.reason == "changes of protected files were refused or undone 3 times"
    assert "allow_edit" not in record.next_step
    assert not (runs.project / ".git").exists()


async def test_data_that_the_suite_begins_to_write_later_is_no_tampering(runs: Runs) -> None:
    texts = ["one", "two", "three", "four", "right"]
    turns = [call("put", path="a.txt", text=text) for text in texts]
    record = await runs.run(turns, options={"writes": "checks/check.txt"})
    assert (record.status, record.refused) == ("achieved", [])
    assert (runs.project / "checks" / "check.txt").exists()


@pytest.mark.parametrize("ignored", ["", "checks/\n"], ids=["tracked", "ignored"])
async def test_data_that_the_suite_writes_anew_each_time_costs_no_remembered_verdict(
    runs: Runs, ignored: str
) -> None:
    (runs.project / ".gitignore").write_text(ignored)
    turns = [call("put", path="a.txt", text="changed"), call("look", path="a.txt"), MEND]
    record = await runs.run(turns, options={"writes": "checks/check.txt", "stamps": True})
    assert (record.status, record.checks_remembered) == ("achieved", 1)


async def test_the_user_can_allow_an_edit(runs: Runs) -> None:
    both = "printf 'right' > a.txt; printf 'new' > checks/check.txt"
    record = await runs.run([call("shell", line=both)], allow_edit=["/checks/check.txt"])
    assert record.status == "achieved"
    assert (runs.project / "checks" / "check.txt").read_text() == "new"
    assert record.refused == []


@pytest.mark.parametrize("put", ["mkfifo", "ln -s /dev/zero"])
async def test_no_pipe_in_place_of_a_file_holds_the_audit_up(runs: Runs, put: str) -> None:
    (runs.project / "package.json").write_text("{}")
    installed = "mkdir -p node_modules/pad; echo '1' > node_modules/pad/index.js"
    reads = f"echo 'open(name)' > b.py; {put} expected.txt"
    line = f"{installed}; rm package.json; {put} package.json; {reads}; printf 'right' > a.txt"
    record = await runs.run([call("shell", line=line)], allow_edit=["package.json"])
    assert record.status == "achieved"


async def test_an_agent_cannot_reach_what_lies_outside_the_project(runs: Runs) -> None:
    outside = runs.project.parent / "outside.txt"
    outside.write_text("secret")
    (runs.project / "link").symlink_to(outside)
    calls = [
        {"name": "look", "args": {"path": path}, "id": path}
        for path in ("../outside.txt", str(outside), "link")
    ]
    record = await runs.run([{"calls": calls}, MEND])
    results = [event.payload for event in runs.events(record, "tool_result")][:3]
    assert [result["error"] for result in results] == [True, True, True]
    assert not any("secret" in result["content"] for result in results)


async def test_a_mended_case_that_passes_whatever_it_expects_ends_tampered(runs: Runs) -> None:
    options = {"contradicted": ["a.txt", "b.txt"], "still_pass": ["a.txt"]}
    record = await runs.run([MEND], options=options)
    assert (record.status, record.exit_code) == ("tampered", 4)
    told = "a case passes whatever it expects, so it proves nothing: a.txt"
    assert record.reason.startswith(told)


async def test_a_few_insensitive_cases_that_passed_before_raise_no_alarm(runs: Runs) -> None:
    options = {"contradicted": ["a.txt", "b.txt"], "still_pass": ["b.txt"]}
    record = await runs.run([MEND], options=options)
    assert record.status == "achieved"


async def test_cases_that_hold_only_by_a_new_file_of_the_check_do_not_count(runs: Runs) -> None:
    add = call("put", path="checks/more.txt", text="more\n")
    record = await runs.run([add, MEND], options={"leans_on": "checks/more.txt"})
    assert record.status == "failed"
    assert "does not pass without the new checks/more.txt: a.txt is wrong" in record.reason


async def test_what_is_asked_of_a_suite_as_a_whole_may_need_its_new_files(runs: Runs) -> None:
    add = call("put", path="checks/more.txt", text="more\n")
    options = {"leans_on": "checks/more.txt", "alone": "passed"}
    assert (await runs.run([add, MEND], options=options)).status == "achieved"


async def test_source_that_reaches_into_the_check_is_suspect(runs: Runs) -> None:
    record = await runs.run([MEND], options={"suspicious": "right"})
    assert record.status == "tampered"
    assert "reaches into the check: a.txt:1 right" in record.reason


async def test_a_sign_in_code_that_was_copied_is_told_as_in_new_code(runs: Runs) -> None:
    (runs.project / "old.txt").write_text("spies\nand more\n")
    copied = call("shell", line="cp old.txt new.txt")
    options = {"suspicious": "spies", "sign": "unchanged"}
    record = await runs.run([copied, MEND], options=options)
    assert record.findings == ["a.txt:1 spies"]


async def test_a_person_decides_on_a_suspect_verdict_where_one_can_be_asked(runs: Runs) -> None:
    asked: list[str] = []

    async def answer(question: Any) -> str:
        asked.append(question.data["reason"])
        return "no"

    record = await runs.run([MEND], ask=answer, hitl_enabled=True, options={"suspicious": "right"})
    assert record.status == "tampered"
    assert "reaches into the check" in asked[0]


@pytest.mark.parametrize("limit", [1, 6], ids=["at the last iteration", "before it"])
async def test_a_suspect_verdict_that_a_person_approves_is_achieved(runs: Runs, limit: int) -> None:
    async def answer(question: Any) -> str:
        assert "Take it as achieved?" in question.text
        return "yes"

    settings = {"hitl_enabled": True, "options": {"suspicious": "right"}, "max_iterations": limit}
    record = await runs.run([MEND], ask=answer, **settings)
    assert (record.status, record.iterations) == ("achieved", 1)
    assert "approved by a person" in record.reason
    assert any("a person took a suspect verdict" in finding for finding in record.findings)


async def test_a_person_may_let_the_agent_change_a_protected_file(runs: Runs) -> None:
    asked: list[str] = []

    async def answer(question: Any) -> str:
        asked.append(question.text)
        return "yes"

    bend = call("put", path="expected.txt", text="a.txt: wrong\nb.txt: fine\n")
    record = await runs.run([bend], ask=answer, hitl_enabled=True)
    assert record.status == "achieved"
    assert asked == ["Let the agent change expected.txt after all?"]
    assert record.allowed_edits == ["expected.txt: approved by a person"]
    assert record.refused == []


async def test_a_person_may_refuse_it_too(runs: Runs) -> None:
    async def answer(question: Any) -> str:
        return "no" if "expected.txt" in question.text else "yes"

    bend = call("put", path="expected.txt", text="a.txt: wrong\nb.txt: fine\n")
    record = await runs.run([bend, MEND], ask=answer, hitl_enabled=True)
    assert (record.status, len(record.refused)) == ("achieved", 1)
    assert "a.txt: right" in (runs.project / "expected.txt").read_text()


def verdict(before: dict[str, CaseOutcome], after: dict[str, CaseOutcome], **report: Any) -> str:
    """The reason why a goal that says `achieved` is not believed; empty when it is."""
    baseline = Baseline(cases=before)
    judged = judge(baseline, GoalResult(True, "ok", report=CheckReport(after, ["x"], **report)))
    return "" if judged.achieved else f"{judged.reason} {judged.details}"


def test_every_case_of_the_baseline_must_still_count() -> None:
    before: dict[str, CaseOutcome] = {"t::a": "failed", "t::b": "passed"}
    assert verdict(before, {"t::a": "passed", "t::b": "passed"}) == ""
    assert verdict(before, {"t::a": "passed", "t::b": "passed", "t::new": "passed"}) == ""
    assert "t::a is gone" in verdict(before, {"t::b": "passed"})
    assert "t::a is now skipped" in verdict(before, {"t::a": "skipped", "t::b": "passed"})
    assert "t::a is now xfailed" in verdict(before, {"t::a": "xfailed", "t::b": "passed"})


def test_a_case_that_was_skipped_at_first_may_stay_skipped() -> None:
    assert verdict({"t::a": "skipped"}, {"t::a": "skipped"}) == ""


def test_a_report_that_is_not_complete_or_missing_does_not_count() -> None:
    assert "did not end well" in verdict({"t::a": "passed"}, {"t::a": "passed"}, complete=False)
    judged = judge(Baseline(cases={"t::a": "passed"}), GoalResult(True, "ok"))
    assert not judged.achieved


def test_a_goal_that_overlooks_a_failed_case_is_not_believed() -> None:
    assert "1 failed in the check" in verdict({"t::a": "failed"}, {"t::a": "failed"})
    assert "t::new" in verdict({"t::a": "passed"}, {"t::a": "passed", "t::new": "error"})
    assert "1 failed in the check" in verdict({}, {"t::a": "error"})


def test_parameters_that_come_from_the_source_may_change_but_not_become_fewer() -> None:
    before: dict[str, CaseOutcome] = {"t::p[1]": "failed", "t::p[2]": "passed"}
    assert verdict(before, {"t::p[one]": "passed", "t::p[two]": "passed"}) == ""
    fewer = "t::p has fewer cases than at the start: 1 of 2"
    assert fewer in verdict(before, {"t::p[one]": "passed"})
    dodge: dict[str, CaseOutcome] = {"t::p[one]": "passed", "t::own": "passed"}
    assert fewer in verdict(before, dodge)


def test_a_case_is_not_dodged_by_giving_it_other_parameters() -> None:
    before: dict[str, CaseOutcome] = {"t::p[1]": "failed", "t::q": "passed"}
    # What pytest makes of a parameter list that the source has emptied.
    assert "t::p[NOTSET0] is skipped" in verdict(
        before, {"t::p[NOTSET0]": "skipped", "t::q": "passed"}
    )
    left_out: dict[str, CaseOutcome] = {"t::p[1]": "skipped", "t::p[2]": "passed"}
    assert verdict(left_out, {"t::p[one]": "skipped", "t::p[two]": "passed"}) == ""


def test_a_file_that_could_not_be_read_counts_when_its_cases_appear() -> None:
    before: dict[str, CaseOutcome] = {"tests/test_a.py": "error", "tests/test_b.py::b": "passed"}
    after: dict[str, CaseOutcome] = {"tests/test_a.py::a": "passed", "tests/test_b.py::b": "passed"}
    assert verdict(before, after) == ""
    assert "tests/test_a.py is gone" in verdict(before, {"tests/test_b.py::b": "passed"})


def test_a_clean_copy_leaves_caches_and_environments_behind(tmp_path: Path) -> None:
    project = tmp_path / "project"
    for name in (
        "src/__pycache__/a.pyc",
        ".pytest_cache/x",
        "env/pyvenv.cfg",
        "src/a.py",
        ".git/x",
    ):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(name)
    (project / "link").symlink_to("src/a.py")
    make_clean_copy(project, tmp_path / "copy")
    found = sorted(
        p.relative_to(tmp_path / "copy").as_posix() for p in (tmp_path / "copy").rglob("*")
    )
    assert found == [".git", ".git/x", "link", "src", "src/a.py"]
    assert (tmp_path / "copy" / "link").is_symlink()


def test_what_goes_away_while_it_is_copied_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    (project / "build" / "objects").mkdir(parents=True)
    (project / "a.py").write_text("x = 1\n")

    def removed_meanwhile(folder: str) -> bool:
        shutil.rmtree(folder)
        return False

    monkeypatch.setattr(clean_copy, "is_virtual_environment", removed_meanwhile)
    make_clean_copy(project, tmp_path / "copy")
    assert os.listdir(tmp_path / "copy") == ["a.py"]


async def test_a_copy_is_removed_beside_the_event_loop(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[threading.Thread] = []
    cleanup = tempfile.TemporaryDirectory[str].cleanup

    def noted(room: tempfile.TemporaryDirectory[str]) -> None:
        if os.path.basename(room.name).startswith("retrai-final"):
            threads.append(threading.current_thread())
        cleanup(room)

    monkeypatch.setattr(tempfile.TemporaryDirectory, "cleanup", noted)
    record = await runs.run([MEND])
    assert record.status == "achieved"
    assert threads
    assert threading.main_thread() not in threads


COPYING = """
import sys
from pathlib import Path
from retrai_core.verification.baseline import copy_protected
from retrai_core.verification.clean_copy import make_clean_copy
from retrai_core.verification.globs import Globs

project, room = Path(sys.argv[1]), Path(sys.argv[2])
baseline = copy_protected(project, Globs(["*"]), Globs([]), room / "baseline")
print(*sorted(baseline.protected))
make_clean_copy(project, room / "copy")
print(*sorted(path.name for path in (room / "copy").iterdir()))
"""


def heed_modes() -> None:
    """Let file modes bind this process as they bind any user, also when it is root's."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None)
        # PR_CAPBSET_DROP of CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH; linux/prctl.h
        assert libc.prctl(24, 1, 0, 0, 0) == 0
        assert libc.prctl(24, 2, 0, 0, 0) == 0


@pytest.mark.skipif(
    os.geteuid() == 0 and sys.platform != "linux", reason="only Linux binds root by file modes"
)
def test_what_nobody_here_can_read_is_left_out(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "database").mkdir(parents=True)
    (project / "a.py").touch()
    for closed in (project / "secret.txt", project / "database"):
        closed.touch()
        closed.chmod(0)
    done = subprocess.run(
        [sys.executable, "-c", COPYING, str(project), str(tmp_path)],
        preexec_fn=heed_modes,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    (project / "database").chmod(0o700)
    assert done.stderr == ""
    protected, copied = done.stdout.splitlines()
    assert protected == "a.py"
    assert "a.py" in copied
    assert "secret.txt" not in copied


async def test_a_tree_that_cannot_be_kept_any_more_is_not_believed(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    take = Snapshots.take

    def fails_later(self: Snapshots, iteration: int, *seen: Any) -> object:
        if iteration:
            raise RetraiError("git index-pack failed: something is in its way")
        return take(self, iteration, *seen)

    monkeypatch.setattr(Snapshots, "take", fails_later)
    record = await runs.run([MEND])
    assert record.status == "tampered"
    assert "could not be looked through: git index-pack failed" in record.reason


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_file_that_root_gives_away_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "golden.txt"
    path.write_text("1")
    before = stamp_of(path)
    assert before is not None
    assert not before.is_written(stamp_of(path))
    os.chown(path, 1000, 1000)
    assert not before.is_written(stamp_of(path))
    path.write_text("2")
    os.utime(path, ns=(0, before.modified_ns + 1))
    assert before.is_written(stamp_of(path))
    path.unlink()
    assert before.is_written(stamp_of(path))
