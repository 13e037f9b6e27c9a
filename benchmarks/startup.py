"""What `retrai --help`, `retrai plugins list` and TAB cost beside importing click alone.

    python benchmarks/startup.py [--rounds 15] [--distributions 300] [--plugins 60] [--hosts]

Fills a folder with fake distributions until 300 are installed in all, 60 of which carry retrai
plugins with manifests, puts it on the path, and measures the CPU time (user and system) of fresh
interpreters, the commands taking turns so that a busy machine slows all of them alike. Only the
ratios mean anything on another machine. Exits 1 when a ratio is above its bound.

`--hosts` also measures `llm --help` and `datasette --help`, each in an environment that uv makes
for it below the cache folder (asking the package index once), and divides by `retrai --help`.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from counts import positive

KINDS = ("goals", "tools", "llms", "memory", "frontends", "agents", "sandboxes", "hooks")
HEADER = "# Written by `retrai plugins manifest` from the classes; `--check` compares.\n"
SCRIPT = "import sys; from retrai_core.cli.main import main; sys.exit(main())"
"""What pip writes into the `retrai` script."""


@dataclass
class Case:
    """A command, the ratio it may reach, and the CPU milliseconds of its runs.

    With `words`, TAB is pressed behind them instead.
    """

    label: str
    command: Sequence[str]
    bound: float | None = None
    words: str | None = None
    cpu_ms: list[float] = field(default_factory=list[float])

    def environment(self) -> dict[str, str]:
        """What a shell's completion script sets."""
        if self.words is None:
            return {}
        count = len(self.words.split())
        words = {"COMP_WORDS": f"{self.words} ", "COMP_CWORD": str(count)}
        return {"_RETRAI_COMPLETE": "bash_complete", **words}

    @property
    def median_ms(self) -> float:
        """The median over the rounds."""
        return statistics.median(self.cpu_ms)


CASES: tuple[tuple[str, Sequence[str], float | None, str | None], ...] = (
    ('python -c "import click"', ("-c", "import click"), None, None),
    ('python -c "pass"', ("-c", "pass"), None, None),
    ("retrai --help", ("-c", SCRIPT, "--help"), 1.3, None),
    ("retrai plugins list", ("-c", SCRIPT, "plugins", "list"), 1.8, None),
    ("retrai plugins list --json", ("-c", SCRIPT, "plugins", "list", "--json"), None, None),
    ("python -m retrai_core --help", ("-m", "retrai_core", "--help"), None, None),
    ("TAB after `retrai`", ("-c", SCRIPT), 1.5, "retrai"),
    ("TAB after `retrai run`", ("-c", SCRIPT), 1.5, "retrai run"),
    ("TAB after `retrai run -m`", ("-c", SCRIPT), 1.5, "retrai run -m"),
    ("TAB after `retrai plugins show`", ("-c", SCRIPT), 1.5, "retrai plugins show"),
)
HOSTS = {"llm": 8.0, "datasette": 5.0}
"""How many times as much CPU time as ours another host's `--help` takes, at least."""


def main() -> int:
    """Measure and print; the exit code."""
    parser = argparse.ArgumentParser(description="Start-up cost beside importing click.")
    parser.add_argument("--rounds", type=positive, default=15)
    parser.add_argument("--distributions", type=positive, default=300)
    parser.add_argument("--plugins", type=positive, default=60)
    parser.add_argument("--hosts", action="store_true", help="compare with llm and datasette")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder)
        installed = count_installed()
        make_site(site, max(options.distributions - installed, options.plugins), options.plugins)
        environment = {**os.environ, "PYTHONPATH": folder}
        # Where no byte code may be written, every start would compile our sources again.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        cases = [Case(label, [sys.executable, *rest], *more) for label, rest, *more in CASES]
        hosts = [host_case(name) for name in HOSTS] if options.hosts else []
        for _ in range(options.rounds + 1):
            for case in [*cases, *hosts]:
                case.cpu_ms.append(cpu_ms(case.command, environment | case.environment()))
        for case in [*cases, *hosts]:
            del case.cpu_ms[0]  # it wrote the byte code and warmed the disk's cache
    failed = report(cases, installed, options.distributions, options.plugins)
    return report_hosts(cases, hosts) or failed


def host_case(name: str) -> Case:
    """The help page of another host of plugins, in an environment of its own that is kept."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "retrai-benchmarks" / name
    program = folder / "bin" / name
    if not program.is_file():
        subprocess.run(["uv", "venv", "-q", "--python", sys.executable, folder], check=True)
        python = folder / "bin" / "python"
        subprocess.run(["uv", "pip", "install", "-q", "--python", python, name], check=True)
    return Case(f"{name} --help", [str(program), "--help"])


def report_hosts(cases: Sequence[Case], hosts: Sequence[Case]) -> int:
    """Print how many times as much as `retrai --help` each host takes; 1 when it is too little."""
    ours = next(case.median_ms for case in cases if case.label == "retrai --help")
    failed = 0
    for case, (name, at_least) in zip(hosts, HOSTS.items(), strict=False):
        ratio = case.median_ms / ours
        print(f"{case.label:32} {case.median_ms:8.1f} {ratio:5.1f}x of ours, at least {at_least}")
        if ratio < at_least:
            print(f"{name} is not {at_least:g} times as slow")
            failed = 1
    return failed


def count_installed() -> int:
    """The distributions that are installed already."""
    folders = {str(Path(entry).resolve()) for entry in sys.path if Path(entry).is_dir()}
    return sum(1 for folder in folders for _ in Path(folder).glob("*.dist-info"))


def make_site(site: Path, distributions: int, plugins: int) -> None:
    """Fill `site` with fake distributions, the first `plugins` of which carry plugins."""
    for number in range(distributions):
        name = f"fake_{number:03}"
        info = site / f"{name}-1.{number}.dist-info"
        info.mkdir()
        is_plugin = number < plugins
        requires = "Requires-Dist: retrai-core>=0.1,<0.2\n" if is_plugin else ""
        classifiers = "Classifier: Programming Language :: Python :: 3\n" * 12
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.{number}\n{classifiers}"
            f"Requires-Dist: click>=8\n{requires}\n{'A long description.' * 500}\n"
        )
        (info / "RECORD").write_text("".join(f"{name}/part_{n}.py,,\n" for n in range(50)))
        if is_plugin:
            make_plugin(site / name, info, name, KINDS[number % len(KINDS)])
        elif number % 3 == 0:
            (info / "entry_points.txt").write_text(f"[console_scripts]\n{name} = {name}:main\n")


def make_plugin(package: Path, info: Path, name: str, kind: str) -> None:
    """A package with one plugin that ends the program should anybody import it."""
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('a plugin was imported')\n")
    (info / "entry_points.txt").write_text(f"[retrai.{kind}]\n{name} = {name}.plugin:Plugin\n")
    markers = f'markers = [{{ glob = "{name}.toml", contains = "[tool", priority = 50 }}]\n'
    (package / "retrai.toml").write_text(
        f'{HEADER}schema = 1\n\n[{kind}.{name}]\nsummary = "fake number {name}"\n'
        f'needs = ["read", "run"]\n{markers if kind == "goals" else ""}'
        f"\n[{kind}.{name}.options]\n"
        'max_chars = { type = "int", default = 8000, description = "The longest result." }\n'
        'timeout_s = { type = "float", default = 60.0, description = "Seconds; then it ends." }\n'
        'targets = { type = "list[str]", default = [], description = "Files or folders." }\n'
    )


def cpu_ms(command: Sequence[str], environment: dict[str, str]) -> float:
    """CPU milliseconds, user and system, of one run of `command`."""
    child = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    _, errors = child.communicate() if child.stderr is None else (None, child.stderr.read())
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed:\n{errors.decode(errors='replace')}")
    return (usage.ru_utime + usage.ru_stime) * 1000


def report(cases: Sequence[Case], installed: int, distributions: int, plugins: int) -> int:
    """Print the table; 1 when a bound is broken."""
    baseline = cases[0].median_ms
    print(f"{max(distributions, installed + plugins)} distributions, {plugins} with fake plugins")
    print(f"{'command':32} {'CPU ms':>8} {'ratio':>6} {'bound':>6}")
    for case in cases:
        bound = f"{case.bound:.1f}" if case.bound else "-"
        print(f"{case.label:32} {case.median_ms:8.1f} {case.median_ms / baseline:6.2f} {bound:>6}")
    broken = [case for case in cases if case.bound and case.median_ms / baseline > case.bound]
    for case in broken:
        print(f"{case.label} is above its bound")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
