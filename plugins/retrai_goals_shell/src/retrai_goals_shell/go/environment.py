"""The Go tool chain that a check uses, and the folders it needs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

HOW_TO_INSTALL = "install Go: https://go.dev/dl, or Debian's `apt-get install golang-go`"


def module_folders() -> list[Path]:
    """What must be readable: the modules that were downloaded."""
    return [_modules()] if _modules().is_dir() else []


def go_environment(cache: Path, offline: bool) -> Mapping[str, str]:
    """Variables for go: results are built for this run, settings from outside do not count.

    Args:
        cache: the folder for what is built.
        offline: whether go may only use modules that were downloaded already.
    """
    return {
        "GOCACHE": str(cache),
        "GOMODCACHE": str(_modules()),
        "GOPATH": str(_path()),
        # `go env -w` writes to a file in the user's folder, which a command could do as well.
        "GOENV": "off",
        "GOFLAGS": "",
        "GOTELEMETRY": "off",
        **({"GOPROXY": "off"} if offline else {}),
    }


def _path() -> Path:
    given = os.environ.get("GOPATH", "").split(os.pathsep)[0]
    return Path(given) if given else Path.home() / "go"


def _modules() -> Path:
    given = os.environ.get("GOMODCACHE")
    return Path(given) if given else _path() / "pkg" / "mod"
