"""Where node, npm and bun are, what they need to run, and how to get them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

HOW_TO_INSTALL_NODE = "install Node.js: https://nodejs.org, or Debian's `apt-get install npm`"
HOW_TO_INSTALL_BUN = "install bun: https://bun.sh, or `npm install -g bun`"


def find_bun() -> str | None:
    """bun on PATH, else where its own installer puts it."""
    on_path = shutil.which("bun")
    if on_path is not None:
        return on_path
    home = Path(os.environ.get("BUN_INSTALL") or Path.home() / ".bun")
    usual = home / "bin" / "bun"
    return str(usual) if os.access(usual, os.X_OK) else None


def program_folders(*programs: str) -> list[Path]:
    """What must be readable: where each program really lies, with the installation around it."""
    found: list[Path] = []
    for program in programs:
        for path in (Path(program), Path(program).resolve()):
            # `.../bin/node` has its npm in `.../lib`; a system's own folders are readable anyhow.
            root = path.parent.parent if path.parent.name == "bin" else path.parent
            if root not in (Path("/"), Path("/usr"), Path("/usr/local")):
                found.append(root)
    return list(dict.fromkeys(found))


def user_configuration() -> list[Path]:
    """What npm and bun read of the user's own, whatever the project: a script's shell, preloads."""
    home = Path.home()
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    return [home / ".npmrc", home / ".bunfig.toml", config / ".bunfig.toml"]
