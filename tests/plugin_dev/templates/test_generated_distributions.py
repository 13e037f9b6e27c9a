"""What `retrai plugins new` writes is built, installed and tested as it stands, for every kind."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path

import pytest

from retrai_plugin_dev.template_fields import WITH_TEMPLATE

_CHECK = """
import sys
from retrai_core.cli.main import main
sys.exit(any([main(["plugins", "manifest", "--check", dist]) for dist in sys.argv[1:]]))
"""


def test_there_is_one_of_every_kind_with_a_template(installed) -> None:
    assert set(installed.made) == set(WITH_TEMPLATE)


@pytest.mark.parametrize("kind", WITH_TEMPLATE)
def test_its_own_tests_pass_as_generated(installed, kind: str, tmp_path: Path) -> None:
    folder = installed.sources / installed.made[kind].dist
    done = installed.run(
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:langsmith_plugin",
        f"--basetemp={tmp_path / 'inner'}",
        cwd=folder,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


def test_each_is_installed_and_can_be_used(installed, tmp_path: Path) -> None:
    dists = ",".join(dist.dist for dist in installed.made.values())
    done = installed.run(
        "-m", "retrai_core", "plugins", "list", "--load", "--json", "--status", "ok",
        cwd=tmp_path, RETRAI_PLUGINS=dists,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    usable = {entry["dist"]: entry["kind"] for entry in json.loads(done.stdout)["plugins"]}
    for kind, dist in installed.made.items():
        assert usable.get(dist.dist) == kind


def test_each_manifest_says_what_the_class_says(installed, tmp_path: Path) -> None:
    dists = [dist.dist for dist in installed.made.values()]
    done = installed.run("-c", _CHECK, *dists, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_ruff_and_pyright_find_nothing(installed) -> None:
    pytest.importorskip("ruff")
    pytest.importorskip("pyright")
    # pyright starts slowly: one run over all of them, with what each of them says itself.
    own = [
        tomllib.loads(dist.files["pyproject.toml"])["tool"]["pyright"]
        for dist in installed.made.values()
    ]
    assert own == [own[0]] * len(own)
    assert own[0]["typeCheckingMode"] == "strict"
    settings = {**own[0], "include": ["*"], "extraPaths": [str(installed.site)]}
    (installed.sources / "pyrightconfig.json").write_text(json.dumps(settings))
    for tool in (["ruff", "check", "--no-cache"], ["pyright", "--pythonpath", sys.executable]):
        done = installed.run("-m", *tool, cwd=installed.sources)
        assert done.returncode == 0, done.stdout + done.stderr
