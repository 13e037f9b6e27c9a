"""One tool call: checked by the gates, journalled, run, cut to its limit and published."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from ..contracts.context import RunContext
from ..contracts.hooks import GateDecision, ToolCall
from ..contracts.question import APPROVE, REJECT, Choice
from ..contracts.store import Journal, JournalledResult
from ..contracts.tool import Tool, ToolArgs, ToolResult
from ..errors import RetraiError, nearest
from ..plugins.error_attribution import WrongAnswerError
from ..verification.guard import Guard
from ..verification.refusal import Refusal
from ..workspace.touched import Touched, recorded
from .cancellation import raise_if_cancelled
from .loop_watchdog import BlockedLoopWatch
from .tool_names import wire_name

if TYPE_CHECKING:
    from langchain_core.messages import ToolMessage

    from .goal_loop.state import PendingCall

Gate = Callable[[ToolCall], Awaitable[GateDecision]]
"""Decides on a call: what all tool gates together say."""

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
_PATH_ARGS = frozenset({"path", "file", "folder", "directory"})

SIDE_BY_SIDE = frozenset({"read", "network"})
"""Calls that need no more than this are made at once."""
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

    def message(self) -> ToolMessage:
        """The result as the model reads it."""
        from langchain_core.messages import ToolMessage  # slow to import

        status = "success" if self.ok else "error"
        name = wire_name(self.name)
        return ToolMessage(self.content, tool_call_id=self.id, name=name, status=status)


@dataclass
class _Call:
    """A call in progress.

    Attributes:
        call: what the model asked for.
        place: the node's visit, and which call of it this is.
        summary: one line for people.
        refused: what of it was refused, for the run's record.
        announced: everyone was told of it.
    """

    call: PendingCall
    place: str
    summary: str
    refused: list[str] = field(default_factory=list[str])
    announced: bool = False

    @property
    def key(self) -> str:
        """In the journal."""
        return f"{self.place}/{self.call['id']}"

    def key_of(self, step: str) -> str:
        """In the journal, of a step of the call."""
        return f"{self.place}/{step}/{self.call['id']}"

    @property
    def question(self) -> str:
        """The key of a question about this very call: an answer must not reach another one that a
        resumed run makes in its place."""
        whole = json.dumps(self.call, sort_keys=True, default=str)
        return f"act/{self.place}/{hashlib.sha256(whole.encode()).hexdigest()[:8]}"

    def about(self, reason: str) -> dict[str, Any]:
        """The data of a question about it."""
        call = self.call
        paths = [
            value
            for name, value in call["args"].items()
            if name in _PATH_ARGS and isinstance(value, str)
        ]
        return {
            "reason": reason,
            "call_id": call["id"],
            "tool": call["name"],
            "args": call["args"],
            "paths": paths,
        }


class ToolCaller:
    """Makes the tool calls of one run.

    Args:
        context: the run, with its tools.
        journal: remembers the calls.
        watch: ends a tool that blocks the event loop.
        gate: asked before every call.
        guard: of a run with a goal; a person may let the run change what it protects.
        expect_changes: told before calls that may write or run something.

    Attributes:
        denied: the calls that a gate or a person refused, each told once, for the run's record.
    """

    def __init__(
        self,
        context: RunContext,
        journal: Journal,
        watch: BlockedLoopWatch,
        *,
        gate: Gate | None = None,
        guard: Guard | None = None,
        expect_changes: Callable[[], None] | None = None,
    ) -> None:
        self._context = context
        self._journal = journal
        self._watch = watch
        self._gate = gate
        self._guard = guard
        self._expect_changes = expect_changes
        self._asking = asyncio.Lock()
        self.denied: list[str] = []

    async def call_all(self, visit: str, calls: Sequence[PendingCall]) -> list[Finished]:
        """Make the calls of one answer: those that only read side by side, the others one by one.

        Args:
            visit: which visit of which node makes them, the same when it runs again; it makes the
                journal's keys unique when a model uses an id twice.
            calls: in the model's order, which is the order of the results.
        """
        finished: list[Finished] = []
        for together, some in groupby(enumerate(calls), key=lambda each: self._reads(each[1])):
            if together:
                finished += await asyncio.gather(*(self._call(visit, *each) for each in some))
                continue
            if self._expect_changes is not None:
                self._expect_changes()
            for each in some:
                finished.append(await self._call(visit, *each))
        return finished

    def _reads(self, call: PendingCall) -> bool:
        tool = self._context.tools.get(call["name"])
        return tool is not None and tool.needs <= SIDE_BY_SIDE

    async def _call(self, visit: str, index: int, call: PendingCall) -> Finished:
        """Run one call, unless the journal knows that it ran; raises nothing that a tool does."""
        tool = self._context.tools.get(call["name"])
        args = _validate(tool, call)
        made = _Call(call, f"{visit}/{index}", self._summary(tool, args))
        known = await self._journal.finished(made.key)
        if known is not None:
            return self._tell(made, known, replayed=True)
        started = time.monotonic()
        with recorded() as touched:
            result = await self._outcome(made, tool, args)
        self._announce(made)
        limit = tool.max_chars if tool is not None else 8000
        # Before it is cut: the half of a secret would not be known as one.
        content, cut = cut_middle(self._redacted(result.content), limit)
        done = JournalledResult(result.ok, content, round(time.monotonic() - started, 3))
        await self._journal.end(made.key, done)
        return self._tell(made, done, touched, cut=cut)

    def _announce(self, made: _Call) -> None:
        """Tell of the call, once: before a person is asked about it, else once it has begun."""
        if made.announced:
            return
        made.announced = True
        self._context.publish(
            "tool_call",
            id=made.call["id"],
            tool=made.call["name"],
            args=made.call["args"],
            summary=made.summary,
        )

    def _summary(self, tool: Tool | None, args: ToolArgs | ToolResult) -> str:
        if tool is None or isinstance(args, ToolResult):
            return ""
        try:
            # Before it is cut, as with results.
            return self._context.redact(" ".join(tool.summary(args).split()))[:200]
        except Exception:  # noqa: BLE001 - a line for people; the call itself can still be good
            return ""

    def _redacted(self, text: str) -> str:
        redactor = self._context.redactor
        redactor.refresh()
        return redactor.text(text)

    def _tell(
        self,
        made: _Call,
        done: JournalledResult,
        touched: Touched | None = None,
        *,
        cut: int = 0,
        replayed: bool = False,
    ) -> Finished:
        call, touched = made.call, touched or Touched()
        self._context.publish(
            "tool_result",
            id=call["id"],
            tool=call["name"],
            content=done.content[:EVENT_CHARS],
            error=not done.ok,
            duration_s=done.duration_s,
            cut_chars=cut,
            replayed=replayed,
            refused=made.refused,
            locations=touched.locations(),
            changes=touched.changes(self._context.redact),
        )
        return Finished(call["id"], call["name"], made.summary, done.ok, done.content)

    async def _outcome(
        self, made: _Call, tool: Tool | None, args: ToolArgs | ToolResult
    ) -> ToolResult:
        """The call's result."""
        journal, name, guard = self._journal, made.call["name"], self._guard
        if tool is None:
            return self._unknown(name)
        if isinstance(args, ToolResult):
            return args
        if await journal.cut_off(made.key_of("asked")):
            # Stopped while a person was asked about a refused attempt, which has changed nothing.
            if await journal.cut_off(made.key_of("again")):
                return ToolResult(CUT_OFF, ok=False)
        elif await journal.cut_off(made.key):
            return ToolResult(CUT_OFF, ok=False)
        else:
            refusal = await self._refusal(made, tool)
            if refusal is not None:
                return refusal
            await journal.begin(made.key, name)
        self._announce(made)
        if guard is None:
            return await self._attempt(tool, args)
        before = len(guard.refusals)
        result = await self._attempt(tool, args)
        if not result.ok and (refusals := guard.refusals[before:]):
            await journal.begin(made.key_of("asked"), name)
            if await self._may_change(guard, made, refusals):
                del guard.refusals[before:]
                await journal.begin(made.key_of("again"), name)
                result = await self._attempt(tool, args)
        made.refused += [str(refusal) for refusal in guard.refusals[before:]]
        return result

    async def _attempt(self, tool: Tool, args: ToolArgs) -> ToolResult:
        try:
            limit_s = tool.options.limit_s
            with self._watch.over(tool, limit_s):
                async with asyncio.timeout(limit_s):
                    return await tool.run(args, self._context)
        except (RetraiError, WrongAnswerError) as error:
            return ToolResult(str(error), ok=False)
        except TimeoutError:
            message = f"{tool.name} was ended after {tool.options.limit_s:g} s"
            return ToolResult(message, ok=False)
        except (Exception, SystemExit, asyncio.CancelledError) as error:  # noqa: BLE001 - a broken tool is a result for the model, never a crash
            raise_if_cancelled(error)
            return ToolResult(f"{tool.name} failed: {type(error).__name__}: {error}", ok=False)

    async def _may_change(self, guard: Guard, made: _Call, refusals: Sequence[Refusal]) -> bool:
        """Ask a person about what the guard has refused; whether to try once more."""
        paths = list(dict.fromkeys(refusal.path for refusal in refusals))
        reason = "; ".join(map(str, refusals))
        async with self._asking:
            answer = await self._context.ask(
                f"{made.question}/files",
                f"Let the agent change {', '.join(paths)} after all?",
                kind="protected_file",
                data=made.about(reason) | {"paths": paths},
            )
        if answer is None or not answer.approved:
            return False
        guard.allow(paths)
        return True

    async def _refusal(self, made: _Call, tool: Tool) -> ToolResult | None:
        """Why the call is not made, or None."""
        call = made.call
        mark = self._context.redactor.mark_in(call["args"])
        if mark is not None and not tool.needs <= {"read"}:
            return ToolResult(MARKED.format(mark=mark), ok=False)
        if self._gate is None:
            return None
        decision = await self._gate(ToolCall(call["id"], call["name"], call["args"], tool.needs))
        if decision.verdict == "allow":
            return None
        if decision.verdict == "ask":
            why = await self._ask_person(made, decision.reason)
        else:
            why = f"{_REFUSED}{decision.reason or 'not permitted'}"
        if not why:
            return None
        self._note_denied(made, why)
        return ToolResult(why, ok=False)

    def _note_denied(self, made: _Call, why: str) -> None:
        """Keep it for the record, once; it is no change of the check and counts as no tampering."""
        called = f"{made.call['name']} {made.summary}".rstrip()
        reason = self._redacted(" ".join(why.removeprefix(_REFUSED).split()))
        line = f"{called}: {reason[:200]}"
        if line not in self.denied:
            self.denied.append(line)
            made.refused.append(line)

    async def _ask_person(self, made: _Call, reason: str) -> str:
        """Ask a person; why the call is refused, or ""."""
        name = made.call["name"]
        self._announce(made)
        async with self._asking:  # an answer for all calls of a tool is for those behind it too
            answer = await self._context.ask(
                made.question,
                f"Allow {name} {made.call['args']}?",
                choices=(APPROVE, _always(name), REJECT),
                kind="tool",
                data=made.about(reason),
            )
        if answer is None:
            return f"{_REFUSED}{reason or 'this needs a person'}, and nobody can be asked here"
        return "" if answer.approved else "refused by the user"

    def _unknown(self, name: str) -> ToolResult:
        known = sorted(self._context.tools)
        listed = ", ".join(known)
        return ToolResult(f"no tool {name!r}{nearest(name, known)}; the tools: {listed}", ok=False)


def _always(tool: str) -> Choice:
    label = f"Always allow {tool} in this run"
    return Choice(id="approve_always", kind="allow_always", label=label)


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
