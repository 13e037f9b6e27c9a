"""Every branch of the graph, driven by a scripted model over the wire."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from retrai_core import RunManager, UsageError

from .conftest import Ask
from .wire import Call, Wire

pytestmark = pytest.mark.asyncio

QUESTION = "How is the total of a cart made?"
SEARCH = [("search_codebase", {"query": "total of a cart"})]
READ = [("read_file", {"file_path": "shop/cart.py", "start_line": 12, "end_line": 14})]
CONTINUE = json.dumps({"decision": "CONTINUE", "reason": "more"})
FINISH = json.dumps({"decision": "FINISH", "reason": "enough"})
ANSWER = "`Cart.total` sums up the prices (`shop/cart.py:12-14`)."
STEP = ["setup_executor", "executor_llm", "aggregate", "refinery"]


def script(**nodes: list[Any]) -> dict[str, list[Any]]:
    usual = {
        "planner": ['["Find the total"]'],
        "executor": ["It is `Cart.total`."],
        "refinery": [FINISH],
        "synthesizer": [ANSWER],
    }
    return usual | nodes


async def test_a_question_goes_through_the_whole_graph(ask: Ask, wire: Wire) -> None:
    wire.script = script(executor=[SEARCH, READ, "It is `Cart.total`."])
    asked = await ask(QUESTION, wire)
    assert asked.record.status == "answered"
    assert asked.record.output == ANSWER
    assert asked.nodes() == [
        "planner",
        "setup_executor",
        *["executor_llm", "tool_node"] * 2,
        *["executor_llm", "aggregate", "refinery", "synthesizer"],
    ]
    (citation,) = asked.record.data["citations"]
    assert citation == {
        "path": "shop/cart.py",
        "lines": "12-14",
        "verified": True,
        "reason": "",
    }
    assert asked.record.data["unverified"] == 0
    assert asked.record.reason == "answered with 1 citation, none unverified"
    assert asked.record.exit_code == 0
    assert asked.progress("plan")[-1] == {"steps": [{"step": "Find the total", "done": True}]}
    assert asked.progress("finding") == [{"step": "Find the total", "text": "It is `Cart.total`."}]
    (synthesis,) = wire.prompts("synthesizer")
    assert "## step_1: Find the total" in synthesis
    assert "def total(self)" in synthesis
    assert "\n---\n" in synthesis


async def test_lines_that_no_tool_returned_are_marked(ask: Ask, wire: Wire) -> None:
    listed = [("list_directory", {"path": "shop"}), ("find_files", {"pattern": "**/*.py"})]
    wire.script = script(executor=[listed, "done"], synthesizer=["See shop/prices.py:7."])
    asked = await ask(QUESTION, wire)
    assert asked.record.output == "See shop/prices.py:7 [unverified]."
    assert asked.record.data["citations"][0]["reason"] == "no tool returned these lines"
    assert asked.record.data["unverified"] == 1


async def test_the_rest_of_a_plan_is_passed_through_without_asking(ask: Ask, wire: Wire) -> None:
    wire.script = script(planner=['["one", "two", "three"]'], refinery=[CONTINUE, CONTINUE, FINISH])
    asked = await ask(QUESTION, wire)
    assert wire.asked.count("planner") == 1
    assert asked.record.data["iterations"] == 1
    assert asked.nodes() == [*(["planner", *STEP] * 3), "synthesizer"]
    keys = [key for each in asked.progress("state") for key in each["update"].get("findings", {})]
    assert keys[-3:] == ["step_1: one", "step_2: two", "step_3: three"]


async def test_a_plan_that_is_done_is_made_anew(ask: Ask, wire: Wire) -> None:
    wire.script = script(planner=['["one"]', '["two"]'], refinery=[CONTINUE, FINISH])
    asked = await ask(QUESTION, wire)
    assert asked.record.data["iterations"] == 2
    assert "## step_1: one\nIt is `Cart.total`." in wire.prompts("planner")[1]
    assert "## step_2: two" in wire.prompts("synthesizer")[0]


async def test_replan_each_step_asks_for_a_plan_after_each_step(ask: Ask, wire: Wire) -> None:
    wire.script = script(planner=['["one", "two"]', '["three"]'], refinery=[CONTINUE, FINISH])
    asked = await ask(QUESTION, wire, agents={"research": {"replan": "each_step"}})
    assert wire.asked.count("planner") == 2
    assert "## step_2: three" in wire.prompts("synthesizer")[0]
    assert asked.record.data["iterations"] == 2


@pytest.mark.parametrize("answer", ["I would look at the cart [1].", 500])
async def test_a_planner_that_gives_no_list_gets_the_plain_step(
    ask: Ask, wire: Wire, answer: Any
) -> None:
    wire.script = script(planner=[answer], executor=["done"])
    plugins = {"litellm": {"api_base": wire.url, "max_retries": 0}}
    asked = await ask(QUESTION, model="openai/scripted", plugins=plugins)
    step = "Search for relevant code related to the query"
    assert asked.progress("plan")[0]["steps"] == [{"step": step, "done": False}]
    assert asked.record.status == "answered"


async def test_an_empty_plan_is_said_to_be_one(ask: Ask, wire: Wire) -> None:
    wire.script = script(planner=["[]"])
    asked = await ask(QUESTION, wire)
    assert asked.record.status == "answered"
    executor = wire.bodies[wire.asked.index("executor")]
    assert "The plan has no steps" in executor["messages"][-1]["content"]


async def test_a_step_without_any_result_says_so(ask: Ask, wire: Wire) -> None:
    wire.script = script(executor=[""])
    await ask(QUESTION, wire)
    assert "No results found" in wire.prompts("synthesizer")[0]


async def test_each_step_begins_with_messages_of_its_own(ask: Ask, wire: Wire) -> None:
    wire.script = script(planner=['["one", "two"]'], executor=[SEARCH, "a", "b"],
                         refinery=[CONTINUE, FINISH])  # fmt: skip
    await ask(QUESTION, wire)
    first, second, third = (
        body["messages"]
        for node, body in zip(wire.asked, wire.bodies, strict=True)
        if node == "executor"
    )
    assert [each["role"] for each in first] == ["system", "user"]
    assert [each["role"] for each in second] == ["system", "user", "assistant", "tool"]
    assert [each["role"] for each in third] == ["system", "user"]
    assert third[1]["content"].strip() == "Step 2 of 2: two"
    assert "## step_1: one" in third[0]["content"]


async def test_the_limit_of_calls_ends_a_step(ask: Ask, wire: Wire) -> None:
    wire.script = script(executor=[SEARCH])
    asked = await ask(QUESTION, wire, agents={"research": {"max_executor_steps": 3}})
    assert wire.asked.count("executor") == 3
    assert asked.nodes().count("tool_node") == 2
    assert asked.record.status == "answered"


async def test_a_refinery_that_never_ends_is_ended_at_the_limit(ask: Ask, wire: Wire) -> None:
    wire.script = script(refinery=[CONTINUE])
    asked = await ask(QUESTION, wire, max_iterations=3)
    assert asked.record.status == "answered"
    assert wire.asked.count("planner") == 3
    assert wire.asked.count("refinery") == 2
    assert "at its limit of 3 iterations (`max_iterations`)" in asked.record.output


async def test_without_a_limit_of_its_own_it_ends_after_ten_plans(ask: Ask, wire: Wire) -> None:
    wire.script = script(refinery=[CONTINUE])
    asked = await ask(QUESTION, wire)
    assert wire.asked.count("planner") == 10
    assert asked.record.limits.max_iterations == 10


async def test_the_environment_sets_the_limits(
    ask: Ask, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RETRAI_AGENTS__RESEARCH__MAX_ITERATIONS", "2")
    monkeypatch.setenv("RETRAI_AGENTS__RESEARCH__MAX_EXECUTOR_STEPS", "1")
    wire.script = script(executor=[SEARCH], refinery=[CONTINUE])
    await ask(QUESTION, wire)
    assert (wire.asked.count("planner"), wire.asked.count("executor")) == (2, 2)


@pytest.mark.parametrize("answer", ['{"decision": "MAYBE"}', 500])
async def test_a_refinery_without_a_decision_continues_while_steps_are_left(
    ask: Ask, wire: Wire, answer: Any
) -> None:
    wire.script = script(planner=['["one", "two"]'], refinery=[answer])
    plugins = {"litellm": {"api_base": wire.url, "max_retries": 0}}
    asked = await ask(QUESTION, model="openai/scripted", plugins=plugins)
    assert (wire.asked.count("planner"), wire.asked.count("executor")) == (1, 2)
    assert [each["decision"] for each in asked.progress("decision")] == ["CONTINUE", "FINISH"]


async def test_a_tool_that_fails_or_is_unknown_is_a_message(ask: Ask, wire: Wire) -> None:
    calls: list[Call] = [
        ("read_file", {"file_path": "../../etc/passwd"}),
        ("read_file", {"file_path": "/etc/passwd"}),
        ("open_pod_bay_doors", {}),
        ("search_codebase", {"n_results": "many"}),
    ]
    wire.script = script(executor=[calls, "I could not."])
    asked = await ask(QUESTION, wire)
    assert asked.record.status == "answered"
    assert [each["error"] for each in asked.results()] == [True] * 4
    last = wire.bodies[wire.asked.index("synthesizer") - 2]["messages"]
    assert [each["role"] for each in last] == ["system", "user", "assistant", *["tool"] * 4]
    assert "no tool 'open_pod_bay_doors'" in last[5]["content"]
    assert "root:" not in json.dumps(wire.bodies)
    assert asked.record.data["evidence"] == {}


async def test_an_empty_answer_is_made_of_the_findings(ask: Ask, wire: Wire) -> None:
    wire.script = script(executor=[SEARCH, "done"], synthesizer=[""])
    asked = await ask(QUESTION, wire)
    assert "`Cart.total` (`shop/cart.py:12-14`)" in asked.record.output
    assert "The model wrote no answer" in asked.record.output
    assert asked.record.data["unverified"] == 0


async def test_a_token_budget_ends_with_what_was_found(ask: Ask, wire: Wire) -> None:
    wire.script = script(executor=[SEARCH, "done"], refinery=[CONTINUE])
    asked = await ask(QUESTION, wire, max_tokens=6000)
    record = asked.record
    assert (record.status, record.exit_code) == ("budget", 6)
    assert "`Cart.total` (`shop/cart.py:12-14`)" in record.output
    assert "The run ended before an answer was written" in record.output
    assert record.data["unverified"] == 0
    assert "--max-tokens" in record.next_step


async def test_a_run_that_continues_another_knows_its_conversation_and_evidence(
    ask: Ask, wire: Wire
) -> None:
    wire.script = script(executor=[READ, "done"])
    first = await ask(QUESTION, wire)
    wire.script = script(executor=["nothing new"])
    wire.asked.clear()
    wire.bodies.clear()
    second = await ask("Is that all?", wire, continues=first.record.id)
    assert second.record.output == ANSWER
    assert f"Question: {QUESTION}\nAnswer: {ANSWER}" in wire.prompts("planner")[0]
    roles = [turn["role"] for turn in second.record.data["chat_history"]]
    assert roles == ["user", "assistant"] * 2


async def test_a_file_that_has_changed_since_is_no_evidence(
    ask: Ask, wire: Wire, shop: Path
) -> None:
    wire.script = script(executor=[READ, "done"])
    first = await ask(QUESTION, wire)
    assert first.record.data["unverified"] == 0
    cart = shop / "shop/cart.py"
    cart.write_text(cart.read_text() + "# new\n")
    wire.script = script(executor=["nothing new"])
    second = await ask("Is that all?", wire, continues=first.record.id)
    assert second.record.data["evidence"] == {}
    assert second.record.data["unverified"] > 0


async def test_a_mentioned_file_and_folder_stand_before_the_planner(ask: Ask, wire: Wire) -> None:
    wire.script = script(synthesizer=["shop/prices.py:3 and shop/cart.py:3"])
    asked = await ask("What is in @shop/prices.py, @shop and @pytest.fixture?", wire)
    (prompt,) = wire.prompts("planner")
    assert '3\tPRICES = {"tea": 3}' in prompt
    assert "## @shop\nshop/cart.py\nshop/prices.py" in prompt
    assert "## @pytest" not in prompt
    assert asked.record.output == "shop/prices.py:3 and shop/cart.py:3 [unverified]"


async def test_prompts_come_from_files(ask: Ask, wire: Wire, shop: Path) -> None:
    (shop / "plan.txt").write_text("You plan research on {input} with {{braces}}.")
    wire.script = script()
    await ask(QUESTION, wire, agents={"research": {"prompts": {"plan": "plan.txt"}}})
    assert wire.prompts("planner") == [f"You plan research on {QUESTION} with {{braces}}."]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{question}", "unknown variable `{question}`"),
        ("{input.__class__}", "unknown variable `{input.__class__}`"),
        ("{input!r}", "unknown variable `{input!r}`"),
        ("{current_step}", "unknown variable `{current_step}`"),
        ("{", "single '{' encountered"),
        (None, "it cannot be read"),
    ],
)
async def test_a_prompt_that_cannot_be_filled_in_is_an_error_before_the_run(
    ask: Ask, shop: Path, text: str | None, message: str
) -> None:
    if text is not None:
        (shop / "plan.txt").write_text(text)
    with pytest.raises(UsageError) as error:
        await ask(QUESTION, agents={"research": {"prompts": {"plan": "plan.txt"}}})
    assert "agents.research.prompts.plan: plan.txt" in str(error.value)
    assert message in str(error.value)
    async with RunManager() as manager:
        assert await manager.list() == []


async def test_events_carry_the_state_in_small(ask: Ask, wire: Wire) -> None:
    wire.script = script(executor=["x" * 100_000])
    asked = await ask(QUESTION, wire)
    states = asked.progress("state")
    assert [each["node"] for each in states] == asked.nodes()
    assert len(json.dumps(states)) < 10_000


async def test_secrets_of_the_project_reach_no_prompt(ask: Ask, wire: Wire, shop: Path) -> None:
    secret = "hunter2hunter2hunter2"
    (shop / ".env").write_text(f"API_TOKEN={secret}\n")
    (shop / "keys.py").write_text(f'TOKEN = "{secret}"\n')
    wire.script = script(executor=[[("read_file", {"file_path": "keys.py"})], "done"])
    asked = await ask("What is in @keys.py?", wire)
    assert secret not in json.dumps(wire.bodies)
    assert secret not in asked.record.model_dump_json()
    assert os.environ["RETRAI_STATE_DIR"]
