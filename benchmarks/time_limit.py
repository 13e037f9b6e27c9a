"""By how much does a run exceed `--max-time`? Each case never ends by itself.

    python benchmarks/time_limit.py [--limit 25] [--rounds 5]

Runs the real command in a project of its own against a model server on this machine, which is
silent, asks for a command that sleeps and ignores SIGTERM, or answers 500 for ever; and once with
a check that sleeps. The excess of the command counts from the start of the process to its exit,
so it includes the start of Python and what is decided before the run begins; that of the run is
what its record says. The limit must be long enough for LiteLLM's import on a busy
machine. Exits with 1 when a run did not end as `budget`, or did not come to the case.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from counts import positive
from fake_openai import as_json, read_request, tool_call

SLEEP = {"command": "trap '' TERM; sleep 1000", "timeout_s": 600}
ERROR = b'{"error": {"message": "overloaded"}}'
START = "import sys; from retrai_core.cli.main import main; sys.exit(main())"


@dataclass(frozen=True)
class Case:
    """What never ends.

    Attributes:
        name: for the table.
        answer: what the server answers; None is nothing at all.
        check: the project's check.
    """

    name: str
    answer: Callable[[], bytes] | None = None
    check: str = "grep -q right a.txt"


CASES = (
    Case("the model's server never answers"),
    Case(
        "a command of the agent sleeps, and ignores SIGTERM",
        lambda: as_json(0, tool_call(0, "bash_exec", SLEEP)),
    ),
    Case("a check sleeps", check="sleep 1000"),
    Case(
        "the model's server answers 500 for ever",
        lambda: b"HTTP/1.1 500 Overloaded\r\nContent-Length: %d\r\n\r\n" % len(ERROR) + ERROR,
    ),
)


@dataclass
class Server:
    """A model server that does what its case says; `asked` counts its requests."""

    case: Case
    asked: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await read_request(reader):
                self.asked += 1
                if self.case.answer is not None:
                    writer.write(self.case.answer())
                    await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()


@dataclass
class Excess:
    """Seconds beyond the limit, one figure a round."""

    command_s: list[float] = field(default_factory=list[float])
    run_s: list[float] = field(default_factory=list[float])


async def measure(case: Case, limit_s: int, folder: Path, into: Excess) -> None:
    """One run of one case.

    Raises:
        SystemExit: it ended otherwise, or the case was not reached.
    """
    server = Server(case)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    project = folder / "project"
    project.mkdir()
    (project / "a.txt").write_text("wrong\n")
    settings = {
        "goal": "shell-goal",
        "check_command": case.check,
        "timeout_s": 600,
        "plugins": {"litellm": {"max_retries": 1000}},
    }
    (project / ".retrai.yml").write_text(json.dumps(settings))
    url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
    kept = {name: text for name, text in os.environ.items() if not name.startswith("RETRAI_")}
    own = {"RETRAI_STATE_DIR": str(folder / "state"), "XDG_CONFIG_HOME": str(folder / "config")}
    words = ("run", "-m", "openai/gpt-4o-mini", "--max-time", str(limit_s), "--trust", "--json")
    began = time.monotonic()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", START, *words),
        cwd=project,
        env={**kept, **own, "OPENAI_API_KEY": "sk-benchmark", "OPENAI_API_BASE": url},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    took_s = time.monotonic() - began
    listening.close()
    if process.returncode != 6 or not (server.asked or case.check.startswith("sleep")):
        raise SystemExit(f"{case.name}: {process.returncode}, asked {server.asked}\n{err.decode()}")
    into.command_s.append(took_s - limit_s)
    into.run_s.append(json.loads(out)["worked_s"] - limit_s)


async def main(limit_s: int, rounds: int) -> None:
    """Measure every case, round by round, and print the table."""
    found = {case: Excess() for case in CASES}
    for _ in range(rounds):
        for case, excess in found.items():
            with tempfile.TemporaryDirectory() as folder:
                await measure(case, limit_s, Path(folder), excess)
    print("| case | run: median, s | worst | command: median, s | worst |")
    print("|---|---|---|---|---|")
    for case, excess in found.items():
        figures = [
            f"{figure:.1f}"
            for seconds in (excess.run_s, excess.command_s)
            for figure in (statistics.median(seconds), max(seconds))
        ]
        print(f"| {' | '.join([case.name, *figures])} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--limit", type=positive, default=25, metavar="SECONDS")
    parser.add_argument("--rounds", type=positive, default=5)
    given = parser.parse_args()
    asyncio.run(main(given.limit, given.rounds))
