"""One server for all tests of a file that do not end it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .served import Served, serving


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with a folder of its own."""
    base = tmp_path_factory.mktemp("served")
    root = base / "root"
    root.mkdir()
    with serving(root, base / "state", "--max-parallel", "2") as server:
        yield server
