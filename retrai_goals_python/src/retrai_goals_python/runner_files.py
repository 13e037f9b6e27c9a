"""The files of an environment that decide a runner's verdict: its own, plugins', start-up files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from retrai_core import Environment

from .environment import ProbedEnvironment
from .installed import Installed, ctime_ns, entries, files_below, installed_in, normalized
from .python_source import read_text
from .start_up_files import named_folders, start_up_files

DECLARING = (
    *("pyproject.toml", "setup.cfg", "setup.py", "tox.ini"),
    *("Pipfile", "requirements*.txt", "*.lock"),
)
# Where the metadata does not say what a runner's modules are called.
_MODULES = {"pytest": ("pytest", "_pytest", "py")}


def declared_text(project: Path) -> str:
    """The files that name what a project needs, as one text of normalized names."""
    found = sorted(path for pattern in DECLARING for path in project.glob(pattern))
    return "\n".join(normalized(read_text(path)) for path in found)


class RunnerFiles:
    """What the guard keeps of an environment.

    A plugin of pytest that comes later is used when the project names it, and not otherwise: its
    entry points are what is set aside.

    Args:
        probed: the interpreter's answer.
        python: the interpreter.
        project: the project, whose own folders are guarded as such.
        runner: the distribution that runs the check.
        declared: what `declared_text` gave before the first turn.
    """

    def __init__(
        self, probed: ProbedEnvironment, python: str, project: Path, runner: str, declared: str
    ) -> None:
        self._probed = probed
        self._python = python
        self._project = project
        self._runner = runner
        self._declared = declared
        self._contents: dict[tuple[Path, int], Contents] = {}
        self._plugs: dict[tuple[Path, int], bool] = {}

    def now(self) -> Environment:
        """The files as they are; reads folders, so call it in a thread."""
        folders = environment_folders(self._probed, self._project)
        installed = installed_in(folders)
        needed = _closure(self._runner, installed)
        modules = set(_MODULES.get(self._runner, ()))
        files: list[Path] = [*_interpreter_files(self._python, self._probed.prefix)]
        steering = [*start_up_files(folders, installed), *self._own_plugins(folders)]
        for one in needed:
            contents = self._contents_of(one)
            modules |= contents.names
            steering += contents.files()
        steering += _shadows(folders, modules)
        for one in installed.values():
            if one not in needed and self._plugs_into_pytest(one):
                files += self._contents_of(one).files()
                if not names(self._declared, one.name):
                    steering.append(one.folder / "entry_points.txt")
        return Environment(list(dict.fromkeys(files)), list(dict.fromkeys(steering)))

    def _own_plugins(self, folders: Sequence[Path]) -> Iterable[Path]:
        """Metadata in the project that makes it a plugin of pytest, unless it says so itself.

        An editable install writes such a folder too, with the entry points of the project; where
        its sources are, a `.pth` file says.
        """
        if "pytest11" in self._declared:
            return
        roots = [self._project / root for root in ("", "src", "tests")]
        for root in dict.fromkeys([*roots, *self._named_inside(folders)]):
            for folder in entries(root):
                if folder.name.endswith(".egg-info"):
                    one = Installed(folder.name, "", Path(folder.path))
                    if one.plugs_into_pytest:
                        yield one.folder / "entry_points.txt"

    def _named_inside(self, folders: Sequence[Path]) -> Iterable[Path]:
        for folder in named_folders(folders):
            if not is_environments(folder, self._probed, self._project):
                yield folder

    def _contents_of(self, one: Installed) -> Contents:
        key = (one.folder, ctime_ns(one.folder / "RECORD"))
        if key not in self._contents:
            self._contents[key] = Contents.of(one)
        return self._contents[key]

    def _plugs_into_pytest(self, one: Installed) -> bool:
        key = (one.folder, ctime_ns(one.folder / "entry_points.txt"))
        if key not in self._plugs:
            self._plugs[key] = one.plugs_into_pytest
        return self._plugs[key]


@dataclass(frozen=True, slots=True)
class Contents:
    """What a distribution put into its folder: names of modules, the folders and single files."""

    names: frozenset[str]
    folders: tuple[Path, ...]
    single: tuple[Path, ...]

    @classmethod
    def of(cls, one: Installed) -> Contents:
        """As its RECORD has it."""
        first = {path.relative_to(one.site).parts[0] for path in one.record() if _is_in(path, one)}
        first = {name for name in first if name != "__pycache__" and ".dist-info" not in name}
        folders = [one.site / name for name in sorted(first) if (one.site / name).is_dir()]
        single = [one.site / name for name in sorted(first) if (one.site / name).is_file()]
        return cls(
            frozenset(name.split(".", 1)[0] for name in first),
            (one.folder, *folders),
            tuple(path for path in single if path.suffix != ".pth"),
        )

    def files(self) -> list[Path]:
        """Every file there is now, also what no RECORD knows."""
        return [*(path for folder in self.folders for path in files_below(folder)), *self.single]


def _is_in(path: Path, one: Installed) -> bool:
    return path.is_relative_to(one.site)


def environment_folders(probed: ProbedEnvironment, project: Path) -> list[Path]:
    """The folders of the import path that are not the project's own, those of `.pth` files too."""
    own = [Path(entry) for entry in probed.path if os.path.isabs(entry)]
    more = named_folders(folder for folder in own if is_environments(folder, probed, project))
    return [
        folder
        for folder in dict.fromkeys([*own, *more])
        if is_environments(folder, probed, project)
    ]


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
                yield from files_below(Path(entry.path))


def _interpreter_files(python: str, prefix: str) -> Iterable[Path]:
    """The links to the interpreter within its environment, and the environment's own settings."""
    if prefix:
        yield Path(prefix, "pyvenv.cfg")
    path = Path(python)
    while path.is_symlink():
        yield path
        path = Path(os.path.normpath(path.parent / path.readlink()))
