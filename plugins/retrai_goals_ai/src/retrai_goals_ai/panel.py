"""Two judgements that must agree, and a third where they do not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from .judgement import ANGLES, Case, Judgement, NoJudgementError, judge

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

AGREEMENT = 1.0
"""How far apart two scores may be that count as one."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the judge thinks of a text.

    Attributes:
        score: the mean of the two judgements that agree; None where none is to be had.
        judgements: all that were given, in order.
        problem: why there is no score; empty where there is one.
        complete: whether the judge answered as it should, however much it disagrees with itself.
    """

    score: float | None
    judgements: tuple[Judgement, ...]
    problem: str = ""
    complete: bool = True

    @property
    def manipulation(self) -> str:
        """What a judge found in the text that was meant for it."""
        return next((j.manipulation.strip() for j in self.judgements if j.manipulation.strip()), "")


async def ask_panel(
    model: BaseChatModel,
    case: Case,
    timeout_s: float,
    tell: Callable[[int], None],
) -> Verdict:
    """Judge a text twice, side by side, and a third time where the scores are too far apart.

    Args:
        model: the judge.
        case: what is judged.
        timeout_s: seconds for one judgement.
        tell: hears the tokens of each judgement.
    """

    async def one(angle: int) -> Judgement:
        async with asyncio.timeout(timeout_s):
            judgement, tokens = await judge(model, case, angle)
        tell(tokens)
        return judgement

    given: list[Judgement] = []
    for angles in ((0, 1), range(2, ANGLES)):
        answers = await asyncio.gather(*map(one, angles), return_exceptions=True)
        for answer in answers:
            if isinstance(answer, Judgement):
                given.append(answer)
            else:
                return Verdict(None, tuple(given), _said(answer, timeout_s), complete=False)
        agreed = _agreed(given)
        if agreed is not None:
            return Verdict(agreed, tuple(given))
    scores = ", ".join(f"{judgement.score:g}" for judgement in given)
    return Verdict(None, tuple(given), f"the judge does not agree with itself: {scores}")


def _agreed(given: list[Judgement]) -> float | None:
    """The mean of the two closest scores, when they are close enough."""
    first, second = min(
        combinations([judgement.score for judgement in given], 2),
        key=lambda pair: abs(pair[0] - pair[1]),
    )
    return (first + second) / 2 if abs(first - second) <= AGREEMENT else None


def _said(error: BaseException, timeout_s: float) -> str:
    if isinstance(error, NoJudgementError):
        return f"the judge gives no score: {error}"
    if isinstance(error, TimeoutError):
        return f"the judge did not answer within {timeout_s:g} s"
    if not isinstance(error, Exception):
        raise error
    why = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return f"the judge cannot be asked: {why[:300]}"
