"""Options of the sandbox `bwrap`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from retrai_core import ProcessOptions


class BwrapOptions(ProcessOptions):
    """Options of the `bwrap` sandbox, beside those of every process."""

    network: Literal["auto", "on", "off"] = Field(
        default="auto",
        description="whether commands reach the network; `auto`: only where the goal needs it, or "
        "a tool that starts programs does",
    )
    show: list[str] = Field(
        default_factory=list[str],
        description="more folders or files, of the home folder or /tmp, that commands may read",
    )
    hide: list[str] = Field(
        default_factory=list[str],
        description="more folders or files that commands may not read",
    )
    processes: int = Field(
        default=1024, ge=16, description="processes and threads of a run's commands at once"
    )
    total_memory_bytes: int | None = Field(
        default=None,
        gt=0,
        description="memory of all processes of a run's commands, in bytes; four fifths of the "
        "machine's when left out",
    )
    disk_bytes: int = Field(
        default=20 * 2**30,
        gt=0,
        description="how much the free space of the project's disk may shrink while a command runs",
    )
