"""Writes the receipt of a run that has just been achieved."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel

from .. import __version__
from ..contracts.context import RunContext
from ..contracts.goal import GoalResult
from ..contracts.question import Question
from ..errors import RetraiError
from ..guard.baseline import Baseline
from ..guard.holdout import HeldOut
from ..plugins.standard_names import LOCAL_SANDBOX
from ..run_config import USE
from ..runs.record import RunRecord
from ..storage.event_log import read_events
from ..workspace.portable_tree import digest_of
from .receipt import RECEIPT_FILE, HeldOutCases, Receipt, SandboxUsed, Tampering, Trees, sign
from .signing import SigningKey

MOST_FILES = 5_000
"""Of a larger tree the receipt holds one hash and no list, which would take a megabyte and more."""

LEFT_OUT = "***"
_PASSWORD = re.compile(r"(?P<before>://[^/\s:@]*:)[^/\s@]+(?P<after>@)")
_SECRET_NAME = re.compile(r"(^|_)(password|passwd|secret|token|api_?key)$", re.IGNORECASE)
_PROBE_TIMEOUT_S = 20


@dataclass(frozen=True)
class Judged:
    """What a run's verifier has seen.

    Attributes:
        files: the final tree, as `portable_files` gives it.
        on_copy: the check's answer on a clean copy of it.
        times: how many times it passed on clean copies.
        held_out: how the tests ended that the agent never saw.
    """

    files: Mapping[str, str]
    on_copy: GoalResult
    times: int
    held_out: HeldOut | None = None


async def write_receipt(
    record: RunRecord,
    context: RunContext,
    baseline: Baseline,
    judged: Judged,
    key: SigningKey,
) -> Path:
    """Sign what the run has achieved, and keep it in the run's folder.

    Args:
        record: the run.
        context: its parts, still open: the sandbox is asked whether it hides the key.
        baseline: what the guard held the check against.
        judged: what was verified.
        key: signs it.

    Raises:
        RetraiError: the key cannot be read or made.
        OSError: the file cannot be written.
    """
    public = key.public  # made now, so that the sandbox is asked about a file that is there
    receipt = _receipt(record, context, baseline, judged)
    receipt.sandbox.key_within_reach = await _within_reach(context, record, key.path)
    receipt.sandbox.note = _note(receipt.sandbox.key_within_reach, public.fingerprint)
    path = context.run_dir / RECEIPT_FILE
    temporary = context.run_dir / f"{RECEIPT_FILE}.new"
    temporary.write_bytes(sign(receipt, key))
    temporary.replace(path)
    return path


def _receipt(record: RunRecord, context: RunContext, baseline: Baseline, judged: Judged) -> Receipt:
    report = judged.on_copy.report
    config = record.config
    return Receipt(
        run=record.id,
        issued_at=datetime.now(UTC).isoformat(timespec="seconds"),
        goal=record.goal,
        options=_without_secrets(_options(context)),
        settings=_settings(record),
        model=record.model,
        iterations=record.iterations,
        project=str(record.project),
        command=list(report.command) if report else [],
        interpreter=report.interpreter if report else context.python,
        checks_on_copies=judged.times,
        sandbox=SandboxUsed(names=record.sandboxes, key_within_reach=True, note=""),
        trees=Trees(
            baseline=record.tree_before,
            final=digest_of(judged.files),
            files=dict(judged.files) if len(judged.files) <= MOST_FILES else None,
            file_count=len(judged.files),
        ),
        python=context.python,
        baseline=baseline.model_dump(mode="json", exclude={"cases", "details"}),
        before=baseline.cases,
        after=dict(report.cases) if report else {},
        held_out=HeldOutCases(
            globs=config.get("holdout", []),
            total=judged.held_out.total if judged.held_out else 0,
            failed=judged.held_out.failed if judged.held_out else 0,
        ),
        versions={"retrai-core": __version__, **record.versions},
        tampering=Tampering(
            refused=_refusals(context.run_dir),
            findings=record.findings,
            human_answers=_human_answers(context.run_dir),
            allow_edit=config.get("allow_edit", []),
        ),
    )


def _options(context: RunContext) -> dict[str, Any]:
    """What was given, and what the goal's detection found; not what is the default."""
    options = cast("BaseModel", context.goal.options)
    return options.model_dump(mode="json", exclude_unset=True)


def _settings(record: RunRecord) -> dict[str, Any]:
    """What a check is built from beside the goal's options."""
    config = record.config
    plugins = config.get("plugins", {})
    used = {name: plugins[name] for name in {record.goal, *record.sandboxes} if name in plugins}
    kept = {name: config[name] for name in ("python", "sandbox", "pins") if config.get(name)}
    if (use := config.get("goals", {}).get(record.goal, {}).get(USE)) is not None:
        kept["goals"] = {record.goal: {USE: use}}
    return _without_secrets({**kept, "plugins": used} if used else kept)


def _without_secrets(value: Any) -> Any:
    """The same without passwords: a receipt is made to be handed on."""
    if isinstance(value, dict):
        entries = cast("dict[str, Any]", value)
        return {
            name: LEFT_OUT if _SECRET_NAME.search(name) and entry else _without_secrets(entry)
            for name, entry in entries.items()
        }
    if isinstance(value, list):
        return [_without_secrets(entry) for entry in cast("list[Any]", value)]
    if isinstance(value, str):
        return _PASSWORD.sub(rf"\g<before>{LEFT_OUT}\g<after>", value)
    return value


def _refusals(run_dir: Path) -> list[str]:
    """From the log and not from the record: a run that was killed has lost the latter's."""
    told = [
        str(event.payload["message"])
        for event in read_events(run_dir / "events.jsonl")
        if event.kind == "log"
    ]
    return [message for message in told if message.startswith(("refused: ", "undone: "))]


def _human_answers(run_dir: Path) -> list[str]:
    answers: list[str] = []
    asked: dict[str, str] = {}
    for event in read_events(run_dir / "events.jsonl"):
        if event.kind == "human_check_required":
            question_id, asked_now = _asked(event.payload)
            asked[question_id] = asked_now
        elif event.kind == "human_check_response":
            verdict = "approved" if event.payload["approved"] else "refused"
            answers.append(f"{asked[event.payload.get('question_id', '')]}: {verdict}")
    return answers


def _asked(payload: Mapping[str, Any]) -> tuple[str, str]:
    """A question's id, and what was asked and why; retrai 0.1 wrote both as text, without an id."""
    if isinstance(payload["question"], str):
        return "", f"{payload['question']} ({payload['reason']})"
    question = Question.model_validate(payload["question"])
    reason = question.data.get("reason")
    return question.id, f"{question.text} ({reason})" if reason else question.text


async def _within_reach(context: RunContext, record: RunRecord, key: Path) -> bool:
    """Whether the agent's commands could have read the key or the baseline; found out by trying."""
    if LOCAL_SANDBOX in record.sandboxes or len(record.sandboxes) != 1:
        return True
    script = '[ -r "$1" ] || [ -r "$2" ]'
    baseline = context.run_dir / "baseline" / "baseline.json"
    try:
        done = await context.sandbox.run(
            ["/bin/sh", "-c", script, "sh", str(key), str(baseline)], timeout_s=_PROBE_TIMEOUT_S
        )
    except RetraiError:
        return True
    return done.exit_code != 1


def _note(within_reach: bool, fingerprint: str) -> str:
    if within_reach:
        return (
            "the agent's commands ran with the user's rights and could have reached the signing "
            f"key {fingerprint} and the baseline: run `retrai verify` rather than rely on this"
        )
    return "the agent's commands could reach neither the signing key nor the baseline"
