"""`retrai plugins doctor`: what is wrong with the plugins, and what a run here would use."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import click

from retrai_core import Finding, RunPlan, echo

from .doctor import examine


@click.command()
@click.option(
    "-C",
    "project",
    type=click.Path(path_type=Path),
    default=Path(),
    metavar="DIR",
    help="The project folder. Default: the current folder.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def doctor(project: Path, as_json: bool) -> int:
    """Find problems, and show what a run of this project would use.

    Imports no plugin. The exit code is 1 if there is a problem; notes do not count.
    """
    diagnosis = asyncio.run(examine(project))
    if as_json:
        echo(json.dumps(diagnosis.to_json(), indent=2, ensure_ascii=False))
        return 0 if diagnosis.is_well else 1
    if diagnosis.plan is not None:
        echo(f"a run in {project.resolve()} would use")
        echo(_plan(diagnosis.plan) + "\n")
    for finding in diagnosis.findings:
        echo(_line(finding))
    problems = sum(finding.level == "problem" for finding in diagnosis.findings)
    counted = f"{problems} problem{'' if problems == 1 else 's'}" if problems else "no problem"
    echo(f"{counted} found; no plugin was imported, `retrai plugins list --load` tries each")
    return 0 if diagnosis.is_well else 1


def _plan(plan: RunPlan) -> str:
    rows = [("KIND", "NAME", "DIST", "WHY")]
    rows += [(part.kind, part.name, part.dist, part.why) for part in plan.plugins]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
    return "\n".join(lines)


def _line(finding: Finding) -> str:
    message = finding.message.rstrip(".")
    if finding.about and finding.about not in message:
        message = f"{finding.about}: {message}"
    return f"{finding.level}: {message}" + (f"\n    fix: {finding.fix}" if finding.fix else "")
