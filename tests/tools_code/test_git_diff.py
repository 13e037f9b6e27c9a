"""`git_diff`."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def git(folder: Path, *argv: str) -> None:
    """Run git without anyone's configuration."""
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    name = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", *name, *argv], cwd=folder, env=env, check=True, capture_output=True)


@pytest.fixture
def repository(bench: Any) -> Any:
    bench.write("src/a.py", "one\ntwo\n")
    bench.write("gone", "x\n")
    git(bench.project, "init", "-q")
    git(bench.project, "add", ".")
    git(bench.project, "commit", "-qm", "first")
    return bench


async def test_changes_and_new_files_are_shown(repository: Any) -> None:
    repository.write("src/a.py", "one\nthree\n")
    repository.write("src/ü b.py", "new\nfile")
    repository.write("image", b"\0")
    repository.write("empty", "")
    repository.write("large", "x" * 200_000)
    (repository.project / "gone").unlink()

    text = await repository.text("git_diff")

    assert "-two\n+three" in text
    assert "deleted file" in text
    assert "--- /dev/null\n+++ b/src/ü b.py\n@@ -0,0 +1,2 @@\n+new\n+file\n\\ No newline" in text
    assert "Binary file" in text
    assert "(larger than 100000 bytes)" in text
    assert await repository.text("git_diff", path="gone") == text[: text.index("diff --git", 1) - 1]


async def test_nothing_changed_is_an_answer(repository: Any) -> None:
    assert await repository.text("git_diff") == "nothing has changed since the last commit"


async def test_staged_changes_are_shown_too(repository: Any) -> None:
    repository.write("src/a.py", "one\nstaged\n")
    git(repository.project, "add", ".")

    assert "+staged" in await repository.text("git_diff")


async def test_a_repository_without_a_commit_shows_everything(bench: Any) -> None:
    git(bench.project, "init", "-q")
    bench.write("a", "staged\n")
    git(bench.project, "add", "a")
    bench.write("a", "staged\nlater\n")
    bench.write("b", "new\n")

    text = await bench.text("git_diff")

    assert "+staged" in text
    assert "+later" in text
    assert "+new" in text


async def test_a_project_below_the_repository_shows_its_own_part(bench: Any) -> None:
    above = bench.project.parent
    bench.write("a", "1\n")
    git(above, "init", "-q")
    git(above, "add", ".")
    git(above, "commit", "-qm", "first")
    bench.write("a", "2\n")
    bench.write("new", "3\n")
    (above / "outside" / "secret").write_text("other")

    text = await bench.text("git_diff")

    assert "--- a/a\n+++ b/a" in text
    assert "+++ b/new" in text
    assert "secret" not in text


async def test_without_a_repository_the_answer_says_so(bench: Any) -> None:
    assert "not a git repository" in await bench.refusal("git_diff")


async def test_without_git_the_answer_says_so(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")

    told = await bench.refusal("git_diff")

    assert "git cannot be run" in told
    assert "not on PATH" in told


async def test_programs_that_the_repository_names_are_not_run(repository: Any) -> None:
    repository.write("spy", f"#!/bin/sh\ntouch {repository.project}/ran\n").chmod(0o755)
    spy = str(repository.project / "spy")
    git(repository.project, "config", "diff.external", spy)
    git(repository.project, "config", "core.fsmonitor", spy)
    git(repository.project, "config", "diff.py.textconv", spy)
    git(repository.project, "config", "core.pager", spy)
    repository.write(".gitattributes", "*.py diff=py\n")
    repository.write("src/a.py", "changed\n")

    assert "+changed" in await repository.text("git_diff")
    assert not (repository.project / "ran").exists()


async def test_a_long_diff_is_cut_in_the_middle(repository: Any) -> None:
    repository.write("src/a.py", "line\n" * 20_000)

    text = await repository.text("git_diff")

    assert len(text) <= 16_000
    assert "left out" in text
