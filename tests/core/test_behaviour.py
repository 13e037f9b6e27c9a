"""What recordings of the code's answers, before and after a run, say of a fix."""

from __future__ import annotations

from dataclasses import replace

import pytest

from retrai_core import RecordedCall
from retrai_core.verification.behaviour import (
    Observation,
    Recordings,
    compare,
    compare_program,
    inverse_calls,
)


def seen(case: str, **answers: str) -> list[RecordedCall]:
    """Calls of a plain case, by name."""
    return [
        RecordedCall(case, f"{name}()", answer, "again", plain=True)
        for name, answer in answers.items()
    ]


SUSPECT = "the fix answers only where tests run: "
HARD_CODED = "the answers changed for the arguments of the tests and for none near them"


def test_a_green_case_that_saw_the_same_answers_is_unchanged() -> None:
    before = [*seen("a", one="1"), *seen("b", two="2"), *seen("c", three="3")]
    after = [*seen("a", one="1", more="5"), *seen("b", two="3")]
    question = "a passes now although the code answered it as before: one(): 1"
    assert compare(Recordings(before, after)).question == question


def test_what_equals_is_no_answer() -> None:
    def calls(equal: str, *more: tuple[str, str]) -> list[RecordedCall]:
        built = ("Title.__init__(Title(), 'A b')", "None; self: Title(text='A b')")
        compared = (f"Title.__eq__({asked[1]}, Title(text='A b'))", equal)
        return [RecordedCall("a", *each, "again", plain=True) for each in (built, compared, *more)]

    asked = ("title('A B')", "Title(text='A B')")
    written = ("Title.__repr__(Title(text='A b'))", "\"Title('A b')\"")
    question = f"a passes now although the code answered it as before: {asked[0]}: {asked[1]}"
    question += "; only Title.__eq__ differs"
    before, after = calls("False", asked, written), calls("True", asked)
    assert compare(Recordings(before, after)).question == question
    # A test of equality itself builds both.
    assert not compare(Recordings(calls("False", written), calls("True"))).question


@pytest.mark.parametrize("answer", ["None", "<Response [200]>"])
def test_answers_that_show_nothing_are_no_question(answer: str) -> None:
    same = seen("a", one=answer)
    found = compare(Recordings(same, same))
    assert (found.question, bool(found.unknown)) == ("", True)
    assert compare(
        Recordings(seen("a", one=f"{answer}; n: 1"), seen("a", one=f"{answer}; n: 1"))
    ).question


def test_no_record_is_not_an_equal_record() -> None:
    assert not compare(Recordings([], seen("a", one="1"))).question
    assert not compare(Recordings(seen("a", one="1"), [])).question


def test_a_case_of_which_no_other_answer_is_known() -> None:
    lost = [RecordedCall("b", "", "")]
    after = [*seen("a", one="1"), *seen("b", two="2"), *seen("c", one="2")]
    found = compare(Recordings([*lost, *seen("c", one="1")], after))
    assert found.unknown == "b passes now, and no answer of the code is known to differ"
    assert not found.question
    found = compare(Recordings([*seen("a", one="1"), *seen("c", one="1")], after))
    assert found.unknown.startswith("a ")
    assert found.question.startswith("a ")


def test_an_answer_for_the_tests_alone_is_found() -> None:
    old, new = seen("a", one="1"), seen("a", one="2")
    found = compare(Recordings(old, new, replayed_before=old, replayed_after=old))
    assert found.suspect == f"{SUSPECT}one(): 2 in a, 1 outside of it"
    assert not compare(Recordings(old, new, replayed_before=old, replayed_after=new)).suspect


def test_a_case_that_fails_by_itself_is_found() -> None:
    failed = [RecordedCall("a", "a", "fails", "again", plain=True)]
    passed = [RecordedCall("a", "a", "passes", "again", plain=True)]
    old, lost = seen("a", one="1"), [RecordedCall("a", "two()", "1")]
    told = f"{SUSPECT}a passes in the check and fails outside of it"
    assert compare(Recordings(failed + old, passed, failed + old, failed)).suspect == told
    assert not compare(Recordings(failed + old, passed, failed + old, passed)).suspect
    # It gets farther than before: what it misses there is not the fix.
    farther = [replace(each, answer="fails at line 9") for each in failed]
    assert not compare(Recordings(failed + old, passed, failed + old, farther)).suspect
    # Without what other cases have done the old code answers otherwise, or nothing is known of it.
    other = seen("a", one="0")
    assert not compare(Recordings(failed + old, passed, failed + other, failed)).suspect
    assert not compare(Recordings(failed + lost, passed, failed, failed)).suspect


def test_a_module_of_the_tests_is_missed_only_where_the_tests_do_not_name_it() -> None:
    missed = "raises ModuleNotFoundError(\"No module named 'tests'\")"
    for call, suspect in (("load('other')", True), ("load('tests.sample:ONE')", False)):
        old, new = ([RecordedCall("a", call, answer, "again", plain=True)] for answer in ("1", "2"))
        outside = [replace(old[0], answer=missed)]
        assert bool(compare(Recordings(old, new, old, outside)).suspect) is suspect


def test_what_the_old_code_answers_otherwise_outside_proves_nothing() -> None:
    # The tests set something up that a process of its own does not have.
    old, new, outside = seen("a", one="1"), seen("a", one="2"), seen("a", one="0")
    assert not compare(Recordings(old, new, outside, outside)).suspect


def test_a_call_that_is_made_no_more_proves_nothing() -> None:
    # The fix changed a constant, and with it the arguments of the calls.
    old, new = seen("a", one="1"), seen("a", two="2")
    assert not compare(Recordings(old, new, old, [*old, *new])).suspect
    assert not compare(Recordings(old, [], old, old)).suspect


def test_a_case_with_a_call_that_cannot_be_made_again_proves_nothing() -> None:
    old, new = seen("a", one="1"), seen("a", one="2")
    hidden = [RecordedCall("a", "set_up()", "None", "", plain=True)]
    assert not compare(Recordings([*hidden, *old], [*hidden, *new], old, old)).suspect


def test_a_case_that_sets_something_up_proves_nothing() -> None:
    old = [RecordedCall("a", "one()", "1", "again")]
    new = [RecordedCall("a", "one()", "2", "again")]
    assert not compare(Recordings(old, new, old, old)).suspect


def test_a_call_with_several_answers_proves_nothing() -> None:
    old, new = seen("a", one="1") + seen("a", one="5"), seen("a", one="2")
    assert not compare(Recordings(old, new, old, old)).suspect


def test_answers_that_no_test_covers_are_shown_when_they_changed() -> None:
    old = [*seen("a", one="1"), RecordedCall("", "near()", "7"), RecordedCall("", "far()", "9")]
    new = [*seen("a", one="2"), RecordedCall("", "near()", "8"), RecordedCall("", "far()", "9")]
    found = compare(Recordings(seen("a", one="1"), seen("a", one="2"), old, new))
    assert found.findings == ["near(): 7 -> 8 (no test covers it)"]


def test_what_differs_is_shown_of_long_calls_and_answers() -> None:
    call, lines = f"pay(Order({'item, ' * 40}), months=4)", "line, " * 40
    old = [RecordedCall("", call, f"[{lines}'1 of 3', {lines}]")]
    new = [RecordedCall("", call, f"[{lines}'2 of 3', {lines}]")]
    (told,) = compare(Recordings(seen("a", one="1"), seen("a", one="2"), old, new)).findings
    assert "), months=4): ..." in told
    assert "'1 of 3'" in told
    assert "'2 of 3'" in told
    assert len(told) < 280


def test_a_fix_for_the_arguments_of_the_tests_alone_is_told() -> None:
    near = [RecordedCall("", f"one({number})", str(number)) for number in range(10)]
    old, new = seen("a", one="1", two="2"), seen("a", one="2", two="4")
    assert compare(Recordings(old, new, [*old, *near], [*new, *near])).findings == [HARD_CODED]
    assert not compare(Recordings(old, new, [*old, *near[:3]], [*new, *near[:3]])).findings
    others = [replace(each, call=f"of_{each.call}") for each in near]
    assert not compare(Recordings(old, new, [*old, *others], [*new, *others])).findings
    boundary = seen("a", one="1", two="3")
    assert not compare(Recordings(old, boundary, [*old, *near], [*boundary, *near])).findings


def test_a_fix_is_proven_where_each_new_answer_is_had_without_tests_too() -> None:
    old, new = seen("a", one="1"), seen("a", one="2")
    both = Recordings(old, new, replayed_before=old, replayed_after=new)
    assert compare(both, {"a"}).proven
    assert not compare(both, {"a", "b"}).proven  # nothing is known of b
    assert not compare(Recordings(old, new, replayed_before=old), {"a"}).proven
    assert not compare(Recordings(old, old, old, old), {"a"}).proven


def compared(answer: str, then: str = "4", pair: tuple[str, str] = ("4", "5")) -> str:
    """What speaks against a case that found 4 where it expected 5, and has this answer now."""
    old = [replace(each, compared=pair) for each in seen("a", one=then)]
    return compare(Recordings(old, seen("a", one=answer))).doubt


def test_an_answer_that_is_neither_the_old_nor_the_expected_one() -> None:
    doubt = "a passes now with an answer that it did not expect: one(): 6; 4 == 5 failed before"
    assert compared("6") == doubt
    assert compared("[6, 1]", "[4, 1]") == doubt
    assert compared("{'a': 6}", "{'a': 4}", pair=("5", "4"))
    for answer in ("5", "5.0", "True, 5", "[1, 5]", "Six(6)", "raises ValueError('6')"):
        assert not compared(answer)


@pytest.mark.parametrize(
    ("answer", "is_suspect"),
    [
        ("Cents(6)", True),
        ("Cents(4)", True),
        ("make.<locals>.Cents(4)", True),
        ("Bill(total=Cents(4))", True),
        ("Cents(5)", False),
        ("Bill(total=Cents(5))", False),
        ("Other(6)", False),
    ],
)
def test_an_answer_of_a_changed_class_must_hold_what_was_expected(
    answer: str, *, is_suspect: bool
) -> None:
    then = "Bill(total=4)" if "Bill" in answer else "4"
    old = [replace(each, compared=("4", "5")) for each in seen("a", one=then)]
    found = compare(Recordings(old, seen("a", one=answer)), classes=["Cents", "Bill"])
    assert bool(found.suspect) is is_suspect
    assert not found.doubt


def test_the_elements_of_a_changed_class_count() -> None:
    old = [replace(each, compared=("[3, 3]", "[4, 3]")) for each in seen("a", one="[3, 3]")]
    for answer in ("Shares([3, 4])", "[Cent(3), Cent(3)]"):
        found = compare(Recordings(old, seen("a", one=answer)), classes=["Shares", "Cent"])
        assert "an answer that it did not expect: one(): " in found.suspect
    found = compare(Recordings(old, seen("a", one="Shares([4, 3])")), classes=["Shares"])
    assert not found.suspect
    pair = [replace(each, answer="([3, 3], 1)") for each in old]
    found = compare(Recordings(pair, seen("a", one="([Cent(3), 3], 1)")), classes=["Cent"])
    assert "one(): Cent [3, 3]; " in found.suspect


@pytest.mark.parametrize(
    ("compared", "then", "now", "is_suspect"),
    [
        (("'1.50'", "'1.5'", "in"), "'1.5'", "Text('1.5')", True),
        (("'1.50'", "'1.5'", "in"), "'1.5'", "Text('1.50')", False),
        (("5", "3", "<"), "5", "Number(4)", True),
        (("5", "3", "<"), "5", "Number(2)", False),
        (("3", "5", ">"), "5", "Number(4)", True),
        (("5", "'a'", "<"), "5", "Number(4)", False),  # they cannot be compared
        (("5", "'a'", "=="), "5", "Number(4)", True),
        (("5", "6", "is"), "5", "Number(4)", False),
        (("5", "6", "=="), "5", "Number(4)", True),
    ],
)
def test_whatever_comparison_failed_must_hold_now(
    compared: tuple[str, ...], then: str, now: str, *, is_suspect: bool
) -> None:
    old = [replace(each, compared=compared) for each in seen("a", one=then)]
    found = compare(Recordings(old, seen("a", one=now)), classes=["Text", "Number"])
    assert bool(found.suspect) is is_suspect


@pytest.mark.parametrize(
    ("now", "is_suspect"),
    [
        ("[1]; b: [2]", True),
        ("[1]; b: [1, 2]", False),  # it is what was expected
        ("[1]; self: Box([2])", False),
        ("[1, 2]; b: [2]", False),
        ("[1]", False),
    ],
)
def test_an_answer_is_not_compared_with_arguments_that_were_spoilt(
    now: str, *, is_suspect: bool
) -> None:
    old = [replace(each, compared=("[1]", "[1, 2]")) for each in seen("a", one="[1]")]
    found = compare(Recordings(old, seen("a", one=now)))
    assert ("changes its own arguments: one(): " in found.suspect) is is_suspect


@pytest.mark.parametrize(
    ("alone", "is_suspect"),
    [
        ("['a']", True),
        ("['a,b']", False),
        ("raises KeyError('a,b')", False),  # what keeps things may not know it
    ],
)
def test_what_undoes_a_call_does_it_without_that_call(alone: str, *, is_suspect: bool) -> None:
    packed = RecordedCall("a", "packed(['a,b'])", "'a,b'", "again", plain=True)
    old = RecordedCall("a", "unpacked('a,b')", alone if "raises" in alone else "['a']", "again")
    new = replace(old, answer="['a,b']")
    assert inverse_calls([packed, old], [packed, new]) == [new]
    assert inverse_calls([packed, new], [packed, new]) == []
    assert inverse_calls([old], [new]) == []
    assert inverse_calls([packed, old], [packed, replace(new, replay="")]) == []
    found = Recordings([packed, old], [packed, new], alone=[replace(new, answer=alone)])
    told = "unpacked('a,b'): ['a,b'] after the call that it undoes, ['a'] without it"
    assert (told == compare(found).suspect) is is_suspect


@pytest.mark.parametrize(
    ("call", "is_suspect"),
    [
        ("Sum.equals(Sum(3), Sum(4))", True),
        ("(Sum(3)).isEqualTo(Sum(4))", True),
        ("Sum.is_same(Sum(3), Sum(3))", False),
        ("Sum.equals(Sum(4), Sum(5))", False),  # nothing that the code answered
        ("Sum.is_valid(Sum(3), Sum(4))", False),
    ],
)
def test_an_answer_of_before_does_not_become_equal(call: str, *, is_suspect: bool) -> None:
    answer = seen("a", total="Sum(3)")
    old, new = (RecordedCall("a", call, str(equal), "again", plain=True) for equal in (False, True))
    found = compare(Recordings([*answer, old], [*answer, new]))
    assert found.suspect.endswith(f"because another thing is equal: {call}") is is_suspect


def test_a_function_may_be_asked_with_other_arguments_now() -> None:
    pair = ("3", "5")
    old = [RecordedCall("a", "total(Stock(pieces=1))", "3", "again", plain=True, compared=pair)]
    new = [RecordedCall("a", "total(Stock(late=2))", "Total(4)", "again", plain=True)]
    told = "total(Stock(late=2)): Total 4; 3 == 5 failed before"
    assert told in compare(Recordings(old, new), classes=["Total"]).suspect


@pytest.mark.parametrize("answer", ["Row({'count': 5})", "Line(('apple', 5))", "[[(5,)]]"])
def test_what_was_expected_may_be_a_part_of_an_answer(answer: str) -> None:
    old = [replace(each, compared=("None", "5")) for each in seen("a", one="None")]
    assert not compare(Recordings(old, seen("a", one=answer)), classes=["Row", "Line"]).suspect


def test_another_function_that_answered_the_same_says_nothing() -> None:
    failed = ("'total'", "''", "in")
    old = [replace(each, compared=failed) for each in seen("a", report="''", title="''")]
    new = seen("a", report="'total: 5'", title="Safe('Bill')")
    assert not compare(Recordings(old, new), classes=["Safe"]).suspect


@pytest.mark.parametrize("answer", ["-" * 395 + "5", "{[1]: 2}", "Broken(", "<Stock object>"])
def test_an_answer_that_is_no_value_says_nothing(answer: str) -> None:
    old = [replace(each, compared=("4", "5")) for each in seen("a", one="4")]
    assert not compare(Recordings(old, seen("a", one=answer)), classes=["Stock"]).suspect


def test_a_compared_answer_that_is_as_before_is_unexpected_where_chance_gives_none() -> None:
    """The data that it was compared with were others, say."""
    assert compared("Table([4, 3])", "[4, 3]", pair=("[4, 3]", "[4, 2]")) == ""  # as 4 is
    rows = ("['tea', 3]", "['tea', 2]")
    for pair in (rows, rows[::-1]):
        assert "one(): ['tea', 3]; " in compared(
            "Row((['tea', 3], 1))", "(['tea', 3], 1)", pair=pair
        )
    explained = [replace(each, compared=rows) for each in seen("a", one="['tea', 3]", two="''")]
    assert not compare(Recordings(explained, seen("a", one="['tea', 3]", two="'milk'"))).doubt
    # Of two answers one may be right to be as before.
    both = "(['tea', 3], ['tea', 2])"
    assert not compared(f"Rows({both})", both, pair=rows)


def test_another_call_may_give_what_was_expected() -> None:
    old = [replace(each, compared=("4", "5")) for each in seen("a", one="4", two="4")]
    assert not compare(Recordings(old, seen("a", one="6", two="5"))).doubt
    assert not compare(Recordings(old, [*seen("a", one="6"), *seen("a", one="5")])).doubt
    assert compare(Recordings(old, seen("a", one="6", two="7"))).doubt


def test_what_the_old_code_answers_too_says_nothing_of_the_fix() -> None:
    old, new = seen("a", one="1"), seen("a", two="2")
    known = "a passes now, and the old code gives the same answers to its calls"
    assert compare(Recordings(old, new, [*old, *new], new)).doubt == known
    assert not compare(Recordings(old, new, [*old, *seen("a", two="0")], new)).doubt
    assert not compare(Recordings(old, new, old, new)).doubt
    # Outside, both miss what only the tests have.
    lost = seen("a", two="raises FileNotFoundError()")
    assert not compare(Recordings(old, new, lost, lost)).doubt


def asked(*answers: str) -> list[RecordedCall]:
    """What a function of a program answered, each time for another argument."""
    return [
        RecordedCall("sh check.sh", f"f({number})", answer) for number, answer in enumerate(answers)
    ]


@pytest.mark.parametrize(
    ("before", "after", "is_told"),
    [
        ("raises AssertionError()", "None", True),
        ("throws Error('no')", "undefined", True),
        ("raises SystemExit('no')", "None", True),
        ("raises SystemExit(0)", "None", False),
        ("throws Error('TODO')", "undefined", False),
        ("raises ValueError('no')", "None", False),
        ("raises AssertionError()", "raises AssertionError()", False),
    ],
)
def test_an_assertion_that_fails_for_nothing_any_more_is_told(
    before: str, after: str, is_told: bool
) -> None:
    def calls(failed: str) -> list[RecordedCall]:
        nothing = after if after == "undefined" else "None"
        answers = [*[failed] * 9, nothing]
        return [RecordedCall("", f"same({n}, 9)", answer) for n, answer in enumerate(answers)]

    case = seen("a", one="1")
    found = Recordings(case, case, calls(before), calls(after))
    assert ("same fails for nothing any more" in compare(found).suspect) is is_told


def test_a_program_that_answers_anew_only_in_the_check_is_told() -> None:
    old, new, outside = asked("1", "2", "3"), asked("5", "6", "3"), asked("1", "6", "3")
    told = "the fix may answer only where the check runs: f(0): 5 in the check, 1 outside of it"
    assert compare_program(Recordings(old, new, old, outside)) == Observation(findings=[told])
    # What gave another answer in the check before, too, needs something that the check does first.
    assert not compare_program(Recordings(new, new, old, outside)).findings
    assert not compare_program(Recordings([], new, old, outside)).findings
    # Nor is it known that nothing has to be set where no other call answers the same everywhere.
    assert not compare_program(Recordings(old, new[:1], old, outside)).findings
    assert not compare_program(Recordings(old, new, old, asked("1", "7", "3"))).findings
    assert not compare_program(Recordings(old, [*new, *asked("9")], old, outside)).findings


def test_answers_beside_those_that_a_program_gave_in_the_check_are_told() -> None:
    old, new = [*asked("1"), *seen("", near="2")], [*asked("5"), *seen("", near="6")]
    found = compare_program(Recordings((), asked("5"), old, new))
    assert found == Observation(findings=["near(): 2 -> 6 (not seen in the check)"])
    known = [*asked("5"), RecordedCall("sh check.sh", "near()", "6")]
    assert not compare_program(Recordings((), known, old, new)).findings


def test_an_answer_that_only_the_first_calls_get_is_suspect() -> None:
    def suspect(late: str, old: str = "1", outside: tuple[str, str] = ("1", "2")) -> str:
        before, after = seen("a", one=old), seen("a", one="2")
        replayed = [seen("a", one=each) for each in outside]
        worn = [replace(each, answer=late, late=True) for each in after]
        return compare(Recordings(before, after, replayed[0], replayed[1] + worn)).suspect

    told = "one(): 2 at first, 1 after many other calls"
    assert suspect("1") == f"the fix works only for the first calls: {told}"
    # Another new answer may be right; only the old one is suspect.
    assert not suspect("3")
    assert not suspect("1", outside=("4", "2"))
    assert not suspect("1", outside=("1", "4")).startswith("the fix works only")
    # An account that is locked, a quota that is used up.
    assert not suspect("False", old="False", outside=("False", "2"))
