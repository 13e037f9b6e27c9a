"""The caller's key: for one call alone, and nowhere to be found afterwards."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from ..server.served import until
from .wire import Request, Sent, Service

OTHER = "sk-of-another-caller-98765"


def test_two_callers_at_once_never_mix(react: Service) -> None:
    """Each request waits in the model until both are there."""
    both = threading.Barrier(2, timeout=60)

    def answer(request: Request) -> str:
        both.wait()
        return f"Answer: {request.key} {request.messages[-1]['content'].strip()}"

    react.model.decides(answer)

    def ask(number: int) -> tuple[str, str]:
        key = f"sk-caller-{number % 2}-0123456789"
        step = react.step(user_query=f"query {number}", user_api_keys={"llmKey": key})
        return step["direct_response"], f"{key} query {number}"

    with ThreadPoolExecutor(2) as pool:
        for got, wanted in pool.map(ask, range(20)):
            assert got == wanted


def test_the_servers_own_key_is_never_used(react: Service) -> None:
    react.model.plays("Answer: a")
    react.step(user_api_keys={"llmKey": OTHER})
    assert [each.key for each in react.model.requests] == [OTHER]


@pytest.mark.parametrize("model", ["openai/gpt-4o", "deepseek/deepseek-chat"])
def test_a_key_is_found_nowhere_afterwards(react: Service, model: str) -> None:
    """Not in a file, an environment, a command line, an answer or the server's output, though the
    model server repeats it in its refusal."""
    key = "sk-to-be-found-nowhere-777"
    llm = {"modelName": model}
    refusal = f'{{"error": {{"message": "Incorrect API key provided: {key}"}}}}'
    react.model.plays(Sent(status=401, raw=refusal.encode()), "Answer: a", 'Action: grep("x")')
    answers = [react.post(llm=llm, user_api_keys={"llmKey": key}) for _ in range(3)]
    assert [each.key for each in react.model.requests] == [key] * 3
    assert [each.json()["status"] for each in answers] == [
        "error",
        "direct_response_provided",
        "action_proposed",
    ]
    assert all(key not in each.text for each in answers)
    state = react.served.state
    for file in (each for each in state.parent.rglob("*") if each.is_file()):
        assert key.encode() not in file.read_bytes(), file
    server = psutil.Process(react.served.process.pid)
    for process in [server, *server.children(recursive=True)]:
        for name in ("environ", "cmdline"):
            place = Path("/proc", str(process.pid), name)
            if place.exists():
                assert key.encode() not in place.read_bytes()


def test_a_client_that_goes_away_cancels_its_call(react: Service) -> None:
    """The model server's connection ends, long before its answer was due."""
    arrived, gone = threading.Event(), threading.Event()

    def answer(request: Request) -> str:
        arrived.set()
        gone.wait(60)
        return "Answer: too late"

    react.model.decides(answer)
    port = urlsplit(react.model.url).port
    server = psutil.Process(react.served.process.pid)

    def connections() -> int:
        everyone = [server, *server.children(recursive=True)]
        found = [c for each in everyone for c in each.net_connections("tcp4")]
        return sum(c.status == "ESTABLISHED" and c.raddr.port == port for c in found)

    client = HTTPConnection("127.0.0.1", react.served.port)
    headers = {"Authorization": react.http.headers["Authorization"]}
    headers["Content-Type"] = "application/json"
    client.request("POST", "/api/agent/react_step", json.dumps(react.request()), headers)
    assert arrived.wait(60)
    before = connections()
    client.close()
    until(connections, lambda now: now < before)
    gone.set()
    react.model.plays("Answer: still here")
    assert react.step()["direct_response"] == "still here"
