"""What the commands have left in the test's own state folder."""

from __future__ import annotations

import asyncio

from retrai_core import FilesStore, RunRecord


def kept_runs() -> list[RunRecord]:
    """Every run whose record can be read, newest first."""
    return [run for run in asyncio.run(FilesStore().list()) if isinstance(run, RunRecord)]


def kept_run(run_id: str) -> RunRecord:
    """The record of one run."""
    return asyncio.run(FilesStore().load(run_id))
