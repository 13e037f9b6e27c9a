"""The state of the agent's graph; a module of its own, since LangGraph is slow to import."""

from __future__ import annotations

from typing import Annotated, TypedDict

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages


class ExplainState(TypedDict):
    """What a run knows; everything in it survives a kill."""

    messages: Annotated[list[AnyMessage], add_messages]
    answer: str
