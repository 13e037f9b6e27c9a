"""Cleared findings of eslint in releases of packages: does retrai accept what authors did?

    python benchmarks/real_linted_node_releases.py [--only NAME ...] [--cache FOLDER]

Like `real_linted_releases.py`, with packages of npm. The configuration selects those of eslint's
own rules that find something in the earlier release, and nothing in the later one. The run's model
writes the sources of the later release, and the goal is lint. Prints a line for each. The packages,
and eslint, come from npm's registry. Exits with 1 when a run is not achieved.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from broken_packages import call
from real_linted_releases import play_pairs
from real_node_releases import tarball, with_older_sources
from real_releases import argument_parser, project_of, run_and_tell

RELEASES = (
    ("archiver", "7.0.1", "8.0.0"),
    ("async", "3.2.3", "3.2.4"),
    ("async", "3.2.4", "3.2.5"),
    ("axios", "1.19.0", "1.20.0"),
    ("body-parser", "2.2.2", "2.3.0"),
    ("body-parser", "2.3.0", "2.4.0"),
    ("boxen", "7.1.1", "8.0.0"),
    ("boxen", "8.0.1", "9.0.0"),
    ("braces", "2.3.2", "3.0.0"),
    ("braces", "3.0.2", "3.0.3"),
    ("chokidar", "4.0.3", "5.0.0"),
    ("chokidar", "5.0.0", "6.0.0"),
    ("config", "4.4.1", "4.4.2"),
    ("connect", "3.6.5", "3.6.6"),
    ("connect", "3.6.6", "3.7.0"),
    ("cors", "2.8.2", "2.8.3"),
    ("csv-stringify", "6.8.2", "6.8.3"),
    ("deepmerge", "4.2.2", "4.3.0"),
    ("ejs", "6.0.1", "7.0.1"),
    ("ejs", "7.0.1", "7.0.2"),
    ("estraverse", "4.2.0", "4.3.0"),
    ("etag", "1.8.0", "1.8.1"),
    ("finalhandler", "2.0.0", "2.1.0"),
    ("flat", "5.0.0", "5.0.1"),
    ("forever", "4.0.0", "4.0.1"),
    ("fresh", "0.5.0", "0.5.1"),
    ("fresh", "0.5.2", "1.0.0"),
    ("handlebars", "4.7.8", "4.7.9"),
    ("http-errors", "1.7.3", "1.8.0"),
    ("http-errors", "1.8.1", "2.0.0"),
    ("jsonwebtoken", "8.5.1", "9.0.0"),
    ("markdown-it", "14.3.2", "14.3.3"),
    ("markdown-it", "14.3.3", "15.0.0"),
    ("micromatch", "4.0.5", "4.0.6"),
    ("morgan", "1.9.1", "1.10.0"),
    ("mustache", "3.2.1", "4.0.0"),
    ("needle", "3.4.0", "3.4.1"),
    ("negotiator", "0.6.1", "0.6.2"),
    ("negotiator", "1.0.0", "1.1.0"),
    ("object-path", "0.11.3", "0.11.4"),
    ("passport", "0.5.2", "0.5.3"),
    ("shelljs", "0.9.2", "0.10.0"),
)
"""Releases that add no suppression comments; the goal refuses those."""
ESLINT = "eslint@9"
NOT_LINTED = ("**/*.min.js", "**/dist/**", "**/umd/**")
CONFIGURATION = "eslint.config.mjs"


def main() -> int:
    """Play every pair; the exit status says whether all were accepted."""
    options = argument_parser("Cleared findings of eslint in releases of packages.").parse_args()
    modules = (options.cache / "eslint").resolve()
    modules.mkdir(parents=True, exist_ok=True)
    call(
        ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(modules), ESLINT]
    )
    os.environ["PATH"] = f"{modules / 'node_modules/.bin'}{os.pathsep}{os.environ['PATH']}"
    return play_pairs(RELEASES, play, options)


def play(name: str, before: str, after: str, cache: Path) -> tuple[bool, str]:
    """Whether the run of a pair was achieved, and what there is to say of it."""
    older, newer = (tarball(name, version, cache) for version in (before, after))
    with project_of(newer) as project:
        for path in [*project.glob(".eslintrc*"), *project.glob("eslint.config.*")]:
            path.unlink()
        every = every_rule(cache / "eslint")
        found_later = rules_with_findings(project, every)
        calls = list(with_older_sources(project, older))
        rules = sorted(rules_with_findings(project, every) - found_later)
        if not rules:
            return False, "no rule lost all of its findings"
        configure(project, rules)
        achieved, told = run_and_tell("lint", project, Path(sys.executable), calls, [])
    return achieved, f"{', '.join(rules)}: {told}"


def every_rule(modules: Path) -> list[str]:
    """The names of eslint's own rules that its configuration `all` has."""
    script = 'console.log(JSON.stringify(Object.keys(require("@eslint/js").configs.all.rules)))'
    return json.loads(subprocess.check_output(["node", "--eval", script], cwd=modules))


def configure(project: Path, rules: Iterable[str]) -> None:
    """Have eslint look for what some rules find."""
    chosen = {"rules": dict.fromkeys(rules, "error")}
    chosen["linterOptions"] = {"reportUnusedDisableDirectives": "off"}
    texts = [json.dumps(each) for each in ({"ignores": NOT_LINTED}, chosen)]
    (project / CONFIGURATION).write_text(f"export default [{', '.join(texts)}];\n")


def rules_with_findings(project: Path, rules: Iterable[str]) -> set[str]:
    """Those of some rules that find something in a project."""
    configure(project, rules)
    command = ["eslint", "--format=json", "."]
    done = subprocess.run(command, cwd=project, capture_output=True, check=False)
    (project / CONFIGURATION).unlink()
    if done.returncode > 1:
        sys.exit(f"eslint failed:\n{done.stderr.decode()}")
    messages = [each for file in json.loads(done.stdout) for each in file["messages"]]
    return {each["ruleId"] for each in messages if each["ruleId"]}


if __name__ == "__main__":
    sys.exit(main())
