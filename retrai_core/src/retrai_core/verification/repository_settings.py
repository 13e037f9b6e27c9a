"""Which settings of a repository name no program, so that a run may keep them.

These are the settings that git itself writes for `git init`, `clone`, `remote`, `submodule` and
`worktree`, and the identity of the committer. Every other setting may name a program: a block list
could miss one. The parser accepts the syntax that git writes, and drops the rest.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

_HEADER = re.compile(rb'\s*\[([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\]\s*(?:[#;].*)?')
_SETTING = re.compile(rb"\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*?))?\s*")
_HARMLESS = re.compile(
    r"core\.(repositoryformatversion|compression|bigfilethreshold|autocrlf|safecrlf|eol|abbrev"
    r"|commentchar|sharedrepository|checkstat|hidedotfiles|fsync|excludesfile|attributesfile)"
    # Not all of `extensions`: Mercurial names programs there.
    r"|extensions\.(objectformat|refstorage|worktreeconfig|partialclone|noop|preciousobjects"
    r"|relativeworktrees|compatobjectformat)|init\.defaultbranch"
    r"|(user|author|committer|advice|color|column|branch|pull|push|fetch|rebase"
    r"|rerere|status|log|stash|index|pack|transfer|versionsort|i18n|feature|maintenance|paths)\..+"
    r"|remote\.(.+\.)?(url|pushurl|fetch|push|tagopt|partialclonefilter|pushdefault|gh-resolved)"
    r"|submodule\.(.+\.)?(url|active|branch|ignore|fetchrecursesubmodules)"
    r"|url\..+\.(insteadof|pushinsteadof)|receive\.deny.+|http\.(.+\.)?(extraheader|postbuffer)"
    r"|merge\.(conflictstyle|ff|log|renames|renamelimit|directoryrenames|stat)"
    r"|diff\.(algorithm|renames|renamelimit|colormoved|context|submodule|ignoresubmodules)"
    r"|gc\.(auto|autopacklimit|pruneexpire|reflogexpire|reflogexpireunreachable)"
    r"|lfs\.(repositoryformatversion|url|(.+\.)?access|(.+\.)?locksverify)"
    r"|commit\.cleanup|gpg\.format|format\.pretty|ui\.username",
    re.DOTALL,
)
_PLAIN = re.compile(r"true|false|yes|no|on|off|cat|:|[0-9]*")
"""Values that name no file of the project: switches, numbers, programs that do nothing."""
_UPDATES = ("checkout", "rebase", "merge", "none")

Setting = tuple[str, bytes]
"""The key as `git config --list` gives it, and the value; both empty for what is no setting."""


def without_programs(data: bytes, folder: Path, project: Path) -> tuple[bytes, list[Setting]]:
    """The settings that name no program, as a file again, and the others.

    Args:
        data: a configuration of git, or of Mercurial.
        folder: where it stands.
        project: the project; a working tree outside of it is not harmless.
    """
    kept: list[bytes] = []
    dropped: list[Setting] = []
    section: str | None = None
    for line in data.split(b"\n"):
        plain = line.strip()
        if not plain or plain.startswith((b"#", b";")):
            kept.append(line)
        elif header := _HEADER.fullmatch(line):
            name, below = header.group(1).lower(), header.group(2)
            section = os.fsdecode(name if below is None else name + b"." + below)
            kept.append(line)
        elif section is None or plain.endswith(b"\\") or not (found := _SETTING.fullmatch(line)):
            section = None if plain.startswith(b"[") else section
            dropped.append(("", plain))
        else:
            key = f"{section}.{os.fsdecode(found.group(1)).lower()}"
            value = found.group(2) or b""
            if _is_harmless(key, os.fsdecode(value).strip('"'), folder, project):
                kept.append(line)
            else:
                dropped.append((key, value))
    return b"\n".join(kept), dropped


def included(data: bytes, folder: Path, project: Path) -> list[Path]:
    """The files of the project that a configuration includes."""
    found: list[Path] = []
    for key, value in without_programs(data, folder, project)[1]:
        if key == "include.path" or (key.startswith("includeif.") and key.endswith(".path")):
            name = os.path.expanduser(os.fsdecode(value).strip('"'))
            path = Path(os.path.realpath(folder / name))
            if path.is_relative_to(project):
                found.append(path)
    return found


def _is_harmless(key: str, value: str, folder: Path, project: Path) -> bool:
    if key == "core.worktree":
        return Path(os.path.realpath(folder / value)).is_relative_to(project)
    if key.startswith("submodule.") and key.endswith(".update"):
        return value in _UPDATES
    if value == "/dev/null" or (_PLAIN.fullmatch(value) and not key.endswith("path")):
        return True
    return _HARMLESS.fullmatch(key) is not None
