"""The Rust tool chain that a check uses, and the folders it needs."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from retrai_goal_support import text_of

HOW_TO_INSTALL = "install Rust: https://rustup.rs, or Debian's `apt-get install cargo`"


@asynccontextmanager
async def without_new_lock(folder: Path) -> AsyncGenerator[None]:
    """Within it cargo may write a `Cargo.lock`; one that was not there before is removed."""
    lock = folder / "Cargo.lock"
    is_there = await asyncio.to_thread(lock.exists)
    try:
        yield
    finally:
        if not is_there:
            await asyncio.to_thread(lock.unlink, missing_ok=True)


def tool_chain_folders() -> list[Path]:
    """What must be readable: cargo's home (registry, programs) and rustup's (compilers)."""
    return list(_homes().values())


def configuration_files(project: Path) -> list[Path]:
    """Where cargo reads configuration outside of the project: its home, the folders above."""
    homes = [path for name, path in _homes().items() if name == "CARGO_HOME"]
    folders = [*homes, *(above / ".cargo" for above in project.parents)]
    return [folder / name for folder in folders for name in ("config.toml", "config")]


def cargo_environment(build: Path, offline: bool) -> Mapping[str, str]:
    """Variables for cargo: nothing is built inside the project, nothing is asked of the network.

    Args:
        build: the folder that cargo builds in.
        offline: whether cargo may only use what was fetched already.
    """
    return {
        **{name: str(path) for name, path in _homes().items()},
        "CARGO_TARGET_DIR": str(build),
        "CARGO_TERM_COLOR": "never",
        "CARGO_TERM_PROGRESS_WHEN": "never",
        "CARGO_TERM_QUIET": "false",
        "CARGO_TERM_VERBOSE": "false",
        "CARGO_NET_OFFLINE": "true" if offline else "false",
    }


def forget_own_builds(build: Path) -> None:
    """Let cargo build again what has its sources in the project; fetched crates stay built.

    cargo compares times of modification. They say nothing where a copy took the project's place.

    Args:
        build: the folder that cargo builds in.
    """
    root = os.path.realpath(build)
    fingerprints = list(build.glob("**/.fingerprint/*"))
    # A test may have left a symlink there.
    fingerprints = [one for one in fingerprints if os.path.realpath(one).startswith(root + os.sep)]
    own = {
        each.name.rpartition("-")[0]
        for each in fingerprints
        for file in each.glob("*.json")
        if "CheckDepInfo" in text_of(file)
    }
    for each in fingerprints:
        # The build script's too, whose times cargo compares as well.
        if each.name.rpartition("-")[0] in own:
            shutil.rmtree(each, ignore_errors=True)


def _homes() -> dict[str, Path]:
    """The folders of the tool chain that are there, by the variables that name them."""
    usual = {"CARGO_HOME": ".cargo", "RUSTUP_HOME": ".rustup"}
    given = {n: Path(os.environ.get(n) or Path.home() / folder) for n, folder in usual.items()}
    return {name: path.resolve() for name, path in given.items() if path.is_dir()}
