"""Agents that need no goal: a good one and bad ones."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from retrai_core import Agent, AgentInput, AgentResult


class GoodAnswer(Agent):
    """Lets the model call tools until it only talks."""

    name = "good-answer"
    requires_goal = False

    class Input(AgentInput):
        question: str = "What is there?"
        """What somebody wants to know."""

    def build_graph(self, checkpointer):
        from langgraph.graph import START, StateGraph

        graph = StateGraph(dict)
        graph.add_node("think", self.think)
        graph.add_node("act", self.act)
        graph.add_edge(START, "think")
        graph.add_conditional_edges("think", self.after_think, ["act", "__end__"])
        graph.add_edge("act", "think")
        return graph.compile(checkpointer=checkpointer)

    async def initial_state(self, context, previous):
        from langchain_core.messages import HumanMessage

        return {"messages": [HumanMessage(context.input.question)]}

    async def think(self, state):
        answer = await self.context.model().ainvoke(state["messages"])
        return {"messages": [*state["messages"], answer]}

    def after_think(self, state):
        return "act" if state["messages"][-1].tool_calls else "__end__"

    async def act(self, state):
        results = await self.context.call_tools(state["messages"][-1])
        return {"messages": [*state["messages"], *results]}

    def result(self, state):
        return AgentResult("answered", "done", state["messages"][-1].text)


class CallsToolsItself(GoodAnswer):
    """Goes past the gates, the journal and everybody who listens."""

    name = "calls-tools-itself"

    async def act(self, state):
        from langchain_core.messages import ToolMessage

        results = []
        for call in state["messages"][-1].tool_calls:
            tool = self.context.tools[call["name"]]
            done = await tool.run(tool.Args.model_validate(call["args"]), self.context)
            results.append(ToolMessage(done.content, tool_call_id=call["id"]))
        return {"messages": [*state["messages"], *results]}


class AnyInput(GoodAnswer):
    """Takes everything, and says of nothing what it is."""

    name = "any-input"

    class Input(BaseModel):
        model_config = ConfigDict(extra="allow")

        question: str = "What is there?"
