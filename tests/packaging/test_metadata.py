"""One version train: what every distribution declares, and where each must be listed."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

PIN = ">=0.1,<0.2"
LISTS = ("modules", "source_modules", "forbidden_modules")


def whole(requirement: str) -> str:
    """A requirement without the extras that it asks for: those bring the distribution too."""
    return re.sub(r"\[.*\]", "", requirement)


def test_all_have_one_version_one_licence_and_one_range_of_pythons(dist, core) -> None:
    for key in ("version", "license", "requires-python"):
        assert dist.project[key] == core.project[key], key


def test_what_a_reader_looks_for_is_there(dist) -> None:
    for name in ("LICENSE", "README.md"):
        assert (dist.folder / name).stat().st_size > 0, name
    for name in ("__init__.py", "py.typed"):
        assert (dist.package / name).exists(), name
    assert (dist.package / "retrai.toml").exists() is not dist.is_library


def test_plugins_take_a_range_of_the_core(plugin) -> None:
    assert f"retrai-core{PIN}" in plugin.project["dependencies"]


def test_every_entry_point_is_in_a_group_that_retrai_knows(dist) -> None:
    from retrai_core.plugins.kinds import KIND_OF

    groups = dist.project.get("entry-points", {})
    assert dist.is_library or set(groups) & set(KIND_OF)
    assert set(groups) - set(KIND_OF) <= {"pytest11"}  # the test kit is a pytest plugin too


def test_the_retrai_distribution_or_an_extra_of_it_brings_it(dist, retrai) -> None:
    extras = retrai.project["optional-dependencies"].values()
    assert f"{dist.name}{PIN}" in {whole(requirement) for extra in extras for requirement in extra}


def test_retrai_itself_is_of_the_same_version(retrai, core) -> None:
    assert retrai.project["version"] == core.project["version"]
    ours = {need for need in retrai.project["dependencies"] if need.startswith("retrai-")}
    assert ours <= set(map(whole, retrai.project["optional-dependencies"]["all"]))


def test_tox_installs_it_and_import_linter_watches_it(dist, root: Path) -> None:
    folder = dist.folder.relative_to(root).as_posix().replace("/", "{/}")
    installed = map(whole, (root / "tox.ini").read_text().split())
    assert f"-e{{tox_root}}{{/}}{folder}" in installed
    linter = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["importlinter"]
    assert dist.module in linter["root_packages"]
    for contract in linter["contracts"][1:]:
        named = [name.removesuffix(".*") for key in LISTS for name in contract.get(key, [])]
        # The core is no plugin among plugins.
        if dist.module != "retrai_core" or contract["type"] != "independence":
            assert dist.module in named, contract["name"]


def test_constraints_name_versions_and_no_place(root: Path) -> None:
    lines = (root / "constraints.txt").read_text().splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert all("==" in pin and "/" not in pin and " " not in pin for pin in pins)


def test_every_hint_names_a_distribution_of_ours(retrai) -> None:
    groups = retrai.project["entry-points"]
    values = {value for group in groups.values() for value in group.values()}
    kinds = {f"retrai.hints.{kind}" for kind in ("agents", "goals", "frontends", "memory", "tools")}
    assert set(groups) == {"retrai.hints.markers"} | kinds
    assert all(value.startswith("retrai_") and value.isidentifier() for value in values)


def test_every_hint_is_of_a_plugin_that_the_distribution_brings(retrai, every) -> None:
    offered = {dist.module: dist.project.get("entry-points", {}) for dist in every.values()}
    for group, hints in retrai.project["entry-points"].items():
        if group != "retrai.hints.markers":
            for command, module in hints.items():
                name = command.rpartition(" ")[2]  # of `plugins new`, a subcommand
                assert name in offered[module][group.replace("hints.", "")], (group, name)


def test_the_demo_installs_what_a_user_of_retrai_gets(retrai, root: Path) -> None:
    shown = subprocess.run(
        ["make", "--eval", "shown:; @echo $(WITH_RETRAI)", "-s", "shown"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    folders = [root / folder / "pyproject.toml" for folder in shown.stdout.split()]
    names = {tomllib.loads(folder.read_text())["project"]["name"] for folder in folders}
    needed = {need.split(">")[0] for need in retrai.project["dependencies"] if "retrai-" in need}
    assert names == needed | {"retrai"}
