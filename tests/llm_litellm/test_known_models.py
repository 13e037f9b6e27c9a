"""What a model's name says, before LiteLLM is imported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from retrai_core import UsageError
from retrai_llm_litellm.known_models import KnownModels, litellm_folder


@pytest.fixture(scope="module")
def known() -> KnownModels:
    folder = litellm_folder()
    assert folder is not None
    return KnownModels.read(folder)


@pytest.mark.parametrize(
    ("model", "provider"),
    [
        ("claude-sonnet-4-6", "anthropic"),
        ("gpt-4o", "openai"),
        ("gemini/gemini-2.5-pro", "gemini"),
        ("azure/my-deployment", "azure"),
        ("ollama_chat/qwen2.5-coder", "ollama_chat"),
        ("github_copilot/gpt-4o", "github_copilot"),
        ("claude-newfamily-9", "anthropic"),
        ("openrouter/some/model", "openrouter"),
        ("nobody/knows-this", None),
        ("knows-this-nobody", None),
    ],
)
def test_a_name_leads_to_its_provider(known: KnownModels, model: str, provider: str | None) -> None:
    assert known.provider_of(model) == provider


@pytest.mark.parametrize(
    ("provider", "variable"),
    [
        ("anthropic", "ANTHROPIC_API_KEY"),
        ("openai", "OPENAI_API_KEY"),
        ("gemini", "GEMINI_API_KEY"),
        ("groq", "GROQ_API_KEY"),
        ("together_ai", "TOGETHERAI_API_KEY"),
        ("scaleway", "SCW_SECRET_KEY"),
    ],
)
def test_a_provider_leads_to_its_key_variables(
    known: KnownModels, provider: str, variable: str
) -> None:
    assert variable in known.keys_for(provider)


@pytest.mark.parametrize("provider", ["ollama_chat", "bedrock", "vertex_ai", "github_copilot"])
def test_a_provider_that_does_without_one_key_is_asked_for_none(
    known: KnownModels, provider: str
) -> None:
    assert not known.keys_for(provider)


def test_the_nearest_name_is_found_among_bare_names_first(known: KnownModels) -> None:
    assert known.nearest("gtp-4o") == "gpt-4o"


def test_without_the_source_files_the_list_of_models_is_enough(tmp_path: Path) -> None:
    (tmp_path / "model_prices_and_context_window_backup.json").write_text(
        '{"sample_spec": {"litellm_provider": "x"}, "a-model": {"litellm_provider": "acme"}}'
    )
    known = KnownModels.read(tmp_path)
    assert known.provider_of("a-model") == "acme"
    assert known.provider_of("acme/other") == "acme"
    assert not known.keys_for("acme")


def test_a_missing_key_is_named_by_its_variable(provider_of, monkeypatch) -> None:
    assert provider_of().ready("gpt-4o") == "OPENAI_API_KEY is not set"
    monkeypatch.setenv("OPENAI_API_KEY", "sk-some-key")
    assert provider_of().ready("gpt-4o") is None


def test_a_misspelt_name_without_a_key_names_both(provider_of) -> None:
    problem = provider_of().ready("claude-sonet-4-6")
    assert problem.startswith("ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN is not set; and no model ")
    assert problem.endswith("claude-sonet-4-6 is known (did you mean claude-sonnet-4-6?)")


def test_one_of_several_key_variables_is_enough(provider_of, monkeypatch) -> None:
    problem = provider_of().ready("claude-sonnet-4-6")
    assert problem == "ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN is not set"
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "some-token")
    assert provider_of().ready("claude-sonnet-4-6") is None


def test_a_spelling_that_only_litellm_knows_is_left_to_it(provider_of, monkeypatch) -> None:
    monkeypatch.setenv("TOGETHER_API_KEY", "some-key")
    assert provider_of().ready("together_ai/some-model") is None


def test_the_variables_that_the_options_name_must_be_set(provider_of, monkeypatch) -> None:
    options = {"api_key_env": "MY_KEY", "extra_headers": {"X-Team": "team-$MY_TEAM"}}
    assert provider_of(**options).ready("gpt-4o") == "MY_TEAM is not set"
    monkeypatch.setenv("MY_TEAM", "seven")
    assert provider_of(**options).ready("gpt-4o") == "MY_KEY is not set"
    monkeypatch.setenv("MY_KEY", "sk-mine")
    assert provider_of(**options).ready("gpt-4o") is None


def test_an_address_of_ones_own_needs_no_key(provider_of, monkeypatch) -> None:
    assert provider_of(api_base="http://127.0.0.1:1/v1").ready("openai/local") is None
    monkeypatch.setenv("OPENAI_API_BASE", "http://127.0.0.1:1/v1")
    assert provider_of().ready("openai/local") is None


def test_an_unknown_provider_is_a_usage_error_that_says_where_the_list_is(provider_of) -> None:
    with pytest.raises(UsageError, match=r"opnai/gpt-4o.*did you mean .*gpt-4o.*docs.litellm.ai"):
        provider_of().ready("opnai/gpt-4o")


def test_finding_all_this_out_imports_no_client_library() -> None:
    code = (
        "import sys\n"
        "from retrai_llm_litellm.provider import LiteLLMProvider, LiteLLMOptions\n"
        "LiteLLMProvider(LiteLLMOptions(), None).ready('claude-sonnet-4-6')\n"
        "heavy = {'litellm', 'openai', 'langchain_litellm', 'langchain_core', 'httpx', 'mcp'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


AZURE_KEY = "AZURE_API_KEY or AZURE_AD_TOKEN is not set"
AZURE_ADDRESS = "AZURE_API_BASE (or the option api_base of plugins: litellm) is not set"


@pytest.fixture
def no_azure(monkeypatch) -> None:
    for name in list(os.environ):
        if name.startswith(("AZURE_", "CLOUDFLARE_", "WATSONX_", "WX_")):
            monkeypatch.delenv(name)


@pytest.mark.parametrize(
    ("variables", "options", "problem"),
    [
        ({}, {}, f"{AZURE_KEY}; {AZURE_ADDRESS}"),
        ({"AZURE_API_KEY": "k"}, {}, AZURE_ADDRESS),
        ({"AZURE_API_BASE": "http://a"}, {}, AZURE_KEY),
        ({}, {"api_base": "http://a"}, AZURE_KEY),
        ({"AZURE_API_KEY": "", "AZURE_API_BASE": "http://a"}, {}, AZURE_KEY),
        ({"AZURE_CLIENT_ID": "i", "AZURE_TENANT_ID": "t"}, {"api_base": "http://a"}, AZURE_KEY),
        ({"AZURE_API_KEY": "k", "AZURE_API_BASE": "http://a"}, {}, None),
        ({"AZURE_API_KEY": "k"}, {"api_base": "http://a"}, None),
        ({"MINE": "k"}, {"api_base": "http://a", "api_key_env": "MINE"}, None),
        ({"MINE": "k"}, {"api_key_env": "MINE"}, AZURE_ADDRESS),
        ({}, {"api_base": "http://a", "api_key_env": "MINE"}, "MINE is not set"),
        ({"AZURE_AD_TOKEN": "t", "AZURE_API_BASE": "http://a"}, {}, None),
        ({"AZURE_AD_TOKEN": "t"}, {"extra_params": {"api_base": "http://a"}}, None),
        (
            {"AZURE_CLIENT_ID": "i", "AZURE_TENANT_ID": "t", "AZURE_CLIENT_SECRET": "s"},
            {"api_base": "http://a"},
            None,
        ),
        ({"K": "k"}, {"api_base": "http://a", "extra_headers": {"Api-Key": "$K"}}, None),
    ],
)
def test_azure_needs_a_key_and_an_address(
    provider_of, monkeypatch, no_azure, variables, options, problem
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert provider_of(**options).ready("azure/my-deployment") == problem


@pytest.mark.parametrize(
    ("model", "key", "address"),
    [
        ("azure_ai/some-model", "AZURE_AI_API_KEY", "AZURE_AI_API_BASE"),
        ("cloudflare/@cf/meta/llama", "CLOUDFLARE_API_KEY", "CLOUDFLARE_ACCOUNT_ID"),
        ("watsonx/ibm/granite", "WATSONX_APIKEY", "WATSONX_URL"),
    ],
)
def test_others_with_an_address_of_ones_own_name_both(
    provider_of, monkeypatch, no_azure, model, key, address
) -> None:
    first, second = provider_of().ready(model).split("; ")
    assert key in first
    assert address in second
    monkeypatch.setenv(key, "some-key")
    assert provider_of().ready(model) == second
    monkeypatch.setenv(address, "here")
    assert provider_of().ready(model) is None


@pytest.mark.parametrize(
    "model", ["bedrock/some-model", "vertex_ai/gemini-2.5-pro", "databricks/m"]
)
def test_who_may_find_its_credentials_in_files_is_left_to_litellm(provider_of, model) -> None:
    assert provider_of().ready(model) is None


def test_azures_missing_key_is_never_a_placeholder(provider_of, no_azure) -> None:
    spec = provider_of(api_base="http://a").spec("azure/my-deployment", 0.0)
    assert not spec.needs_no_key
    assert spec.key_variables == ("AZURE_API_KEY", "AZURE_AD_TOKEN")
