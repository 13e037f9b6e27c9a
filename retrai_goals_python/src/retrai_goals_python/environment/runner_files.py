"""The files of an environment that decide a runner's verdict: its own, plugins', start-up files."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from retrai_core import Environment
from retrai_goal_support import text_of

from .installed import (
    Installed,
    entries,
    files_below,
    installed_in,
    is_as_recorded,
    normalized,
)
from .probing import ProbedEnvironment

DECLARING = (
    *("pyproject.toml", "setup.cfg", "setup.py", "tox.ini"),
    *("Pipfile", "requirements*.txt", "*.lock"),
)
# Also where the metadata does not say what the runner's modules are called.
_MODULES = ("pytest", "_pytest", "py")
RUNNER_MODULES = (
    "pytest",
    "_pytest",
    "pluggy",
    "iniconfig",
    "packaging",
    "py",
    "pygments",
    "exceptiongroup",
    "tomli",
    "xdist",
    "execnet",
    "pytest_*",
    "coverage",
    "hypothesis",
    "_retrai_*",
)
"""Modules that run tests, or take part in it; as patterns of `fnmatch`."""
CUSTOMIZE = ("sitecustomize", "usercustomize")
# What setuptools, hatchling and others write for an editable install.
_EDITABLE_LINE = re.compile(
    r"^import (?P<module>_+editable_\w+)(?:\s*;\s*(?P=module)\.(?:install|F)\S*.*)?$"
)


def is_standard(module: str) -> bool:
    """A module of Python's own that another could stand in for.

    `__main__` and `_private` are no names that one would take; `test` is a folder of tests.
    """
    return module in sys.stdlib_module_names and module[0] != "_" and module != "test"


def declared_text(project: Path) -> str:
    """The files that name what a project needs, as one text of normalized names."""
    found = sorted(path for pattern in DECLARING for path in project.glob(pattern))
    return "\n".join(normalized(text_of(path)) for path in found)


def runner_files(
    probed: ProbedEnvironment, python: str, project: Path, declared: str
) -> Environment:
    """What the guard keeps of an environment in which pytest runs, as it is now; reads folders.

    A plugin of pytest that comes later is used when the project names it, and not otherwise: its
    entry points are what is set aside.

    Args:
        probed: the interpreter's answer.
        python: the interpreter.
        project: the project, whose own folders are guarded as such.
        declared: what `declared_text` gave before the first turn.
    """
    folders = environment_folders(probed, project)
    installed = installed_in(folders)
    needed = _closure("pytest", installed)
    modules = {*_MODULES}
    files = [*_interpreter_files(python, probed.prefix)]
    steering = start_up_files(folders, installed)
    if "pytest11" not in declared:
        steering += _own_plugins(folders, probed, project)
    for one in needed:
        top = _top_level(one)
        modules |= {path.name.partition(".")[0] for path in top}
        steering += _files(top)
    steering += _shadows(folders, modules)
    for one in installed.values():
        if one not in needed and one.plugs_into_pytest:
            files += _files(_top_level(one))
            if not names(declared, one.name):
                steering.append(one.folder / "entry_points.txt")
    return Environment(list(dict.fromkeys(files)), list(dict.fromkeys(steering)))


def _own_plugins(
    folders: Sequence[Path], probed: ProbedEnvironment, project: Path
) -> Iterator[Path]:
    """Metadata in the project that makes it a plugin of pytest.

    An editable install writes such a folder too, with the entry points of the project; where its
    sources are, a `.pth` file says.
    """
    roots = [project / root for root in ("", "src", "tests")]
    roots += [one for one in named_folders(folders) if not is_environments(one, probed, project)]
    for root in dict.fromkeys(roots):
        for folder in entries(root):
            one = Installed(folder.name, "", Path(folder.path))
            if folder.name.endswith(".egg-info") and one.plugs_into_pytest:
                yield one.folder / "entry_points.txt"


def _top_level(one: Installed) -> list[Path]:
    """What a distribution put into its folder, as its RECORD has it."""
    own = [path for path in one.record() if path.is_relative_to(one.site)]
    top = {one.folder, *(one.site / path.relative_to(one.site).parts[0] for path in own)}
    return sorted(path for path in top if path.name != "__pycache__" and path.suffix != ".pth")


def _files(top_level: Iterable[Path]) -> Iterator[Path]:
    """Every file that is there now, also what no RECORD knows."""
    for path in top_level:
        yield from [path] if path.is_file() else map(Path, files_below(path))


def environment_folders(probed: ProbedEnvironment, project: Path) -> list[Path]:
    """The folders of the import path that are not the project's own, those of `.pth` files too."""
    path = [Path(entry) for entry in probed.path if os.path.isabs(entry)]
    own = [folder for folder in path if is_environments(folder, probed, project)]
    more = [one for one in named_folders(own) if is_environments(one, probed, project)]
    return list(dict.fromkeys([*own, *more]))


def is_environments(folder: Path, probed: ProbedEnvironment, project: Path) -> bool:
    """Whether a folder is no part of the project's own; an environment in the project is none."""
    prefix = Path(probed.prefix or "/")
    inside = folder.is_relative_to(project)
    return not inside or (prefix.is_relative_to(project) and folder.is_relative_to(prefix))


def names(declared: str, name: str) -> bool:
    """Whether a distribution is named in the text that `declared_text` gave.

    Example:
        >>> names('dependencies = ["pytest-cov>=4"]', "pytest-cov")
        True
        >>> names('dependencies = ["pytest-cov>=4"]', "cov")
        False
    """
    return re.search(rf"(?<![a-z0-9-]){re.escape(name)}(?![a-z0-9-])", declared) is not None


def _closure(runner: str, installed: Mapping[str, Installed]) -> list[Installed]:
    pending, found = [runner], dict[str, Installed]()
    while pending:
        name = pending.pop()
        one = installed.get(name)
        if one is not None and name not in found:
            found[name] = one
            pending += one.requires()
    return list(found.values())


def _shadows(folders: Sequence[Path], modules: set[str]) -> Iterable[Path]:
    """What Python may take instead of the runner's modules, wherever it stands on the path."""
    for folder in folders:
        for entry in entries(folder):
            stem, dot, _ = entry.name.partition(".")
            if stem not in modules:
                continue
            if dot and not entry.is_dir():
                yield Path(entry.path)
            elif not dot and entry.is_dir():
                yield from map(Path, files_below(Path(entry.path)))


def _interpreter_files(python: str, prefix: str) -> Iterable[Path]:
    """The links to the interpreter within its environment, and the environment's own settings."""
    if prefix:
        yield Path(prefix, "pyvenv.cfg")
    path = Path(python)
    while path.is_symlink():
        yield path
        path = Path(os.path.normpath(path.parent / path.readlink()))


def named_folders(folders: Iterable[Path]) -> list[Path]:
    """Folders that `.pth` files put on the import path."""
    found: dict[Path, None] = {}
    for folder in folders:
        for path in _pth_files(folder):
            found.update((named, None) for named in _parts_of(path)[1] if named.is_dir())
    return list(found)


def only_names_folders(path: Path, is_known: Callable[[Path], bool]) -> bool:
    """Whether a `.pth` file runs no code and puts only known folders on the import path.

    `setup.py develop`, and pip with an old setuptools, write `easy-install.pth`, which stands in no
    RECORD.
    """
    code, named = _parts_of(path)
    return not code and all(map(is_known, named))


def start_up_files(folders: Sequence[Path], installed: Mapping[str, Installed]) -> list[Path]:
    """Files that Python runs when it starts, but for those that an honest install brings.

    Such are a `.pth` file that only names folders, one that an index's distribution put there, and
    the finder of an editable install; in each case as the installer recorded it.
    """
    found: list[Path] = []
    for folder in folders:
        for entry in entries(folder):
            if entry.name.split(".", 1)[0] in CUSTOMIZE:
                path = Path(entry.path)
                found += map(Path, files_below(path)) if entry.is_dir() else [path]
        for path in _pth_files(folder):
            code, _ = _parts_of(path)
            if code and not _is_recorded(path, code, installed):
                found.append(path)
    return found


def _pth_files(folder: Path) -> list[Path]:
    return [Path(entry.path) for entry in entries(folder) if entry.name.endswith(".pth")]


def _parts_of(path: Path) -> tuple[list[str], list[Path]]:
    """The lines of a `.pth` file that are code, and the folders that its other lines name."""
    lines = text_of(path).splitlines()
    lines = [line.strip() for line in lines if line.strip() and line[0] != "#"]
    code = [line for line in lines if line.startswith(("import ", "import\t"))]
    named = [line for line in lines if line not in code]
    return code, [Path(os.path.normpath(path.parent / line)) for line in named]


def _is_recorded(path: Path, code: Sequence[str], installed: Mapping[str, Installed]) -> bool:
    """An installer put the file there, from an index or as an editable install's own."""
    for one in installed.values():
        if one.site != path.parent or path.name not in one.text("RECORD"):
            continue
        record = one.record()
        if not is_as_recorded(path, record):
            continue
        if one.is_from_index:
            return True
        modules = [_EDITABLE_LINE.match(line) for line in code]
        return all(
            found is not None and is_as_recorded(path.with_name(f"{found['module']}.py"), record)
            for found in modules
        )
    return False
