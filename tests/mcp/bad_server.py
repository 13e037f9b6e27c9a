"""A server of the Model Context Protocol in a few lines, which misbehaves as it is told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HOW = sys.argv[1]
TOOLS: list[dict[str, Any]] = [
    {
        "name": name,
        "description": f"{name} something",
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
    }
    for name in ("echo", "die", "hang", "pid", "environment", "flood")
]


def send(message: dict[str, Any]) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def flood() -> None:
    while True:
        print("nonsense " * 1000, flush=True)


def called(name: str, arguments: dict[str, Any]) -> str:
    if name == "die":
        print("I am done", file=sys.stderr, flush=True)
        os._exit(9)
    if name == "hang":
        time.sleep(1000)
    if name == "flood":
        flood()
    if name == "pid":
        return str(os.getpid())
    if name == "environment":
        return json.dumps(dict(os.environ))
    return str(arguments.get("text", ""))


def serve() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        number, method = request.get("id"), request.get("method")
        if number is None:
            continue
        if method == "initialize":
            version = request["params"]["protocolVersion"]
            answer: dict[str, Any] = {
                "protocolVersion": version,
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "bad", "version": "1"},
            }
        elif method == "tools/list":
            answer = {"tools": [*TOOLS, *odd_tools()]}
        elif method == "tools/call":
            params = request["params"]
            text = called(params["name"], params.get("arguments") or {})
            answer = {"content": [{"type": "text", "text": text}]}
        else:
            send({"id": number, "error": {"code": -32601, "message": f"no {method}"}})
            continue
        send({"id": number, "result": answer})


def odd_tools() -> list[dict[str, Any]]:
    if HOW != "odd-tools":
        return []
    schema = {"type": "object"}
    big = {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(5000)}}
    return [
        {"name": "two words\n", "inputSchema": schema},
        {"name": "huge", "inputSchema": big},
        {"name": "wordy", "description": "x" * 100_000, "inputSchema": schema},
    ]


if HOW == "silent":
    time.sleep(1000)
if HOW == "floods-at-start":
    flood()
if HOW == "endless-line":
    while True:
        sys.stdout.write("x" * 100_000)
if HOW == "waits-for-three":
    meeting = Path(sys.argv[2])
    (meeting / str(os.getpid())).touch()
    while len(list(meeting.iterdir())) < 3:
        time.sleep(0.02)
if HOW == "waits-for-the-check":
    (Path(sys.argv[2]) / "server-started").touch()
    while not (Path(sys.argv[2]) / "check-started").exists():
        time.sleep(0.02)
if HOW == "greets":
    print("Welcome to the server!\nListening on stdio...", flush=True)
if HOW == "stubborn":  # ends neither when its input closes nor when it is asked to
    import signal

    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if HOW in ("daemon", "stubborn"):
    code = "import os, time; os.setsid(); time.sleep(1000)"
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.DEVNULL)
    Path(sys.argv[2]).write_text(str(child.pid))
serve()
if HOW == "stubborn":
    time.sleep(1000)
