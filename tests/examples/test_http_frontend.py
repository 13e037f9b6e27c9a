"""The HTTP example: start, server-sent events, answers, configure, cancel, reload in the middle."""

from __future__ import annotations

import json
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from retrai_testkit import RetraiProject

Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def client(start: Start) -> Iterator[httpx.Client]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    start("http_frontend.py", str(port), RETRAI_ENGINE="process", RETRAI_TRUST="0")
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
        for _ in range(600):
            try:
                client.get("/runs")
                break
            except httpx.TransportError:
                time.sleep(0.05)
        yield client


def heard(client: httpx.Client, run: str, until: str, after: int = 0) -> list[dict[str, Any]]:
    """The events behind number `after`, to the first one of the kind `until`; then it hangs up."""
    found: list[dict[str, Any]] = []
    headers = {"Last-Event-ID": str(after)}
    with client.stream("GET", f"/runs/{run}/events", headers=headers) as lines:
        for line in lines.iter_lines():
            if line.startswith("data: "):
                found.append(json.loads(line[6:]))
                if found[-1]["kind"] == until:
                    break
    return found


def started(client: httpx.Client, project: RetraiProject, **settings: Any) -> str:
    """A run; the project's own file sets what the user must agree to, which is shown first."""
    wanted = {"project": str(project.folder), "interactive": True, **settings}
    refused = client.post("/runs", json=wanted)
    if refused.status_code == 403:
        assert "plugins.scripted" in refused.json()["items"]
        wanted["trust"] = refused.json()["trust"]
        refused = client.post("/runs", json=wanted)
    assert refused.status_code == 201, refused.text
    return refused.json()["id"]


def test_a_run_is_followed_answered_and_reloaded(
    client: httpx.Client, asking: RetraiProject
) -> None:
    run = started(client, asking)
    first = heard(client, run, "human_check_required")
    assert client.get("/runs?status=waiting").json() == [{"id": run, "status": "waiting"}]
    (question,) = client.get(f"/runs/{run}/questions").json()
    assert question == first[-1]["payload"]["question"]
    path = f"/runs/{run}/questions/{question['id']}"
    assert "approve" in client.post(path, json={"choice": "perhaps"}).json()["hint"]
    assert client.patch(f"/runs/{run}", json={"max_iterations": 9}).status_code == 204
    assert client.patch(f"/runs/{run}", json={"goal": "pytest"}).status_code == 400
    assert client.post(path, json={"choice": "approve_always"}).json() == {"counts": True}
    assert client.post(path, json={"choice": "approve"}).status_code == 409
    events = f"/runs/{run}/events"
    assert client.get(events, headers={"Last-Event-ID": "abc"}).status_code == 400
    # The browser had gone away; it gets exactly what it has not seen.
    rest = heard(client, run, "run_end", after=first[-1]["seq"])
    numbers = [event["seq"] for event in first + rest]
    assert numbers == list(range(1, len(numbers) + 1))
    assert rest[-1]["payload"]["status"] == "achieved"
    record = client.get(f"/runs/{run}").json()
    assert (record["status"], record["limits"]["max_iterations"]) == ("achieved", 9)
    assert asking.read("b.txt") == "right"


def test_a_run_that_waits_is_cancelled(client: httpx.Client, asking: RetraiProject) -> None:
    run = started(client, asking)
    heard(client, run, "human_check_required")
    assert client.post(f"/runs/{run}/cancel").json() == {"cancelled": True}
    assert heard(client, run, "run_end")[-1]["payload"]["status"] == "aborted"
    assert client.get(f"/runs/{run}/questions").json() == []
    assert client.post(f"/runs/{run}/cancel").json() == {"cancelled": False}
    assert client.post(f"/runs/{run}/resume").status_code == 400


def test_what_is_wrong_is_said(client: httpx.Client, asking: RetraiProject) -> None:
    assert client.get("/runs/nothing").status_code == 404
    for query in ("before=x", "foo=1", "status=nope", "limit=-1"):
        refused = client.get(f"/runs?{query}")
        assert (refused.status_code, bool(refused.json()["error"])) == (400, True)
    assert client.get("/runs?limit=5&before=1").json() == []
    for body in ("{bad", "[]", "{}", '{"project": 1}', json.dumps({"project": ".", "input": "x"})):
        assert client.post("/runs", content=body).status_code == 400
    wanted = {"project": str(asking.folder)}
    trust = client.post("/runs", json=wanted).json()["trust"]
    wrong = client.post("/runs", json={**wanted, "trust": trust, "no_such_key": 1})
    assert (wrong.status_code, "no_such_key" in wrong.json()["error"]) == (400, True)
