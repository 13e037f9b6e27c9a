"""The answers without a model: what they understand of a question."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrai_core import RunRecord, UsageError
from retrai_core.plugins.catalog import Catalog
from retrai_core.plugins.record import PluginRecord

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
    record = (await ask("What does @shop/shipping.py do?")).record
    assert str(record.output).partition("\n\n*No model")[0].split("\n") == [
        "## `shop/shipping.py`",
        "",
        "It defines 3 names (`shop/shipping.py:1-19`): Getting items to customers.",
        "",
        "- `Parcel` (`shop/shipping.py:4-9`): What is sent.",
        "- `post` (`shop/shipping.py:12-14`): Send a parcel.",
        "- `total` (`shop/shipping.py:17-19`): The sum of all parcels.",
    ]
    assert record.data["unverified"] == 0


async def test_a_mentioned_folder_is_listed_and_a_text_shown(ask: Ask, shop: Path) -> None:
    listed = str((await ask("@shop")).record.output)
    assert "It holds `shop/cart.py`, `shop/prices.py`." in listed
    (shop / "NEWS.md").write_text("# News\n\nTea is cheaper.\n")
    record = (await ask("@NEWS.md")).record
    assert "Tea is cheaper." in str(record.output)
    assert record.data["unverified"] == 0


async def test_a_mentioned_path_that_is_missing_is_named_in_the_answer(ask: Ask) -> None:
    for path in ("nope.py", "shop/nope"):
        record = (await ask(f"How is the total made in @{path}?")).record
        assert lead(record) == f"@{path}: the project has no such file or folder."
        assert "`Cart.total`" in str(record.output)


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
    third = (await ask("Who calls price_of?", continues=second.id)).record
    fourth = (await ask("Where is it defined?", continues=third.id)).record
    assert lead(third) == lead(fourth)
    assert "`price_of` (`shop/prices.py:" in lead(fourth)


async def test_each_part_of_a_question_is_answered(ask: Ask) -> None:
    record = (await ask("How is a total made, and where is the price of an item kept?")).record
    first, second = lead(record).split("\n")
    assert first.startswith('The best match for "How is a total made" is `Cart.total`')
    assert second.startswith('The best match for "where is the price of an item kept?" is `price')


async def test_a_misspelt_name_is_taken_for_the_nearest(ask: Ask) -> None:
    record = (await ask("What does Crat.totla return?")).record
    assert lead(record) == (
        "No definition is called `Crat.totla`; `Cart.total` (`shop/cart.py:12-14`) is taken for it."
    )
    assert "The best match is `Cart.total` (`shop/cart.py:12-14`)" in str(record.output)
    assert record.data["unverified"] == 0


async def test_a_word_with_a_capital_may_be_a_name(ask: Ask, shop: Path) -> None:
    (shop / "shop" / "more.py").write_text(
        "def cart_options():\n    pass\n\n\ndef cart_class():\n    pass\n"
    )
    record = (await ask("What does the Cart class do?")).record
    assert "`Cart` (`shop/cart.py:" in lead(record)


async def test_an_index_that_cannot_be_written_ends_the_run(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "taken").write_text("")
    monkeypatch.setenv("RETRAI_CACHE_DIR", str(tmp_path / "taken"))
    record = (await ask("How is the total made?")).record
    assert record.status == "error"
    assert "cannot be used: Not a directory" in record.reason
    assert "RETRAI_CACHE_DIR=FOLDER" in record.reason


async def test_it_answers_where_nothing_serves_the_usual_model(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = Catalog.provider_for

    def serves_no_other(self: Catalog, model: str, **kwargs: bool) -> PluginRecord:
        if model != "extractive":
            raise UsageError(f"no provider serves the model `{model}`")
        return served(self, model, **kwargs)

    monkeypatch.setattr(Catalog, "provider_for", serves_no_other)
    asked = await ask("How is the total made?")
    assert "`Cart.total`" in lead(asked.record)


async def test_what_fits_nothing_says_what_to_ask_with(ask: Ask) -> None:
    record = (await ask("Wozu ist das gut?")).record
    assert lead(record).startswith("Nothing in the project's code fits this question.")
    assert "names or words that stand in it" in lead(record)


PARCELS = """
class Parcel:
    '''What is sent.'''


class Letter(Parcel):
    '''Is thin.'''


class Registered(Letter):
    '''Needs a signature.'''
"""


@pytest.mark.parametrize(
    "question",
    [
        "Which classes inherit from Parcel?",
        "What are the subclasses of a parcel?",
        "Who extends Parcel?",
    ],
)
async def test_the_subclasses_of_a_class_are_listed(ask: Ask, shop: Path, question: str) -> None:
    (shop / "shop" / "parcels.py").write_text(PARCELS)
    record = (await ask(question)).record
    assert "`Parcel` (`shop/parcels.py:2-3`)" in lead(record)
    assert (
        "- Inherited by `Letter` (`shop/parcels.py:6-7`), `Registered` (`shop/parcels.py:10-11`)"
    ) in str(record.output)
    assert record.data["unverified"] == 0


async def test_many_subclasses_have_a_line_each(ask: Ask, shop: Path) -> None:
    others = "".join(f"\n\nclass Kind{number}(Parcel):\n    pass\n" for number in range(80))
    (shop / "shop" / "parcels.py").write_text(PARCELS + others)
    output = str((await ask("Which classes inherit from Parcel?")).record.output)
    assert "- Inherited by\n  - `Letter` (`shop/parcels.py:6-7`)\n" in output
    assert "\n  - and 22 more\n" in output


async def test_a_constant_is_an_answer(ask: Ask, shop: Path) -> None:
    (shop / "shop" / "parcels.py").write_text(f"{PARCELS}\n\nMAX_WEIGHT = 20\n")
    assert "`MAX_WEIGHT` (`shop/parcels.py:14`)" in lead((await ask("What is MAX_WEIGHT?")).record)


async def test_a_mentioned_path_may_be_written_whole(ask: Ask, shop: Path) -> None:
    (shop / "shop" / "shipping.py").write_text(SHIPPING)
    output = str((await ask(f"What does @{shop}/shop/shipping.py do?")).record.output)
    assert output.startswith("## `shop/shipping.py`")


async def test_names_of_other_languages_are_shown_without_their_files(ask: Ask, shop: Path) -> None:
    (shop / "shop" / "app.js").write_text("function deliver(parcel) {}\ndeliver(1);\n")
    output = str((await ask("Who calls `delivr`?")).record.output)
    assert "`deliver` (`shop/app.js:1`) is taken for it" in output
    assert "- Called by `shop/app.js` (`shop/app.js:1-2`)" in output


ERRORS = """
class ShopError(Exception):
    '''Base of all.'''


class Unknown(ShopError, KeyError):
    pass
"""


@pytest.mark.parametrize(
    ("question", "name", "classes"),
    [
        ("Which exceptions exist?", "Exception", ["ShopError", "Unknown"]),
        ("List all the exceptions that are defined", "Exception", ["ShopError", "Unknown"]),
        ("What inherits from LookupError?", "LookupError", ["Unknown"]),
    ],
)
async def test_what_inherits_from_a_class_outside_is_listed(
    ask: Ask, shop: Path, question: str, name: str, classes: list[str]
) -> None:
    (shop / "shop" / "errors.py").write_text(ERRORS)
    record = (await ask(question)).record
    places = {"ShopError": "2-3", "Unknown": "6-7"}
    shown = ", ".join(f"`{each}` (`shop/errors.py:{places[each]}`)" for each in classes)
    words = f"- `{name}`, which is not of this project, is inherited by {shown}\n"
    assert str(record.output).startswith(words)
    assert record.data["unverified"] == 0
