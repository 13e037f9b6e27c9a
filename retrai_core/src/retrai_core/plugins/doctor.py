"""Everything that is wrong with the plugins of this environment, for this project."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..config_files import LOCK_FILE, read_plugin_settings
from ..errors import UsageError
from ..settings import load_settings
from .catalog import Catalog
from .environment import Finding, environment_findings
from .lock import current_lock, lock_differences, read_lock
from .plan import Plan, plan_run

_SCHEMA = 1


@dataclass(frozen=True)
class Diagnosis:
    """What the doctor found; `plan` is None where the configuration cannot be read."""

    plan: Plan | None
    findings: list[Finding]

    @property
    def is_well(self) -> bool:
        """No problem was found; notes are none."""
        return not any(finding.level == "problem" for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        """JSON values only; the keys are stable within one `schema`."""
        plan = self.plan
        return {
            "schema": _SCHEMA,
            "ok": self.is_well,
            "findings": [finding._asdict() for finding in self.findings],
            "plan": None
            if plan is None
            else {"model": plan.model, "parts": [part.to_json() for part in plan.parts]},
        }


def examine(project: Path) -> Diagnosis:
    """Look at everything, without importing a plugin; whatever is broken becomes a finding."""
    findings: list[Finding] = []
    plan: Plan | None = None
    try:
        settings = load_settings(project)
        disabled = read_plugin_settings(project).disabled
        catalog = Catalog.scan(pins=settings.config.pins, disabled=disabled)
        plan = plan_run(settings, catalog)
    except UsageError as error:
        findings.append(Finding("problem", "configuration", error.message, error.hint))
        catalog = Catalog.scan()
    used = [] if plan is None else plan.records()
    findings += [] if plan is None else plan.findings
    findings += environment_findings(catalog, used)
    findings += _lock_findings(project, catalog)
    unique = dict.fromkeys(findings)
    return Diagnosis(plan, sorted(unique, key=lambda found: found.level != "problem"))


def _lock_findings(project: Path, catalog: Catalog) -> list[Finding]:
    if not (project / LOCK_FILE).exists():
        return []
    try:
        differences = lock_differences(read_lock(project / LOCK_FILE), current_lock(catalog))
    except UsageError as error:
        return [Finding("problem", LOCK_FILE, error.message, error.hint)]
    mend = "install what it names, or `retrai plugins lock`"
    return [Finding("note", LOCK_FILE, difference, mend) for difference in differences]
