"""`retrai tools list` reads manifests only."""

from __future__ import annotations

import json
import sys


def test_each_tool_stands_with_its_needs_and_its_source(retrai, toy) -> None:
    sys.modules.pop("retrai_toy", None)
    code, out, _ = retrai("tools", "list")
    assert code == 0
    row = next(line for line in out.splitlines() if line.startswith("write_answer"))
    assert row.split()[1:4] == ["read,write", "retrai-toy", "1.0"]
    assert "run time" in out
    assert "retrai_toy" not in sys.modules


def test_the_list_as_json(retrai, toy) -> None:
    code, out, _ = retrai("tools", "list", "--json")
    assert code == 0
    shell = next(tool for tool in json.loads(out)["tools"] if tool["name"] == "shell")
    assert (shell["dist"], shell["needs"]) == ("retrai-toy", ["run"])
