"""What the model says: what it found, what it changes, and why it gives up."""

from __future__ import annotations

from collections.abc import Sequence

from .answer import Answer, Effort, Step

LOOK = "I fix Python by search. First I run the tests to see what fails."


def found(answer: Answer) -> str:
    """What a successful search tells before the first edit."""
    places = dict.fromkeys(place for step in answer.steps for place in step.places)
    where = ", ".join(places)
    edits = "one edit" if len(places) == 1 else f"{len(places)} edits"
    left = f" {tests(answer.failing)} would still fail." if answer.failing else ""
    return (
        f"I tried {answer.tried:,} edits in {answer.cpu_s:.1f} s of processor time and found "
        f"{edits} ({where}) with which failing tests pass and none breaks.{left} "
        "I read the code first."
    )


def reason(step: Step) -> str:
    """Why one edit is made."""
    is_one = len(step.places) == 1
    place = f" in {step.function}" if step.function and is_one else ""
    shown = ", ".join(name.rsplit("::", 1)[-1] for name in step.fixed[:3])
    more = f" and {len(step.fixed) - 3} more" if len(step.fixed) > 3 else ""
    what = f"{' and '.join(step.places)}{place}: {step.kind}"
    return f"{what}. It fixes {shown}{more}."


def going_on(answer: Answer) -> str:
    """What is said between a search that ran out of time and the next one."""
    partial = any(search_round.partial for search_round in answer.rounds)
    so_far = (
        "Some edits make a part of the failing tests pass, none yet all of them"
        if partial
        else "Nothing yet makes a failing test pass without breaking another"
    )
    return (
        f"{tried(Effort.of(answer))} {so_far}; "
        f"the most suspicious lines are {lines(answer.suspects)}. I look at them and search on."
    )


def given_up(answer: Answer, effort: Effort) -> str:
    """The honest end."""
    if answer.end == "no-pytest":
        return (
            "I give up: the project's interpreter has no pytest "
            f"({answer.problem}), and I can only fix what its tests show, whatever the goal."
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
    return (
        f"I give up. {tried(effort)} None makes {tests(answer.failing)} pass without "
        f"breaking another; the most suspicious lines are {lines(answer.suspects)}. A model that "
        "reads and writes code (`--model`) may do better."
    )


def refused(effort: Effort) -> str:
    """The end where nothing that was found could be written."""
    return f"I give up. {tried(effort)} The edits that I found were refused."


def tried(effort: Effort) -> str:
    """How much was tried, in one sentence."""
    searches = f"In {effort.searches} searches " if effort.searches > 1 else ""
    of_them = f", {effort.pairs:,} of them two edits together," if effort.pairs else ""
    return (
        f"{searches}I tried {effort.tried:,} edits{of_them} "
        f"in {effort.cpu_s:.1f} s of processor time."
    )


def tests(names: Sequence[str]) -> str:
    """A few test names, and how many more there are."""
    shown = ", ".join(names[:3]) or "the failing tests"
    return shown + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def lines(suspects: Sequence[tuple[str, int]]) -> str:
    """Suspicious lines, or that there are none."""
    return ", ".join(f"{path}:{line}" for path, line in suspects[:3]) or "not known"
