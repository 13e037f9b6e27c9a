"""What bounds the number of a command's processes where no control group does."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress

_RLIMITS_BY_NAMESPACE = (5, 14)
"""Since this kernel a process limit counts what is in the namespace, not all that the user runs."""
_NUMBERS_BY_NAMESPACE = (6, 14)
"""Since this kernel `kernel.pid_max` is the namespace's own. Before, writing it changes the whole
machine's, so nothing else may decide whether to write."""
_RESERVED = 300
"""Process numbers that the kernel gives out in the first round only (RESERVED_PIDS)."""
_SYSTEM = "/usr/bin:/bin"


def process_limit(count: int) -> list[str]:
    """Words before a command that limit it by setrlimit(2): of every user but root."""
    prlimit = shutil.which("prlimit", path=_SYSTEM)
    if os.getuid() == 0 or prlimit is None or not _has_kernel(_RLIMITS_BY_NAMESPACE):
        return []
    return [prlimit, f"--nproc={count}:{count}", "--"]


def few_numbers(count: int, *, as_root: bool = False) -> list[str]:
    """Words before bubblewrap that limit what is in it, of root too: process numbers run out.

    A namespace around bubblewrap has numbers for `count` processes and threads, and for up to 300
    more until the first round through them is over. The command's own namespace, within that one,
    has as many as ever, so that no number comes back sooner than elsewhere.

    Args:
        count: how many processes and threads.
        as_root: by root's own rights, where bubblewrap joins a user namespace that is none below
            another one.

    Empty where the kernel or the programs for it are too old; whether it works must be tried.
    """
    unshare = shutil.which("unshare", path=_SYSTEM)
    if unshare is None or not _has_kernel(_NUMBERS_BY_NAMESPACE):
        return []
    user = [] if as_root else ["--user", "--map-root-user"]
    words = [unshare, *user, "--mount", "--pid", "--fork", "--kill-child"]
    # A mount of its own: that of a container may be read-only.
    line = f'echo {_RESERVED + count} > /proc/sys/kernel/pid_max && exec "$@"'
    return [*words, "--mount-proc", "/bin/sh", "-c", line, "sh"]


def _has_kernel(wanted: tuple[int, int]) -> bool:
    with suppress(ValueError):
        major, minor = os.uname().release.split(".")[:2]
        return (int(major), int(minor)) >= wanted
    return False
