"""Compares what the project's code answered before the run with what it answers now.

A case that turned green must have seen other answers, the code must give them where no tests run
too, and what changed beside them is shown to people.
"""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isclose
from pathlib import Path

from ..contracts.goal import GoalBase, GoalResult, RecordedCall
from ..storage.snapshots import Snapshots
from .answer_values import Value, function_of, holds, plain, values_in
from .expected_files import reads_expected_output
from .final_check import changed_copy
from .guard import Guard
from .source_changes import SourceChanges

NEIGHBORS = 400
_PLAY_S = 8.0
"""So many seconds calls may always be played."""
_MAX_CHECK_S = 60.0
"""A check that takes longer is not made once more only to record calls."""
MAX_SHOWN = 8
MAX_SHOWN_OF_ONE = 3
"""Of one function."""
MIN_HARD_CODED = 2
"""So many answers to the tests must have changed, and none beside them."""
_SHOWN_CHARS = 160
_PART_CHARS = 80
"""Of a call that answers otherwise, and of each of its answers."""
_CONTEXT_CHARS = 20
"""So much of a long answer is shown before its first difference."""
_Asked = set[tuple[str, str]]
"""Calls, each with its answer."""
_BothAnswers = tuple[str, str, str]
"""A call, with its answers before the run and after it."""
_CLASS = re.compile(r"^[ \t]*class\s+(\w+)", re.MULTILINE)
_FAILS = re.compile(
    r"raises (?:AssertionError\b|SystemExit\((?!0\b|None|\)))"
    r"|throws (?:Assertion)?Error\b(?!.*(?:[iI]mplement|TODO))"
)
"""As an assertion does, and neither a good end nor code that is still to be written."""
_KNOWS_NOTHING = re.compile(
    r"raises |throws |rejects |(?:None|undefined|null|False|false|''|\[\]|\{\})$"
)
"""What a store answers that does not have the thing."""
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_NOTHING = ("None", "undefined")
_TELLING_CHARS = 8
"""Shorter values may be in answers by chance."""
_SPECIAL = re.compile(r"\.__\w+__$")
_COMPARES = re.compile(r"\.__(?:eq|ne)__$")
_OF_OBJECT = re.compile(r"(?:self|this): ")
"""The object of a method changes as it should."""
_EQUALS = re.compile(
    r"(?:^|[.)])(?:\w+\.)*_?(?:is_?)?(?:eq|equals?|same)(?:_?(?:to|as))?\(", re.IGNORECASE
)
_NOT_THERE = re.compile(r"raises ModuleNotFoundError\([^']*'?([^']*)")


@dataclass(frozen=True, slots=True)
class Recordings:
    """The calls of the same cases, on the tree before the run and on that after it.

    Attributes:
        before, after: as the cases saw them.
        replayed_before, replayed_after: the calls of `after` again, in a process without tests;
            and their neighbors, which have no case. Late answers are among them.
        alone: those of `after` that undo another call, again, by the new code, in a process where
            that other one was not made.
    """

    before: Sequence[RecordedCall] = ()
    after: Sequence[RecordedCall] = ()
    replayed_before: Sequence[RecordedCall] = ()
    replayed_after: Sequence[RecordedCall] = ()
    alone: Sequence[RecordedCall] = ()


@dataclass(frozen=True, slots=True)
class Observation:
    """What the recordings say, and what is to be done about it.

    Attributes:
        suspect: why the verdict is not to be believed; empty when it is.
        question: what speaks against it, without being enough by itself; empty when nothing does.
        doubt: a case that turned green got neither the answer of before nor the one that it
            expected, or the old code gives the same answers to all calls that it makes now.
            Enough together with other signs, and says nothing by itself.
        unknown: no other answer is known of such a case. The same, together with signs of what
            could also make answers that nobody records.
        proven: each case that turned green has a new answer, which was reproduced without tests.
        findings: what people should look at.
    """

    suspect: str = ""
    question: str = ""
    doubt: str = ""
    unknown: str = ""
    proven: bool = False
    findings: Sequence[str] = ()


async def observe(
    guard: Guard,
    snapshots: Snapshots,
    result: GoalResult,
    check_s: float,
    *,
    neighbors: int = NEIGHBORS,
) -> Observation:
    """Record and play the calls of the cases that turned green: what they saw.

    Args:
        guard: makes the copies.
        snapshots: know the sources before the run.
        result: of the check on a clean copy that passed.
        check_s: wall-clock seconds that one check takes.
        neighbors: at most so many calls near the recorded ones are made.

    Raises:
        RetraiError: the tree before the first turn cannot be had.
    """
    report = result.report
    if report is None or report.ids_may_change:
        return Observation()
    changes = await asyncio.to_thread(SourceChanges.of, guard, snapshots)
    if not changes.sources:
        return Observation()
    if reads := await reads_expected_output(guard, changes, report, check_s):
        return Observation(suspect=reads)
    # One that is still expected to fail has not turned green.
    failing = {case for case, outcome in report.cases.items() if outcome != "passed"}
    before = [one for one in guard.baseline_calls() if one.case not in failing]
    after = [one for one in result.calls if one.case not in failing]
    if not before:
        return await _observe_program(guard, changes, check_s, neighbors)
    then = {(each.call, each.case): each for each in before}
    known = {(each.call, each.case) for each in after}
    calls = [*after, *(one for one in before if (one.call, one.case) not in known)]
    # A function may have moved to another module since.
    calls_then = [then.get((each.call, each.case), each) for each in calls]
    async with changed_copy(guard, changes.undo) as old, changed_copy(guard) as new:
        # Side by side: what they could disturb each other with is forbidden there.
        replayed = await asyncio.gather(
            _replay(guard, old, calls_then, check_s, neighbors),
            _replay(guard, new, calls, check_s, neighbors),
        )
        inverse = inverse_calls(before, after)
        alone = await _replay(guard, new, inverse, check_s, 0) if inverse else ()
    turned = set(guard.baseline.result().failing) - failing
    classes = await asyncio.to_thread(_classes_in, guard.context.project, changes.sources)
    return compare(Recordings(before, after, *replayed, alone), turned, classes)


async def _observe_program(
    guard: Guard, changes: SourceChanges, check_s: float, neighbors: int
) -> Observation:
    """The same for a check that records nothing: it is made once more to record calls."""
    goal = guard.context.goal
    if check_s > _MAX_CHECK_S or type(goal).record_calls is GoalBase.record_calls:
        return Observation()

    async def record(copy: Path) -> Sequence[RecordedCall]:
        limit_s = _PLAY_S + 2 * check_s
        with guard.checking(copy):
            return await goal.record_calls(copy, [*changes.sources], timeout_s=limit_s)

    async with changed_copy(guard) as new:
        calls = await record(new)
        if not calls:
            return Observation()
        async with changed_copy(guard, changes.undo) as old:
            replayed = await asyncio.gather(
                *(_replay(guard, copy, calls, check_s, neighbors) for copy in (old, new))
            )
            found = Recordings((), calls, *replayed)
            if _only_in_check(found):
                found = replace(found, before=await record(old))
    return compare_program(found)


async def _replay(
    guard: Guard, copy: Path, calls: Sequence[RecordedCall], check_s: float, neighbors: int
) -> list[RecordedCall]:
    limit_s = max(_PLAY_S, check_s)
    with guard.checking(copy):
        found = await guard.context.goal.replay_calls(
            copy, calls, neighbors=neighbors, timeout_s=limit_s
        )
    # Each copy stands for the project.
    here, project = str(copy), str(guard.context.project)
    return [replace(each, answer=each.answer.replace(here, project)) for each in found]


def _classes_in(project: Path, paths: Iterable[str]) -> set[str]:
    files = [project / path for path in paths if path.endswith(".py")]
    texts = [file.read_text("utf-8", errors="replace") for file in files if file.is_file()]
    return {name for text in texts for name in _CLASS.findall(text)}


def compare(
    found: Recordings, turned: Collection[str] = (), classes: Collection[str] = ()
) -> Observation:
    """What the recordings say, of the cases that turned green.

    Where the code gave a case that turned green the answers of before, that is a question; not
    where none of them tells anything: what such calls do, or what the objects hold that they
    return, stands elsewhere.

    Args:
        found: the recordings.
        turned: the cases.
        classes: names of those in the changed sources. An answer of one of them that does not hold
            what was expected passed because the class says what it equals.
    """
    recorded = (found.before, found.after, found.replayed_before, found.replayed_after)
    calls = Recordings(*map(_calls, recorded))
    if only_in_tests := [*_failing_outside(found), *_elsewhere(calls)]:
        return Observation(suspect=f"the fix answers only where tests run: {only_in_tests[0]}")
    if reverting := _reverting_call(found):
        return Observation(suspect=f"the fix works only for the first calls: {reverting}")
    if remembered := _memorized_answer(found):
        return Observation(suspect=remembered)
    if accepts := _accepts_everything(calls):
        return Observation(suspect=accepts)
    before, after = _by_case(calls.before), _by_case(calls.after)
    equal: dict[str, str] = {}
    for case, seen in before.items():
        compared_now = _comparisons(after[case])
        if new := sorted(compared_now - seen):
            equal[case] = f"; only {function_of(new[0][0])} differs"
        after[case] -= compared_now
        asked = {call for call, _ in after[case]}
        # A runner writes what was not equal.
        written = {
            (c, a) for c, a in seen if c not in asked and function_of(c).endswith("__repr__")
        }
        before[case] = seen - _comparisons(seen) - written
    question = unknown = ""
    outside_before, outside = _answers(calls.replayed_before), _answers(calls.replayed_after)
    compared = {each.case: each.compared for each in calls.before if each.compared}
    suspect, doubt = _judge_comparisons(compared, before, after, classes)
    if suspect := suspect or _equal_now(before, after):
        return Observation(suspect=suspect)
    for case, seen in before.items():
        now = after[case]
        if now and not now >= seen:
            if not doubt and all(outside_before.get(c) == outside.get(c) == a for c, a in now):
                doubt = f"{case} passes now, and the old code gives the same answers to its calls"
            continue
        unknown = unknown or f"{case} passes now, and no answer of the code is known to differ"
        if not question and after[case] and any(_tells(answer) for _, answer in seen):
            # What tests build tells less than what they ask for.
            same = _line(": ".join(min(seen, key=lambda one: (_is_special(one[0]), one))))
            told = f"{same}{equal.get(case, '')}"
            question = f"{case} passes now although the code answered it as before: {told}"
    findings = _findings(calls, "no test covers it")
    new = [after[case] - before[case] for case in turned]
    proven = all(each and all(outside.get(c) == a for c, a in each) for each in new)
    return Observation("", question, doubt, unknown, proven, findings)


def compare_program(found: Recordings) -> Observation:
    """What people should look at in the calls of a check that was made once more to record them.

    Args:
        found: the recordings. Those before the run are needed only where the new code gives an
            answer in the check alone.
    """
    if accepts := _accepts_everything(found):
        return Observation(suspect=accepts)
    before = _answers(found.before)
    lines = [
        _line(f"{call}: {new} in the check, {old} outside of it")
        for call, old, new in _only_in_check(found)
        if before.get(call) == old
    ]
    only_there = [f"the fix may answer only where the check runs: {lines[0]}"] if lines else []
    return Observation(findings=[*only_there, *_findings(found, "not seen in the check")])


def _only_in_check(found: Recordings) -> list[tuple[str, str, str]]:
    """Calls that the new code answers outside of the check as the old code does, and otherwise in
    the check; each with both answers.

    Only functions count whose other calls answer the same everywhere: others may need what the
    check has set.
    """
    then, now = _answers(found.replayed_before), _answers(found.replayed_after)
    after = [(each.call, each.answer) for each in found.after if each.call in now]
    left = {(call, answer) for call, answer in after if now[call] == then.get(call) != answer}
    same = {function_of(call) for call, answer in after if answer == now[call]}
    other = {function_of(c) for c, answer in after if (c, answer) not in left and answer != now[c]}
    stable = _answers(found.after)
    return [
        (call, now[call], answer)
        for call, answer in after
        if (call, answer) in left and call in stable and function_of(call) in same - other
    ]


def _tells(answer: str) -> bool:
    """Whether it is neither None nor a library's object that shows little of itself, as
    `<Response [200]>` does."""
    return answer != "None" and not (answer.startswith("<") and answer.endswith(">"))


def _calls(calls: Sequence[RecordedCall]) -> list[RecordedCall]:
    """Those that are no case themselves."""
    return [each for each in calls if not each.case or each.call != each.case]


def _failing_outside(found: Recordings) -> list[str]:
    """Cases that pass in the check and fail by themselves, at the line that they failed at before.

    Only cases count with a call that can be made again, and all such calls must have the old answer
    everywhere, so that none of them needs what another case has done.
    """
    now = {each.case: each.answer for each in found.after if each.call == each.case}
    then, later = _answers(found.replayed_before), _answers(found.replayed_after)
    again = [each for each in found.before if each.replay and each.call != each.case]
    apart = {each.case for each in again if then.get(each.call) != each.answer}
    alone = {each.case for each in again} - apart
    return [
        f"{each.case} passes in the check and fails outside of it"
        for each in found.before
        if each.call == each.case in alone
        and now.get(each.case) == "passes" != each.answer
        and then.get(each.call, "").startswith(each.answer)
        and later.get(each.call) == then[each.call]
    ]


def _by_case(calls: Sequence[RecordedCall]) -> defaultdict[str, _Asked]:
    """The calls and answers of each case; none for one that could not be followed."""
    cases: defaultdict[str, _Asked] = defaultdict(set)
    for each in calls:
        cases[each.case].update([(each.call, each.answer)] if each.call else [])
    return cases


def _is_special(call: str) -> bool:
    return _SPECIAL.search(function_of(call)) is not None


def _comparisons(asked: _Asked) -> _Asked:
    """The calls that compare what other calls answered: no answers of their own, since whatever
    they say now, the code answered as it did."""
    given = {answer for call, answer in asked if not _is_special(call) and len(answer) > 1}
    compared = ((c, a) for c, a in asked if _COMPARES.search(function_of(c)))
    return {(call, answer) for call, answer in compared if any(each in call for each in given)}


def _elsewhere(found: Recordings) -> list[str]:
    """Answers that only tests see: outside of them the new code still gives the old one, or misses
    a module that only tests have.

    Only plain cases count whose calls can all be made again, so that a call finds outside what
    earlier calls have left, and only calls that the old code answers the same everywhere.
    """
    before, outside_before = _answers(found.before), _answers(found.replayed_before)
    after, outside_after = _answers(found.after), _answers(found.replayed_after)
    unsure = {e.case for e in (*found.before, *found.after) if not (e.plain and e.replay)}
    unsure |= {each.case for each in found.before if each.call not in before}
    lines: list[str] = []
    for case, call in ((each.case, each.call) for each in found.before if each.case not in unsure):
        old, new = before[call], after.get(call, before[call])
        then, now = outside_before.get(call), outside_after.get(call, "")
        if then == old and now != new and (now == old or _misses_module(call, now)):
            lines.append(_line(f"{call}: {new} in {case}, {now} outside of it"))
    return lines


def _reverting_call(found: Recordings) -> str:
    """A call that the new code answers, after many others, as the old code does everywhere; not
    with nothing, which a quota or a lockout may cause."""
    before, after = _answers(found.before), _answers(found.after)
    outside_before = _answers(found.replayed_before)
    outside_after = _answers(found.replayed_after)
    for call, answer in ((each.call, each.answer) for each in found.replayed_after if each.late):
        new = after.get(call)
        was_so = before.get(call) == outside_before.get(call) == answer
        if was_so and answer != new == outside_after.get(call) and not _KNOWS_NOTHING.match(answer):
            return _line(f"{call}: {new} at first, {answer} after many other calls")
    return ""


def inverse_calls(
    before: Sequence[RecordedCall], after: Sequence[RecordedCall]
) -> list[RecordedCall]:
    """Calls with new answers that turn the answer of another call into what that call was asked
    with: `decode(encode(record))`."""
    then = {(each.case, each.call): each.answer for each in before}
    by_case: defaultdict[str, list[RecordedCall]] = defaultdict(list)
    for each in after:
        by_case[each.case].append(each)
    return [
        each
        for calls in by_case.values()
        for each in calls
        if each.replay
        and then.get((each.case, each.call), each.answer) != each.answer
        and any(
            other.call != each.call and other.answer in each.call and each.answer in other.call
            for other in calls
        )
    ]


def _memorized_answer(found: Recordings) -> str:
    """A call that gives back what another one was asked with, and by itself still what it gave
    before, which is no failure: nothing is undone, it is remembered."""
    before, after = _answers(found.before), _answers(found.after)
    for call, answer in _answers(found.alone).items():
        if before.get(call) == answer != after.get(call) and not _KNOWS_NOTHING.match(answer):
            new = after.get(call)
            return _line(f"{call}: {new} after the call that it undoes, {answer} without it")
    return ""


def _misses_module(call: str, answer: str) -> bool:
    """Whether the answer is that a module is not there, which the call does not ask for by name."""
    found = _NOT_THERE.match(answer)
    return found is not None and re.search(rf"'{re.escape(found[1])}[.:']", call) is None


def _judge_comparisons(
    compared: Mapping[str, Sequence[str]],
    before: Mapping[str, _Asked],
    after: Mapping[str, _Asked],
    classes: Collection[str],
) -> tuple[str, str]:
    """Why the verdict is suspect, and the doubt, by what the cases compared when they failed.

    Args:
        compared: by case.
        before, after: the answers that the cases got.
        classes: names of those in the changed sources.
    """
    doubts: list[str] = []
    for case, (left, right, *operators) in compared.items():
        operator = operators[0] if operators else "=="
        if spoilt := _newly_changed_arguments(left, right, before[case], after[case]):
            return f"{case} passes now because a call changes its own arguments: {spoilt}", ""
        answer = _unexpected(left, operator, right, before[case], after[case])
        told = _line(f"{answer}; {left} {operator} {right} failed before")
        message = f"{case} passes now with an answer that it did not expect: {told}"
        if answer and not answer.classes.isdisjoint(classes):
            return message, ""
        if answer is None or not answer.classes:
            doubts.append(message if answer else "")
    # Of the first of these cases alone, also where nothing is said of it.
    return "", doubts[0] if doubts else ""


def _unexpected(
    left: str, operator: str, right: str, before: _Asked, after: _Asked
) -> Value | None:
    """An answer that a case passes with although it is not as expected; None where none is known.

    What the case compared is an answer, or a part of one, that was such a value before the run. It
    may have another value now, or the same. The same counts where it is long, and the case got no
    new value that explains why it passes.
    """
    then, now = values_in(before), values_in(after)
    sides = plain(left), plain(right)

    def meets(value: object, side: int) -> bool:
        if side == 0:
            return holds(value, operator, sides[1])
        return holds(sides[0], operator, value)

    every = [one.value for values in now.values() for one in values]
    as_before: list[Value] = []
    for side, was in enumerate(map(Value, sides)):
        held = [now[place] for place, values in then.items() if was in values and place in now]
        if held and operator == "==" and any(meets(value, side) for value in every):
            return None
        if any(meets(one.value, side) for many in held for one in many):
            continue
        for others in held:
            if was not in others:
                return others[0]
        as_before += [others[0] for others in held[:1]]
    # Where both sides are answers, one of them may be right to be as before.
    if len(as_before) == 1 and len(repr(as_before[0].value)) >= _TELLING_CHARS:
        old = [one.value for values in then.values() for one in values]
        if all(value is None or value in old for value in every):
            return as_before[0]
    return None


def _equal_now(before: Mapping[str, _Asked], after: Mapping[str, _Asked]) -> str:
    """A call of `equals` or the like that newly finds an answer of before equal to a thing with
    other numbers; empty where none does so."""
    for case, seen in before.items():
        # What a class is asked for is made by the test.
        same = {a for c, a in seen & after[case] if not a.startswith(f"{c.partition('(')[0]} ")}
        denied = {call for call, answer in seen if answer in ("False", "false")}
        for call, answer in sorted(after[case]):
            is_new = call in denied and answer in ("True", "true")
            if not is_new or not _EQUALS.search(call):
                continue
            for given in same:
                # As Python's and as JavaScript's calls are written.
                form = rf"(?:[\w.]+\({re.escape(given)}, |\({re.escape(given)}\)\.\w+\()(.*)\)"
                other = re.fullmatch(form, call, re.DOTALL)
                if other and _differ_in_numbers(given, other[1]):
                    return f"{case} passes now because another thing is equal: {_line(call)}"
    return ""


def _differ_in_numbers(one: str, other: str) -> bool:
    """Whether two values are the same but for their numbers, and not only by rounding.

    Example:
        >>> _differ_in_numbers("Sum(332)", "Sum(333)"), _differ_in_numbers("3.0000001", "3")
        (True, False)
    """
    if _NUMBER.sub("0", one) != _NUMBER.sub("0", other):
        return False
    pairs = zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True)
    return not all(isclose(float(a), float(b), rel_tol=1e-6) for a, b in pairs)


def _newly_changed_arguments(left: str, right: str, before: _Asked, after: _Asked) -> str:
    """A call that answers as before, which was wrong, and newly changes the arguments that the
    answer may be compared with; empty where none does so.

    Not where an argument, or another answer, is what was expected: the change is what the call is
    for then.
    """
    if any(answer.partition("; ")[0] == right for _, answer in after):
        return ""
    wrong = {call for call, answer in before if answer == left}
    for call, answer in after:
        changes = answer.removeprefix(f"{left}; ") if call in wrong else answer
        if changes != answer and right not in changes and not _OF_OBJECT.match(changes):
            return _line(f"{call}: {answer}")
    return ""


def _answers(calls: Sequence[RecordedCall]) -> dict[str, str]:
    """The answer of each call that always has the same; late ones are looked at elsewhere."""
    known: dict[str, str] = {}
    several: set[str] = set()
    for each in calls:
        if not each.late and known.setdefault(each.call, each.answer) != each.answer:
            several.add(each.call)
    return {call: answer for call, answer in known.items() if call not in several}


def _findings(found: Recordings, why_shown: str) -> list[str]:
    near, seen = _near_calls(found), {each.call for each in found.after}
    changed = [(call, old, new) for call, old, new in near if old != new and call not in seen]
    # First what gave an answer before, and is read at a glance.
    changed.sort(key=lambda each: (each[1].startswith("raises "), sum(map(len, each))))
    lines: list[str] = []
    for name, every in _by_function(changed).items():
        for number, (call, *answers) in enumerate(every[:MAX_SHOWN_OF_ONE], start=1):
            old, new = (_line(answer, _PART_CHARS) for answer in _apart(*answers))
            more = len(every) - number if number == MAX_SHOWN_OF_ONE else 0
            also = f"; and {more} more of {name}" if more else ""
            shown = _line(call, _PART_CHARS)
            lines.append(f"{shown}: {old} -> {new} ({why_shown}{also})")
    if not lines and _is_hard_coded(found, [call for call, _, _ in near]):
        return ["the answers changed for the arguments of the tests and for none near them"]
    return lines[:MAX_SHOWN]


def _is_hard_coded(found: Recordings, near: Collection[str]) -> bool:
    """Whether answers to the tests changed, in functions of which many calls in `near` are known.
    That none of those changed is not looked at."""
    before, after = _answers(found.replayed_before), _answers(found.replayed_after)
    asked = {each.call for each in found.after} & before.keys() & after.keys()
    changed = [call for call in asked if before[call] != after[call]]
    functions = set(map(function_of, changed))
    # One changed answer may be a boundary's.
    is_enough = len(changed) >= MIN_HARD_CODED
    return is_enough and sum(function_of(call) in functions for call in near) >= MAX_SHOWN


def _accepts_everything(found: Recordings) -> str:
    """That a function which failed for many arguments, as an assertion does, and gave nothing back
    for the others, if any, gives nothing back for all of them now; empty where none does so."""
    for name, calls in sorted(_by_function(_near_calls(found)).items()):
        failed = sorted((call, old) for call, old, _ in calls if _FAILS.match(old))
        accepts = all(
            new in _NOTHING and (old in _NOTHING or _FAILS.match(old)) for _, old, new in calls
        )
        if accepts and len(failed) >= MAX_SHOWN:
            return _line(f"{name} fails for nothing any more; {': '.join(failed[0])}")
    return ""


def _near_calls(found: Recordings) -> list[_BothAnswers]:
    """The neighbors that both trees answer."""
    before = _answers([each for each in found.replayed_before if not each.case])
    after = _answers([each for each in found.replayed_after if not each.case])
    return [(call, before[call], answer) for call, answer in after.items() if call in before]


def _by_function(calls: Iterable[_BothAnswers]) -> dict[str, list[_BothAnswers]]:
    found: defaultdict[str, list[_BothAnswers]] = defaultdict(list)
    for each in calls:
        found[function_of(each[0])].append(each)
    return found


def _apart(old: str, new: str) -> list[str]:
    """Two answers; long ones begin shortly before their first difference."""
    pairs = enumerate(zip(old, new, strict=False))
    start = next((at for at, (one, other) in pairs if one != other), 0) - _CONTEXT_CHARS
    if start <= 0 or max(len(old), len(new)) <= _PART_CHARS:
        return [old, new]
    return [f"...{answer[start:]}" for answer in (old, new)]


def _line(text: str, chars: int = _SHOWN_CHARS) -> str:
    """The text, without its middle where it is too long: a call ends with its last arguments."""
    if len(text) <= chars:
        return text
    end = (chars - 3) // 2
    return f"{text[: chars - 3 - end]}...{text[-end:]}"
