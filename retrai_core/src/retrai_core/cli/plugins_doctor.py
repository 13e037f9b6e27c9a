"""`retrai plugins doctor`: what is wrong with the plugins, and what a run here would use."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .columns import aligned
from .output import echo
from .project_option import project_option

if TYPE_CHECKING:
    from ..plugins.doctor import Plan
    from ..plugins.environment import Finding


@click.command()
@project_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def doctor(project: Path, as_json: bool) -> int:
    """Look for what is wrong, and show what a run of this project would use.

    Imports no plugin. Exit code 1 when there is a problem; a note is none.
    """
    from ..plugins.doctor import examine

    diagnosis = examine(project)
    if as_json:
        import json

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


def _plan(plan: Plan) -> str:
    rows = [("KIND", "NAME", "DIST", "WHY")]
    rows += [(part.kind, part.name, part.dist, why) for part, why in plan.parts]
    return aligned(rows)


def _line(finding: Finding) -> str:
    message = finding.message.rstrip(".")
    if finding.about and finding.about not in message:
        message = f"{finding.about}: {message}"
    return f"{finding.level}: {message}" + (f"\n    mend: {finding.mend}" if finding.mend else "")
