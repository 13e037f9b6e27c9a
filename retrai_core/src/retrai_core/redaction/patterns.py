"""Patterns of secrets, whoever owns them.

Each issuer documents a prefix for its tokens, so that scanners can find them; these are redacted in
any context. A value that is a secret only by its name (`password = ...`) is redacted if it also
looks like one, so that source code and its tests stay readable.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple


class Pattern(NamedTuple):
    """One kind of secret.

    Attributes:
        name: stands in the mark that takes the secret's place.
        needles: a text with none of these holds no such secret; looking for them is a hundred times
            as fast as the expression.
        regex: its group `secret` (else the whole match) is what is taken out.
        accept: looks at the secret once more; None takes every match.
    """

    name: str
    needles: tuple[str, ...]
    regex: re.Pattern[str]
    accept: Callable[[str], bool] | None = None


_PLACEHOLDER = re.compile(
    r"example|placeholder|change.?me|dummy|sample|fake|your|x{4}|\*{3}|redacted|test|pass\d|1234|"
    r"secret|passw|foobar|qwerty|abcd|^\W|^https?:|^none$|^null$",
    re.IGNORECASE,
)
_KEY_END = r"[\"'`\]]{0,2}"


def looks_random(value: str) -> bool:
    """Whether nobody would choose this by hand: long, of mixed letters and digits, or hexadecimal.

    Example:
        >>> looks_random("claude-sonnet-4-6"), looks_random("q8ZsT1mLr0pXv93K")
        (False, True)
    """
    if not re.fullmatch(r"[\w+/=.~!@#$%^&*:-]{16,}", value):
        return False
    if re.fullmatch(r"(?=.*\d)(?=.*[a-fA-F])[0-9a-fA-F]{24,}", value):
        return True
    digits = sum(map(str.isdigit, value))
    return digits > 1 and value.lower() != value != value.upper() and "/" not in value[:1]


def looks_chosen(value: str) -> bool:
    """Whether a value in a password's place is one, and no variable or placeholder.

    Example:
        >>> looks_chosen("hunter2!"), looks_chosen("get_password"), looks_chosen("secret123")
        (True, False, False)
    """
    if len(value) < 6 or _PLACEHOLDER.search(value):
        return False
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def _token(value: str) -> bool:
    return looks_random(value) and not _PLACEHOLDER.search(value)


def _prefixed(name: str, needles: str, regex: str) -> Pattern:
    return Pattern(name, tuple(needles.split()), re.compile(rf"(?<![A-Za-z0-9]){regex}"))


_PASSWORD = r"pass(?:word|wd|phrase)|pwd"
_TOKEN = r"secret|token|credentials?|(?:api|access|auth|private|secret|encryption|signing)[_-]?key"


def _named(what: str, keys: str, accept: Callable[[str], bool]) -> Iterator[Pattern]:
    """`key = "value"`; `key=value` in a shell, an INI file or an address; YAML's `key: value`."""
    needles = ("pass", "pwd") if what == "password" else ("secret", "token", "key", "credential")
    key = rf"(?:{keys}){_KEY_END}"
    bare = r"(?P<secret>[^\s\"'`&;,()\[\]{}<>]{6,200})"
    for regex in (
        rf"{key}\s*(?::=|=>|[=:])\s*(?P<quote>[\"'`])(?P<secret>[^\"'`\s]{{6,200}})(?P=quote)",
        rf"(?:{key}=|--(?:{keys})[ =]){bare}(?=$|[\s&;\"'`])",
        rf"^[ \t-]*[\w.-]*(?:{keys})[\"']?:[ \t]+{bare}[ \t]*$",
    ):
        yield Pattern(what, needles, re.compile(regex, re.IGNORECASE | re.MULTILINE), accept)


_LABEL = r"(?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
_BETWEEN = r"(?:[\s\"'+,|\d]|\\[nr]|(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash):.*)"
"""White space, escapes and quotes of source code, line numbers, and a block's own headers."""

PATTERNS: tuple[Pattern, ...] = (
    # RFC 7468, and PGP's and OpenSSH's kin. What follows must look like the key itself: source code
    # names the lines around a key too. A block that was cut goes as far as it looks like one.
    Pattern(
        "private key",
        ("PRIVATE KEY",),
        re.compile(
            rf"-----BEGIN {_LABEL}(?:{_BETWEEN}*[A-Za-z0-9+/=]{{16,}})+"
            rf"(?:{_BETWEEN}*[A-Za-z0-9+/=]*{_BETWEEN}*-----END {_LABEL})?"
        ),
    ),
    _prefixed(
        "AWS key", "AKIA ASIA ABIA ACCA", r"(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}(?![0-9A-Za-z])"
    ),
    _prefixed("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{36,}"),
    _prefixed("GitHub token", "github_pat_", r"github_pat_\w{22,}"),
    _prefixed("GitLab token", "glpat- glptt- gldt- glrt-", r"gl(?:pat|ptt|dt|rt)-[\w-]{20,}"),
    _prefixed("model provider key", "sk-", r"sk-(?:ant|proj|svcacct|admin|or|lf)-[\w-]{20,}"),
    _prefixed("model provider key", "sk-", r"sk-[A-Za-z0-9]{32,}"),
    _prefixed("model provider key", "gsk_", r"gsk_[A-Za-z0-9]{40,}"),
    _prefixed("model provider key", "xai-", r"xai-[A-Za-z0-9]{60,}"),
    _prefixed("Google key", "AIza", r"AIza[\w-]{35}"),
    _prefixed("Google token", "ya29.", r"ya29\.[\w-]{20,}"),
    _prefixed("Slack token", "xox", r"xox[abeoprs]-[\w-]{10,}"),
    _prefixed("Slack token", "xapp-", r"xapp-\d-[\w-]{10,}"),
    Pattern(
        "Slack address",
        ("hooks.slack.com",),
        re.compile(r"hooks\.slack\.com/(?:services|workflows)/(?P<secret>[\w/]{20,})"),
    ),
    _prefixed("Stripe key", "k_live_ k_test_", r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    _prefixed("Hugging Face token", "hf_", r"hf_[A-Za-z0-9]{30,}"),
    _prefixed("PyPI token", "pypi-", r"pypi-AgE[\w-]{50,}"),
    _prefixed("npm token", "npm_", r"npm_[A-Za-z0-9]{36}"),
    _prefixed("SendGrid key", "SG.", r"SG\.[\w-]{22}\.[\w-]{43}"),
    _prefixed("JWT", "eyJ", r"eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}"),
    Pattern(
        "password",
        ("://",),
        re.compile(r"://[^\s:/@\"'`]*:(?P<secret>[^\s/@:,\"'`]{3,200})@"),
        looks_chosen,
    ),
)
"""Told by themselves, wherever they stand."""

LINE_PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        "authorization",
        ("bearer ", "basic "),
        re.compile(r"\b(?:bearer|basic)\s+(?P<secret>[\w+/.~-]{16,}=*)", re.IGNORECASE),
        _token,
    ),
    *_named("password", _PASSWORD, looks_chosen),
    *_named("token", _TOKEN, _token),
)
"""Told by what stands before them in their line; their needles are in lower case."""
