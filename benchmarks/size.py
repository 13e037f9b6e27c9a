"""How large retrai is, and what it loads: SLOC by distribution and room, imports, processor time.

    python benchmarks/size.py [--tree DIR] [--python PYTHON] [--rounds 5]

SLOC are lines of code without comments, docstrings and blank lines, of every `src/` folder below
`--tree`. Two checkouts are compared by running this one program on both: `--tree` names the other
checkout and `--python` the interpreter that it is installed in. The guard is what decides whether
`achieved` is true: the core's `verification`, retrai-goal-support, and the goals for Python,
JavaScript and the shell but for those that measure or lint, with their recorders in JavaScript.

With `--python` the real command runs too, `--rounds` times each, and the medians are printed:

- modules and processor seconds of the command's own process up to the first model request, against
  the fake OpenAI server of this folder (`python -X importtime` tells each import as it happens);
- processor seconds of the command's own process for the whole of `retrai run -m offline` on
  `examples/quickstart`; its children, the project's tests among them, are not counted.

Processor time is user and system, as Linux accounts it in `/proc/PID/stat`.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import io
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import tokenize
from collections import Counter
from pathlib import Path

from contenders import retrai_command
from counts import positive
from fake_openai import FakeOpenAI

ROOT = Path(__file__).resolve().parent.parent
NOT_CODE = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
)
GUARD = (
    "retrai_core/src/retrai_core/verification",
    "plugins/retrai_goal_support/src",
    "retrai_goals_python/src",
    "retrai_goals_js/src",
    "plugins/retrai_goals_shell/src",
)
NOT_GUARD = frozenset(
    {
        *("api/client", "api/goal", "cargo/bench", "cargo/optimize"),
        *("lint/excuses", "lint/goal", "lint/linters"),
    }
)
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def sloc(source: str) -> int:
    """Lines that hold code: no comment, no docstring, no blank line."""
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            match node.body:
                case [ast.Expr(value=ast.Constant(value=str())) as first, *_]:
                    docstrings.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
                case _:
                    pass
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in NOT_CODE:
            code.update(range(token.start[0], token.end[0] + 1))
    return len(code - docstrings)


def sizes(tree: Path) -> tuple[Counter[str], Counter[str], int]:
    """SLOC by distribution and by room of the core, and how many modules are in the core's root."""
    distributions: Counter[str] = Counter()
    rooms: Counter[str] = Counter()
    for folder in sorted([*tree.glob("*/src"), *tree.glob("plugins/*/src")]):
        for path in folder.rglob("*.py"):
            count = sloc(path.read_text(encoding="utf-8"))
            distributions[str(folder.parent.relative_to(tree))] += count
            if folder.parent.name == "retrai_core":
                below = path.relative_to(folder / "retrai_core").parts
                rooms[below[0] if len(below) > 1 else "(root)"] += count
    root = (tree / "retrai_core/src/retrai_core").glob("*.py")
    return distributions, rooms, len(list(root))


def guard_size(tree: Path) -> int:
    """SLOC of the guard; in JavaScript, lines that are neither blank nor begin with `//`."""
    count = 0
    for path in (path for folder in GUARD for path in (tree / folder).rglob("*")):
        if path.suffix == ".py" and f"{path.parent.name}/{path.stem}" not in NOT_GUARD:
            count += sloc(path.read_text(encoding="utf-8"))
        elif path.suffix in (".js", ".mjs", ".cjs"):
            lines = map(str.strip, path.read_text(encoding="utf-8").splitlines())
            count += sum(bool(line) and not line.startswith("//") for line in lines)
    return count


def own_cpu_s(pid: int) -> float:
    """Processor seconds that a process has used itself, its children left out."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_S


async def first_request(python: str, folder: Path) -> tuple[int, float]:
    """Imported modules and processor seconds up to the first model request."""
    server = FakeOpenAI(1, "file_read", lambda _: {"path": "test_a.py"})
    command = [python, "-X", "importtime", *retrai_command(await server.start(), folder)]
    imports = folder.with_suffix(".txt")
    environment = {**os.environ, "RETRAI_STATE_DIR": f"{folder}-state", "OPENAI_API_KEY": "none"}
    with imports.open("wb") as stderr:
        process = subprocess.Popen(  # noqa: ASYNC220
            command, stdout=subprocess.DEVNULL, stderr=stderr, env=environment
        )
    try:
        while not server.last_request and process.poll() is None:  # noqa: ASYNC110
            await asyncio.sleep(0.002)
        if process.returncode is not None:
            raise SystemExit(f"no request was made:\n{imports.read_text()[-2000:]}")
        return imports.read_bytes().count(b"import time:") - 1, own_cpu_s(process.pid)
    finally:
        process.terminate()
        process.wait()
        await server.stop()


def in_new_project(python: str) -> tuple[int, float]:
    """As `first_request`, in a project of its own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "project")
        folder.mkdir()
        (folder / "test_a.py").write_text("def test_a():\n    assert 1 == 2\n")
        return asyncio.run(first_request(python, folder))


def quickstart(python: str, tree: Path) -> float:
    """Processor seconds of `retrai run` on the quickstart, without its children's."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "quickstart")
        shutil.copytree(tree / "examples/quickstart", folder)
        environment = {**os.environ, "RETRAI_STATE_DIR": str(Path(name, "state"))}
        command = [python, "-m", "retrai_core", "run", "pytest", "-m", "offline", "-C", str(folder)]
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
        )
        # Its figures can be read until it is reaped.
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        cpu_s = own_cpu_s(process.pid)
        if process.wait() != 0:
            raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return cpu_s


def main() -> None:
    """Count, run where an interpreter is given, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--tree", type=Path, default=ROOT, help="the checkout to count")
    parser.add_argument("--python", help="an interpreter with that checkout installed: run it too")
    parser.add_argument("--rounds", type=positive, default=5)
    given = parser.parse_args()
    tree: Path = given.tree.resolve()
    distributions, rooms, root_modules = sizes(tree)
    for title, counter in (("distribution", distributions), ("room of the core", rooms)):
        print(f"| {title} | SLOC |\n|---|---|")
        for name, count in counter.most_common():
            print(f"| {name} | {count:,} |")
        print(f"| together | {counter.total():,} |\n")
    print(f"modules in the core's root: {root_modules}")
    print(f"guard: {guard_size(tree):,}")
    if given.python:
        requests = [in_new_project(given.python) for _ in range(given.rounds)]
        modules, cpu_s = (statistics.median(column) for column in zip(*requests, strict=True))
        print(f"up to the first request: {modules:.0f} modules, {cpu_s:.2f} CPU s")
        runs = [quickstart(given.python, tree) for _ in range(given.rounds)]
        print(f"retrai run on the quickstart: {statistics.median(runs):.2f} CPU s")


if __name__ == "__main__":
    sys.exit(main())
