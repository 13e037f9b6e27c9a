"""The two files of a GitHub Copilot login, where LiteLLM looks for them. Imports no LiteLLM.

`access-token` is what the login gives, for good; `api-key.json` is the key that is got for it,
valid for half an hour, with the address of the models.
"""

from __future__ import annotations

import json
import os
import stat
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

COPILOT = "github_copilot"
"""LiteLLM's name of the provider."""
FOLDER_VARIABLE = "GITHUB_COPILOT_TOKEN_DIR"
HOW_TO_LOG_IN = (
    "run the same command once in a terminal, where it shows a code to enter on GitHub, or set "
    f"{FOLDER_VARIABLE} to a folder with the access-token file of an earlier login"
)
"""What to do where nobody could see the code."""
STILL_VALID_S = 60.0
"""A key that expires sooner is renewed before it is used."""


@dataclass(frozen=True)
class CopilotTokens:
    """Reads and writes them; nobody but their owner can.

    Attributes:
        folder: where they are kept.
        access_token_file: what the login gave.
        api_key_file: the key of the moment.
        is_default: whether the folder is LiteLLM's own, and not one that the user chose.
    """

    folder: Path
    access_token_file: Path
    api_key_file: Path
    is_default: bool = True

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> CopilotTokens:
        """Where LiteLLM looks for them."""
        chosen = environ.get(FOLDER_VARIABLE)
        folder = Path(
            os.path.expanduser("~/.config/litellm/github_copilot") if chosen is None else chosen
        )
        return cls(
            folder,
            folder / environ.get("GITHUB_COPILOT_ACCESS_TOKEN_FILE", "access-token"),
            folder / environ.get("GITHUB_COPILOT_API_KEY_FILE", "api-key.json"),
            chosen is None,
        )

    @property
    def are_enough(self) -> bool:
        """Whether no login is needed."""
        return bool(self.access_token()) or self.has_valid_key()

    def access_token(self) -> str:
        """What the login gave; empty before it."""
        try:
            return self.access_token_file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            return ""

    def has_valid_key(self) -> bool:
        """Whether there is a key that can still be used."""
        try:
            raw: Any = json.loads(self.api_key_file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return False
        return is_api_key(raw) and raw["expires_at"] > time.time() + STILL_VALID_S

    def keep_access_token(self, token: str) -> None:
        """Keep what the login gave.

        Raises:
            OSError: it cannot be written.
        """
        self._write(self.access_token_file, token)

    def keep_api_key(self, key: Mapping[str, Any]) -> None:
        """Keep a key as the server described it.

        Raises:
            OSError: it cannot be written.
        """
        self._write(self.api_key_file, json.dumps(key))

    def make_private(self) -> None:
        """Take from others what an earlier LiteLLM, by itself, gave them: the right to read.

        A folder that the user chose stays as it is, since other things may be in it.
        """
        _restrict(self.access_token_file, 0o600)
        _restrict(self.api_key_file, 0o600)
        if self.is_default:
            _restrict(self.folder, 0o700)

    def _write(self, path: Path, text: str) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # With mode 0600 from the beginning, and never half written.
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(name, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(name)
            raise


def is_api_key(raw: object) -> bool:
    """Whether a server's answer, or a file, is a key that LiteLLM can use."""
    if not isinstance(raw, dict):
        return False
    key = cast("dict[str, Any]", raw)
    token, expires_at = key.get("token"), key.get("expires_at")
    return isinstance(token, str) and bool(token) and type(expires_at) in (int, float)


def _restrict(path: Path, mode: int) -> None:
    with suppress(OSError):  # there is none, or it belongs to somebody else
        if stat.S_IMODE(path.stat().st_mode) & ~mode:
            path.chmod(mode)
