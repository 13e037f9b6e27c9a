"""`retrai models`: every model that can be used here, as it is typed after `-m`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from ..plugins.standard_names import OFFLINE
from .columns import aligned
from .output import echo
from .project_option import project_option

_NO_PROVIDER = "`pip install retrai-llm-litellm` brings hosted models, and those of local servers."
_NOTHING_ELSE = (
    "Others come with a key (ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, MISTRAL_API_KEY, "
    "...) in the environment, or with a server on this machine: Ollama, LM Studio, vLLM, llama.cpp."
)


@click.command()
@project_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def models(project: Path, as_json: bool) -> None:
    """List the models that are available here, and why: a key is set, a server answers.

    Looks only for keys in the environment and for servers at their usual ports on this machine. A
    model that is not listed may still work: `-m` takes any name that an installed provider knows.
    """
    from ..config.sources import load_settings
    from ..runs.resolver import Resolver
    from ..runs.trust import without_claims
    from ..runs.usable_models import usable_models

    settings = load_settings(project)
    config = settings.config
    origin = settings.origins["model_name"]
    is_named = origin != "default"
    agreed = without_claims(settings)
    if agreed is not settings:
        is_named = is_named and origin != settings.project_file
    resolver = Resolver(agreed)
    found = usable_models(resolver, config.model_name if is_named else "")
    if as_json:
        listed = [
            {"model": m.model, "provider": m.provider, "source": m.source, "local": m.is_local}
            for m in found.models
        ]
        echo(json.dumps({"models": listed, "problems": list(found.problems)}, indent=2))
        return
    if found.models:
        rows = [(f"-m {model.model}", model.source) for model in found.models]
        echo(aligned([("MODEL", "WHY"), *rows]))
    for line in found.problems:
        echo(f"warning: {line}", err=True)
    if all(model.model == OFFLINE for model in found.models):
        is_open = any(
            "*" in r.model_patterns for r in resolver.catalog.records("llm") if r.is_usable
        )
        blank = [""] if found.models else []
        echo("\n".join([*blank, _NOTHING_ELSE if is_open else _NO_PROVIDER]))
