"""The page about the registry names what the code has, and its manifest is one."""

from __future__ import annotations

import re
from pathlib import Path

from retrai_core.plugins.kinds import KINDS, STATUSES, table_of
from retrai_core.plugins.manifest import parse_manifest
from retrai_plugin_dev.manifest_text import manifest_text

PAGE = Path(__file__).parents[2] / "docs" / "plugins" / "registry.md"


def test_every_status_and_table_is_documented() -> None:
    text = PAGE.read_text("utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)) == set(STATUSES)
    for kind in KINDS:
        assert f"`{table_of(kind)}`" in text


def test_the_manifest_on_the_page_is_what_would_be_written() -> None:
    example = PAGE.read_text("utf-8").partition("```toml\n")[2].partition("```")[0]
    written = manifest_text(parse_manifest(example.encode(), "registry.md"))
    assert written.partition("\n")[2] == example
