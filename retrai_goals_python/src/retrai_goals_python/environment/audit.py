"""What changed in an environment since a run began, and which of it no installer vouches for.

A file's change time is the kernel's: who writes a file cannot set it back. What an installer puts
there stands in a RECORD with its digest.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from fnmatch import fnmatch
from functools import partial
from pathlib import Path

from retrai_core import Suspicion

from .installed import Installed, ctime_ns, entries, files_below, installed_in, is_as_recorded
from .probing import ProbedEnvironment
from .runner_files import (
    RUNNER_MODULES,
    environment_folders,
    is_environments,
    is_standard,
    only_names_folders,
)

# What Python imports or runs; data that a package keeps beside its code is nobody's business here.
CODE = (".py", ".pyi", ".pth", ".so", ".pyc", ".dylib")
# The kernel's clock for files moves in steps of up to 10 ms.
STEP_S = 0.02
_SHOWN = 20
# Beside a standard library: what this environment does not import, and Python's own tests.
_NOT_IMPORTED = frozenset({"site-packages", "dist-packages", "test", "__pycache__"})


def audit_environment(
    probed: ProbedEnvironment, python: str, project: Path, since_s: float
) -> list[Suspicion]:
    """Distributions that were installed since (told), and code that was changed by hand (suspect).

    Args:
        probed: the interpreter's answer.
        python: the interpreter.
        project: the project; its own folders are not looked at.
        since_s: seconds since the epoch.
    """
    folders = environment_folders(probed, project)
    since_ns = int((since_s - STEP_S) * 1e9)
    installed = installed_in(folders)
    fresh = [one for one in installed.values() if _is_newer(one, since_ns)]
    found = [
        Suspicion(str(one.folder), 1, f"installed since the run began: {one.name} {one.version}")
        for one in fresh
    ]
    changed = _changed(folders, probed, since_ns)
    vouched = _vouched(changed, installed.values(), since_ns) if changed else set[Path]()
    is_importable = partial(_is_importable, probed=probed, project=project)
    found += [
        Suspicion(str(path), 1, "changed by hand in the environment", reaches_runner=True)
        for path in changed
        if path not in vouched
        and not (path.suffix == ".pth" and only_names_folders(path, is_importable))
    ]
    program = Path(os.path.realpath(python))
    if ctime_ns(program) > since_ns:
        found.append(Suspicion(str(program), 1, "the interpreter was replaced", True))
    return found[:_SHOWN]


def _is_importable(folder: Path, probed: ProbedEnvironment, project: Path) -> bool:
    """Whether a folder was on the import path before, or holds sources of the project.

    The tests of a copy import from the latter first, so that none may hold what stands in for a
    module of the runner's or of Python's own.
    """
    real = Path(os.path.realpath(folder))
    if str(real) in map(os.path.realpath, probed.path):
        return True
    if is_environments(real, probed, Path(os.path.realpath(project))):
        return False
    modules = [entry.name.partition(".")[0] for entry in entries(real)]
    runners = [module for module in modules for name in RUNNER_MODULES if fnmatch(module, name)]
    return not runners and not any(map(is_standard, modules))


def _is_newer(one: Installed, since_ns: int) -> bool:
    return ctime_ns(one.folder / "RECORD") > since_ns


def _changed(folders: Iterable[Path], probed: ProbedEnvironment, since_ns: int) -> list[Path]:
    """Code of the environment that was changed since, each once, sorted."""
    prefixes = [prefix for prefix in (probed.prefix, probed.base_prefix) if prefix]
    found: set[Path] = set()
    for folder in folders:
        ours = any(folder.is_relative_to(prefix) for prefix in prefixes)
        if ours or folder.name in ("site-packages", "dist-packages"):
            # Of tens of thousands of files no more than the name is looked at, mostly.
            found.update(
                Path(entry.path)
                for entry in files_below(folder, _NOT_IMPORTED)
                if entry.name.endswith(CODE) and ctime_ns(entry) > since_ns
            )
    return sorted(found)


def _vouched(changed: Iterable[Path], installed: Iterable[Installed], since_ns: int) -> set[Path]:
    """Those of the changed files that are as an installer recorded them.

    A RECORD that was itself changed is believed when all of its files were: an installer writes
    them all, who forges a line of it does not.
    """
    wanted = set(changed)
    found: set[Path] = set()
    for one in installed:
        record = one.record()
        mine = wanted & record.keys()
        if not mine:
            continue
        code = [path for path in record if path.name.endswith(CODE) and path.suffix != ".pyc"]
        is_old = any(0 < ctime_ns(path) <= since_ns for path in code)
        if not (is_old and _is_newer(one, since_ns)):
            found |= {path for path in mine if is_as_recorded(path, record)}
    return found
