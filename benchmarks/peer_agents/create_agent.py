"""LangChain's `create_agent` with ChatLiteLLM and one trivial tool; the address is the argument."""

from __future__ import annotations

import sys

from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_litellm import ChatLiteLLM


@tool
def noop() -> str:
    """Do nothing."""
    return "done"


def main() -> None:
    """Let the model call the tool until it stops."""
    model = ChatLiteLLM(model="openai/gpt-4o-mini", api_base=sys.argv[1], api_key="sk-none")
    agent = create_agent(model, [noop], system_prompt="You are a software engineering agent.")
    question = {"messages": [{"role": "user", "content": "Call the tool until it is enough."}]}
    agent.invoke(question, {"recursion_limit": 1000})


main()
