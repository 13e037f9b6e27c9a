"""Which provider serves a model: an exact pattern beats a prefix, and that beats `*`."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import PluginError, UsageError
from .record import PluginRecord

_CATCH_ALL = 0
_EXACT = 1_000_000


def strength(pattern: str, model: str) -> int | None:
    """How closely `pattern` fits `model`; None when it does not. A longer prefix fits closer."""
    if pattern == "*":
        return _CATCH_ALL
    if pattern.endswith("*"):
        return len(pattern) - 1 if model.startswith(pattern[:-1]) else None
    return _EXACT if pattern == model else None


def choose_provider(providers: Iterable[PluginRecord], model: str) -> PluginRecord:
    """The provider whose pattern fits `model` closest.

    Raises:
        UsageError: none does.
        PluginError: two do equally.
    """
    known = list(providers)
    best: dict[int, dict[str, PluginRecord]] = {}
    for record in known:
        for pattern in record.model_patterns:
            fit = strength(pattern, model)
            if fit is not None:
                best.setdefault(fit, {})[record.full_name] = record
    if not best:
        raise UsageError(f"no provider serves the model `{model}`", hint=_known(known))
    tied = best[max(best)]
    if len(tied) > 1:
        names = " and ".join(sorted(tied))
        raise PluginError(
            f"the model `{model}` is served by {names}",
            hint="switch one off: RETRAI_DISABLE_PLUGINS takes its name or its distribution",
        )
    return next(iter(tied.values()))


def provider_that_is_off(providers: Iterable[PluginRecord], model: str) -> PluginRecord | None:
    """One that would serve `model` by more than `*`, were it not switched off or broken."""
    return next(
        (
            record
            for record in providers
            if not record.is_usable
            and any(strength(pattern, model) for pattern in record.model_patterns)
        ),
        None,
    )


def _known(providers: list[PluginRecord]) -> str:
    patterns = sorted({pattern for record in providers for pattern in record.model_patterns})
    if not patterns:
        return "no provider is installed: `pip install retrai-llm-litellm` brings one"
    return f"known: {', '.join(patterns)}; `retrai plugins list --kind llm` shows who serves them"
