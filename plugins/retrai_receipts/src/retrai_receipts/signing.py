"""The user's signing key: Ed25519, made on first use, kept in the user's state folder.

`cryptography` is imported only when something is signed or checked.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from retrai_core import RetraiError, UsageError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_PRIVATE_BYTES = 32
_FINGERPRINT = "SHA256:"


class BadSignatureError(ValueError):
    """The signature, or the key beside it, does not fit."""


@dataclass(frozen=True)
class PublicKey:
    """A public key; `raw` is its 32 bytes."""

    raw: bytes

    @cached_property
    def fingerprint(self) -> str:
        """A short name of the key: `SHA256:` and the hash of its bytes in base 64, as ssh's."""
        digest = hashlib.sha256(self.raw).digest()
        return _FINGERPRINT + base64.b64encode(digest).decode().rstrip("=")

    @property
    def text(self) -> str:
        """Its bytes in base 64."""
        return self.encode(self.raw)

    @staticmethod
    def encode(raw: bytes) -> str:
        """Bytes in base 64."""
        return base64.b64encode(raw).decode()

    @classmethod
    def from_text(cls, text: str) -> PublicKey:
        """A key from base 64.

        Raises:
            BadSignatureError: it is no key.
        """
        raw = _decoded(text, "public key")
        if len(raw) != _PRIVATE_BYTES:
            raise BadSignatureError("its public key is no Ed25519 key")
        return cls(raw)

    def check(self, signature: str, signed: bytes) -> bytes:
        """The signature's bytes, once they are known to be this key's over `signed`.

        Raises:
            BadSignatureError: they are not.
        """
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        raw = _decoded(signature, "signature")
        try:
            Ed25519PublicKey.from_public_bytes(self.raw).verify(raw, signed)
        except (InvalidSignature, ValueError) as error:
            raise BadSignatureError("its signature does not fit what it says") from error
        return raw


class SigningKey:
    """The private key in the user's state folder.

    Args:
        state: the state folder.
    """

    def __init__(self, state: Path) -> None:
        self.path = state / "keys" / "receipts.ed25519"
        self._private: Ed25519PrivateKey | None = None

    @property
    def exists(self) -> bool:
        """Whether it was made already."""
        return self.path.is_file()

    @property
    def public(self) -> PublicKey:
        """Its public half; the key is made when there is none yet."""
        return PublicKey(self._loaded().public_key().public_bytes_raw())

    def sign(self, message: bytes) -> bytes:
        """Sign; the key is made when there is none yet.

        Raises:
            RetraiError: the key cannot be read or made.
        """
        return self._loaded().sign(message)

    def _loaded(self) -> Ed25519PrivateKey:
        if self._private is None:
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

            self._private = Ed25519PrivateKey.from_private_bytes(self._bytes())
        return self._private

    def _bytes(self) -> bytes:
        try:
            if not self.exists:
                self._make()
            if self.path.stat().st_mode & 0o077:
                self.path.chmod(0o600)
            raw = self.path.read_bytes()
        except OSError as error:
            raise RetraiError(f"the signing key {self.path}: {error.strerror or error}") from error
        if len(raw) != _PRIVATE_BYTES:
            raise RetraiError(
                f"the signing key {self.path} is damaged",
                hint="delete it; the next receipt makes a new one",
            )
        return raw

    def _make(self) -> None:
        """Write a new key; of two processes that do so at once, the first one's counts."""
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Made with mode 0600, and complete before it has its name.
        handle, temporary = tempfile.mkstemp(dir=self.path.parent)
        try:
            os.write(handle, os.urandom(_PRIVATE_BYTES))
            os.fsync(handle)
            os.close(handle)
            os.link(temporary, self.path)
        except FileExistsError:
            return
        finally:
            os.unlink(temporary)


def pinned_fingerprint(text: str) -> str:
    """The fingerprint of the key that `--key` names: by itself, in a file, or in base 64.

    Raises:
        UsageError: it is none of them.
    """
    if text.startswith(_FINGERPRINT):
        return text.rstrip("=")
    path = Path(text)
    try:
        given = path.read_text(encoding="ascii") if path.is_file() else text
        return PublicKey.from_text(given.strip()).fingerprint
    except (OSError, UnicodeDecodeError, BadSignatureError) as error:
        raise UsageError(
            f"--key {text}: no fingerprint, no public key and no file with one",
            hint="the receipt says its key's: `--key SHA256:...`",
        ) from error


def _decoded(text: str, what: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadSignatureError(f"its {what} is no base 64") from error
