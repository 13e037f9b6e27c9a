"""What LiteLLM's own files say about a model's name, read without importing LiteLLM.

Importing LiteLLM takes seconds; its list of models is a JSON file that is read in 20 ms, and the
function that knows the variables of each provider is read as source, never run. Whatever these
files leave open is answered by None: then LiteLLM itself is asked once it is there.
"""

from __future__ import annotations

import ast
import difflib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

MODEL_LIST = "model_prices_and_context_window_backup.json"
KEY_ENDINGS = ("_API_KEY", "_API_TOKEN", "_AUTH_TOKEN", "_TOKEN")


def litellm_folder() -> Path | None:
    """Where LiteLLM is installed; None when it is not. Runs none of its code."""
    spec = find_spec("litellm")
    return Path(spec.origin).parent if spec is not None and spec.origin else None


@dataclass(frozen=True)
class KnownModels:
    """LiteLLM's list of models and what it says about their providers.

    Attributes:
        models: the provider of each model, by the model's name as a user types it.
        providers: every provider's name that may stand before a slash.
        key_variables: for each provider, the environment variables that may hold its key; one
            of them is enough. A provider that needs no key, or more than one, is left out.
        routes: patterns of bare names to come (`claude-newfamily-5`), each with its provider.
    """

    models: Mapping[str, str]
    providers: frozenset[str]
    key_variables: Mapping[str, Sequence[str]]
    routes: Sequence[tuple[re.Pattern[str], str]] = field(default=())

    @classmethod
    def read(cls, folder: Path) -> KnownModels:
        """Read the files of an installed LiteLLM.

        Raises:
            OSError: the list of models is not where every release so far had it.
            ValueError: it is not JSON.
        """
        raw = _read_objects(folder / MODEL_LIST)
        models = {
            name: str(facts["litellm_provider"])
            for name, facts in raw.items()
            if "litellm_provider" in facts and name != "sample_spec"
        }
        by_format = _json_providers(folder)
        prefixes = {name.partition("/")[0] for name in models if "/" in name}
        providers = prefixes | set(models.values()) | set(by_format) | _listed_providers(folder)
        variables = {**_checked_variables(folder), **by_format}
        return cls(models, frozenset(providers), variables, tuple(_routes(raw)))

    def provider_of(self, model: str) -> str | None:
        """The provider that LiteLLM would take for `model`; None when these files do not say."""
        prefix, slash, _ = model.partition("/")
        if slash:
            return prefix if prefix in self.providers else None
        listed = self.models.get(model)
        if listed is not None:
            return listed
        return next((provider for form, provider in self.routes if form.search(model)), None)

    def keys_for(self, provider: str) -> Sequence[str]:
        """The variables that may hold this provider's key; empty when that is not known."""
        return self.key_variables.get(provider, ())

    def nearest(self, model: str) -> str | None:
        """The known name that looks most like `model`, or None when none does.

        Hosts list the same models under their own prefix, so a bare name is compared with bare
        names first.
        """
        bare = [name for name in self.models if "/" not in name]
        for pool in (bare if "/" not in model else [], list(self.models)):
            close = difflib.get_close_matches(model, pool, n=1, cutoff=0.7)
            if close:
                return close[0]
        return None


def _json_providers(folder: Path) -> dict[str, tuple[str, ...]]:
    """Providers that LiteLLM describes in a file of their own, with the variable of each key."""
    path = folder / "llms" / "openai_like" / "providers.json"
    if not path.is_file():
        return {}
    return {
        name: (str(facts["api_key_env"]),)
        for name, facts in _read_objects(path).items()
        if "api_key_env" in facts
    }


def _read_objects(path: Path) -> dict[str, dict[str, Any]]:
    """A JSON object's members that are objects themselves."""
    raw: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return {name: value for name, value in raw.items() if isinstance(value, dict)}


def _routes(raw: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[re.Pattern[str], str]]:
    """The rules by which LiteLLM takes a provider for a bare name that its list lacks."""
    for rule in raw.get("fallback_generalizations", {}).get("rules", ()):
        provider = rule.get("model_info", {}).get("litellm_provider")
        if provider and "pattern" in rule:
            yield re.compile(rule["pattern"], re.IGNORECASE), str(provider)


def _listed_providers(folder: Path) -> set[str]:
    """Every value of LiteLLM's `LlmProviders`, from its source."""
    path = folder / "types" / "utils.py"
    block = _source_block(path, "class LlmProviders(")
    if block is None:
        return set()
    return {
        node.value.value
        for node in ast.walk(block)
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    }


def _checked_variables(folder: Path) -> dict[str, tuple[str, ...]]:
    """By provider, the key variables that LiteLLM's `validate_environment` looks for."""
    block = _source_block(folder / "utils.py", "def validate_environment(")
    found: dict[str, tuple[str, ...]] = {}
    for branch in ast.walk(block) if block is not None else ():
        if not isinstance(branch, ast.If):
            continue
        variables = tuple(dict.fromkeys(_variables(branch.body)))
        # A name that begins with an underscore is put together at run time: left to LiteLLM.
        if variables and all(
            name.endswith(KEY_ENDINGS) and not name.startswith("_") for name in variables
        ):
            for provider in _compared_with(branch.test, "custom_llm_provider"):
                found.setdefault(provider, variables)
    return found


def _variables(body: Sequence[ast.stmt]) -> Iterator[str]:
    """The capital names that a branch tests or reports: its environment variables."""
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                text = node.value
                if text.isupper() and text.replace("_", "").isalnum():
                    yield text


def _compared_with(test: ast.expr, name: str) -> Iterator[str]:
    """The strings that a condition compares the variable `name` with."""
    for node in ast.walk(test):
        if (
            isinstance(node, ast.Compare)
            and isinstance(node.left, ast.Name)
            and node.left.id == name
        ):
            for part in ast.walk(node.comparators[0]):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.value


def _source_block(path: Path, opening: str) -> ast.AST | None:
    """The one top-level class or function whose source begins with `opening`, parsed.

    These files are hundreds of kilobytes: parsing only the block keeps this at milliseconds.
    """
    if not path.is_file():
        return None
    text = path.read_text(encoding="utf-8")
    start = text.find("\n" + opening)
    if start < 0:
        return None
    lines = text[start + 1 :].splitlines()
    end = next(
        (i for i, line in enumerate(lines) if i and line and line[0] not in " \t)#"),
        len(lines),
    )
    try:
        return cast(Any, ast.parse("\n".join(lines[:end])))
    except SyntaxError:
        # A layout that this does not know: LiteLLM itself is asked later.
        return None
