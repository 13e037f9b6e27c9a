"""A repository without the held-out files, shown instead of the real one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..errors import RetraiError, UsageError
from ..storage.git_store import GitStore

_TIMEOUT_S = 300.0
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

    Nothing is written into the real repository, and no program that its configuration names is run.

    Args:
        repository: the folder with the real `.git`.
        held: paths relative to it.
        target: becomes the substitute.

    Raises:
        UsageError: git is missing, or the repository cannot be read.
    """
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    real, store = GitStore(repository / ".git", _TIMEOUT_S), GitStore(target, _TIMEOUT_S)
    if not store.available:
        raise UsageError(
            "holdout: the project is a git repository, and no git is here to hide its history",
            hint=f"install git, {_OUTSIDE}",
        )
    try:
        _fill(real, repository / ".git", store, target, sorted(held))
    except RetraiError as error:
        raise UsageError(
            f"holdout: the repository's history cannot be hidden: {error}",
            hint=f"take `holdout:` out, {_OUTSIDE}",
        ) from error


def _fill(real: GitStore, source: Path, store: GitStore, target: Path, held: Sequence[str]) -> None:
    object_format = real.run("rev-parse", "--show-object-format").strip()
    store.run("init", "--quiet", "--template=", f"--object-format={object_format}")
    store.run("config", "core.bare", "false")
    (target / "info").mkdir(exist_ok=True)
    _keep_excludes(source, target, held)
    branch = _try_run(real, "symbolic-ref", "-q", "HEAD") or "refs/heads/main"
    store.run("symbolic-ref", "HEAD", branch)
    head = _try_run(real, "rev-parse", "-q", "--verify", "HEAD^{tree}")
    if not head:
        return  # no commit yet
    borrowed = target / "objects" / "info" / "alternates"
    borrowed.parent.mkdir(exist_ok=True)
    borrowed.write_bytes(os.fsencode(source / "objects") + b"\n")
    tree = store.write_tree(target, head, held, {})
    # `log.showSignature` would run a program that the repository's configuration names.
    date = real.run("show", "-s", "--no-show-signature", "--format=%cI", "HEAD").strip()
    who = {
        f"GIT_{role}_{field}": value
        for role in ("AUTHOR", "COMMITTER")
        for field, value in (("NAME", "retrai"), ("EMAIL", "retrai@localhost"), ("DATE", date))
    }
    commit = store.run("commit-tree", tree, "-m", "The project before the run", **who).strip()
    store.run("update-ref", branch, commit)
    store.run("read-tree", commit)
    store.run("repack", "-a", "-d", "-q")  # now it has the objects that it borrowed
    borrowed.unlink()


def _try_run(store: GitStore, *words: str) -> str:
    """What git says of a repository; empty where it says nothing, and fails."""
    try:
        return store.run(*words).strip()
    except RetraiError:
        return ""


def _keep_excludes(real: Path, target: Path, held: Sequence[str]) -> None:
    """The user's own ignored names stay ignored; lines that name what is held out do not."""
    try:
        lines = (real / "info" / "exclude").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return
    names = {part for path in held for part in Path(path).parts}
    kept = [line for line in lines if not any(name in line for name in names)]
    (target / "info" / "exclude").write_text("\n".join(kept) + "\n", encoding="utf-8")
