"""However a run ends, nothing of it is left that bends the next check or gives rights away."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from retrai_core.verification import repository_programs
from retrai_core.verification.clean_up import clean_up_killed_runs, note
from retrai_core.verification.repository_programs import note_programs, undo_programs

Runs = Any

BEND = "printf 'goal: other\\n' > .retrai.yml; echo bent > steer.cfg; echo bent > checks/check.txt"


def call(name: str, **args: Any) -> dict[str, Any]:
    return {"text": f"calling {name}", "calls": [{"name": name, "args": args}]}


async def test_what_bends_the_check_is_undone_when_a_run_is_interrupted(runs: Runs) -> None:
    turns = [{"calls": [*call("shell", line=BEND)["calls"], *call("hang")["calls"]]}]
    record = await runs.stopped_at("hang", turns, tools=["shell", "hang"])
    assert record.status == "interrupted"
    assert not (runs.project / ".retrai.yml").exists()
    assert not (runs.project / "steer.cfg").exists()
    assert (runs.project / "checks" / "check.txt").read_text() == "the check\n"
    for name in (".retrai.yml", "steer.cfg", "checks/check.txt"):
        assert any(line.startswith(name) for line in record.refused), record.refused
    aside = runs.store.folder(record.id) / "baseline" / "set_aside"
    assert [path.read_text() for path in aside.rglob(".retrai.yml")] == ["goal: other\n"]
    assert record.changed_files == []


async def test_a_new_project_file_does_not_outlive_a_run_that_ends(runs: Runs) -> None:
    record = await runs.run([call("shell", line=BEND)], max_iterations=1)
    assert not (runs.project / ".retrai.yml").exists()
    assert any(line.startswith(".retrai.yml") for line in record.refused)


async def test_a_tool_writes_none_of_retrais_files(runs: Runs) -> None:
    paths = [".retrai.yml", ".retrai/eval_harness.py", "retrai.lock"]
    calls = [{"name": "put", "args": {"path": path, "text": "x"}} for path in paths]
    record = await runs.run([{"calls": calls}], max_iterations=1)
    assert [event.payload["error"] for event in runs.events(record, "tool_result")] == [True] * 3


@pytest.mark.parametrize("before", [None, "the user's\n"])
async def test_the_lock_of_the_plugins_is_as_it_was(runs: Runs, before: str | None) -> None:
    lock = runs.project / "retrai.lock"
    if before is not None:
        lock.write_text(before)
    record = await runs.run([call("shell", line="echo evil > retrai.lock")], max_iterations=1)
    assert (lock.read_text() if lock.exists() else None) == before
    assert [line.split(":")[0] for line in record.refused] == ["retrai.lock"]


@pytest.mark.parametrize("folds", [True, False])
async def test_another_spelling_counts_where_the_file_system_folds_case(
    runs: Runs, monkeypatch: pytest.MonkeyPatch, folds: bool
) -> None:
    # No such file system can be mounted in a test.
    monkeypatch.setattr("retrai_core.verification.guard.folds_case", lambda folder: folds)
    paths = [".Retrai.YML", ".RETRAI/memory.json", "Expected.TXT", "CHECKS/check.txt"]
    calls = [{"name": "put", "args": {"path": path, "text": "x"}} for path in paths]
    record = await runs.run([{"calls": calls}], max_iterations=1)
    errors = [event.payload["error"] for event in runs.events(record, "tool_result")]
    assert errors == [folds] * len(paths)
    assert len(record.refused) == len(paths) * folds


async def test_the_user_can_let_the_project_file_be_made(runs: Runs) -> None:
    made = call("put", path=".retrai.yml", text="max_iterations: 3\n")
    fix = call("put", path="a.txt", text="right\n")
    record = await runs.run([made, fix], allow_edit=[".retrai.yml"])
    assert (record.status, record.refused) == ("achieved", [])
    assert (runs.project / ".retrai.yml").read_text() == "max_iterations: 3\n"


async def test_set_id_bits_of_the_run_are_taken(runs: Runs) -> None:
    own = runs.project / "own"
    own.write_text("the user's\n")
    own.chmod(0o4755)
    shared = runs.project / "node_modules"
    shared.mkdir()
    shared.chmod(0o2775)
    (runs.project / ".gitignore").write_text("node_modules/\n")
    line = "cp a.txt node_modules/x; chmod 6755 node_modules/x; cp a.txt y; chmod 4755 y"
    record = await runs.run([call("shell", line=line)], max_iterations=1)
    modes = {
        path: stat.S_IMODE((runs.project / path).stat().st_mode)
        for path in ("node_modules/x", "y", "own", "node_modules")
    }
    assert modes == {"node_modules/x": 0o755, "y": 0o755, "own": 0o4755, "node_modules": 0o2775}
    assert sum("set-user-id" in line for line in record.refused) == 2


async def test_a_clean_copy_has_no_set_id_bits_of_the_run(runs: Runs) -> None:
    line = "cp a.txt tool; chmod 6755 tool; echo right > a.txt"
    record = await runs.run([call("shell", line=line)], options={"plain_in_copies": "tool"})
    assert record.status == "achieved"
    assert any(str(runs.project) not in folder for folder in runs.checks(record))


async def test_a_file_that_takes_the_place_of_a_set_id_one_is_none(runs: Runs) -> None:
    own = runs.project / "own"
    own.write_text("the user's\n")
    own.chmod(0o4755)
    line = "rm own; cp a.txt own; chmod 4755 own"
    await runs.run([call("shell", line=line)], max_iterations=1)
    assert stat.S_IMODE(own.stat().st_mode) == 0o755


async def test_set_id_bits_of_a_killed_run_are_taken_by_the_next(runs: Runs) -> None:
    killed = runs.store.runs / "killed"
    killed.mkdir(parents=True)
    note(runs.project, killed, [])
    left = runs.project / "left"
    left.write_text("x")
    left.chmod(0o4755)
    await runs.run([call("put", path="a.txt", text="right\n")])
    assert stat.S_IMODE(left.stat().st_mode) == 0o755
    assert clean_up_killed_runs(runs.store.state, runs.project) == []


ENDINGS: dict[str, Any] = {
    "error": ([{"error": "it is gone", "fatal": True}], {}),
    "budget": ([], {"max_tokens": 1}),
    "aborted": ([], {"hitl_enabled": True}),
    "stuck": ([call("shell", line="cat a.txt")], {"max_iterations": 12}),
    "failed": ([], {"max_iterations": 1}),
}


@pytest.mark.parametrize(("status", "ending"), ENDINGS.items(), ids=ENDINGS.keys())
async def test_what_bends_the_check_is_undone_whatever_the_status(
    runs: Runs, status: str, ending: Any
) -> None:
    turns, settings = ending

    async def refuse(_: object) -> str:
        return "no"

    record = await runs.run([call("shell", line=BEND), *turns], ask=refuse, **settings)
    assert not (runs.project / ".retrai.yml").exists()
    assert not (runs.project / "steer.cfg").exists()
    assert (runs.project / "checks" / "check.txt").read_text() == "the check\n"
    assert record.status == status, record.reason


@pytest.fixture
def git(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Runs git in the project as the user would, with nothing of this machine's configuration."""
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    for name, value in (("user.name", "n"), ("user.email", "n@example.org")):
        subprocess.run(["git", "config", "--global", name, value], check=True)
    subprocess.run(["git", "config", "--global", "protocol.file.allow", "always"], check=True)

    def run(*words: str, cwd: Path | None = None) -> str:
        command = ["git", *(["-C", str(cwd)] if cwd else []), *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    return run


SPY = "printf '#!/bin/sh\ntouch {pwned}\n' > evil; chmod +x evil; E=$PWD/evil; "
NESTED = "git init -q sub; (cd sub; echo 1 > f; git add f; git commit -qm s); "
ATTACKS = {
    "added as a submodule": f"{NESTED} git -C sub config core.fsmonitor $E; git add sub",
    "in one line": f"{NESTED} printf '[core] fsmonitor = %s\n' $E >> sub/.git/config; git add sub",
    "by an include": f"{NESTED} git config -f inc core.fsmonitor $E; git add sub; "
    "git config -f sub/.git/config include.path $PWD/inc",
    "elsewhere": "git init -q --separate-git-dir=odd sub; (cd sub; echo 1 > f; git add f; "
    "git commit -qm s); git config -f odd/config core.fsmonitor $E; git add sub",
    "a common folder": "cp -r .git c; git config -f c/config core.fsmonitor $E; rm c/HEAD; "
    "echo ../c > .git/commondir",
    "a submodule's": "git config -f .git/modules/lib/config core.fsmonitor $E",
    "a submodule's hook": "mkdir -p .git/modules/lib/hooks; "
    "cp evil .git/modules/lib/hooks/post-index-change; echo y >> lib/x",
    "hooks by a link": "mkdir h; cp evil h/post-index-change; rm -rf .git/modules/lib/hooks; "
    "ln -s ../../../h .git/modules/lib/hooks; echo y >> lib/x",
    "an included file": "git config -f shared.cfg core.fsmonitor $E",
    "the repository in another's place": "mv .git old; cp -r old .git; "
    "git config -f .git/config core.fsmonitor $E",
}


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS.keys())
async def test_git_runs_nothing_that_a_run_has_chosen(
    runs: Runs, git: Any, tmp_path: Path, attack: str
) -> None:
    library, project, pwned = tmp_path / "library", runs.project, tmp_path / "pwned"
    git("init", "-q", str(library))
    (library / "x").write_text("x\n")
    git("add", ".", cwd=library)
    git("commit", "-qm", "l", cwd=library)
    git("init", "-q", cwd=project)
    git("submodule", "add", str(library), "lib", cwd=project)
    (project / "shared.cfg").write_text("[user]\n\tname = n\n")
    git("config", "include.path", "../shared.cfg", cwd=project)
    git("add", ".", cwd=project)
    git("commit", "-qm", "first", cwd=project)
    line = SPY.format(pwned=pwned) + attack
    record = await runs.run([call("shell", line=line)], max_iterations=1)
    pwned.unlink(missing_ok=True)
    for words in (["status"], ["diff"], ["log", "-1"], ["add", "-A"], ["commit", "-qm", "user"]):
        git(*words, cwd=project)
    git("status", cwd=project / "lib")
    assert not pwned.exists()
    told = [line for line in record.refused if "names programs" in line]
    assert told
    assert all("(kept: " in line for line in told), record.refused


def undone_after(project: Path, run_dir: Path, *commands: list[str]) -> list[str]:
    """What is undone after these commands of a run, by path."""
    note_programs(project, run_dir)
    for words in commands:
        subprocess.run(words, cwd=project, check=True)
    found = undo_programs(project, run_dir, lambda path: False, lambda path: False)
    return [str(refusal) for refusal in found]


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository, and a file system on which nobody but root may read what is closed."""
    for name in ("objects", "refs", "hooks"):
        (tmp_path / "project" / "bare" / name).mkdir(parents=True)
    (tmp_path / "run").mkdir()
    if os.geteuid() == 0:

        def read(path: Path) -> bytes:
            if not path.stat().st_mode & 0o444:
                raise PermissionError(path)
            with open(path, "rb") as file:
                return file.read()

        monkeypatch.setattr(Path, "read_bytes", read)
    return tmp_path / "project" / "bare"


def test_a_hook_that_nobody_may_read_is_removed(bare: Path) -> None:
    made = [["cp", "/bin/true", "bare/hooks/pre-commit"], ["chmod", "111", "bare/hooks/pre-commit"]]
    (line,) = undone_after(bare.parent, bare.parent.parent / "run", *made)
    assert line.startswith("bare/hooks/pre-commit")
    assert line.endswith("; removed")
    assert not (bare / "hooks" / "pre-commit").exists()


def test_settings_that_are_a_pipe_are_removed(bare: Path) -> None:
    (line,) = undone_after(bare.parent, bare.parent.parent / "run", ["mkfifo", "bare/config"])
    assert line.startswith("bare/config")
    assert not (bare / "config").exists()


def test_the_users_own_hook_that_nobody_may_read_stays(bare: Path) -> None:
    (bare / "hooks" / "pre-commit").write_bytes(b"")
    (bare / "hooks" / "pre-commit").chmod(0o111)
    assert undone_after(bare.parent, bare.parent.parent / "run") == []
    assert (bare / "hooks" / "pre-commit").exists()


def test_a_new_source_folder_that_is_called_config_stays(bare: Path) -> None:
    line = ["mkdir", "bare/config"]
    assert undone_after(bare.parent, bare.parent.parent / "run", line) == []
    assert (bare / "config").is_dir()


def test_a_setting_that_could_not_be_removed_is_not_said_to_be(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A folder takes the file's place meanwhile, in the moment between two of our calls.
    monkeypatch.setattr(repository_programs, "put_entry", lambda *_: False)
    made = ["git", "config", "-f", "bare/config", "core.fsmonitor", "./evil"]
    (line,) = undone_after(
        bare.parent, bare.parent.parent / "run", made, [*made[:-2], "user.name", "n"]
    )
    assert line.endswith("could not be removed, as something is in the way")


async def test_repositories_that_a_run_makes_and_uses_stay_as_they_are(
    runs: Runs, git: Any
) -> None:
    git("init", "-q", cwd=runs.project)
    line = (
        f"{NESTED} cd sub; git config user.email x@example.org;"
        "git config core.hooksPath /dev/null;"
        "git config commit.gpgsign false; git config core.editor true; echo 2 > f; git stash;"
        "git remote add origin ../other; git worktree add -q ../tree; git branch -q b;"
        "cp .git/config ../config.seen; cd ..; git init -q --bare bare; git clone -q sub clone"
    )
    record = await runs.run([call("shell", line=line)], max_iterations=1)
    assert record.refused == []
    seen = (runs.project / "config.seen").read_text()
    assert (runs.project / "sub" / ".git" / "config").read_text() == seen
    assert "x@example.org" in seen
    assert (runs.project / "bare" / "config").exists()


async def test_what_a_new_repository_may_have_set_stays(runs: Runs, git: Any) -> None:
    line = "git init -q; git config user.email x@example.org; git config core.pager ./evil"
    record = await runs.run([call("shell", line=line)], max_iterations=1)
    shown = git("config", "--local", "--list", cwd=runs.project)
    assert "user.email=x@example.org" in shown
    assert "core.pager" not in shown
    assert [line.split(":")[0] for line in record.refused] == [".git/config"]
    aside = runs.store.folder(record.id) / "baseline" / "set_aside"
    assert any("evil" in path.read_text() for path in aside.rglob("config"))


async def test_hooks_that_are_a_link_are_left_alone(runs: Runs, git: Any) -> None:
    git("init", "-q", cwd=runs.project)
    (runs.project / ".githooks").mkdir()
    (runs.project / ".githooks" / "pre-commit").write_text("#!/bin/sh\n")
    shutil.rmtree(runs.project / ".git" / "hooks", ignore_errors=True)
    (runs.project / ".git" / "hooks").symlink_to("../.githooks")
    record = await runs.run([call("put", path="a.txt", text="right\n")])
    assert (record.status, record.refused) == ("achieved", [])
    assert (runs.project / ".git" / "hooks" / "pre-commit").exists()


async def test_a_source_folder_that_looks_like_a_repository_is_left_alone(runs: Runs) -> None:
    names = [f"src/{folder}/a.js" for folder in ("objects", "refs", "config")]
    for name in names:
        (runs.project / name).parent.mkdir(parents=True)
        (runs.project / name).write_text("x")
    await runs.run([call("put", path="a.txt", text="right\n")])
    assert all((runs.project / name).exists() for name in names)


async def test_what_a_killed_run_left_is_undone_by_the_next(runs: Runs, git: Any) -> None:
    """And what the user has done since stays."""
    state, project = runs.store.state, runs.project

    def bend() -> None:
        subprocess.run(["sh", "-c", BEND], cwd=project, check=True)

    first = await runs.run([call("shell", line="true")], max_iterations=1)
    folder = runs.store.folder(first.id)
    note(project, folder, [])  # as it stands while a run goes on
    bend()
    git("init", "-q", cwd=project)
    git("config", "core.pager", "./evil", cwd=project)
    now = (project / "steer.cfg").lstat().st_ctime_ns
    os.utime(folder / "left_behind.json", ns=(now, now))
    told = clean_up_killed_runs(state, project)
    assert not (project / ".retrai.yml").exists()
    assert not (project / "steer.cfg").exists()
    assert (project / "checks" / "check.txt").read_text() == "the check\n"
    assert "core.pager" not in git("config", "--local", "--list", cwd=project)
    assert len(told) == 4
    assert all("(kept: " in line for line in told)

    note(project, folder, [])
    os.utime(folder / "left_behind.json", ns=(0, 0))  # killed long ago
    bend()
    assert clean_up_killed_runs(state, project) == []
    assert (project / ".retrai.yml").exists()
    assert (project / "steer.cfg").exists()
    assert (project / "checks" / "check.txt").read_text() == "bent\n"


async def test_a_kill_while_a_resumed_run_begins_costs_the_user_no_hook(
    runs: Runs, git: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full_disk(*_: object) -> None:
        raise OSError("no space left")

    state, project = runs.store.state, runs.project
    git("init", "-q", cwd=project)
    hook = project / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("the user's\n")
    killed = runs.store.runs / "killed"
    killed.mkdir(parents=True)
    note(project, killed, [])
    monkeypatch.setattr(repository_programs, "copy_file", full_disk)
    with pytest.raises(OSError, match="no space left"):
        note(project, killed, [])
    assert clean_up_killed_runs(state, project) == []
    assert hook.read_text() == "the user's\n"


async def test_a_note_of_another_version_is_told_where_its_project_is_meant(runs: Runs) -> None:
    killed = runs.store.runs / "killed" / "left_behind.json"
    killed.parent.mkdir(parents=True)
    killed.write_text(json.dumps({"project": str(runs.project), "something": "new"}))
    (line,) = clean_up_killed_runs(runs.store.state, runs.project)
    assert "another version of retrai" in line
    assert line.endswith(f"then remove {killed}")
    assert "writable" not in line
    assert clean_up_killed_runs(runs.store.state, runs.project / "other") == []


@pytest.mark.parametrize("text", ["", "[]", "{}"])
async def test_a_damaged_note_hinders_no_run(runs: Runs, text: str) -> None:
    killed = runs.store.runs / "killed" / "left_behind.json"
    killed.parent.mkdir(parents=True)
    killed.write_text(text)
    assert clean_up_killed_runs(runs.store.state, runs.project) == []
