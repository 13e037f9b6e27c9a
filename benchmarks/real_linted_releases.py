"""Cleared lint findings in releases of published packages: does retrai accept what authors did?

    python benchmarks/real_linted_releases.py [--only NAME ...] [--cache FOLDER]

Each is a package and two of its releases. The project is the later release with the sources of the
earlier one. Its configuration selects those of ruff's default rules that find something in it, and
nothing in the later release. The run's model writes all later sources, and the goal is lint. Prints
a line for each, with what the record says against it. The packages come from the package index.
Exits with 1 when a run is not achieved.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from real_releases import argument_parser, play_all, project_of, run_and_tell, with_older_sources
from real_typed_releases import wheel

RELEASES = (
    ("altair", "5.4.1", "5.5.0"),
    ("black", "26.5.1", "26.10.0"),
    ("cattrs", "25.1.1", "25.2.0"),
    ("celery", "5.6.3", "5.7.0"),
    ("click", "8.4.2", "8.5.0"),
    ("cssselect", "1.1.0", "1.2.0"),
    ("dynaconf", "3.2.13", "3.3.0"),
    ("flask", "3.0.0", "3.0.1"),
    ("flask", "3.0.3", "3.1.0"),
    ("h11", "0.11.0", "0.12.0"),
    ("h11", "0.12.0", "0.13.0"),
    ("httpcore", "1.0.6", "1.0.7"),
    ("idna", "3.14", "3.15"),
    ("jinja2", "3.0.3", "3.1.0"),
    ("kombu", "5.5.4", "5.6.0"),
    ("markdown-it-py", "3.0.0", "4.0.0"),
    ("mkdocs", "1.5.2", "1.5.3"),
    ("networkx", "3.2.1", "3.3"),
    ("nltk", "3.10.3", "3.10.4"),
    ("pluggy", "0.13.1", "1.0.0"),
    ("plumbum", "1.9.0", "1.10.0"),
    ("pylint", "4.0.10", "4.1.1"),
    ("requests", "2.33.1", "2.34.0"),
    ("sqlparse", "0.6.0", "0.6.1"),
    ("tabulate", "0.8.10", "0.9.0"),
    ("urllib3", "2.7.0", "2.8.0"),
)
"""Releases that add no suppression comments and drop no files; the goal refuses those."""


def main() -> int:
    """Play every pair; the exit status says whether all were accepted."""
    options = argument_parser("Cleared lint findings in releases of packages.").parse_args()
    return play_pairs(RELEASES, play, options)


def play_pairs(
    releases: Iterable[tuple[str, str, str]],
    play_pair: Callable[[str, str, str, Path], tuple[bool, str]],
    options: argparse.Namespace,
) -> int:
    """Play pairs of releases: a name and two versions, with the folder to keep them in."""
    return play_all(
        (f"{name} {before} -> {after}", partial(play_pair, name, before, after, options.cache))
        for name, before, after in releases
        if not options.only or name in options.only
    )


def play(name: str, before: str, after: str, cache: Path) -> tuple[bool, str]:
    """Whether the run of a pair was achieved, and what there is to say of it."""
    older, newer = (wheel(name, each, cache) for each in (before, after))
    with project_of(newer) as project:
        calls = list(with_older_sources(project, older))
        rules = sorted(rules_with_findings(project) - rules_with_findings(newer))
        if not rules:
            return False, "no rule lost all of its findings"
        selected = json.dumps(rules)
        (project / "ruff.toml").write_text(f"[lint]\nselect = {selected}\n", encoding="utf-8")
        achieved, told = run_and_tell("lint", project, Path(sys.executable), calls, [])
    return achieved, f"{', '.join(rules)}: {told}"


def rules_with_findings(tree: Path) -> set[str]:
    """The rules of ruff that find something in a folder."""
    command = ["ruff", "check", "--isolated", "--no-cache", "--quiet", "--output-format=json"]
    done = subprocess.run([*command, str(tree)], capture_output=True, check=False)
    return {found["code"] for found in json.loads(done.stdout) if found["code"]}


if __name__ == "__main__":
    sys.exit(main())
