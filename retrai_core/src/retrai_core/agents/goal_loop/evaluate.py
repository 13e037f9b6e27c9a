"""The evaluate node: runs the check, reports to the model, counts the iteration."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig

from ...contracts.context import RunContext
from ...contracts.goal import Suspicion
from ...errors import BudgetSpentError, RetraiError
from ...events import WORTH_A_LOOK
from ...verification.audit import audit_around
from ...verification.behaviour import Observation, observe
from ...verification.flakiness import Flaky
from ...verification.new_tests import try_new_tests
from ...verification.verifier import Evaluation
from . import prompt
from .parts import Conclusion, LoopParts, parts_of
from .progress import GRACE, advance, tokens_saved, trouble
from .state import FAILED_STRATEGIES_KEPT, AgentState, NodeUpdate, Stop

_REACHES = "the change reaches into the check: {0.path}:{0.line} {0.what}"
_PLACES = 3
"""More places with the same finding than these are counted only."""


async def evaluate(state: AgentState, config: RunnableConfig) -> NodeUpdate:
    """Check the goal and say what the check found."""
    parts = parts_of(config)
    context = parts.context
    refused_before = len(parts.guard.refusals)
    refused_by_tools = refused_before - parts.refusals_counted
    iteration = state["iteration"] + 1
    evaluation, suspect = await _judged(parts, state, iteration)
    undone = [each for each in evaluation.undone if not parts.guard.is_case_data(each.path)]
    refused = state["refused"] + refused_by_tools + bool(undone)
    parts.refusals_counted = len(parts.guard.refusals)
    achieved = evaluation.result.achieved and not suspect
    update: NodeUpdate = {
        "iteration": iteration,
        "goal_achieved": achieved,
        "goal_reason": evaluation.result.reason,
        "refused": refused,
        "attempts": [],
        "last_calls": "",
    }
    update |= _settings(context, state)
    if achieved:
        update["consecutive_failures"] = 0
    elif suspect:
        update |= _suspect(context, evaluation, suspect)
    elif evaluation.flaky is not None:
        update |= _flaky(evaluation.flaky)
    else:
        update |= _not_yet(parts, state, evaluation, iteration, refused)
    parts.concluded = _conclusion(evaluation, suspect, update.get("stop"))
    used = parts.spending.used
    context.publish(
        "iteration_complete",
        iteration=iteration,
        goal_achieved=achieved,
        total_tokens=used.total_tokens,
        cost_usd=used.cost_usd,
    )
    return update


def _settings(context: RunContext, state: AgentState) -> NodeUpdate:
    """What the run was given anew since; each key that is written stands in the checkpoint."""
    now = {"max_iterations": context.max_iterations, "hitl_enabled": context.hitl_enabled}
    return {name: value for name, value in now.items() if state.get(name) != value}


async def conclude(parts: LoopParts, state: AgentState) -> Conclusion:
    """What the check says of the tree as it stands, in the words of `evaluate`.

    The latest conclusion counts where the tree is the one that it was drawn on. Else the check is
    asked again where the state says that the goal is achieved: the run may go on from a checkpoint,
    or a node of somebody else's may have said so or changed the project since.
    """
    known = parts.concluded
    if known is not None and await parts.verifier.stands(known.tree):
        return known
    if not state["goal_achieved"]:
        return Conclusion("")
    evaluation, suspect = await _judged(parts, state, state["iteration"])
    flaky = _flaky(evaluation.flaky) if evaluation.flaky is not None else {}
    parts.concluded = _conclusion(evaluation, suspect, flaky.get("stop"))
    return parts.concluded


async def _judged(parts: LoopParts, state: AgentState, iteration: int) -> tuple[Evaluation, str]:
    """The verdict on the tree as it stands, and why it is suspect although it holds, or ""."""
    evaluation = await parts.verifier.evaluate(state)
    if parts.spending.refused is not None:  # and whoever was refused took it for something else
        raise BudgetSpentError(parts.spending.refused.problem)
    parts.context.iteration = iteration
    if not evaluation.remembered:
        await asyncio.to_thread(_snapshot, parts, iteration)
    suspect = ""
    if evaluation.result.achieved:
        audited, signs = await _audit(parts)
        suspect = evaluation.suspect or audited or await _behaviour(parts, evaluation, signs)
    if evaluation.result.achieved and not suspect:
        evaluation = await _with_new_tests(parts, evaluation)
    return evaluation, suspect


def _conclusion(evaluation: Evaluation, suspect: str, stop: Stop | None) -> Conclusion:
    tree, reason = evaluation.tree, evaluation.result.reason
    if suspect:
        return Conclusion(tree, "tampered", suspect, suspect_of=reason)
    if evaluation.result.achieved:
        return Conclusion(tree, "achieved", reason)
    if stop is not None and stop["outcome"] in ("tampered", "flaky"):
        return Conclusion(tree, stop["outcome"], stop["reason"])
    return Conclusion(tree, "failed", reason)


def _snapshot(parts: LoopParts, iteration: int) -> None:
    try:
        parts.snapshots.take(iteration, parts.verifier.listing)
        parts.unseen = ""
    except (RetraiError, OSError) as error:
        parts.unseen = str(error)
        parts.context.publish("log", level="warning", message=f"no snapshot: {error}")


async def _with_new_tests(parts: LoopParts, evaluation: Evaluation) -> Evaluation:
    """The verdict, or a refusal where the tests that the run was let change prove nothing."""
    try:
        if evaluation.tree not in parts.new_tests:
            parts.new_tests[evaluation.tree] = await try_new_tests(
                parts.guard, parts.snapshots, evaluation.result.report
            )
    except (RetraiError, OSError) as error:
        message = f"new tests were not tried on the sources as they were: {error}"
        parts.context.publish("log", level="warning", message=message)
        return evaluation
    found = parts.new_tests[evaluation.tree]
    if found.finding:
        _tell(parts, found.finding)
    if not found.refusal:
        return evaluation
    told = f"{found.refusal}. Write a test that fails without the change and passes with it."
    refused = replace(evaluation.result, achieved=False, reason=found.refusal, details=told)
    return replace(evaluation, result=refused)


async def _behaviour(parts: LoopParts, evaluation: Evaluation, signs: Sequence[Suspicion]) -> str:
    """Compare what the cases that turned green saw with what they saw before the run.

    Args:
        parts: the run.
        evaluation: the verdict.
        signs: what the audit found that is suspect together with a case that saw nothing new.

    Returns:
        why the verdict is suspect, or "". What is not enough for that is a question where a person
        can be asked, and a finding where nobody can.
    """
    on_copy, check_s = parts.verifier.on_copy, parts.verifier.check_s
    try:
        if on_copy is not None and evaluation.tree not in parts.observed:
            parts.observed[evaluation.tree] = await observe(
                parts.guard, parts.snapshots, on_copy, check_s, neighbors=parts.neighbors
            )
    except (RetraiError, OSError) as error:
        message = f"the behaviour before and after the run was not compared: {error}"
        parts.context.publish("log", level="warning", message=message)
    seen = parts.observed.get(evaluation.tree) or Observation()
    for line in seen.findings:
        _tell(parts, f"behaviour: {line}")
    for sign in () if seen.suspect else signs:
        if sign.sign == "unproven" and not seen.proven:
            return _REACHES.format(sign)
        unknown = seen.unknown if sign.sign == "unknown" else ""
        if doubt := seen.question or seen.doubt or unknown:
            return f"{doubt}; {sign.path}:{sign.line} {sign.what}"
    if seen.question and not seen.suspect and not parts.context.hitl_enabled:
        _tell(parts, f"behaviour: {seen.question}")
        return ""
    return seen.suspect or seen.question


async def _audit(parts: LoopParts) -> tuple[str, list[Suspicion]]:
    """Look through what the run changed, in the project and around it.

    Returns:
        why it is suspect, or ""; and what is suspect together with other signs.

    Most findings only raise suspicion and are told; source that reaches into the runner or reads
    the tests is suspect by itself, since it could pass every check that the runner makes.
    """
    try:
        found = await asyncio.to_thread(_audit_diff, parts)
        found += await audit_around(parts.guard, parts.snapshots)
    except (RetraiError, OSError) as error:
        # Whoever could make the audit fail would have switched it off.
        return f"what the run changed could not be looked through: {error}", []
    groups: dict[object, list[Suspicion]] = {}
    for each in found:
        groups.setdefault(each if each.reaches_runner else each.what, []).append(each)
    for first, *more in groups.values():
        places = [f"{each.path}:{each.line}" for each in more]
        _tell(parts, f"{first.path}:{first.line} {first.what}", also=places)
    signs = [each for each in found if each.sign and not parts.guard.is_allowed(each.path)]
    reaching = [finding for finding in found if finding.reaches_runner]
    if not reaching:
        return "", signs
    return _REACHES.format(reaching[0]), signs


def _audit_diff(parts: LoopParts) -> list[Suspicion]:
    """What the goal finds in the diff, without what a file has only as a copy of another one.

    What makes the verdict suspect, alone or with other signs, stays: code that was copied runs
    where it did not run before.
    """
    audit = parts.context.goal.audit
    found = list(audit(_diff(parts)))
    if all(each.reaches_runner or each.sign for each in found):
        return found
    known = audit(parts.snapshots.diff(find_copies=True))
    new = {(each.path, each.line, each.what) for each in known}
    return [
        each
        for each in found
        if each.reaches_runner or each.sign or (each.path, each.line, each.what) in new
    ]


def _diff(parts: LoopParts) -> str:
    """What the run changed; empty, and told, where no tree could be kept before the first turn.

    Raises:
        RetraiError: the tree could be kept then and cannot be now.
    """
    if not parts.snapshots.available:
        _tell(parts, "what the run changed was not looked through: `git` is not installed")
        return ""
    if parts.unseen:
        raise RetraiError(parts.unseen)
    first = next(iter(parts.snapshots.all()), None)
    if first is None or first.iteration:
        _tell(parts, "what the first turn changed was not looked through: it has no snapshot")
    return parts.snapshots.diff()


def _tell(parts: LoopParts, finding: str, also: Sequence[str] = ()) -> None:
    """Tell it, once, and put it into the record.

    Args:
        parts: the run.
        finding: the place, and what it is.
        also: other places with the same.
    """
    if any(known == finding or known.startswith(f"{finding} (also ") for known in parts.findings):
        return
    if also:
        rest = f" and {len(also) - _PLACES} more" if len(also) > _PLACES else ""
        finding = f"{finding} (also {', '.join(also[:_PLACES])}{rest})"
    parts.findings.append(finding)
    parts.context.publish("log", level="warning", message=f"{WORTH_A_LOOK}{finding}")


def _suspect(context: RunContext, evaluation: Evaluation, why: str) -> NodeUpdate:
    """Every case passes, and still the verdict is not believed: a person decides, or it ends."""
    context.publish("log", level="warning", message=f"suspect: {why}")
    note = f"Every case passes, but this is not believed: {why}. Fix the cause instead."
    return {
        "goal_reason": f"{evaluation.result.reason}, but {why}",
        "messages": [HumanMessage(note)],
        "stop": Stop(outcome="tampered", reason=why, suspect=True),
    }


def _flaky(flaky: Flaky) -> NodeUpdate:
    """No change of the project could be judged by such a check."""
    note = f"This check cannot judge anything: {flaky.reason}"
    return {"messages": [HumanMessage(note)], "stop": Stop(outcome="flaky", reason=flaky.reason)}


def _not_yet(
    parts: LoopParts, state: AgentState, evaluation: Evaluation, iteration: int, refused: int
) -> NodeUpdate:
    result, limit = evaluation.result, parts.context.max_iterations
    notes = [f"Undone: {refusal}" for refusal in evaluation.undone]
    attempt = prompt.attempt_of(state["attempts"])
    if evaluation.remembered and not notes:
        text = prompt.unchanged_status(iteration, limit, result, attempt)
    else:
        text = prompt.failed_status(iteration, limit, result, notes, attempt)
    if iteration + 1 == limit and parts.context.stop_mode == "soft":
        text = f"{text}\n\n{prompt.LAST_ITERATION}"
    update: NodeUpdate = {
        "messages": [HumanMessage(text)],
        "consecutive_failures": state["consecutive_failures"] + 1,
    }
    if attempt and not evaluation.remembered:
        # A turn that only read is no attempt; only what changed something can have failed.
        kept = [*state["failed_strategies"], f"{attempt} -> {result.reason}"]
        update["failed_strategies"] = kept[-FAILED_STRATEGIES_KEPT:]
    update |= _progress(state, evaluation, iteration, text)
    if refused >= parts.max_tampering:
        reason = f"changes of protected files were refused or undone {refused} times"
        update["stop"] = Stop(outcome="tampered", reason=reason)
    return update


def _progress(state: AgentState, evaluation: Evaluation, iteration: int, text: str) -> NodeUpdate:
    """Count how the run moves; warn a run that goes round in circles once, then end it."""
    progress = advance(state["progress"], evaluation.tree, state["last_calls"])
    update: NodeUpdate = {"progress": progress}
    circles = trouble(progress)
    if not circles or state["stop"] is not None:
        return update
    if progress["warned_at"] < 0:
        progress["warned_at"], progress["warned_tokens"] = iteration, state["total_tokens"]
        update["messages"] = [HumanMessage(f"{text}\n\n{prompt.going_in_circles(circles, GRACE)}")]
    elif iteration - progress["warned_at"] >= GRACE:
        limit = state["max_iterations"]
        update["stop"] = Stop(
            outcome="stuck",
            reason=f"{circles}; {evaluation.result.reason}",
            saved_iterations=max(0, limit - iteration),
            saved_tokens=tokens_saved(progress, iteration, limit, state["total_tokens"]),
        )
    return update
