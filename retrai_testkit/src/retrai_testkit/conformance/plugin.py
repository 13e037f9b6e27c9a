"""What the contracts of all kinds have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import pytest

from retrai_core.plugins.catalog import Catalog
from retrai_core.plugins.describe import describe_plugin
from retrai_core.plugins.kinds import Kind, table_of
from retrai_core.plugins.manifest import read_manifest
from retrai_core.plugins.package import find_package
from retrai_core.plugins.record import PluginRecord
from retrai_core.plugins.soundness import manifest_problem, unknown_needs

from ..import_probe import probe
from ..overriding import NotApplicable, reason_of

T = TypeVar("T")

_GUARD = "test_every_replaced_test_says_why"
_KIT = "retrai_testkit."


class PluginConformance:
    """The part of the contract that every plugin has.

    Attributes:
        plugin: the plugin's class (of a hook also a module or an object).
        entry_point: the entry point's name, where it is not the class's `name`.
        heavy_imports: heavy modules that importing the plugin may bring in, each with the reason.
        allowed_changes: patterns of changes to the process that using the plugin may make (as
            `footprint.Footprint.changes` words them), each with the reason.
    """

    kind: ClassVar[Kind]
    plugin: Any = None
    entry_point: str = ""
    heavy_imports: Mapping[str, str] = {}
    allowed_changes: Mapping[str, str] = {}

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        if not cls.__module__.startswith(_KIT) and _GUARD in vars(cls):
            raise TypeError(f"{cls.__name__} replaces {_GUARD}, which guards all others")

    def test_every_replaced_test_says_why(self) -> None:
        """A test of the contract is replaced only with `@overrides(reason="...")`."""
        lineage = type(self).__mro__
        ours = {
            name
            for cls in lineage
            if cls.__module__.startswith(_KIT)
            for name in vars(cls)
            if name.startswith("test_")
        }
        silent = [
            f"{cls.__name__}.{name}"
            for cls in lineage
            if not cls.__module__.startswith(_KIT)
            for name in sorted(ours & vars(cls).keys())
            if not reason_of(vars(cls)[name])
        ]
        assert not silent, f"replaced without @overrides(reason=...): {', '.join(silent)}"

    def test_the_entry_point_leads_to_the_plugin(self) -> None:
        """An installed distribution offers the plugin by an entry point of the kind's group."""
        record = self.record()
        assert Catalog.scan(environ={}).load(record) is self.plugin, (
            f"{record.entry_point} is another object than {self.plugin!r}"
        )

    def test_the_entry_point_has_the_plugin_s_name(self) -> None:
        """Users write one name: the entry point's and the class's `name` are the same."""
        name = getattr(self.plugin, "name", self.name)
        assert name == self.name
        assert name.strip() == name
        assert " " not in name, "a name with blanks cannot be typed"

    def test_the_manifest_says_what_the_class_says(self) -> None:
        """`retrai.toml` beside `__init__.py` is what `retrai plugins manifest` writes."""
        package = find_package(self.module)
        assert package is not None, f"{self.module} cannot be found"
        written = read_manifest(package.manifest_path) if package.manifest_path else None
        fix = f"write it with `retrai plugins manifest {self.record().dist}`"
        assert written is not None, f"there is no {package.manifest_path}: {fix}"
        problem = manifest_problem(self.kind, self.name, self.plugin, written)
        assert not problem, f"{problem}; {fix}"

    def test_it_has_a_summary(self) -> None:
        """`retrai plugins list` shows one line that says what it is."""
        summary = describe_plugin(self.kind, self.plugin).summary
        assert summary.strip(), "give the class a `summary`"
        assert len(summary) <= 200, f"{len(summary)} characters are too long for a list"

    def test_its_needs_are_known(self) -> None:
        """`needs` names only read, write, run, network and secrets:NAME."""
        problem = unknown_needs(self.plugin)
        assert not problem, problem

    def test_importing_it_is_light(self) -> None:
        """Importing the plugin's module brings in no heavy module: those come when it works."""
        assert all(reason.strip() for reason in self.heavy_imports.values()), "give reasons"
        heavy = [name for name in probe(self.import_code).heavy if name not in self.heavy_imports]
        assert not heavy, f"`{self.import_code}` brings in {', '.join(heavy)}"

    def test_importing_it_only_defines_things(self) -> None:
        """An import prints nothing and changes neither folder, environment, signals nor threads."""
        misdeeds = probe(self.import_code).misdeeds
        assert not misdeeds, f"`{self.import_code}`: {'; '.join(misdeeds)}"

    @property
    def name(self) -> str:
        """The entry point's name."""
        return self.entry_point or getattr(self.plugin, "name", "")

    @property
    def module(self) -> str:
        """The module that the plugin is defined in."""
        own = self.plugin if isinstance(self.plugin, type) else type(self.plugin)
        return self.plugin.__name__ if hasattr(self.plugin, "__spec__") else own.__module__

    @property
    def package(self) -> str:
        """The top-level package that the plugin is defined in."""
        return self.module.partition(".")[0]

    @property
    def import_code(self) -> str:
        """The code that a fresh interpreter runs to import the plugin."""
        return f"import {self.module}"

    def record(self) -> PluginRecord:
        """The plugin's record in a scan of what is installed.

        Raises:
            AssertionError: no entry point leads into the plugin's package.
        """
        matching = Catalog.scan(environ={}).matching(self.name, self.kind)
        found = [
            r
            for r in matching
            if r.entry_point.startswith((f"{self.package}.", f"{self.package}:"))
        ]
        assert found, (
            f"no entry point `{self.name}` in `retrai.{table_of(self.kind)}` leads into "
            f"{self.package}: add it to pyproject.toml and install again (`pip install -e .`)"
        )
        return found[0]

    def require_unchanged(self, changes: Iterable[str]) -> None:
        """Fail when using the plugin left something behind that `allowed_changes` does not name."""
        assert all(reason.strip() for reason in self.allowed_changes.values()), "give reasons"
        left = [
            line
            for line in changes
            if not any(fnmatchcase(line, pattern) for pattern in self.allowed_changes)
        ]
        assert not left, "; ".join(left)


def required(example: T | NotApplicable | None, what: str) -> T:
    """The example; the test is skipped where the author has said why there is none.

    Raises:
        pytest.fail.Exception: the author has said nothing; `what` says what to give.
    """
    if isinstance(example, NotApplicable):
        pytest.skip(example.reason)
    if not example:
        pytest.fail(f"{what}, or NotApplicable('why there is none')", pytrace=False)
    return example


def in_folder(folder: Path) -> Mapping[str, bytes]:
    """The files of a folder by relative path, caches left out."""
    caches = {"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"}
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not caches & set(path.relative_to(folder).parts)
    }
