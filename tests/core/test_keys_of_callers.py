"""A caller's key reaches the provider, and only one that takes it; without one nothing changes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from retrai_core import LLMOptions, LLMProvider, PluginError, RunConfig, UsageError
from retrai_core.config.sources import Settings
from retrai_core.contracts.llm import create_model
from retrai_core.plugins.catalog import Catalog
from retrai_core.runs.resolved_run import ResolvedRun
from retrai_core.runs.session import RunSession

MODULE = """
from retrai_core import LLMProvider

class Keyed(LLMProvider):
    name = "keyed"
    model_patterns = ("keyed",)
    built = []

    def __init__(self, options, context):
        super().__init__(options, context)
        self.built.append(self)

    def ready(self, model):
        return "KEYED_KEY is not set"

    def create(self, model, temperature, context, api_key=None):
        from langchain_core.language_models import FakeListChatModel
        return FakeListChatModel(responses=[str(api_key)])

class Older(Keyed):
    name = "older"
    model_patterns = ("older",)

    def create(self, model, temperature, context):
        return super().create(model, temperature, context)

    def ready(self, model):
        return None
"""


class Older(LLMProvider):
    name = "older"

    def create(self, model, temperature, context):  # type: ignore[override] # as it was once
        return (model, temperature, context)


class Anything(LLMProvider):
    name = "anything"

    def create(self, model, temperature, context, **more: Any):  # type: ignore[override]
        return more


def test_a_provider_without_the_argument_works_until_a_key_is_given() -> None:
    older: Any = Older(LLMOptions(), None)  # type: ignore[arg-type]
    assert create_model(older, "m", 0.5, None) == ("m", 0.5, None)  # type: ignore[arg-type,comparison-overlap]
    with pytest.raises(PluginError, match="the provider older takes no key for a single call"):
        create_model(older, "m", 0.5, None, "sk-1")  # type: ignore[arg-type]


def test_one_that_takes_any_argument_gets_it() -> None:
    provider: Any = Anything(LLMOptions(), None)  # type: ignore[arg-type]
    assert create_model(provider, "m", 0.5, None, "sk-1") == {"api_key": "sk-1"}  # type: ignore[arg-type,comparison-overlap]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two providers, one of which takes keys."""
    module = f"acme_{tmp_path.name}".replace("-", "_")
    info = tmp_path / "site" / "acme_keys-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-keys\nVersion: 1.0\n")
    points = f"[retrai.llms]\nkeyed = {module}:Keyed\nolder = {module}:Older\n"
    (info / "entry_points.txt").write_text(points)
    (tmp_path / "site" / f"{module}.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))


@pytest.mark.usefixtures("installed")
async def test_a_model_beside_the_agent_s_may_have_a_key_of_its_own(tmp_path: Path) -> None:
    settings = Settings(RunConfig(cwd=tmp_path, model="other"))
    resolved = ResolvedRun(config=settings.config, settings=settings, catalog=Catalog.scan())
    async with RunSession(resolved, tmp_path) as session:
        context = session.context
        for key in ("sk-1", "sk-2"):
            model = context.chat_model("keyed", api_key=key)
            assert (await model.ainvoke("hi")).content == key
        assert not [value for value in os.environ.values() if value.startswith("sk-")]
        with pytest.raises(UsageError, match="KEYED_KEY is not set"):
            context.chat_model("keyed")
        with pytest.raises(PluginError, match="takes no key"):
            context.chat_model("older", api_key="sk-1")
        assert (await context.chat_model("older").ainvoke("hi")).content == "None"
