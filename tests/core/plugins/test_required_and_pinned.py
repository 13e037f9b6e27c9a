"""What the configuration demands of the installed plugins is checked before anything is loaded."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from retrai_core.config.sources import load_settings
from retrai_core.errors import PluginError, RetraiError, UsageError
from retrai_core.plugins.catalog import Catalog
from retrai_core.plugins.probe import probe_plugin
from retrai_core.runs.resolver import Resolver


def refusal(project: Path, text: str) -> RetraiError:
    """The error of a run with this configuration."""
    (project / ".retrai.yml").write_text(text)
    with pytest.raises(RetraiError) as caught:
        Resolver(load_settings(project), run_dir=project).run()
    assert caught.value.exit_code == 2
    return caught.value


def test_a_required_distribution_that_is_missing_is_named_with_its_command(
    site: Any, project: Path
) -> None:
    site.install_goal("acme-goal", "acme", "raise SystemExit('imported')", version="1.4")
    error = refusal(
        project,
        "goal: acme\nrequired_plugins: {acme-goal: '>=2, <3', retrai-absent-x: '*'}\n",
    )
    assert isinstance(error, PluginError)
    assert "acme-goal 1.4 is installed, >=2,<3 is required" in error.message
    assert "retrai-absent-x is not installed" in error.message
    assert "pip install 'acme-goal>=2,<3' && pip install retrai-absent-x" in error.hint


@pytest.mark.parametrize("wanted", ["", "*", ">=1", "~=1.4", "==1.*"])
def test_a_required_distribution_within_its_range_is_enough(
    site: Any, project: Path, wanted: str
) -> None:
    site.install("acme-tools", version="1.4")
    error = refusal(project, f"goal: nope\nrequired_plugins: {{acme-tools: '{wanted}'}}\n")
    assert "nope" in error.message


def test_a_range_that_is_none_is_a_usage_error(site: Any, project: Path) -> None:
    site.install("acme-tools", version="1.4")
    error = refusal(project, "required_plugins: {acme-tools: newest}\n")
    assert isinstance(error, UsageError)
    assert "`newest` is not a version range" in error.message


def test_required_and_switched_off_at_once_is_refused(site: Any, project: Path) -> None:
    site.install_goal("acme-goal", "acme")
    error = refusal(
        project,
        "goal: acme\nrequired_plugins: {acme-goal: '*'}\ndisabled_plugins: [acme-goal]\n",
    )
    assert "required, and switched off" in error.message
    assert "retrai plugins enable acme-goal" in error.hint


def test_a_pin_for_a_name_that_nobody_offers_is_refused(site: Any, project: Path) -> None:
    site.install_goal("acme-goal", "acme")
    error = refusal(project, "goal: acme\npins: {acne: acme-goal}\n")
    assert "`acne` is pinned to acme-goal, and no plugin is called `acne`" in error.message
    assert "did you mean `acme`" in error.hint


def test_a_pin_to_a_distribution_that_does_not_offer_the_name_is_refused(
    site: Any, project: Path
) -> None:
    site.install_goal("acme-goal", "acme")
    error = refusal(project, "goal: acme\npins: {acme: other}\n")
    assert "pinned to other, which does not offer it" in error.message
    assert "offered by acme-goal" in error.hint


def test_two_pins_for_one_name_are_refused(site: Any, project: Path) -> None:
    site.install_goal("acme-a", "acme")
    site.install_goal("acme-b", "acme")
    (project / ".retrai.yml").write_text("pins:\n  acme: acme-a\n  acme: acme-b\n")
    for read in (load_settings, Catalog.configured):
        with pytest.raises(UsageError, match=r"\.retrai\.yml line 3: `acme` is given twice"):
            read(project)


def test_a_plugin_removed_between_scan_and_load_is_a_clear_error(site: Any) -> None:
    package = site.install_goal("acme-goal", "acme")
    catalog = Catalog.scan()
    record = catalog.find("goal", "acme")
    shutil.rmtree(package)
    shutil.rmtree(record.metadata_folder)
    with pytest.raises(PluginError, match=r"goal `acme` of acme-goal 1\.0 is broken") as caught:
        catalog.load(record)
    assert "pip install --force-reinstall acme-goal" in caught.value.hint


def test_a_plugin_removed_between_scan_and_trial_is_a_clear_record(site: Any) -> None:
    package = site.install_goal("acme-goal", "acme")
    record = Catalog.scan().find("goal", "acme")
    shutil.rmtree(package)
    shutil.rmtree(record.metadata_folder)
    probe_plugin(record)
    assert (record.status, record.error) == ("broken", "it is not installed any more")
