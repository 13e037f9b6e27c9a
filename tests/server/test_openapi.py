"""The OpenAPI document: complete, true, and safe to ask for anything that it allows."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from .fuzzing import fuzz
from .served import Served, put, request, serving

METHODS = ("get", "post", "patch", "delete")


def routes(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, ways in document["paths"].items():
        for method in METHODS:
            if method in ways:
                yield path, method, ways[method]


def test_every_route_has_words_and_an_example(served: Served) -> None:
    document = served.http.get("/api/openapi.json").json()
    named = {path for path, _, _ in routes(document)} | document["paths"].keys()
    assert named >= {
        "/api/health",
        "/api/runs",
        "/api/runs/{run_id}",
        "/api/runs/{run_id}/resume",
        "/api/runs/{run_id}/abort",
        "/api/runs/{run_id}/config",
        "/api/runs/{run_id}/events",
        "/api/runs/{run_id}/questions",
        "/api/runs/{run_id}/questions/{question_id}",
        "/api/runs/{run_id}/diff",
        "/api/runs/{run_id}/undo",
        "/api/runs/{run_id}/receipt",
        "/api/runs/{run_id}/verify",
        "/api/runs/{run_id}/calls/{call_id}",
        "/api/projects",
        "/api/plugins",
        "/api/agents",
        "/api/models",
        "/api/memory",
        "/api/config",
        "/api/ws",
        "/api/ws/{run_id}",
    }
    for path, method, route in routes(document):
        assert route.get("description"), (method, path)
        if path == "/api/docs":
            continue
        good = next(answer for code, answer in route["responses"].items() if code < "300")
        content = good["content"]["application/json"]
        assert "example" in content, (method, path)
        if "requestBody" in route:
            (kind,) = route["requestBody"]["content"].values()
            assert examples(document, kind["schema"]), (method, path)


def examples(document: dict[str, Any], schema: dict[str, Any]) -> list[Any]:
    """The examples of a schema, or of the one that it refers to."""
    for each in (schema, *schema.get("anyOf", ())):
        if "$ref" in each:
            name = each["$ref"].rpartition("/")[2]
            return examples(document, document["components"]["schemas"][name])
    return schema.get("examples", [])


def test_a_client_made_from_the_document_works(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = tmp_path / "openapi.json"
    document.write_text(served.http.get("/api/openapi.json").text)
    program = Path(sys.executable).with_name("openapi-python-client")
    target = tmp_path / "made" / "made_client"
    target.parent.mkdir()
    words = ["generate", "--path", document, "--output-path", target, "--meta", "none"]
    command = [program, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stdout + done.stderr
    monkeypatch.syspath_prepend(str(target.parent))
    client = import_module("made_client").AuthenticatedClient(served.base, token=served.token)
    models = import_module("made_client.models")
    routes = {
        name: import_module(f"made_client.api.runs.{name}") for name in ("start_run", "show_run")
    }
    body = models.StartRun.from_dict(request(served.project("made"), put("right")))
    started = routes["start_run"].sync(client=client, body=body)
    served.wait(started.run_id)
    run = routes["show_run"].sync(started.run_id, client=client)
    assert (run.status, run.final_state.goal_achieved) == ("achieved", True)
    missing = routes["show_run"].sync("none", client=client)
    assert missing.error == "RunNotFoundError"


def test_nothing_that_the_document_allows_makes_it_fail(served: Served) -> None:
    """Every route, with values that fit the document and values that do not."""
    run_id = served.start(served.project("fuzzed"), put("right"))
    served.wait(run_id)
    document = served.http.get("/api/openapi.json").json()
    for path in ("/api/ws", "/api/ws/{run_id}", "/api/projects/demo"):  # no HTTP; a run each time
        del document["paths"][path]

    def of_the_run(case: Any) -> None:
        if "run_id" in case.path_parameters and len(case.path_parameters["run_id"]) % 2:
            case.path_parameters["run_id"] = run_id

    fuzz(served, document, of_the_run, max_examples=8)


def test_a_plugins_routes_are_behind_the_same_security(tmp_path: Path) -> None:
    site = tmp_path / "site"
    package = site / "counting"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(
        dedent(
            """
            from retrai_core import hookimpl

            class Routes:
                @hookimpl(optionalhook=True)
                def routes(self, server):
                    from fastapi import APIRouter

                    router = APIRouter(prefix="/api/count")

                    @router.get("")
                    async def count():
                        roots = server.options.roots
                        return {"projects": len(server.projects), "roots": len(roots)}

                    return [router]

            class Broken:
                @hookimpl(optionalhook=True)
                def routes(self, server):
                    raise ValueError("no routes today")
            """
        )
    )
    info = site / "counting-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: counting\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[retrai.hooks]\ncount = counting:Routes\nbroken = counting:Broken\n"
    )
    with serving(tmp_path / "root", tmp_path / "state", PYTHONPATH=str(site)) as served:
        assert served.http.get("/api/count").json() == {"projects": 1, "roots": 1}
        there = f"{served.base}/api/count"
        assert served.http.get(there, headers={"Authorization": "Bearer x"}).status_code == 401
        assert "/api/count" in served.http.get("/api/openapi.json").json()["paths"]
    said = (tmp_path / "state" / "stderr").read_text()
    assert "no routes today" in said
    assert "counting" in said


def test_the_server_is_imported_by_its_own_command_alone() -> None:
    code = (
        "import sys\nfrom retrai_core.cli.main import main\n"
        "try:\n    main(['goals', 'list'])\nexcept SystemExit:\n    pass\n"
        "print([name for name in ('fastapi', 'uvicorn', 'retrai_server') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("missing", ["receipt", "verify"])
def test_without_retrai_receipts_its_routes_say_how_to_get_it(tmp_path: Path, missing: str) -> None:
    config = tmp_path / "state" / "config" / "retrai"
    config.mkdir(parents=True)
    (config / "config.yml").write_text("disabled_plugins: [retrai-receipts]\n")
    with serving(tmp_path / "root", tmp_path / "state") as served:
        way = served.http.get if missing == "receipt" else served.http.post
        answer = way(f"/api/runs/abc/{missing}")
        assert answer.status_code == 404
        assert answer.json()["hint"] == "`pip install retrai-receipts`"
