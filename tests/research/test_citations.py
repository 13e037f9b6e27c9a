"""Which citations and quotes of an answer are verified, and what is marked."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrai_research.citations import MARK, Checked, check_answer
from retrai_research.evidence import Evidence
from retrai_research.found import Place

CART = """\
class Cart:
    def total(self):
        prices = [item.price for item in self.items]
        return sum(prices)

    def clear(self):
        self.items = []
""".splitlines()
FILES: dict[str, Sequence[str]] = {
    "shop/cart.py": CART,
    "shop/prices.py": [f"PRICE_{number} = {number}" for number in range(1, 41)],
    "größe/maß.py": ["a = 1", "b = 2"],
    "my notes.md": ["one", "two"],
    "app/[id]/page.tsx": ["export {}"],
    "Makefile": ["test:", "\tpytest"],
}
SHOWN = Evidence()
SHOWN.add(
    [
        Place("shop/cart.py", 1, 4),
        Place("shop/prices.py", 10, 30),
        Place("größe/maß.py", 1, 2),
        Place("my notes.md", 1, 2),
        Place("app/[id]/page.tsx", 1, 1),
        Place("Makefile", 1, 2),
    ]
)


def checked(answer: str) -> Checked:
    return check_answer(answer, SHOWN, FILES.get)


@pytest.mark.parametrize(
    ("answer", "path", "lines"),
    [
        ("It sums up (shop/cart.py:2-4).", "shop/cart.py", "2-4"),
        ("`shop/cart.py:3`", "shop/cart.py", "3"),
        ("[shop/cart.py:2-4]", "shop/cart.py", "2-4"),
        ("[`shop/cart.py:2-4`](shop/cart.py)", "shop/cart.py", "2-4"),
        ("[the cart](shop/cart.py#L2-L4)", "shop/cart.py", "2-4"),
        ("**shop/cart.py:2**", "shop/cart.py", "2"),
        ("./shop/cart.py:2", "shop/cart.py", "2"),
        (r"shop\cart.py:2", "shop/cart.py", "2"),
        (r".\shop\cart.py:2", "shop/cart.py", "2"),
        ("shop/cart.py:2–4", "shop/cart.py", "2-4"),
        ("größe/maß.py:1-2", "größe/maß.py", "1-2"),
        ("see `my notes.md:1`", "my notes.md", "1"),
        ("app/[id]/page.tsx:1", "app/[id]/page.tsx", "1"),
        ("Makefile:1", "Makefile", "1"),
        ("shop/cart.py:2:13 says", "shop/cart.py", "2"),
        ("| `total` | shop/cart.py:2-4 |", "shop/cart.py", "2-4"),
        ("- shop/cart.py:2-4: the sum", "shop/cart.py", "2-4"),
        ("> shop/cart.py:2-4", "shop/cart.py", "2-4"),
    ],
)
def test_a_citation_of_shown_lines_is_verified(answer: str, path: str, lines: str) -> None:
    result = checked(answer)
    (citation,) = result.citations
    assert (citation.path, citation.lines, citation.verified) == (path, lines, True)
    assert result.text == answer


@pytest.mark.parametrize(
    ("answer", "text", "reason"),
    [
        ("(shop/cart.py:6-7).", "(shop/cart.py:6-7 [unverified]).", "no tool returned these lines"),
        ("`shop/cart.py:4-6`", "`shop/cart.py:4-6` [unverified]", "no tool returned these lines"),
        ("shop/cart.py:1-99", "shop/cart.py:1-99 [unverified]", "the file has 7 lines"),
        ("shop/cart.py:4-2", "shop/cart.py:4-2 [unverified]", "the range is reversed"),
        ("shop/cart.py:0-2", "shop/cart.py:0-2 [unverified]", "lines are counted from 1"),
        ("shop/none.py:1", "shop/none.py:1 [unverified]", "no such file in the project"),
        ("../etc/passwd:1", "../etc/passwd:1 [unverified]", "no such file in the project"),
        ("/etc/passwd:1", "/etc/passwd:1 [unverified]", "no such file in the project"),
        ("cart.py:2", "cart.py:2 [unverified]", "no such file in the project"),
        (r"C:\shop\cart.py:2", r"C:\shop\cart.py:2 [unverified]", "no such file in the project"),
        ("file:///shop/cart.py:2", "file:///shop/cart.py:2 [unverified]", "no such file"),
        ("[a](shop/cart.py:6)", "[a](shop/cart.py:6) [unverified]", "no tool returned"),
        ("[shop/cart.py:6]", "[shop/cart.py:6] [unverified]", "no tool returned"),
        ("shop/cart.py:" + "9" * 5000, "", "the file has 7 lines"),
    ],
)
def test_a_citation_that_does_not_hold_is_marked(answer: str, text: str, reason: str) -> None:
    result = checked(answer)
    (citation,) = result.citations
    assert not citation.verified
    assert reason in citation.reason
    assert result.text == (text or f"{answer} {MARK}")
    assert result.unverified == 1


def test_each_range_of_a_list_is_checked_and_the_list_is_marked_once() -> None:
    result = checked("`shop/prices.py:12-20,30,35` and shop/prices.py:11, 12-13.")
    assert [(each.lines, each.verified) for each in result.citations] == [
        ("12-20", True),
        ("30", True),
        ("35", False),
        ("11", True),
        ("12-13", True),
    ]
    assert result.text == "`shop/prices.py:12-20,30,35` [unverified] and shop/prices.py:11, 12-13."


@pytest.mark.parametrize(
    "answer",
    [
        "It listens on localhost:8000 and 127.0.0.1:80, since 12:30.",
        "See https://example.com:8080/shop/cart.py:2-4 and <http://host/shop/cart.py#L6>.",
        'A ratio of 3:4, {"key":1}, std::vec, example.com:443, step 2:30.',
    ],
)
def test_addresses_times_and_keys_are_no_citations(answer: str) -> None:
    result = checked(answer)
    assert result.citations == []
    assert result.text == answer


def test_marks_that_the_model_writes_are_removed() -> None:
    answer = "a: shop/cart.py:2 [verified]\nb: `shop/cart.py:6` [ Verified ]\n[verified]\nc"
    assert checked(answer).text == "a: shop/cart.py:2\nb: `shop/cart.py:6` [unverified]\nc"
    assert checked("x = shelf[verified]").text == "x = shelf[verified]"


QUOTE = """\
`shop/cart.py:2-4`:

```python
{code}
```"""
TOTAL = "def total(self):\n    prices = [item.price for item in self.items]\n    return sum(prices)"


def test_a_quote_within_its_cited_lines_is_verified_whatever_its_indentation() -> None:
    indented = "\n".join(f"    {line}  " for line in TOTAL.split("\n"))
    for code in (TOTAL, indented, "def total(self):\n    ...\n    return sum(prices)"):
        answer = QUOTE.format(code=code)
        result = checked(answer)
        assert result.text == answer
        (quote,) = result.quotes
        assert (quote.path, quote.lines, quote.verified) == ("shop/cart.py", "2-4", True)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (TOTAL.replace("sum", "max"), "does not stand in shop/cart.py"),
        ("def clear(self):\n    self.items = []", "stands in lines 6-7, not in 2-4"),
        (TOTAL.replace("    return", "return"), "does not stand in shop/cart.py"),
        ("return sum(prices)\n...\ndef total(self):", "does not stand in shop/cart.py"),
    ],
)
def test_a_quote_that_is_changed_or_stands_elsewhere_is_marked(code: str, reason: str) -> None:
    result = checked(QUOTE.format(code=code))
    (quote,) = result.quotes
    assert not quote.verified
    assert reason in quote.reason
    assert result.text == f"{QUOTE.format(code=code)}\n{MARK}"
    assert result.unverified == 1


def test_a_quote_of_one_cited_line_begins_there() -> None:
    assert checked(f"shop/cart.py:2\n```\n{TOTAL}\n```").quotes[0].verified
    assert not checked("shop/cart.py:1\n```\nreturn sum(prices)\n```").quotes[0].verified


def test_a_quote_may_name_its_place_in_its_first_line_or_its_fence() -> None:
    for answer in (
        f"```python\n# shop/cart.py:2-4\n{TOTAL}\n```",
        f"```python shop/cart.py:2-4\n{TOTAL}\n```",
        f"~~~~\n// shop/cart.py:2-4\n{TOTAL}\n~~~~",
    ):
        assert checked(answer).quotes[0].verified, answer
    assert not checked(f"```python\n# shop/cart.py:6-7\n{TOTAL}\n```").quotes[0].verified


def test_a_quote_without_a_citation_must_stand_in_a_file_that_was_shown() -> None:
    assert checked(f"```\n{TOTAL}\n```").quotes[0].path == "shop/cart.py"
    assert checked("```\nrm -rf /\n```").text == f"```\nrm -rf /\n```\n{MARK}"


def test_citations_in_a_fence_are_checked_unless_it_is_the_files_own_text() -> None:
    result = checked("```mermaid\ngraph TD\nA[shop/cart.py:2-4] --> B[shop/cart.py:6]\n```")
    assert [each.verified for each in result.citations] == [True, False]
    assert f"B[shop/cart.py:6] {MARK}" in result.text
    assert result.quotes == []
    hidden = checked("```text\nshop/cart.py:6-7 clears the cart\n```")
    assert hidden.unverified == 2


def test_a_fence_that_is_never_closed_and_one_in_a_list_are_checked() -> None:
    assert checked(f"```\n{TOTAL}").quotes[0].verified
    listed = "- shop/cart.py:2-4\n  ```\n  return max(prices)\n  ```\n- more"
    assert checked(listed).text == listed.replace("  ```\n- m", f"  ```\n  {MARK}\n- m")


def test_an_indented_block_is_a_quote_too() -> None:
    assert checked("shop/cart.py:2-4\n\n    return sum(prices)\n\nSo.").quotes[0].verified
    assert not checked("shop/cart.py:2-4\n\n    return max(prices)\n\nSo.").quotes[0].verified


WORDS = st.sampled_from(
    [
        "shop/cart.py:2-4",
        "`shop/cart.py:6`",
        "[shop/none.py:3](x)",
        "shop/prices.py:12-20,30",
        "[verified]",
        "[unverified]",
        "```",
        "```python",
        "~~~",
        "    return sum(prices)",
        "return sum(prices)",
        "> quoted",
        "- item",
        "https://a.b/c.py:1",
        "\n",
        "\n\n",
        " ",
        "é",
    ]
)
TEXTS = st.one_of(st.lists(WORDS, max_size=14).map("".join), st.text(max_size=80))


@given(TEXTS)
def test_checking_twice_changes_nothing_more(answer: str) -> None:
    once = checked(answer)
    twice = checked(once.text)
    assert twice.text == once.text
    assert twice.unverified == once.unverified


@given(TEXTS)
def test_there_is_a_mark_if_and_only_if_something_is_not_verified(answer: str) -> None:
    result = checked(answer)
    assert (MARK in result.text) == (result.unverified > 0)


@given(TEXTS)
def test_only_marks_are_added_and_removed(answer: str) -> None:
    def words(text: str) -> str:
        return re.sub(r"\s|>|\[\s*(?:un)?verified\s*\]", "", text)

    assert words(checked(answer).text) == words(answer.replace("\r\n", "\n"))


@given(st.integers(0, 12), st.integers(0, 12))
def test_a_range_is_verified_exactly_if_all_its_lines_were_shown(start: int, end: int) -> None:
    (citation,) = checked(f"shop/cart.py:{start}-{end}").citations
    assert citation.verified == (1 <= start <= end <= 4)


@given(
    st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), max_size=8),
    st.integers(1, 30),
    st.integers(0, 5),
)
def test_evidence_covers_exactly_the_lines_that_were_added(
    ranges: list[tuple[int, int]], start: int, more: int
) -> None:
    evidence = Evidence()
    evidence.add(Place("a", *each) for each in ranges)
    lines = {n for first, last in ranges for n in range(first, last + 1)}
    wanted = Place("a", start, start + more)
    assert evidence.covers(wanted) == lines.issuperset(range(start, start + more + 1))
    assert Evidence.parse(evidence.as_json()).as_json() == evidence.as_json()


@pytest.mark.parametrize(
    ("written", "lines"),
    [
        ("shop/prices.py:12\u201140", "12-40"),
        ("shop/prices.py:12\u221240", "12-40"),
        ("shop/prices.py:12..40", "12-40"),
        ("shop/prices.py:12:1-40:3", "12-40"),
        ("shop/prices.py#L12C1-L40C2", "12-40"),
        ("`shop/prices.py`:40", "40"),
        ("**shop/prices.py**:40", "40"),
        ("[prices](shop/prices.py):40", "40"),
        ("`shop/prices.py` lines 12-40", "12-40"),
        ("`shop/prices.py` (L12-L40)", "12-40"),
    ],
)
def test_every_way_to_write_a_range_is_checked_to_its_end(written: str, lines: str) -> None:
    (citation,) = checked(f"See {written}").citations
    assert (citation.path, citation.lines, citation.verified) == ("shop/prices.py", lines, False)


@pytest.mark.parametrize(
    "block",
    [
        "```python\n# shop/prices.py:20-999\nPRICE_20 = 20\n```",
        "```python shop/prices.py:20-999\nPRICE_20 = 20\n```",
    ],
)
def test_a_citation_inside_a_block_is_checked_too(block: str) -> None:
    found = checked(block)
    assert [each.lines for each in found.citations] == ["20-999"]
    assert found.unverified == 2


def test_code_is_no_diagram_by_its_name() -> None:
    assert checked("```mermaid\ngraph TD;\n  a --> b\n```").unverified == 0
    assert checked("```mermaid\nimport secrets\n```").unverified == 1


def test_any_line_end_of_markdown_is_one() -> None:
    found = checked("a\rb\rc\n```\nPRICE_10 = 10\n```")
    assert [each.verified for each in found.quotes] == [True]
