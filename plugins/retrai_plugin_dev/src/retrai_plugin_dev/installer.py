"""The installer of this environment, found without asking the user: pip, uv or pipx."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
import tomllib
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, cast

from retrai_core import UsageError


class Installer(NamedTuple):
    """How this environment is changed.

    Attributes:
        name: `pip`, `uv` or `pipx`.
        command: what adds or removes the distributions.
    """

    name: str
    command: list[str]


def find_installer(distributions: Sequence[str], *, remove: bool = False) -> Installer:
    """The installer that made this environment, or one that can work in it, with its command.

    Args:
        distributions: what is to be installed or removed.
        remove: they are to be removed.

    Raises:
        UsageError: this environment is another's to change, or has no installer; the hint is the
            command to type.
    """
    prefix = Path(sys.prefix)
    if (prefix / "pipx_metadata.json").is_file():
        return _pipx(prefix, distributions, remove)
    if (prefix / "uv-receipt.toml").is_file():
        raise _uv_tool(prefix, distributions, remove)
    verb = "uninstall" if remove else "install"
    uv = shutil.which("uv")
    has_pip = find_spec("pip") is not None
    if uv and (not has_pip or _made_by_uv(prefix)):
        return Installer("uv", [uv, "pip", verb, "--python", sys.executable, *distributions])
    if has_pip:
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", verb]
        return Installer("pip", [*pip, "--yes" if remove else "--no-input", *distributions])
    raise UsageError(
        f"there is neither pip nor uv to change {prefix} with",
        hint=f"`{shlex.join([sys.executable, '-m', 'ensurepip'])}` brings pip",
    )


def _pipx(prefix: Path, distributions: Sequence[str], remove: bool) -> Installer:
    try:
        metadata = json.loads((prefix / "pipx_metadata.json").read_text(encoding="utf-8"))
        package = str(metadata["main_package"]["package"])
    except (OSError, ValueError, KeyError, TypeError):
        package = prefix.name  # pipx names the environment after its package
    verb = "uninject" if remove else "inject"
    pipx = shutil.which("pipx")
    if pipx is None:
        command = shlex.join(["pipx", verb, package, *distributions])
        raise UsageError(
            f"pipx made this environment ({prefix}), and it is not on PATH",
            hint=f"`{command}` does it",
        )
    return Installer("pipx", [pipx, verb, package, *distributions])


def _uv_tool(prefix: Path, distributions: Sequence[str], remove: bool) -> UsageError:
    """`uv tool` puts an environment together anew each time: all that it holds must be named."""
    try:
        receipt = tomllib.loads((prefix / "uv-receipt.toml").read_text(encoding="utf-8"))
        entries = cast("list[dict[str, Any]]", receipt["tool"]["requirements"])
        names = [f"{entry['name']}{entry.get('specifier', '')}" for entry in entries]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        names = [prefix.name]
    tool, *others = names or [prefix.name]
    wanted = [name for name in others if name not in distributions]
    wanted += [] if remove else list(distributions)
    command = ["uv", "tool", "install", tool]
    for name in wanted:
        command += ["--with", name]
    return UsageError(
        "`uv tool` made this environment, and would undo any change at its next upgrade",
        hint=f"`{shlex.join(command)}` does it",
    )


def _made_by_uv(prefix: Path) -> bool:
    try:
        config = (prefix / "pyvenv.cfg").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    return any(line.partition("=")[0].strip() == "uv" for line in config.splitlines())
