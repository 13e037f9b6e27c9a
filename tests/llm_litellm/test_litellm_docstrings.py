"""The examples in the provider's docstrings run."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest


@pytest.mark.parametrize("module", ["problems", "provider", "retries", "secrets_filter"])
def test_the_examples_run(module: str) -> None:
    results = doctest.testmod(import_module(f"retrai_llm_litellm.{module}"))
    assert results.attempted
    assert not results.failed
