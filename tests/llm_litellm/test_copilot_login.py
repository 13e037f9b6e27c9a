"""A first login to GitHub Copilot, against GitHub's side of it on the wire."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from retrai_core import AgentEvent, ModelError, RunContext

MODEL = "github_copilot/gpt-4o"
CODE = "WDJB-MJHT"
PENDING = {"error": "authorization_pending"}
TOKEN = {"access_token": "gho_16C7e42F292c6912E7", "token_type": "bearer", "scope": "read:user"}


def chat_answer(text: str) -> dict[str, Any]:
    """A model's answer in OpenAI's format."""
    choice = {"index": 0, "finish_reason": "stop"}
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11}
    choices = [{**choice, "message": message}]
    return {
        "id": "c",
        "object": "chat.completion",
        "model": "m",
        "choices": choices,
        "usage": usage,
    }


@dataclass
class GitHub:
    """Answers by path; of several answers one after another, the last one for good.

    Attributes:
        devices: to a request for a device code.
        polls: to the question whether the code has been entered.
        keys: to a request for a key; each a status and a body.
        asked: the paths that were asked, in their order.
        polled: set by the first question whether the code has been entered.
    """

    url: str = ""
    devices: list[Any] = field(default_factory=list)
    polls: list[Any] = field(default_factory=list)
    keys: list[tuple[int, Any]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    authorizations: list[str] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    polled: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.polls = [TOKEN]

    def device(self, **changes: Any) -> dict[str, Any]:
        """A device code with a short interval."""
        known = {
            "device_code": "3584d83530557fdd1f46",
            "user_code": CODE,
            "verification_uri": "https://github.com/login/device",
            "expires_in": 899,
            "interval": 1,
        }
        return {name: value for name, value in {**known, **changes}.items() if value is not None}

    def key(self, valid_s: float = 1500.0) -> dict[str, Any]:
        """A key for the models, which are served here too."""
        expires_at = int(time.time() + valid_s)
        return {
            "token": "tid=1;exp=2:3",
            "expires_at": expires_at,
            "refresh_in": 1200,
            "endpoints": {"api": self.url},
        }

    def environment(self, folder: Path) -> dict[str, str]:
        """The variables that lead LiteLLM, and retrai, here."""
        return {
            "HOME": str(folder),
            "GITHUB_COPILOT_DEVICE_CODE_URL": f"{self.url}/login/device/code",
            "GITHUB_COPILOT_ACCESS_TOKEN_URL": f"{self.url}/login/oauth/access_token",
            "GITHUB_COPILOT_API_KEY_URL": f"{self.url}/copilot_internal/v2/token",
        }

    def answer(self, path: str, headers: Any) -> tuple[int, Any]:
        self.asked.append(path)
        self.authorizations.append(headers.get("Authorization") or "")
        if path == "/login/device/code":
            return 200, _next(self.devices) if self.devices else self.device()
        if path == "/login/oauth/access_token":
            self.polled.set()
            return 200, _next(self.polls)
        if path == "/copilot_internal/v2/token":
            return _next(self.keys) if self.keys else (200, self.key())
        return 200, chat_answer("hello")


def _next(answers: list[Any]) -> Any:
    return answers.pop(0) if len(answers) > 1 else answers[0]


@pytest.fixture
def github() -> Iterator[GitHub]:
    """The server."""
    known = GitHub()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *args: Any) -> None:
            """Says nothing."""

        def do_GET(self) -> None:
            self.tell(*known.answer(self.path, self.headers))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            known.bodies.append(json.loads(body))
            self.tell(*known.answer(self.path, self.headers))

        def tell(self, status: int, body: Any) -> None:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    known.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield known
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def home(tmp_path: Path, github: GitHub, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder without a login, from which every address leads to the server."""
    monkeypatch.delenv("GITHUB_COPILOT_TOKEN_DIR", raising=False)
    folder = tmp_path / "home"
    folder.mkdir()
    for name, value in github.environment(folder).items():
        monkeypatch.setenv(name, value)
    return folder


@pytest.fixture
async def asks(
    home: Path, provider_of: Callable[..., Any], context: RunContext
) -> AsyncIterator[Callable[[], Any]]:
    """Ask the model as a new run does, in a process of its own; its answer."""
    providers: list[Any] = []

    async def ask() -> str:
        provider = provider_of(max_retries=0)
        providers.append(provider)
        return (await provider.create(MODEL, 0.0, context).ainvoke("hi")).text

    yield ask
    for provider in providers:
        await provider.aclose()


@pytest.fixture
def logs_in(home: Path, litellm_is_there: None) -> Callable[[], Any]:
    """Only log in, with LiteLLM in this process."""
    from retrai_llm_litellm.copilot_login import CopilotLogin

    return lambda: CopilotLogin(print).ensure(attended=True)


def told(events: list[AgentEvent]) -> list[str]:
    return [event.payload["message"] for event in events if event.kind == "log"]


def kept_in(home: Path) -> dict[str, tuple[int, str]]:
    """What a login left, each file with its mode and text."""
    folder = home / ".config" / "litellm" / "github_copilot"
    return {
        path.name: (stat.S_IMODE(path.stat().st_mode), path.read_text())
        for path in [*folder.iterdir()]
    }


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def test_the_address_and_the_code_are_told_and_a_second_run_asks_nobody(
    github: GitHub, home: Path, asks: Any, events: list[AgentEvent], umask_of_others: None
) -> None:
    github.polls = [PENDING, TOKEN]
    assert await asks() == "hello"
    (line,) = told(events)
    assert "https://github.com/login/device" in line
    assert CODE in line
    assert github.asked.count("/login/oauth/access_token") == 2

    files = kept_in(home)
    assert {name: mode for name, (mode, _) in files.items()} == {
        "access-token": 0o600,
        "api-key.json": 0o600,
    }
    assert files["access-token"][1] == TOKEN["access_token"]
    assert mode_of(home / ".config" / "litellm" / "github_copilot") == 0o700

    github.asked.clear()
    assert await asks() == "hello"
    assert github.asked == ["/chat/completions"]
    assert len(told(events)) == 1


async def test_a_key_that_has_expired_is_renewed_without_a_login_and_stays_private(
    github: GitHub, home: Path, asks: Any, events: list[AgentEvent], umask_of_others: None
) -> None:
    folder = home / ".config" / "litellm" / "github_copilot"
    folder.mkdir(parents=True)
    (folder / "access-token").write_text("gho_of-an-earlier-login\n")
    (folder / "api-key.json").write_text(json.dumps(github.key(valid_s=-5)))
    assert await asks() == "hello"
    assert github.asked == ["/copilot_internal/v2/token", "/chat/completions"]
    assert github.authorizations[0] == "token gho_of-an-earlier-login"
    assert told(events) == []
    assert {mode for mode, _ in kept_in(home).values()} == {0o600}
    assert mode_of(folder) == 0o700


async def test_a_login_that_was_revoked_is_asked_for_again(
    github: GitHub, home: Path, asks: Any, events: list[AgentEvent]
) -> None:
    folder = home / ".config" / "litellm" / "github_copilot"
    folder.mkdir(parents=True)
    (folder / "access-token").write_text("gho_revoked")
    github.keys = [(401, {"message": "Bad credentials"}), (200, github.key())]
    assert await asks() == "hello"
    assert len(told(events)) == 1
    assert kept_in(home)["access-token"][1] == TOKEN["access_token"]


async def test_a_folder_of_the_users_own_is_used(
    github: GitHub, home: Path, asks: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_COPILOT_TOKEN_DIR", str(tmp_path / "tokens"))
    assert await asks() == "hello"
    assert sorted(path.name for path in (tmp_path / "tokens").iterdir()) == [
        "access-token",
        "api-key.json",
    ]
    assert mode_of(tmp_path / "tokens") == 0o700
    assert not (home / ".config").exists()


async def test_two_requests_side_by_side_are_one_login(
    github: GitHub, home: Path, provider_of: Any, context: RunContext
) -> None:
    provider = provider_of(max_retries=0)
    try:
        model = provider.create(MODEL, 0.0, context)
        answers = await asyncio.gather(*(model.ainvoke("hi") for _ in range(2)))
    finally:
        await provider.aclose()
    assert [answer.text for answer in answers] == ["hello", "hello"]
    assert github.asked.count("/login/device/code") == 1


async def test_the_server_is_asked_as_seldom_as_it_wants(
    github: GitHub, logs_in: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once = asyncio.sleep

    async def sleep(seconds: float) -> None:
        if seconds:
            github.asked.append(f"{seconds:g} s")
        await at_once(0)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    github.devices = [github.device(interval=2)]
    github.polls = [{"error": "slow_down"}, PENDING, {"error": "slow_down", "interval": 20}, TOKEN]
    await logs_in()
    asks = "/login/oauth/access_token"
    # 5 s more from a refusal on, or what it says (RFC 8628, section 3.5).
    waits = ["2 s", asks, "7 s", asks, "7 s", asks, "20 s", asks]
    assert github.asked == ["/login/device/code", *waits, "/copilot_internal/v2/token"]


@pytest.mark.parametrize(
    ("poll", "says", "hint"),
    [
        ({"error": "access_denied"}, "denied", "start the run again"),
        ({"error": "expired_token"}, "expired", "start the run again"),
        (
            {"error": "device_flow_disabled", "error_description": "Not \x1b[31mhere"},
            "Not [31mhere",
            "start",
        ),
        ({"token_type": "bearer"}, "did not answer as GitHub does", "network"),
        ([TOKEN], "did not answer as GitHub does", "network"),
        (b"<html>Please log in to the hotel</html>", "did not answer as GitHub does", "network"),
    ],
)
async def test_a_login_that_comes_to_nothing_is_one_clear_line(
    github: GitHub, home: Path, logs_in: Any, poll: Any, says: str, hint: str
) -> None:
    github.polls = [poll]
    with pytest.raises(ModelError) as caught:
        await logs_in()
    assert caught.value.fatal
    assert caught.value.message.startswith("no login to GitHub Copilot: ")
    assert says in caught.value.message
    assert "\n" not in caught.value.message
    assert hint in caught.value.hint
    assert kept_in(home) == {}


async def test_the_wait_is_bounded_by_what_the_server_allows(github: GitHub, logs_in: Any) -> None:
    github.devices = [github.device(expires_in=2)]
    github.polls = [PENDING]
    with pytest.raises(ModelError, match="expired before it was entered"):
        await logs_in()


@pytest.mark.parametrize(
    "device",
    [b"oops", [], {"error": "unauthorized_client"}, {"user_code": CODE}, {"device_code": 7}],
)
async def test_an_answer_without_a_code_is_told(
    github: GitHub, logs_in: Any, device: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    github.devices = [device]
    with pytest.raises(ModelError, match="no login to GitHub Copilot") as caught:
        await logs_in()
    assert caught.value.fatal
    assert capsys.readouterr().out == ""


async def test_without_a_network_the_address_is_named(
    logs_in: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_COPILOT_DEVICE_CODE_URL", "http://127.0.0.1:9/login/device/code")
    with pytest.raises(ModelError, match=r"no answer from http://127.0.0.1:9/") as caught:
        await logs_in()
    assert "network" in caught.value.hint


async def test_an_account_without_copilot_is_told_what_github_said(
    github: GitHub, home: Path, logs_in: Any
) -> None:
    github.keys = [(403, {"message": "No Copilot for this user"})]
    with pytest.raises(ModelError, match=r"No Copilot for this user \(status 403\)") as caught:
        await logs_in()
    assert "access-token" in caught.value.hint
    assert TOKEN["access_token"] not in str(caught.value) + caught.value.hint


async def test_a_folder_that_cannot_be_written_is_named(
    logs_in: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("GITHUB_COPILOT_TOKEN_DIR", str(tmp_path / "file" / "tokens"))
    with pytest.raises(ModelError, match="cannot be kept") as caught:
        await logs_in()
    assert "GITHUB_COPILOT_TOKEN_DIR" in caught.value.hint


async def test_a_wait_that_is_given_up_asks_no_more(
    github: GitHub, home: Path, provider_of: Any, context: RunContext
) -> None:
    github.polls = [PENDING]
    provider = provider_of(max_retries=0)
    try:
        task = asyncio.create_task(provider.create(MODEL, 0.0, context).ainvoke("hi"))
        assert await asyncio.to_thread(github.polled.wait, 120)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        # The next request is in nobody's way: the first one's login is over.
        github.polls = [TOKEN]
        answer = await provider.create(MODEL, 0.0, context).ainvoke("hi")
    finally:
        await provider.aclose()
    assert answer.text == "hello"
    assert github.asked.count("/login/device/code") == 2


async def test_where_nobody_watches_no_login_is_begun(
    github: GitHub, home: Path, asks: Any, context: RunContext, provider_of: Any
) -> None:
    context.attended = False
    problem = provider_of().ready(MODEL)
    assert "a login to GitHub Copilot is needed" in problem
    assert "in a terminal" in problem
    assert "GITHUB_COPILOT_TOKEN_DIR" in problem
    with pytest.raises(ModelError, match="a login is needed"):
        await asks()
    assert github.asked == []

    context.attended = True
    assert provider_of().ready(MODEL) is None
    assert await asks() == "hello"
    context.attended = False
    assert provider_of().ready(MODEL) is None
    assert await asks() == "hello"


@pytest.fixture
def umask_of_others() -> Iterator[None]:
    """Files are readable by everyone, unless somebody sees to it that they are not."""
    before = os.umask(0o022)
    yield
    os.umask(before)


@dataclass
class OnTerminal:
    """A run whose output goes to a terminal.

    Attributes:
        shown: what has been written there so far.
    """

    process: subprocess.Popen[bytes]
    terminal: int
    shown: bytes = b""

    def wait(self) -> int:
        """Read to the end; the exit code."""
        with suppress(OSError):  # the other end is closed
            while data := os.read(self.terminal, 65536):
                self.shown += data
        return self.process.wait()


@pytest.fixture
def command(tmp_path: Path, github: GitHub, home: Path) -> tuple[list[str], dict[str, Any]]:
    """A `retrai run` on a project that needs the model, and how to start it."""
    project = tmp_path / "failing"
    project.mkdir()
    (project / "Makefile").write_text("check:\n\tfalse\n")
    words = [sys.executable, "-m", "retrai_core", "run", "shell-goal", "-m", MODEL]
    words += ["--option", "check_command=make check", "-n", "1"]
    state = {"XDG_STATE_HOME": str(tmp_path / "state"), "TERM": "dumb"}
    env = {name: value for name, value in os.environ.items() if name != "CI"} | state
    return words, {"cwd": project, "env": env}


@pytest.fixture
def on_terminal(command: tuple[list[str], dict[str, Any]]) -> Iterator[OnTerminal]:
    """That run, begun."""
    pytest.importorskip("retrai_goals_shell", reason="the shell goals are not installed")
    words, how = command
    ours, theirs = pty.openpty()
    process = subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs, **how)
    os.close(theirs)
    with process:
        try:
            yield OnTerminal(process, ours)
        finally:
            process.kill()
            os.close(ours)


def test_a_run_on_a_terminal_shows_the_code_and_goes_on(
    github: GitHub, home: Path, on_terminal: OnTerminal
) -> None:
    on_terminal.wait()
    shown = " ".join(on_terminal.shown.decode().split())
    assert "https://github.com/login/device" in shown
    assert CODE in shown
    assert "/chat/completions" in github.asked
    assert {mode for mode, _ in kept_in(home).values()} == {0o600}


def test_ctrl_c_in_the_middle_of_a_login_ends_the_run_and_its_helper(
    github: GitHub, on_terminal: OnTerminal
) -> None:
    github.polls = [PENDING]
    reader = threading.Thread(target=on_terminal.wait)
    reader.start()
    assert github.polled.wait(120), on_terminal.shown.decode()
    listed = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid=,args="], capture_output=True, check=True, text=True
    )
    rows = [line.split(None, 2) for line in listed.stdout.splitlines()]
    parent = str(on_terminal.process.pid)
    helpers = [row[0] for row in rows if row[1] == parent and "retrai_llm_litellm" in row[2]]
    assert len(helpers) == 1
    on_terminal.process.send_signal(signal.SIGINT)
    reader.join()
    assert on_terminal.process.returncode == 130, on_terminal.shown.decode()
    assert "interrupted" in on_terminal.shown.decode()
    state = subprocess.run(
        ["ps", "-o", "stat=", "-p", helpers[0]], capture_output=True, check=False, text=True
    ).stdout
    assert not state.strip() or state.startswith("Z")


def test_without_a_terminal_the_login_is_named_before_the_run(
    github: GitHub, command: tuple[list[str], dict[str, Any]], tmp_path: Path
) -> None:
    pytest.importorskip("retrai_goals_shell", reason="the shell goals are not installed")
    words, how = command
    done = subprocess.run(
        words, capture_output=True, check=False, text=True, stdin=subprocess.DEVNULL, **how
    )
    assert done.returncode == 2
    said = " ".join(done.stderr.split())
    assert "a login to GitHub Copilot is needed" in said
    assert "in a terminal" in said
    assert github.asked == []
    assert not list((tmp_path / "state").rglob("record.json"))
