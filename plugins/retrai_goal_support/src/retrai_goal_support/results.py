"""Results as people and the model read them: of a test suite, of code that was run, cut to size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from retrai_core import CaseOutcome, CheckReport, Completed, GoalResult, ToolResult

MAX_CHARS = 16_000
MAX_CHARS_PER_FAILURE = 4_000
MAX_FULL = 10
MAX_NAMES = 40
_FAILING = ("failed", "error")


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
    details = "" if achieved else _details(cases, problem, failures or {}, output)
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


def _details(
    cases: Mapping[str, CaseOutcome],
    problem: str,
    failures: Mapping[str, str],
    output: str,
) -> str:
    parts = [f"The run is not complete: {problem}"] if problem else []
    told = {name: text for name, text in failures.items() if text.strip()}
    silent = [name for name, outcome in cases.items() if outcome in _FAILING and name not in told]
    left = MAX_CHARS - sum(map(len, parts))
    shown: list[str] = []
    for name, text in list(told.items())[:MAX_FULL]:
        title = "ERROR" if cases.get(name) == "error" else "FAILED"
        block = f"{title} {name}\n{shorten(text.strip(), MAX_CHARS_PER_FAILURE)}"
        if shown and len(block) > left - 500:
            break
        shown.append(name)
        parts.append(shorten(block, max(left, 200)))
        left -= len(block) + 2
    if rest := [name for name in told if name not in shown] + silent:
        more = f"\n- ... and {len(rest) - MAX_NAMES} more" if len(rest) > MAX_NAMES else ""
        listed = "\n".join(f"- {name}" for name in rest[:MAX_NAMES])
        also = "more failing" if shown else "failing"
        parts.append(f"{len(rest)} {also}:\n{listed}{more}")
    if output.strip() and (problem or not told):
        parts.append(f"The end of the output:\n{shorten(output.strip(), max(left // 2, 400))}")
    return shorten("\n\n".join(parts), MAX_CHARS)


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
        data={
            "exit_code": done.exit_code,
            "stdout": done.stdout,
            "stderr": done.stderr,
            "timed_out": done.timed_out,
            "duration_s": done.duration_s,
        },
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
