"""The repository that is shown in the real one's place knows nothing of the held-out files."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from retrai_core import UsageError
from retrai_core.verification.masked_git import make_substitute, repository_of

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")

HELD = "tests/held/test_b.py"
SIGNATURE = "-----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----"
SECRET = "assert answer() == 42  # held out\n"


def git(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=Jo", "-c", "user.email=jo@example.com", "-c", "safe.directory=*"]
    done = subprocess.run(
        ["git", *who, *words], cwd=folder, capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A project on the branch `work`, with a held-out test in its history and a dirty file."""
    folder = tmp_path / "project"
    (folder / "tests" / "held").mkdir(parents=True)
    git(folder, "init", "-q", "-b", "work")
    (folder / "answer.py").write_text("one\n")
    (folder / HELD).write_text(SECRET)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "one")
    (folder / "answer.py").write_text("two\n")
    git(folder, "commit", "-qam", f"two, and {HELD}")
    (folder / "answer.py").write_text("three\n")
    (folder / ".git" / "info").mkdir(exist_ok=True)
    (folder / ".git" / "info" / "exclude").write_text("notes.txt\ntests/held/*.tmp\n")
    (folder / "notes.txt").write_text("mine\n")
    return folder


def masked(repository: Path, tmp_path: Path) -> Path:
    """The project as the agent sees it."""
    seen = tmp_path / "seen"
    make_substitute(repository, [HELD], tmp_path / "substitute")
    shutil.copytree(repository, seen, ignore=shutil.ignore_patterns(".git", "held"))
    shutil.copytree(tmp_path / "substitute", seen / ".git")
    return seen


def test_no_object_ref_or_message_tells_of_the_held_out_file(
    repository: Path, tmp_path: Path
) -> None:
    before = git(repository, "status", "--porcelain"), git(repository, "count-objects", "-v")
    seen = masked(repository, tmp_path)
    digest = git(repository, "hash-object", HELD).strip()
    objects = git(seen, "cat-file", "--batch-all-objects", "--batch-check")
    assert digest not in objects
    everything = git(seen, "log", "--all", "--stat", "-p") + git(seen, "ls-files")
    assert "held" not in everything
    assert b"held" not in b"".join(
        path.read_bytes() for path in (seen / ".git").rglob("*") if path.is_file()
    )
    assert (git(repository, "status", "--porcelain"), git(repository, "count-objects", "-v")) == (
        before
    )


def test_the_agent_works_with_it_as_with_any_repository(repository: Path, tmp_path: Path) -> None:
    seen = masked(repository, tmp_path)
    assert git(seen, "status", "--porcelain") == " M answer.py\n"
    assert "-two\n+three" in git(seen, "diff", "HEAD")
    assert git(seen, "branch", "--show-current") == "work\n"
    git(seen, "commit", "-qam", "three")
    assert git(seen, "log", "--format=%s").splitlines() == ["three", "The project before the run"]


def test_its_commit_is_as_old_as_the_projects_last_one(repository: Path, tmp_path: Path) -> None:
    old = ["-c", "user.name=Jo", "-c", "user.email=jo@example.com", "commit", "-qam", "old"]
    date = "2020-02-03T04:05:06+01:00"
    environment = {**os.environ, "GIT_COMMITTER_DATE": date}
    subprocess.run(["git", *old], cwd=repository, env=environment, check=True, timeout=60)
    seen = masked(repository, tmp_path)
    assert git(seen, "log", "--format=%cI %aI") == f"{date} {date}\n"


def test_a_repository_without_a_commit_is_an_empty_one(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "a").write_text("a")
    seen = masked(folder, tmp_path)
    assert git(seen, "status", "--porcelain") == "?? a\n"


def test_programs_that_the_repositorys_configuration_names_are_not_run(
    repository: Path, tmp_path: Path
) -> None:
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    commit = git(repository, "cat-file", "commit", "HEAD")
    signed = commit.replace("\n\n", f"\ngpgsig {SIGNATURE}\n\n", 1)
    (tmp_path / "signed").write_text(signed)
    name = git(repository, "hash-object", "-t", "commit", "-w", str(tmp_path / "signed")).strip()
    git(repository, "update-ref", "HEAD", name)
    for key in ("core.fsmonitor", "core.pager", "diff.external", "filter.x.clean", "gpg.program"):
        git(repository, "config", key, str(trap))
    git(repository, "config", "log.showSignature", "true")
    make_substitute(repository, [HELD], tmp_path / "substitute")
    assert not (tmp_path / "sprung").exists()
    assert str(trap) not in (tmp_path / "substitute" / "config").read_text()


def test_a_project_below_its_repository_is_found(repository: Path, tmp_path: Path) -> None:
    assert repository_of(repository / "tests") == repository
    assert repository_of(tmp_path) is None


def test_what_cannot_be_hidden_is_refused(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-q", str(tmp_path / "tree"))
    with pytest.raises(UsageError, match="linked working tree"):
        repository_of(tmp_path / "tree")
    (tmp_path / "other" / ".hg").mkdir(parents=True)
    with pytest.raises(UsageError, match="another kind"):
        repository_of(tmp_path / "other")
