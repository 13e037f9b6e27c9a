"""One server for all tests of a file that do not change it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .wire import Service, service


@pytest.fixture(scope="session")
def session_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A served project, and a model server that tests command."""
    with service(tmp_path_factory.mktemp("react")) as served:
        yield served


@pytest.fixture
def react(session_service: Service) -> Service:
    """The same with no answers left from another test."""
    session_service.model.plays("Answer: nothing was played")
    return session_service
