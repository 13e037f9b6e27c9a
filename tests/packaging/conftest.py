"""Every distribution of this repository, from its pyproject file."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PATTERNS = ("retrai_*/pyproject.toml", "plugins/*/pyproject.toml")


@dataclass(frozen=True)
class Distribution:
    """One folder with a pyproject file; `module` is what it installs, empty for the root."""

    name: str
    folder: Path
    project: dict[str, Any]

    @property
    def module(self) -> str:
        return "" if self.folder == ROOT else self.folder.name

    @property
    def is_library(self) -> bool:
        """Whether it brings modules for plugins to import, and no plugin of its own."""
        return not self.project.get("entry-points")

    @property
    def package(self) -> Path:
        return self.folder / "src" / self.module


def read(folder: Path) -> Distribution:
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    return Distribution(project["name"], folder, project)


ALL = [read(path.parent) for pattern in PATTERNS for path in sorted(ROOT.glob(pattern))]
CORE = next(dist for dist in ALL if dist.name == "retrai-core")
PLUGINS = [dist for dist in ALL if dist is not CORE]
RETRAI = read(ROOT)


@pytest.fixture
def root() -> Path:
    return ROOT


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """`dist` is each distribution with code, `plugin` each but the core."""
    for fixture, values in (("dist", ALL), ("plugin", PLUGINS)):
        if fixture in metafunc.fixturenames:
            metafunc.parametrize(fixture, values, ids=[value.name for value in values])


@pytest.fixture
def every() -> dict[str, Distribution]:
    """Each distribution with code, by name."""
    return {dist.name: dist for dist in ALL}


@pytest.fixture
def core() -> Distribution:
    return CORE


@pytest.fixture
def retrai() -> Distribution:
    """The root: metadata only."""
    return RETRAI
