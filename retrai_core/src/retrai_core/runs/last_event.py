"""Writes the last event of a run: its holder, or a process that finds the holder dead."""

from __future__ import annotations

import os
import socket
from functools import partial
from pathlib import Path

from ..bus import EventBus
from ..contracts.record import UNDER_WAY, RunRecord
from ..contracts.store import RunStore
from ..storage.crash_recovery import KILLED, interrupted
from .holder import Holder, read_all

LEASE_S = 60.0
"""How long a claim holds without a sign of life, in a store that cannot see who is dead."""


def worker_name() -> str:
    """Who holds a claim, for people."""
    return f"{socket.gethostname()}:{os.getpid()}"


def publish_end(holder: Holder) -> None:
    """Publish how the run ended, as its record says.

    Raises:
        RetraiError: events cannot be kept any more.
    """
    record = holder.record
    holder.publish(
        "run_end",
        status=record.status,
        reason=record.reason,
        exit_code=record.exit_code,
        next_step=record.next_step,
        total_tokens=record.tokens.total,
        estimated_cost_usd=record.cost_usd,
    )


async def end_killed_run(
    store: RunStore, state: Path, run_id: str, reason: str = KILLED
) -> RunRecord | None:
    """Write the end of a run whose holder is dead; None where somebody works on it.

    A run that is `pending` or has ended properly is left as it is.
    """
    claim = await store.claim(run_id, worker_name(), LEASE_S)
    if claim is None:
        return None
    try:
        record = await store.load(run_id)
        if record.status == "pending":
            return record
        append = partial(store.append_events, claim)
        last = await append([])
        last_events = await store.read_events(run_id, max(0, last - 1))
        is_told = bool(last_events) and last_events[-1].kind == "run_end"
        if is_told and record.status not in UNDER_WAY:
            return record
        if record.status in UNDER_WAY:
            record = interrupted(record, await read_all(store, run_id), reason)
        elif record.reason == KILLED:  # as the store has found it
            record.reason = reason
        holder = Holder(store, claim, record, state / "runs" / run_id, EventBus(append, last))
        for question in await store.questions(run_id):
            if question.state == "open":
                await store.put_question(claim, question.model_copy(update={"state": "withdrawn"}))
        await holder.save()
        publish_end(holder)
        await holder.bus.aclose()
        return record
    finally:
        await store.release(claim)
