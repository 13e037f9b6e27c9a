"""Everything that is wrong with the plugins of this environment, for this project."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from retrai_core import (
    Catalog,
    Finding,
    PluginError,
    RunManager,
    RunPlan,
    UsageError,
    require_locked,
)

from .environment import environment_findings

LOCK_FILE = "retrai.lock"
_SCHEMA = 1


@dataclass(frozen=True)
class Diagnosis:
    """What the doctor found; `plan` is None where the configuration cannot be read."""

    plan: RunPlan | None
    findings: list[Finding]

    @property
    def is_well(self) -> bool:
        """No problem was found; notes are none."""
        return not any(finding.level == "problem" for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        """JSON values only; the keys are stable within one `schema`."""
        plan = self.plan
        parts = [] if plan is None else [asdict(part) for part in plan.plugins]
        return {
            "schema": _SCHEMA,
            "ok": self.is_well,
            "findings": [asdict(finding) for finding in self.findings],
            "plan": None if plan is None else {"model": plan.model, "parts": parts},
        }


async def examine(project: Path) -> Diagnosis:
    """Look at everything, without importing a plugin; whatever is broken becomes a finding."""
    findings: list[Finding] = []
    plan: RunPlan | None = None
    try:
        async with RunManager() as manager:
            plan = await manager.plan(project)
        catalog = Catalog.configured(project)
        findings += plan.findings
    except UsageError as error:
        findings.append(Finding("problem", "configuration", error.message, error.hint))
        catalog = Catalog.scan()
    used: set[tuple[str, str, str]] = set()
    if plan is not None:
        used = {(part.kind, part.name, part.dist) for part in plan.plugins}
    findings += environment_findings(catalog, used)
    findings += _lock_findings(project, catalog)
    unique = dict.fromkeys(findings)
    return Diagnosis(plan, sorted(unique, key=lambda found: found.level != "problem"))


def _lock_findings(project: Path, catalog: Catalog) -> list[Finding]:
    if not (project / LOCK_FILE).exists():
        return []
    try:
        require_locked(project, catalog)
    except UsageError as error:
        return [Finding("problem", LOCK_FILE, error.message, error.hint)]
    except PluginError as error:
        return [Finding("note", LOCK_FILE, error.message, error.hint)]
    return []
