"""Tools whose names no model API takes."""

from __future__ import annotations

import re

from retrai_core.agents.tool_names import tool_called, wire_name


def test_a_plain_name_stays_as_it_is() -> None:
    assert wire_name("file_read") == "file_read"


def test_a_server_s_tool_has_no_dot_on_the_wire() -> None:
    assert wire_name("git.git_status") == "git__git_status"


def test_every_name_is_one_that_providers_take() -> None:
    for name in ("a.b", "server.x/y z", "s." + "long" * 50, "é.tool"):
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", wire_name(name))


def test_long_names_that_begin_alike_stay_apart() -> None:
    assert wire_name("s." + "x" * 100 + "1") != wire_name("s." + "x" * 100 + "2")


def test_what_a_model_calls_is_found_by_either_name() -> None:
    names = ["git.git_status", "file_read"]
    assert tool_called("git__git_status", names) == "git.git_status"
    assert tool_called("git.git_status", names) == "git.git_status"
    assert tool_called("file_read", names) == "file_read"
    assert tool_called("no_such_tool", names) == "no_such_tool"
