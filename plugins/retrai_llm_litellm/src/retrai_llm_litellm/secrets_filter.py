"""Takes keys out of any text before a person, a log or an event sees it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

REDACTED = "[redacted]"
SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS)$", re.IGNORECASE)
SECRET_SHAPE = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|AIza|hf|ghp|ghu|gho|r8|pplx|nvapi)[-_][A-Za-z0-9_\-]{8,}"
    r"|\bAIza[A-Za-z0-9_\-]{20,}"
    r"|(?<=Bearer )\S+"
)
SHORTEST_SECRET = 8


def redact(text: str, known: Iterable[str] = (), environ: Mapping[str, str] | None = None) -> str:
    """`text` without `known` secrets, values of variables named like keys, and key-like words.

    A value of fewer than 8 characters is left: it would take ordinary words with it.

    Example:
        >>> redact("refused: Bearer abc", environ={})
        'refused: Bearer [redacted]'
        >>> redact("no such key tops3cret", ["tops3cret"], environ={})
        'no such key [redacted]'
    """
    environment = os.environ if environ is None else environ
    values = {value for name, value in environment.items() if SECRET_NAME.search(name)}
    values.update(known)
    # The longest first, so that a secret that contains another one is replaced whole.
    for value in sorted(values, key=len, reverse=True):
        if len(value) >= SHORTEST_SECRET:
            text = text.replace(value, REDACTED)
    return SECRET_SHAPE.sub(REDACTED, text)


def without_secrets(environ: Mapping[str, str], also: Iterable[str] = ()) -> dict[str, str]:
    """The variables that are not named like secrets, nor `also`.

    Example:
        >>> without_secrets({"PATH": "/bin", "OPENAI_API_KEY": "sk", "WX": "2"}, also=["WX"])
        {'PATH': '/bin'}
    """
    left_out = set(also)
    return {
        name: value
        for name, value in environ.items()
        if name not in left_out and not SECRET_NAME.search(name)
    }
