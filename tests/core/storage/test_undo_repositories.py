"""Taking back what a run did in a repository: commits, branches, the index, a whole `.git`."""

from __future__ import annotations

import errno
import itertools
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrai_core.storage import repositories
from retrai_core.storage.restore import Undone
from retrai_core.storage.snapshots import Snapshots

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")

Work = Any
"""A project and the snapshots of a run in it, see `conftest.py`."""

INNER = "vendor/inner"


def git(folder: Path, *args: str) -> str:
    """git as an agent's command or the user would call it, without anybody's configuration."""
    who = ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL")
    env = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    env |= dict.fromkeys(who, "somebody")
    command = ["git", "-c", "gc.auto=0", *args]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    return done.stdout


def commit(folder: Path, text: str) -> None:
    (folder / "code.py").write_text(text)
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", text)


def tree(work: Work) -> dict[str, tuple[str, bytes]]:
    """Everything but objects: those that a run added stay, and do no harm."""
    found = work.tree()
    return {path: kept for path, kept in found.items() if ".git/objects" not in path}


def objects(folder: Path) -> set[str]:
    found = git(folder, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
    return set(found.split())


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with two commits and a branch."""
    folder = tmp_path_factory.mktemp("template")
    git(folder, "init", "--quiet", "--template=", "-b", "main")
    commit(folder, "one = 1\n")
    git(folder, "branch", "other")
    commit(folder, "one = 2\n")
    return folder


@pytest.fixture
def work(tmp_path: Path, new_work: Work, template: Path) -> Work:
    """A project that is a repository, with another one inside, as they stood before a run."""
    made = new_work(tmp_path)
    shutil.copytree(template, made.project, symlinks=True, dirs_exist_ok=True)
    shutil.copytree(template, made.project / INNER, symlinks=True)
    made.snapshot()
    return made


@pytest.mark.parametrize("where", [".", INNER])
def test_a_commit_and_what_was_staged_are_taken_back(work: Work, where: str) -> None:
    before = tree(work)
    folder = work.project / where
    git(folder, "checkout", "--quiet", "-b", "by-the-run")
    commit(folder, "one = 3\n")
    (folder / "new.py").write_text("two = 2\n")
    git(folder, "add", "new.py")
    work.snapshot()
    undone = work.undo()
    assert tree(work) == before
    assert str(Path(where, ".git")) in undone.restored
    assert undone.conflicts == []
    assert git(folder, "status", "--porcelain", "--", "code.py", "new.py") == ""
    assert work.undo() == Undone()


@pytest.mark.parametrize("where", [".", INNER])
def test_a_repository_that_was_deleted_is_there_again(work: Work, where: str) -> None:
    before, known = tree(work), objects(work.project / where)
    shutil.rmtree(work.project / where / ".git")
    work.snapshot()
    work.undo()
    assert tree(work) == before
    assert objects(work.project / where) == known
    assert git(work.project / where, "fsck", "--strict") == ""
    assert len(git(work.project / where, "log", "--format=%s").splitlines()) == 2


def test_a_repository_that_the_run_made_goes_away(work: Work) -> None:
    before = tree(work)
    made = work.project / "made" / "here"
    made.mkdir(parents=True)
    git(made, "init", "--quiet")
    commit(made, "x = 1\n")
    work.snapshot()
    assert work.undo().removed == ["made/here/.git", "made/here/code.py"][::-1]
    assert tree(work) == before


def test_objects_that_the_run_has_pruned_come_back(work: Work) -> None:
    before, known = tree(work), objects(work.project / INNER)
    git(work.project / INNER, "branch", "-D", "other")
    git(work.project / INNER, "reset", "--quiet", "--hard", "HEAD~1")
    git(work.project / INNER, "reflog", "expire", "--expire=now", "--all")
    git(work.project / INNER, "gc", "--quiet", "--prune=now")
    assert objects(work.project / INNER) < known
    work.snapshot()
    assert f"{INNER}/.git" in work.undo().restored
    assert tree(work) == before
    assert objects(work.project / INNER) == known
    assert git(work.project / INNER, "fsck", "--strict") == ""


def test_a_git_file_that_became_a_folder_is_a_file_again(work: Work) -> None:
    work.write("sub/.git", b"gitdir: ../.git/modules/sub\n")
    work.snapshot()
    before = tree(work)
    (work.project / "sub" / ".git").unlink()
    git(work.project / "sub", "init", "--quiet")
    work.snapshot()
    work.undo(to=1)
    assert tree(work) == before


def test_a_run_is_taken_back_to_one_of_its_commits(work: Work) -> None:
    commit(work.project / INNER, "one = 3\n")
    work.snapshot()
    between = tree(work)
    commit(work.project / INNER, "one = 4\n")
    git(work.project / INNER, "branch", "-D", "other")
    work.snapshot()
    work.undo(to=1)
    assert tree(work) == between


def test_a_commit_of_the_user_s_since_is_kept_and_the_repository_named(work: Work) -> None:
    folder = work.project / INNER
    commit(folder, "one = 3\n")
    work.snapshot()
    commit(folder, "one = 4\n")
    before = {p: kept for p, kept in tree(work).items() if "/.git/" in p}
    undone = work.undo()
    assert undone.conflicts == [f"{INNER}/code.py", f"{INNER}/.git"]
    assert {p: kept for p, kept in tree(work).items() if "/.git/" in p} == before
    assert git(folder, "fsck", "--strict") == ""


def test_objects_that_the_user_has_written_since_are_kept(work: Work) -> None:
    commit(work.project, "one = 3\n")
    work.snapshot()
    (work.project / "mine.py").write_text("mine\n")
    name = git(work.project, "hash-object", "-w", "mine.py").strip()
    assert ".git" in work.undo().restored
    assert git(work.project, "cat-file", "-p", name) == "mine\n"
    assert git(work.project, "log", "-1", "--format=%s") == "one = 2\n"


def test_that_the_user_has_looked_since_is_no_conflict(work: Work) -> None:
    before = tree(work)
    folder = work.project / INNER
    commit(folder, "one = 3\n")
    work.snapshot()
    left = (folder / ".git/index").read_bytes()
    os.utime(folder / "code.py", ns=(1, 1))
    git(folder, "status")  # writes what it saw of the file into the index
    assert (folder / ".git/index").read_bytes() != left
    assert work.undo().conflicts == []
    assert tree(work) == before


def test_that_the_run_has_looked_is_no_reason_for_a_conflict(work: Work) -> None:
    os.utime(work.project / "code.py", ns=(1, 1))
    git(work.project, "status")
    work.snapshot()
    commit(work.project, "one = 3\n")
    assert work.undo() == Undone()
    assert len(git(work.project, "log", "--format=%s").splitlines()) == 3


@pytest.mark.parametrize("where", [".", INNER])
def test_that_the_run_has_looked_is_not_told_as_a_change(work: Work, where: str) -> None:
    before = tree(work)
    folder = work.project / where
    os.utime(folder / "code.py", ns=(1, 1))
    git(folder, "status")  # writes what it saw of the file into the index
    git(folder, "hash-object", "-w", "--stdin")  # and an object that nothing names
    work.snapshot()
    assert tree(work) != before
    assert work.undo() == Undone()


@pytest.mark.parametrize("change", ["config", "branch", "staged"])
def test_less_than_a_commit_is_told_where_it_can_be_seen(work: Work, change: str) -> None:
    before = tree(work)
    if change == "config":
        git(work.project, "config", "user.name", "somebody else")
    elif change == "branch":
        git(work.project, "branch", "new")
    else:
        (work.project / "code.py").write_text("one = 3\n")
        git(work.project, "add", "code.py")
    work.snapshot()
    assert ".git" in work.undo().restored
    assert tree(work) == before


def test_permission_bits_in_a_repository_are_taken_back(work: Work) -> None:
    before = tree(work)
    (work.project / ".git" / "refs").chmod(0o700)
    (work.project / ".git" / "config").chmod(0o600)
    work.snapshot()
    assert work.undo() == Undone(restored=[".git/config"])
    assert tree(work) == before


def test_objects_are_copied_where_they_cannot_be_linked_and_missed_when_too_large(
    work: Work, new_work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.EXDEV, "another file system")

    monkeypatch.setattr(os, "link", refused)
    for limit, restored in ((10**6, True), (10, False)):
        monkeypatch.setattr(repositories, "COPY_LIMIT_BYTES", limit)
        run_dir = tmp_path / f"run-{limit}"
        run_dir.mkdir()
        work.snapshots = Snapshots(run_dir, work.project)
        work.snapshot()
        before, known = tree(work), objects(work.project)
        shutil.rmtree(work.project / ".git")
        work.snapshot()
        undone = work.undo(to=work.iteration - 2)
        assert (".git" in undone.restored) == restored
        assert (".git" in undone.conflicts) != restored
        assert (tree(work) == before) == restored
        assert (objects(work.project) == known) == restored


def test_of_repositories_in_an_older_run_nothing_is_known_and_nothing_touched(work: Work) -> None:
    listed = work.project.parent / "run" / "snapshots.jsonl"
    known = json.loads(listed.read_text())
    listed.write_text(json.dumps({"iteration": 0, "tree": known["tree"]}) + "\n")
    commit(work.project / INNER, "one = 3\n")
    work.snapshot()
    work.undo()
    assert len(git(work.project / INNER, "log", "--format=%s").splitlines()) == 3


def test_an_unchanged_repository_is_not_read_again(work: Work) -> None:
    first = work.snapshots.all()[0]
    work.snapshot()
    assert work.snapshots.all()[1].repository_tree == first.repository_tree != ""


STEPS = st.lists(
    st.tuples(
        st.sampled_from([".", INNER, "made", "made/deep"]),
        st.sampled_from(
            ["init", "commit", "stage", "branch", "delete", "gc", "reset", "file", "empty"]
        ),
    ),
    min_size=1,
    max_size=4,
)


def step(project: Path, where: str, what: str, number: int) -> None:
    folder = project / where
    folder.mkdir(parents=True, exist_ok=True)
    own = folder / ".git"
    if what == "init":
        git(folder, "init", "--quiet", "--template=")
    elif what == "delete":
        shutil.rmtree(own, ignore_errors=True)
    elif what == "file":
        shutil.rmtree(own, ignore_errors=True)
        own.write_text("gitdir: elsewhere\n")
    elif not own.is_dir():
        return
    elif what == "commit":
        commit(folder, f"step {number}\n")
    elif what == "stage":
        (folder / "staged.py").write_text(f"step {number}\n")
        git(folder, "add", "staged.py")
    elif what == "branch":
        git(folder, "branch", f"feature/{number}")
    elif what == "gc":
        git(folder, "gc", "--quiet", "--prune=now")
    elif what == "reset":
        git(folder, "reset", "--quiet", "--hard", "other")
    else:
        (own / "refs" / "empty" / str(number)).mkdir(parents=True, exist_ok=True)


@settings(max_examples=8)
@given(before=STEPS, run=st.lists(STEPS, min_size=1, max_size=2))
def test_whatever_a_run_did_in_repositories_is_taken_back(
    new_work: Work, template: Path, before: list[Any], run: list[list[Any]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        work = new_work(Path(folder))
        shutil.copytree(template, work.project, symlinks=True, dirs_exist_ok=True)
        shutil.copytree(template, work.project / INNER, symlinks=True)
        numbers = itertools.count()
        for where, what in before:
            step(work.project, where, what, next(numbers))
        work.snapshot()
        before_it, known = tree(work), objects(work.project)
        for steps in run:
            for where, what in steps:
                step(work.project, where, what, next(numbers))
            work.snapshot()
        assert work.undo().conflicts == []
        assert tree(work) == before_it
        assert known <= objects(work.project)
