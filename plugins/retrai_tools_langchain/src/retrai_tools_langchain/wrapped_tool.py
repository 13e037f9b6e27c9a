"""A LangChain tool as a tool of the run."""

from __future__ import annotations

import asyncio
import contextvars
import json
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, ClassVar, cast

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, ConfigDict

from retrai_core import RunContext, Tool, ToolArgs, ToolError, ToolOptions, ToolResult

from .settings import OneTool

_MAX_CHARS = 200_000
_SLACK_S = 15.0
"""Above the tool's own time-out."""


class AnyArgs(ToolArgs):
    """Arguments as they come: LangChain checks them by the tool's own schema."""

    model_config = ConfigDict(extra="allow")


class WrappedTool(Tool):
    """Calls one LangChain tool; `wrapped` makes a subclass of it for each."""

    inner: ClassVar[BaseTool]
    timeout_s: ClassVar[float]

    async def run(self, args: AnyArgs, context: RunContext) -> ToolResult:
        """Call it; whatever it raises is an error for the model.

        Raises:
            ToolError: it failed, or took too long.
        """
        given = args.model_extra or {}
        try:
            async with asyncio.timeout(self.timeout_s):
                if _is_async(self.inner):
                    answer: object = await self.inner.ainvoke(given)
                else:
                    answer = await _in_a_thread(lambda: self.inner.invoke(given))
        except TimeoutError as error:
            raise ToolError(f"{self.name} did not answer within {self.timeout_s:g} s") from error
        except (Exception, SystemExit) as error:
            why = str(error).strip() or type(error).__name__
            raise ToolError(f"{self.name} failed: {why[:2000]}") from error
        return ToolResult(_as_text(answer))


def wrapped(inner: BaseTool, one: OneTool, context: RunContext) -> Tool:
    """The tool of the run that calls `inner`."""
    schema = _schema_of(inner)

    def model_json_schema(cls: type[ToolArgs], *_: Any, **__: Any) -> dict[str, Any]:
        return schema

    body = {
        "name": one.rename or inner.name,
        "description": inner.description or inner.name,
        "needs": frozenset(one.needs),
        "Args": type("Args", (AnyArgs,), {"model_json_schema": classmethod(model_json_schema)}),
        "inner": inner,
        "timeout_s": one.timeout_s,
    }
    cls = type("WrappedTool", (WrappedTool,), body)
    return cls(ToolOptions(limit_s=one.timeout_s + _SLACK_S), context)


def _schema_of(inner: BaseTool) -> dict[str, Any]:
    """The arguments that a model gives, as JSON Schema."""
    schema = cast("Any", inner.tool_call_schema)
    if isinstance(schema, dict):
        return cast("dict[str, Any]", schema)
    if issubclass(schema, BaseModel):
        return schema.model_json_schema()
    return schema.schema()  # a model of pydantic's first version


def _is_async(inner: BaseTool) -> bool:
    """Whether it has an asynchronous way of its own, or would only block a thread of asyncio's."""
    if isinstance(inner, StructuredTool):
        return inner.coroutine is not None
    own, inherited = (getattr(cls, "_arun", None) for cls in (type(inner), BaseTool))
    return own is not inherited


async def _in_a_thread(work: Callable[[], object]) -> object:
    """Do it in a daemon thread, which nobody has to wait for when it never ends."""
    outcome: Future[object] = Future()
    context = contextvars.copy_context()

    def run() -> None:
        if not outcome.set_running_or_notify_cancel():
            return
        try:
            outcome.set_result(context.run(work))
        except BaseException as error:  # noqa: BLE001 - handed to whoever waits
            outcome.set_exception(error)

    threading.Thread(target=run, name="a LangChain tool", daemon=True).start()
    return await asyncio.wrap_future(outcome)


def _as_text(answer: object) -> str:
    if isinstance(answer, str):
        return answer[:_MAX_CHARS]
    if isinstance(answer, BaseModel):
        answer = answer.model_dump()
    try:
        return json.dumps(answer, ensure_ascii=False, indent=1, default=str)[:_MAX_CHARS]
    except (TypeError, ValueError):
        return str(answer)[:_MAX_CHARS]
