"""The words that the model gets."""

from __future__ import annotations

from collections.abc import Sequence

from ..contracts.goal import GoalResult
from ..contracts.memory import Strategy

IDENTITY = "You are retrAI, an autonomous software engineering agent."

STRATEGY = """\
How to work:
1. Understand: read the failing check and the code it reaches before you change anything.
2. Act: make the smallest change that mends the cause.
3. Iterate: run the tests, read what they say, and go on from there.
4. Search when stuck: look for other uses, similar code and the project's history.
5. Try alternatives: when an approach has failed twice, take another one."""

RULES = """\
Rules:
- Never give up while iterations remain.
- Prefer file_patch to file_write; change as little as needed.
- Verify by running the tests; do not claim what you have not seen.
- Think step by step, and say in a sentence what you are about to do.
- After each of your turns the goal is checked by a program. You cannot make it pass by changing the
  check: files that belong to it are protected, and changes of them are undone and counted.
- If the goal contradicts itself, say so with report_impossible."""


def system_prompt(goal_prompt: str, parts: Sequence[str], strategies: Sequence[Strategy]) -> str:
    """Identity, strategy, rules, the goal's own prompt, prompt parts, recalled strategies."""
    sections = [IDENTITY, STRATEGY, RULES, f"The goal:\n{goal_prompt.strip()}"]
    sections += [part.strip() for part in parts if part.strip()]
    if strategies:
        lines = "\n".join(
            f"- {s.pattern} (worked {s.success_count} times, confidence {s.confidence:.2f})"
            for s in strategies
        )
        sections.append(f"What worked in earlier runs on this goal:\n{lines}")
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


def status(iteration: int, max_iterations: int, result: GoalResult, notes: Sequence[str]) -> str:
    """What the model is told after an evaluation."""
    head = "The goal holds." if result.achieved else f"The goal does not hold yet: {result.reason}"
    lines = [f"[check {iteration} of {max_iterations}] {head}", *notes]
    if result.details and result.details != result.reason:
        lines.append(result.details.strip())
    return "\n".join(lines)


def unchanged_status(iteration: int, max_iterations: int, result: GoalResult) -> str:
    """What the model is told when nothing changed since the last check."""
    return (
        f"[check {iteration} of {max_iterations}] Nothing changed since the last check, "
        f"which said: {result.reason}"
    )


def tried(strategies: Sequence[str]) -> str:
    """What failed so far, shown with the latest message."""
    lines = "\n".join(f"- {strategy}" for strategy in strategies)
    return f"What you tried so far and how the check answered:\n{lines}"


NO_CALL = "You called no tool. Use the tools to change the project; the goal does not hold yet."
EMPTY = "Your last answer was empty. Call a tool, or say what keeps you from it."


def going_in_circles(why: str, chances: int) -> str:
    """The one warning that a run which goes round in circles gets."""
    return (
        f"You are going in circles: {why}. Take another approach now; the run ends after "
        f"{chances} more turns like this."
    )
