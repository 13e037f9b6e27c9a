"""What a person's answer means, wherever it was typed; light, for those who only ask."""

from __future__ import annotations

_APPROVALS = frozenset({"true", "approve", "yes", "y", "continue"})
_REFUSALS = frozenset({"false", "deny", "no", "n", "stop", "abort"})


def is_approval(answer: object) -> bool:
    """Whether an answer means to go on: `True`, or a word like `yes`; anything else does not.

    Example:
        >>> is_approval(" Yes "), is_approval("perhaps"), is_approval(True)
        (True, False, True)
    """
    if isinstance(answer, str):
        return answer.strip().lower() in _APPROVALS
    return answer is True


def is_refusal(answer: str) -> bool:
    """Whether an answer says plainly that nothing may go on; `perhaps` does not.

    Example:
        >>> is_refusal("no"), is_refusal("on")
        (True, False)
    """
    return answer.strip().lower() in _REFUSALS
