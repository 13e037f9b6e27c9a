"""Settings that do nothing are told or refused, each with the name that was probably meant."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from retrai_core.config.model import RunConfig
from retrai_core.config.sources import Settings, load_settings
from retrai_core.errors import UsageError
from retrai_core.plugins.catalog import Catalog
from retrai_core.runs.resolved_run import ResolvedRun

Runs = Any
"""The fixture's class, in conftest.py."""


def warnings(runs: Runs, record: Any) -> list[str]:
    said = [event.payload for event in runs.events(record, "log")]
    return [payload["message"] for payload in said if payload["level"] == "warning"]


def resolved(config: RunConfig) -> ResolvedRun:
    settings = Settings(config)
    return ResolvedRun(config=config, settings=settings, catalog=Catalog.of(settings))


async def test_a_name_that_disables_nothing_is_told_with_the_nearest(runs: Runs) -> None:
    names = ["burts", "nothing-like-it", "asks", "Scripted_Plugins@none"]
    record = await runs.run([], disabled_plugins=names, max_iterations=1)
    said = [line for line in warnings(runs, record) if line.startswith("disabled_plugins")]
    where = "is neither a plugin nor a distribution"
    assert said[0] == f"disabled_plugins: burts {where} (did you mean burst?)"
    assert said[1].startswith(f"disabled_plugins: nothing-like-it {where}")
    assert len(said) == 3


async def test_a_name_that_disables_nothing_is_told_with_its_own_file(
    runs: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    user, file = tmp_path / "config" / "retrai" / "config.yml", runs.project / ".retrai.yml"
    user.parent.mkdir(parents=True)
    user.write_text("disabled_plugins: [nothing-of-the-user, burts]\n")
    file.write_text("disabled_plugins: [nothing-of-the-project]\n")
    settings = load_settings(runs.project)
    names = settings.config.disabled_plugins
    record = await runs.run([], origins=settings.origins, disabled_plugins=names, max_iterations=1)
    said = [line for line in warnings(runs, record) if line.startswith("disabled_plugins")]
    assert [line.partition(" (from ")[2] for line in said] == [f"{user})", f"{user})", f"{file})"]
    assert said[1].endswith(f"(did you mean burst?) (from {user})")


async def test_a_misspelt_variable_is_told_and_a_stranger_s_is_not(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Those that CI sets for other tests are not retrai's either.
    for name in [name for name in os.environ if name.startswith("RETRAI_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("RETRAI_MODLE", "offline")
    monkeypatch.setenv("RETRAI_DISABLED_PLUGINS", "x")
    monkeypatch.setenv("RETRAI_SOMEBODY_S_OWN_THING", "x")
    record = await runs.run([], max_iterations=1)
    said = [line for line in warnings(runs, record) if line.startswith("RETRAI_")]
    assert said == [
        "RETRAI_DISABLED_PLUGINS is no variable of retrai's (did you mean RETRAI_DISABLE_PLUGINS?)",
        "RETRAI_MODLE is no variable of retrai's (did you mean RETRAI_MODEL?)",
    ]


async def test_what_allow_edit_does_not_mean_is_told_with_the_nearest_and_its_file(
    runs: Runs,
) -> None:
    (runs.project / "checks" / "rules.txt").write_text("one\n")
    wrong, to_come = ["expectd.txt", "check/**"], ["checks/new.txt", "tests/**", "*.cfg", "checks"]
    patterns = ["expected.txt", "checks/**", "!checks/x", "steer.cfg", *wrong, *to_come]
    file = runs.project / ".retrai.yml"
    file.write_text(f"allow_edit: {patterns}\n")
    origins = load_settings(runs.project).origins
    record = await runs.run([], origins=origins, allow_edit=patterns, max_iterations=1)
    said = [line for line in warnings(runs, record) if line.startswith("allow_edit")]
    what = "means no file that the check protects"
    assert said == [
        f"allow_edit: `expectd.txt` {what} (did you mean expected.txt?) (from {file})",
        f"allow_edit: `check/**` {what} (did you mean checks/**?) (from {file})",
    ]


async def test_a_pattern_that_leaves_out_no_tool_is_told(runs: Runs) -> None:
    patterns = ["lo?k", "shel.*", "nowhere*"]
    record = await runs.run([], no_tools=patterns, max_iterations=1)
    said = [line for line in warnings(runs, record) if line.startswith("no_tools")]
    what = "means no tool that is installed"
    assert said == [
        f"no_tools: `shel.*` {what} (did you mean shell?)",
        f"no_tools: `nowhere*` {what}",
    ]
    config = runs.config([], no_tools=["one.*", "oen.*"])
    [line] = resolved(config).patterns_of_no_tool(["one.echo"])
    assert line == f"no_tools: `oen.*` {what} (did you mean one.*?)"


async def test_a_misspelt_setting_names_its_file(runs: Runs) -> None:
    file = runs.project / ".retrai.yml"
    file.write_text("max_iteratons: 3\ngoal: expected-text\n")
    settings = load_settings(runs.project)
    options, origins = settings.config.options, settings.origins
    with pytest.raises(UsageError) as caught:
        await runs.run([], goal="expected-text", origins=origins, options=options)
    assert caught.value.message.startswith("max_iteratons: neither a setting nor an option of")
    assert caught.value.message.endswith(f"(did you mean max_iterations?) (from {file})")


async def test_a_rule_about_no_tool_is_told_with_the_nearest(runs: Runs) -> None:
    fine = ["put: *.lock", "meddle", "needs:network", "needs: secrets:KEY", "nowhere*"]
    rules = {
        "deny": ["shel", *fine],
        "ask": ["lok: *.txt", "other_server.look"],
        "allow": ["entirely-different"],
    }
    record = await runs.run([], permissions=rules, max_iterations=1)
    said = [line for line in warnings(runs, record) if line.startswith("permissions")]
    where = "is about no tool that is installed"
    assert said == [
        f"permissions: deny: `shel` {where} (did you mean shell?)",
        f"permissions: ask: `lok: *.txt` {where} (did you mean look?)",
        f"permissions: allow: `entirely-different` {where}",
    ]


def test_a_rule_about_a_tool_of_a_server_is_told_only_where_the_server_is_there(
    runs: Runs,
) -> None:
    names = ["one.echo", "one.ecko", "oned.echo", "two.echoes", "rename_me", "one.left"]
    rules = {"deny": names}
    config = runs.config([], permissions=rules, no_tools=["*.left"])
    told = list(resolved(config).rules_about_no_tool(["one.echo", "rename_me"]))
    where = "is about no tool that is installed (did you mean one.echo?)"
    wrong = ["one.ecko", "oned.echo"]
    assert told == [f"permissions: deny: `{name}` {where}" for name in wrong]
    [line] = resolved(config).rules_about_no_tool(["two.echo", "rename_me"])
    assert line.startswith("permissions: deny: `two.echoes` ")
    assert line.endswith("(did you mean two.echo?)")


@pytest.mark.parametrize("verdict", ["deny", "ask", "allow"])
async def test_a_rule_about_a_need_that_is_none_is_an_error(runs: Runs, verdict: str) -> None:
    with pytest.raises(UsageError) as caught:
        await runs.run([], permissions={verdict: ["needs:read", "needs: wirte"]})
    message = f"permissions: {verdict}: `needs: wirte`: no tool needs that (did you mean write?)"
    assert caught.value.message == message
    assert caught.value.exit_code == 2
    assert caught.value.hint == "a tool may need read, write, run, network"


async def test_options_of_a_goal_below_plugins_are_refused_with_their_file(runs: Runs) -> None:
    file = runs.project / ".retrai.yml"
    file.write_text("plugins: {expected-text: {timout_s: 3}}\n")
    origins = load_settings(runs.project).origins
    with pytest.raises(UsageError, match="plugins: expected-text is a goal") as caught:
        await runs.run([], origins=origins, plugins={"expected-text": {"timout_s": 3}})
    assert caught.value.message.endswith(f"stand at the top level (from {file})")
    assert caught.value.hint == "move timout_s there, beside `goal: expected-text`"
