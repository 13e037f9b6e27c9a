"""What clients send and get, for validation and for the OpenAPI document.

Answers are described here and made in `views.py`: the record of a run has its own schema.
"""

from __future__ import annotations

import uuid
from typing import Annotated, Any, Literal

from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict, Field

RUN = "9f86d081884c"
PROJECT = "3f2b8f5e-7a43-5d0e-9c65-2f0b6f0a2c11"
DIGEST = "sha256:2c26b46b68ffc68f"

RunId = Annotated[
    str, Path(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$", examples=[RUN], description="Run id.")
]
After = Annotated[
    int, Query(ge=0, le=2**53, description="The number of the last event that is known already.")
]
Iteration = Annotated[int, Query(ge=0, le=100_000)]


class _Model(BaseModel):
    model_config = ConfigDict(use_attribute_docstrings=True)


class _Body(_Model):
    model_config = ConfigDict(extra="forbid")


class StartRun(_Model):
    """A new run. Any further key is a setting of `.retrai.yml`."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "examples": [{"goal": "pytest", "cwd": "shop", "model_name": "offline"}],
        },
    )

    goal: str | None = None
    """The goal's name; found from the project when left out."""
    cwd: str | None = Field(default=None, max_length=4096)
    """The project's folder, absolute or in the first root. Default: the first root."""
    project: uuid.UUID | None = None
    """The project's UUID, instead of `cwd`."""
    model_name: str | None = None
    """The model's name."""
    max_iterations: int | None = None
    """Maximum iterations."""
    hitl_enabled: bool | None = None
    """Ask a person after each iteration."""
    interactive: bool = False
    """Somebody answers questions about tool calls; else what needs consent is refused."""
    task: str | None = None
    """Words beside the goal."""
    options: dict[str, Any] | None = None
    """Options of the goal."""
    agent: str | None = None
    """The agent's name."""
    input: dict[str, Any] | None = None
    """What the agent is given."""
    labels: dict[str, str] = Field(default_factory=dict)
    """Labels, to find the run again."""
    continues: str | None = None
    """The run whose result the agent goes on from."""
    trust: str | None = None
    """The digest of a `TrustRequired`: consent to exactly what it showed."""


class Limits(_Body):
    """Settings that a run may change; null leaves one as it is, `"none"` lifts a limit."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"max_iterations": 30}]})

    max_iterations: int | None = None
    max_cost: float | Literal["none"] | None = None
    max_tokens: int | Literal["none"] | None = None
    max_time: float | Literal["none"] | None = None
    model_name: str | None = None
    temperature: float | None = None
    hitl_enabled: bool | None = None


class Resume(Limits):
    """An answer to the open question of a run, or new limits for one that has ended."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"decision": "approve"}, {"max_iterations": 30}]}
    )

    decision: str | None = None
    """`approve`, `abort`, or a choice of the question."""
    text: str = Field(default="", max_length=100_000)
    """Words beside it."""


class AnswerQuestion(_Body):
    """An answer to a question."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"choice": "approve"}]})

    choice: str = ""
    """A choice's id or kind, a word for yes or no, or `abort`."""
    text: str = Field(default="", max_length=100_000)
    """Words beside it."""


class UndoRun(_Body):
    """How far a run is taken back."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"to": 0, "dry_run": True}]})

    to: int = Field(default=0, ge=0, le=100_000)
    """Back to the end of this iteration; 0: before the first."""
    dry_run: bool = False
    """Say only what would be done."""


class RegisterProject(_Body):
    """A folder beneath a root."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"path": "shop"}]})

    path: str = Field(max_length=4096)
    """The folder, absolute or in the first root."""


class ApiProblem(_Model):
    """An error."""

    error: str
    """Its name, for programs."""
    message: str
    """What is wrong."""
    hint: str
    """What to do."""
    details: Any
    """More, for programs."""
    detail: str
    """The message again, for clients of the original server."""


class Started(_Model):
    """A run that has been asked for."""

    run_id: str
    status: str


class FinalState(_Model):
    """How a run stood at its end."""

    iteration: int
    goal_achieved: bool
    goal_reason: str
    total_tokens: int
    estimated_cost_usd: float | None


class RunSummary(_Model):
    """A run in a list."""

    model_config = ConfigDict(extra="allow")

    run_id: str
    """Its id."""
    goal: str | None = None
    """The goal's name; null where there is none."""
    status: str
    """`pending`, `running`, `waiting`, how it ended, or `unreadable`: its record is damaged."""
    model_name: str | None = None
    max_iterations: int | None = None
    hitl_enabled: bool = False
    cwd: str | None = None
    """The project's folder."""
    project: str | None = None
    """The project's UUID."""
    iteration: int = 0
    total_tokens: int = 0
    estimated_cost_usd: float | None = None
    created_at: str
    """When it was asked for, in UTC."""
    error: str | None = None


class WholeRun(RunSummary):
    """A run."""

    final_state: FinalState | None
    """Null before the end."""
    record: dict[str, Any]
    """The run record: docs/run-record.schema.json."""


class Event(_Model):
    """An event of a run: docs/plugins/events.md."""

    kind: str
    run_id: str
    iteration: int
    ts: float
    payload: dict[str, Any]
    seq: int


SUMMARY_EXAMPLE: dict[str, Any] = {
    "run_id": RUN,
    "goal": "pytest",
    "status": "achieved",
    "agent": "goal-loop",
    "model_name": "offline",
    "max_iterations": 50,
    "hitl_enabled": False,
    "cwd": "/home/me/shop",
    "project": PROJECT,
    "task": "",
    "labels": {"via": "retrai-server"},
    "iteration": 1,
    "total_tokens": 2096,
    "estimated_cost_usd": 0.0,
    "created_at": "2026-01-01T00:00:00.000+00:00",
    "started_at": "2026-01-01T00:00:00.500+00:00",
    "ended_at": "2026-01-01T00:00:04.000+00:00",
    "resumable": False,
    "reason": "8 passed",
    "error": None,
}
RUN_EXAMPLE: dict[str, Any] = {
    **SUMMARY_EXAMPLE,
    "final_state": {
        "iteration": 1,
        "goal_achieved": True,
        "goal_reason": "8 passed",
        "total_tokens": 2096,
        "estimated_cost_usd": 0.0,
    },
    "record": {"schema_version": 2, "id": RUN, "status": "achieved"},
}
EVENT_EXAMPLE: dict[str, Any] = {
    "kind": "step_start",
    "run_id": RUN,
    "iteration": 0,
    "ts": 1767225600.5,
    "payload": {"node": "plan", "iteration": 0},
    "seq": 3,
}
QUESTION_EXAMPLE: dict[str, Any] = {
    "id": "human_check.1",
    "run_id": RUN,
    "kind": "iteration",
    "text": "Go on?",
    "choices": [{"id": "approve", "kind": "allow_once", "label": "Approve"}],
    "takes_text": True,
    "data": {},
    "asked_at": 1767225601.0,
    "expires_at": None,
    "state": "open",
    "answer": None,
}


def problem(error: str, message: str, hint: str = "", details: Any = None) -> dict[str, Any]:
    """An error answer in the OpenAPI document, with an example."""
    example = {"error": error, "message": message, "hint": hint, "details": details}
    example["detail"] = message
    return {
        "model": ApiProblem,
        "description": error,
        "content": {"application/json": {"example": example}},
    }


NOT_HERE = "it was removed, or its project is not served here"
NOT_FOUND = {404: problem("RunNotFoundError", f"no run {RUN!r}", NOT_HERE)}
CONFLICT = {409: problem("Conflict", f"run {RUN} has ended: achieved")}
INVALID = {422: problem("ValidationError", "body.max_iterations: Input should be an integer")}
NEEDS_TRUST = {
    409: problem(
        "TrustRequired",
        "shop/.retrai.yml asks to run what it names",
        "send the same request with `trust`",
        {"digest": DIGEST, "items": {"check_command": "make check"}},
    )
}


def answers(
    example: Any, *more: dict[int, dict[str, Any]], status: int = 200
) -> dict[int | str, dict[str, Any]]:
    """The answers of a route for the OpenAPI document: an example, and its errors."""
    found: dict[int | str, dict[str, Any]] = {
        status: {"content": {"application/json": {"example": example}}}
    }
    for each in (*more, INVALID):
        found |= each
    return found
