"""The environment of a command: an allow-list, so that it contains no keys of the user."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

PASSED = (
    # who and where
    "HOME",
    "LOGNAME",
    "USER",
    "SHELL",
    "PATH",
    "TMPDIR",
    "TZ",
    "XDG_*_HOME",
    "XDG_RUNTIME_DIR",
    # language
    "LANG",
    "LANGUAGE",
    "LC_*",
    # where tool chains live; none of these carries a secret
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "PYENV_ROOT",
    "PYTHONPATH",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "PKG_CONFIG_PATH",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "GOPATH",
    "GOROOT",
    "GOCACHE",
    "GOMODCACHE",
    "JAVA_HOME",
    "NVM_DIR",
    "NVM_BIN",
    "BUN_INSTALL",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
)
"""Names or patterns of variables that are passed on."""
_WILD = frozenset("*?[")


def clean_environment(
    source: Mapping[str, str], python: str, extra: Iterable[str] = ()
) -> dict[str, str]:
    """The variables of `source` that a command may see.

    When the project's interpreter belongs to a virtual environment, that environment is active in
    the command, so that a plain `python` or `pytest` there is the project's own.

    Args:
        source: retrai's own environment.
        python: the project's interpreter.
        extra: more names or patterns to pass on, by the user's choice.
    """
    wanted = {*PASSED, *extra}
    patterns = [pattern for pattern in wanted if not _WILD.isdisjoint(pattern)]
    passed = {
        name: value
        for name, value in source.items()
        if name in wanted or any(fnmatchcase(name, pattern) for pattern in patterns)
    }
    passed["TERM"] = "dumb"
    passed.setdefault("PATH", os.defpath)
    folder = Path(python).parent
    if (folder.parent / "pyvenv.cfg").is_file():
        passed["VIRTUAL_ENV"] = str(folder.parent)
        others = [part for part in passed["PATH"].split(os.pathsep) if part != str(folder)]
        passed["PATH"] = os.pathsep.join([str(folder), *others])
    return passed
