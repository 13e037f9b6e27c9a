"""The agent `research`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from pydantic import BaseModel

from retrai_core import Agent, AgentResult, RunContext, UsageError, WorkspaceError

from .options import ResearchInput, ResearchOptions
from .parsing import MAX_STEPS
from .prompts import VARIABLES, Prompts, check_template

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.graph.state import CompiledStateGraph

    from .citations import Checked

RECURSION_LIMIT = 150
_TOOLS = (
    "search_codebase",
    "get_symbol_definition",
    "get_callers",
    "get_callees",
    "get_call_chain",
    "get_module_summary",
    "read_file",
    "list_directory",
    "grep_search",
    "find_files",
)


class _Limits(Protocol):
    max_iterations: int | None


class Research(Agent[ResearchOptions]):
    """Answers a question about a project's code: plans, executes each step with tools, refines the
    plan, writes the answer, and checks its citations."""

    name: ClassVar[str] = "research"
    summary: ClassVar[str] = "answers a question about the code, with checked citations"
    needs: ClassVar[frozenset[str]] = frozenset({"read"})
    requires_goal: ClassVar[bool] = False
    default_tools: ClassVar[tuple[str, ...]] = _TOOLS
    default_model: ClassVar[str | None] = "extractive"
    default_max_iterations: ClassVar[int | None] = 10
    Input: type[BaseModel] = ResearchInput

    def __init__(self, options: ResearchOptions, context: RunContext) -> None:
        super().__init__(options, context)
        self._prompts = _read_prompts(options, context)

    def build_graph(
        self, checkpointer: BaseCheckpointSaver[Any]
    ) -> CompiledStateGraph[Any, Any, Any, Any]:
        """planner -> setup_executor -> executor_llm -> (tool_node -> executor_llm)* -> aggregate ->
        refinery -> planner | synthesizer."""
        from langgraph.graph import END, START, StateGraph  # slow to import

        from .state import ResearchState
        from .steps import ResearchSteps

        steps = ResearchSteps(self.context, self.options, self._prompts)
        graph: Any = StateGraph(ResearchState)  # its own annotations are only partly known
        nodes = ("planner", "setup_executor", "executor_llm", "tool_node", "aggregate", "refinery")
        for name in (*nodes, "synthesizer"):
            graph.add_node(name, getattr(steps, name))
        graph.add_edge(START, "planner")
        graph.add_edge("planner", "setup_executor")
        graph.add_edge("setup_executor", "executor_llm")
        graph.add_conditional_edges(
            "executor_llm",
            steps.route_executor,
            {"tools": "tool_node", "aggregate": "aggregate"},
        )
        graph.add_edge("tool_node", "executor_llm")
        graph.add_edge("aggregate", "refinery")
        graph.add_conditional_edges(
            "refinery",
            steps.should_continue,
            {"planner": "planner", "synthesizer": "synthesizer"},
        )
        graph.add_edge("synthesizer", END)
        return graph.compile(checkpointer=checkpointer)

    async def initial_state(
        self, context: RunContext, previous: AgentResult | None
    ) -> Mapping[str, Any]:
        """The question, with the conversation and the evidence of the run that this one
        continues; files that have changed since are no evidence."""
        from .evidence import Evidence
        from .history import history_of
        from .project_files import ProjectFiles
        from .steps import ResearchSteps

        for warning in await asyncio.to_thread(_make_index, Path(context.workspace.root)):
            context.publish("log", level="warning", message=warning)
        question = context.input.question
        if previous is not None:
            files, data = ProjectFiles(context.workspace), previous.data
            known, digests = Evidence.parse(data.get("evidence")), data.get("digests") or {}
            same = [path for path in known.paths if files.digest(path) == digests.get(path)]
            known.of(same).save(context.run_dir)
        steps = ResearchSteps(context, self.options, self._prompts)
        return {
            "input": question,
            "chat_history": history_of(previous),
            "plan": [],
            "current_step": 0,
            "findings": steps.given_findings(question),
            "response": "",
            "loop_decision": "CONTINUE",
            "messages": [],
            "executor_call_count": 0,
            "iteration_count": 0,
        }

    def recursion_limit(self, limits: _Limits) -> int:
        """150 nodes, or as many as the other limits allow."""
        nodes_of_step = 2 * self.options.max_executor_steps + 4
        return max(RECURSION_LIMIT, (limits.max_iterations or 0) * MAX_STEPS * nodes_of_step + 2)

    def result(self, state: Mapping[str, Any]) -> AgentResult:
        """The answer with its citations checked."""
        checked = self._checked(state["response"])
        counts = f"{len(checked.citations)} citation{'s' * (len(checked.citations) != 1)}"
        reason = f"answered with {counts}, {checked.unverified or 'none'} unverified"
        return AgentResult("answered", reason, checked.text, self._data(state, checked))

    def partial_result(self, state: Mapping[str, Any]) -> AgentResult | None:
        """What was found until the run ended; None before the first step has ended."""
        from .digest import write_digest
        from .history import questions_of

        if state["response"]:
            return self.result(state)
        if not state["findings"]:
            return None
        earlier = questions_of(state["chat_history"])
        text = write_digest(state["input"], state["findings"], earlier)
        text += "\n\n*The run ended before an answer was written: this is what was found.*"
        checked = self._checked(text)
        return AgentResult("failed", "", checked.text, self._data(state, checked))

    def _checked(self, text: str) -> Checked:
        from .steps import ResearchSteps

        return ResearchSteps(self.context, self.options, self._prompts).checked(text)

    def _data(self, state: Mapping[str, Any], checked: Checked) -> dict[str, Any]:
        from .evidence import Evidence
        from .history import as_json
        from .project_files import ProjectFiles

        evidence, files = Evidence.load(self.context.run_dir), ProjectFiles(self.context.workspace)
        return {
            "question": state["input"],
            "citations": [each.as_json() for each in checked.citations],
            "quotes": [each.as_json() for each in checked.quotes],
            "unverified": checked.unverified,
            "iterations": state["iteration_count"],
            "chat_history": as_json(state, checked.text),
            "evidence": evidence.as_json(),
            "digests": {path: files.digest(path) for path in evidence.paths},
        }


def _make_index(project: Path) -> list[str]:
    """Bring the index up to date before a model is asked; what a person should know of it.

    Raises:
        IndexUnavailableError: it cannot be written, so that no tool would find anything.
    """
    from retrai_codeindex import Index

    with Index.open(project) as index:
        return index.take_warnings()


def _read_prompts(options: ResearchOptions, context: RunContext) -> Prompts:
    """The templates, each checked.

    Raises:
        UsageError: a file cannot be read, or uses an unknown variable.
    """
    texts: dict[str, str] = {}
    for name in VARIABLES:
        given: str | None = getattr(options.prompts, name)
        if given is None:
            continue
        where = f"agents.research.prompts.{name}: {given}"
        path = Path(given).expanduser()
        try:
            data = path.read_bytes() if path.is_absolute() else context.workspace.read_bytes(given)
            texts[name] = data.decode("utf-8-sig")
        except (OSError, WorkspaceError, ValueError) as error:
            raise UsageError(f"{where}: it cannot be read: {error}") from error
        check_template(name, texts[name], where)
    return Prompts(**texts)
