"""Snapshots say exactly what a run changed, in any project, and leave the user's git alone."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from retrai_core import UsageError
from retrai_core.storage.snapshots import Snapshots
from retrai_core.workspace.tree_hash import TreeHasher
from retrai_core.workspace.tree_walk import Listing

GIT = shutil.which("git")
needs_git = pytest.mark.skipif(GIT is None, reason="git is not installed")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "kept.txt").write_text("as it was\n")
    return folder


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    folder.mkdir()
    return folder


@pytest.fixture
def snapshots(run_dir: Path, project: Path) -> Snapshots:
    return Snapshots(run_dir, project)


def git(folder: Path, *args: str) -> str:
    """The user's own git in the project, without the configuration of who runs the tests."""
    names = ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL")
    env = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    env |= dict.fromkeys(names, "somebody")
    done = subprocess.run(
        ["git", *args], cwd=folder, env=env, capture_output=True, text=True, check=True
    )
    return done.stdout


def bytes_of(folder: Path) -> Mapping[str, str]:
    """Every file below a folder with a hash of its bytes, its mode and its time."""
    found: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = path.read_bytes() if path.is_file() else b""
        digest = hashlib.sha256(content).hexdigest()
        found[str(path)] = f"{digest} {status.st_mode:o} {status.st_mtime_ns}"
    return found


@needs_git
def test_a_project_that_is_no_repository_needs_none(snapshots: Snapshots, project: Path) -> None:
    snapshots.take(0)
    (project / "kept.txt").write_text("changed\n")
    (project / "folder").mkdir()
    (project / "folder" / "new.txt").write_text("new\n")
    snapshots.take(1)
    assert snapshots.changed_files() == ["folder/new.txt", "kept.txt"]
    assert "-as it was\n+changed\n" in snapshots.diff()
    assert sorted(path.name for path in project.iterdir()) == ["folder", "kept.txt"]


@needs_git
def test_a_file_that_was_deleted_is_in_the_diff(snapshots: Snapshots, project: Path) -> None:
    snapshots.take(0)
    (project / "kept.txt").unlink()
    snapshots.take(1)
    assert snapshots.changed_files() == ["kept.txt"]
    assert "deleted file" in snapshots.diff()


@needs_git
def test_a_file_may_become_a_folder_and_a_folder_a_file(
    snapshots: Snapshots, project: Path
) -> None:
    (project / "folder").mkdir()
    (project / "folder" / "inner.txt").write_text("inner\n")
    snapshots.take(0)
    (project / "kept.txt").unlink()
    (project / "kept.txt").mkdir()
    (project / "kept.txt" / "inner.txt").write_text("inner\n")
    shutil.rmtree(project / "folder")
    (project / "folder").write_text("a file now\n")
    snapshots.take(1)
    assert snapshots.changed_files() == [
        "folder",
        "folder/inner.txt",
        "kept.txt",
        "kept.txt/inner.txt",
    ]


@needs_git
def test_of_a_moved_file_both_names_count_as_changed(snapshots: Snapshots, project: Path) -> None:
    snapshots.take(0)
    (project / "kept.txt").rename(project / "moved.txt")
    snapshots.take(1)
    assert snapshots.changed_files() == ["kept.txt", "moved.txt"]
    assert "rename from kept.txt\nrename to moved.txt\n" in snapshots.diff()


@needs_git
def test_nothing_changed_is_no_diff(snapshots: Snapshots, project: Path) -> None:
    snapshots.take(0)
    (project / "kept.txt").touch()
    snapshots.take(1)
    assert (snapshots.changed_files(), snapshots.diff()) == ([], "")


@needs_git
def test_the_diff_between_two_iterations_is_only_theirs(
    snapshots: Snapshots, project: Path
) -> None:
    for iteration in range(4):
        (project / "count.txt").write_text(f"{iteration}\n")
        snapshots.take(iteration)
    assert "-1\n+2\n" in snapshots.diff(1, 2)
    assert "-0\n+3\n" not in snapshots.diff(1, 2)
    assert "-0\n+3\n" in snapshots.diff()
    assert "-2\n+3\n" in snapshots.diff(first=2)
    with pytest.raises(UsageError, match="no snapshot at iteration -1"):
        snapshots.diff(-1, 2)


@needs_git
def test_an_iteration_that_changed_nothing_stands_for_the_one_before(
    snapshots: Snapshots, project: Path
) -> None:
    first = snapshots.take(0)
    (project / "kept.txt").write_text("changed\n")
    snapshots.take(5)
    assert snapshots.at(4) == first


@needs_git
def test_the_user_s_own_repository_stays_as_it_is_byte_for_byte(
    snapshots: Snapshots, project: Path
) -> None:
    git(project, "init", "--quiet")
    git(project, "add", ".")
    git(project, "commit", "--quiet", "-m", "first")
    (project / "staged.txt").write_text("staged\n")
    git(project, "add", "staged.txt")
    before = bytes_of(project / ".git")
    snapshots.take(0)
    (project / "kept.txt").write_text("changed\n")
    snapshots.take(1)
    snapshots.diff()
    assert bytes_of(project / ".git") == before
    assert snapshots.changed_files() == ["kept.txt"]


@needs_git
@pytest.mark.parametrize("with_commit", [False, True])
def test_files_of_a_repository_inside_the_project_are_seen_like_others(
    snapshots: Snapshots, project: Path, with_commit: bool
) -> None:
    inner = project / "vendor" / "inner"
    inner.mkdir(parents=True)
    (inner / "code.py").write_text("one = 1\n")
    git(inner, "init", "--quiet")
    if with_commit:
        git(inner, "add", ".")
        git(inner, "commit", "--quiet", "-m", "first")
    before = bytes_of(inner / ".git")
    snapshots.take(0)
    (inner / "code.py").write_text("one = 2\n")
    snapshots.take(1)
    assert snapshots.changed_files() == ["vendor/inner/code.py"]
    assert "-one = 1\n+one = 2\n" in snapshots.diff()
    assert bytes_of(inner / ".git") == before


@needs_git
def test_a_project_inside_a_larger_repository_is_a_tree_of_its_own(
    tmp_path: Path, run_dir: Path, project: Path
) -> None:
    git(tmp_path, "init", "--quiet")
    snapshots = Snapshots(run_dir, project)
    snapshots.take(0)
    (project / "kept.txt").write_text("changed\n")
    snapshots.take(1)
    assert snapshots.changed_files() == ["kept.txt"]


@needs_git
def test_line_endings_are_kept_and_compared_as_they_are(
    snapshots: Snapshots, project: Path
) -> None:
    (project / ".gitattributes").write_text("* text=auto eol=crlf\n")
    (project / "crlf.txt").write_bytes(b"one\r\ntwo\r\n")
    (project / "lf.txt").write_bytes(b"one\ntwo\n")
    snapshots.take(0)
    (project / "crlf.txt").write_bytes(b"one\r\nTWO\r\n")
    (project / "lf.txt").write_bytes(b"one\r\ntwo\r\n")
    snapshots.take(1)
    assert snapshots.changed_files() == ["crlf.txt", "lf.txt"]
    diff = snapshots.diff()
    assert " one\r\n-two\r\n+TWO\r\n" in diff
    assert "-one\n-two\n+one\r\n+two\r\n" in diff


@needs_git
def test_attributes_of_the_project_hide_no_change(snapshots: Snapshots, project: Path) -> None:
    (project / ".gitattributes").write_text("*.txt -diff filter=odd working-tree-encoding=UTF-16\n")
    snapshots.take(0)
    (project / "kept.txt").write_text("changed\n")
    snapshots.take(1)
    assert "-as it was\n+changed\n" in snapshots.diff()


@needs_git
@pytest.mark.parametrize("name", ["größe äöü.txt", "日本語/名前.py", 'quo"te.txt', "new\nline.txt"])
def test_any_name_is_told_as_it_is(snapshots: Snapshots, project: Path, name: str) -> None:
    snapshots.take(0)
    path = project / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("new\n")
    snapshots.take(1)
    assert snapshots.changed_files() == [name]
    assert "+new\n" in snapshots.diff()


@needs_git
def test_a_name_that_is_not_utf_8_is_told_with_escapes(snapshots: Snapshots, project: Path) -> None:
    path = os.fsencode(project) + b"/caf\xe9.txt"
    try:
        with open(path, "wb") as file:
            file.write(b"\xe9t\xe9\n")
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    snapshots.take(0)
    with open(path, "wb") as file:
        file.write(b"hiver\n")
    snapshots.take(1)
    assert snapshots.changed_files() == ["caf\\xe9.txt"]
    assert b"-\xe9t\xe9\n" in os.fsencode(snapshots.diff())


@needs_git
def test_becoming_executable_is_a_change(snapshots: Snapshots, project: Path) -> None:
    snapshots.take(0)
    (project / "kept.txt").chmod(0o755)
    snapshots.take(1)
    assert snapshots.changed_files() == ["kept.txt"]
    assert "old mode 100644\nnew mode 100755\n" in snapshots.diff()


@needs_git
def test_a_symlink_is_stored_as_a_link_and_never_followed(
    snapshots: Snapshots, project: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text("secret\n")
    (project / "link").symlink_to("kept.txt")
    snapshots.take(0)
    (project / "link").unlink()
    (project / "link").symlink_to(tmp_path / "outside")
    (tmp_path / "outside" / "secret.txt").write_text("other secret\n")
    snapshots.take(1)
    assert snapshots.changed_files() == ["link"]
    assert f"-kept.txt\n\\ No newline at end of file\n+{tmp_path}/outside" in snapshots.diff()
    assert "secret" not in snapshots.diff()


@needs_git
def test_what_is_ignored_and_caches_are_left_out(snapshots: Snapshots, project: Path) -> None:
    (project / ".gitignore").write_text("*.log\n/build/\n")
    snapshots.take(0)
    for name in ("a.log", "build/b.txt", "__pycache__/c.pyc", ".retrai/memory.json"):
        path = project / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("new\n")
    snapshots.take(1)
    assert snapshots.changed_files() == []


@needs_git
def test_an_environment_is_left_out_by_its_mark_and_not_by_its_name(
    snapshots: Snapshots, project: Path
) -> None:
    snapshots.take(0)
    for name in ("own/pyvenv.cfg", "own/lib/a.py", "src/venv/b.py", ".venv/c.py", "fake/d.py"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text("new\n")
    (project / "fake" / "pyvenv.cfg").symlink_to("d.py")
    snapshots.take(1)
    changed = [".venv/c.py", "fake/d.py", "fake/pyvenv.cfg", "src/venv/b.py"]
    assert snapshots.changed_files() == changed


@needs_git
def test_a_pipe_in_the_project_is_passed_over(snapshots: Snapshots, project: Path) -> None:
    os.mkfifo(project / "pipe")
    snapshots.take(0)
    (project / "kept.txt").write_text("changed\n")
    snapshots.take(1)
    assert snapshots.changed_files() == ["kept.txt"]


@needs_git
def test_a_path_that_git_keeps_nowhere_is_passed_over(snapshots: Snapshots, project: Path) -> None:
    snapshots.take(0)
    (project / ".Git").mkdir()
    (project / ".Git" / "config").write_text("any\n")
    (project / ".gitmodules").symlink_to("kept.txt")
    (project / "kept.txt").write_text("changed\n")
    snapshots.take(1)
    assert snapshots.changed_files() == ["kept.txt"]


@needs_git
def test_an_empty_project_can_be_filled(snapshots: Snapshots, project: Path) -> None:
    (project / "kept.txt").unlink()
    snapshots.take(0)
    (project / "first.txt").write_text("first\n")
    snapshots.take(1)
    assert snapshots.changed_files() == ["first.txt"]


@needs_git
def test_a_later_process_goes_on_where_a_kill_left_the_store(run_dir: Path, project: Path) -> None:
    Snapshots(run_dir, project).take(0)
    (run_dir / "snapshots/objects/pack/tmp_pack_1").write_bytes(b"half a pack")
    with (run_dir / "snapshots.jsonl").open("a") as file:
        file.write('{"iteration": 1, "tr')
    (project / "kept.txt").write_text("changed\n")
    resumed = Snapshots(run_dir, project)
    resumed.take(1)
    assert [snapshot.iteration for snapshot in resumed.all()] == [0, 1]
    assert resumed.changed_files() == ["kept.txt"]


@needs_git
def test_two_threads_that_take_one_at_once_do_not_disturb_each_other(
    snapshots: Snapshots, project: Path
) -> None:
    failed: list[Exception] = []

    def take(iteration: int) -> None:
        try:
            snapshots.take(iteration)
        except Exception as error:  # noqa: BLE001 - shown by the assertion below
            failed.append(error)

    threads = [threading.Thread(target=take, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failed == []
    assert len(snapshots.all()) == 4


@needs_git
def test_the_user_s_git_settings_and_variables_change_nothing(
    snapshots: Snapshots, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        "[core]\nautocrlf = true\nexcludesFile = ~/ignored\nhooksPath = ~/hooks\n"
        "[diff]\nexternal = false\nnoprefix = true\n[color]\nui = always\n"
    )
    (home / "ignored").write_text("*.txt\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "nothing"))
    snapshots.take(0)
    (project / "kept.txt").write_text("changed\n")
    snapshots.take(1)
    assert snapshots.diff().startswith("diff --git a/kept.txt b/kept.txt\n")


def test_without_git_there_are_no_snapshots_and_the_diff_says_why(
    run_dir: Path, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    snapshots = Snapshots(run_dir, project)
    assert not snapshots.available
    assert snapshots.take(0) is None
    assert snapshots.changed_files() == []
    with pytest.raises(UsageError, match="`git` is not installed") as caught:
        snapshots.diff()
    assert "install git" in caught.value.hint


@needs_git
def test_a_run_without_snapshots_has_no_diff(snapshots: Snapshots) -> None:
    assert (snapshots.all(), snapshots.changed_files(), snapshots.diff()) == ([], [], "")


@needs_git
def test_what_a_run_adds_to_gitignore_hides_nothing_that_it_adds(
    run_dir: Path, snapshots: Snapshots, project: Path
) -> None:
    (project / ".gitignore").write_text("*.log\n")
    (project / "old.log").write_text("before\n")
    snapshots.take(0)
    (project / ".gitignore").write_text("*.log\nhidden.py\n")
    (project / "hidden.py").write_text("import _pytest\n")
    (project / "new.log").write_text("ignored from the start\n")
    snapshots.take(1)
    assert snapshots.changed_files() == [".gitignore", "hidden.py"]
    later = Snapshots(run_dir, project)
    later.take(2)
    assert later.changed_files() == [".gitignore", "hidden.py"]


def seen_by_an_evaluation(project: Path) -> Listing:
    return TreeHasher(project).state().listing


@needs_git
def test_what_an_evaluation_has_just_seen_saves_another_walk(
    snapshots: Snapshots, project: Path
) -> None:
    (project / ".gitignore").write_text("*.log\n")
    (project / "inner" / "empty").mkdir(parents=True)
    first = snapshots.take(0)
    assert first is not None
    listing = seen_by_an_evaluation(project)
    (project / "later.txt").write_text("after it was seen\n")
    assert snapshots.take(1, listing) == replace(first, iteration=1)
    snapshots.take(2, seen_by_an_evaluation(project))
    assert snapshots.changed_files() == ["later.txt"]


@needs_git
def test_an_evaluation_that_ignored_something_else_saves_nothing(
    snapshots: Snapshots, project: Path
) -> None:
    snapshots.take(0)
    (project / ".gitignore").write_text("hidden.py\n")
    (project / "hidden.py").write_text("import _pytest\n")
    snapshots.take(1, seen_by_an_evaluation(project))
    assert snapshots.changed_files() == [".gitignore", "hidden.py"]


@needs_git
def test_installed_packages_and_environments_stay_out_also_when_one_is_broken(
    snapshots: Snapshots, project: Path
) -> None:
    for name in ("env/pyvenv.cfg", "env/lib/code.py", "node_modules/left-pad/index.js"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text("1\n")
    snapshots.take(0)
    (project / "env" / "pyvenv.cfg").unlink()
    (project / "node_modules" / "more.js").write_text("2\n")
    snapshots.take(1, seen_by_an_evaluation(project))
    snapshots.take(2)
    assert snapshots.changed_files() == []
    assert list(snapshots.entries(snapshots.all()[-1])) == ["kept.txt"]


@needs_git
def test_the_mark_of_an_environment_hides_no_folder_of_the_project(
    snapshots: Snapshots, project: Path
) -> None:
    (project / "src").mkdir()
    (project / "src" / "a.py").write_text("1\n")
    snapshots.take(0)
    (project / "src" / "a.py").write_text("2\n")
    (project / "src" / "pyvenv.cfg").write_text("home = /usr/bin\n")
    snapshots.take(1, seen_by_an_evaluation(project))
    assert snapshots.changed_files() == ["src/a.py", "src/pyvenv.cfg"]


@needs_git
def test_many_files_and_large_ones_come_back_as_they_were(
    snapshots: Snapshots, project: Path
) -> None:
    contents = {f"folder/{n}": b"%d\n" % n * n for n in range(150)}
    contents["large.bin"] = bytes(range(256)) * 8192 + b"end"
    (project / "folder").mkdir()
    for name, data in contents.items():
        (project / name).write_bytes(data)
    taken = snapshots.take(0)
    assert taken is not None
    entries = snapshots.entries(taken)
    with snapshots.store.reading() as read:
        found = {name: read(entries[name]) for name in contents}
    assert found == contents
    assert git(project, f"--git-dir={project.parent}/run/snapshots", "fsck", "--no-dangling") == ""
