"""The run record, `run.json`: the request, the outcome and the evidence."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, model_validator

from .goal import CheckReport, GoalResult

Status = Literal[
    "pending",
    "running",
    "waiting",
    "achieved",
    "answered",
    "failed",
    "aborted",
    "tampered",
    "stuck",
    "budget",
    "flaky",
    "error",
    "interrupted",
]

EXIT_CODES: dict[str, int] = {
    "achieved": 0,
    "answered": 0,
    "failed": 1,
    "aborted": 3,
    "tampered": 4,
    "stuck": 5,
    "budget": 6,
    "flaky": 7,
    "error": 70,
    "interrupted": 130,
}
"""Exit code by outcome; a usage error, before there is a run, is 2."""

RESUMABLE = frozenset({"pending", "failed", "stuck", "budget", "error", "interrupted"})
"""Statuses from which a run can go on."""
UNDER_WAY: frozenset[Status] = frozenset[Status]({"running", "waiting"})
"""Statuses of a run that somebody works on."""


class Tokens(BaseModel):
    """Tokens used by the run's model calls."""

    input: int = 0
    """Sent to the model."""
    output: int = 0
    """Answered by it."""
    total: int = 0
    """Both, as the provider counts."""


class NeededLimit(BaseModel):
    """The limit that prevented a model call, and the value that the call needs."""

    limit: Literal["max_cost_usd", "max_tokens", "max_time_s"]
    """The setting."""
    at_least: float | None
    """The least value with which that call is made; null where none can be kept, for want of the
    model's price."""


class HeldOutCounts(BaseModel):
    """Results of the tests that the agent never saw (`holdout:`)."""

    total: int
    """How many cases there are."""
    failed: int
    """How many of them did not pass in the last check of them."""


class CheckEvidence(BaseModel):
    """Evidence of one check: cases by outcome, the exact command, the interpreter, the reason."""

    achieved: bool
    """The goal passed."""
    reason: str
    """What the check found, in one line."""
    counts: dict[str, int] = Field(default_factory=dict)
    """How many cases had each outcome."""
    command: list[str] = Field(default_factory=list)
    """What was run."""
    interpreter: str = ""
    """The program that ran the project's code."""

    @classmethod
    def of(cls, result: GoalResult) -> CheckEvidence:
        """Evidence from a goal's answer."""
        report = result.report or CheckReport({}, ())
        return cls(
            achieved=result.achieved,
            reason=result.reason,
            counts=report.counts(),
            command=list(report.command),
            interpreter=report.interpreter,
        )


class GoalRecord(BaseModel):
    """One goal of a run: how it was selected, and the results of its checks."""

    name: str
    """The goal's name."""
    found_by: str = ""
    """The sign in the project by which the goal was found; empty where the user named it."""
    options: dict[str, Any] = Field(default_factory=dict)
    """The goal's options."""
    before: CheckEvidence | None = None
    """The baseline check, before the first turn."""
    after: CheckEvidence | None = None
    """The last check."""
    held_out: HeldOutCounts | None = None
    """Cases that the agent never saw; null without `holdout:`, or before they were run."""
    flaky: list[str] = Field(default_factory=list)
    """Cases that passed and failed on the same tree, at most ten."""


class HandOver(BaseModel):
    """What a run that ended without success leaves to whoever goes on."""

    by: Literal["model", "rule"]
    """Who wrote the text: the model in its last iteration, or retrai by rule."""
    text: str
    """What was tried and with what effect, what still fails, where to look."""
    command: str = ""
    """The command that goes on."""


class Limits(BaseModel):
    """Limits of a run over its whole life; null is no limit."""

    max_iterations: int | None = None
    """Iterations."""
    max_cost_usd: float | None = None
    """US dollars of model calls."""
    max_tokens: int | None = None
    """Tokens of model calls, in and out together."""
    max_time_s: float | None = None
    """Seconds of each part of the run; a part begins when the run is started or resumed."""


SCHEMA_VERSION = 2


class RunRecord(BaseModel):
    """One run, from `pending` to its end. `retrai run --json` prints it."""

    model_config = ConfigDict(extra="ignore")

    schema_version: int = SCHEMA_VERSION
    """The form of this record; a field may be added without a new one."""
    id: str
    """The run's id."""
    attended: bool = False
    """Somebody watches its events while it runs."""
    interactive: bool = False
    """Somebody answers its questions."""
    agent: str = "goal-loop"
    """The agent's name."""
    goals: list[GoalRecord] = Field(default_factory=list[GoalRecord])
    """The goals that are checked; one for now, none where the agent needs none."""
    labels: dict[str, str] = Field(default_factory=dict)
    """Labels of the caller, to find the run again."""
    parent: str | None = None
    """The id of the run that asked for this one."""
    continues: str | None = None
    """The id of the run whose result the agent begins with."""
    engine: str = ""
    """The name of the engine that executes it."""
    commands_seen: int = 0
    """The number of the last command that was taken from the run's mailbox."""
    model: str
    """The model's name."""
    project: Path
    """The project's folder."""
    task: str = ""
    """The user's free text beside the goal."""
    input: dict[str, Any] = Field(default_factory=dict)
    """What the agent was given."""
    status: Status = "pending"
    """`pending`, `running`, `waiting` (for a person), or how the run ended."""
    exit_code: int | None = None
    """The exit code of `retrai run`; null before the end."""
    reason: str = ""
    """Why it ended so, in one line."""
    output: str = ""
    """What the agent answered."""
    data: dict[str, Any] = Field(default_factory=dict)
    """What the agent gives beside its answer."""
    next_step: str = ""
    """What to type next."""
    hand_over: HandOver | None = None
    """What was tried, what still fails and where to look; null while the run works, after a
    success, and where there was no check."""
    limits: Limits = Field(default_factory=Limits)
    """What the run may use."""
    needed: NeededLimit | None = None
    """Of a run that ended as `budget`: the limit that was too low; null where it is not known."""
    gave_up: bool = False
    """The model itself reported that it can do nothing more."""
    started_at: float | None = None
    """Seconds since 1970."""
    created_at: float = Field(default_factory=time.time)
    """Seconds since 1970; when the run was asked for."""
    ended_at: float | None = None
    """Seconds since 1970; of a resumed run, its last end."""
    part_started_at: float | None = None
    """Seconds since 1970; when it was started or, of a resumed run, last resumed."""
    worked_s: float = 0.0
    """Seconds of work, without the pauses before it was resumed."""
    iterations: int = 0
    """Number of iterations of plan, act and evaluate."""
    tokens: Tokens = Field(default_factory=Tokens)
    """What the model calls used."""
    cost_usd: float | None = None
    """US dollars of all model calls; null when the model's price is not known."""
    tree_before: str = ""
    """Hash of the project's files before the first turn."""
    sandboxes: list[str] = Field(default_factory=list)
    """Where commands ran; more than one when the run was resumed with another."""
    artifacts: list[str] = Field(default_factory=list)
    """Names of the files that plugins have kept with the run: `receipt.json`."""
    saved_iterations: int = 0
    """Iterations saved because the run was stopped for lack of progress."""
    saved_tokens: int = 0
    """Estimated tokens of these iterations, at the rate of the last ones."""
    checks_run: int = 0
    """Checks that ran, the baseline and those on clean copies too."""
    checks_remembered: int = 0
    """Evaluations that ran nothing because nothing had changed."""
    refused: list[str] = Field(default_factory=list)
    """Changes of protected files that were refused or undone, and calls that a rule of
    `permissions:`, another gate or a person refused, in plain words."""
    allowed_edits: list[str] = Field(default_factory=list)
    """Protected files that were changed because `allow_edit` or a person lets the run."""
    findings: list[str] = Field(default_factory=list)
    """Additions of the run that a person should review: a new skip, a changed `sys.modules`, ..."""
    changed_files: list[str] = Field(default_factory=list)
    """Paths that differ from before the first turn."""
    versions: dict[str, str] = Field(default_factory=dict)
    """Version by distribution: retrai's and those of the plugins used."""
    config: dict[str, Any] = Field(default_factory=dict)
    """The configuration that the run was created with; resuming uses it again."""
    origins: dict[str, str] = Field(default_factory=dict)
    """By setting: the file, the variable or `flag` that its value comes from."""

    @model_validator(mode="before")
    @classmethod
    def _of_an_older_version(cls, raw: object) -> object:
        if not isinstance(raw, dict):
            return raw
        values = cast("dict[str, Any]", raw)
        version = values.get("schema_version", SCHEMA_VERSION)
        if isinstance(version, int) and version > SCHEMA_VERSION:
            raise ValueError(
                f"it has the form {version}, and this retrai knows {SCHEMA_VERSION}: "
                "`pip install -U retrai`"
            )
        return _from_version_1(values) if version == 1 else values

    @model_validator(mode="after")
    def _config_names_the_run(self) -> RunRecord:
        # A configuration without an id makes up a new one, under which a resumed run would not
        # find its own checkpoints.
        self.config["run_id"] = self.id
        return self

    @property
    def goal(self) -> str:
        """The name of the goal; empty where there is none."""
        return self.goals[0].name if self.goals else ""

    @property
    def evidence(self) -> GoalRecord:
        """What the checks of the run's goal found.

        Raises:
            ValueError: the run has no goal.
        """
        if not self.goals:
            raise ValueError(f"run {self.id} has no goal")
        return self.goals[0]

    @property
    def resumable(self) -> bool:
        """Whether `retrai runs resume` can go on with it."""
        return self.status in RESUMABLE

    def note_stop(self, stop: Mapping[str, Any]) -> None:
        """Take over what a stop of the loop says beside its outcome; an empty one clears it."""
        needed = stop.get("needed")
        self.needed = None if needed is None else NeededLimit.model_validate(needed)
        self.gave_up = stop.get("gave_up", False)
        self.saved_iterations = stop.get("saved_iterations", 0)
        self.saved_tokens = stop.get("saved_tokens", 0)

    def save(self, run_dir: Path) -> None:
        """Write `run.json` atomically, so that a kill leaves the old one or the new one."""
        # What is no UTF-8 (a file name, half a surrogate pair) must not cost the record.
        text = json.dumps(self.model_dump(mode="json"), indent=2, ensure_ascii=False)
        content = text.encode(errors="replace")
        with tempfile.NamedTemporaryFile(dir=run_dir, delete=False) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(file.name).replace(run_dir / "run.json")

    @classmethod
    def load(cls, run_dir: Path) -> RunRecord:
        """Read `run.json`.

        Raises:
            OSError: there is none.
            pydantic.ValidationError: it is not a run record.
        """
        return cls.model_validate_json((run_dir / "run.json").read_text(encoding="utf-8"))


def _from_version_1(old: dict[str, Any]) -> dict[str, Any]:
    """The values of a record that retrai 0.1 wrote, under the names of now."""
    config = cast("dict[str, Any]", old.get("config") or {})
    goal = {name: old[name] for name in ("before", "after", "held_out", "flaky") if name in old}
    goal |= {"name": old.get("goal"), "found_by": old.get("goal_evidence", "")}
    goal["options"] = config.get("options", {})
    limits = {name: config[name] for name in Limits.model_fields if name in config}
    return old | {
        "schema_version": SCHEMA_VERSION,
        "goals": [goal],
        "agent": config.get("agent", "goal-loop"),
        "input": {"task": old["task"]} if old.get("task") else {},
        "limits": limits,
        "created_at": old.get("started_at") or 0.0,
    }
