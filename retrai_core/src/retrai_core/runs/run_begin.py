"""Checks and prepares a run's record before the run begins or resumes."""

from __future__ import annotations

from collections.abc import Mapping

from ..contracts.record import UNDER_WAY, RunRecord
from ..errors import UsageError
from .run_end import config_of, limits_of


def prepare_record(record: RunRecord, limits: Mapping[str, object]) -> None:
    """Give a record the limits that hold from now on, or say why nothing can go on.

    Args:
        record: the run's; its configuration is changed.
        limits: settings with their new values; None leaves one as it was.

    Raises:
        UsageError: it is under way, ended for good, has no iterations left, or its project is gone.
    """
    if record.status in UNDER_WAY:
        raise UsageError(
            f"run {record.id} is under way already", hint=f"`retrai runs follow {record.id}`"
        )
    if not record.resumable:
        raise UsageError(
            f"run {record.id} has ended: {record.status}", hint="`retrai run` starts a new one"
        )
    config = config_of(record, limits)
    record.config = config.model_dump(mode="json", exclude_unset=True)
    record.limits = limits_of(config)
    limit = config.max_iterations
    # One that was stopped may have made its last iteration and not yet said how that ended.
    if record.iterations >= limit and record.status != "interrupted":
        raise UsageError(
            f"run {record.id} has used its {limit} iterations",
            hint=f"`retrai runs resume {record.id} -n {limit + 10}` gives it more",
        )
    if not record.project.is_dir():
        raise UsageError(f"the project {record.project} of run {record.id} is gone")
