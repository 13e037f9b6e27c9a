"""Runs a program with both of its output streams in one, in the order of writing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from retrai_core import Completed, Limits, Sandbox

OUTPUT_BYTES = 20_000_000
_MERGE = 'exec "$@" 2>&1'


async def run_merged(
    sandbox: Sandbox,
    command: Sequence[str],
    *,
    timeout_s: float,
    cwd: Path,
    env: Mapping[str, str],
    writable: Sequence[Path] = (),
    readable: Sequence[Path] = (),
) -> Completed:
    """Like `Sandbox.run`, with everything in `stdout`."""
    return await sandbox.run(
        ["sh", "-c", _MERGE, "sh", *command],
        timeout_s=timeout_s,
        cwd=cwd,
        env=env,
        limits=Limits(output_bytes=OUTPUT_BYTES),
        writable=writable,
        readable=readable,
    )
