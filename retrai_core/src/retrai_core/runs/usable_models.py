"""The available models: asks every installed provider for its own."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field

from ..contracts.llm import AvailableModel, LLMProvider
from ..errors import RetraiError
from ..plugins.answers import ask_plugin
from ..plugins.catalog import Catalog
from ..plugins.daemon_call import AsideExecutor
from ..plugins.record import PluginRecord
from .resolved_run import make_context
from .resolver import Resolver

_ANSWER_LIMIT_S = 10.0


@dataclass(frozen=True, slots=True)
class UsableModel:
    """A model that is available here.

    Attributes:
        model: its name, as it is typed after `-m`.
        provider: the plugin that serves it, `name@distribution`.
        source: why it can be used: `ANTHROPIC_API_KEY is set`, `Ollama at 127.0.0.1:11434`.
        is_local: it runs on this machine.
    """

    model: str
    provider: str
    source: str
    is_local: bool


@dataclass(frozen=True, slots=True)
class UsableModels:
    """The available models, and the problems on the way.

    Attributes:
        models: sorted by provider, each provider's best first; each name leads to its provider.
        problems: a line for each provider that could not say.
    """

    models: Sequence[UsableModel] = ()
    problems: Sequence[str] = field(default=())


def usable_models(resolver: Resolver, configured: str = "") -> UsableModels:
    """Ask every provider at once. Waits for servers on this machine, so call it in a thread.

    Args:
        resolver: knows what is installed, and the providers' options.
        configured: a model that the user's configuration names, which no list may know.
    """
    catalog = resolver.catalog
    records = [record for record in catalog.records("llm") if record.is_usable]
    models: list[UsableModel] = []
    problems: list[str] = []
    providers: list[tuple[PluginRecord, LLMProvider]] = []
    for record in records:
        try:  # one after the other: imports are not made for threads
            providers.append((record, _provider(resolver, record)))
        except RetraiError as error:
            problems.append(str(error))
    executor = AsideExecutor()
    answers = [executor.submit(_available, record, provider) for record, provider in providers]
    ends_at = time.monotonic() + _ANSWER_LIMIT_S
    for (record, provider), answer in zip(providers, answers, strict=True):
        wait([answer], timeout=max(0.0, ends_at - time.monotonic()))
        found, problem = _answer_of(record, answer)
        problems += [problem] if problem else []
        models += _models(catalog, record, provider, found, configured)
    executor.shutdown(wait=False)
    return UsableModels(models, problems)


def _provider(resolver: Resolver, record: PluginRecord) -> LLMProvider:
    part, config = resolver.part(record, LLMProvider), resolver.config
    context = make_context(config, config.cwd)
    return ask_plugin(record, lambda: part.cls(part.options, context), LLMProvider)


def _available(record: PluginRecord, provider: LLMProvider) -> Sequence[AvailableModel]:
    return ask_plugin(record, lambda: list(provider.available()), list[AvailableModel])


def _answer_of(
    record: PluginRecord, answer: Future[Sequence[AvailableModel]]
) -> tuple[Sequence[AvailableModel], str]:
    if not answer.done():
        limit = f"{_ANSWER_LIMIT_S:g} s"
        return (), f"the provider {record.full_name} did not say within {limit} what it has"
    try:
        return answer.result(), ""
    except RetraiError as error:
        return (), str(error)


def _models(
    catalog: Catalog,
    record: PluginRecord,
    provider: LLMProvider,
    found: Sequence[AvailableModel],
    configured: str,
) -> list[UsableModel]:
    """The models of a provider that their names lead to."""
    named = {model.model: model for model in found}
    if configured and configured not in named and _is_ready(catalog, record, provider, configured):
        own = AvailableModel(configured, "named in the configuration")
        named = {configured: own, **named}
    return [
        UsableModel(name, record.full_name, model.source, model.is_local)
        for name, model in named.items()
        if _leads_to(catalog, name, record)
    ]


def _is_ready(catalog: Catalog, record: PluginRecord, provider: LLMProvider, model: str) -> bool:
    if not _leads_to(catalog, model, record):
        return False
    try:
        return ask_plugin(record, lambda: provider.ready(model), str | None) is None
    except RetraiError:
        return False


def _leads_to(catalog: Catalog, model: str, record: PluginRecord) -> bool:
    try:
        return catalog.provider_for(model) is record
    except RetraiError:  # two providers serve it equally well
        return False
