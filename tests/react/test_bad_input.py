"""Malformed and hostile requests: each has its status and one clear message."""

from __future__ import annotations

import json
import socket
import uuid
from contextlib import suppress
from typing import Any

import httpx
import pytest

from .wire import KEY, Service, turn

STEP = "/api/agent/react_step"
JSON = {"Content-Type": "application/json"}


def refused(answer: Any) -> dict[str, Any]:
    """The details of a 400 in the agreed shape."""
    assert answer.status_code == 400, answer.text
    body = answer.json()
    details = body.pop("details")
    assert body == {
        "error": "BadRequest",
        "message": "Invalid request format",
        "code": "INVALID_REQUEST_FORMAT",
    }
    assert set(details) == {"formErrors", "fieldErrors"}
    assert KEY not in answer.text
    return details


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("project_id", "no-uuid", "UUID"),
        ("session_id", None, "UUID"),
        ("user_query", 7, "string"),
        ("user_query", "half \ud800", "string"),
        ("conversation_history", [{"role": "system", "content": "x"}], "0.role"),
        ("conversation_history", {"role": "user"}, "list"),
        ("conversation_history", [turn("assistant", "x", toolCall={"parameters": {}})], "toolCall"),
        ("max_iterations_left", -1, "greater"),
        ("user_api_keys", {}, "llmKey"),
        ("user_api_keys", {"llmKey": ""}, "llmKey"),
        ("user_api_keys", {"llmKey": f"{KEY}\nX-Other: 1"}, "llmKey"),
        ("explicit_context_paths", "a.py", "list"),
    ],
)
def test_a_wrong_field_is_named(react: Service, field: str, value: Any, words: str) -> None:
    body = json.dumps({**react.request(), field: value})
    details = refused(react.http.post(STEP, content=body, headers=JSON))
    assert details["formErrors"] == []
    assert list(details["fieldErrors"]) == [field]
    assert words in details["fieldErrors"][field][0]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tokenLimit", 0),
        ("reservedOutputTokens", -5),
        ("temperature", 2.5),
        ("modelName", ""),
        ("tokenLimit", "many"),
    ],
)
def test_a_wrong_model_setting_is_named(react: Service, name: str, value: Any) -> None:
    details = refused(react.post(llm={name: value}))
    assert details["fieldErrors"]["llm_config"][0].startswith(f"{name}: ")


@pytest.mark.parametrize("missing", ["project_id", "user_query", "llm_config", "user_api_keys"])
def test_a_missing_field_is_named(react: Service, missing: str) -> None:
    body = react.request()
    del body[missing]
    details = refused(react.http.post(STEP, json=body))
    assert details["fieldErrors"] == {missing: ["Field required"]}


@pytest.mark.parametrize(
    "content", [b"{", b"", b"[]", b"\xff\xfe", b"7", b'"x"', b"[" * 100_000, b'{"a": ' * 100_000]
)
def test_broken_json_is_a_form_error(react: Service, content: bytes) -> None:
    details = refused(react.http.post(STEP, content=content, headers=JSON))
    assert details["formErrors"]
    assert details["fieldErrors"] == {}


def test_a_body_of_60_mb_is_refused_before_it_is_read(react: Service) -> None:
    token = react.http.headers["Authorization"]
    head = (
        f"POST {STEP} HTTP/1.1\r\nHost: 127.0.0.1:{react.served.port}\r\n"
        f"Authorization: {token}\r\nContent-Length: 60000000\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", react.served.port), 60) as connection:
        connection.sendall(head.encode())
        said = b""
        while b"}" not in said:
            said += connection.recv(65_536)
    assert said.startswith(b"HTTP/1.1 413")
    assert b"the body may have 8000000 bytes" in said

    def chunks() -> Any:
        for _ in range(60):
            yield b" " * 1_000_000

    with suppress(httpx.TransportError):  # it hangs up while we are sending
        assert react.http.post(STEP, content=chunks(), headers=JSON).status_code == 413
    assert react.http.get("/api/health").is_success


def test_the_shape_is_of_these_routes_alone(react: Service) -> None:
    answer = react.http.post("/api/runs", json={"goal": 7})
    assert answer.status_code == 422
    assert answer.json()["error"] == "ValidationError"


def test_the_route_is_behind_the_token(react: Service) -> None:
    answer = react.http.post(STEP, json=react.request(), headers={"Authorization": "Bearer no"})
    assert answer.status_code == 401
    assert react.http.get(STEP).status_code in (404, 405)


def test_what_is_unforeseen_says_nothing(react: Service) -> None:
    """The project's folder is replaced under the server, the pins' file is no database."""
    file = react.served.state / "react" / "pins.sqlite"
    kept = file.with_name("kept")
    file.parent.mkdir(exist_ok=True)
    if file.exists():
        file.rename(kept)
    file.write_bytes(b"this is no database" * 100)
    try:
        react.model.plays("Answer: all the same")
        step = react.step(pinned_item_ids_to_include=[str(uuid.uuid4())])
        assert step["direct_response"] == "all the same"
        assert any("could not be built" in line for line in step["warnings"])
        listed = react.http.get(f"/api/projects/{react.project}/pins")
        assert listed.status_code == 500
        assert "pins.sqlite" not in listed.text
        # The server closes the connection; a client that did not know would use it again.
        assert listed.headers["Connection"] == "close"
    finally:
        file.unlink()
        if kept.exists():
            kept.rename(file)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("huggingface/https://evil.example/x", "MODEL_NOT_ALLOWED"),
        ("replay:/etc/passwd", "MODEL_UNKNOWN"),
        ("offline", "MODEL_UNKNOWN"),
        ("nobody/model", "MODEL_UNKNOWN"),
        ("vertex_ai/gemini-2.5-pro", "MODEL_UNKNOWN"),
    ],
)
def test_a_model_that_cannot_be_asked_is_an_error(react: Service, name: str, code: str) -> None:
    step = react.step(llm={"modelName": name})
    assert (step["status"], step["error"]["code"]) == ("error", code), step["error"]
    assert react.model.requests == []
    assert "passwd" not in step["error"]["message"].replace(name, "")


def test_numbers_that_json_does_not_know_come_back_as_null(react: Service) -> None:
    history = [turn("assistant", "x", toolCall={"name": "f", "parameters": {"a": "NAN"}})]
    body = json.dumps(react.request(conversation_history=history)).replace('"NAN"', "NaN")
    react.model.plays("Answer: x")
    answer = react.http.post(STEP, content=body, headers=JSON)
    assert answer.status_code == 200
    assert answer.json()["updated_conversation_history"][0]["toolCall"]["parameters"] == {"a": None}
