"""Writes the receipt of a run that has just achieved its goal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, cast

from retrai_core import (
    AgentEvent,
    Question,
    RunInfo,
    RunRecord,
    Verdict,
    __version__,
    tree_digest,
)

from .receipt import HeldOutCases, Receipt, SandboxUsed, Tampering, Trees

MOST_FILES = 5_000
"""Of a larger tree the receipt holds one hash and no list, which would take a megabyte and more."""

LEFT_OUT = "***"
_PASSWORD = re.compile(r"(?P<before>://[^/\s:@]*:)[^/\s@]+(?P<after>@)")
_SECRET_NAME = re.compile(r"(^|_)(password|passwd|secret|token|api_?key)$", re.IGNORECASE)


def make_receipt(run: RunInfo, verdict: Verdict, fingerprint: str) -> Receipt:
    """What a run's last check and its record say, as a receipt.

    Args:
        run: the run.
        verdict: the check on a clean copy, with the evidence of a run.
        fingerprint: of the key that is going to sign it.
    """
    evidence = verdict.evidence
    record = RunRecord.model_validate(evidence["record"])
    events = [AgentEvent(**event) for event in evidence["events"]]
    baseline, files = evidence["baseline"], evidence["tree"]["files"]
    check = evidence.get("check", {})
    within_reach = evidence["sandbox"]["state_within_reach"]
    held_out = record.evidence.held_out
    return Receipt(
        run=run.run_id,
        issued_at=datetime.now(UTC).isoformat(timespec="seconds"),
        goal=record.goal,
        options=_without_secrets(record.evidence.options),
        settings=_settings(record, evidence["goal"]),
        model=record.model,
        iterations=record.iterations,
        project=str(run.project),
        command=check.get("command", []),
        interpreter=check.get("interpreter", evidence["python"]),
        checks_on_copies=evidence["clean_copy"]["passed"],
        sandbox=SandboxUsed(
            names=record.sandboxes,
            key_within_reach=within_reach,
            note=_note(within_reach, fingerprint),
        ),
        trees=Trees(
            baseline=record.tree_before,
            final=tree_digest(files),
            files=files if len(files) <= MOST_FILES else None,
            file_count=len(files),
        ),
        python=evidence["python"],
        baseline={name: each for name, each in baseline.items() if name not in _SAID_ELSEWHERE},
        before=baseline["cases"],
        after=dict(verdict.cases),
        held_out=HeldOutCases(
            globs=record.config.get("holdout", []),
            total=held_out.total if held_out else 0,
            failed=held_out.failed if held_out else 0,
        ),
        versions={"retrai-core": __version__, **record.versions},
        tampering=Tampering(
            refused=_refusals(events),
            findings=record.findings,
            human_answers=_human_answers(events),
            allow_edit=record.config.get("allow_edit", []),
        ),
    )


_SAID_ELSEWHERE = ("cases", "details")


def _settings(record: RunRecord, plugin: str) -> dict[str, Any]:
    """What a check is built from beside the goal's options."""
    config = record.config
    plugins = config.get("plugins", {})
    named = {record.goal, plugin, *record.sandboxes}
    used = {name: plugins[name] for name in named if name in plugins}
    kept = {name: config[name] for name in ("python", "sandbox", "pins") if config.get(name)}
    # A check of the project's own is another goal under a name of its own.
    if (use := config.get("goals", {}).get(record.goal, {}).get("use")) is not None:
        kept["goals"] = {record.goal: {"use": use}}
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


def _refusals(events: Iterable[AgentEvent]) -> list[str]:
    """From the log and not from the record: a run that was killed has lost the latter's."""
    logged = [str(event.payload["message"]) for event in events if event.kind == "log"]
    return [message for message in logged if message.startswith(("refused: ", "undone: "))]


def _human_answers(events: Iterable[AgentEvent]) -> list[str]:
    answers: list[str] = []
    questions: dict[str, str] = {}
    for event in events:
        if event.kind == "human_check_required":
            question_id, text = _question(event.payload)
            questions[question_id] = text
        elif event.kind == "human_check_response":
            decision = "approved" if event.payload["approved"] else "refused"
            answers.append(f"{questions[event.payload.get('question_id', '')]}: {decision}")
    return answers


def _question(payload: Mapping[str, Any]) -> tuple[str, str]:
    """A question's id, and its text with the reason; retrai 0.1 wrote both as text."""
    if isinstance(payload["question"], str):
        return "", f"{payload['question']} ({payload['reason']})"
    question = Question.model_validate(payload["question"])
    reason = question.data.get("reason")
    return question.id, f"{question.text} ({reason})" if reason else question.text


def _note(within_reach: bool, fingerprint: str) -> str:
    if within_reach:
        return (
            "the agent's commands ran with the user's rights and could have reached the signing "
            f"key {fingerprint} and the baseline: run `retrai verify` rather than rely on this"
        )
    return "the agent's commands could reach neither the signing key nor the baseline"
