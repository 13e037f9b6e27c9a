"""Options of the sandbox `bwrap`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from retrai_core import ProcessOptions


class BwrapOptions(ProcessOptions):
    """Options of the `bwrap` sandbox, beside those of every process."""

    network: Literal["auto", "on", "off"] = Field(
        default="auto",
        description="whether commands can use the network; `auto`: only if the goal "
        "or a tool that starts programs needs it",
    )
    show: list[str] = Field(
        default_factory=list[str],
        description="additional folders or files in the home folder or /tmp that commands can read",
    )
    hide: list[str] = Field(
        default_factory=list[str],
        description="additional folders or files that commands cannot read",
    )
    processes: int = Field(
        default=1024,
        ge=16,
        description="maximum processes and threads of a run's commands at the same time",
    )
    total_memory_bytes: int | None = Field(
        default=None,
        gt=0,
        description="maximum memory of all processes of a run's commands, in bytes; default: "
        "80% of the machine's memory",
    )
    disk_bytes: int = Field(
        default=20 * 2**30,
        gt=0,
        description="maximum decrease of the disk's free space while a command runs, in bytes",
    )
