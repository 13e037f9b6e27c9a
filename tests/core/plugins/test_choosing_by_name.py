"""A bare name works while it is unique; nothing is ever taken because it came first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from retrai_core import PluginError, RunConfig, UsageError, __version__
from retrai_core.config.model import DEFAULT_MODEL
from retrai_core.config.sources import Settings
from retrai_core.plugins.catalog import Catalog
from retrai_core.plugins.providers import strength
from retrai_core.plugins.requirements import accepts, core_range
from retrai_core.runs.resolver import Resolver


def test_two_distributions_with_one_name_are_an_error_that_names_both(site: Any) -> None:
    site.install_goal("acme-a", "check")
    site.install_goal("acme-b", "check")
    catalog = Catalog.scan()
    with pytest.raises(PluginError, match="acme-a and acme-b") as caught:
        catalog.find("goal", "check")
    assert "check@acme-a" in caught.value.hint
    assert catalog.find("goal", "check@acme_B").dist == "acme-b"
    assert {record.status for record in catalog.matching("check")} == {"unloaded"}


def test_a_pin_decides_and_shadows_the_other(site: Any) -> None:
    site.install_goal("acme-a", "check")
    site.install_goal("acme-b", "check")
    catalog = Catalog.scan(pins={"check": "Acme.B"})
    assert catalog.find("goal", "check").dist == "acme-b"
    assert [record.status for record in catalog.matching("check")] == ["shadowed", "unloaded"]


def test_a_pin_to_a_distribution_that_does_not_offer_the_name_is_said(site: Any) -> None:
    site.install_goal("acme-a", "check")
    with pytest.raises(UsageError, match="pinned to nobody"):
        Catalog.scan(pins={"check": "nobody"}).find("goal", "check")


def test_a_rival_that_cannot_be_used_does_not_make_a_name_ambiguous(site: Any) -> None:
    site.install_goal("acme-a", "check")
    site.install_goal("acme-b", "check", requires=("retrai-core>=99",))
    assert Catalog.scan().find("goal", "check").dist == "acme-a"
    site.install_goal("acme-c", "check")
    switched_off = Catalog.scan(disabled=["check@acme-c"])
    assert switched_off.find("goal", "check").dist == "acme-a"


def test_one_name_for_two_kinds_is_no_conflict(site: Any) -> None:
    site.install(
        "both",
        entry_points="[retrai.goals]\nx = both.plugin:A\n[retrai.tools]\nx = both.plugin:B\n",
    )
    catalog = Catalog.scan()
    assert catalog.find("goal", "x").entry_point == "both.plugin:A"
    assert catalog.find("tool", "x").entry_point == "both.plugin:B"


def test_an_unknown_name_is_answered_with_the_nearest_and_where_the_list_is(site: Any) -> None:
    site.install_goal("acme-a", "cargo-check")
    with pytest.raises(UsageError, match="no goal is called `cargo-chek`") as caught:
        Catalog.scan().find("goal", "cargo-chek")
    assert "`cargo-check`" in caught.value.hint
    assert "retrai goals list" in caught.value.hint
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("switch", ["acme_a", "check", "check@acme-a", " other , ACME.A "])
def test_a_switched_off_plugin_is_blocked_and_named(
    site: Any, monkeypatch: pytest.MonkeyPatch, switch: str
) -> None:
    site.install_goal("acme-a", "check")
    monkeypatch.setenv("RETRAI_DISABLE_PLUGINS", switch)
    catalog = Catalog.scan()
    assert catalog.matching("check")[0].status == "blocked"
    with pytest.raises(PluginError, match="RETRAI_DISABLE_PLUGINS"):
        catalog.find("goal", "check")


def test_an_allow_list_keeps_the_core_and_what_it_names(
    site: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.install_goal("acme-a", "check")
    site.install_goal("acme-b", "other")
    monkeypatch.setenv("RETRAI_PLUGINS", "other")
    status = {record.name: record.status for record in Catalog.scan().records()}
    assert (status["check"], status["other"]) == ("blocked", "unloaded")
    assert (status["files"], status["goal-loop"]) == ("unloaded", "unloaded")


def test_no_plugins_leaves_the_core(site: Any) -> None:
    site.install_goal("acme-a", "check")
    catalog = Catalog.scan(environ={"RETRAI_PLUGINS": "--no-plugins"})
    usable = [r for r in catalog.records() if r.status == "unloaded"]
    assert {record.dist for record in usable} == {"retrai-core"}
    with pytest.raises(PluginError, match="switched off by --no-plugins"):
        catalog.find("goal", "check")


MARKERS = """
schema = 1
[goals.check]
summary = "a check"
markers = [
    { glob = "check.ini", priority = 30 },
    { glob = "setup.cfg", contains = "[check]", priority = 20 },
    { glob = "checks/check_*.py", priority = 30 },
]
"""


def test_where_no_goal_fits_a_file_is_named_that_one_would_be_found_by(
    site: Any, tmp_path: Path
) -> None:
    project = tmp_path / "empty"
    project.mkdir()
    site.install_goal("acme-a", "check", manifest=MARKERS)
    site.install_goal(
        "acme-b",
        "other",
        manifest='schema = 1\n[goals.other]\nmarkers = [{ glob = "Otherfile", priority = 25 }]\n',
    )
    catalog = Catalog.scan(paths=[str(site.folder)])
    hint = catalog.no_goal_for(project).hint
    assert "a file that one is found by: Otherfile (other), checks/check_x.py (check); " in hint
    for example in ("Otherfile", "checks/check_x.py"):
        file = project / example
        file.parent.mkdir(exist_ok=True)
        file.touch()
    assert [hit.record.name for hit in catalog.detect(project)] == ["other", "check"]
    (project / "Otherfile").unlink()
    without = Catalog.scan(paths=[str(site.folder)], disabled={"check": "a.yml"})
    error = without.no_goal_for(project)
    assert "goal `check` of acme-a" in error.message
    assert error.message.endswith("switched off by a.yml")
    assert "retrai plugins enable check" in error.hint


def test_where_every_goal_is_switched_off_none_is_offered(site: Any, tmp_path: Path) -> None:
    site.install_goal("acme-a", "check")
    catalog = Catalog.scan(environ={"RETRAI_PLUGINS": "--no-plugins"}, paths=[str(site.folder)])
    error = catalog.no_goal_for(tmp_path)
    assert error.message.startswith("no installed goal can be used: goal `check` of acme-a")
    assert "switched off by --no-plugins" in error.message
    assert error.hint == ""


def test_an_incompatible_plugin_names_both_versions_and_is_not_imported(site: Any) -> None:
    site.install_goal("future", "check", "raise SystemExit", requires=("retrai-core >= 99, < 100",))
    with pytest.raises(PluginError, match=r"retrai-core>=99,<100") as caught:
        Catalog.scan().find("goal", "check")
    assert __version__ in str(caught.value)
    assert "pip install --upgrade future" in caught.value.hint


def test_an_exact_model_pattern_beats_a_prefix_and_that_the_catch_all(site: Any) -> None:
    site.install(
        "models",
        entry_points="[retrai.llms]\n"
        + "".join(f"{name} = models.plugin:P\n" for name in ("a", "b", "c", "d")),
        manifest="schema = 1\n"
        + "".join(
            f'[llms.{name}]\nmodel_patterns = ["{pattern}"]\n'
            for name, pattern in [("a", "*"), ("b", "own:*"), ("c", "own:model"), ("d", "own:mo*")]
        ),
    )
    catalog = Catalog.scan(paths=[str(site.folder)])
    assert catalog.provider_for("own:model").name == "c"
    assert catalog.provider_for("own:moon").name == "d"
    assert catalog.provider_for("own:x").name == "b"
    assert catalog.provider_for("claude").name == "a"


def test_two_providers_of_one_model_are_an_error(site: Any) -> None:
    for dist in ("models-a", "models-b"):
        package = dist.replace("-", "_")
        site.install(
            dist,
            entry_points=f"[retrai.llms]\n{dist} = {package}.plugin:P\n",
            manifest=f'schema = 1\n[llms.{dist}]\nmodel_patterns = ["echo"]\n',
        )
    catalog = Catalog.scan(paths=[str(site.folder)])
    with pytest.raises(PluginError, match="models-a@models-a and models-b@models-b"):
        catalog.provider_for("echo")
    with pytest.raises(UsageError, match="no provider serves the model `none`"):
        catalog.provider_for("none")


ANY_MODEL = """
from retrai_core import LLMProvider, UsageError

class Any(LLMProvider):
    name = "any"
    model_patterns = ("*",)

    def create(self, model, temperature, context):
        raise NotImplementedError

    def ready(self, model):
        raise UsageError(f"nobody knows the model {model}")
"""


def test_a_model_whose_provider_is_switched_off_is_not_called_unknown(
    site: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.install(
        "solo",
        entry_points="[retrai.llms]\nsolo = solo.plugin:P\n",
        manifest='schema = 1\n[llms.solo]\nmodel_patterns = ["solo", "own:*"]\n',
    )
    why = "llm `solo` of solo 1.0 is blocked: switched off by RETRAI_DISABLE_PLUGINS"
    monkeypatch.setenv("RETRAI_DISABLE_PLUGINS", "solo,retrai-llm-litellm")
    for model in ("solo", "own:1"):
        with pytest.raises(PluginError, match=why):
            Catalog.scan(paths=[str(site.folder)]).provider_for(model)

    site.install(
        "any-model",
        entry_points="[retrai.llms]\nany = any_model.plugin:Any\n",
        code=ANY_MODEL,
        manifest='schema = 1\n[llms.any]\nmodel_patterns = ["*"]\n',
    )
    with pytest.raises(PluginError, match=why):
        Resolver(Settings(RunConfig(cwd=tmp_path, model="solo"))).model_name()
    with pytest.raises(UsageError, match=r"nobody knows the model sol \(did you mean solo\?\)"):
        Resolver(Settings(RunConfig(cwd=tmp_path, model="sol"))).model_name()


def test_the_model_that_was_taken_is_set_from_then_on(site: Any, tmp_path: Path) -> None:
    site.install(
        "solo",
        entry_points="[retrai.llms]\nsolo = solo.plugin:Solo\n",
        code="from retrai_core import LLMProvider\n"
        "class Solo(LLMProvider):\n"
        "    name = 'solo'\n"
        "    def create(self, model, temperature, context, api_key=None):\n"
        "        raise NotImplementedError\n",
        manifest=f'schema = 1\n[llms.solo]\nmodel_patterns = ["{DEFAULT_MODEL}"]\n',
    )
    resolver = Resolver(Settings(RunConfig(cwd=tmp_path)))
    assert resolver.provider("offline").record.name == "solo"
    assert "model_name" in resolver.config.model_fields_set  # so a resumed run has it too


def test_a_provider_without_manifest_still_serves_its_models(site: Any) -> None:
    site.install(
        "bare",
        entry_points="[retrai.llms]\nbare = bare.plugin:Bare\nbad = bare.missing:Bad\n",
        code="from retrai_core import LLMProvider\n"
        "class Bare(LLMProvider):\n"
        "    name = 'bare'\n"
        "    model_patterns = ('bare:*',)\n"
        "    def create(self, model, temperature, context):\n"
        "        raise NotImplementedError\n",
    )
    assert Catalog.scan(paths=[str(site.folder)]).provider_for("bare:1").name == "bare"


def test_goals_are_detected_by_markers_in_the_order_of_priority(site: Any, tmp_path: Path) -> None:
    site.install(
        "goals",
        entry_points="[retrai.goals]\n"
        + "".join(f"{name} = goals.plugin:G\n" for name in ("late", "early", "absent", "folder")),
        code="raise SystemExit",
        manifest="""schema = 1
[goals.late]
markers = [{ glob = "Makefile", priority = 80 }]
[goals.early]
markers = [
    { glob = "setup.cfg", priority = 5 },
    { glob = "pyproject.toml", contains = "[tool.pytest", priority = 20 },
]
[goals.absent]
markers = [{ glob = "pyproject.toml", contains = "[tool.nothing", priority = 1 }]
[goals.folder]
markers = [{ glob = "test*/", priority = 30 }]
""",
    )
    project = tmp_path / "project"
    (project / "tests").mkdir(parents=True)
    (project / "Makefile").touch()
    (project / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    (project / "testing.txt").touch()
    found = Catalog.scan(paths=[str(site.folder)]).detect(project)
    assert [(goal.record.name, goal.evidence) for goal in found] == [
        ("early", "pyproject.toml: [tool.pytest"),
        ("folder", "tests"),
        ("late", "Makefile"),
    ]


@given(
    st.lists(
        st.tuples(
            st.sampled_from([">=", "<=", "==", "!=", "<", ">", "~="]),
            st.lists(st.integers(0, 3), min_size=2, max_size=3),
        ),
        max_size=3,
    ),
    st.lists(st.integers(0, 3), min_size=1, max_size=3),
)
def test_the_own_range_check_agrees_with_packaging(
    clauses: list[tuple[str, list[int]]], version: list[int]
) -> None:
    text = ",".join(f"{operator}{'.'.join(map(str, bound))}" for operator, bound in clauses)
    release = ".".join(map(str, version))
    assert accepts(text, release) == SpecifierSet(text).contains(release)


@pytest.mark.parametrize(
    ("requires", "expected"),
    [
        ("retrai-core", ""),
        ("retrai_core (>=0.1)", ">=0.1"),
        ("Retrai.Core[dev] <2, >=1", ">=1,<2"),
        ("retrai-core>=0.1; python_version >= '3.11'", ">=0.1"),
        ("retrai-core>=9; extra == 'later'", ""),
        ("retrai-core-extras>=9", ""),
    ],
)
def test_the_range_is_read_from_every_way_of_writing_it(requires: str, expected: str) -> None:
    assert core_range(["click>=8", requires]) == expected


def test_a_range_that_nobody_can_read_is_incompatible(site: Any) -> None:
    site.install_goal("odd", "odd", requires=("retrai-core>=one",))
    (record,) = Catalog.scan().matching("odd")
    assert record.status == "incompatible"
    assert ">=one" in record.error


def test_what_is_damaged_or_switched_off_is_not_called_not_installed(site: Any) -> None:
    site.install(
        "acme-tools",
        entry_points="[retrai.tools]\nlook = acme_tools.plugin:A\nfind = acme_tools.plugin:B\n",
        manifest="= broken",
    )
    site.install_goal("off", "off-goal")
    catalog = Catalog.scan(disabled=["off"])
    damaged, absent = catalog.why_without("tool", ["look", "nobody", "find"])
    assert damaged.startswith("look, find (acme-tools is broken: ")
    assert "retrai.toml" in damaged
    assert absent == "nobody (not installed)"
    (off,) = catalog.why_without("goal", ["off-goal"])
    assert off.startswith("off-goal (off is blocked: switched off by")


@given(st.text(), st.text())
def test_a_pattern_without_star_fits_only_itself(pattern: str, model: str) -> None:
    if not pattern.endswith("*"):
        assert (strength(pattern, model) is not None) == (pattern == model)
