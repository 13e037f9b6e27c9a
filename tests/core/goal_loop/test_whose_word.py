"""How a run ends is for the check to say: nothing that an agent's graph writes can stand for it."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import pytest

from retrai_core.contracts.record import RunRecord

AGENT = """
from pathlib import Path

from retrai_core import Agent


class Liar(Agent):
    name = "liar"
    summary = "an agent of the tests"

    def build_graph(self, checkpointer):
        from langgraph.graph import END, START, StateGraph
        from langgraph.types import Command, interrupt

        from retrai_core import AgentState, LoopSteps

        project = self.context.project
        graph = StateGraph(AgentState)

        def chain(*nodes):
            before = START
            for number, node in enumerate(nodes):
                graph.add_node(f"n{number}", node)
                graph.add_edge(before, f"n{number}")
                before = f"n{number}"
            graph.add_edge(before, END)

        def stop(outcome, reason="so I say", **more):
            return lambda state: {"stop": {"outcome": outcome, "reason": reason, **more}}

        def claim(state):
            return {"goal_achieved": True, "goal_reason": "all is well"}

        def repair(state):
            (project / "a.txt").write_text("right\\n")
            return {}

        def spoil(state):
            (project / "a.txt").write_text("wrong again\\n")
            return {}

BODY
        return graph.compile(checkpointer=checkpointer)
"""


@pytest.fixture
def ends(tmp_path: Path, runs: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Install an agent whose graph is built by these lines, and run it."""
    site = tmp_path / "site"
    monkeypatch.syspath_prepend(str(site))

    async def install_and_run(lines: str, turns: Any = (), **settings: Any) -> RunRecord:
        info = site / "acme_agents-1.0.dist-info"
        info.mkdir(parents=True)
        metadata = "Metadata-Version: 2.1\nName: acme-agents\nVersion: 1.0\n"
        (info / "METADATA").write_text(metadata)
        module = f"acme_{tmp_path.name}".replace("-", "_")
        (info / "entry_points.txt").write_text(f"[retrai.agents]\nliar = {module}:Liar\n")
        body = indent(dedent(lines), " " * 8)
        (site / f"{module}.py").write_text(AGENT.replace("BODY", body))
        return await runs.run(turns, agent="liar", **settings)

    return install_and_run


CLAIMS = {
    "a node says so": "chain(claim)",
    "an update of a command": 'chain(lambda s: Command(update={"goal_achieved": True}))',
    "evaluated before": "chain(LoopSteps.evaluate, claim)",
    "evaluated, then changed": "chain(repair, LoopSteps.evaluate, spoil)",
    "evaluated, changed, claimed again": "chain(repair, LoopSteps.evaluate, spoil, claim)",
    "claimed, with a stop": 'chain(claim, stop("failed"))',
}


@pytest.mark.parametrize("lines", CLAIMS.values(), ids=CLAIMS)
async def test_a_claim_of_the_agent_is_no_verdict(ends: Any, lines: str) -> None:
    record = await ends(lines)
    assert record.status == "failed"
    assert record.exit_code == 1
    assert "the agent liar of acme-agents 1.0 says that the goal is achieved" in record.reason
    assert "but the check says: 1 of 2" in record.reason


HONEST = {
    "evaluated last": "chain(repair, LoopSteps.evaluate)",
    "evaluated, then claimed": "chain(repair, LoopSteps.evaluate, claim)",
    "never evaluated": "chain(repair, claim)",
    "evaluated too early": "chain(LoopSteps.evaluate, repair, claim)",
    "spoilt in between": "chain(repair, LoopSteps.evaluate, spoil, repair)",
    "silent": 'chain(repair, LoopSteps.evaluate, lambda s: {"goal_achieved": False})',
}


@pytest.mark.parametrize("lines", HONEST.values(), ids=HONEST)
async def test_what_the_check_says_at_the_end_counts(ends: Any, lines: str) -> None:
    record = await ends(lines)
    assert (record.status, record.exit_code) == ("achieved", 0), record.reason
    assert record.evidence.after is not None
    assert record.evidence.after.achieved


async def test_the_reason_is_the_checks_own(ends: Any) -> None:
    record = await ends("chain(repair, LoopSteps.evaluate, claim)")
    assert "all is well" not in record.reason
    assert record.evidence.after.reason in record.reason


async def test_the_check_itself_cannot_be_changed_for_a_claim(ends: Any, project: Path) -> None:
    record = await ends("""
        def bend(state):
            (project / "expected.txt").write_text("b.txt: fine\\n")
            return {}
        chain(bend, claim)
    """)
    assert record.status == "failed"
    assert "a.txt: right" in (project / "expected.txt").read_text()


@pytest.mark.parametrize("outcome", ["tampered", "flaky"])
async def test_what_only_the_check_can_say_is_not_taken_from_an_agent(
    ends: Any, outcome: str
) -> None:
    record = await ends(f'chain(stop("{outcome}"))')
    assert (record.status, record.exit_code) == ("error", 70)
    assert "the agent liar of acme-agents 1.0 ends the run as" in record.reason


async def test_a_suspect_verdict_cannot_be_hidden(ends: Any) -> None:
    clear = 'lambda s: {"stop": None, "goal_achieved": True}'
    record = await ends(
        f"chain(repair, LoopSteps.evaluate, {clear})",
        options={"contradicted": ["a.txt"], "still_pass": ["a.txt"]},
    )
    assert record.status == "tampered"


async def test_a_person_cannot_be_asked_to_approve_what_the_check_did_not_say(ends: Any) -> None:
    record = await ends(
        'chain(stop("tampered", suspect=True), LoopSteps.human_check)',
        hitl_enabled=True,
        ask=lambda question: _yes(),
    )
    assert record.status == "failed"


async def _yes() -> str:
    return "approve"


async def test_a_run_that_goes_on_from_a_claim_is_no_better(ends: Any, runs: Any) -> None:
    record = await ends("chain(claim)")
    again = await runs.resume(record.id)
    assert again.status == "failed"
    (runs.project / "a.txt").write_text("right\n")
    last = await runs.resume(record.id)
    assert last.status == "achieved"


WRONG = {
    "an outcome that no stop has": (
        'chain(stop("achieved"))',
        "['outcome'] is 'achieved', not 'failed'",
    ),
    "a stop that is a text": ('chain(lambda s: {"stop": "done"})', "['stop'] is 'done', not"),
    "a claim that is a text": (
        'chain(lambda s: {"goal_achieved": "yes"})',
        "['goal_achieved'] is 'yes', not a bool",
    ),
    "another state": (
        'graph = StateGraph(dict); chain(lambda s: {"x": 1})',
        "not a mapping with the key 'messages'",
    ),
    "a node that gives a text": ('chain(lambda s: "done")', "its graph cannot be run"),
    "an interrupt of LangGraph": (
        'chain(lambda s: interrupt("well?"))',
        "its graph stops before its end: where it uses interrupt()",
    ),
    "no graph": ("return 'a graph'", "build_graph() returned 'a graph', not a Pregel"),
    "not compiled": ("chain(claim); return graph", "build_graph() returned a StateGraph"),
    "no checkpointer": ("chain(claim); return graph.compile()", "without the checkpointer"),
}


@pytest.mark.parametrize(("lines", "told"), WRONG.values(), ids=WRONG)
async def test_a_graph_that_breaks_its_contract_is_the_agents_error(
    ends: Any, lines: str, told: str
) -> None:
    record = await ends(lines, max_iterations=1)
    assert (record.status, record.exit_code) == ("error", 70)
    assert "the agent liar of acme-agents 1.0 failed: " in record.reason
    assert told in record.reason


async def test_a_graph_that_never_ends_fails_at_the_run_s_limit(ends: Any) -> None:
    record = await ends(
        'graph.add_node("n", lambda s: {}); graph.add_edge(START, "n"); graph.add_edge("n", "n")',
        max_iterations=1,
    )
    assert (record.status, record.exit_code) == ("failed", 1)
    assert record.reason == "the agent liar did not end within 104 nodes (max_iterations: 1)"


async def test_a_crash_is_told_before_the_state_that_it_left_behind(ends: Any) -> None:
    record = await ends("""
        def crash(state):
            raise RuntimeError("the first error")
        chain(lambda s: {"goal_achieved": "yes"}, crash)
    """)
    assert (record.status, record.exit_code) == ("error", 70)
    assert "the agent liar of acme-agents 1.0 failed: " in record.reason
    assert "the first error" in record.reason
