"""Real packages with one line broken: what does `retrai run -m offline` make of them?

    python benchmarks/broken_packages.py [--each 3] [--seed 1] [--only NAME ...] [--cache FOLDER]

Takes packages from the package index as they are published, breaks one expression of their sources
where at least one test, and at most `MOST_FAILING`, notices it, and runs the whole command on each.
Prints a line for each: the outcome, whether the sources mean the same as before, CPU seconds of the
command and all its children, and the edit. An `achieved` run whose sources mean something else
passes every test of the package all the same.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

CACHE = Path.home() / ".cache" / "retrai-benchmarks" / "packages"
MOST_FAILING = 40
SUITE_LIMIT_S = 120
RUN_LIMIT_S = 600
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Mod: ast.FloorDiv,
}


@dataclass(frozen=True)
class Package:
    """A source distribution, and what its tests need beside pytest."""

    name: str
    pin: str
    sources: str
    beside: tuple[str, ...] = ()


PACKAGES = (
    Package("cachetools", "cachetools==8.0.1", "src"),
    Package("h11", "h11==0.16.0", "h11"),
    Package("humanize", "humanize==4.17.0", "src", ("freezegun", "pytest-benchmark")),
    Package("idna", "idna==3.20", "idna", ("hypothesis",)),
    Package("itsdangerous", "itsdangerous==2.2.0", "src", ("freezegun",)),
    Package("more-itertools", "more-itertools==11.2.1", "more_itertools"),
    Package("sqlparse", "sqlparse==0.6.1", "sqlparse"),
    Package("tabulate", "tabulate==0.10.0", "tabulate", ("wcwidth",)),
    Package("tinydb", "tinydb==4.9.0", "tinydb", ("pyyaml", "pytest-cov", "pytest-pycodestyle")),
    Package("toolz", "toolz==1.2.0", "toolz"),
)


@dataclass(frozen=True)
class Break:
    """One expression of one file, and what stands in its place."""

    path: Path
    start: int
    end: int
    text: str

    def broken(self, source: str) -> str:
        """The file's text with it."""
        data = source.encode()
        return (data[: self.start] + self.text.encode() + data[self.end :]).decode()


@dataclass(frozen=True)
class Result:
    """What became of one break."""

    package: str
    outcome: str
    same: bool
    cpu_s: float
    edit: str


def main() -> int:
    """Break, run, print."""
    parser = argparse.ArgumentParser(description="Real packages with one line broken.")
    parser.add_argument("--each", type=int, default=3, help="breaks of each package")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", help="names of packages")
    parser.add_argument("--cache", type=Path, default=CACHE)
    options = parser.parse_args()
    results: list[Result] = []
    for package in PACKAGES:
        if options.only and package.name not in options.only:
            continue
        project, python = prepare(package, options.cache)
        chooser = random.Random(f"{package.pin} {options.seed}")
        for found in noticed(package, project, python, chooser, options.each):
            results.append(fix(package, project, found))
            print(line(results[-1]), flush=True)
    print(summary(results))
    return 0


def prepare(package: Package, cache: Path) -> tuple[Path, Path]:
    """The unpacked package and the interpreter of its own environment."""
    folder = cache / package.pin
    python = folder / "environment" / "bin" / "python"
    kept = folder / "as-published"
    if not kept.exists():
        shutil.rmtree(folder, ignore_errors=True)
        call([sys.executable, "-m", "venv", str(folder / "environment")])
        pip = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check"]
        fetch = ["download", "--no-binary", ":all:", "--no-deps", package.pin]
        call([*pip, *fetch, "--dest", str(folder / "download")])
        (archive,) = (folder / "download").glob("*.tar.gz")
        shutil.unpack_archive(archive, folder / "unpacked")
        (project,) = (folder / "unpacked").iterdir()
        project.rename(folder / "project")
        own = ["--editable", str(folder / "project")]
        call([*pip, "install", "pytest", *package.beside, *own])
        shutil.copytree(folder / "project", folder / "copied", symlinks=True)
        (folder / "copied").rename(kept)
    # A benchmark that was killed has left its break there.
    shutil.rmtree(folder / "project", ignore_errors=True)
    shutil.copytree(kept, folder / "project", symlinks=True)
    return folder / "project", python


def call(command: Sequence[str], cwd: str | None = None) -> None:
    """Run a step of the preparation; its output is shown only when it fails."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\nfailed:\n{done.stdout}{done.stderr}")


def noticed(
    package: Package, project: Path, python: Path, chooser: random.Random, wanted: int
) -> Iterator[Break]:
    """Breaks that the package's tests notice, of different files as far as there are some."""
    if failing(project, python) != 0:
        print(f"{package.name:<15} left out: its own tests fail here without a break", flush=True)
        return
    places = [
        place
        for path in sorted((project / package.sources).rglob("*.py"))
        if "test" not in str(path.relative_to(project))
        for place in breaks(path)
    ]
    chooser.shuffle(places)
    for place in places:
        if wanted <= 0:
            return
        before = place.path.read_text(encoding="utf-8")
        place.path.write_text(place.broken(before), encoding="utf-8")
        try:
            failed = failing(project, python)
        finally:
            place.path.write_text(before, encoding="utf-8")
        if failed is not None and 0 < failed <= MOST_FAILING:
            wanted -= 1
            yield place


def failing(project: Path, python: Path) -> int | None:
    """How many tests fail; None where the suite cannot be collected or does not end."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        command += [f"--junitxml={report}"]
        try:
            done = subprocess.run(
                command, cwd=project, capture_output=True, check=False, timeout=SUITE_LIMIT_S
            )
        except subprocess.TimeoutExpired:
            return None
        if done.returncode not in (0, 1):
            return None
        text = report.read_text(encoding="utf-8")
    return text.count("<failure") + text.count("<error")


def breaks(path: Path) -> Iterator[Break]:
    """Every break of a file."""
    source = path.read_text(encoding="utf-8")
    starts = [0]
    for text in source.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(text))
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for statement in function.body:
            for node in ast.walk(statement):
                if isinstance(node, ast.expr) and (changed := broken(node)) is not None:
                    assert node.end_lineno is not None
                    assert node.end_col_offset is not None
                    start = starts[node.lineno - 1] + node.col_offset
                    end = starts[node.end_lineno - 1] + node.end_col_offset
                    yield Break(path, start, end, ast.unparse(changed))


def broken(node: ast.expr) -> ast.expr | None:
    """The expression as somebody may have got it wrong; None for what is left alone."""
    match node:
        case ast.Compare(left, [operator], comparators) if type(operator) in COMPARISONS:
            return ast.Compare(left, [COMPARISONS[type(operator)]()], comparators)
        case ast.BinOp(left, operator, right) if type(operator) in OPERATORS:
            if isinstance(left, ast.Constant) and isinstance(left.value, str):
                return None  # a format
            return ast.BinOp(left, OPERATORS[type(operator)](), right)
        case ast.BoolOp(operator, values):
            return ast.BoolOp(ast.Or() if isinstance(operator, ast.And) else ast.And(), values)
        case ast.UnaryOp(ast.Not(), operand):
            return operand
        case ast.Constant(int(value)) if not isinstance(value, bool):
            return ast.Constant(value + 1)
        case ast.Constant(bool(value)):
            return ast.Constant(not value)
        case ast.Call(function, [first, second, *others], keywords):
            return ast.Call(function, [second, first, *others], keywords)
        case ast.IfExp(test, body, orelse):
            return ast.IfExp(test, orelse, body)
        case _:
            return None


def fix(package: Package, project: Path, found: Break) -> Result:
    """One `retrai run` on the package with the break, in the place where it is installed from."""
    before = found.path.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "project"
        shutil.copytree(project, kept, symlinks=True)
        try:
            found.path.write_text(found.broken(before), encoding="utf-8")
            outcome, cpu_s = run(project, Path(folder) / "state")
            after = found.path.read_text(encoding="utf-8")
        finally:
            shutil.rmtree(project)
            shutil.copytree(kept, project, symlinks=True)
    same = ast.dump(ast.parse(after)) == ast.dump(ast.parse(before))
    was = before.encode()[found.start : found.end].decode()
    where = f"{found.path.relative_to(project)}: {was} => {found.text}"
    return Result(package.name, outcome, same, cpu_s, " ".join(where.split())[:150])


def run(project: Path, state: Path) -> tuple[str, float]:
    """The outcome, and the CPU seconds of the command and all its children."""
    variables = {
        **os.environ,
        "VIRTUAL_ENV": str(project.parent / "environment"),
        "RETRAI_STATE_DIR": str(state),
    }
    command = [sys.executable, "-m", "retrai_core", "run", "pytest", "-C", str(project)]
    command += ["-m", "offline", "--json", "--trust"]
    before = children_cpu_s()
    try:
        done = subprocess.run(
            command, env=variables, capture_output=True, check=False, timeout=RUN_LIMIT_S
        )
    except subprocess.TimeoutExpired:
        return f"no end after {RUN_LIMIT_S} s", children_cpu_s() - before
    cpu_s = children_cpu_s() - before
    if not done.stdout.strip():
        return done.stderr.decode().strip().splitlines()[-1][:100], cpu_s
    return str(json.loads(done.stdout)["status"]), cpu_s


def children_cpu_s() -> float:
    """CPU seconds of the children that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def line(result: Result) -> str:
    """One line of the list."""
    same = "as before" if result.same else "differs  "
    return f"{result.package:<15} {result.outcome:<10} {same} {result.cpu_s:6.1f} s  {result.edit}"


def summary(results: Sequence[Result]) -> str:
    """How many, and at what cost."""
    if not results:
        return "no package was broken"
    fixed = [result for result in results if result.outcome == "achieved"]
    same = sum(result.same for result in fixed)
    seconds = [result.cpu_s for result in results]
    return (
        f"{len(fixed)} of {len(results)} achieved, {same} of them as before; "
        f"CPU seconds: median {statistics.median(seconds):.1f}, most {max(seconds):.1f}"
    )


if __name__ == "__main__":
    sys.exit(main())
