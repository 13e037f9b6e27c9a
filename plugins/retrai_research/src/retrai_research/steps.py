"""The seven nodes and two routers of the agent's graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)

from retrai_core import RunContext

from .citations import Checked, check_answer
from .digest import write_digest
from .evidence import Evidence
from .found import shown_places
from .history import questions_of
from .mentions import mentioned, missing, not_there, render_path
from .options import ResearchOptions
from .parsing import parse_decision, parse_plan
from .project_files import ProjectFiles
from .prompts import Prompts
from .state import ResearchState  # LangGraph evaluates the annotations

REQUEST = "retrai_research"
"""In `additional_kwargs` of a request: what it is about, for the model `extractive`."""
FALLBACK_STEP = "Search for relevant code related to the query"
NO_RESULTS = "No results found"
STEP_ENDED_EARLY = "[the step ended at its limit, before the last tool calls were made]"
EMPTY_PLAN = "The plan has no steps. Search for what is still missing, or say that nothing is."
SEPARATOR = "\n---\n"
NODES_TO_AGGREGATE = 5
"""tool_node, executor_llm, aggregate, refinery, synthesizer: what runs at most after the executor
has asked for tools."""
NODES_OF_STEP = 7
"""planner, setup_executor, executor_llm, aggregate, refinery, synthesizer: what runs at least after
the refinery has decided to continue, and one to spare."""

_HISTORY_CHARS = 12_000
_SHOWN_TURNS = 6
_EVENT_CHARS = 300


class ResearchSteps:
    """The nodes of one run.

    Args:
        context: the run.
        options: the agent's.
        prompts: the templates.
    """

    def __init__(self, context: RunContext, options: ResearchOptions, prompts: Prompts) -> None:
        self._context = context
        self._options = options
        self._prompts = prompts

    # Nodes

    async def planner(self, state: ResearchState) -> Mapping[str, Any]:
        """Plan; or pass the rest of the plan through, where the refinery said CONTINUE."""
        is_left = state["current_step"] < len(state["plan"])
        continues = state["loop_decision"] == "CONTINUE"
        if is_left and continues and self._options.replan == "when_done":
            return self._publish_update("planner", {})
        prompt = self._prompts.render("plan", self._values(state))
        request = self._request("planner", state, prompt)
        try:
            answer = await self._context.model(tools=False).ainvoke([request])
            plan = parse_plan(answer.text)
        except Exception as error:  # noqa: BLE001 - a failed call becomes the plain plan
            message = f"the planner's model call failed: {type(error).__name__}: {error}"
            self._context.publish("log", level="warning", message=message[:500])
            plan = None
        steps = [FALLBACK_STEP] if plan is None else plan
        count = state["iteration_count"] + 1
        self._context.iteration = count
        self._tell_plan(steps, 0)
        update = {"plan": steps, "current_step": 0, "iteration_count": count}
        return self._publish_update("planner", update)

    async def setup_executor(self, state: ResearchState) -> Mapping[str, Any]:
        """Begin a step: drop the last one's messages, then say what is to be done."""
        plan, current = state["plan"], state["current_step"]
        values = self._values(state)
        system = self._prompts.render("executor_system", values)
        task = EMPTY_PLAN
        if current < len(plan):
            task = self._prompts.render("executor_user", values)
        request = self._request("executor", state, task)
        messages = [*_removed(state), SystemMessage(system), request]
        return self._publish_update(
            "setup_executor", {"messages": messages, "executor_call_count": 0}
        )

    async def executor_llm(self, state: ResearchState) -> Mapping[str, Any]:
        """Ask the model, with the tools."""
        answer = await self._context.model().ainvoke(state["messages"])
        update = {"messages": [answer], "executor_call_count": state["executor_call_count"] + 1}
        return self._publish_update("executor_llm", update)

    async def tool_node(self, state: ResearchState) -> Mapping[str, Any]:
        """Make the calls; what goes wrong with one is its result."""
        request = cast("AIMessage", state["messages"][-1])
        results = await self._context.call_tools(request)
        files = ProjectFiles(self._context.workspace)
        evidence = Evidence.load(self._context.run_dir)
        for call, result in zip(request.tool_calls, results, strict=False):
            if result.status != "error":
                args = call["args"]
                evidence.add(shown_places(call["name"], args, result.text, files.lines))
        evidence.save(self._context.run_dir)
        return self._publish_update("tool_node", {"messages": results})

    async def aggregate(self, state: ResearchState) -> Mapping[str, Any]:
        """Keep what the step has found, and turn to the next one."""
        texts = [
            message.text.strip()
            for message in state["messages"]
            if isinstance(message, (AIMessage, ToolMessage))
        ]
        found = SEPARATOR.join(text for text in texts if text) or NO_RESULTS
        last = state["messages"][-1] if state["messages"] else None
        if isinstance(last, AIMessage) and last.tool_calls:
            found += f"{SEPARATOR}{STEP_ENDED_EARLY}"
        plan, current = state["plan"], state["current_step"]
        step = plan[current] if current < len(plan) else "(no step)"
        number = 1 + sum(name.startswith("step_") for name in state["findings"])
        key = f"step_{number}: {step}"
        self._context.progress("finding", {"step": step, "text": _short(_words_of(state, found))})
        self._tell_plan(plan, current + 1)
        update = {
            "findings": {**state["findings"], key: found},
            "messages": _removed(state),
            "current_step": current + 1,
        }
        return self._publish_update("aggregate", update)

    async def refinery(self, state: ResearchState) -> Mapping[str, Any]:
        """Decide whether to continue."""
        if state["iteration_count"] >= self._context.max_iterations:
            return self._publish_decision("FINISH", f"the limit of {self._iterations()} is reached")
        is_left = state["current_step"] < len(state["plan"])
        prompt = self._prompts.render("refine", self._values(state))
        decision = None
        try:
            request = self._request("refinery", state, prompt)
            answer = await self._context.model(tools=False).ainvoke([request])
            decision = parse_decision(answer.text)
        except Exception as error:  # noqa: BLE001 - the rule below decides then
            message = f"the refinery's model call failed: {type(error).__name__}: {error}"
            self._context.publish("log", level="warning", message=message[:500])
        if decision is None:
            return self._publish_decision(
                "CONTINUE" if is_left else "FINISH",
                f"no decision was given, and {'steps are' if is_left else 'no step is'} left",
            )
        return self._publish_decision(*decision)

    async def synthesizer(self, state: ResearchState) -> Mapping[str, Any]:
        """Write the answer."""
        prompt = self._prompts.render("synthesize", self._values(state))
        request = self._request("synthesizer", state, prompt)
        answer = await self._context.model(tools=False).ainvoke([request])
        text = answer.text.strip()
        if not text:
            text = write_digest(
                state["input"], state["findings"], questions_of(state["chat_history"])
            )
            text += "\n\n*The model wrote no answer: this is what the tools found.*"
        if limit := self._limit_reached(state):
            text += f"\n\n*{limit} This answer is from what was found until then.*"
        history = [HumanMessage(state["input"]), AIMessage(text)]
        return self._publish_update("synthesizer", {"response": text, "chat_history": history})

    # Routers

    def route_executor(self, state: ResearchState) -> Literal["tools", "aggregate"]:
        """Make the calls that the model asks for, within the step's limit and the run's."""
        last = state["messages"][-1] if state["messages"] else None
        asks = isinstance(last, AIMessage) and bool(last.tool_calls)
        has_calls_left = state["executor_call_count"] < self._options.max_executor_steps
        has_nodes_left = state["remaining_steps"] > NODES_TO_AGGREGATE
        return "tools" if asks and has_calls_left and has_nodes_left else "aggregate"

    def should_continue(self, state: ResearchState) -> Literal["planner", "synthesizer"]:
        """Go on as the refinery decided, while there are nodes left for another step."""
        continues = state["loop_decision"] == "CONTINUE"
        return (
            "planner" if continues and state["remaining_steps"] > NODES_OF_STEP else "synthesizer"
        )

    # Beside the nodes

    def given_findings(self, question: str) -> dict[str, str]:
        """What a question's `@path`s name."""
        files = ProjectFiles(self._context.workspace)
        evidence = Evidence.load(self._context.run_dir)
        found = {
            f"@{path}": self._context.redact(render_path(path, files, evidence))
            for path in mentioned(question, self._context.workspace)
        }
        if found:
            evidence.save(self._context.run_dir)
        for path in missing(question, self._context.workspace):
            message = not_there(path)
            self._context.publish("log", level="warning", message=message)
            found[f"@{path}"] = message
        return found

    def checked(self, answer: str) -> Checked:
        """The answer with its citations checked."""
        files = ProjectFiles(self._context.workspace)
        return check_answer(answer, Evidence.load(self._context.run_dir), files.lines)

    def _publish_decision(
        self, decision: Literal["CONTINUE", "FINISH"], reason: str
    ) -> Mapping[str, Any]:
        self._context.progress("decision", {"decision": decision, "reason": _short(reason)})
        return self._publish_update("refinery", {"loop_decision": decision})

    def _limit_reached(self, state: ResearchState) -> str:
        if state["iteration_count"] >= self._context.max_iterations:
            return f"The research ended at its limit of {self._iterations()}."
        if state["loop_decision"] == "CONTINUE":
            return "The research ended at its limit of graph nodes."
        if any(found.endswith(STEP_ENDED_EARLY) for found in state["findings"].values()):
            count = self._options.max_executor_steps
            return f"A step ended at its limit of model calls ({count}, `max_executor_steps`)."
        return ""

    def _iterations(self) -> str:
        count = self._context.max_iterations
        return f"{count} iteration{'s' * (count != 1)} (`max_iterations`)"

    def _values(self, state: ResearchState) -> dict[str, object]:
        """The variables of the templates."""
        plan, current = state["plan"], state["current_step"]
        lines = [f"[{'x' if n < current else ' '}] {step}" for n, step in enumerate(plan)]
        return {
            "input": state["input"],
            "chat_history": _history(state["chat_history"]),
            "findings": _findings(state["findings"], self._options.findings_chars),
            "plan": "\n".join(lines) or "(none)",
            "current_step": plan[current] if current < len(plan) else "",
            "step": min(current + 1, len(plan)),
            "total": len(plan),
        }

    def _request(self, node: str, state: ResearchState, prompt: str) -> HumanMessage:
        """A prompt; the model `extractive` reads what it is about, other models never see that."""
        plan, current = state["plan"], state["current_step"]
        about = {
            "node": node,
            "question": state["input"],
            "earlier": questions_of(state["chat_history"]),
            "findings": state["findings"],
            "step": plan[current] if current < len(plan) else "",
            "steps_left": len(plan) - current,
        }
        return HumanMessage(prompt, additional_kwargs={REQUEST: about})

    def _tell_plan(self, plan: Sequence[str], done: int) -> None:
        steps = [{"step": _short(step), "done": number < done} for number, step in enumerate(plan)]
        self._context.progress("plan", {"steps": steps})

    def _publish_update(self, node: str, update: Mapping[str, Any]) -> Mapping[str, Any]:
        """Publish a node's update in small."""
        small = {key: _small(key, value) for key, value in update.items()}
        self._context.progress("state", {"node": node, "update": small})
        return update


def _removed(state: ResearchState) -> list[RemoveMessage]:
    return [RemoveMessage(id=message.id) for message in state["messages"] if message.id]


def _history(messages: Sequence[BaseMessage]) -> str:
    """Earlier questions and answers as text."""
    if not messages:
        return ""
    turns = "\n".join(
        f"{'Question' if isinstance(message, HumanMessage) else 'Answer'}: {message.text}"
        for message in messages[-2 * _SHOWN_TURNS :]
    )
    return f"Earlier in this conversation:\n{_cut(turns, _HISTORY_CHARS)}\n\n"


def _findings(findings: Mapping[str, str], limit: int) -> str:
    """The findings as a prompt has them: each gets its share of the limit, cut in its middle."""
    if not findings:
        return "(none)"
    shares, room = dict[str, int](), limit
    for left, (key, text) in enumerate(sorted(findings.items(), key=lambda e: len(e[1]))):
        shares[key] = min(len(text), room // (len(findings) - left))
        room -= shares[key]
    return "\n\n".join(f"## {key}\n{_cut(text, shares[key])}" for key, text in findings.items())


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    head = limit * 2 // 3
    tail = limit - head
    return f"{text[:head]}\n[... {len(text) - limit} characters are left out ...]\n{text[-tail:]}"


def _words_of(state: ResearchState, found: str) -> str:
    """What the model itself said of a step, else the beginning of what the tools returned."""
    said = [m.text.strip() for m in state["messages"] if isinstance(m, AIMessage)]
    return next((text for text in reversed(said) if text), found)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _EVENT_CHARS else f"{line[:_EVENT_CHARS]}..."


def _small(key: str, value: object) -> object:
    """A value of the state for an event: texts are cut, messages become a few words."""
    if key in ("messages", "chat_history"):
        return [_message_words(message) for message in cast("Sequence[BaseMessage]", value)]
    if isinstance(value, str):
        return _short(value)
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value).items()
        return {_short(name): _small("", entry) for name, entry in items}
    if isinstance(value, list):
        return [_small("", entry) for entry in cast("list[object]", value)]
    return value


def _message_words(message: BaseMessage) -> str:
    if isinstance(message, RemoveMessage):
        return "remove"
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    words = [_short(message.text), *(f"calls {call['name']}" for call in calls)]
    return f"{message.type}: {' '.join(word for word in words if word)}"
