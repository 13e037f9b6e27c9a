"""A distribution specifies hooks of its own: others implement them, and it calls them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from retrai_core import OwnHooks, PluginError, hookspec
from retrai_core.plugins.catalog import Catalog
from retrai_core.plugins.hooks import HookCaller
from retrai_core.plugins.other_hookspecs import load_hookspecs, unknown_hooks

SPECS = """
from retrai_core import hookspec

class PaintHooks:
    "What a painter asks."

    @hookspec
    def colours(self, room, light):
        "The colours that a plugin offers for a room."

    @hookspec(firstresult=True)
    def best(self, room):
        "The one to take."
"""
HOOKS = """
from retrai_core import hookimpl

class Red:
    "Offers red."

    @hookimpl
    def colours(self, room):
        return [f"red {room}"]

    @hookimpl
    def best(self):
        return "red"

class Fails:
    "Always fails."

    @hookimpl
    def colours(self):
        raise SystemExit(3)

    @hookimpl
    def system_prompt(self):
        return "paint"

class Odd:
    "Asks for what nobody gives."

    @hookimpl
    def colours(self, mood):
        return []

class Optional:
    "Works with and without a painter."

    @hookimpl(optionalhook=True)
    def colours(self):
        return ["any"]

    @hookimpl
    def tools(self):
        return []
"""
UNREADABLE = "class Odd(PaintHooks):\n    __getattr__ = 1\nPaintHooks = Odd()\n"
TRAP = "    @property\n    def trap(self): raise OSError\nPaintHooks = PaintHooks()\n"
POINTS = "[retrai.hooks]\n" + "".join(
    f"{name} = acme_hooks.plugin:{name.title()}\n" for name in ("red", "fails", "odd", "optional")
)


class PaintHooks:
    @hookspec
    def colours(self, room, light): ...

    @hookspec(firstresult=True)
    def best(self, room): ...


@pytest.fixture
def painter(site: Any) -> Callable[..., None]:
    def install(code: str = SPECS, dist: str = "acme-paint", **more: Any) -> None:
        points = f"[retrai.hookspecs]\npaint = {dist.replace('-', '_')}.plugin:PaintHooks\n"
        site.install(dist, entry_points=points, code=code, **more)

    return install


@pytest.fixture
def implementers(site: Any) -> None:
    site.install("acme-hooks", entry_points=POINTS, code=HOOKS)


def caller() -> HookCaller:
    """As a run loads them."""
    catalog = Catalog.scan()
    records = [r for r in catalog.records("hook") if r.dist == "acme-hooks"]
    loaded = [(record, catalog.load(record)) for record in records]
    others = load_hookspecs(catalog, unknown_hooks(plugin for _, plugin in loaded))
    return HookCaller(loaded, others=others)


def test_who_implements_the_hook_of_an_installed_distribution_is_sound(
    painter: Callable[..., None], implementers: None
) -> None:
    painter()
    hooks = caller()
    assert [record.name for record in hooks.records] == ["fails", "optional", "red"]
    ((record, error),) = hooks.broken
    assert record.name == "odd"
    assert "mood" in str(error)
    assert [r.name for r in hooks.implementers("colours")] == ["fails", "optional", "red"]
    assert [r.name for r in hooks.implementers("system_prompt")] == ["fails"]


def test_without_that_distribution_only_an_optional_hook_is(implementers: None) -> None:
    hooks = caller()
    assert [record.name for record in hooks.records] == ["optional"]
    assert {record.name for record, _ in hooks.broken} == {"fails", "odd", "red"}
    for _, error in hooks.broken:
        assert "is no hook of retrai or of a plugin that is installed" in str(error)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("raise RuntimeError('no paint')", "no paint"),
        ("class PaintHooks: pass", "@hookspec"),
        (SPECS + "    @hookspec\n    def before_tool(self, call): ...\n", "hook of retrai-core"),
        (SPECS + UNREADABLE, "not callable"),
        (SPECS + TRAP, ""),
    ],
    ids=["import", "nothing", "the core's own", "unreadable", "a trap"],
)  # fmt: skip
def test_broken_specs_harm_nobody_but_those_that_use_them(
    painter: Callable[..., None], implementers: None, site: Any, code: str, told: str
) -> None:
    painter(code)
    site.install(
        "acme-plain",
        entry_points="[retrai.hooks]\nplain = acme_plain.plugin:Plain\n",
        code="from retrai_core import hookimpl\nclass Plain:\n    'Plain.'\n    @hookimpl\n"
        "    def system_prompt(self): return 'x'\n",
    )
    catalog = Catalog.scan()
    records = [r for r in catalog.records("hook") if r.dist.startswith("acme-")]
    loaded = [(record, catalog.load(record)) for record in records]
    others = load_hookspecs(catalog, unknown_hooks(plugin for _, plugin in loaded))
    hooks = HookCaller(loaded, others=others)
    assert {"optional", "plain"} <= {record.name for record in hooks.records}
    red = [str(error) for record, error in hooks.broken if record.name == "red"]
    if told:
        assert told in red[0], "it says why the hook is unknown"
        assert "acme-paint" in red[0]
    else:
        assert red == []


def test_specs_that_nobody_needs_are_not_imported(painter: Callable[..., None]) -> None:
    painter("raise RuntimeError('imported')")
    catalog = Catalog.scan()
    assert load_hookspecs(catalog, set()).problems == []
    assert catalog.records("hookspec")[0].status == "unloaded"


def test_of_two_that_specify_one_hook_the_first_counts(
    painter: Callable[..., None], implementers: None
) -> None:
    painter()
    painter(dist="acme-rival")
    assert [record.name for record in caller().records] == ["fails", "optional", "red"]
    catalog = Catalog.scan()
    others = load_hookspecs(catalog, {"colours"})
    ((record, error),) = others.problems
    assert record.dist == "acme-rival"
    assert "is a hook of acme-paint already" in str(error)


def test_a_distribution_calls_its_own_hooks_one_plugin_at_a_time(
    painter: Callable[..., None], implementers: None
) -> None:
    painter()
    hooks = OwnHooks(PaintHooks)
    answers = hooks.call("colours", room="kitchen", light=3)
    assert [(a.plugin.partition("@")[0], a.value) for a in answers] == [
        ("fails", None),
        ("optional", ["any"]),
        ("red", ["red kitchen"]),
    ]
    problem = answers[0].problem
    assert isinstance(problem, PluginError)
    assert "the hook fails of acme-hooks 1.0 failed" in str(problem)
    assert "SystemExit(3)" in str(problem)
    assert [a.value for a in hooks.call("best", room="kitchen")] == ["red"]
    (line,) = hooks.problems
    assert "`odd` of acme-hooks" in line


def test_its_plugins_are_built_once(site: Any) -> None:
    site.install(
        "acme-hooks",
        entry_points="[retrai.hooks]\ncount = acme_hooks.plugin:Count\n",
        code="from retrai_core import hookimpl\nclass Count:\n    'Counts.'\n    n = 0\n"
        "    @hookimpl\n    def best(self):\n        self.n += 1\n        return self.n\n",
    )
    hooks = OwnHooks(PaintHooks)
    assert [hooks.call("best", room="")[0].value for _ in range(3)] == [1, 2, 3]
    assert OwnHooks(PaintHooks).call("best", room="")[0].value == 1


def test_what_has_no_specs_is_refused() -> None:
    with pytest.raises(ValueError, match="@hookspec"):
        OwnHooks(object())


def test_show_names_whose_hook_it_is(
    painter: Callable[..., None], implementers: None, retrai: Any
) -> None:
    painter()
    code, out, _ = retrai("plugins", "show", "red")
    assert code == 0
    assert "best (of acme-paint), colours (of acme-paint)" in out
    assert " ok" in out
    code, out, _ = retrai("plugins", "show", "paint")
    assert "hookspec" in out
    assert "best, colours" in out
    assert " ok" in out
    assert "hookspec" in retrai("plugins", "list")[1]
