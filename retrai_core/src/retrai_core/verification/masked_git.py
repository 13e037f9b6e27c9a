"""A repository without the held-out files, shown instead of the real one."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ..errors import UsageError

_TIMEOUT_S = 300.0
_CAREFUL = ("safe.directory=*", "core.fsmonitor=false", "core.hooksPath=/dev/null", "gc.auto=0")
"""The repository's own configuration may name programs; none of them is run."""

_OUTSIDE = "or give the held-out files as a path outside the project"


def repository_of(project: Path) -> Path | None:
    """The folder that holds the `.git` of the project's repository; None outside of one.

    Raises:
        UsageError: it is a repository out of which files cannot be held.
    """
    for folder in (project, *project.parents):
        if (folder / ".hg").exists() or (folder / ".svn").exists():
            raise UsageError(
                f"holdout: {folder} is a repository of another kind than git, and its history "
                "cannot be hidden",
                hint=f"take `holdout:` out, {_OUTSIDE}",
            )
        if os.path.lexists(folder / ".git"):
            if not (folder / ".git" / "HEAD").is_file():
                raise UsageError(
                    f"holdout: {folder}/.git is a linked working tree or a submodule, whose "
                    "history cannot be hidden",
                    hint=f"work in a clone of its own, {_OUTSIDE}",
                )
            return folder
    return None


def make_substitute(repository: Path, held: Iterable[str], target: Path) -> None:
    """Make a `.git` with one commit: HEAD's tree without the held-out files.

    Nothing is written into the real repository.

    Args:
        repository: the folder with the real `.git`.
        held: paths relative to it.
        target: becomes the substitute.

    Raises:
        UsageError: git is missing, or the repository cannot be read.
    """
    real = repository / ".git"
    shutil.rmtree(target, ignore_errors=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    shown = _git(real, "rev-parse", "--show-object-format", cwd=repository).strip() or "sha1"
    _git(target, "init", "-q", "--template=", f"--object-format={shown}", cwd=repository)
    _git(target, "config", "core.bare", "false", cwd=repository)
    (target / "info").mkdir(exist_ok=True)
    _keep_excludes(real, target, held := sorted(held))
    branch = _git(real, "symbolic-ref", "-q", "HEAD", cwd=repository, may_fail=True).strip()
    branch = branch or "refs/heads/main"
    _git(target, "symbolic-ref", "HEAD", branch, cwd=repository)
    head = _git(real, "rev-parse", "-q", "--verify", "HEAD^{tree}", cwd=repository, may_fail=True)
    if not head.strip():
        return  # no commit yet
    borrowed = {"GIT_ALTERNATE_OBJECT_DIRECTORIES": str(real / "objects")}

    def git(*words: str, text: str | None = None) -> str:
        return _git(target, *words, cwd=repository, text=text, more=borrowed)

    git("read-tree", head.strip())
    git("update-index", "--force-remove", "-z", "--stdin", text="".join(f"{p}\0" for p in held))
    tree = git("write-tree").strip()
    date = _git(real, "show", "-s", "--format=%cI", "HEAD", cwd=repository).strip()
    borrowed |= {
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "retrai"), ("EMAIL", "retrai@localhost"), ("DATE", date))
    }
    commit = git("commit-tree", tree, "-m", "The project before the run").strip()
    git("update-ref", branch, commit)
    git("repack", "-a", "-d", "-q")  # now it has the objects that it borrowed


def _keep_excludes(real: Path, target: Path, held: Sequence[str]) -> None:
    """The user's own ignored names stay ignored; lines that name what is held out do not."""
    try:
        lines = (real / "info" / "exclude").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return
    names = {part for path in held for part in Path(path).parts}
    kept = [line for line in lines if not any(name in line for name in names)]
    (target / "info" / "exclude").write_text("\n".join(kept) + "\n", encoding="utf-8")


def _git(
    git: Path,
    *words: str,
    cwd: Path,
    text: str | None = None,
    more: Mapping[str, str] | None = None,
    may_fail: bool = False,
) -> str:
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": "/nonexistent",
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_DIR": str(git),
        "GIT_OPTIONAL_LOCKS": "0",
        **(more or {}),
    }
    try:
        done = subprocess.run(
            ["git", *(word for setting in _CAREFUL for word in ("-c", setting)), *words],
            cwd=cwd,
            env=environment,
            input=text,
            stdin=subprocess.DEVNULL if text is None else None,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            timeout=_TIMEOUT_S,
            check=False,
        )
    except FileNotFoundError as error:
        raise UsageError(
            "holdout: the project is a git repository, and no git is here to hide its history",
            hint=f"install git, {_OUTSIDE}",
        ) from error
    except subprocess.TimeoutExpired as error:
        raise UsageError(
            f"holdout: `git {words[0]}` took more than {_TIMEOUT_S:.0f} s", hint=_OUTSIDE
        ) from error
    if done.returncode and not may_fail:
        raise UsageError(
            f"holdout: the repository's history cannot be hidden: `git {words[0]}` says "
            f"{done.stderr.strip()[:300]}",
            hint=f"take `holdout:` out, {_OUTSIDE}",
        )
    return done.stdout
