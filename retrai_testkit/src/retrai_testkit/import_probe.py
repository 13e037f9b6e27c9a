"""Importing a plugin in a fresh interpreter: what else comes in, and what it does."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from functools import cache

HEAVY = (
    "IPython",
    "aiohttp",
    "anthropic",
    "boto3",
    "datasets",
    "fastapi",
    "httpx",
    "langchain",
    "langchain_core",
    "langgraph",
    "litellm",
    "matplotlib",
    "mcp",
    "numpy",
    "openai",
    "pandas",
    "plotly",
    "polars",
    "pytest",
    "requests",
    "rich",
    "scipy",
    "sklearn",
    "sqlalchemy",
    "stevedore",
    "tensorflow",
    "textual",
    "torch",
    "transformers",
    "uvicorn",
)
"""Modules that a plugin imports when it works, not when it is looked at."""

_PROBE = """
import contextlib, io, json, os, signal, sys, threading
sys.path[:] = json.loads(sys.argv[1])
def state():
    return {
        "the working directory": os.getcwd(),
        "the environment": dict(os.environ),
        "the signal handlers": {n: str(signal.getsignal(n)) for n in signal.valid_signals()},
        "the number of threads": threading.active_count(),
        "the umask": (os.umask(mask := os.umask(0)), mask),
    }
before, printed = state(), io.StringIO()
with contextlib.redirect_stdout(printed):
    exec(sys.argv[2])
after = state()
changed = [name for name in before if before[name] != after[name]]
print(json.dumps({"modules": sorted(sys.modules), "changed": changed,
                  "printed": printed.getvalue()}))
"""


@dataclass(frozen=True)
class Imported:
    """What came of an import.

    Attributes:
        heavy: the heavy modules that came in.
        misdeeds: what it did besides defining things, each as a line for people.
    """

    heavy: tuple[str, ...]
    misdeeds: tuple[str, ...]


@cache
def probe(code: str, timeout_s: float = 60) -> Imported:
    """Run `code` in a fresh interpreter with our import path; once for each code in a session.

    Raises:
        AssertionError: it raises, ends the interpreter, or takes longer than `timeout_s` seconds.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-c", _PROBE, json.dumps(sys.path), code],
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise AssertionError(f"`{code}` was still running after {timeout_s:g} s") from None
    if done.returncode != 0 or not done.stdout.strip():
        said = (done.stderr or done.stdout).strip()[-2000:]
        raise AssertionError(f"`{code}` fails in a fresh interpreter:\n{said}")
    answer = json.loads(done.stdout.splitlines()[-1])
    misdeeds = [f"it changes {name}" for name in answer["changed"]]
    if answer["printed"].strip():
        misdeeds.append(f"it prints {answer['printed'].strip()[:80]!r}")
    heavy = tuple(name for name in HEAVY if name in answer["modules"])
    return Imported(heavy, tuple(misdeeds))
