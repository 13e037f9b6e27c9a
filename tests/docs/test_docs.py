"""The documentation names what the code has: a setting, hook, group or command that is not
documented fails here, and so does one that is documented and gone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from retrai_core.cli.main import COMMANDS
from retrai_core.config.model import RunConfig
from retrai_core.config.sources import BY_VARIABLE
from retrai_core.contracts.record import EXIT_CODES
from retrai_core.plugins.kinds import GROUP_OF

ROOT = Path(__file__).parents[2]
CONFIGURATION = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
WRITING = (ROOT / "docs" / "plugins" / "writing.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")])


def first_column(text: str, heading: str) -> dict[str, str]:
    """The rows of the first table below `heading`: name in backticks -> the second cell."""
    section = re.split(rf"^##+ {heading}$", text, maxsplit=1, flags=re.MULTILINE)[1]
    section = re.split(r"^##+ ", section, maxsplit=1, flags=re.MULTILINE)[0]
    rows = re.findall(r"^\| `([^`]+)` \| ([^|]*) \|", section, re.MULTILINE)
    return {name: cell.strip() for name, cell in rows}


def test_every_setting_is_documented_and_none_that_is_gone() -> None:
    internal = {"cwd", "run_id", "options"}
    names = {field.alias or name for name, field in RunConfig.model_fields.items()}
    assert set(first_column(CONFIGURATION, "Settings")) == names - internal


def test_every_setting_of_the_environment_is_documented() -> None:
    for name in BY_VARIABLE:
        assert f"`RETRAI_{name.upper()}`" in CONFIGURATION, name


def test_documented_defaults_are_the_real_ones() -> None:
    documented = first_column(CONFIGURATION, "Settings")
    for name, field in RunConfig.model_fields.items():
        shown = documented.get(field.alias or name, "")
        if shown.startswith("`"):
            default = field.default
            said = str(default).lower() if isinstance(default, bool) else str(default)
            assert shown == f"`{said}`", name


def test_every_group_is_documented() -> None:
    assert set(first_column(WRITING, "Groups")) == set(GROUP_OF.values())


def test_every_outcome_is_documented_with_its_exit_code() -> None:
    documented = first_column(README, "Outcomes")
    assert {name: int(code) for name, code in documented.items()} == EXIT_CODES


def test_every_command_is_documented() -> None:
    for name in COMMANDS:
        assert f"retrai {name}" in README, name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []
