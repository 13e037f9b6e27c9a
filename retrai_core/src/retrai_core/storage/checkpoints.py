"""Checkpoints in SQLite: ordered by when they were written, and deserialised strictly.

LangGraph finds the latest one by its id, which contains the time: if a clock was ahead, it would
skip every later checkpoint. SQLite's row number does not depend on a clock, and a replaced
checkpoint gets a new one. A forged file cannot name code to run.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
    get_checkpoint_id,
)
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.utils import search_where


class Checkpoints(SqliteSaver):
    """LangGraph's saver without its hops between threads, and with small channel versions.

    LangGraph's asynchronous saver changes threads for every statement, cursor and commit: twenty
    times an iteration, which takes longer than the writes themselves. Here writes happen at once,
    as in the journal and the run log; a read, which may be long, takes one hop.

    Args:
        connection: to the run's own database.
        may_write: called before anything is written; raises where it may not be.
    """

    def __init__(self, connection: sqlite3.Connection, may_write: Callable[[], object]) -> None:
        # The strict mode: only LangGraph's list of safe types is rebuilt. It must be passed here,
        # the environment variable is read when LangGraph is imported.
        super().__init__(connection, serde=JsonPlusSerializer(allowed_msgpack_modules=None))
        self._may_write = may_write

    def get_next_version(self, current: Any, channel: None) -> Any:
        """The next version: a counter, which is what LangGraph's base class does.

        Each checkpoint holds the version of every channel twice; as this saver's 50 characters they
        take more room than the rest of the checkpoint.
        """
        return int(current or 0) + 1

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint that the configuration names, or the one that was written last."""
        if get_checkpoint_id(config):
            return super().get_tuple(config)
        named = {"checkpoint_ns": "", **config.get("configurable", {})}
        latest = self._found({"configurable": named}, limit=1)
        return super().get_tuple(latest[0]) if latest else None

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - LangGraph's name
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Checkpoints, last written first; with `before`, those that were written earlier."""
        for found in self._found(config, filter, before, limit):
            checkpoint = super().get_tuple(found)
            if checkpoint is not None:
                yield checkpoint

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Keep a checkpoint as the latest."""
        self._may_write()
        return super().put(config, checkpoint, metadata, new_versions)

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Keep what a step has written beside a checkpoint."""
        self._may_write()
        super().put_writes(config, writes, task_id, task_path)

    def delete_thread(self, thread_id: str) -> None:
        """Remove the checkpoints of a thread."""
        self._may_write()
        super().delete_thread(thread_id)

    def _found(
        self,
        config: RunnableConfig | None,
        metadata: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Sequence[RunnableConfig]:
        """Which checkpoints there are, the one that was written last first."""
        where, values = search_where(config, metadata)
        values = [*values]
        if before is not None and (last := get_checkpoint_id(before)):
            # One that is not there has nothing before it.
            row = "rowid < (SELECT max(rowid) FROM checkpoints WHERE checkpoint_id = ?)"
            where, values = f"{where} AND {row}" if where else f"WHERE {row}", [*values, last]
        query = (
            "SELECT thread_id, checkpoint_ns, checkpoint_id FROM checkpoints "
            f"{where} ORDER BY rowid DESC LIMIT ?"
        )
        with self.cursor(transaction=False) as cursor:
            rows = cursor.execute(query, (*values, -1 if limit is None else limit)).fetchall()
        names = ("thread_id", "checkpoint_ns", "checkpoint_id")
        return [{"configurable": dict(zip(names, row, strict=True))} for row in rows]

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """See `get_tuple`."""
        return await asyncio.to_thread(self.get_tuple, config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - LangGraph's name
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """See `list`."""

        def found() -> list[CheckpointTuple]:
            return [*self.list(config, filter=filter, before=before, limit=limit)]

        for checkpoint in await asyncio.to_thread(found):
            yield checkpoint

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """See `put`."""
        return self.put(config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """See `put_writes`."""
        self.put_writes(config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        """See `delete_thread`."""
        await asyncio.to_thread(self.delete_thread, thread_id)

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """See `get_delta_channel_history`."""
        return await asyncio.to_thread(
            lambda: self.get_delta_channel_history(config=config, channels=channels)
        )


@asynccontextmanager
async def open_checkpoints(
    path: Path, may_write: Callable[[], object] = lambda: None
) -> AsyncGenerator[Checkpoints]:
    """The run's checkpointer; closed on the way out.

    Args:
        path: the database; made when missing.
        may_write: called before anything is written; raises where it may not be.
    """
    # The saver has a lock of its own, so its threads may share the connection.
    connection = await asyncio.to_thread(sqlite3.connect, path, check_same_thread=False)
    try:
        saver = Checkpoints(connection, may_write)
        await asyncio.to_thread(saver.setup)
        # Whatever was committed outlives the process, however it ends. Only a power cut can take
        # the latest steps, never the file; the stock setting waits for the disk at every commit.
        connection.execute("PRAGMA synchronous=NORMAL")
        yield saver
    finally:
        await asyncio.to_thread(connection.close)
