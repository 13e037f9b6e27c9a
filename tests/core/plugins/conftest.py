"""Builds distributions as an installer leaves them: metadata folders and packages, on the path."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from retrai_core.cli.main import main

GOAL = """
from retrai_core import GoalBase, GoalOptions, GoalResult

class Plugin(GoalBase):
    name = "NAME"
    summary = "a goal of the tests"

    async def check(self, state, cwd):
        return GoalResult(True, "it holds")

    def system_prompt(self):
        return ""
"""


@dataclass
class Site:
    """A folder of installed distributions, on `sys.path`."""

    folder: Path
    modules: list[str] = field(default_factory=list[str])

    def install(
        self,
        dist: str,
        *,
        version: str = "1.0",
        entry_points: str | bytes = "",
        code: str | None = "",
        manifest: str | bytes | None = None,
        metadata: str | bytes | None = None,
        requires: tuple[str, ...] = ("retrai-core>=0.1,<0.2",),
        package: str | None = None,
    ) -> Path:
        """Install a distribution; the folder of its package (named like it).

        Args:
            entry_points: the text of `entry_points.txt`.
            code: of `plugin.py` in the package; None for no package at all.
            manifest: the text of `retrai.toml`; None for none.
            metadata: the text of METADATA; made from the rest when left out, none when empty.
            requires: the distributions that it requires.
        """
        name = package or dist.replace("-", "_")
        info = self.folder / f"{dist.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        if metadata is None:
            lines = [f"Metadata-Version: 2.4\nName: {dist}\nVersion: {version}"]
            lines += [f"Requires-Dist: {requirement}" for requirement in requires]
            metadata = "\n".join(lines) + "\n\nlong text\n"
        if metadata:
            _write(info / "METADATA", metadata)
        if entry_points:
            _write(info / "entry_points.txt", entry_points)
        folder = self.folder / name
        if code is not None:
            folder.mkdir(exist_ok=True)
            _write(folder / "__init__.py", "")
            _write(folder / "plugin.py", code)
            if manifest is not None:
                _write(folder / "retrai.toml", manifest)
        self.modules.append(name)
        return folder

    def install_goal(self, dist: str, name: str, code: str | None = None, **more: object) -> Path:
        """Install a distribution with one goal in `plugin.py`, a sound one without `code`."""
        package = dist.replace("-", "_")
        return self.install(
            dist,
            entry_points=f"[retrai.goals]\n{name} = {package}.plugin:Plugin\n",
            code=GOAL.replace("NAME", name) if code is None else code,
            **more,  # type: ignore[arg-type]  # handed on as they are
        )


def _write(path: Path, text: str | bytes) -> None:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """An empty folder of distributions, first on the path; what it brought is forgotten again."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    for name in ("RETRAI_PLUGINS", "RETRAI_DISABLE_PLUGINS"):
        monkeypatch.delenv(name, raising=False)
    made = Site(folder)
    yield made
    for name in list(sys.modules):
        if name.partition(".")[0] in made.modules:
            del sys.modules[name]


@pytest.fixture
def child_environment(site: Site) -> Mapping[str, str]:
    """The environment of a fresh interpreter that sees the site's distributions."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("RETRAI_")}
    return {
        **kept,
        "HOME": str(site.folder.parent),
        "XDG_STATE_HOME": str(site.folder.parent / "state"),
        "PYTHONPATH": str(site.folder),
        "RETRAI_TRUST": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project as the current folder, with a configuration folder of the test's own."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("RETRAI_TRUST", "1")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("RETRAI_STATE_DIR", str(tmp_path / "state"))
    return folder


@pytest.fixture
def retrai(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Runs a command in this process: exit code, standard output, standard error."""

    def call(*args: object) -> tuple[int, str, str]:
        code = main([str(arg) for arg in args])
        out, err = capsys.readouterr()
        return code, out, err

    return call
