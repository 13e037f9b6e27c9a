"""A question to a person, as data: stored and published; the first answer counts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ..errors import UsageError

QuestionKind = Literal["iteration", "tool", "protected_file", "suspicion", "question"]
"""What is asked about: going on after a check, a tool call, a change of a protected file, a verdict
that is suspect; `question` is an agent's own."""
ChoiceKind = Literal["allow_once", "allow_always", "reject"]
QuestionState = Literal["open", "answered", "withdrawn"]

ABORT = "abort"
"""The answer that ends the run, whatever was asked."""
_YES = frozenset({"approve", "yes", "y", "continue", "true"})
_NO = frozenset({"reject", "no", "n", "deny", "stop", "false"})
_KEY = re.compile(r"[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*")


class Choice(BaseModel):
    """One of the possible answers."""

    model_config = ConfigDict(frozen=True)

    id: str
    """What is sent as the answer."""
    kind: ChoiceKind
    """What it means for the run."""
    label: str
    """What a person reads."""


APPROVE = Choice(id="approve", kind="allow_once", label="Approve")
REJECT = Choice(id="reject", kind="reject", label="Reject")


class Answer(BaseModel):
    """A person's answer to a question; also the command that sends it to the run."""

    model_config = ConfigDict(frozen=True)

    command: Literal["answer"] = "answer"
    question_id: str
    """The question's id."""
    choice: str = ""
    """The id of the choice that was taken; empty for words alone."""
    kind: ChoiceKind = "allow_once"
    """What that choice means."""
    text: str = ""
    """What the person wrote beside it."""

    @property
    def approved(self) -> bool:
        """Whether the answer lets go on."""
        return self.kind != "reject"

    @property
    def aborts(self) -> bool:
        """Whether the answer ends the run."""
        return self.choice == ABORT


class Question(BaseModel):
    """A decision that a person must make before a run continues.

    Example:
        >>> question = Question(id="act.1", run_id="r1", kind="tool", text="Run it?", asked_at=1.0)
        >>> question.accept("yes").choice, question.accept("no").approved
        ('approve', False)
    """

    model_config = ConfigDict(frozen=True)

    id: str
    """Unique in its run, and the same when the step that asks runs again."""
    run_id: str
    kind: QuestionKind
    text: str
    """What is asked, in a sentence."""
    choices: Sequence[Choice] = (APPROVE, REJECT)
    """What can be answered; none where only words are asked for."""
    takes_text: bool = False
    """Whether words beside the choice are read."""
    data: Mapping[str, Any] = Field(default_factory=dict)
    """What it is about, JSON values: `reason`, and for a tool call its `call_id`, `tool` and
    `args`; `paths` of protected files; the `diff` since the last answer."""
    asked_at: float
    """Seconds since 1970."""
    expires_at: float | None = None
    """Seconds since 1970; null while it waits for as long as the run does."""
    state: QuestionState = "open"
    answer: Answer | None = None
    """The answer, once there is one."""

    def accept(self, choice: str = "", text: str = "") -> Answer:
        """The answer that these words are.

        Args:
            choice: a choice's id or its kind, a word for yes or no, or `abort`; may be empty where
                the question has no choices.
            text: what the person writes beside it.

        Raises:
            UsageError: there is no such choice, or words that the question does not take.
        """
        word = choice.strip().lower()
        if word == ABORT:
            return Answer(question_id=self.id, choice=ABORT, kind="reject", text=text)
        if not self.choices and (text or choice) and not (text and choice):
            return Answer(question_id=self.id, text=text or choice)
        taken = self._choice(word)
        if taken is None:
            ids = ", ".join(dict.fromkeys([*(known.id for known in self.choices), ABORT]))
            what = f"{choice!r} is no choice" if choice else "no choice is given"
            raise UsageError(f"{what} of the question {self.id}: {self.text}", hint=f"one of {ids}")
        return Answer(question_id=self.id, choice=taken.id, kind=taken.kind, text=text)

    def _choice(self, word: str) -> Choice | None:
        kind = "allow_once" if word in _YES else "reject" if word in _NO else word
        exact = [choice for choice in self.choices if choice.id.lower() == word]
        of_kind = [choice for choice in self.choices if choice.kind == kind]
        return next(iter([*exact, *of_kind]), None)


def question_id(key: str) -> str:
    """The id of the question that a step asks with this key.

    Args:
        key: letters, digits, `_` and `-` in parts between slashes: `act/3/1`.

    Raises:
        ValueError: the key is none.

    Example:
        >>> question_id("act/3/1")
        'act.3.1'
    """
    if not _KEY.fullmatch(key):
        raise ValueError(f"{key!r} is no key of a question: write it as act/3/1")
    return key.replace("/", ".")
