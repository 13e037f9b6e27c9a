"""A server whose options are narrow, and that has an index."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from .wire import Request, Service, service

INDEX = """
class Hit:
    path, start_line, end_line = "shop.py", 1, 1


class Index:
    @classmethod
    def open(cls, folder, *, jobs):
        return cls()

    def __enter__(self):
        return self

    def __exit__(self, *args):
        pass

    def search(self, query, n):
        if "nothing" in query:
            raise ValueError("no index today")
        assert n == 10
        return [Hit()]
"""


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """The server."""
    base = tmp_path_factory.mktemp("narrow")
    package = base / "site" / "retrai_codeindex"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(INDEX)
    options = {"models": ["openai/gpt-4*"], "steps_per_minute": 3, "max_in_flight": 1}
    with service(base, options=options, PYTHONPATH=str(base / "site")) as served:
        yield served


def other_project(narrow: Service, name: str) -> str:
    """A project that has had no step."""
    folder = narrow.folder.parent / name
    folder.mkdir()
    (folder / "shop.py").write_text("def price(cents):\n    return cents / 100\n")
    return narrow.http.post("/api/projects", json={"path": str(folder)}).json()["id"]


def test_each_project_has_so_many_steps_a_minute(narrow: Service) -> None:
    narrow.model.plays("Answer: a")
    first, second = other_project(narrow, "first"), other_project(narrow, "second")
    answers = [narrow.post(project_id=first) for _ in range(4)]
    assert [each.status_code for each in answers] == [200, 200, 200, 429]
    assert 1 <= int(answers[3].headers["Retry-After"]) <= 60
    assert answers[3].json() == {
        "error": "TooManyRequests",
        "message": "a project may have 3 steps a minute",
        "code": "RATE_LIMITED",
        "details": None,
    }
    assert narrow.post(project_id=second).status_code == 200


def test_so_many_steps_at_once(narrow: Service) -> None:
    project = other_project(narrow, "busy")
    arrived, go_on = threading.Event(), threading.Event()

    def answer(request: Request) -> str:
        arrived.set()
        go_on.wait(60)
        return "Answer: late"

    narrow.model.decides(answer)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(narrow.post, project_id=project)
        assert arrived.wait(60)
        second = narrow.post(project_id=project)
        go_on.set()
        assert second.status_code == 429
        assert second.headers["Retry-After"] == "1"
        assert first.result().json()["direct_response"] == "late"


def test_only_the_models_that_may_be_named(narrow: Service) -> None:
    project = other_project(narrow, "models")
    narrow.model.plays("Answer: a")
    refused = narrow.step(project_id=project, llm={"modelName": "openai/o3"})
    assert refused["error"] == {
        "code": "MODEL_NOT_ALLOWED",
        "message": "this server does not serve openai/o3",
    }
    allowed = narrow.step(project_id=project, llm={"modelName": "openai/gpt-4.1"})
    assert allowed["direct_response"] == "a"


def test_with_an_index_the_project_is_searched(narrow: Service) -> None:
    project = other_project(narrow, "searched")
    narrow.model.plays("Answer: found")
    step = narrow.step(project_id=project, llm={"vector_search": True})
    assert step["warnings"] == []
    assert "# shop.py:1-1\ndef price(cents):" in narrow.prompt
    step = narrow.step(project_id=project, user_query="nothing", llm={"vector_search": True})
    assert step["direct_response"] == "found"
    assert any("search failed" in line for line in step["warnings"])


def test_a_wrong_option_leaves_the_server_without_the_routes(tmp_path: Path) -> None:
    with service(tmp_path, options={"models": 7}) as react:
        assert react.post().status_code in (404, 405)
        said = (react.served.state / "stderr").read_text()
    assert "models of the hook react" in said
