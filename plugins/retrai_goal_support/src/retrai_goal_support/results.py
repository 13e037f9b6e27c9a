"""Results as people and the model read them: of a test suite, of code that was run, cut to size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from retrai_core import CaseOutcome, CheckReport, Completed, GoalResult, ToolResult

MAX_CHARS = 16_000
MAX_CHARS_PER_FAILURE = 4_000
MAX_FULL = 10
MAX_NAMES = 40
_FAILING = ("failed", "error")


@dataclass(frozen=True, slots=True)
class Failure:
    """A case that failed or could not be run.

    Attributes:
        id: the case's id.
        outcome: `failed` (the test said no) or `error` (fixture, collection, or cut off).
        location: `file:line`, relative to the project where it lies inside; empty when unknown.
        message: the exception with compared values; empty where the text alone says it.
        text: what the model reads: the relevant source lines, the message, captured output.
    """

    id: str
    outcome: CaseOutcome
    location: str = ""
    message: str = ""
    text: str = ""


def suite_result(
    cases: Mapping[str, CaseOutcome],
    command: Sequence[str],
    *,
    interpreter: str = "",
    problem: str = "",
    failures: Mapping[str, str] | None = None,
    output: str = "",
) -> GoalResult:
    """What one run of a test suite comes to; achieved when it was whole and every case is well.

    Args:
        cases: outcome by case id, in the runner's order.
        command: the exact command.
        interpreter: the program that ran the project's code.
        problem: one line that says why the run is not complete; empty when it is.
        failures: what the model reads of each failing case, by its id.
        output: the end of what was printed; given to the model where no case tells why.

    Example:
        >>> result = suite_result({"a": "passed", "b": "failed"}, ["t"], failures={"b": "1 != 2"})
        >>> result.achieved, result.reason
        (False, '1 of 2 tests fails')
        >>> print(result.details)
        FAILED b
        1 != 2
        >>> suite_result({"a": "passed", "b": "skipped"}, ["t"]).reason
        '1 test passes, 1 skipped'
    """
    report = CheckReport(cases, command, interpreter, complete=not problem)
    bad = [name for name, outcome in cases.items() if outcome in _FAILING]
    ran = any(outcome != "skipped" for outcome in cases.values())
    achieved = not problem and ran and not bad
    given = failures or {}
    texts = {name: shorten(text.strip(), MAX_CHARS_PER_FAILURE) for name, text in given.items()}
    failed = [Failure(name, cases[name], text=texts.get(name, "")) for name in bad]
    details = "" if achieved else render_failures(failed, problem=problem, output=output)
    return GoalResult(achieved, _reason(report, problem, len(bad)), details, report)


def _reason(report: CheckReport, problem: str, bad: int) -> str:
    total = len(report.cases)
    if problem:
        seen = f" ({bad} of {total} {_tests(total)} failed until then)" if total else ""
        return f"{problem}{seen}"
    counts = report.counts()
    left_out = "".join(
        f", {counts[name]} {name}" for name in ("skipped", "xfailed", "xpassed") if name in counts
    )
    if bad:
        return f"{bad} of {total} {_tests(total)} {'fails' if bad == 1 else 'fail'}{left_out}"
    if not total:
        return "no test was found"
    if counts.get("skipped", 0) == total:
        return f"no test was run: all {total} were skipped"
    passed = counts.get("passed", 0)
    return f"{passed} {_tests(passed)} {'passes' if passed == 1 else 'pass'}{left_out}"


def render_failures(
    failures: Sequence[Failure],
    *,
    problem: str = "",
    output: str = "",
    max_chars: int = MAX_CHARS,
    max_full: int = MAX_FULL,
) -> str:
    """What failed, for the model.

    Cases that fail with the same message at the same place are told once, with the names of the
    others. At most `max_full` errors are given in full, as far as `max_chars` reaches; of the rest
    only names and first lines.

    Args:
        failures: the cases that failed.
        problem: one line that says why the run is not complete; empty when it is.
        output: the end of what was printed; given where no case tells why.
        max_chars: the longest text, in characters.
        max_full: how many different errors are given in full.

    Example:
        >>> print(render_failures([Failure(n, "failed", text="1 != 2") for n in ("a", "b")]))
        FAILED a
        1 != 2
        The same error in 1 more: b
    """
    groups = _grouped([failure for failure in failures if failure.text.strip()])
    parts = [f"The run is not complete: {problem}"] if problem else []
    left = max_chars - sum(map(len, parts))
    shown = 0
    for group in groups[:max_full]:
        text = _in_full(group)
        if len(text) > left - 400 and shown:
            break
        text = shorten(text, max(left - 400, 200))
        parts.append(text)
        left -= len(text) + 2
        shown += 1
    rest = [failure for group in groups[shown:] for failure in group]
    rest += [failure for failure in failures if not failure.text.strip()]
    if rest:
        parts.append(_names_only(rest, "more failing" if shown else "failing", left))
    if output.strip() and (problem or not groups):
        parts.append(f"The end of the output:\n{shorten(output.strip(), max(left // 2, 400))}")
    return shorten("\n\n".join(parts), max_chars)


def _grouped(failures: Sequence[Failure]) -> list[list[Failure]]:
    groups: dict[tuple[str, str], list[Failure]] = {}
    for failure in failures:
        # A module that is missing is missing everywhere; an assertion belongs to its place.
        place = "" if failure.outcome == "error" and failure.message else failure.location
        groups.setdefault((place, failure.message or failure.text), []).append(failure)
    # What keeps other tests from running comes first.
    return sorted(groups.values(), key=lambda group: group[0].outcome != "error")


def _in_full(group: list[Failure]) -> str:
    first, *others = group
    text = f"{first.outcome.upper()} {first.id}\n{first.text}"
    if others:
        names = ", ".join(failure.id for failure in others[:5])
        more = f" and {len(others) - 5} more" if len(others) > 5 else ""
        text += f"\nThe same error in {len(others)} more: {names}{more}"
    return text


def _names_only(failures: Sequence[Failure], what: str, room: int) -> str:
    lines = [f"{len(failures)} {what}:"]
    for failure in failures[:MAX_NAMES]:
        said = (failure.message or failure.text).partition("\n")[0]
        line = f"- {failure.id}: {shorten(said, 120)}" if said else f"- {failure.id}"
        if sum(map(len, lines)) + len(line) > max(room - 100, 200):
            break
        lines.append(line)
    named = len(lines) - 1
    if named < len(failures):
        lines.append(f"- ... and {len(failures) - named} more")
    return "\n".join(lines)


def _tests(count: int) -> str:
    return "test" if count == 1 else "tests"


def code_result(
    done: Completed, *, timeout_s: float, max_chars: int, hidden: str = ""
) -> ToolResult:
    """What was printed, how it ended where it did not end well, and both as values.

    Args:
        done: how it ended.
        timeout_s: the seconds that it was given.
        max_chars: the longest text, in characters.
        hidden: what is taken out of the text: a folder that the model knows nothing of.

    Example:
        >>> done = Completed(1, "42\\n", "ValueError: no\\n", duration_s=0.1)
        >>> result = code_result(done, timeout_s=30, max_chars=8000)
        >>> print(result.content)
        42
        ValueError: no
        [exit status 1]
        >>> result.ok, result.data["exit_code"]
        (False, 1)
    """
    parts = [done.stdout.rstrip(), done.stderr.rstrip()]
    if done.timed_out:
        parts.append(f"[ended after {timeout_s:g} s, before it was done]")
    elif done.exit_code != 0:
        parts.append(f"[exit status {done.exit_code}]")
    text = "\n".join(part for part in parts if part) or "[no output]"
    return ToolResult(
        shorten(text.replace(hidden, "") if hidden else text, max_chars),
        ok=done.exit_code == 0 and not done.timed_out,
        data=asdict(done),
    )


def shorten(text: str, max_chars: int) -> str:
    """The text, or its beginning and its end with a note between, `max_chars` at the most.

    Example:
        >>> shorten("short", 40)
        'short'
        >>> print(shorten("a" * 500 + "b" * 500, 60))
        aaaaaaaaaaaaa
        ... 974 characters left out ...
        bbbbbbbbbbbbb
    """
    if len(text) <= max_chars:
        return text
    note = f"\n... {len(text)} characters left out ...\n"
    keep = max(0, max_chars - len(note)) // 2
    if keep == 0:
        return text[:max_chars]
    left_out = len(text) - 2 * keep
    return f"{text[:keep]}\n... {left_out} characters left out ...\n{text[-keep:]}"
