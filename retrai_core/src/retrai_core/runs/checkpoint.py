"""Checkpoints in SQLite, read back strictly: a forged file cannot name code to run."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
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
)
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver


class Checkpoints(SqliteSaver):
    """LangGraph's saver without its hops between threads, and with small channel versions.

    LangGraph's asynchronous saver hops for every statement, cursor and commit: twenty times an
    iteration, which costs more than the writing itself. Here what is written is written at once,
    as the journal and the run log are; what is read, which may be long, takes one hop.
    """

    def get_next_version(self, current: Any, channel: None) -> Any:
        """The next version: a counter, which is what LangGraph's base class does.

        Each checkpoint holds the version of every channel twice; as this saver's 50 characters they
        take more room than the rest of the checkpoint.
        """
        return int(current or 0) + 1

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
async def open_checkpoints(path: Path) -> AsyncGenerator[Checkpoints]:
    """The run's checkpointer; closed on the way out.

    `allowed_msgpack_modules=None` is the strict mode: only LangGraph's list of safe types is
    rebuilt. It must be passed here, the environment variable is read when LangGraph is imported.
    """
    serializer = JsonPlusSerializer(allowed_msgpack_modules=None)
    # The saver has a lock of its own, so its threads may share the connection.
    connection = await asyncio.to_thread(sqlite3.connect, path, check_same_thread=False)
    try:
        saver = Checkpoints(connection, serde=serializer)
        await asyncio.to_thread(saver.setup)
        # Whatever was committed outlives the process, however it ends. Only a power cut can take
        # the latest steps, never the file; the stock setting waits for the disk at every commit.
        connection.execute("PRAGMA synchronous=NORMAL")
        yield saver
    finally:
        await asyncio.to_thread(connection.close)
