"""What leads to a check, what a check says, and what a run of `--fix` leads to."""

from __future__ import annotations

import subprocess
import sys

import pytest
import yaml

from retrai_testkit import RetraiProject, ScriptedModel, call

from .watched import TIMEOUT_S, environment, watching


def replace(project: RetraiProject, path: str, old: str, new: str) -> None:
    """Change a file as a person does."""
    text = project.read(path)
    assert old in text
    project.write({path: text.replace(old, new)})


def test_a_line_says_which_change_broke_which_case(shop: RetraiProject) -> None:
    with watching(shop) as watched:
        watched.next("watching")
        first = watched.next("check")
        assert (first["achieved"], first["changed"]) == (True, [])
        replace(shop, "price.py", "price / 2", "price / 3")
        broken = watched.next("check")
        assert (broken["achieved"], broken["changed"]) == (False, ["price.py"])
        assert broken["counts"] == {"failed": 1, "passed": 1}
        (case,) = broken["broke"]
        assert case.endswith("test_half.py::test_half")
        replace(shop, "price.py", "price / 3", "price / 2")
        again = watched.next("check")
        assert (again["achieved"], again["fixed"], again["broke"]) == (True, [case], [])


def test_a_case_that_a_broken_file_hid_is_held_against_what_it_was_before(
    shop: RetraiProject,
) -> None:
    with watching(shop) as watched:
        watched.next("watching")
        assert watched.next("check")["achieved"]
        whole = shop.read("test_half.py")
        shop.write({"test_half.py": "def\n"})
        assert not watched.next("check")["achieved"]
        shop.write({"test_half.py": whole.replace("== 4", "== 5")})
        hidden_before = watched.next("check")
        assert [case.rpartition("/")[2] for case in hidden_before["broke"]] == [
            "test_half.py::test_half"
        ]


def test_ignored_files_caches_and_writes_that_change_nothing_lead_to_no_check(
    shop: RetraiProject,
) -> None:
    with watching(shop) as watched:
        watched.next("watching")
        watched.next("check")
        shop.write(
            {
                "debug.log": "ignored",
                "build/out.py": "ignored",
                "__pycache__/x.pyc": "a cache",
                ".git/index": "version control",
                "price.py": shop.read("price.py"),
                ".price.py.swp": "of an editor",
            }
        )
        shop.write({"notes.txt": "this counts"})
        assert watched.next("check")["changed"] == ["notes.txt"]


def test_what_changes_during_a_check_is_checked_and_what_each_check_writes_is_learned(
    shop: RetraiProject,
) -> None:
    line = "[ -e edited ] || { touch edited; echo 2 > b.txt; }; date +%N > report.txt"
    shop.configure(goal="shell-goal", check_command=line)
    with watching(shop) as watched:
        watched.next("watching")
        assert watched.next("check")["achieved"]
        # Nobody can tell whether a person or the check has written them.
        assert watched.next("check")["changed"] == ["b.txt", "edited", "report.txt"]
        assert watched.next("check")["changed"] == ["report.txt"]
        assert "report.txt" in watched.next("note")["message"]
        shop.write({"b.txt": "3"})
        assert watched.next("check")["changed"] == ["b.txt"]
        shop.write({"b.txt": "4", "report.txt": "of a person"})
        assert watched.next("check")["changed"] == ["b.txt", "report.txt"]


def test_a_new_file_of_each_check_is_learned_and_starts_no_run(shop: RetraiProject) -> None:
    shop.configure(goal="shell-goal", check_command="mkdir -p logs; date +%N > logs/$$.txt; false")
    with watching(shop) as watched:
        watched.next("watching")
        assert not watched.next("check")["achieved"]
        assert watched.next("check")["changed"][0].startswith("logs/")
        assert "logs/" in watched.next("note")["message"]
        shop.write({"b.txt": "3"})
        assert "b.txt" in watched.next("check")["changed"]


def test_a_failing_check_starts_a_run_whose_writes_lead_to_no_other(shop: RetraiProject) -> None:
    right = shop.read("price.py")
    wrong = right.replace("price / 2", "price / 3")
    script = ScriptedModel().play(
        call("file_write", path="new.txt", content="written by the run"),
        call("file_write", path="price.py", content=right),
    )
    shop.configure(**script.settings)
    with watching(shop, "--fix") as watched:
        watched.next("watching")
        assert watched.next("check")["achieved"]
        shop.write({"price.py": wrong})
        assert not watched.next("check")["achieved"]
        started = watched.next("run_started")
        run = watched.next("run")["run"]
        assert (run["status"], run["id"] in started["message"]) == ("achieved", True)
        after = watched.next("check")
        assert (after["achieved"], after["changed"]) == (True, [])
        shop.write({"notes.txt": "of a person"})
        assert watched.next("check")["changed"] == ["notes.txt"]


def test_a_run_that_does_not_fix_it_leads_to_no_other_until_something_changes(
    shop: RetraiProject,
) -> None:
    script = ScriptedModel().play(call("file_write", path="new.txt", content="no help"))
    shop.configure(**script.settings, max_iterations=1)
    replace(shop, "price.py", "price / 2", "price / 3")
    with watching(shop, "--fix") as watched:
        watched.next("watching")
        watched.next("check")
        watched.next("run_started")
        assert watched.next("run")["run"]["status"] == "failed"
        assert not watched.next("check")["achieved"]
        replace(shop, "price.py", "price / 3", "price / 2")
        assert watched.next("check")["achieved"]


def test_a_configuration_that_is_broken_meanwhile_is_one_line_and_watching_goes_on(
    shop: RetraiProject,
) -> None:
    with watching(shop) as watched:
        watched.next("watching")
        watched.next("check")
        before = shop.read(".retrai.yml")
        shop.write({".retrai.yml": "goal: [\n"})
        assert ".retrai.yml" in watched.next("not_checked")["message"]
        shop.write({".retrai.yml": before, "notes.txt": "x"})
        assert watched.next("check")["achieved"]


def test_the_project_folder_is_removed(shop: RetraiProject) -> None:
    with watching(shop) as watched:
        watched.next("watching")
        watched.next("check")
        shop.folder.rename(shop.folder.with_name("elsewhere"))
        code, error = watched.ended()
    assert code == 2
    (line,) = error.splitlines()
    assert line.startswith("error: ")
    assert "is gone" in line


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["no-such-goal"], "no-such-goal"),
        (["-C", "no-such-folder"], "no such folder"),
        (["--debounce", "-1"], "--debounce"),
        (["--debounce", "nan"], "--debounce"),
    ],
)
def test_what_cannot_be_watched_is_said_in_one_line(
    shop: RetraiProject, arguments: list[str], said: str
) -> None:
    done = shop.command("watch", *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr
    assert [line.partition(":")[0] for line in done.stderr.splitlines()] == ["error", "hint"]


def test_a_project_without_a_goal_and_one_that_needs_consent_are_one_line_each(
    retrai_project: RetraiProject,
) -> None:
    done = retrai_project.command("watch")
    assert "no installed goal fits" in done.stderr
    del retrai_project.environment["RETRAI_TRUST"]
    settings = {"goal": "shell-goal", "check_command": "true", "sandbox": "local"}
    retrai_project.write({".retrai.yml": yaml.safe_dump(settings)})
    done = retrai_project.command("watch")
    assert done.exit_code == 2
    error, hint = done.stderr.splitlines()
    assert "check_command" in error
    assert "--trust" in hint
    with watching(retrai_project, "--trust") as watched:
        watched.next("watching")
        assert watched.next("check")["achieved"]


def test_a_check_needs_no_model_and_a_run_names_the_missing_key_at_once(
    shop: RetraiProject,
) -> None:
    shop.configure(model="claude-sonnet-4-6")
    shop.environment["ANTHROPIC_API_KEY"] = ""
    with watching(shop) as watched:
        watched.next("watching")
        assert watched.next("check")["achieved"]
    done = shop.command("watch", "--fix")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "ANTHROPIC_API_KEY" in done.stderr


def test_people_read_lines_in_which_a_file_name_steers_no_terminal(shop: RetraiProject) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "retrai_core", "watch", "--debounce", "0.1"],
        cwd=shop.folder,
        env=environment(shop),
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            assert process.stdout is not None
            assert "watching" in process.stdout.readline()
            assert "pytest passes: 2 tests pass (2 passed)" in process.stdout.readline()
            shop.write({"a\x1b[2J\nb.txt": "x", "c.txt": "x"})
            line = process.stdout.readline()
        finally:
            process.kill()
            process.wait(TIMEOUT_S)
    assert "a\\u001b[2J\\nb.txt, c.txt: pytest passes" in line
    assert "\x1b" not in line


def test_watchfiles_is_imported_by_its_own_command_alone() -> None:
    code = (
        "import sys\nfrom retrai_core.cli.main import main\nmain(['goals', 'list'])\n"
        "print([name for name in ('watchfiles', 'retrai_watch') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.splitlines()[-1] == "[]"
