"""Runs: start, list, show, answer, change, end, take back."""

from __future__ import annotations

import uuid
from dataclasses import asdict
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request

from retrai_core import Question, RunRecord, UsageError

from ..errors import ApiError, Json
from ..schemas import (
    CONFLICT,
    NEEDS_TRUST,
    NOT_FOUND,
    QUESTION_EXAMPLE,
    RUN,
    RUN_EXAMPLE,
    SUMMARY_EXAMPLE,
    AnswerQuestion,
    Iteration,
    Limits,
    Resume,
    RunId,
    RunSummary,
    Started,
    StartRun,
    UndoRun,
    WholeRun,
    answers,
    problem,
)
from ..server import created_at
from ..views import summary, unreadable, whole
from .shared import ServerState

router = APIRouter(prefix="/api/runs", tags=["runs"])
_STARTED = {"run_id": RUN, "status": "pending"}
_ASKED = "human_check_required"
_UNDER_WAY = ("pending", "running", "waiting")
_REFUSED_KEYS = frozenset({"run_id", "attended", "locked", "parent"})
_NO_QUESTION = {
    422: problem(
        "UsageError",
        "'maybe' is no choice of the question human_check.1: Go on?",
        "one of approve, reject, abort",
        {"choices": ["approve", "reject", "abort"]},
    )
}
_UNDONE = {"restored": ["shop/price.py"], "removed": [], "merged": [], "conflicts": []}


@router.post(
    "",
    status_code=201,
    response_model=Started,
    responses=answers(_STARTED, NEEDS_TRUST, status=201),
)
async def start_run(server: ServerState, body: StartRun) -> Json:
    """Start a run. 409 `TrustRequired` shows what the project's own file wants to run; the same
    request with `trust` set to the digest goes on."""
    more = body.model_extra or {}
    for name in sorted(_REFUSED_KEYS & more.keys()):
        raise ApiError(422, "UsageError", f"{name}: a request cannot say it")
    if body.project is not None:
        folder = server.projects.folder(body.project)
    else:
        folder = server.projects.resolve("." if body.cwd is None else body.cwd)
    known = body.model_dump(exclude={"cwd", "project", *more})
    request = await server.prepare(folder, **known, **more)
    run, record = await server.submit(request)
    return Json({"run_id": run.id, "status": record.status}, 201)


@router.get("", response_model=list[RunSummary], responses=answers([SUMMARY_EXAMPLE]))
async def list_runs(
    server: ServerState,
    request: Request,
    status: Annotated[str | None, Query(examples=["waiting"])] = None,
    goal: Annotated[str | None, Query(examples=["pytest"])] = None,
    project: Annotated[
        str | None, Query(description="A project's folder, or its UUID.", max_length=4096)
    ] = None,
    text: Annotated[
        str | None, Query(description="In the id, goal, model, project, task or reason.")
    ] = None,
    before: Annotated[
        float | None, Query(description="Created earlier, in seconds since 1970.", ge=0)
    ] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
) -> Json:
    """Runs, newest first. A `Link` header with `rel="next"` names the next page."""
    wanted: dict[str, Any] = {"status": status, "goal": goal, "text": text, "before": before}
    if project is not None:
        wanted["project"] = _folder(server, project)
    found = await server.list(limit + 1, **wanted)
    page = found[:limit]
    shown = [summary(run) if isinstance(run, RunRecord) else unreadable(run) for run in page]
    answer = Json(shown)
    if len(found) > limit:
        query = [pair for pair in request.query_params.multi_items() if pair[0] != "before"]
        query.append(("before", repr(created_at(page[-1]))))
        answer.headers["Link"] = f'<{request.url.path}?{urlencode(query)}>; rel="next"'
    return answer


@router.get("/{run_id}", response_model=WholeRun, responses=answers(RUN_EXAMPLE, NOT_FOUND))
async def show_run(server: ServerState, run_id: RunId) -> Json:
    """A run: its state, how it ended, and the whole record."""
    record, problem = await server.look(run_id)
    return Json({**whole(record), **({"error": str(problem)} if problem else {})})


@router.post(
    "/{run_id}/resume",
    response_model=Started,
    responses=answers(_STARTED, NOT_FOUND, CONFLICT, _NO_QUESTION),
)
async def resume_run(server: ServerState, run_id: RunId, body: Resume | None = None) -> Json:
    """Answer the open question with a `decision`; or go on with a run that has ended, with new
    limits where they are given."""
    run, record = await server.run(run_id)
    body = body or Resume()
    if body.decision is not None:
        questions = await run.questions()
        if not questions:
            raise ApiError(409, "NoQuestion", f"run {run_id} asks nothing: {record.status}")
        _check_choice(questions[0], body.decision, body.text)
        if not await run.answer(questions[0].id, body.decision, body.text):
            raise ApiError(409, "AlreadyAnswered", f"run {run_id} has got another answer")
    elif record.status in _UNDER_WAY or not record.resumable:
        goes_on = record.status in _UNDER_WAY
        what = "is under way" if goes_on else f"has ended: {record.status}"
        hint = f"PATCH /api/runs/{run_id}/config changes it" if goes_on else "POST /api/runs"
        raise ApiError(409, "Conflict", f"run {run_id} {what}", hint=hint)
    else:
        await server.resume(run, record, _limits(body))
    return Json({"run_id": run_id, "status": (await run.record()).status})


@router.post(
    "/{run_id}/abort", response_model=Started, responses=answers(_STARTED, NOT_FOUND, CONFLICT)
)
async def abort_run(server: ServerState, run_id: RunId) -> Json:
    """End a run as `aborted`."""
    run, record = await server.run(run_id)
    if not await run.cancel():
        raise ApiError(409, "Conflict", f"run {run_id} has ended: {record.status}")
    return Json({"run_id": run_id, "status": (await run.record()).status})


@router.patch(
    "/{run_id}/config", response_model=Started, responses=answers(_STARTED, NOT_FOUND, CONFLICT)
)
async def configure_run(server: ServerState, run_id: RunId, body: Limits) -> Json:
    """Change limits, the model or HITL, from the next iteration on."""
    run, record = await server.run(run_id)
    if record.ended_at is not None and record.status not in _UNDER_WAY:
        raise ApiError(
            409,
            "Conflict",
            f"run {run_id} has ended: {record.status}",
            hint=f"POST /api/runs/{run_id}/resume takes new limits" if record.resumable else "",
        )
    await run.configure(**_limits(body))
    return Json({"run_id": run_id, "status": record.status})


@router.get(
    "/{run_id}/questions",
    response_model=list[Question],
    responses=answers([QUESTION_EXAMPLE], NOT_FOUND),
)
async def list_questions(server: ServerState, run_id: RunId) -> Json:
    """What the run asks now, the oldest first."""
    run, _ = await server.run(run_id)
    return Json([question.model_dump(mode="json") for question in await run.questions()])


@router.post(
    "/{run_id}/questions/{question_id}",
    responses=answers({"counts": True}, NOT_FOUND, CONFLICT, _NO_QUESTION),
)
async def answer_question(
    server: ServerState, run_id: RunId, question_id: str, body: AnswerQuestion
) -> Json:
    """Answer a question; 409 where somebody was faster."""
    run, _ = await server.run(run_id)
    for question in await run.questions():
        if question.id == question_id:
            _check_choice(question, body.choice, body.text)
    asked = (event.payload["question"] for event in await run.logged() if event.kind == _ASKED)
    if question_id not in [question["id"] for question in asked]:
        raise ApiError(404, "QuestionNotFound", f"run {run_id} has not asked {question_id}")
    if not await run.answer(question_id, body.choice, body.text):
        raise ApiError(409, "AlreadyAnswered", f"question {question_id} is not open any more")
    return Json({"counts": True})


@router.get(
    "/{run_id}/diff",
    responses=answers(
        {"run_id": RUN, "diff": "--- a/shop/price.py\n+++ b/shop/price.py\n"}, NOT_FOUND
    ),
)
async def show_diff(
    server: ServerState, run_id: RunId, since: Iteration = 0, until: Iteration | None = None
) -> Json:
    """What the run has changed, as a unified diff, since the end of an iteration."""
    run, _ = await server.run(run_id)
    if until is not None and since > until:
        raise ApiError(422, "UsageError", f"since: {since} lies behind until, {until}")
    return Json({"run_id": run_id, "diff": await run.diff(since, until)})


@router.post("/{run_id}/undo", responses=answers(_UNDONE, NOT_FOUND, CONFLICT))
async def undo_run(server: ServerState, run_id: RunId, body: UndoRun | None = None) -> Json:
    """Take back what the run has changed; what others have changed since is kept."""
    run, _ = await server.run(run_id)
    body = body or UndoRun()
    return Json(asdict(await run.undo(body.to, dry_run=body.dry_run)))


@router.get(
    "/{run_id}/calls/{call_id}",
    responses=answers(
        {"call_id": "call_1", "ok": True, "content": "8 passed", "duration_s": 0.4}, NOT_FOUND
    ),
)
async def show_call(server: ServerState, run_id: RunId, call_id: str) -> Json:
    """The whole result of a tool call, of which the event has 500 characters."""
    run, _ = await server.run(run_id)
    result = await run.tool_result(call_id)
    if result is None:
        raise ApiError(404, "CallNotFound", f"run {run_id} has no finished call {call_id}")
    return Json({"call_id": call_id, **asdict(result)})


def _limits(body: Limits) -> dict[str, Any]:
    return body.model_dump(exclude_none=True, include=set(Limits.model_fields))


def _check_choice(question: Question, choice: str, text: str) -> None:
    """Name the choices where the answer is none."""
    try:
        question.accept(choice, text)
    except UsageError as error:
        choices = [*dict.fromkeys([*(each.id for each in question.choices), "abort"])]
        details = {"choices": choices}
        raise ApiError(
            422, "UsageError", error.message, hint=error.hint, details=details
        ) from error


def _folder(server: ServerState, project: str) -> str:
    try:
        return str(server.projects.folder(uuid.UUID(project)))
    except ValueError:
        return str(server.projects.resolve(project))
