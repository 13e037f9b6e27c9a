"""`retrai ask`, its output, its errors and its exit codes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from .wire import Call, Wire

QUESTION = "How is the total of a cart made?"
Retrai = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def retrai(retrai_here: Retrai, shop: Path) -> Retrai:
    """Runs a command in the project."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return retrai_here(*words, env=dict(os.environ), cwd=shop)

    return run


def test_without_a_key_the_index_answers_with_verified_citations(retrai: Retrai) -> None:
    done = retrai("ask", QUESTION)
    assert done.returncode == 0, done.stderr
    answer, told = done.stdout, done.stderr
    assert answer.startswith("The best match is `Cart.total` (`shop/cart.py:12-14`)")
    assert "> The sum of the prices of all items." in answer
    assert "- Called by `checkout` (`shop/cart.py:17-19`)" in answer
    assert "- Calls `price_of` (`shop/prices.py:6-8`)" in answer
    assert "```python\n    def total(self):" in answer
    assert "No model wrote this answer" in answer
    assert "[unverified]" not in answer
    assert "model extractive, since no key" in told
    assert "[ ] Search the definitions that match the question" in told
    assert "[x] Follow the calls of the best matches" in told
    assert "search_codebase How is the total of a cart made?" in told
    assert "answered with" in told


def test_json_prints_the_record_and_continue_goes_on_with_it(retrai: Retrai) -> None:
    first = json.loads(retrai("ask", QUESTION, "--json").stdout)
    assert (first["status"], first["agent"], first["model"]) == (
        "answered",
        "research",
        "extractive",
    )
    assert first["data"]["citations"]
    assert all(each["verified"] for each in first["data"]["citations"])
    second = json.loads(retrai("ask", "--continue", "Who calls price_of?", "--json").stdout)
    assert second["continues"] == first["id"]
    assert [turn["content"] for turn in second["data"]["chat_history"][::2]] == [
        QUESTION,
        "Who calls price_of?",
    ]
    assert second["output"].startswith("The best match is `price_of`")
    again = retrai("ask", "--continue", first["id"], "And?", "--json")
    assert json.loads(again.stdout)["continues"] == first["id"]
    assert first["id"] in retrai("runs", "list").stdout
    assert "Cart.total" in retrai("runs", "show", first["id"]).stdout


def test_verbose_prints_each_nodes_update(retrai: Retrai) -> None:
    told = retrai("ask", QUESTION, "--verbose").stderr
    assert 'planner: {"plan": ["Search the definitions' in told
    assert 'refinery: {"loop_decision": "FINISH"}' in told
    assert "synthesizer: " in told


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("ask",), "no question is given, and there is no terminal"),
        (("ask", ""), "the question is empty"),
        (("ask", " \n "), "the question is empty"),
        (("ask", "--json"), "--json needs a question"),
        (("ask", "Why?", "--continue"), "no question was asked about this project yet"),
        (("ask", "Why?", "--continue", "nosuchrun"), "--continue: "),
        (("ask", "Why?", "-C", "nowhere"), "no such folder"),
        (("ask", "Why?", "-n", "0"), "max_iterations"),
    ],
)
def test_what_cannot_be_asked_is_one_clear_line(
    retrai: Retrai, words: tuple[str, ...], message: str
) -> None:
    done = retrai(*words)
    assert done.returncode == 2
    error = next(line for line in done.stderr.splitlines() if line.startswith("error: "))
    assert message in error
    assert done.stdout == ""


def test_a_question_goes_on_from_none_about_another_project(
    retrai: Retrai, shop: Path, tmp_path: Path
) -> None:
    first = json.loads(retrai("ask", "What is a cart?", "--json").stdout)
    other = tmp_path / "another shop"
    shutil.copytree(shop, other)
    done = retrai("ask", "And?", "--continue", first["id"], "-C", str(other))
    assert done.returncode == 2
    assert f"run {first['id']} is about another project, {shop}" in done.stderr
    assert f"`-C {shop}` names it" in done.stderr


def test_an_empty_project_and_a_long_question_are_answered(retrai: Retrai, shop: Path) -> None:
    for file in shop.rglob("*.py"):
        file.unlink()
    done = retrai("ask", "How does " + "a cart and " * 1000 + "its total work?")
    assert done.returncode == 0
    assert done.stdout.startswith("Nothing in the project's code fits this question.")


def test_a_projects_goal_is_no_goal_of_a_question(retrai: Retrai, shop: Path) -> None:
    (shop / ".retrai.yml").write_text("goal: shell-goal\ncheck_command: 'false'\nmodel: offline\n")
    done = retrai("ask", QUESTION)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("The best match is `Cart.total`")
    assert "the model offline only fixes code" in done.stderr


def test_the_graph_is_drawn_without_a_project(retrai_here: Retrai, tmp_path: Path) -> None:
    done = retrai_here("agents", "graph", "research", "--json", env=dict(os.environ), cwd=tmp_path)
    graph = json.loads(done.stdout)
    assert set(graph["nodes"]) == {
        *("__start__", "planner", "setup_executor", "executor_llm", "tool_node", "aggregate"),
        *("refinery", "synthesizer", "__end__"),
    }
    edges = {(edge["source"], edge["target"], edge["conditional"]) for edge in graph["edges"]}
    assert edges == {
        ("__start__", "planner", False),
        ("planner", "setup_executor", False),
        ("setup_executor", "executor_llm", False),
        ("executor_llm", "tool_node", True),
        ("executor_llm", "aggregate", True),
        ("tool_node", "executor_llm", False),
        ("aggregate", "refinery", False),
        ("refinery", "planner", True),
        ("refinery", "synthesizer", True),
        ("synthesizer", "__end__", False),
    }


def test_a_killed_run_resumes_and_repeats_no_finished_call(
    retrai: Retrai, shop: Path, wire: Wire
) -> None:
    search: list[Call] = [("search_codebase", {"query": "total"})]
    wire.script = {
        "planner": ['["Find it"]'],
        "executor": [search, "It is `Cart.total`."],
        "refinery": ['{"decision": "FINISH", "reason": "found"}'],
        "synthesizer": ["See `shop/cart.py:12-14`."],
    }
    settings = f"model: openai/scripted\nplugins: {{litellm: {{api_base: '{wire.url}'}}}}\n"
    (shop / ".retrai.yml").write_text(settings)
    child = subprocess.Popen(
        [sys.executable, "-m", "retrai_core", "ask", QUESTION, "--trust"],
        cwd=shop,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

    def kill(node: str) -> None:
        if node == "refinery" and child.poll() is None:
            os.kill(child.pid, signal.SIGKILL)
            child.wait()

    wire.before = kill
    assert child.wait(timeout=120) == -signal.SIGKILL
    (run,) = json.loads(retrai("runs", "list", "--json").stdout)
    before = list(wire.asked)
    done = retrai("runs", "resume", run["id"], "--json")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["output"] == "See `shop/cart.py:12-14`."
    assert record["data"]["unverified"] == 0
    assert [node for node in before if node != "refinery"] == ["planner", "executor", "executor"]
    assert wire.asked[len(before) :] == ["refinery", "synthesizer"]
