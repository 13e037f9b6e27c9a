"""The events of a run: one frozen event per step, each a JSON object on the wire.

Payload keys by kind (a key is always there unless it is marked optional):

=====================  =============================================================================
kind                   payload
=====================  =============================================================================
step_start             node (plan | act | evaluate | human_check, or another agent's), iteration
tool_call              id, tool, args (object), summary (one short line for people)
tool_result            id, tool, content (its first 500 characters; the journal has all), error
                       (bool), duration_s, cut_chars (what the tool's limit cut), replayed (true
                       when a resumed run took the result from the journal), refused (lines for the
                       record: that a gate, a person or the guard refused it),
                       locations ([{path}]: files that it read or wrote), changes ([{path, diff}]:
                       what it wrote, at most 20,000 characters of differences; both only what went
                       through the workspace)
llm_usage              model, text, tool_calls ([{id, name, args}]), prompt_tokens,
                       completion_tokens, total_tokens, cost_usd (null when unknown), duration_s,
                       finish_reason (null when unknown);
                       beside (optional; true: of a model beside the agent's, a judge, whose words
                       are not told)
goal_check             phase: baseline | iteration | final; achieved, reason, details, failing (the
                       cases that fail, by name, at most 200),
                       counts ({outcome: n}), duration_s, remembered (true: nothing was run)
human_check_required   question (object: `Question` as JSON)
human_check_response   question_id, decision (the choice's id), text, approved
progress               name, data (object): of an agent's own
iteration_complete     iteration, goal_achieved, total_tokens, cost_usd
run_end                status, reason, exit_code, next_step, total_tokens, estimated_cost_usd
error                  error, where
log                    level: info | warning; message; refused (optional; lines for the record, of
                       changes that were undone)
=====================  =============================================================================
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast, get_args

EventKind = Literal[
    "step_start",
    "tool_call",
    "tool_result",
    "llm_usage",
    "goal_check",
    "human_check_required",
    "human_check_response",
    "iteration_complete",
    "progress",
    "run_end",
    "error",
    "log",
]

EVENT_KINDS: tuple[EventKind, ...] = get_args(EventKind)
WORTH_A_LOOK = "worth a look: "
"""So begins a `log` of what the record has among its `findings`."""
_KEYS = frozenset({"kind", "run_id", "iteration", "payload", "ts"})


@dataclass(frozen=True, slots=True)
class AgentEvent:
    """An event of a run.

    Attributes:
        kind: one of `EVENT_KINDS`.
        run_id: the run it belongs to.
        iteration: how many evaluations had been counted when it happened (0 before the first).
        ts: seconds since the epoch.
        payload: JSON values only; the keys of each kind stand at the top of this module.
        seq: the event's number in its run: 1, 2, 3, ...; 0 before it is published.

    Example:
        >>> event = AgentEvent("log", "r1", 0, {"level": "info", "message": "hello"}, ts=1.5)
        >>> AgentEvent.from_json(event.to_json()) == event
        True
    """

    kind: EventKind
    run_id: str
    iteration: int
    payload: Mapping[str, Any]
    ts: float = field(default_factory=time.time)
    seq: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The event as a JSON object."""
        return {
            "seq": self.seq,
            "kind": self.kind,
            "run_id": self.run_id,
            "iteration": self.iteration,
            "ts": self.ts,
            "payload": self.payload,
        }

    def to_json(self) -> str:
        """One line of JSON, as the run log stores it."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    @classmethod
    def from_json(cls, line: str) -> AgentEvent:
        """Read one line of a run log, also one that retrai 0.1 wrote.

        Raises:
            ValueError: the line is not an event.
        """
        parsed: object = json.loads(line)
        raw = cast("dict[str, Any]", parsed) if isinstance(parsed, dict) else {}
        if raw.get("kind") not in EVENT_KINDS or not raw.keys() >= _KEYS:
            raise ValueError(f"not an event: {line[:80]!r}")
        if "seq" not in raw:
            raw["payload"] = _renamed(raw["kind"], raw["payload"])
        return cls(
            raw["kind"],
            raw["run_id"],
            raw["iteration"],
            raw["payload"],
            ts=raw["ts"],
            seq=raw.get("seq", 0),
        )


_OLD_KEYS = {
    "step_start": {"step": "node"},
    "tool_call": {"name": "tool"},
    "tool_result": {"name": "tool"},
    "llm_usage": {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens"},
    "run_end": {"outcome": "status"},
    "error": {"message": "error"},
}
"""Of logs without numbers, which retrai 0.1 wrote: the key now, by the key then."""


def _renamed(kind: str, payload: Mapping[str, Any]) -> dict[str, Any]:
    new_keys = _OLD_KEYS.get(kind, {})
    renamed = {new_keys.get(key, key): value for key, value in payload.items()}
    if kind == "tool_result" and "ok" in renamed:
        renamed["error"] = not renamed.pop("ok")
    return renamed
