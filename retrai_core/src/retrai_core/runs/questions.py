"""The holder's side of questions: asks, waits for the answer from the mailbox, stores both."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from ..agents.deadline import Deadline
from ..contracts.question import Answer, Question
from ..contracts.store import Claim, RunStore

Publish = Callable[..., None]


class Questions:
    """The questions of one run; an instance is a `RunContext.asker`.

    Args:
        store: where they are kept.
        claim: the holder's.
        publish: publishes an event: its kind, and its payload by keyword.
        deadline: stands still while a person is asked.
        on_waiting: hears whether the run waits for a person, whenever that may have changed.

    Attributes:
        can_ask: whether somebody answers; else nothing is asked.
        on_abort: ends the run.
    """

    def __init__(
        self,
        store: RunStore,
        claim: Claim,
        publish: Publish,
        deadline: Deadline,
        on_waiting: Callable[[bool], Awaitable[None]],
    ) -> None:
        self.can_ask = False
        self.on_abort: Callable[[], None] = _do_nothing
        self._store = store
        self._claim = claim
        self._publish = publish
        self._deadline = deadline
        self._on_waiting = on_waiting
        self._known: dict[str, Question] = {}
        self._open: dict[str, asyncio.Future[Answer]] = {}

    async def load(self) -> None:
        """Take up what earlier parts of the run have asked."""
        found = await self._store.questions(self._claim.run_id)
        self._known = {question.id: question for question in found}

    async def __call__(self, question: Question) -> Answer | None:
        """The stored answer, or that of a person; None where nobody can be asked."""
        known = self._known.get(question.id)
        if known is not None and known.answer is not None:
            return known.answer
        if always := self._always(question):
            return always.model_copy(update={"question_id": question.id})
        if not self.can_ask:
            return None
        answered = self._open.get(question.id)
        if answered is None:
            answered = asyncio.get_running_loop().create_future()
            self._open[question.id] = answered
            await self._save(question)
            self._publish("human_check_required", question=question.model_dump(mode="json"))
            # Not `True`: where the store is slow, it may have been answered by now.
            await self._on_waiting(bool(self._open))
        with self._deadline.paused():
            return await asyncio.shield(answered)

    async def answer(self, answer: Answer) -> None:
        """Take an answer from the mailbox; one that comes too late changes nothing.

        It counts for a question that was withdrawn too: when it was sent the question was open, and
        the run ended before it was read.
        """
        question = self._known.get(answer.question_id)
        if question is None or question.state == "answered":
            return
        await self._save(question.model_copy(update={"state": "answered", "answer": answer}))
        self._publish(
            "human_check_response",
            question_id=answer.question_id,
            decision=answer.choice,
            text=answer.text,
            approved=answer.approved,
        )
        waiting = self._open.pop(answer.question_id, None)
        if waiting is not None:
            await self._on_waiting(bool(self._open))
        ends_itself = any(choice.id == answer.choice for choice in question.choices)
        if answer.aborts and not ends_itself:
            self.on_abort()
        elif waiting is not None and not waiting.done():
            waiting.set_result(answer)

    async def withdraw(self) -> None:
        """Nobody waits for an answer any more: the run has ended."""
        self._open.clear()
        for question in list(self._known.values()):
            if question.state == "open":
                await self._save(question.model_copy(update={"state": "withdrawn"}))

    async def _save(self, question: Question) -> None:
        self._known[question.id] = question
        await self._store.put_question(self._claim, question)

    def _always(self, question: Question) -> Answer | None:
        """An earlier answer that holds for the rest of the run and for this question too.

        One that offers no such answer (whether to go on although the run is stuck) is asked.
        """
        scope = _scope(question)
        if not any(choice.kind == "allow_always" for choice in question.choices):
            return None
        for known in self._known.values():
            always = known.answer is not None and known.answer.kind == "allow_always"
            if always and scope is not None and _scope(known) == scope:
                return known.answer
        return None


def _scope(question: Question) -> tuple[str, Any] | None:
    """What an `allow_always` is about: calls of one tool, or going on after a check."""
    if question.kind == "tool":
        return ("tool", question.data.get("tool"))
    return ("iteration", None) if question.kind == "iteration" else None


def _do_nothing() -> None:
    """Until somebody can end the run."""
