"""One tool call: journalled, gated, run, cut to its limit, and told to everyone."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from ..contracts.hooks import ToolCall
from ..contracts.tool import Tool, ToolArgs, ToolResult
from ..errors import RetraiError, nearest
from ..plugins.blame import WrongAnswerError
from ..runs.journal import JournalledResult
from .approval import is_approval
from .cancelling import raise_if_cancelled
from .parts import LoopParts
from .state import PendingCall

CUT_OFF = (
    "retrai was stopped while this call ran: it may or may not have had its effect, and it was not "
    "run again. Look at the project before you repeat it."
)

MARKED = (
    "refused: {mark} stands where a secret was taken out of what you read; the file holds the "
    "secret itself, so this would not match it or would destroy it. Leave that piece out of the "
    "call, or name the variable that holds the secret."
)

_REFUSED = "refused: "

EVENT_CHARS = 500
"""What of a result an event has; the journal has all of it."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A call that has ended, as the model will read it."""

    id: str
    name: str
    summary: str
    ok: bool
    content: str


class ToolCaller:
    """Runs the calls of one turn.

    Args:
        parts: the run's parts.
        iteration: the turn; it makes the journal's keys unique when a model uses an id twice.
    """

    def __init__(self, parts: LoopParts, iteration: int) -> None:
        self._parts = parts
        self._iteration = iteration
        self._asking = asyncio.Lock()

    async def call(self, index: int, call: PendingCall) -> Finished:
        """Run one call, unless the journal knows that it ran; raises nothing that a tool does."""
        journal = self._parts.journal
        key = f"{self._iteration}/{index}/{call['id']}"
        tool = self._parts.context.tools.get(call["name"])
        args = _validate(tool, call)
        summary = self._summary(tool, args)
        known = journal.finished(key)
        if known is not None:
            return self._tell(call, summary, known, replayed=True)
        publish = self._parts.context.publish
        publish("tool_call", id=call["id"], tool=call["name"], args=call["args"], summary=summary)
        started = time.monotonic()
        refused: list[str] = []
        if journal.cut_off(key):
            result = ToolResult(CUT_OFF, ok=False)
        else:
            journal.begin(key, call["name"])
            result = await self._run(tool, args, call, refused)
        limit = tool.max_chars if tool is not None else 8000
        # Before it is cut: the half of a secret would not be known as one.
        content, cut = cut_middle(self._redacted(result.content), limit)
        done = JournalledResult(result.ok, content, round(time.monotonic() - started, 3))
        journal.end(key, done)
        return self._tell(call, summary, done, cut=cut, refused=refused)

    def _summary(self, tool: Tool | None, args: ToolArgs | ToolResult) -> str:
        if tool is None or isinstance(args, ToolResult):
            return ""
        try:
            # Before it is cut, as with results.
            return self._parts.context.redact(" ".join(tool.summary(args).split()))[:200]
        except Exception:  # noqa: BLE001 - a line for people; the call itself can still be good
            return ""

    def _redacted(self, text: str) -> str:
        redactor = self._parts.context.redactor
        redactor.refresh()
        return redactor.text(text)

    def _tell(
        self,
        call: PendingCall,
        summary: str,
        done: JournalledResult,
        *,
        cut: int = 0,
        replayed: bool = False,
        refused: Sequence[str] = (),
    ) -> Finished:
        self._parts.context.publish(
            "tool_result",
            id=call["id"],
            tool=call["name"],
            content=done.content[:EVENT_CHARS],
            error=not done.ok,
            duration_s=done.duration_s,
            cut_chars=cut,
            replayed=replayed,
            refused=list(refused),
        )
        return Finished(call["id"], call["name"], summary, done.ok, done.content)

    async def _run(
        self, tool: Tool | None, args: ToolArgs | ToolResult, call: PendingCall, told: list[str]
    ) -> ToolResult:
        """The call's result; what of it was refused is added to `told`, for the run's record."""
        if tool is None:
            return self._unknown(call["name"])
        if isinstance(args, ToolResult):
            return args
        mark = self._parts.context.redactor.mark_in(call["args"])
        if mark is not None and not tool.needs <= {"read"}:
            return ToolResult(MARKED.format(mark=mark), ok=False)
        refusal = await self._refusal(tool, call)
        if refusal is not None:
            told += self._note_denied(tool, args, refusal)
            return refusal
        refused = len(self._parts.guard.refusals)
        result = await self._attempt(tool, args)
        if not result.ok and await self._let_through(refused):
            result = await self._attempt(tool, args)
        told += [str(refusal) for refusal in self._parts.guard.refusals[refused:]]
        return result

    async def _attempt(self, tool: Tool, args: ToolArgs) -> ToolResult:
        try:
            limit_s = tool.options.limit_s
            with self._parts.watch.over(tool, limit_s):
                async with asyncio.timeout(limit_s):
                    return await tool.run(args, self._parts.context)
        except (RetraiError, WrongAnswerError) as error:
            return ToolResult(str(error), ok=False)
        except TimeoutError:
            message = f"{tool.name} was ended after {tool.options.limit_s:g} s"
            return ToolResult(message, ok=False)
        except (Exception, SystemExit, asyncio.CancelledError) as error:  # noqa: BLE001 - a broken tool is a result for the model, never a crash
            raise_if_cancelled(error)
            return ToolResult(f"{tool.name} failed: {type(error).__name__}: {error}", ok=False)

    async def _let_through(self, refused: int) -> bool:
        """Ask a person about what the guard has refused since; whether to try once more."""
        guard, ask = self._parts.guard, self._parts.ask
        paths = list(dict.fromkeys(refusal.path for refusal in guard.refusals[refused:]))
        if not paths or ask is None:
            return False
        reason = "; ".join(str(refusal) for refusal in guard.refusals[refused:])
        async with self._asking:
            answer = await ask(f"Let the agent change {', '.join(paths)} after all?", reason)
        if not is_approval(answer):
            return False
        del guard.refusals[refused:]
        guard.allow(paths)
        return True

    async def _refusal(self, tool: Tool, call: PendingCall) -> ToolResult | None:
        if self._parts.gate is None:
            return None
        asked = ToolCall(call["id"], call["name"], call["args"], tool.needs)
        decision = await self._parts.gate(asked)
        if decision.verdict == "allow":
            return None
        if decision.verdict == "ask":
            return await self._ask(call, decision.reason)
        return ToolResult(f"{_REFUSED}{decision.reason or 'not permitted'}", ok=False)

    def _note_denied(self, tool: Tool, args: ToolArgs, refusal: ToolResult) -> list[str]:
        """Keep it for the record, once; it is no change of the check and counts as no tampering.

        Returns:
            the line, where it is new.
        """
        called = f"{tool.name} {self._summary(tool, args)}".rstrip()
        reason = self._redacted(" ".join(refusal.content.removeprefix(_REFUSED).split()))
        line = f"{called}: {reason[:200]}"
        if line in self._parts.denied:
            return []
        self._parts.denied.append(line)
        return [line]

    async def _ask(self, call: PendingCall, reason: str) -> ToolResult | None:
        if self._parts.ask is None:
            why = reason or "this needs a person"
            message = f"{_REFUSED}{why}, and nobody can be asked here"
            return ToolResult(message, ok=False)
        async with self._asking:  # calls run side by side, but a person answers one at a time
            answer = await self._parts.ask(f"Allow {call['name']} {call['args']}?", reason)
        return None if is_approval(answer) else ToolResult("refused by the user", ok=False)

    def _unknown(self, name: str) -> ToolResult:
        known = sorted(self._parts.context.tools)
        listed = ", ".join(known)
        return ToolResult(f"no tool {name!r}{nearest(name, known)}; the tools: {listed}", ok=False)


def cut_middle(text: str, limit: int) -> tuple[str, int]:
    """The text's beginning and end, at most `limit` characters of it, and how many were cut."""
    if len(text) <= limit:
        return text, 0
    head = limit * 2 // 3
    tail = limit - head
    cut = len(text) - limit
    note = f"\n[... {cut} of {len(text)} characters cut here ...]\n"
    return text[:head] + note + text[len(text) - tail :], cut


def _validate(tool: Tool | None, call: PendingCall) -> ToolArgs | ToolResult:
    """The call's arguments, or the result that says what is wrong with them."""
    if call["problem"]:
        return ToolResult(call["problem"], ok=False)
    if tool is None:
        return ToolArgs()
    try:
        return tool.Args.model_validate(call["args"])
    except ValidationError as error:
        lines = [
            f"- {'.'.join(map(str, problem['loc'])) or 'arguments'}: {problem['msg']}"
            for problem in error.errors(include_url=False)
        ]
        wanted = ", ".join(tool.Args.model_fields)
        message = "\n".join([f"{tool.name} was called wrongly (arguments: {wanted}):", *lines])
        return ToolResult(message, ok=False)
    except Exception as error:  # noqa: BLE001 - a validator of the tool's own that is broken
        message = f"{tool.name} cannot read its arguments: {type(error).__name__}: {error}"
        return ToolResult(message, ok=False)
