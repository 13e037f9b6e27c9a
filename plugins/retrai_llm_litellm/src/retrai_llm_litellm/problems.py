"""Turns what LiteLLM raises into one clear line: what was wrong, and what to do about it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from retrai_core import ModelError

from .secrets_filter import redact

LONGEST_DETAIL = 300
LONGEST_CHAIN = 20
QUOTA = re.compile(r"(?i)insufficient_quota|exceeded your current quota|credit balance|billing")
CONTEXT = re.compile(r"(?i)context.?(?:length|window)|maximum context|prompt is too long")
CONNECTION = re.compile(r"(?i)connection error|cannot connect|connect call failed|disconnected")
WEB_PAGE = re.compile(r"(?i)\s*<(?:!doctype html|html\b)")
ANSWERED = "Original Response:"
OVERLOADED = frozenset({408, 429, 502, 503, 504})
"""Statuses of gateways, whose error pages are web pages too."""
# How asyncio and anyio say that nobody listens, and where.
REFUSED = re.compile(r"(?i)connect call failed|connection refused|all connection attempts failed")
LOCAL = re.compile(r"(?i)host (?:localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)(?::|\s)")
# How aiohttp and Python say what only their authors want to know.
NOISE = re.compile(r" ssl:(?:<[^>]*>|\S+)|\s*Traceback \(most recent call last\):.*", re.DOTALL)
LITELLM_PREFIX = re.compile(r"^(?:litellm\.)?\w+(?:Error|Exception)\s*(?::|-)\s*|^\w+Exception - ")
OFFLINE = "or use --model offline, which needs no key"


@dataclass(frozen=True)
class Asked:
    """What the error messages name.

    Attributes:
        model: the model's name as the user typed it.
        provider: LiteLLM's name of who serves it.
        key_variables: where its key may stand.
        secrets: values that no message may carry.
        nearest: a known model's name that looks like this one, when it is not known itself.
        api_base: the server's address, where one was given.
    """

    model: str
    provider: str
    key_variables: Sequence[str] = ()
    secrets: Iterable[str] = ()
    nearest: str | None = None
    api_base: str | None = None


class NoChoicesError(Exception):
    """The server answered, but its answer holds no message."""

    status_code = 200

    def __init__(self) -> None:
        super().__init__("the answer holds no message (`choices` is empty)")


def status_of(error: BaseException) -> int | None:
    """The HTTP status behind an error, where there was one."""
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None


def is_quota(error: BaseException) -> bool:
    """Whether an account has run dry: a 429 that waiting does not fix."""
    return status_of(error) == 429 and QUOTA.search(str(error)) is not None


def is_web_page(error: BaseException) -> bool:
    """Whether a web page was the answer: the address is not that of an API."""
    if status_of(error) in OVERLOADED:
        return False
    # LiteLLM's own transport shows the answer; OpenAI's client has it in the parser's error alone.
    answers = [each.doc for each in _chain(error) if isinstance(each, json.JSONDecodeError)]
    answers.append(str(error).partition(ANSWERED)[2])
    return any(map(WEB_PAGE.match, answers))


def nobody_there(error: BaseException) -> str:
    """Which address of this machine no server listens at, as it was said; empty for any other."""
    texts = [str(each) for each in _chain(error)]
    refused = [text for text in texts if REFUSED.search(text) and LOCAL.search(text)]
    # The innermost that names the address has the fewest words around it.
    return first_line(refused[-1]) if refused else ""


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An error and what it came from, outermost first."""
    one: BaseException | None = error
    for _ in range(LONGEST_CHAIN):
        if one is None:
            return
        yield one
        one = one.__cause__ or one.__context__


def explain(error: BaseException, asked: Asked, attempts: int = 1) -> ModelError:
    """The error for people. No secret of `asked` is in it, whatever the server echoed."""
    detail = redact(first_line(str(error)), asked.secrets)
    said = _said(asked, detail)
    status = status_of(error)
    kind = type(error).__name__
    name = asked.model
    after = "after 1 attempt" if attempts == 1 else f"after {attempts} attempts"
    if status in (401, 403) or kind in ("AuthenticationError", "PermissionDeniedError"):
        where = " or ".join(asked.key_variables) or "the provider's key"
        hint = f"check {where}, {OFFLINE}"
        return ModelError(f"no access to {name}; {said}", hint=hint, fatal=True)
    if is_quota(error) or status == 402:
        hint = f"top it up, {OFFLINE}"
        return ModelError(f"the account for {name} is used up; {said}", hint=hint, fatal=True)
    if status == 429:
        hint = "try again later, or raise max_retries or max_wait_s of the litellm plugin"
        return ModelError(f"{name} is rate-limited {after}; {said}", hint=hint)
    if kind == "ContextWindowExceededError" or (status == 400 and CONTEXT.search(str(error))):
        hint = "use a model with a longer context, or a smaller project or task"
        return ModelError(f"the conversation is too long for {name}; {said}", hint=hint, fatal=True)
    if status == 404 or kind == "NotFoundError":
        hint = f"did you mean {asked.nearest}?" if asked.nearest else "check the model's name"
        return ModelError(f"{asked.provider} has no model {name}; {said}", hint=hint, fatal=True)
    if status is not None and 400 <= status < 500 and status != 408:
        return ModelError(f"{name} refused the request ({status}); {said}")
    return _without_answer(error, asked, after, detail)


def _without_answer(error: BaseException, asked: Asked, after: str, detail: str) -> ModelError:
    """What went wrong where the API gave no answer: a wrong address, no connection, a failure."""
    name, status = asked.model, status_of(error)
    address = asked.api_base or "the default one"
    if is_web_page(error):
        hint = f"check the server's address ({address}), which usually ends in /v1"
        return ModelError(f"a web page came back for {name}", hint=hint, fatal=True)
    nobody = nobody_there(error)
    if nobody or CONNECTION.search(str(error)):
        look = "start the server, or check its" if nobody else "check the network and the server's"
        told = redact(nobody, asked.secrets) or detail
        return ModelError(
            f"no connection for {name} {after}: {told}",
            hint=f"{look} address ({address})",
            fatal=bool(nobody),
        )
    hint = "`retrai runs resume` goes on from the last finished step"
    failed = f" (status {status})" if status is not None and status >= 500 else ""
    return ModelError(f"no answer from {name} {after}{failed}; {_said(asked, detail)}", hint=hint)


def _said(asked: Asked, detail: str) -> str:
    return f"{asked.provider} said: {detail}" if detail else f"{asked.provider} gave no reason"


def first_line(text: str) -> str:
    """The server's own message, without LiteLLM's wrapping, at most 300 characters.

    Example:
        >>> first_line('litellm.NotFoundError: OpenAIException - {"error": {"message": "no"}}')
        'no'
    """
    found = re.search(r'\{.*"message".*\}', text, re.DOTALL)
    if found is not None:
        text = _message_in(found.group()) or text
    text = NOISE.sub("", text)
    previous = None
    while previous != text:
        previous, text = text, LITELLM_PREFIX.sub("", text.strip())
    line = " ".join(text.split("\n", 1)[0].split())
    return line if len(line) <= LONGEST_DETAIL else line[: LONGEST_DETAIL - 3] + "..."


def _message_in(text: str) -> str | None:
    """`error.message` or `message` of the JSON object that `text` begins with."""
    try:
        raw, _ = json.JSONDecoder().raw_decode(text)
    except ValueError:
        return None
    inner: Any = raw.get("error", raw)
    message: Any = (
        cast("dict[str, Any]", inner).get("message") if isinstance(inner, dict) else inner
    )
    return message if isinstance(message, str) else None
