"""How the search runs pytest: with the project's own settings, but collected once and silent."""

from __future__ import annotations

import importlib.util
import os
from typing import List, Sequence


def pytest_arguments(extra: Sequence[str]) -> List[str]:
    """Arguments for a session that collects once and reports nothing.

    What spreads, reorders or measures the tests is switched off where it is installed.
    """
    arguments = list(extra) + [
        "-p",
        "no:cacheprovider",
        "--continue-on-collection-errors",
        "-q",
        "-s",
    ]
    arguments += ["--assert=plain", "--tb=no"]
    if os.environ.get("PYTEST_DISABLE_PLUGIN_AUTOLOAD"):
        return arguments
    if importlib.util.find_spec("xdist") is not None:
        arguments += ["-n0"]
    if importlib.util.find_spec("pytest_cov") is not None:
        arguments += ["--no-cov"]
    if importlib.util.find_spec("pytest_randomly") is not None:
        arguments += ["-p", "no:randomly"]
    return arguments


def preload_pytest() -> None:
    """Import pytest and its installed plugins once, before sessions are forked from here."""
    import pytest

    assert pytest
    if os.environ.get("PYTEST_DISABLE_PLUGIN_AUTOLOAD"):
        return
    from importlib.metadata import distributions

    for distribution in distributions():
        for entry in distribution.entry_points:
            if entry.group == "pytest11":
                try:
                    entry.load()
                except Exception:  # noqa: BLE001, S112 - the session itself says what is wrong with it
                    continue
