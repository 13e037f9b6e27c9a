"""Every edit is by position, changes nothing else, and nearly every one leaves valid Python."""

from __future__ import annotations

import ast

from hypothesis import given
from hypothesis import strategies as st

from retrai_llm_offline.worker.candidate import Candidate, apply_edits, combine, compatible
from retrai_llm_offline.worker.generate import FAR_COST, Suspicion, candidates
from retrai_llm_offline.worker.hotswap import patches_for
from retrai_llm_offline.worker.snippets import snippets
from retrai_llm_offline.worker.source import SourceFile

PLAIN = """\
def f(a, b):
    # größer
    if a < b and (a + 1) * b > 3:
        return [a, b]
    return {"ä": a}["ä"][1:b]
"""
METHOD = """\
class C:
    LIMIT = 3

    def m(self, xs):
        total = 0
        for i, x in enumerate(xs):
            total += x if x > self.LIMIT else -i
        return max(total, 0)
"""
GENERATOR = """\
import re


def h(n):
    while n:
        n -= 1
        if n % 2 == 0: continue
        yield n
    try:
        return sum(x for x in range(1, n + 1) if x)
    except ValueError:
        return None
"""
TABS = """\
def g(s):
\tout = []
\tfor w in s.split(' '):
\t\tout.append(w[::-1].upper())
\treturn ' '.join(sorted(out, key=len))"""
TEXTS = (PLAIN, METHOD, GENERATOR, TABS.replace("\n", "\r\n"))
SOURCES = [SourceFile(f"m{index}.py", text) for index, text in enumerate(TEXTS)]


def everything(source: SourceFile) -> list[Candidate]:
    suspicion = Suspicion(dict.fromkeys(range(1, source.line_count + 1), 1.0))
    return candidates(source, suspicion) + candidates(source, suspicion, far=True)


ALL = [(source, candidate) for source in SOURCES for candidate in everything(source)]
chosen = st.sampled_from(ALL)


def test_there_are_many_and_few_do_not_parse() -> None:
    broken = 0
    for source, candidate in ALL:
        try:
            ast.parse(apply_edits(source.text, candidate.edits))
        except SyntaxError:
            broken += 1
    assert len(ALL) > 5000
    assert broken / len(ALL) < 0.02


def test_no_candidate_comes_twice() -> None:
    for source in SOURCES:
        for far in (False, True):
            suspicion = Suspicion(dict.fromkeys(range(1, source.line_count + 1), 1.0))
            found = candidates(source, suspicion, far)
            assert len({candidate.key for candidate in found}) == len(found)


def test_those_from_far_cost_more_than_the_line_where_they_are_brought_in() -> None:
    for source in SOURCES:
        suspicion = Suspicion(dict.fromkeys(range(1, source.line_count + 1), 1.0))
        assert min(c.cost for c in candidates(source, suspicion, far=True)) >= FAR_COST


@given(chosen)
def test_an_edit_changes_the_text_there_and_nowhere_else(
    chosen: tuple[SourceFile, Candidate],
) -> None:
    source, candidate = chosen
    after = apply_edits(source.text, candidate.edits)
    assert after != source.text
    first = min(edit.start for edit in candidate.edits)
    last = max(edit.end for edit in candidate.edits)
    assert after.startswith(source.text[:first])
    assert after.endswith(source.text[last:])


@given(chosen)
def test_snippets_stand_once_in_the_text_and_make_the_change(
    chosen: tuple[SourceFile, Candidate],
) -> None:
    source, candidate = chosen
    after = apply_edits(source.text, candidate.edits)
    text = source.text
    for old, new in snippets(source.text, after):
        assert text.count(old) == 1
        text = text.replace(old, new)
    assert text == after


@given(chosen)
def test_a_function_s_new_source_keeps_its_line_numbers(
    chosen: tuple[SourceFile, Candidate],
) -> None:
    source, candidate = chosen
    for patch in patches_for(source, candidate.edits) or ():
        try:
            tree = ast.parse(patch.text)
        except SyntaxError:
            continue
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        assert functions[0].name == patch.name
        assert functions[0].lineno == patch.line


@given(st.sampled_from(SOURCES), st.data())
def test_two_edits_that_do_not_touch_can_be_made_together(
    source: SourceFile, data: st.DataObject
) -> None:
    mine = [candidate for owner, candidate in ALL if owner is source]
    one, other = data.draw(st.sampled_from(mine)), data.draw(st.sampled_from(mine))
    if compatible(one, other):
        both = apply_edits(source.text, combine(one, other).edits)
        assert both == apply_edits(source.text, combine(other, one).edits)
