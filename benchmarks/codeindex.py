"""Measures retrai-codeindex: time, memory, update, queries, search quality, call graph.

    python benchmarks/codeindex.py [--library DIR] [--data DIR] [--only TEXT] [--engines]
        [--embedder NAME [--questions N]]

The library is the `Lib` folder of this Python (without `site-packages`), copied into a temporary
folder; the script says how many files and lines that are (Debian's package lacks the tests). The
questions and call graph cases are read from `../shared/data/coderag`; without them their rows are
left out. `--engines` also measures SQLite's FTS5 and, if it is installed, tantivy on the same
chunks and questions. `--embedder` asks the first N questions once more with an embedder.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import resource
import shutil
import sqlite3
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from retrai_codeindex import Index
from retrai_codeindex.python_calls import PythonCalls
from retrai_codeindex.python_facts import compile_facts

DATA = Path(__file__).resolve().parents[1] / ".." / "shared" / "data" / "coderag"
TESTS = frozenset({"test", "tests", "idle_test"})
LEFT_OUT = frozenset({"site-packages", "dist-packages", "__pycache__"})
INDEX_IT = """
import resource, sys, time
from pathlib import Path
from retrai_codeindex import Index
if __name__ == "__main__":
    began = time.monotonic()
    index = Index.open(Path(sys.argv[1]), path=Path(sys.argv[2]))
    wall = time.monotonic() - began
    own = resource.getrusage(resource.RUSAGE_SELF)
    cpu, peak = own.ru_utime + own.ru_stime, own.ru_maxrss
    began = time.monotonic()
    stats = index.stats()
    graph = time.monotonic() - began
    index.close()
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu += children.ru_utime + children.ru_stime
    last = resource.getrusage(resource.RUSAGE_SELF)
    print(wall, cpu, peak, children.ru_maxrss, graph, last.ru_maxrss, stats.calls, stats.resolved)
"""


def main() -> int:
    """Measure, print; the exit code."""
    parser = argparse.ArgumentParser(description="Measure retrai-codeindex.")
    stdlib = Path(sysconfig.get_paths()["stdlib"])
    parser.add_argument("--library", type=Path, default=stdlib, help="a folder of Python files")
    parser.add_argument("--data", type=Path, default=DATA, help="questions and call graph cases")
    parser.add_argument("--only", default="", help="index, update, query, search or graph")
    parser.add_argument("--engines", action="store_true", help="also FTS5 and tantivy")
    parser.add_argument("--embedder", help="as of `retrai index`: `local`, `litellm:MODEL`")
    parser.add_argument("--questions", type=int, help="ask only the first N of the questions")
    options = parser.parse_args()
    version, load = sys.version.split()[0], os.getloadavg()[0]
    print(f"Python {version}, {os.cpu_count()} processors, load {load:.1f}")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), options.library, options.data)
        bench.embedder, bench.questions = options.embedder, options.questions
        for name in ("index", "update", "query", "search", "graph"):
            if options.only in name:
                for line in getattr(bench, name)():
                    print(line, flush=True)
        if options.engines:
            for line in bench.engines():
                print(line, flush=True)
    return 0


class Bench:
    """The measurements, in a temporary folder."""

    embedder: str | None = None
    questions: int | None = None

    def __init__(self, folder: Path, library: Path, data: Path) -> None:
        self.folder = folder
        self.data = data
        self.full = folder / "full"
        copy_library(library, self.full, LEFT_OUT)
        self.file = folder / "full.sqlite"

    def index(self) -> Iterator[str]:
        """Time and memory of a first index, and of its call graph."""
        sources = [path.read_bytes().count(b"\n") for path in self.full.rglob("*.py")]
        script = self.folder / "index_it.py"
        script.write_text(INDEX_IT)
        words = [sys.executable, str(script), str(self.full), str(self.file)]
        out = subprocess.run(words, check=True, capture_output=True, text=True).stdout
        wall, cpu, peak, child, graph, last, calls, resolved = map(float, out.split())
        yield f"library            {len(sources)} Python files, {sum(sources):,} lines"
        yield f"index              {wall:.1f} s, {cpu:.1f} CPU s, workers included"
        yield f"peak memory        {peak / 1024:.0f} MB, and {child / 1024:.0f} MB in each worker"
        yield f"call graph         {graph:.1f} s, peak {last / 1024:.0f} MB"
        yield f"                   {calls:,.0f} calls, {resolved / calls:.0%} with a known target"
        size = self.file.stat().st_size
        yield f"size               {size / 1e6:.1f} MB"

    def update(self) -> Iterator[str]:
        """Time of an update after one file."""
        file = self.full / "argparse.py"
        with Index.open(self.full, path=self.file) as index:
            taken: list[tuple[float, float]] = []
            for number in range(9):
                with file.open("a") as out:
                    out.write(f"\ndef added_{number}():\n    return {number}\n")
                began, cpu = time.perf_counter(), time.process_time()
                index.update()
                taken.append((time.perf_counter() - began, time.process_time() - cpu))
        wall, cpu = (statistics.median(each) for each in zip(*taken, strict=True))
        yield f"update of one file {wall * 1e3:.0f} ms, {cpu * 1e3:.0f} CPU ms (argparse.py)"

    def query(self) -> Iterator[str]:
        """Time of a question."""
        with Index.open(self.full, path=self.file) as index:
            chunks = index.stats().chunks
            yield timed(f"query, {chunks:,} chunks", index.search, self._queries())

    def _queries(self) -> list[str]:
        return [case["query"] for case in self._cases("stdlib_queries_dev.jsonl")]

    def _cases(self, name: str) -> list[Any]:
        file = self.data / name
        return (
            [json.loads(line) for line in file.read_text().splitlines()] if file.is_file() else []
        )

    def search(self) -> Iterator[str]:
        """MRR@10 of docstring sentences, on the library without docstrings and tests."""
        cases = self._cases("stdlib_queries_dev.jsonl")[: self.questions]
        bare = self.folder / "bare"
        copy_library(self.full, bare, LEFT_OUT | TESTS, change=without_docstrings)
        for embedder in dict.fromkeys([None, self.embedder]) if cases else ():
            ranks: list[float] = []
            with Index.open(bare, path=self.folder / "bare.sqlite", embedder=embedder) as index:
                began = time.process_time()
                for case in cases:
                    hits = [(hit.path, hit.symbol) for hit in index.search(case["query"])]
                    wanted = (case["file"], case["qualname"])
                    ranks.append(1 / (hits.index(wanted) + 1) if wanted in hits else 0.0)
                cpu = time.process_time() - began
            halves = statistics.fmean(ranks[::2]), statistics.fmean(ranks[1::2])
            by = f", by {embedder} too" if embedder else ""
            yield f"search, MRR@10     {statistics.fmean(ranks):.3f} of {len(ranks)} questions{by}"
            yield f"                   {halves[0]:.3f} (tuned on), {halves[1]:.3f} (not looked at)"
            yield f"                   {cpu / len(ranks) * 1e3:.1f} CPU ms a question"

    def graph(self) -> Iterator[str]:
        """F1 over edges and speed on the call graph cases."""
        right = found = wanted = lines = 0
        cpu = 0.0
        for case in self._cases("pycg_dev.jsonl"):
            began = time.process_time()
            modules = [
                (
                    name,
                    name.removesuffix(".py").replace("/", ".").removesuffix(".__init__"),
                    (),
                    facts,
                )
                for name, text in sorted(case["files"].items())
                for facts in [compile_facts(ast.parse(text))]
            ]
            calls = PythonCalls(modules)
            made = list(calls.solve())
            cpu += time.process_time() - began
            classes = {scope.dotted for scope in calls.scopes if scope.owner is not None}
            got = {(c.caller, c.callee) for c in made if c.callee and c.callee not in classes}
            want = {(a, b) for a, every in case["callgraph"].items() for b in every}
            right, found, wanted = right + len(got & want), found + len(got), wanted + len(want)
            lines += sum(text.count("\n") + 1 for text in case["files"].values())
        if wanted:
            precision, recall = right / found, right / wanted
            f1 = 2 * right / (found + wanted)
            yield f"call graph, F1     {f1:.3f} (precision {precision:.3f}, recall {recall:.3f})"
            yield f"                   {lines / cpu:,.0f} lines a CPU second, parser included"

    def engines(self) -> Iterator[str]:
        """FTS5 and tantivy on the same texts and questions."""
        from retrai_codeindex.reading import read_source
        from retrai_codeindex.tokens import Tokenizer

        tokenizer = Tokenizer()
        rows: list[tuple[str, str, str]] = []
        for file in sorted(self.full.rglob("*.py")):
            for chunk in read_source(file.read_text("utf-8", "replace"), "python").chunks:
                texts = (chunk.name, f"{chunk.signature} {chunk.doc}", chunk.body)
                name, head, body = (" ".join(plain(tokenizer.tokens(text))) for text in texts)
                rows.append((name, head, body))
        questions = [" ".join(plain(tokenizer.query(query))) for query in self._queries()]
        yield from fts5(self.folder, rows, questions)
        yield from tantivy(self.folder, rows, questions)


def plain(tokens: list[str]) -> list[str]:
    """Whole identifiers as words that every engine keeps together."""
    return [token.replace("=", "zz").replace("_", "") for token in tokens]


def fts5(folder: Path, rows: list[tuple[str, str, str]], questions: list[str]) -> Iterator[str]:
    """SQLite's full text search, contentless."""
    db = sqlite3.connect(folder / "fts5.sqlite")
    began = time.perf_counter()
    db.execute("CREATE VIRTUAL TABLE t USING fts5(name, head, body, content='', detail=column)")
    pairs = ((number, *row) for number, row in enumerate(rows))
    db.executemany("INSERT INTO t (rowid, name, head, body) VALUES (?, ?, ?, ?)", pairs)
    db.commit()
    built = time.perf_counter() - began

    def ask(words: str) -> object:
        match = " OR ".join(f'"{word}"' for word in words.split()) or '"x"'
        return db.execute(
            "SELECT rowid FROM t WHERE t MATCH ? ORDER BY bm25(t, 5, 2, 1) LIMIT 10", (match,)
        ).fetchall()

    yield timed(f"FTS5, built in {built:.0f} s", ask, questions)


def tantivy(folder: Path, rows: list[tuple[str, str, str]], questions: list[str]) -> Iterator[str]:
    """tantivy, if it is installed."""
    try:
        import tantivy as engine  # pyright: ignore[reportMissingImports]
    except ImportError:
        yield "tantivy            not installed"
        return
    builder = engine.SchemaBuilder()
    builder.add_integer_field("id", stored=True)
    for name in ("name", "head", "body"):
        builder.add_text_field(name, tokenizer_name="whitespace")
    (folder / "tantivy").mkdir()
    found = engine.Index(builder.build(), path=str(folder / "tantivy"))
    began = time.perf_counter()
    writer = found.writer(100_000_000, 1)
    for number, (name, head, body) in enumerate(rows):
        writer.add_document(engine.Document(id=number, name=name, head=head, body=body))
    writer.commit()
    writer.wait_merging_threads()
    built = time.perf_counter() - began
    found.reload()
    searcher = found.searcher()

    def ask(words: str) -> object:
        query = found.parse_query(words or "x", ["name", "head", "body"])
        return searcher.search(query, 10).hits

    yield timed(f"tantivy, built in {built:.0f} s", ask, questions)


def timed(name: str, ask: Callable[[str], object], questions: list[str]) -> str:
    """The percentiles of the time of a question."""
    if not questions:
        return f"{name}: no questions"
    for question in questions[:20]:
        ask(question)
    wall: list[float] = []
    cpu: list[float] = []
    for question in questions:
        began, used = time.perf_counter(), time.process_time()
        ask(question)
        cpu.append(time.process_time() - used)
        wall.append(time.perf_counter() - began)
    cuts = statistics.quantiles(wall, n=20)
    median = statistics.median(cpu) * 1e3
    return (
        f"{name}\n                   p50 {statistics.median(wall) * 1e3:.2f} ms "
        f"({median:.2f} CPU ms), p95 {cuts[18] * 1e3:.2f} ms"
    )


def copy_library(
    source: Path, target: Path, left_out: frozenset[str], change: Callable[[str], str] | None = None
) -> None:
    """Copy a folder's files, without some folders; with `change`, Python files only."""
    for folder, names, files in os.walk(source):
        names[:] = [name for name in names if name not in left_out]
        into = target / Path(folder).relative_to(source)
        into.mkdir(parents=True, exist_ok=True)
        for name in files:
            path = Path(folder) / name
            if change is None:
                shutil.copyfile(path, into / name)
            elif name.endswith(".py"):
                (into / name).write_text(change(path.read_text("utf-8", "replace")), "utf-8")


def without_docstrings(text: str) -> str:
    """The source with every docstring taken out, and as many lines as before."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return text
    lines = text.split("\n")
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if not (isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)):
                continue
            if isinstance(first.value.value, str):
                before = lines[first.lineno - 1][: first.col_offset]
                for number in range(first.lineno, (first.end_lineno or first.lineno) + 1):
                    lines[number - 1] = ""
                lines[first.lineno - 1] = f"{before}pass"
    return "\n".join(lines)


if __name__ == "__main__":
    # Before anything is measured: what this process itself may use.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.exit(main())
