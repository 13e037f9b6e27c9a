"""No write of a tool reaches a repository's own files, by whatever path."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from retrai_core import WorkspaceError
from retrai_core.workspace.safe_paths import SafeWorkspace

REPOSITORY = ("HEAD", "config", "objects/x", "refs/x", "hooks/pre-commit")


def make_repository(folder: Path) -> None:
    for name in REPOSITORY:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("as it was\n")


@pytest.mark.parametrize(
    "path",
    [
        ".git/config",
        ".git/hooks/pre-commit",
        ".git/modules/x/config",
        "vendor/x/.git/config",
        "new/.git/hooks/post-checkout",
        "new/.git",
        ".hg/hgrc",
        ".svn/wc.db",
        "link/config",
        "hook",
        "elsewhere/config",
        "elsewhere/hooks/new",
    ],
)
def test_a_repository_is_not_written(project: Path, workspace: SafeWorkspace, path: str) -> None:
    make_repository(project / ".git")
    make_repository(project / "vendor" / "x" / ".git")
    make_repository(project / "elsewhere")
    (project / "link").symlink_to(".git")
    (project / "hook").symlink_to(".git/hooks/pre-commit")
    with pytest.raises(WorkspaceError, match="belongs to version control"):
        workspace.write_bytes(path, b"evil\n")
    texts = {file.read_text() for file in project.rglob("*") if file.is_file()}
    assert texts == {"as it was\n"}
    assert not (project / "new").exists()


@pytest.mark.parametrize(
    "path", [".gitignore", ".github/workflows/ci.yml", "git/config", "a.git/x", "HEAD", "git~1/a"]
)
def test_what_only_looks_like_it_is_written(
    project: Path, workspace: SafeWorkspace, path: str
) -> None:
    workspace.write_bytes(path, b"honest\n")
    assert (project / path).read_bytes() == b"honest\n"


@pytest.mark.parametrize("name", [".GIT", ".git. ", ".g\u200cit", "GIT~1", ".git::$INDEX"])
def test_another_spelling_counts_where_the_file_system_folds_case(
    project: Path, workspace: SafeWorkspace, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    from retrai_core.workspace import repository_paths

    workspace.write_bytes(f"{name}/config", b"honest\n")
    assert os.listdir(project) == [name]
    # No such file system can be mounted in a test.
    monkeypatch.setattr(repository_paths, "folds_case", lambda folder: True)
    with pytest.raises(WorkspaceError, match="belongs to version control"):
        workspace.write_bytes(f"{name}/hooks/x", b"evil\n")
