"""What the model says: what it found, what it changes, and why it gives up."""

from __future__ import annotations

from collections.abc import Sequence

from .answer import Answer, Step

LOOK = "I mend Python by search. First I run the tests to see what fails."


def found(answer: Answer) -> str:
    """What a successful search tells before the first edit."""
    where = ", ".join(dict.fromkeys(f"{step.path}:{step.line}" for step in answer.steps))
    edits = "one edit" if len(answer.steps) == 1 else f"{len(answer.steps)} edits"
    left = f" {tests(answer.failing)} would still fail." if answer.failing else ""
    return (
        f"I tried {answer.tried:,} edits in {answer.cpu_s:.1f} s of processor time and found "
        f"{edits} ({where}) with which failing tests pass and none breaks.{left} "
        "I read the code first."
    )


def reason(step: Step) -> str:
    """Why one edit is made."""
    place = f" in {step.function}" if step.function else ""
    shown = ", ".join(name.rsplit("::", 1)[-1] for name in step.fixed[:3])
    more = f" and {len(step.fixed) - 3} more" if len(step.fixed) > 3 else ""
    return f"{step.path}:{step.line}{place}: {step.kind}. It mends {shown}{more}."


def going_on(answer: Answer) -> str:
    """What is said between a search that ran out of time and the next one."""
    partial = any(search_round.partial for search_round in answer.rounds)
    so_far = (
        "Some edits make a part of the failing tests pass, none yet all of them"
        if partial
        else "Nothing yet makes a failing test pass without breaking another"
    )
    return (
        f"{tried(answer)} {so_far}; "
        f"the most suspicious lines are {lines(answer.suspects)}. I look at them and search on."
    )


def given_up(answer: Answer, searches: int) -> str:
    """The honest end."""
    if answer.end == "no-pytest":
        return (
            "I give up: the project's interpreter has no pytest "
            f"({answer.problem}), and I can only mend what its tests show."
        )
    if answer.end == "no-tests":
        return f"I give up: pytest finds no tests here, and I go by tests alone. {answer.problem}"
    if answer.end == "no-answer":
        return f"I give up: the search did not end well: {answer.problem}"
    if answer.end == "collection-errors":
        files = ", ".join(sorted(answer.errors)[:5])
        return (
            f"I give up: pytest cannot collect {files}. I change code that runs and gives wrong "
            "results; I cannot write what is missing."
        )
    if answer.end == "done":
        return (
            "In my own run of the tests all of them pass, so I have nothing to go by; the check "
            "sees a failure that I do not."
        )
    again = f" In {searches} searches," if searches > 1 else ""
    return (
        f"I give up.{again} {tried(answer)} None makes {tests(answer.failing)} pass without "
        f"breaking another; the most suspicious lines are {lines(answer.suspects)}. A model that "
        "reads and writes code (`--model`) may do better."
    )


def tried(answer: Answer) -> str:
    """How much was tried, in one sentence."""
    pairs = sum(search_round.pairs for search_round in answer.rounds)
    of_them = f", {pairs:,} of them two edits together," if pairs else ""
    return f"I tried {answer.tried:,} edits{of_them} in {answer.cpu_s:.1f} s of processor time."


def tests(names: Sequence[str]) -> str:
    """A few test names, and how many more there are."""
    shown = ", ".join(names[:3]) or "the failing tests"
    return shown + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def lines(suspects: Sequence[tuple[str, int]]) -> str:
    """Suspicious lines, or that there are none."""
    return ", ".join(f"{path}:{line}" for path, line in suspects[:3]) or "not known"
