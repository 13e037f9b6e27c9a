"""`retrai tools list` reads manifests only."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

RIGHT = ("write_answer", {"text": "42"})


def test_each_tool_stands_with_its_needs_and_its_source(retrai, toy) -> None:
    sys.modules.pop("retrai_toy", None)
    code, out, _ = retrai("tools", "list")
    assert code == 0
    row = next(line for line in out.splitlines() if line.startswith("write_answer"))
    assert row.split()[1:4] == ["read,write", "retrai-toy", "1.0"]
    row = next(line for line in out.splitlines() if line.startswith("report_impossible"))
    assert row.split()[4] == "always"
    assert "run time" in out
    assert "retrai_toy" not in sys.modules


def test_the_list_as_json(retrai, toy) -> None:
    code, out, _ = retrai("tools", "list", "--json")
    assert code == 0
    shell = next(tool for tool in json.loads(out)["tools"] if tool["name"] == "shell")
    assert (shell["dist"], shell["needs"]) == ("retrai-toy", ["run"])


def offered(retrai, arguments: list[str], *more: object) -> set[str]:
    """The tools of a run, as its system prompt lists them."""
    code, out, err = retrai(*arguments, *more, "--json")
    assert code == 0, err
    run = json.loads(out)["id"]
    folder = Path(os.environ["RETRAI_STATE_DIR"]) / "runs" / run
    lines = (folder / "system_prompt.txt").read_text().partition("Your tools:\n")[2]
    names = [line[2:].partition(":")[0] for line in lines.partition("\n\n")[0].splitlines()]
    return set(names) - {"report_impossible", "web_fetch", "web_search"}


@pytest.fixture
def ask(retrai, toy, project: Path) -> Callable[..., set[str]]:
    """The tools of a run whose project says this."""
    arguments = toy([RIGHT])

    def tools(text: str = "", *more: object) -> set[str]:
        (project / "answer.txt").unlink(missing_ok=True)
        (project / ".retrai.yml").write_text(f"memory: none\n{text}\n")
        return offered(retrai, arguments, *more)

    return tools


def test_a_run_has_the_goal_s_tools_and_those_that_are_offered_always(ask) -> None:
    assert ask() == {"write_answer", "shell", "look_up"}
    assert ask("no_tools: [look_up]") == {"write_answer", "shell"}


def test_a_plain_list_replaces_the_set(ask) -> None:
    assert ask("tools: [write_answer]") == {"write_answer"}


@pytest.mark.parametrize("sandbox", ["auto", "local"])
def test_tools_of_the_network_are_offered_as_the_sandbox_s_settings_allow(
    ask, sandbox: str
) -> None:
    pytest.importorskip("retrai_sandbox_bwrap")
    text = f"sandbox: {sandbox}\nplugins: {{bwrap: {{network: 'off'}}}}"
    assert ("look_up" in ask(text)) is (sandbox == "local")
    assert "look_up" in ask(f"{text}\ntools: [+look_up]")  # the user's own word
    assert "look_up" in ask("sandbox: auto\nplugins: {bwrap: {network: 'auto'}}")


def test_signs_add_to_the_set_and_remove_from_it(ask) -> None:
    assert ask("tools: [-shell, +look_up]") == {"write_answer", "look_up"}
    assert ask("tools: [-look_up]") == {"write_answer", "shell"}
    assert ask("", "--tools", "-shell,-look_up") == {"write_answer"}
    assert ask("", "--tools", "+shell") == {"write_answer", "shell", "look_up"}


def test_signs_change_what_an_earlier_source_says(ask, own_folders: Path) -> None:
    user = own_folders / "config" / "retrai" / "config.yml"
    user.parent.mkdir(parents=True)
    user.write_text("tools: [-look_up]\n")
    assert ask("tools: [-shell]") == {"write_answer"}
    assert ask("tools: [-shell]", "--tools", "+shell") == {"write_answer", "shell"}
    assert ask("tools: [write_answer]", "--tools", "+look_up") == {"write_answer", "look_up"}


@pytest.mark.parametrize(
    ("tools", "words"),
    [
        ("[+look_up, shell]", "tools: either all names have a sign"),
        ("[+lok_up]", "did you mean `look_up`?"),
        ("[-lok_up]", "did you mean `look_up`?"),
        ("[-report_impossible]", "tools: every run has the tool report_impossible"),
    ],
)
def test_signs_that_say_nothing_clear_are_refused(
    retrai, toy, project: Path, tools: str, words: str
) -> None:
    arguments = toy([RIGHT])
    (project / ".retrai.yml").write_text(f"memory: none\ntools: {tools}\n")
    code, _, err = retrai(*arguments)
    assert code == 2
    assert words in err
    assert "every run" in words or str(project / ".retrai.yml") in err


def test_the_list_says_which_runs_get_a_tool(retrai, toy) -> None:
    tools = json.loads(retrai("tools", "list", "--json")[1])["tools"]
    found = {tool["name"]: tool["offered"] for tool in tools}
    assert (found["look_up"], found["shell"]) == ("always", "by_goal")


def test_the_doctor_plans_with_the_same_tools(retrai, toy, project: Path) -> None:
    toy()
    (project / ".retrai.yml").write_text("memory: none\ntools: [-shell]\n")
    plan = json.loads(retrai("plugins", "doctor", "-C", project, "--json")[1])["plan"]
    names = {part["name"] for part in plan["parts"] if part["kind"] == "tool"}
    assert {"write_answer", "look_up"} <= names
    assert "shell" not in names
