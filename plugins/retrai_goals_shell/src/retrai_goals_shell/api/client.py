"""Starts a server, sends requests, prints the answers; runs in the sandbox, standard library only.

The job comes as one line of JSON on standard input, the answer goes as one line of JSON to standard
output. The server gets neither of the two.
"""

import contextlib
import ctypes
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from typing import Any
from urllib.parse import urlsplit

MAX_BODY = 2_000_000
MAX_PRINTED = 20_000
PR_SET_DUMPABLE = 4


def main() -> None:
    """Do the job."""
    # What the server is must not reach into this process, which belongs to the same user.
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    job = json.loads(sys.stdin.readline())
    answer = _do(job)
    # The server never saw this: nobody else can write an answer.
    print(json.dumps({**answer, "secret": job["secret"]}))


def _do(job: dict[str, Any]) -> dict[str, Any]:
    url = urlsplit(str(job["base_url"]))
    address = (url.hostname or "", url.port or (443 if url.scheme == "https" else 80))
    if not job["start_command"]:
        return {"answers": _ask_all(url, job)}
    if _listens(address):
        where = f"{address[0]}:{address[1]}"
        return {"problem": f"something listens at {where} before start_command was run; end it"}
    with tempfile.TemporaryFile() as printed:
        server = subprocess.Popen(
            ["bash", "-c", job["start_command"]],
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=printed,
            start_new_session=True,
        )
        try:
            answers: list[dict[str, Any]] = []
            problem = _why_not_begun(server, address, job["start_timeout_s"])
            if not problem:
                answers = _ask_all(url, job)
                if server.poll() is not None:  # and whatever answered was not this server
                    problem = (
                        f"the server ended with exit status {server.returncode} while it was asked"
                    )
            return {"problem": problem, "answers": answers, "printed": _printed(printed)}
        finally:
            _end(server)


def _why_not_begun(
    server: "subprocess.Popen[bytes]", address: "tuple[str, int]", timeout_s: float
) -> str:
    """Wait for the server; why it does not listen, empty where it does."""
    until = time.monotonic() + timeout_s
    while not _listens(address):
        if server.poll() is not None:
            return f"the server ended with exit status {server.returncode} before it answered"
        if time.monotonic() > until:
            return f"the server did not listen within {timeout_s:g} s"
        time.sleep(0.05)
    return ""


def _end(server: "subprocess.Popen[bytes]") -> None:
    """End the server with its process group."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(server.pid, sign)
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(2)


def _listens(address: "tuple[str, int]") -> bool:
    try:
        with socket.create_connection(address, timeout=1):
            return True
    except OSError:
        return False


def _printed(file: Any) -> str:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - MAX_PRINTED))
    return file.read().decode("utf-8", "replace")


def _ask_all(url: Any, job: "dict[str, Any]") -> "list[dict[str, Any]]":
    """The answers. No request is sent after `limit_s` seconds, if the job has that limit."""
    limit_s = job["limit_s"]
    until = float("inf") if limit_s is None else time.monotonic() + limit_s
    answers: list[dict[str, Any]] = []
    for request in job["requests"]:
        if time.monotonic() > until:
            break
        answers.append(_ask(url, request))
    return answers


def _ask(url: Any, request: dict[str, Any]) -> dict[str, Any]:
    """One request: the status and the body, or why there is none."""
    kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    connection = kind(url.hostname, url.port, timeout=request["timeout"])
    try:
        headers = dict(request["headers"])
        body = None
        if request["json"] is not None:
            body = json.dumps(request["json"]).encode()
            if "content-type" not in {name.lower() for name in headers}:
                headers["Content-Type"] = "application/json"
        target = f"{url.path.rstrip('/')}{request['path']}" or "/"
        connection.request(request["method"], target, body, headers)
        answer = connection.getresponse()
        text = answer.read(MAX_BODY + 1)
        if len(text) > MAX_BODY:
            return {"problem": "the answer is larger than 2 MB"}
        return {"status": answer.status, "body": text.decode("utf-8", "replace")}
    except (OSError, http.client.HTTPException, ValueError) as error:
        return {"problem": f"{type(error).__name__}: {error}"}
    finally:
        connection.close()


if __name__ == "__main__":
    main()
