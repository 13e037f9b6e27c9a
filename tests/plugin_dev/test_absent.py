"""Without retrai-plugin-dev, its commands name the distribution that brings them."""

from __future__ import annotations

import shutil
from importlib.metadata import files
from pathlib import Path
from typing import Any

import pytest

from retrai_core import Catalog


@pytest.mark.parametrize("command", ["new", "manifest", "doctor", "install", "uninstall", "lock"])
def test_a_command_of_the_absent_distribution_says_what_brings_it(
    retrai: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: str
) -> None:
    (hints,) = [file for file in files("retrai") or () if file.name == "entry_points.txt"]
    alone = tmp_path / "alone"
    shutil.copytree(Path(str(hints.locate())).parent, alone / "retrai-0.1.0.dist-info")
    catalog = Catalog.scan(paths=[str(alone)])
    monkeypatch.setattr(Catalog, "scan", lambda *_, **__: catalog)
    monkeypatch.setenv("RETRAI_PLUGINS", "--no-plugins")
    code, _, err = retrai("plugins", command)
    assert code == 2
    assert "`pip install retrai-plugin-dev` brings it" in err
