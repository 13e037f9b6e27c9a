"""Calls the hook `artifacts`: files that plugins store with a finished run."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, cast

from ..contracts.event_sink import RunInfo
from ..contracts.verdict import Verdict
from ..errors import RetraiError, UsageError
from ..plugins.answers import problem
from ..plugins.daemon_call import aside
from ..plugins.hooks import HookCaller
from ..verification.guard import Guard
from ..verification.guarded_sandbox import can_reach
from ..verification.verifier import Verifier
from .check import verdict_of
from .holder import Holder


async def keep_artifacts(
    hooks: HookCaller, run: RunInfo, verdict: Verdict, holder: Holder, limit_s: float
) -> None:
    """Ask every plugin for its files, and put them into the store; one that fails has a warning.

    Args:
        hooks: the run's hook plugins.
        run: what they are told of the run.
        verdict: what they are told of its last check.
        holder: the store, and the record, which gets the names.
        limit_s: seconds for one plugin.
    """
    names = holder.record.artifacts = []
    for record in hooks.implementers("artifacts"):
        ask = partial(hooks.call_one, record, "artifacts", run=run, verdict=verdict)
        try:
            answer = await aside(ask, limit_s)
            if isinstance(answer, Exception):
                raise answer
            if wrong := problem(answer, Mapping[str, bytes]):
                raise UsageError(f"artifacts() returned {wrong}")
            for name, content in cast("Mapping[str, bytes]", answer).items():
                if name in names:
                    raise UsageError(f"{name} is another plugin's")
                await holder.store.put_blob(holder.claim, name, content)
                names.append(name)
        except Exception as error:  # noqa: BLE001 - the run has ended; its outcome stands
            message = f"{record.name} of {record.dist} keeps nothing with the run: {error}"
            holder.publish("log", level="warning", message=message)


async def verdict_of_run(
    holder: Holder, guard: Guard, verifier: Verifier, *, achieved: bool, state_within_reach: bool
) -> Verdict:
    """The last check of a run that ends, with all that is known of the run as evidence."""
    record = holder.record
    result = verifier.on_copy if achieved else None
    evidence: dict[str, Any] = {
        "record": record.model_dump(mode="json"),
        "events": [event.to_dict() for event in await holder.events()],
        "versions": record.versions,
        "tree": {"files": verifier.files},
        "state": str(guard.context.run_dir.parents[1]),  # runs/<id> stands in the state folder
        "sandbox": {"state_within_reach": state_within_reach},
    }
    if result is not None:
        evidence["clean_copy"] = {"achieved": True, "passed": verifier.passed_on_copies}
    result = result or verifier.last
    assert result is not None
    verdict = verdict_of(guard, result, "", evidence)
    return Verdict(
        achieved, verdict.reason, verdict.counts, verdict.cases, record.findings, evidence
    )


async def is_state_within_reach(guard: Guard) -> bool:
    """Whether the agent's commands could read the state folder; found out by trying.

    True where that cannot be found out.
    """
    baseline = guard.context.run_dir / "baseline" / "baseline.json"
    try:
        return await can_reach(guard.context.sandbox, baseline, "-r")
    except RetraiError:
        return True
