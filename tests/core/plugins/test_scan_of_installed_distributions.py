"""The scan finds every plugin without importing one, and no malformed file stops it."""

from __future__ import annotations

import sys
import zipfile
from importlib.metadata import Distribution, DistributionFinder
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrai_core.cli.main import main
from retrai_core.plugins.catalog import Catalog
from retrai_core.plugins.entry_points import parse_entry_points
from retrai_core.plugins.hints import read_hints
from retrai_core.plugins.metadata import parse_metadata
from retrai_core.plugins.scan import scan_distributions


def test_a_plugin_is_found_with_its_distribution_version_and_place(site: Any) -> None:
    package = site.install(
        "Acme.Goal", entry_points="[retrai.goals]\nacme = acme_goal.plugin:A\n", package="acme_goal"
    )
    (record,) = Catalog.scan(paths=[str(site.folder)]).matching("acme@acme-goal")
    assert (record.dist, record.version, record.kind) == ("Acme.Goal", "1.0", "goal")
    assert (record.api, record.source) == (">=0.1,<0.2", str(package))


def test_scanning_and_reading_manifests_imports_nothing(site: Any) -> None:
    manifest = 'schema = 1\n[goals.acme]\nneeds = ["run", "read"]\n'
    package = site.install_goal("acme-goal", "acme", "raise SystemExit", manifest=manifest)
    record = Catalog.scan().find("goal", "acme")
    assert record.needs == ("read", "run")
    assert record.status == "unloaded"
    assert record.source == str(package)
    assert "acme_goal" not in sys.modules


def test_an_egg_info_folder_is_an_installation_too(site: Any) -> None:
    site.install_goal("old-goal", "old", requires=())
    info = site.folder / "old_goal-1.0.dist-info"
    info.rename(site.folder / "old_goal-1.0-py3.11.egg-info")
    info = site.folder / "old_goal-1.0-py3.11.egg-info"
    (info / "METADATA").rename(info / "PKG-INFO")
    (info / "requires.txt").write_text("retrai-core>=9\n\n[extra]\nretrai-core>=0\n")
    (record,) = Catalog.scan().matching("old")
    assert (record.version, record.api, record.status) == ("1.0", ">=9", "incompatible")


def test_names_with_spaces_and_any_letters_are_names(site: Any) -> None:
    site.install(
        "unusual",
        entry_points="[retrai.goals]\nmy own goal = unusual.plugin:A\nprüfung = unusual.plugin:B\n",
    )
    catalog = Catalog.scan(paths=[str(site.folder)])
    assert [record.name for record in catalog.records("goal")] == ["my own goal", "prüfung"]
    assert catalog.find("goal", "my own goal@unusual").entry_point == "unusual.plugin:A"


@pytest.mark.parametrize(
    "line", ["no equals sign", "= nothing:here", "bad = not a module", "bad = a..b:c", "bad = a:"]
)
def test_a_malformed_line_is_a_broken_record_and_hides_no_other(site: Any, line: str) -> None:
    site.install(
        "half", entry_points=f"[retrai.goals]\n{line}\nsound = half.plugin:A [old extra]\n"
    )
    records = Catalog.scan(paths=[str(site.folder)]).records("goal")
    assert {record.status for record in records if record.name != "sound"} == {"broken"}
    assert "line 2" in next(record.error for record in records if record.name != "sound")
    (sound,) = [record for record in records if record.name == "sound"]
    assert (sound.status, sound.entry_point) == ("unloaded", "half.plugin:A")


def test_bytes_that_are_not_utf8_stop_nothing(site: Any) -> None:
    site.install(
        "latin",
        entry_points=b"[retrai.goals]\ncaf\xe9 = latin.plugin:A\nsound = latin.plugin:B\n",
        metadata=b"Name: latin\nVersion: 1.0\nAuthor: Andr\xe9\nRequires-Dist: retrai-core>=0.1\n",
    )
    records = Catalog.scan(paths=[str(site.folder)]).records()
    assert {record.name: record.status for record in records} == {
        "caf\ufffd": "broken",
        "sound": "unloaded",
    }
    assert {record.api for record in records} == {">=0.1"}


def test_the_first_of_two_versions_on_the_path_is_used(site: Any, tmp_path: Path) -> None:
    site.install_goal("twice", "twice", version="2.0")
    later = type(site)(tmp_path / "later")
    later.install_goal("twice", "twice", version="1.0")
    catalog = Catalog.scan(paths=[str(site.folder), str(later.folder)])
    assert [(r.version, r.status) for r in catalog.records("goal")] == [
        ("1.0", "shadowed"),
        ("2.0", "unloaded"),
    ]
    assert catalog.find("goal", "twice").version == "2.0"


def test_a_checkout_beside_its_editable_installation_is_one_plugin(
    site: Any, tmp_path: Path
) -> None:
    site.install_goal("twice", "twice")
    checkout = type(site)(tmp_path / "checkout")
    checkout.install_goal("twice", "twice")
    (checkout.folder / "twice-1.0.dist-info").rename(checkout.folder / "twice-1.0.egg-info")
    catalog = Catalog.scan(paths=[str(site.folder), str(checkout.folder)])
    assert len(catalog.records("goal")) == 1


def test_what_pip_could_not_remove_is_no_installation(site: Any) -> None:
    site.install_goal("gone", "gone")
    (site.folder / "gone-1.0.dist-info").rename(site.folder / "~one-1.0.dist-info")
    assert scan_distributions([str(site.folder)]) == []


def test_metadata_left_over_from_a_removed_plugin_is_said_to_be_that(site: Any) -> None:
    site.install(
        "removed", entry_points="[retrai.goals]\nx = removed.plugin:A\n", code=None, metadata=""
    )
    (record,) = Catalog.scan().matching("x")
    assert record.status == "broken"
    assert "no module `removed`" in record.error
    assert "left over" in record.error


def test_a_package_inside_a_namespace_has_its_manifest_beside_its_own_init(site: Any) -> None:
    site.install("acme-deep", entry_points="[retrai.tools]\nd = acme.deep.plugin:T\n", code=None)
    inner = site.folder / "acme" / "deep"
    inner.mkdir(parents=True)
    (inner / "__init__.py").touch()
    (inner / "retrai.toml").write_text('schema = 1\n[tools.d]\nsummary = "deep"\n')
    (record,) = Catalog.scan().matching("d")
    assert (record.status, record.summary, record.source) == ("unloaded", "deep", str(inner))


def test_distributions_in_an_archive_are_found(site: Any, tmp_path: Path) -> None:
    archive = tmp_path / "wheel.zip"
    with zipfile.ZipFile(archive, "w") as wheel:
        wheel.writestr("zipped/__init__.py", "")
        wheel.writestr("zipped-3.0.dist-info/METADATA", "Name: zipped\nVersion: 3.0\n")
        wheel.writestr(
            "zipped-3.0.dist-info/entry_points.txt", "[retrai.goals]\nz = zipped.plugin:Z\n"
        )
    (record,) = Catalog.scan(paths=[str(archive)]).records("goal")
    assert (record.dist, record.version, record.status) == ("zipped", "3.0", "unloaded")


class FromElsewhere(Distribution):
    """A distribution that has no folder."""

    def read_text(self, filename: str) -> str | None:
        return {
            "METADATA": "Name: elsewhere\nVersion: 4.0\n",
            "entry_points.txt": "[retrai.goals]\nfar = elsewhere:Goal\n",
        }.get(filename)

    def locate_file(self, path: Any) -> Any:
        return Path(path)


class OtherFinder(DistributionFinder):
    """An import hook with its own idea of what is installed."""

    def find_distributions(self, context: Any = None) -> Any:
        return [FromElsewhere()]

    def find_spec(self, *_: object) -> None:
        return None


class RaisingFinder(OtherFinder):
    def find_distributions(self, context: Any = None) -> Any:
        raise OSError("no network")


def test_other_finders_are_asked_and_a_raising_one_hides_nothing(
    site: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, RaisingFinder(), OtherFinder()])
    with pytest.warns(UserWarning, match="no network"):
        (record,) = Catalog.scan().matching("far")
    assert (record.dist, record.version, record.status) == ("elsewhere", "4.0", "broken")


def test_hints_name_what_would_bring_a_goal(site: Any, tmp_path: Path) -> None:
    site.install(
        "hinting",
        entry_points="[retrai.hints.goals]\nbun-test = retrai_goals_js\n"
        "[retrai.hints.frontends]\nplay = hinting\npaint = retrai_paint\n"
        "[retrai.hints.nonsense]\nplay = retrai_play\n"
        "[retrai.hints.markers]\nbun.lock = retrai_goals_js\nCargo.toml = retrai_goals_shell\n",
        code=None,
    )
    (tmp_path / "bun.lock").touch()
    catalog = Catalog.scan(paths=[str(site.folder)])
    assert catalog.installable_for(tmp_path) == ["retrai-goals-js"]
    assert "`pip install retrai-goals-js`" in catalog.unknown("bun-test", "goal").hint
    assert "`pip install retrai-paint`" in catalog.unknown("paint").hint
    assert catalog.brings("paint", "frontend") == "retrai-paint"
    assert catalog.brings("paint", "goal") == catalog.brings("play", "frontend") == ""


def test_a_command_of_a_plugin_that_is_not_installed_says_what_brings_it(
    site: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    site.install(
        "hinting", entry_points="[retrai.hints.frontends]\npaint = retrai_paint\n", code=None
    )
    assert main(["paint", "a wall"]) == 2
    told = capsys.readouterr().err.splitlines()
    assert told == [
        "error: no such command: paint; the plugin that has it is not installed",
        "hint: `pip install retrai-paint` brings it",
    ]


@given(st.binary() | st.binary().map(lambda raw: b"[retrai.goals]\n" + raw))
def test_any_bytes_can_be_read(raw: bytes) -> None:
    for entry in parse_entry_points(raw):
        assert entry.problem or entry.value
    parse_metadata(raw)
    read_hints([raw])


def test_records_are_sorted_whatever_the_order_of_the_folder(site: Any) -> None:
    for dist in ("zeta", "alpha", "mid"):
        site.install_goal(dist, f"goal-{dist}")
    seen = [record.name for record in Catalog.scan(paths=[str(site.folder)]).records()]
    assert seen == sorted(seen)
