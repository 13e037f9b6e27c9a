"""Requests of an API's check are sent again from elsewhere, and others near them."""

from __future__ import annotations

import shutil
import socket
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("retrai_goals_shell")

from retrai_goals_shell.api.goal import ApiTestGoal
from retrai_goals_shell.api.neighbors import neighbors_of

from ..goal_bench import Bench

SERVER = """\
import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

seen = []


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        seen.append(self.path)
        data = json.dumps({"asked": len(seen), "agent": self.headers.get("User-Agent")}).encode()
        self.send_response(200 if "/there" in self.path else 404)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args):
        pass


HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3),
    lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(max_size=2), each),
    max_leaves=6,
)


def request(path: str, **more: Any) -> dict[str, Any]:
    return {"path": path, "method": "GET", "json": None, "headers": {}, "timeout": 5, **more}


def serving(bench: Bench, *endpoints: dict[str, Any]) -> Any:
    """The goal with a server of its own, at a free port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return bench.build(
        ApiTestGoal,
        base_url=f"http://127.0.0.1:{port}",
        start_command=f"{sys.executable} server.py {port}",
        endpoints=list(endpoints),
    )


async def test_requests_are_sent_again_in_order_and_others_after_them(bench: Bench) -> None:
    bench.write({"server.py": SERVER})
    goal = serving(bench, {"path": "/there?n=3"}, {"path": "/elsewhere/7"})
    first = await goal.check({}, bench.project)
    assert [(each.call, each.answer) for each in first.calls] == [
        ('GET /elsewhere/*("/elsewhere/7")', '404 {"agent": null, "asked": 2}')
    ]
    again = await goal.replay_calls(bench.project, first.calls, neighbors=3, timeout_s=20)
    told = [(each.case, each.call, each.answer.partition(" ")[0]) for each in again]
    assert told == [
        ("GET /elsewhere/7", 'GET /elsewhere/*("/elsewhere/7")', "404"),
        ("", 'GET /there("/there?n=4")', "200"),
        ("", 'GET /elsewhere/*("/elsewhere/8")', "404"),
        ("", 'GET /there("/there?n=2")', "200"),
    ]
    assert again[0].answer == '404 {"agent": null, "asked": 2}'


async def test_who_has_no_token_is_refused_whatever_program_asks(bench: Bench) -> None:
    asks = (
        'status = 401 if "Token" not in self.headers else 200\n        self.send_response(status)'
    )
    bench.write(
        {
            "server.py": SERVER.replace(
                'self.send_response(200 if "/there" in self.path else 404)', asks
            )
        }
    )
    goal = serving(
        bench,
        {"path": "/", "expect_status": 401},
        {"path": "/", "headers": {"Token": "s3cret"}},
    )
    copy = bench.project.with_name("copy")
    shutil.copytree(bench.project, copy)
    first = await goal.check({"iteration": 1}, copy)
    again = await goal.replay_calls(copy, first.calls, neighbors=0, timeout_s=20)
    assert "Mozilla" in again[0].answer
    assert "null" in again[1].answer
    assert "s3cret" not in again[1].call


async def test_without_a_command_nothing_is_sent_again(bench: Bench) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        url = f"http://127.0.0.1:{other.getsockname()[1]}"
        endpoints = [{"path": "/", "timeout": 0.2}]
        goal = bench.build(ApiTestGoal, base_url=url, endpoints=endpoints)
        assert not (await goal.check({}, bench.project)).calls


@given(JSON, st.text("ab/?=&7", max_size=8), st.integers(0, 30))
def test_neighbors_are_other_requests_each_once(body: Any, path: str, most: int) -> None:
    asked = request(f"/{path}", json=body, headers={"Token": "abc"})
    found = neighbors_of([asked], most)
    assert len(found) <= most
    assert asked not in found
    assert all(found.count(each) == 1 for each in found)
    assert all(each.keys() == asked.keys() for each in found)


def test_what_the_format_depends_on_stays() -> None:
    asked = request("/", headers={"Accept": "text/html", "Token": "abc"})
    assert [each["headers"] for each in neighbors_of([asked], 9)] == [
        {"Accept": "text/html", "Token": "aba"}
    ]


def test_nothing_else_is_deleted() -> None:
    assert neighbors_of([request("/notes/7", method="DELETE")], 9) == []
