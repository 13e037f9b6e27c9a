"""Each line of "Security" as an attack, over a real socket."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from .served import Served, put, request, serving, start

EVIL = "http://evil.example"


def send(
    served: Served,
    method: str,
    path: str,
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
    *,
    token: bool = True,
) -> HTTPResponse:
    """One request, with exactly these headers."""
    connection = HTTPConnection("127.0.0.1", served.port, timeout=30)
    sent = {"Host": f"127.0.0.1:{served.port}", **(headers or {})}
    if token:
        sent.setdefault("Authorization", f"Bearer {served.token}")
    connection.request(method, path, body, sent)
    answer = connection.getresponse()
    answer.text = answer.read().decode()  # type: ignore[attr-defined]
    connection.close()
    return answer


def text_of(answer: HTTPResponse) -> str:
    return answer.text  # type: ignore[attr-defined]


def test_it_listens_on_the_loopback_only(served: Served) -> None:
    own = socket.gethostbyname(socket.gethostname())
    if own.startswith("127."):
        pytest.skip("this machine has only the loopback address")
    with pytest.raises(OSError):
        socket.create_connection((own, served.port), 5).close()


def test_another_host_needs_consent_and_says_what_it_exposes(tmp_path: Path) -> None:
    process = start(["--host", "0.0.0.0", "-p", "0", "--root", str(tmp_path)], tmp_path / "s")
    assert process.wait(60) == 2
    said = (tmp_path / "s" / "stderr").read_text()
    assert "--allow-remote" in said
    assert "without encryption" in said


@pytest.mark.parametrize(
    "path",
    ["/api/runs", "/api/projects", "/api/config", "/api/docs", "/api/openapi.json", "/", "/x.js"],
)
def test_nothing_but_health_answers_without_the_token(served: Served, path: str) -> None:
    assert send(served, "GET", path, token=False).status == 401
    wrong = {"Authorization": "Bearer " + "x" * len(served.token)}
    assert send(served, "GET", path, wrong).status == 401
    assert send(served, "GET", "/api/health", token=False).status == 200


def test_every_route_needs_the_token(served: Served) -> None:
    document = served.http.get("/api/openapi.json").json()
    for path, ways in document["paths"].items():
        for method in {"get", "post", "patch", "delete"} & ways.keys() - {"x-websocket"}:
            there = path.replace("{", "").replace("}", "")
            if there != "/api/health":
                answer = send(served, method.upper(), there, token=False)
                assert answer.status == 401, (method, path)
    with pytest.raises(InvalidStatus) as refused:
        connect(f"ws://127.0.0.1:{served.port}/api/ws", proxy=None).close()
    assert refused.value.response.status_code == 401


def test_each_start_has_another_token(served: Served, tmp_path: Path) -> None:
    with serving(tmp_path, tmp_path / "state") as other:
        assert other.token != served.token
        assert len(other.token) >= 43  # 256 bits
        there = {"Authorization": f"Bearer {served.token}"}
        assert send(other, "GET", "/api/runs", there).status == 401


def test_the_token_in_the_address_becomes_a_cookie(served: Served) -> None:
    answer = send(served, "GET", f"/?token={served.token}&tab=runs", token=False)
    assert (answer.status, answer.getheader("location")) == (303, "/?tab=runs")
    cookie = answer.getheader("set-cookie") or ""
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert served.token not in cookie
    shown = {"Cookie": cookie.partition(";")[0]}
    assert send(served, "GET", "/api/runs", shown, token=False).status == 200
    wrong = send(served, "GET", "/?token=wrong", token=False)
    assert wrong.status == 401
    assert "set-cookie" not in wrong.headers
    assert send(served, "GET", f"/api/runs?token={served.token}", token=False).status == 401
    assert send(served, "GET", f"//evil.example/?token={served.token}", token=False).getheader(
        "location"
    ) == ("/evil.example/")


def cookie_of(served: Served) -> dict[str, str]:
    answer = send(served, "GET", f"/?token={served.token}", token=False)
    return {"Cookie": str(answer.getheader("set-cookie")).partition(";")[0]}


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8420", "10.0.0.1", ""],
)
def test_a_rebound_name_gets_nothing(served: Served, host: str) -> None:
    for path in ("/api/runs", "/api/health", "/", f"/?token={served.token}"):
        assert send(served, "GET", path, {"Host": host}).status in (400, 403)
    assert send(served, "GET", "/api/health", {"Host": "localhost:9"}).status == 200


@pytest.mark.parametrize(
    "origin", [EVIL, "null", "http://127.0.0.1:1", "http://localhost", "https://127.0.0.1"]
)
def test_another_sites_page_changes_nothing(served: Served, origin: str) -> None:
    body = json.dumps(request(served.root)).encode()
    for kind in ("application/json", "text/plain"):
        headers = {"Origin": origin, "Content-Type": kind, **cookie_of(served)}
        answer = send(served, "POST", "/api/runs", headers, body, token=False)
        assert (answer.status, json.loads(text_of(answer))["error"]) == (403, "ForeignOrigin")
    assert send(served, "POST", "/api/runs", {"Origin": origin}, body).status == 403
    asked = {"Origin": origin, "Access-Control-Request-Method": "POST"}
    answer = send(served, "OPTIONS", "/api/runs", asked)
    assert answer.status == 403
    assert not [name for name in answer.headers if name.lower().startswith("access-control")]


def test_a_cookie_alone_changes_nothing(served: Served) -> None:
    answer = send(served, "POST", "/api/runs", cookie_of(served), b"{}", token=False)
    assert (answer.status, json.loads(text_of(answer))["error"]) == (403, "NoOrigin")
    own = {"Origin": f"http://127.0.0.1:{served.port}", **cookie_of(served)}
    answer = send(served, "POST", "/api/projects", own, b'{"path": "."}', token=False)
    assert answer.status != 403, text_of(answer)


def test_another_sites_websocket_is_refused(served: Served) -> None:
    for path in ("/api/ws", "/api/ws/abc"):
        with pytest.raises(InvalidStatus) as refused:
            served.socket(path, headers=cookie_of(served), origin=EVIL).close()
        assert refused.value.response.status_code == 403
    with pytest.raises(InvalidStatus) as refused:
        served.socket("/api/ws/abc?after=x").close()
    assert refused.value.response.status_code == 422
    assert b'"ValidationError"' in refused.value.response.body
    there = f"ws://127.0.0.1:{served.port}/api/ws"
    own = f"http://127.0.0.1:{served.port}"
    with connect(there, additional_headers=cookie_of(served), origin=own, proxy=None):
        pass


def test_no_other_site_may_read_or_frame_it(served: Served) -> None:
    for path in ("/", "/api/runs", "/api/docs", "/login"):
        answer = send(served, "GET", path, {"Origin": EVIL})
        policy = answer.getheader("content-security-policy") or ""
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert answer.getheader("x-content-type-options") == "nosniff"
        assert answer.getheader("access-control-allow-origin") is None
        assert answer.getheader("referrer-policy") == "no-referrer"


def test_projects_lie_beneath_the_root_whatever_links_say(served: Served, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("wrong")
    link = served.root / "link"
    link.symlink_to(outside)
    (served.root / "loop").symlink_to(served.root / "loop")
    named = [str(outside), "..", "link", str(link), "/", "/etc", "x/../../..", "loop", "a\0b"]
    for path in named:
        for url, body in (
            ("/api/projects", {"path": path}),
            ("/api/runs", request(path)),
        ):
            answer = served.http.post(url, json=body)
            assert answer.status_code == 403, (path, url, answer.text)
        assert served.http.get("/api/projects/folders", params={"path": path}).status_code == 403
    assert str(link) not in served.http.get("/api/projects/folders").json()["folders"]
    link.unlink()
    (served.root / "loop").unlink()


def test_a_project_that_becomes_a_link_is_no_project_any_more(
    served: Served, tmp_path: Path
) -> None:
    folder = served.project("swapped")
    made = served.http.post("/api/projects", json={"path": str(folder)}).json()
    folder.rename(tmp_path / "swapped")
    folder.symlink_to(tmp_path / "swapped")
    assert served.http.get(f"/api/projects/{made['id']}").status_code == 403
    body = {**request(folder), "cwd": None, "project": made["id"]}
    assert served.http.post("/api/runs", json=body).status_code == 403
    folder.unlink()


def test_runs_of_other_folders_are_not_there(served: Served, tmp_path: Path) -> None:
    """They share the store; their diff, undo and answers are as far away as their files."""
    with serving(tmp_path, served.state) as other:
        run_id = other.start(other.project("elsewhere"), put("right"))
        other.wait(run_id)
    for path in ("", "/events", "/diff", "/questions", "/receipt", "/calls/x"):
        assert served.http.get(f"/api/runs/{run_id}{path}").status_code == 404, path
    for path in ("/abort", "/undo", "/resume", "/verify"):
        assert served.http.post(f"/api/runs/{run_id}{path}").status_code == 404, path
    listed = served.http.get("/api/runs", params={"limit": 1000}).json()
    assert run_id not in [run["run_id"] for run in listed]
    with pytest.raises(InvalidStatus) as refused:
        served.socket(f"/api/ws/{run_id}").close()
    assert refused.value.response.status_code == 404


@pytest.mark.parametrize(
    "run_id", ["..", "%2e%2e", "..%2f..%2fetc", "%2fetc", "a%00b", "-x", "a" * 65, ".", "a.b", "*"]
)
def test_an_id_never_becomes_a_path(served: Served, run_id: str) -> None:
    for path in ("", "/events", "/diff", "/receipt"):
        answer = send(served, "GET", f"/api/runs/{run_id}{path}")
        assert answer.status in (404, 422), text_of(answer)
    with pytest.raises((InvalidStatus, ConnectionClosed)):
        served.socket(f"/api/ws/{run_id}").recv()


def test_a_part_of_an_id_is_none(served: Served) -> None:
    run_id = served.start(served.project("part", "right"))
    served.wait(run_id)
    assert served.http.get(f"/api/runs/{run_id[:6]}").status_code == 404


def test_sizes_are_limited(served: Served) -> None:
    large = b'{"path": "' + b"x" * 1_100_000 + b'"}'
    assert send(served, "POST", "/api/projects", {}, large).status == 413
    for length in ("99999999999999999999", "-1", "1e3"):
        assert send(served, "POST", "/api/projects", {"Content-Length": length}).status in (
            400,
            413,
        )
    assert send(served, "GET", "/api/runs?text=" + "x" * 9000).status == 414
    answer = raw(served, b"GET /api/health HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 200_000)
    assert b" 200 " not in answer.partition(b"\r\n")[0]


def test_a_body_without_a_length_is_limited_too(served: Served) -> None:
    head = (
        "POST /api/projects HTTP/1.1\r\nHost: localhost\r\n"
        f"Authorization: Bearer {served.token}\r\n"
        "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    ).encode()
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    assert b" 413 " in raw(served, head + chunk * 20).partition(b"\r\n")[0]


def raw(served: Served, data: bytes) -> bytes:
    """What the server answers to bytes."""
    with socket.create_connection(("127.0.0.1", served.port), 30) as connection:
        try:
            connection.sendall(data)
            return connection.recv(65_536)
        except OSError:  # it has closed already
            return connection.recv(65_536) if sys.platform == "linux" else b""


def test_a_large_websocket_message_ends_the_connection(served: Served) -> None:
    with served.socket("/api/ws") as connection:
        connection.send("x" * 100_000)
        with pytest.raises(ConnectionClosed):
            connection.recv(timeout=30)
        assert connection.close_code == 1009


def test_what_a_run_says_is_text(served: Served) -> None:
    """Markup and terminal escapes come out of the API as JSON, whatever they claim to be."""
    folder = served.project("hostile")
    name = "<img src=x onerror=alert(1)>\x1b[2J.txt"
    (folder / name).write_text("<script>alert(1)</script>")
    (folder / os.fsdecode(b"not-utf8-\xff")).write_text("x")
    run_id = served.start(folder, put("<script>alert(2)</script>"), put("right"))
    served.wait(run_id)
    for path in ("", "/events", "/diff"):
        answer = served.http.get(f"/api/runs/{run_id}{path}")
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "application/json"
    page = served.http.get("/login", params={"x": "<script>"})
    assert "<script" not in page.text


def test_looking_into_a_hostile_project_does_nothing_that_it_names(
    served: Served, tmp_path: Path
) -> None:
    folder = served.project("strange")
    aim = tmp_path / "memory.sqlite3"
    (folder / ".retrai.yml").write_text(
        f"memory: sqlite\nplugins: {{sqlite: {{path: {aim}}}}}\ngoal: shell-goal\n"
        f"check_command: touch {aim}\n"
    )
    project = served.http.post("/api/projects", json={"path": str(folder)}).json()["id"]
    for path in ("memory", "agents", "config"):
        answer = served.http.get(f"/api/{path}", params={"project": project})
        assert answer.status_code == 200, answer.text
    assert not aim.exists()


def test_settings_are_shown_without_the_secrets_in_them(tmp_path: Path) -> None:
    config = tmp_path / "state" / "config" / "retrai"
    config.mkdir(parents=True)
    (config / "config.yml").write_text(
        "mcp: {web: {url: 'http://me:hunter2@127.0.0.1:9/x', headers: {X-Any: hunter3}}}\n"
        "plugins: {litellm: {api_key: hunter4, api_base: 'http://127.0.0.1:9'}}\n"
    )
    with serving(tmp_path / "root", tmp_path / "state") as served:
        shown = served.http.get("/api/config").text
        run_id = served.start(served.project("one", "right"))
        run = served.wait(run_id)
    for text in (shown, json.dumps(run)):
        assert "hunter" not in text
        assert "http://127.0.0.1:9" in text or "***" in text


def test_no_secret_leaves_it(served: Served) -> None:
    """The token and the cookie stand in no answer and in no log."""
    cookie = cookie_of(served)["Cookie"].partition("=")[2]
    seen = ""
    for path in ("/api/config", "/api/health", "/api/openapi.json", "/api/docs", "/", "/api/none"):
        answer = send(served, "GET", path)
        seen += text_of(answer) + str(answer.headers)
    sent: dict[str, Any] = {"path": 7, "key": "sk-secret-value"}
    seen += served.http.post("/api/projects", json=sent).text
    seen += (served.state / "stderr").read_text()
    assert served.token not in seen
    assert cookie not in seen
    assert "sk-secret-value" not in seen
