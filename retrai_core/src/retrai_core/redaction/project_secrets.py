"""The secrets of a project and of the environment, to be found by their value."""

from __future__ import annotations

import io
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from urllib.parse import quote, urlsplit

from .patterns import looks_random

MAX_FILE_BYTES = 256_000
MAX_FILES = 200

_NEVER_ENTERED = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        "node_modules",
        "__pycache__",
        "site-packages",
        ".tox",
        ".nox",
        "target",
    }
)
_PLACEHOLDER_ENDINGS = (".example", ".sample", ".template", ".dist", ".defaults", ".tmpl")
"""Files that show which names there are; what stands in them is no secret."""
_KEY_FILES = (
    "*.pem",
    "*.key",
    "*.p8",
    "*.ppk",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    ".netrc",
    ".pgpass",
    ".htpasswd",
    "credentials.json",
    "service-account*.json",
)
_OF_ENVIRONMENT = re.compile(r"(?:_API_?KEY|_?TOKEN|_?SECRET|_?PASSWORD|_SECRET_ACCESS_KEY)$")
_NAMED_SECRET = re.compile(
    r"pass(word|wd|phrase|code)?|pwd|secret|token|(api|access|private|signing|encryption)_?key"
    r"|credential|salt|pepper|_key$|^key$|_dsn$|_auth$",
    re.IGNORECASE,
)
_SHORT_NAMED_SECRET = re.compile(r"(pass(word|wd|phrase)?|pwd|secret|token|key)\d*$", re.IGNORECASE)
_EVERYBODYS = re.compile(
    r"admin|change-?me|default|demo|dev(elopment)?|dummy|(en|dis)abled|example|false|guest|localhost"
    r"|mysql|none|null|off|on|password|passwd|postgres|production|redis|root|sample|secret|staging"
    r"|test(ing)?|token|true|user(name)?|yes",
    re.IGNORECASE,
)
"""What many use and no one could keep secret; taking these out of every text would spoil it."""
_MIN_CHARS = 4
_CERTAIN_CHARS = 8
_LINE_CHARS = 16
"""Lines and words from here on count as secrets of their own: a key may be shown in part."""


class ProjectSecrets:
    """Reads the secrets of a project.

    Args:
        project: its folder.
        environ: the environment of this process; variables named like keys hold secrets.

    Attributes:
        values: the name by each secret value, with the forms that JSON and addresses give it.
    """

    def __init__(self, project: Path, environ: Mapping[str, str]) -> None:
        self._project = project
        self._environ = dict(environ)
        self._files: dict[Path, tuple[int, int]] = {}
        self._read: dict[Path, dict[str, str]] = {}
        self.values: dict[str, str] = {}
        for path in _secret_files(project):
            self._files[path] = (-1, -1)

    def refresh(self) -> bool:
        """Read what is new or has changed; whether anything was.

        Files that appear below a subfolder later are not looked for: that would be a walk through
        the whole tree each time.
        """
        changed = not self.values and not self._read
        for path in {*self._files, *_in_folder(self._project)}:
            try:
                status = path.stat()
            except OSError:
                status = None
            now = (status.st_mtime_ns, status.st_size) if status else (-1, -1)
            if path in self._read and self._files.get(path) == now:
                continue
            self._files[path] = now
            # What a file once held stays secret when it is gone.
            self._read[path] = {**self._read.get(path, {}), **_secrets_in(path)}
            changed = True
        if changed:
            self.values = self._all()
        return changed

    def _all(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for name, value in self._environ.items():
            if _OF_ENVIRONMENT.search(name) and len(value) >= _CERTAIN_CHARS:
                found |= _forms(value, name)
        for secrets in self._read.values():
            for value, name in secrets.items():
                found |= _forms(value, name)
        return found


def _secret_files(project: Path) -> Iterator[Path]:
    """Every `.env` and key file of the tree, at most `MAX_FILES`; ignored ones above all."""
    pending, count = [project], 0
    while pending:
        folder = pending.pop()
        for path in _in_folder(folder):
            count += 1
            if count > MAX_FILES:
                return
            yield path
        try:
            with os.scandir(folder) as entries:
                pending += [
                    Path(entry.path)
                    for entry in entries
                    if entry.is_dir(follow_symlinks=False)
                    and entry.name not in _NEVER_ENTERED
                    and not os.path.exists(os.path.join(entry.path, "pyvenv.cfg"))
                ]
        except OSError:
            continue  # not readable by us, and so not by a tool


def _in_folder(folder: Path) -> list[Path]:
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return [folder / name for name in names if _is_env(name) or _is_key_file(name)]


def _is_env(name: str) -> bool:
    is_env = name == ".env" or name.startswith(".env.") or name.endswith(".env")
    return (is_env or name == ".envrc") and not name.endswith(_PLACEHOLDER_ENDINGS)


def _is_key_file(name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in _KEY_FILES)


def _secrets_in(path: Path) -> dict[str, str]:
    text = _text(path)
    if not _is_env(path.name):
        words = re.findall(rf"[^\s\"',:]{{{_LINE_CHARS},}}", text)
        return {word: path.name for word in words if any(map(str.isdigit, word))}
    from dotenv import dotenv_values

    values = dotenv_values(stream=io.StringIO(text), interpolate=False)
    found: dict[str, str] = {}
    for name, value in values.items():
        for secret in _of_setting(name, value or ""):
            found[secret] = f"{path.name} {name}"
    return found


def _of_setting(name: str, value: str) -> Iterator[str]:
    """What of a setting is secret: all of it, the password in an address, or nothing."""
    value = value.strip()
    address = _password_of(value)
    if address is not None:
        if len(address) >= _MIN_CHARS and not _EVERYBODYS.fullmatch(address):
            yield address
        return
    if _EVERYBODYS.fullmatch(value) or len(value) < _MIN_CHARS:
        return
    if value.isdigit() and len(value) < _CERTAIN_CHARS and not _SHORT_NAMED_SECRET.search(name):
        return
    wanted = _NAMED_SECRET if len(value) >= _CERTAIN_CHARS else _SHORT_NAMED_SECRET
    if wanted.search(name) or looks_random(value):
        yield value


def _password_of(value: str) -> str | None:
    """The password in an address (empty when it has none); None for what is no address."""
    if "://" not in value:
        return None
    try:
        return urlsplit(value).password or ""
    except ValueError:
        return ""


def _forms(value: str, name: str) -> dict[str, str]:
    """The value as it may be written: itself, its long lines, in JSON, in an address."""
    lines = [line.strip() for line in value.splitlines()] if "\n" in value else []
    forms = [value, *(line for line in lines if len(line) >= _LINE_CHARS)]
    escaped = [
        json.dumps(value)[1:-1],
        json.dumps(value, ensure_ascii=False)[1:-1],
        repr(value)[1:-1],
    ]
    return dict.fromkeys([*forms, *escaped, quote(value, safe=""), quote(value)], name)


def _text(path: Path) -> str:
    """The text of a plain file; of a pipe or device nothing, and never more than the limit."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return ""
        with open(handle, "rb", closefd=False) as file:
            return file.read(MAX_FILE_BYTES).decode("utf-8", "replace").removeprefix("\ufeff")
    except OSError:
        return ""
    finally:
        os.close(handle)
