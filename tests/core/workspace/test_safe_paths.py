"""What tools may reach by a path, and what they are told when they may not."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from retrai_core import Entry, WorkspaceError
from retrai_core.workspace.safe_paths import SafeWorkspace


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("", "empty"),
        ("a\0b", "NUL"),
        ("../outside/secret", "goes up"),
        ("src/../../outside/secret", "goes up"),
        ("/etc/passwd", "outside the project"),
        ("\ud800", "cannot be a file name"),
        ("x" * 300, "too long"),
        ("missing", "does not exist"),
        ("missing/deeper", "does not exist"),
        ("a.py/b", "is a file, not a folder"),
        ("src", "is a folder"),
        (".", "is a folder"),
        ("pipe", "not a regular file"),
        ("away", "leads outside"),
        ("away-by-name/secret", "leads outside"),
        ("loop", "too many symlinks"),
    ],
)
def test_a_path_that_cannot_be_read_says_why(
    project: Path, workspace: SafeWorkspace, path: str, words: str
) -> None:
    (project / "src").mkdir()
    (project / "a.py").write_text("x")
    os.mkfifo(project / "pipe")
    (project / "away").symlink_to("../outside/secret")
    (project / "away-by-name").symlink_to(project.parent / "outside")
    (project / "loop").symlink_to("loop")

    with pytest.raises(WorkspaceError) as refused:
        workspace.read_bytes(path)

    assert words in str(refused.value)


@pytest.mark.parametrize("path", ["{project}/src/a.py", "src/../src/a.py"])
def test_a_refusal_tells_the_relative_form_of_a_path_in_the_project(
    project: Path, workspace: SafeWorkspace, path: str
) -> None:
    with pytest.raises(WorkspaceError) as refused:
        workspace.read_bytes(path.format(project=project))

    assert "in the project it is 'src/a.py'" in str(refused.value)


def test_symlinks_inside_the_project_are_followed(project: Path, workspace: SafeWorkspace) -> None:
    (project / "src" / "deep").mkdir(parents=True)
    (project / "src" / "a.py").write_bytes(b"text")
    (project / "by-name").symlink_to("src/a.py")
    (project / "by-folder").symlink_to("src/deep")
    (project / "src" / "deep" / "up").symlink_to("../a.py")
    (project / "absolute").symlink_to(project / "src")
    (project / "chain").symlink_to("absolute/../by-folder/up")

    for path in ("by-name", "by-folder/up", "absolute/a.py", "absolute/deep/up", "chain"):
        assert workspace.read_bytes(path) == b"text", path


def test_writing_through_a_symlink_changes_the_file_it_leads_to(
    project: Path, workspace: SafeWorkspace
) -> None:
    (project / "src").mkdir()
    (project / "src" / "a.py").write_bytes(b"old")
    (project / "link").symlink_to("src/a.py")

    workspace.write_bytes("link", b"new")

    assert (project / "link").is_symlink()
    assert (project / "src" / "a.py").read_bytes() == b"new"


@pytest.mark.parametrize("path", ["away", "away-folder/secret", "away-folder/new", "a/../../x"])
def test_nothing_outside_is_written(project: Path, workspace: SafeWorkspace, path: str) -> None:
    outside = project.parent / "outside"
    (project / "away").symlink_to(outside / "secret")
    (project / "away-folder").symlink_to("../outside")

    with pytest.raises(WorkspaceError):
        workspace.write_bytes(path, b"spoiled")

    assert [entry.name for entry in outside.iterdir()] == ["secret"]
    assert (outside / "secret").read_bytes() == b"the secret outside"


def test_a_write_keeps_the_mode_and_makes_missing_folders(
    project: Path, workspace: SafeWorkspace
) -> None:
    script = project / "run.sh"
    script.write_bytes(b"old")
    script.chmod(0o751)

    workspace.write_bytes("run.sh", b"new")
    workspace.write_bytes("new/folder/file", b"")

    assert stat.S_IMODE(script.stat().st_mode) == 0o751
    assert (project / "new" / "folder" / "file").read_bytes() == b""
    assert sorted(entry.name for entry in project.iterdir()) == ["new", "run.sh"]


def test_a_file_that_a_tool_replaces_loses_its_set_id_bits(
    project: Path, workspace: SafeWorkspace
) -> None:
    (project / "tool").write_bytes(b"old")
    (project / "tool").chmod(0o6755)

    workspace.write_bytes("tool", b"new")

    assert stat.S_IMODE((project / "tool").stat().st_mode) == 0o755


def test_another_name_of_a_hard_linked_file_keeps_the_old_text(
    project: Path, workspace: SafeWorkspace
) -> None:
    os.link(project.parent / "outside" / "secret", project / "twin")

    workspace.write_bytes("twin", b"new")

    assert (project.parent / "outside" / "secret").read_bytes() == b"the secret outside"


@pytest.mark.parametrize(
    ("path", "words"),
    [("folder", "is a folder"), ("pipe", "not a regular"), ("fixed", "read-only"), (".", "folder")],
)
def test_what_is_no_writable_file_is_not_replaced(
    project: Path, workspace: SafeWorkspace, path: str, words: str
) -> None:
    (project / "folder").mkdir()
    os.mkfifo(project / "pipe")
    (project / "fixed").write_bytes(b"fixed")
    (project / "fixed").chmod(0o444)

    with pytest.raises(WorkspaceError, match=words):
        workspace.write_bytes(path, b"new")

    assert (project / "fixed").read_bytes() == b"fixed"
    assert sorted(entry.name for entry in project.iterdir()) == ["fixed", "folder", "pipe"]


def test_the_guard_is_asked_for_the_path_that_a_symlink_hides(
    project: Path, workspace: SafeWorkspace
) -> None:
    (project / "tests").mkdir()
    (project / "tests" / "test_a.py").write_bytes(b"assert False")
    (project / "innocent").symlink_to("tests")
    refused: list[tuple[str, str]] = []
    workspace.refuse_write = lambda path: "it is a test" if path.startswith("tests/") else None
    workspace.on_refused = lambda path, reason: refused.append((path, reason))

    for path in ("innocent/test_a.py", "./tests//test_a.py", "innocent/new/conftest.py"):
        with pytest.raises(WorkspaceError, match="it is a test"):
            workspace.write_bytes(path, b"pass")
    workspace.write_bytes("src.py", b"pass")

    assert [path for path, _ in refused] == [
        "tests/test_a.py",
        "tests/test_a.py",
        "tests/new/conftest.py",
    ]
    assert os.listdir(project / "tests") == ["test_a.py"]


def test_what_may_not_be_read_is_in_no_listing_and_behind_no_link(
    project: Path, workspace: SafeWorkspace
) -> None:
    (project / "tests" / "held").mkdir(parents=True)
    (project / "tests" / "held" / "test_b.py").write_text("b")
    (project / "tests" / "test_a.py").write_text("a")
    (project / "link").symlink_to("tests/held")
    workspace.refuse_read = lambda path: "not shown" if path.startswith("tests/held") else None
    for path in ("tests/held/test_b.py", "link/test_b.py"):
        with pytest.raises(WorkspaceError, match="not shown"):
            workspace.read_bytes(path)
        with pytest.raises(WorkspaceError, match="not shown"):
            workspace.stat(path)
    for path in ("tests/held", "link"):
        with pytest.raises(WorkspaceError, match="not shown"):
            workspace.list_folder(path)
        with pytest.raises(WorkspaceError, match="not shown"):
            list(workspace.walk(path))
    assert [entry.path for entry in workspace.list_folder("tests")] == ["tests/test_a.py"]
    assert "tests/held/test_b.py" not in {entry.path for entry in workspace.walk()}


def test_a_listing_names_kinds_and_sizes(project: Path, workspace: SafeWorkspace) -> None:
    (project / "b.txt").write_bytes(b"12345")
    (project / "a").mkdir()
    (project / "link").symlink_to("/etc")
    os.mkfifo(project / "pipe")

    assert workspace.list_folder(".") == [
        Entry("a", "folder"),
        Entry("b.txt", "file", 5),
        Entry("link", "symlink"),
        Entry("pipe", "other"),
    ]
    assert workspace.stat("link") == Entry("link", "symlink")
    assert workspace.stat("a/nothing") is None
    assert workspace.stat("b.txt/nothing") is None
    with pytest.raises(WorkspaceError, match="not a folder"):
        workspace.list_folder("b.txt")


def test_a_walk_is_sorted_and_leaves_out_what_git_ignores(
    project: Path, workspace: SafeWorkspace
) -> None:
    files = {
        ".gitignore": "*.log\nbuild/\n!keep.log\n/only-here\n",
        "a/.gitignore": "!wanted.log\nsecret*\n",
        "a/wanted.log": "",
        "a/secret.txt": "",
        "a/only-here": "",
        "a-b": "",
        "a/z/deep.log": "",
        "build/out": "",
        "keep.log": "",
        "only-here": "",
        "x.log": "",
        ".git/config": "",
        ".retrai/memory.json": "",
        "ärger/ü.py": "",
    }
    for name, text in files.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)

    seen = [entry.path for entry in workspace.walk(".")]

    assert seen == [
        ".gitignore",
        "a-b",
        "a/.gitignore",
        "a/only-here",
        "a/wanted.log",
        "keep.log",
        "ärger/ü.py",
    ]
    everything = [entry.path for entry in workspace.walk(".", ignored=True)]
    assert everything == sorted(everything)
    assert set(everything) == set(files) - {".git/config", ".retrai/memory.json"}
    assert [entry.path for entry in workspace.walk("build")] == ["build/out"]


def test_rules_that_are_no_patterns_hide_nothing(project: Path, workspace: SafeWorkspace) -> None:
    (project / ".gitignore").write_bytes(b"\xef\xbb\xbf*.log\r\n[\r\n!\r\n\xff\r\n//\r\n")
    (project / "a.py").write_text("")
    (project / "b.log").write_text("")

    assert [entry.path for entry in workspace.walk(".")] == [".gitignore", "a.py"]


def test_no_file_stays_open(project: Path, workspace: SafeWorkspace) -> None:
    for number in range(30):
        (project / f"d{number}").mkdir()
        (project / f"d{number}" / "f").write_text("x")
    (project / "away").symlink_to("/etc")
    before = len(os.listdir("/dev/fd"))

    walk = workspace.walk(".")
    next(walk)
    for path in ("d1/f", "d1", "away", "away/passwd", "d2/missing/x", "d3/f/x"):
        for use in (workspace.read_bytes, workspace.stat, workspace.list_folder):
            try:
                use(path)
            except WorkspaceError:
                continue

    assert len(os.listdir("/dev/fd")) == before
    walk.close()


def test_a_very_deep_tree_is_walked(project: Path, workspace: SafeWorkspace) -> None:
    # A path longer than the system takes in one piece (4096 bytes).
    name = "deeper" * 40
    folder = os.open(project, os.O_RDONLY)
    for _ in range(25):
        os.mkdir(name, dir_fd=folder)
        below = os.open(name, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = below
    os.close(os.open("file", os.O_WRONLY | os.O_CREAT, dir_fd=folder))
    os.close(folder)

    (found,) = workspace.walk(".")

    assert found.path == f"{name}/" * 25 + "file"
    assert workspace.read_bytes(found.path) == b""
