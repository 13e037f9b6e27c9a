"""The agent `explain`: looks into the project's files, and answers a question about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from retrai_core import Agent, AgentResult, RunContext

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.graph.state import CompiledStateGraph

_RULES = "Answer questions about a project. Look into its files first; name those that you used."


class ExplainInput(BaseModel):
    """What the agent is given."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(min_length=1, description="What you want to know about the project.")


class Explain(Agent):
    """`look` asks the model which files it wants, `answer` reads them and writes the answer."""

    name: ClassVar[str] = "explain"
    summary: ClassVar[str] = "answers a question about the project from its files"
    requires_goal: ClassVar[bool] = False
    default_tools: ClassVar[tuple[str, ...]] = ("file_read", "grep_search")
    Input: type[BaseModel] = ExplainInput

    def build_graph(
        self, checkpointer: BaseCheckpointSaver[Any]
    ) -> CompiledStateGraph[Any, Any, Any, Any]:
        """look -> answer."""
        from langgraph.graph import END, START, StateGraph  # slow to import

        from .state import ExplainState

        graph: Any = StateGraph(ExplainState)  # its own annotations are only partly known
        graph.add_node("look", self._look)
        graph.add_node("answer", self._answer)
        graph.add_edge(START, "look")
        graph.add_edge("look", "answer")
        graph.add_edge("answer", END)
        return graph.compile(checkpointer=checkpointer)

    async def initial_state(
        self, context: RunContext, previous: AgentResult | None
    ) -> Mapping[str, Any]:
        """The question, behind what an earlier run has answered."""
        from langchain_core.messages import HumanMessage, SystemMessage

        earlier: list[Any] = []
        if previous is not None and previous.output:  # a failed run has no answer
            asked = previous.data.get("question", "")
            earlier = [HumanMessage(f"Earlier I asked: {asked}\nYou answered: {previous.output}")]
        question = HumanMessage(context.input.question)
        return {"messages": [SystemMessage(_RULES), *earlier, question], "answer": ""}

    # What a node gives is kept before the next one begins: a run that is killed while it reads
    # files goes on there, and does not ask the model again.
    async def _look(self, state: Mapping[str, Any]) -> Mapping[str, Any]:
        wanted = await self.context.model().ainvoke(state["messages"])
        return {"messages": [wanted]}

    async def _answer(self, state: Mapping[str, Any]) -> Mapping[str, Any]:
        from langchain_core.messages import HumanMessage

        read = await self.context.call_tools(state["messages"][-1])
        self.context.progress("read", {"results": len(read)})
        reader = await self.context.ask(
            "reader", "Who is the answer for?", choices=(), takes_text=True
        )
        # None where nobody can be asked: an agent must go on without.
        for_whom = reader.text if reader is not None else "somebody who knows the language"
        request = HumanMessage(f"Now answer, for {for_whom}.")
        answer = await self.context.model(tools=False).ainvoke([*state["messages"], *read, request])
        return {"messages": [*read, request, answer], "answer": answer.text}

    def result(self, state: Mapping[str, Any]) -> AgentResult:
        """The answer; the question stands beside it for a run that continues this one."""
        data = {"question": self.context.input.question}
        return AgentResult("answered", "the question is answered", state["answer"], data)
