"""The words around a step."""

from __future__ import annotations

SYSTEM = """\
You help with a software project. You work in steps: think, then either use one tool or answer.

Write exactly one of these two forms, and nothing behind it.

To use a tool:
Thought: why this tool helps now
Action: tool_name(parameter="value", count=3, flag=true, data={{"key": [1, 2]}})

To answer:
Thought: why you know enough
Answer: what the user shall read

Rules: one action a step. Name every parameter. Values are JSON; text stands in double quotes, \
with \\" and \\n inside. Never write an observation yourself: the next message brings it. Use only \
the tools below. Answer as soon as you know enough.

Tools:
{tools}"""
NO_TOOLS = "(none: answer directly)"
LAST_STEP = """\
You help with a software project. No tools are left: answer now from what is known, and say what \
you could not find out.

Write exactly this form:
Thought: what the answer rests on
Answer: what the user shall read"""
MINIMAL = "You help with a software project. Answer as `Answer: ...`, or use a tool as {form}."
FORM = "`Action: tool_name(parameter=value)`"
NO_QUERY = "Go on from the last observation."
LAST_QUERY = "Answer now: no step is left for a tool."
UNKNOWN_TOOL = """\
There is no tool {name}. The tools are: {known}. Write the step again, with one of them or with an \
answer."""
