"""Checkpoints in SQLite, read back strictly: a forged file cannot name code to run."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiosqlite
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver


class _Checkpoints(AsyncSqliteSaver):
    """LangGraph's saver with small channel versions.

    Each checkpoint holds the version of every channel twice; as the stock saver's 50 characters
    they take more room than the rest of the checkpoint.
    """

    def get_next_version(self, current: Any, channel: None) -> Any:
        """The next version: a counter, which is what LangGraph's base class does."""
        return int(current or 0) + 1


@asynccontextmanager
async def open_checkpoints(path: Path) -> AsyncGenerator[AsyncSqliteSaver]:
    """The run's checkpointer; closed on the way out.

    `allowed_msgpack_modules=None` is the strict mode: only LangGraph's list of safe types is
    rebuilt. It must be passed here, the environment variable is read when LangGraph is imported.
    """
    serializer = JsonPlusSerializer(allowed_msgpack_modules=None)
    async with aiosqlite.connect(path) as connection:
        yield _Checkpoints(connection, serde=serializer)
