"""Settings that do nothing are told or refused, each with the name that was probably meant."""

from __future__ import annotations

import os
from typing import Any

import pytest

from retrai_core.errors import UsageError
from retrai_core.settings import load_settings

Runs = Any
"""The fixture's class, in conftest.py."""


def warnings(runs: Runs, record: Any) -> list[str]:
    said = [event.payload for event in runs.events(record, "log")]
    return [payload["message"] for payload in said if payload["level"] == "warning"]


async def test_a_name_that_disables_nothing_is_told_with_the_nearest(runs: Runs) -> None:
    names = ["burts", "nothing-like-it", "asks", "Scripted_Plugins@none"]
    record = await runs.run([], disabled_plugins=names, max_iterations=1)
    said = [line for line in warnings(runs, record) if line.startswith("disabled_plugins")]
    where = "is neither a plugin nor a distribution"
    assert said[0] == f"disabled_plugins: burts {where} (did you mean burst?)"
    assert said[1].startswith(f"disabled_plugins: nothing-like-it {where}")
    assert len(said) == 3


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


async def test_a_misspelt_setting_names_its_file(runs: Runs) -> None:
    file = runs.project / ".retrai.yml"
    file.write_text("max_iteratons: 3\ngoal: expected-text\n")
    options = load_settings(runs.project).config.options
    with pytest.raises(UsageError) as caught:
        await runs.run([], goal="expected-text", options=options)
    assert caught.value.message.startswith("max_iteratons: neither a setting nor an option of")
    assert caught.value.message.endswith(f"(did you mean max_iterations?) (from {file})")
