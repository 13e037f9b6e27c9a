"""What a receipt says, and its one written form: a byte more, less or other is no receipt."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from retrai_core import CaseOutcome, RetraiError

from .signing import BadSignatureError, PublicKey, SigningKey

RECEIPT_FILE = "receipt.json"
SCHEMA_VERSION = 1
_MAX_BYTES = 64_000_000
ANOTHER = "`retrai verify RUN` takes the run's own by its id; `retrai run` makes a new one"
"""What to do about a receipt that is not the run's own."""


class ReceiptError(RetraiError):
    """It cannot be read, or is not what its signature says; exit code 1: nothing is verified."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str = ANOTHER) -> None:
        super().__init__(message, hint=hint)


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Trees(_Part):
    """The project before the first turn and as it was judged, each as one SHA-256."""

    baseline: str
    """The project's hash before the first turn."""
    final: str
    """The hash of the tree that was judged."""
    files: dict[str, str] | None = None
    """What each file of the final tree is; None where there are too many to list."""
    file_count: int = 0
    """How many files the final tree has."""


class Tampering(_Part):
    """What happened to the check itself."""

    refused: list[str] = Field(default_factory=list)
    """Changes of protected files that were refused or undone."""
    findings: list[str] = Field(default_factory=list)
    """What the run added that is worth a look."""
    human_answers: list[str] = Field(default_factory=list)
    """What a person was asked, and the answer."""
    allow_edit: list[str] = Field(default_factory=list)
    """Globs of protected files that the user let the run change."""


class HeldOutCases(_Part):
    """Tests that the agent never saw; they are no part of the tree's hash and of the cases."""

    globs: list[str] = Field(default_factory=list)
    """Which files of the project they are."""
    total: int = 0
    """How many cases they have."""
    failed: int = 0
    """How many of them did not pass in the last check."""


class SandboxUsed(_Part):
    """Where the agent's commands ran."""

    names: list[str]
    """Every sandbox of the run; more than one when it was resumed with another."""
    key_within_reach: bool
    """The agent's commands could have read the signing key, and so could have forged a receipt."""
    note: str
    """The same in words."""


class Receipt(_Part):
    """One achieved run: what was asked, what was checked, and on what."""

    schema_version: int = SCHEMA_VERSION
    """The form of this receipt."""
    kind: Literal["retrai receipt"] = "retrai receipt"
    """What this file is."""
    run: str
    """The run's id."""
    issued_at: str
    """When it was signed, in UTC."""
    goal: str
    """The goal's name."""
    options: dict[str, Any] = Field(default_factory=dict)
    """The goal's options; a password in an address is left out (`***`)."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """What else decides how the check runs: python, sandbox, the options of its plugins."""
    model: str
    """The model's name."""
    iterations: int
    """How many iterations the run made; 0 when nothing had to be done."""
    project: str
    """The folder of the run."""
    command: list[str]
    """What the last check ran."""
    interpreter: str
    """The program that ran the project's code in it."""
    checks_on_copies: int
    """How many times the check passed on a clean copy of the final tree."""
    sandbox: SandboxUsed
    """Where commands ran, and whether they could reach the key."""
    trees: Trees
    """The project before the first turn and as it was judged."""
    python: str
    """The interpreter that runs the project's code."""
    baseline: dict[str, Any]
    """What the guard held every check against: among others `protected`, a SHA-256 for each file
    that the run might not change, and `volatile`, those of them that the check itself writes."""
    before: dict[str, CaseOutcome]
    """Outcome by case, before the first turn."""
    after: dict[str, CaseOutcome]
    """Outcome by case, on a clean copy of the final tree."""
    held_out: HeldOutCases = Field(default_factory=HeldOutCases)
    """Tests that the agent never saw."""
    versions: dict[str, str]
    """Version by distribution: retrai's and those of the plugins used."""
    tampering: Tampering
    """What happened to the check itself."""

    def canonical(self) -> bytes:
        """The bytes that are signed: JSON in ASCII with sorted keys and no white space."""
        plain = self.model_dump(mode="json")
        return json.dumps(plain, sort_keys=True, separators=(",", ":")).encode()


class _Signature(_Part):
    algorithm: Literal["Ed25519"]
    fingerprint: str
    public_key: str
    value: str


class _File(_Part):
    receipt: Receipt
    signature: _Signature


def sign(receipt: Receipt, key: SigningKey) -> bytes:
    """The whole file: the receipt, the public key and the signature."""
    return _rendered(receipt, key.public, key.sign(receipt.canonical()))


def read_signed(content: bytes, name: str) -> tuple[Receipt, PublicKey]:
    """The receipt, and the key that signed it.

    Args:
        content: the file's bytes.
        name: what the file is called in messages.

    Raises:
        ReceiptError: it is no receipt, or not a byte is as it was signed.
    """
    raw = _parsed(content, name)
    try:
        file = _File.model_validate(raw)
        public = PublicKey.from_text(file.signature.public_key)
        signature = public.check(file.signature.value, file.receipt.canonical())
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        what = f"{where}: {first['msg'].lower()}"
        if first["loc"][0] == "signature":  # what is signed comes first, and is whole
            raise ReceiptError(f"{name} is damaged in its signature or key: {what}") from error
        raise ReceiptError(f"{name} is no receipt: {what}") from error
    except BadSignatureError as error:
        raise ReceiptError(f"{name} was changed after it was signed: {error}") from error
    if _rendered(file.receipt, public, signature) != content:
        # White space, the order of keys, a second spelling of the same bytes.
        raise ReceiptError(f"{name} was changed after it was signed: not as retrai wrote it")
    return file.receipt, public


def read_file(path: Path) -> bytes:
    """The receipt's bytes.

    Raises:
        ReceiptError: it is not there, cannot be read, or is far too large for a receipt.
    """
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise ReceiptError(f"{path} cannot be read: {error.strerror or error}") from error
    if len(content) > _MAX_BYTES:
        raise ReceiptError(f"{path} is no receipt: larger than {_MAX_BYTES:,} bytes")
    return content


def _parsed(content: bytes, name: str) -> dict[str, Any]:
    try:
        raw = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ReceiptError(f"{name} is no receipt: not JSON: {error}") from error
    if not isinstance(raw, dict) or not {"receipt", "signature"} <= raw.keys():
        raise ReceiptError(f"{name} is no receipt: it has no `receipt` and `signature`")
    whole = cast("dict[str, Any]", raw)
    version = (
        cast("dict[str, Any]", whole["receipt"]).get("schema_version")
        if isinstance(whole["receipt"], dict)
        else None
    )
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise ReceiptError(
            f"{name} is a receipt of form {version}; this retrai reads form {SCHEMA_VERSION}",
            hint="`pip install --upgrade retrai-receipts`",
        )
    return whole


def _rendered(receipt: Receipt, public: PublicKey, signature: bytes) -> bytes:
    whole = {
        "receipt": receipt.model_dump(mode="json"),
        "signature": {
            "algorithm": "Ed25519",
            "fingerprint": public.fingerprint,
            "public_key": public.text,
            "value": public.encode(signature),
        },
    }
    return json.dumps(whole, sort_keys=True, indent=1).encode() + b"\n"
