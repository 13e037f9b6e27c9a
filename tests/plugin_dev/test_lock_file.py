"""`retrai.lock` names the plugins of a project, and a locked run takes no others."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from retrai_core.errors import PluginError, UsageError
from retrai_core.plugins.catalog import Catalog
from retrai_core.plugins.lock import current_lock, read_lock, require_locked

Retrai = Callable[..., tuple[int, str, str]]


def record_of(site: Any, dist: str, *rows: str, version: str = "1.0") -> Path:
    """Give a distribution a RECORD with these lines and the usual ones of installers."""
    info = site.folder / f"{dist.replace('-', '_')}-{version}.dist-info"
    usual = [f"{info.name}/INSTALLER,sha256=x,4", f"{info.name}/RECORD,,", "../bin/run,sha256=y,9"]
    (info / "RECORD").write_text("\n".join([*rows, *usual]) + "\n")
    return info


@pytest.fixture
def locked(site: Any, project: Path, retrai: Retrai) -> Any:
    """A project that is locked to two distributions, and the core."""
    for dist in ("acme-a", "acme-b"):
        site.install_goal(dist, dist)
        record_of(site, dist, f"{dist}/plugin.py,sha256=abc,10")
    assert retrai("plugins", "lock")[0] == 0
    return site


def test_the_lock_names_every_active_distribution(
    locked: Any, project: Path, retrai: Retrai
) -> None:
    lock = read_lock(project / "retrai.lock")
    assert {"acme-a", "acme-b", "retrai-core"} <= set(lock)
    assert list(lock) == sorted(lock)
    assert lock["acme-a"].version == "1.0"
    assert lock["acme-a"].files.startswith("sha256:")
    text = (project / "retrai.lock").read_text()
    assert retrai("plugins", "lock")[0] == 0
    assert (project / "retrai.lock").read_text() == text
    require_locked(project, Catalog.scan())


def test_a_run_with_other_plugins_is_refused_and_each_difference_named(
    locked: Any, project: Path, retrai: Retrai
) -> None:
    locked.install_goal("acme-c", "acme-c", version="3.0")
    record_of(locked, "acme-a", "acme-a/plugin.py,sha256=other,10")
    old = locked.folder / "acme_b-1.0.dist-info"
    (old / "METADATA").write_text("Name: acme-b\nVersion: 1.1\nRequires-Dist: retrai-core>=0.1\n")
    code, _, err = retrai("run", "acme-a", "--locked")
    assert code == 2
    assert "acme-a 1.0 has other files than the lock says" in err
    assert "acme-b is 1.1, locked is 1.0" in err
    assert "acme-c 3.0 is not in the lock" in err
    assert not list((project.parent / "state").glob("runs/*"))
    assert retrai("plugins", "lock", "--check")[0] == 2


def test_what_is_switched_off_is_not_active(locked: Any, project: Path) -> None:
    (project / ".retrai.yml").write_text("disabled_plugins: [acme-b]\n")
    with pytest.raises(PluginError, match=r"acme-b 1\.0 is not active"):
        require_locked(project, Catalog.configured(project))


def test_byte_code_and_the_installers_notes_do_not_count(locked: Any, project: Path) -> None:
    before = current_lock(Catalog.scan())
    info = record_of(
        locked, "acme-a", "acme-a/plugin.py,sha256=abc,10", "acme-a/__pycache__/p.cpython-311.pyc,,"
    )
    with (info / "RECORD").open("a") as file:
        file.write(f"{info.name}/direct_url.json,sha256=z,2\n{info.name}/REQUESTED,,\n")
    assert current_lock(Catalog.scan()) == before
    require_locked(project, Catalog.scan())


def test_a_checkout_is_locked_as_one(locked: Any, project: Path, retrai: Retrai) -> None:
    info = locked.folder / "acme_a-1.0.dist-info"
    editable = {"url": "file:///src/acme", "dir_info": {"editable": True}}
    (info / "direct_url.json").write_text(json.dumps(editable))
    with pytest.raises(PluginError, match=r"acme-a 1\.0 is an editable checkout"):
        require_locked(project, Catalog.scan())
    assert current_lock(Catalog.scan())["acme-a"].files == "editable"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (None, "there is no"),
        ("schema = 2\n", "has the schema 2, this retrai reads 1"),
        ("", "has the schema None"),
        ("schema = [", "cannot be read"),
        ('schema = 1\n[[distributions]]\ndist = "x"\n', "is no lock file"),
        ('schema = 1\ndistributions = "x"\n', "is no lock file"),
        ("\xff", "cannot be read"),
    ],
)
def test_a_lock_file_that_cannot_be_read_is_one_clear_line(
    locked: Any, project: Path, retrai: Retrai, text: str | None, problem: str
) -> None:
    path = project / "retrai.lock"
    path.unlink()
    if text is not None:
        path.write_bytes(text.encode("latin-1"))
    with pytest.raises(UsageError) as caught:
        require_locked(project, Catalog.scan())
    assert problem in caught.value.message
    assert "\n" not in caught.value.message
    assert "retrai plugins lock" in caught.value.hint
    assert retrai("run", "acme-a", "--locked")[0] == 2
