"""A manifest says what the classes say, the same text every time, and reads back as it was."""

from __future__ import annotations

import contextlib
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from retrai_core import RetraiError
from retrai_core.cli.plugins import plugins
from retrai_core.plugins.catalog import Catalog
from retrai_core.plugins.entry import OFFERS, ManifestEntry, MarkerEntry, OptionEntry
from retrai_core.plugins.kinds import KINDS, table_of
from retrai_core.plugins.manifest import ManifestError, parse_manifest
from retrai_core.plugins.written import brief_entry, written_manifest
from retrai_plugin_dev.manifest_command import manifest
from retrai_plugin_dev.manifest_text import manifest_text
from retrai_plugin_dev.manifests import manifests_of

GOAL = """
from typing import Literal
from pydantic import Field
from retrai_core import GoalBase, GoalOptions, Marker

class Options(GoalOptions):
    path: str
    \"\"\"The file, relative to
    the project.\"\"\"
    mode: Literal["fast", "slow"] = "fast"
    limit: int | None = Field(default=None, description="In bytes.")
    maker: str = Field(default="make", json_schema_extra={"runs": True})
    names: list[str] = []

class Plugin(GoalBase):
    \"\"\"A goal.\"\"\"
    name = "acme"
    summary = "says \\"yes\\" \\\\ ja: 好"
    needs = frozenset({"run", "read"})
    markers = (Marker("pyproject.toml", "[tool.acme]", 30), Marker("acme/"))
    default_tools = ("file_read",)
    Options = Options
    async def check(self, state, cwd): ...
    def system_prompt(self): return ""
"""
EXPECTED = """\
# Written by `retrai plugins manifest` from the classes; `--check` compares.
schema = 1

[goals.acme]
summary = "says \\"yes\\" \\\\ ja: 好"
needs = ["read", "run"]
markers = [
    { glob = "pyproject.toml", contains = "[tool.acme]", priority = 30 },
    { glob = "acme/", priority = 50 },
]
default_tools = ["file_read"]

[goals.acme.options]
limit = { type = "int | None", description = "In bytes." }
maker = { type = "str", default = "make", runs = true }
mode = { type = "'fast' | 'slow'", default = "fast" }
names = { type = "list[str]", default = [] }
path = { type = "str", required = true, description = "The file, relative to the project." }
system_prompt = { type = "str", default = "", description = \
"Text for the model, added to the goal's own part of the system prompt.", loosens = false }
"""


def call(*arguments: str) -> tuple[int, str]:
    # The command returns its exit code, as `retrai` expects of every command.
    result = CliRunner().invoke(manifest, list(arguments), standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    return result.return_value, result.output


def test_the_manifest_is_written_from_the_classes_and_then_checked(site: Any) -> None:
    package = site.install_goal("acme-goal", "acme", GOAL)
    path = package / "retrai.toml"
    assert call("acme-goal", "--check") == (
        1,
        f"{path} differs: `retrai plugins manifest acme-goal` writes it\n",
    )
    assert not path.exists()
    assert call("acme-goal") == (0, f"{path} written\n")
    assert path.read_text("utf-8") == EXPECTED
    assert call(str(package), "--check")[0] == 0
    assert call("acme_goal", "--check")[0] == 0
    path.write_text(EXPECTED.replace('"run"', '"write"'), "utf-8")
    assert call("acme_goal", "--check")[0] == 1


def test_what_was_written_is_what_the_scan_reads(site: Any) -> None:
    package = site.install_goal("acme-goal", "acme", GOAL, manifest=EXPECTED)
    record = Catalog.scan().find("goal", "acme")
    assert record.source == str(package)
    assert record.markers == (
        MarkerEntry("pyproject.toml", "[tool.acme]", 30),
        MarkerEntry("acme/", "", 50),
    )
    assert record.options["path"] == OptionEntry(
        "str", required=True, description="The file, relative to the project."
    )
    assert [name for name, option in record.options.items() if option.runs] == ["maker"]
    assert record.default_tools == ("file_read",)


def test_a_manifest_that_cannot_be_read_can_be_written_again(site: Any) -> None:
    package = site.install_goal("acme-goal", "acme", GOAL, manifest="= broken")
    assert call("acme-goal")[0] == 0
    assert (package / "retrai.toml").read_text("utf-8") == EXPECTED


def test_a_target_without_plugins_is_a_usage_error(site: Any, tmp_path: Path) -> None:
    for target in ("nobody", str(tmp_path)):
        if target == str(tmp_path):
            site.install("plain")
        with pytest.raises(RetraiError, match="no installed plugin belongs to") as caught:
            call(target)
        assert caught.value.exit_code == 2


def test_a_plugin_that_is_a_single_file_has_no_place_for_one(site: Any) -> None:
    site.install("lone", entry_points="[retrai.goals]\nlone = lone_module:Plugin\n", code=None)
    (site.folder / "lone_module.py").write_text(
        GOAL.replace('name = "acme"', 'name = "lone"'), "utf-8"
    )
    site.modules.append("lone_module")
    with pytest.raises(RetraiError, match="single file"):
        call("lone")


def test_a_package_that_cannot_be_imported_gets_no_manifest(site: Any) -> None:
    package = site.install_goal("bad-goal", "bad", "raise RuntimeError('no')")
    with pytest.raises(RetraiError, match="RuntimeError: no"):
        call("bad-goal")
    assert not (package / "retrai.toml").exists()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "schema is None"),
        ("schema = 2", "schema is 2"),
        ("schema = 1\n[things.x]", "[things]"),
        ("schema = 1\ngoals = 3", "[goals] is not a table"),
        ("schema = 1\n[goals]\nx = 3", "[goals.x] is not a table"),
        ("schema = 1\n[goals.x]\nneed = []", "unknown key `need`"),
        ("schema = 1\n[goals.x]\nneeds = 'read'", "goals.x.needs is not a list"),
        ("schema = 1\n[goals.x]\nneeds = [1]", "1 is not text"),
        ("schema = 1\n[goals.x]\nmarkers = [{ glob = '../x' }]", "`../x`"),
        ("schema = 1\n[goals.x]\nmarkers = [{ glob = '/etc' }]", "`/etc`"),
        ("schema = 1\n[goals.x]\nmarkers = [{ glob = '**/x' }]", "`**/x`"),
        ("schema = 1\n[goals.x]\nmarkers = [{ glob = 'x', priority = 'a' }]", "priority"),
        ("schema = 1\n[goals.x]\noptions = []", "options] is not a table"),
        ("schema = 1\n[tools.x]\noffered = 'never'", "'never' is none of always, by_goal"),
        ("schema = 1\n[goals.x]\nprotects = 3", "3 is not text"),
        ("schema = ", "retrai.toml"),
    ],
)
def test_a_manifest_of_another_form_says_where_and_why(text: str, told: str) -> None:
    with pytest.raises(ManifestError) as caught:
        parse_manifest(text.encode(), "retrai.toml")
    assert told in str(caught.value)
    assert str(caught.value).startswith("retrai.toml: ")


@given(st.binary())
def test_any_bytes_are_a_manifest_or_a_manifest_error(raw: bytes) -> None:
    with contextlib.suppress(ManifestError):
        parse_manifest(raw, "retrai.toml")


TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
TEXTS = st.lists(TEXT, max_size=3).map(tuple)
SORTED_TEXTS = st.lists(TEXT, max_size=3).map(lambda texts: tuple(sorted(texts)))
DEFAULTS = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
OPTIONS = st.builds(
    OptionEntry, type=TEXT, default=DEFAULTS, required=st.just(False), description=TEXT
) | st.builds(OptionEntry, type=TEXT, default=st.none(), required=st.just(True), description=TEXT)
MARKERS = st.builds(
    MarkerEntry, st.sampled_from(["a.toml", "tests/", "*.cfg", "ä b"]), TEXT, st.integers(0, 99)
)
ENTRIES = st.builds(
    ManifestEntry,
    summary=TEXT,
    needs=SORTED_TEXTS,
    options=st.dictionaries(TEXT, OPTIONS, max_size=3),
    markers=st.lists(MARKERS, max_size=2).map(tuple),
    model_patterns=TEXTS,
    default_tools=TEXTS,
    hooks=SORTED_TEXTS,
    programs=SORTED_TEXTS,
    offered=st.sampled_from(OFFERS),
    protects=TEXT,
    steers=TEXT,
)


@given(st.dictionaries(st.tuples(st.sampled_from(KINDS), TEXT), ENTRIES, max_size=3))
def test_every_manifest_reads_back_as_it_was_written(entries: Any) -> None:
    text = manifest_text(entries)
    assert tomllib.loads(text)["schema"] == 1
    assert parse_manifest(text.encode(), "retrai.toml") == entries
    assert manifest_text(dict(reversed(entries.items()))) == text


@given(st.dictionaries(st.tuples(st.sampled_from(KINDS), TEXT), ENTRIES, max_size=3))
def test_what_lists_show_is_what_the_whole_manifest_says_or_nothing(entries: Any) -> None:
    text = manifest_text(entries)
    for (kind, name), entry in entries.items():
        brief = brief_entry(text, f"{table_of(kind)}.{name}")
        assert brief is None or brief == tuple(getattr(entry, key) for key in brief._fields)


def test_what_lists_show_is_read_from_single_lines_of_a_plain_manifest(tmp_path: Path) -> None:
    path = tmp_path / "retrai.toml"
    path.write_text(EXPECTED)
    text = written_manifest(str(path))
    assert text is not None
    assert brief_entry(text, "goals.acme") is None  # the escapes are TOML's to read
    plain = re.sub("^summary = .*$", 'summary = "plain"', text, flags=re.MULTILINE)
    assert brief_entry(plain, "goals.acme") == ("plain", ("read", "run"), "", ())


@pytest.mark.parametrize("end", ["<<<<<<< ours\n", "[[[\n", "cut off", 'needs = ["re\n', "\udcff"])
def test_a_damaged_manifest_of_ours_is_broken_in_the_list(site: Any, end: str) -> None:
    package = site.install_goal("acme-goal", "acme", GOAL, manifest=EXPECTED)
    manifest = EXPECTED.encode() + end.encode(errors="surrogateescape")
    (package / "retrai.toml").write_bytes(manifest)
    listed = CliRunner().invoke(plugins, ["list", "--kind", "goal"])
    assert f"acme@acme-goal (broken): {package / 'retrai.toml'}" in listed.output


def test_damage_inside_a_line_is_found_as_soon_as_the_plugin_is_looked_at(site: Any) -> None:
    manifest = EXPECTED.replace("glob = ", "glob ")
    assert manifest != EXPECTED
    site.install_goal("acme-goal", "acme", GOAL, manifest=manifest)
    for arguments in (["list", "--json"], ["list", "--status", "broken"], ["show", "acme"]):
        assert "broken" in CliRunner().invoke(plugins, arguments).output
    catalog = Catalog.scan()
    with pytest.raises(RetraiError, match=r"is broken: .*retrai\.toml"):
        catalog.load(catalog.find("goal", "acme"))


def test_a_manifest_of_a_newer_form_is_broken_in_the_list(site: Any) -> None:
    newer = EXPECTED.replace("schema = 1", "schema = 2")
    site.install_goal("acme-goal", "acme", GOAL, manifest=newer)
    listed = CliRunner().invoke(plugins, ["list", "--kind", "goal"])
    assert "schema is 2, this retrai reads 1" in listed.output


@pytest.mark.parametrize("written", ['["read","run"]', '["read" , "run"]', '["read"] # "]'])
def test_a_list_that_somebody_wrote_in_another_way_is_left_to_a_toml_reader(written: str) -> None:
    manifest = f'\n[goals.acme]\nsummary = "plain"\nneeds = {written}\n'
    assert brief_entry(manifest, "goals.acme") is None


INSTALLED = sorted({r.dist for r in Catalog.scan().records() if r.dist.startswith("retrai-")})


@pytest.mark.parametrize("dist", INSTALLED)
def test_the_manifest_of_each_installed_first_party_distribution_is_current(dist: str) -> None:
    for written in manifests_of(Catalog.scan(), dist):
        assert not written.differs, f"`retrai plugins manifest {dist}` writes {written.path}"
