"""What can be said of a Python environment without running the project in it."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from retrai_core import Sandbox, ToolError

from .installed import entries

PROBE_TIMEOUT_S = 30.0
# What lies in the current folder must not decide what is installed, nor stand in for a module here.
_PROBE = """
import sys
sys.path[:] = [entry for entry in sys.path if entry]
import importlib.util, json, site
name = sys.argv[1]
# The user's own folder counts from the moment at which it is there.
user = [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
print(json.dumps({
    "python": "%d.%d.%d" % sys.version_info[:3],
    "found": importlib.util.find_spec(name) is not None,
    "path": sys.path + [entry for entry in user if entry not in sys.path],
    "prefix": sys.prefix,
    "base_prefix": sys.base_prefix,
}))
"""


class ProbedEnvironment(BaseModel):
    """An interpreter's answer.

    Attributes:
        python: its version.
        found: the module that was asked for can be imported.
        path: its import path, without the current folder, with the user's own packages.
        prefix: the folder of its environment.
        base_prefix: the folder of the Python that the environment was made of.
    """

    model_config = ConfigDict(frozen=True)

    python: str
    found: bool
    path: list[str]
    prefix: str = ""
    base_prefix: str = ""


async def probe_environment(
    sandbox: Sandbox, python: str, module: str, cwd: Path | None = None
) -> ProbedEnvironment | str:
    """Ask an interpreter for its version, its path, and whether it has `module`.

    Returns:
        the answer, or one line that says why the interpreter gave none.
    """
    command = [python, "-c", _PROBE, module]
    try:
        done = await sandbox.run(command, timeout_s=PROBE_TIMEOUT_S, cwd=cwd)
    except ToolError as error:
        return f"{python} cannot be run: {error}"
    if done.timed_out:
        return f"{python} gave no answer within {PROBE_TIMEOUT_S:g} s"
    try:
        return ProbedEnvironment.model_validate_json(done.stdout)
    except ValidationError:
        said = (done.stderr.strip().splitlines() or ["no output"])[-1]
        return f"{python} cannot be used (exit status {done.exit_code}): {said}"


def why_unusable(found: ProbedEnvironment | str, python: str, module: str) -> str | None:
    """Why an interpreter cannot run `module`, by its answer; None where it can."""
    if isinstance(found, str):
        return found
    if found.found:
        return None
    return f"{module} is not installed for {python}; {how_to_install(python, module)}"


def how_to_install(python: str, package: str) -> str:
    """What to type to install a package for the project; the system's own Python may refuse."""
    command = f"{python} -m pip install {package}"
    if not (Path(python).parent.parent / "pyvenv.cfg").exists():
        command = f"{python} -m venv .venv && .venv/bin/pip install {package}"  # retrai finds .venv
    return f"install it with: {command}"


_NOTES = (".dist-info", ".egg-info")
"""How the folders end in which an installer notes what it has installed."""


def packages_fingerprint(path: list[str]) -> str:
    """A digest of what is installed in the folders of an import path.

    Names and change times of each folder's entries are looked at, nothing is opened: a package that
    is added, removed or upgraded changes it. What is imported for the first time does not, although
    Python then puts byte code into its folder.
    """
    digest = hashlib.sha256()
    for folder in path:
        if os.path.basename(folder) not in ("site-packages", "dist-packages"):
            continue
        for entry in entries(folder):
            with suppress(OSError):  # gone since it was listed
                status = entry.stat(follow_symlinks=False)
                is_package = entry.is_dir() and not entry.name.endswith(_NOTES)
                changed = status.st_ino if is_package else status.st_mtime_ns
                if entry.name != "__pycache__":
                    digest.update(f"{folder}/{entry.name}:{changed}\n".encode())
    return digest.hexdigest()
