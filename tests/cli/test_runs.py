"""`retrai runs`: what has been run, and going on with it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from retrai_core import FilesStore
from retrai_core.contracts.record import RunRecord

from .kept import kept_run, kept_runs

RIGHT = ("write_answer", {"text": "42"})
WRONG = ("write_answer", {"text": "54"})


@pytest.fixture
def failed_run(retrai, toy) -> str:
    """A run that used up its one iteration; its second turn would have been right."""
    assert retrai(*toy([WRONG], [RIGHT]), "-n", "1")[0] == 1
    (record,) = kept_runs()
    return record.id


def test_no_runs_are_no_table(retrai) -> None:
    assert retrai("runs", "list") == (0, "no runs yet; `retrai run` starts one\n", "")


def test_list_and_show_tell_the_same_story(retrai, failed_run: str, project: Path) -> None:
    _, listed, _ = retrai("runs", "list")
    assert failed_run in listed
    assert "failed" in listed
    _, shown, _ = retrai("runs", "show", failed_run[:5])
    assert "1 iteration used up" in shown
    assert str(project) in shown
    _, as_json, _ = retrai("runs", "list", "--json")
    assert [entry["id"] for entry in json.loads(as_json)] == [failed_run]


@pytest.fixture
def damaged_run(failed_run: str) -> Path:
    """The record of the one run, cut in the middle."""
    path = FilesStore().folder(failed_run) / "run.json"
    path.write_bytes(path.read_bytes()[:50])
    return path


def test_a_run_whose_record_is_damaged_is_listed_and_named(
    retrai, failed_run: str, damaged_run: Path
) -> None:
    _, listed, _ = retrai("runs", "list")
    _, row, told = listed.splitlines()
    assert row.split()[:2] == [failed_run, "unreadable"]
    assert told.startswith(f"{failed_run}: its record cannot be read: {damaged_run}: ")
    (entry,) = json.loads(retrai("runs", "list", "--json")[1])
    assert set(entry) == {"id", "status", "reason", "path"}
    assert (entry["id"], entry["status"]) == (failed_run, "unreadable")
    assert entry["path"] == str(damaged_run)
    assert "the record is damaged" in retrai("runs", "list", "-C", ".")[2]
    for command in (["runs", "show"], ["runs", "diff"], ["verify"]):
        code, out, err = retrai(*command, failed_run)
        assert (code, out) == (2, "")
        error, _ = err.splitlines()
        assert error.startswith(f"error: the record of run {failed_run} cannot be read: ")
        assert str(damaged_run) in error


@pytest.mark.parametrize("never", ["1e300", "-1e300", "NaN"])
def test_a_time_that_no_clock_shows_hides_no_run(retrai, failed_run: str, never: str) -> None:
    record = FilesStore().folder(failed_run) / "run.json"
    started = str(json.loads(record.read_text())["started_at"])
    record.write_text(
        record.read_text().replace(f'"started_at": {started}', f'"started_at": {never}')
    )
    code, out, _ = retrai("runs", "list")
    assert (code, out.splitlines()[1].split()[0]) == (0, failed_run)


@pytest.fixture
def many_runs(own_folders: Path) -> list[str]:
    """The ids of 25 runs of two projects in turn, newest first."""
    store = FilesStore()
    for number in range(25):
        project = own_folders / ("project" if number % 2 else "other")
        fields = {"goals": [{"name": "answer"}], "model": "offline", "project": project}
        times = {"created_at": 1e9 + number, "started_at": 1e9 + number}
        asyncio.run(store.create(RunRecord(id=f"r{number:02}", **times, **fields)))
    return [f"r{number:02}" for number in reversed(range(25))]


def listed_ids(out: str) -> list[str]:
    return [line.split()[0] for line in out.splitlines()[1:]]


def test_a_terminal_shows_the_newest_runs_and_how_many_there_are(
    retrai, many_runs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    *shown, more = retrai("runs", "list")[1].splitlines()
    assert listed_ids("\n".join(shown)) == many_runs[:20]
    assert more == "... 5 more: --limit 0"
    assert retrai("runs", "list", "-n", "24")[1].splitlines()[-1] == "... 1 more: --limit 0"
    assert listed_ids(retrai("runs", "list", "--limit", "0")[1]) == many_runs
    assert len(json.loads(retrai("runs", "list", "--json")[1])) == 25


def test_a_script_gets_every_run_unless_it_says_how_many(retrai, many_runs: list[str]) -> None:
    assert listed_ids(retrai("runs", "list")[1]) == many_runs
    assert listed_ids(retrai("runs", "list", "-n", "3")[1]) == many_runs[:3]
    entries = json.loads(retrai("runs", "list", "--json", "-n", "3")[1])
    assert [entry["id"] for entry in entries] == many_runs[:3]


def test_the_runs_of_one_project_can_be_listed_alone(
    retrai, many_runs: list[str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = [run for run in many_runs if int(run[1:]) % 2]
    assert listed_ids(retrai("runs", "list", "-C", project)[1]) == own
    monkeypatch.chdir(project)
    assert listed_ids(retrai("runs", "list", "-C", ".", "-n", "2")[1]) == own[:2]
    assert retrai("runs", "list", "-C", "..")[1] == "no runs in .. yet; `retrai run` starts one\n"
    assert retrai("runs", "list", "-C", "..", "--json")[1] == "[]\n"
    code, out, err = retrai("runs", "list", "-C", "nosuch")
    assert (code, out) == (2, "")
    assert err.startswith("error: no such folder: nosuch\n")
    assert retrai("runs", "list", "-C", "nosuch", "--json")[0] == 2


def test_the_runs_of_a_project_that_is_gone_are_listed_too(
    retrai, many_runs: list[str], project: Path
) -> None:
    project.rename(project.with_name("moved"))
    assert retrai("runs", "list", "-C", project)[0] == 0


def test_the_steps_can_be_seen_again(retrai, failed_run: str) -> None:
    _, shown, _ = retrai("runs", "show", failed_run, "--events")
    assert "write_answer" in shown
    _, lines, _ = retrai("runs", "show", failed_run, "--events", "--json")
    assert json.loads(lines.splitlines()[-1])["kind"] == "run_end"


def test_resume_goes_on_with_more_iterations(retrai, failed_run: str, project: Path) -> None:
    code, out, _ = retrai("runs", "resume", failed_run, "-n", "2")
    assert code == 0, out
    assert (project / "answer.txt").read_text() == "42"
    record = kept_run(failed_run)
    assert (record.status, record.iterations) == ("achieved", 2)
    _, lines, _ = retrai("runs", "show", failed_run, "--events", "--json")
    events = [json.loads(line) for line in lines.splitlines()]
    end = next(index for index, event in enumerate(events) if event["kind"] == "run_end")
    assert {event["iteration"] for event in events[end:]} == {1, 2}


def test_the_time_used_leaves_out_the_pause_before_a_resume(retrai, failed_run: str) -> None:
    store, day_s = FilesStore(), 86_400.0
    record = kept_run(failed_run)
    assert record.worked_s > 0
    record.started_at, record.ended_at = record.started_at - day_s, record.ended_at - day_s
    record.save(store.folder(failed_run))
    retrai("runs", "resume", failed_run, "-n", "2")
    again = kept_run(failed_run)
    assert record.worked_s < again.worked_s < day_s
    shown = retrai("runs", "show", failed_run)[1].splitlines()
    (used,) = [line for line in shown if line.strip().startswith("used ")]
    assert "1440 min" not in used


def test_resume_without_a_higher_limit_says_what_to_type(retrai, failed_run: str) -> None:
    code, _, err = retrai("runs", "resume", failed_run)
    assert code == 2
    assert f"retrai runs resume {failed_run} -n" in err


def test_resume_with_a_limit_that_cannot_be_is_a_usage_error(retrai, failed_run: str) -> None:
    code, _, err = retrai("runs", "resume", failed_run, "-n", "0")
    assert code == 2
    assert "max_iterations: must be 1 or more, got 0" in err


def test_a_run_that_asks_is_resumed_without_a_terminal_by_a_flag(retrai, failed_run: str) -> None:
    record = kept_run(failed_run)
    record.config["hitl_enabled"] = True
    record.save(FilesStore().folder(failed_run))
    code, _, err = retrai("runs", "resume", failed_run, "-n", "2")
    assert code == 2
    assert "`--no-hitl`" in err
    assert retrai("runs", "resume", failed_run, "-n", "2", "--no-hitl")[0] == 0


def test_an_achieved_run_is_not_resumed(retrai, toy) -> None:
    retrai(*toy([RIGHT]))
    (record,) = kept_runs()
    record.config["hitl_enabled"] = True
    record.save(FilesStore().folder(record.id))
    code, _, err = retrai("runs", "resume", record.id)
    assert code == 2
    assert "achieved" in err


def test_diff_shows_what_the_run_changed(retrai, failed_run: str) -> None:
    code, out, _ = retrai("runs", "diff", failed_run)
    assert code == 0
    assert "+54" in out


def test_a_run_that_changed_nothing_says_so_beside_the_diff(retrai, toy) -> None:
    retrai(*toy([("no_such_tool", {})]), "-n", "1")
    (record,) = kept_runs()
    code, out, err = retrai("runs", "diff", record.id)
    assert (code, out) == (0, "")
    assert err == f"run {record.id} changed nothing there\n"


def test_an_undo_that_only_shows_what_it_would_do_says_so(
    retrai, failed_run: str, project: Path
) -> None:
    code, out, err = retrai("runs", "undo", failed_run, "--dry-run")
    assert (code, out) == (0, "would remove   answer.txt\n")
    assert err == f"nothing is changed yet; `retrai runs undo {failed_run}` does it\n"
    assert (project / "answer.txt").exists()
    assert retrai("runs", "undo", failed_run)[1] == "removed   answer.txt\n"


def test_an_undo_that_meets_later_changes_says_how_to_go_on(
    retrai, failed_run: str, project: Path
) -> None:
    (project / "answer.txt").write_text("mine\n")
    code, out, err = retrai("runs", "undo", failed_run)
    assert (code, out.split()[:2]) == (1, ["conflict", "answer.txt"])
    shown = f"`retrai runs diff {failed_run}` shows what the run did there"
    assert err == f"next: {shown}; take it back by hand\n"


def test_an_unknown_run_says_where_the_list_is(retrai, failed_run: str) -> None:
    code, _, err = retrai("runs", "show", "zzzz")
    assert code == 2
    assert "zzzz" in err
    assert "retrai runs list" in err


def test_prune_wants_to_know_which(retrai, failed_run: str) -> None:
    assert retrai("runs", "prune")[0] == 2
    assert kept_runs() != []


def test_prune_says_what_it_left_to_be_resumed(retrai, failed_run: str) -> None:
    store = FilesStore()
    record = kept_run(failed_run)
    record.status = "interrupted"
    record.save(store.folder(failed_run))
    said = retrai("runs", "prune", "--keep", "0")[1]
    assert said.splitlines()[0] == "deleted 0 runs"
    assert "kept 1 run that could be resumed" in said
    assert retrai("runs", "prune", "--keep", "0", "--unfinished")[1] == "deleted 1 run\n"


def test_prune_says_of_damaged_records_what_deletes_them(retrai, damaged_run: Path) -> None:
    said = retrai("runs", "prune", "--keep", "0")[1].splitlines()
    assert said[0] == "deleted 0 runs"
    assert "--unreadable" in said[1]
    assert retrai("runs", "prune", "--keep", "0", "--unreadable")[1] == "deleted 1 run\n"
    assert not damaged_run.parent.exists()


def test_prune_keeps_the_newest(retrai, toy, failed_run: str) -> None:
    retrai(*toy([RIGHT]))
    assert retrai("runs", "prune", "--keep", "1")[1] == "deleted 1 run\n"
    assert [record.status for record in kept_runs()] == ["achieved"]


def test_what_a_killed_run_did_after_its_last_snapshot_is_not_denied(
    retrai, failed_run: str, project: Path
) -> None:
    folder = FilesStore().folder(failed_run)
    log, snapshots = folder / "events.jsonl", folder / "snapshots.jsonl"
    events = log.read_text("utf-8").splitlines(keepends=True)
    last = max(i for i, line in enumerate(events) if json.loads(line)["kind"] == "tool_result")
    log.write_text("".join(events[: last + 1]), "utf-8")
    snapshots.write_text(snapshots.read_text("utf-8").splitlines(keepends=True)[0], "utf-8")
    for command in ("diff", "undo"):
        code, out, err = retrai("runs", command, failed_run)
        assert (code, out) == (int(command == "undo"), "")
        assert f"run {failed_run} was killed" in err
        assert "write_answer" in err
        assert f"`retrai runs resume {failed_run}` takes it up" in err
