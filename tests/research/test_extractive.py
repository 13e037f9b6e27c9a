"""The answers without a model: what they understand of a question."""

from __future__ import annotations

from pathlib import Path

from retrai_core import RunRecord

from .conftest import Ask

SHIPPING = '''\
"""Getting items to customers."""


class Parcel:
    """What is sent."""

    def weigh(self):
        """How heavy the parcel is."""
        return 2


def post(parcel):
    """Send a parcel."""
    return parcel.weigh()


def total():
    """The sum of all parcels."""
    return 0
'''


def lead(record: RunRecord) -> str:
    return str(record.output).partition("\n\n")[0]


async def test_a_mentioned_file_is_outlined(ask: Ask, shop: Path) -> None:
    (shop / "shop" / "shipping.py").write_text(SHIPPING)
    answer = str((await ask("What does @shop/shipping.py do?")).record.output)
    for name in ("`shop/shipping.py`", "`Parcel`", "`post`"):
        assert f"## {name}" in answer
    assert "shop/cart.py" not in answer.partition("## Also related")[0]
    assert "[unverified]" not in answer


async def test_a_mentioned_file_or_folder_comes_before_others(ask: Ask, shop: Path) -> None:
    (shop / "shop" / "shipping.py").write_text(SHIPPING)
    anywhere = (await ask("How is the total made?")).record
    assert "`Cart.total`" in lead(anywhere)
    for path in ("@shop/shipping.py", '@"shop/shipping.py"'):
        there = (await ask(f"How is the total made in {path}?")).record
        assert "`total` (`shop/shipping.py:" in lead(there)


async def test_a_follow_up_goes_on_from_the_question_before_it(ask: Ask) -> None:
    first = (await ask("What does a cart cost?")).record
    second = (await ask("And who calls it?", continues=first.id)).record
    assert lead(second) == lead(first)
    third = (await ask("How are prices of items kept?", continues=second.id)).record
    assert "Cart" not in lead(third)


async def test_each_part_of_a_question_is_answered(ask: Ask) -> None:
    record = (await ask("How is a total made, and where is the price of an item kept?")).record
    first, second = lead(record).split("\n")
    assert first.startswith('The best match for "How is a total made" is `Cart.total`')
    assert second.startswith('The best match for "where is the price of an item kept?" is `price')


async def test_a_misspelt_name_is_taken_for_the_nearest(ask: Ask) -> None:
    record = (await ask("What does Crat.totla return?")).record
    assert lead(record) == (
        "Nothing in this project is called `Crat.totla`. Similar names: `Cart.total`"
        " (`shop/cart.py:12-14`)."
    )
    assert "The best match is `Cart.total` (`shop/cart.py:12-14`)" in str(record.output)
    assert record.data["unverified"] == 0


async def test_what_fits_nothing_says_what_to_ask_with(ask: Ask) -> None:
    record = (await ask("Wozu ist das gut?")).record
    assert lead(record).startswith("Nothing in the project's code fits this question.")
    assert "names or words that stand in it" in lead(record)
