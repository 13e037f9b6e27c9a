"""The editor's example: sessions, permissions, cancelling with one open, loading again."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from retrai_testkit import RetraiProject

Start = Callable[..., subprocess.Popen[str]]


class Editor:
    """Talks to the example as an editor does."""

    def __init__(self, program: subprocess.Popen[str]) -> None:
        self._program = program
        self._last = 0
        self.updates: list[dict[str, Any]] = []

    def send(self, method: str, **params: Any) -> int:
        self._last += 1
        self._write({"id": self._last, "method": method, "params": params})
        return self._last

    def permit(self, request: dict[str, Any], choice: str) -> None:
        self._write({"id": request["id"], "result": {"choice": choice}})

    def next(self, wanted: int | str) -> dict[str, Any]:
        """The reply to a request, or the next request of this method; updates are kept."""
        assert self._program.stdout is not None
        for line in self._program.stdout:
            message = json.loads(line)
            if message.get("method") == "session/update":
                self.updates.append(message["params"])
            elif wanted in (message["id"], message.get("method")):
                return message
        raise AssertionError("the program has ended")

    def _write(self, message: dict[str, Any]) -> None:
        assert self._program.stdin is not None
        self._program.stdin.write(json.dumps(message) + "\n")
        self._program.stdin.flush()


@pytest.fixture
def editor(start: Start) -> Editor:
    return Editor(start("editor_session.py"))


def opened(editor: Editor, project: RetraiProject) -> str:
    reply = editor.next(editor.send("session/new", project=str(project.folder)))
    return str(reply["result"]["session"])


def test_a_permission_given_always_is_asked_for_once(
    editor: Editor, asking: RetraiProject, start: Start
) -> None:
    session = opened(editor, asking)
    prompt = editor.send("session/prompt", session=session, task="fix both")
    permission = editor.next("session/permission")
    assert permission["params"]["question"]["kind"] == "tool"
    editor.permit(permission, "approve_always")
    assert editor.next(prompt)["result"] == {"status": "achieved"}
    kinds = [update["kind"] for update in editor.updates]
    assert kinds.count("human_check_required") == 1
    assert asking.read("b.txt") == "right"
    # Another editor, later: it is told the same again.
    again = Editor(start("editor_session.py"))
    load = again.send("session/load", session=session, project=str(asking.folder))
    assert again.next(load)["result"] == {"status": "achieved"}
    assert again.updates == editor.updates


def test_a_permission_is_asked_for_again_after_an_answer_that_means_nothing(
    editor: Editor, asking: RetraiProject
) -> None:
    session = opened(editor, asking)
    prompt = editor.send("session/prompt", session=session, task="fix both")
    permission = editor.next("session/permission")
    editor.permit(permission, "perhaps")
    assert editor.next("session/permission") == permission
    editor.permit(permission, "approve_always")
    assert editor.next(prompt)["result"] == {"status": "achieved"}


def test_a_turn_is_cancelled_while_a_permission_is_open(
    editor: Editor, asking: RetraiProject
) -> None:
    session = opened(editor, asking)
    prompt = editor.send("session/prompt", session=session, task="fix both")
    permission = editor.next("session/permission")
    assert editor.next(editor.send("session/cancel", session=session))["result"]["cancelled"]
    assert editor.next(prompt)["result"] == {"status": "aborted"}
    editor.permit(permission, "approve")  # too late: nothing happens
    assert asking.read("a.txt") == "wrong"
    wrong = editor.next(editor.send("session/prompt", session=session, task="go", nonsense=1))
    assert "error" in wrong
