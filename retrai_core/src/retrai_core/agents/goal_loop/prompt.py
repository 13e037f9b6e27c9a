"""The prompts for the model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...contracts.goal import GoalResult
from ...contracts.memory import Strategy
from ...contracts.tool import Tool
from ..tool_names import wire_name

IDENTITY = "You are retrAI, an autonomous software engineering agent."

STRATEGY = """\
How to work:
1. Understand: read the failing check and the code it reaches before you change anything.
2. Run scripts: reproduce the failure with a command or a short script instead of guessing.
3. Act: make the smallest change that fixes the cause.
4. Iterate: run the tests, read what they say, and go on from there.
5. Search when stuck: look for other uses, similar code and the project's history.
6. Try alternatives: when an approach has failed twice, take another one."""

RULES = """\
Rules:
- Never give up while iterations remain.
- Act instead of saying that you cannot: call a tool, read its answer, and try another way.
- Prefer file_patch to file_write; change as little as needed.
- Verify by running the tests; do not claim what you have not seen.
- Think step by step, and say in a sentence what you are about to do.
- After each of your turns the goal is checked by a program. You cannot make it pass by changing the
  check: files that belong to it are protected, and changes of them are undone and counted.
- If the goal contradicts itself, say so with report_impossible."""


_LONGEST_DESCRIPTION = 100


def tool_list(tools: Sequence[Tool]) -> str:
    """The tools with the first sentence of what each says; the rest stands in their schemas."""
    lines = [f"- {wire_name(tool.name)}: {_first_sentence(tool.description)}" for tool in tools]
    return "\n".join(["Your tools:", *lines])


def _first_sentence(text: str) -> str:
    words = " ".join(text.split())
    first = words.partition(". ")[0].rstrip(".")
    if len(first) <= _LONGEST_DESCRIPTION:
        return first
    return f"{first[: _LONGEST_DESCRIPTION - 3].rstrip()}..."


def system_prompt(
    project: Path,
    max_iterations: int,
    tools: str,
    goal_prompt: str,
    parts: Sequence[str],
    strategies: Sequence[Strategy],
) -> str:
    """What every request of a run begins with, byte by byte the same, so that providers cache it.

    Args:
        project: its folder.
        max_iterations: the limit that the run begins with. A resumed run may have another, which
            the message after each check tells.
        tools: from `tool_list`.
        goal_prompt: the goal's own words.
        parts: what plugins add.
        strategies: what earlier runs have learnt.
    """
    place = (
        f"The project's folder is {project}. The limit is {max_iterations} iterations: one is a "
        "turn of yours and the check after it, whose message tells the count and the latest limit."
    )
    sections = [IDENTITY, place, STRATEGY, RULES, tools, f"The goal:\n{goal_prompt.strip()}"]
    sections += [part.strip() for part in parts if part.strip()]
    if strategies:
        lines = "\n".join(
            f"- {s.pattern} (confirmed {s.success_count} times, confidence {s.confidence:.2f})"
            for s in strategies
        )
        sections.append(f"What earlier runs on this goal have learnt:\n{lines}")
    return "\n\n".join(sections)


def opening(goal: str, task: str, baseline: GoalResult) -> str:
    """The first message: the goal, the user's task, and what the check says at the start."""
    sections = [f"Make the goal `{goal}` hold for this project."]
    if task:
        sections.append(f"The task, in the user's words:\n{task.strip()}")
    sections.append(f"At the start the check says: {baseline.reason}")
    if baseline.details:
        sections.append(baseline.details.strip())
    return "\n\n".join(sections)


def project_overview(listing: str, key_files: Sequence[tuple[str, str]]) -> str:
    """The project's tree and key files, added on the first iteration."""
    sections = [f"The project's files:\n{listing}"]
    sections += [f"--- {path} ---\n{text}" for path, text in key_files]
    return "\n\n".join(sections)


def failed_status(
    iteration: int, max_iterations: int, result: GoalResult, notes: Sequence[str], attempt: str
) -> str:
    """What the model is told after a check that failed.

    Args:
        iteration: which one this was.
        max_iterations: the limit that holds now.
        result: what the check said.
        notes: what was undone.
        attempt: the calls of the turn, from `attempt_of`; empty where there was none.
    """
    head = f"[iteration {iteration} of {max_iterations}] The goal does not hold yet"
    lines = [f"{head}: {result.reason}", *notes]
    if attempt:
        lines.append(f"You tried: {attempt}")
    if result.details and result.details != result.reason:
        lines.append(result.details.strip())
    return "\n".join([*lines, ANOTHER_WAY])


def unchanged_status(iteration: int, max_iterations: int, result: GoalResult, attempt: str) -> str:
    """What the model is told when nothing changed since the last check."""
    called = f" by: {attempt}" if attempt else ""
    return (
        f"[iteration {iteration} of {max_iterations}] Nothing was changed{called}. The last check "
        f"still holds: {result.reason}\n{NOTHING_CHANGED}"
    )


def attempt_of(calls: Sequence[str]) -> str:
    """A turn's calls in one line."""
    return "; ".join(calls)[:_LONGEST_ATTEMPT]


def tried(strategies: Sequence[str]) -> str:
    """What failed lately, shown with the latest message once earlier ones are left out."""
    lines = "\n".join(f"- {strategy}" for strategy in strategies)
    return f"What you tried so far and how the check answered:\n{lines}"


HAND_OVER = "Hand-over:"
LAST_ITERATION = (
    "This is your last iteration. Make your last change, and leave a hand-over for whoever goes "
    f"on, in the same answer: a line `{HAND_OVER}`, then in at most fifteen lines what you tried "
    "and with what effect, what still fails, and where to look."
)

_LONGEST_ATTEMPT = 300
ANOTHER_WAY = "This did not work: look at the cause again, and try another approach."
NOTHING_CHANGED = "Go on from what you know now; if you are stuck, try another approach."


NO_CALL = "You called no tool. Use the tools to change the project; the goal does not hold yet."
EMPTY = "Your last answer was empty. Call a tool, or say what keeps you from it."


def going_in_circles(why: str, chances: int) -> str:
    """The one warning that a run which goes round in circles gets."""
    return (
        f"You are going in circles: {why}. Take another approach now; the run ends after "
        f"{chances} more turns like this."
    )
