"""Each distribution's wheel builds, and works alone beside the core in a new environment.

The environments get the wheels under test and, linked from this environment, only what those
declare that they need: a dependency that is used but not declared is missing there.
"""

from __future__ import annotations

import importlib.metadata as metadata
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from retrai_core.plugins.kinds import KIND_OF

pytestmark = pytest.mark.xdist_group("wheels")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """The wheel of a distribution, built once, without the network."""
    pytest.importorskip("hatchling")
    built: dict[str, Path] = {}

    def build(dist) -> Path:
        if dist.name not in built:
            out = tmp_path_factory.mktemp("wheel")
            subprocess.run(
                [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)],
                cwd=dist.folder,
                check=True,
                capture_output=True,
            )
            (built[dist.name],) = out.glob("*.whl")
        return built[dist.name]

    return build


def needed(names: Iterable[str]) -> dict[str, metadata.Distribution]:
    """What these requirements need, and what that needs, as installed here; retrai's own too."""
    found: dict[str, metadata.Distribution] = {}
    waiting = [Requirement(name) for name in names]
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        dist = found.setdefault(name, metadata.distribution(name))
        for text in dist.requires or []:
            further = Requirement(text)
            extras = ["", *requirement.extras]
            applies = further.marker is None or any(
                further.marker.evaluate({"extra": extra}) for extra in extras
            )
            known = canonicalize_name(further.name) in found and not further.extras
            if applies and not known:
                waiting.append(further)
    return found


def new_environment(folder: Path, wheels: list[Path], third_party: Iterable[metadata.Distribution]):
    """An environment with these wheels, and links to what other distributions brought here."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    (site,) = folder.glob("lib/python*/site-packages")
    for dist in third_party:
        tops = {Path(file).parts[0] for file in dist.files or [] if ".." not in Path(file).parts}
        for top in tops - {"__pycache__"}:
            source = Path(str(dist.locate_file(top)))
            if source.exists() and not (site / top).exists():
                (site / top).symlink_to(source)
    for path in wheels:
        with zipfile.ZipFile(path) as archive:
            archive.extractall(site)
    return python


def run(python: Path, *args: str, tmp_path: Path) -> str:
    env = {name: value for name, value in os.environ.items() if not name.startswith("RETRAI_")}
    env |= {"RETRAI_STATE_DIR": str(tmp_path / "state"), "XDG_CONFIG_HOME": str(tmp_path)}
    env |= {"PYTHONPATH": ""}
    done = subprocess.run(
        [python, *args], capture_output=True, text=True, cwd=tmp_path, env=env, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_wheel_holds_the_package_its_types_its_manifest_and_its_licence(dist, wheel) -> None:
    names = zipfile.ZipFile(wheel(dist)).namelist()
    for name in ("py.typed", "__init__.py"):
        assert f"{dist.module}/{name}" in names
    assert (f"{dist.module}/retrai.toml" in names) is not dist.is_library
    assert any(name.endswith("licenses/LICENSE") for name in names)
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {dist.module}


def test_the_core_s_wheel_has_the_quickstart(core, wheel) -> None:
    names = zipfile.ZipFile(wheel(core)).namelist()
    modules = [n for n in names if n.startswith("retrai_core/runs/quickstart/shop/")]
    assert len(modules) >= 4


def test_a_wheel_has_every_template_for_plugins(every, wheel) -> None:
    dist = every["retrai-plugin-dev"]
    names = set(zipfile.ZipFile(wheel(dist)).namelist())
    templates = {
        path.relative_to(dist.package.parent).as_posix()
        for path in (dist.package / "templates").rglob("*.tmpl")
    }
    assert len(templates) > 30
    assert templates <= names


def test_the_retrai_wheel_is_metadata_only(retrai, wheel) -> None:
    names = zipfile.ZipFile(wheel(retrai)).namelist()
    assert {name.partition("/")[0] for name in names} == {"retrai-0.1.0.dist-info"}
    entry_points = zipfile.ZipFile(wheel(retrai)).read("retrai-0.1.0.dist-info/entry_points.txt")
    assert b"retrai = retrai_core.cli.main:main" in entry_points


def test_it_installs_alone_beside_the_core_and_every_part_of_it_loads(
    plugin, every, core, wheel, tmp_path: Path
) -> None:
    found = needed([plugin.name])
    ours = {name for name in found if name.startswith("retrai-")}
    assert {plugin.name, core.name} <= ours
    wheels = [wheel(every[name]) for name in sorted(ours)]
    third_party = [dist for name, dist in found.items() if name not in ours]
    python = new_environment(tmp_path / "env", wheels, third_party)

    run(python, "-c", f"import {plugin.module}", tmp_path=tmp_path)
    listed = json.loads(
        run(python, "-m", "retrai_core", "plugins", "list", "--load", "--json", tmp_path=tmp_path)
    )["plugins"]
    own = {
        (entry["kind"], entry["name"]): entry for entry in listed if entry["dist"] == plugin.name
    }
    assert {name for _, name in own} == {
        name
        for group, names in plugin.project.get("entry-points", {}).items()
        if group in KIND_OF
        for name in names
    }
    assert {key: entry["error"] for key, entry in own.items() if entry["status"] != "ok"} == {}
