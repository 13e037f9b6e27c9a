"""Logs in to GitHub Copilot: the OAuth device flow (RFC 8628), told to whoever watches the run.

LiteLLM has this flow too, but prints the code where nobody sees it, asks on after a refusal, does
not keep to the server's interval, and refuses to begin inside an event loop. What it reads, the
files of `copilot_tokens`, is made here, so that its own flow is never reached.

Importing this module imports LiteLLM.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Any, cast

import httpx
from litellm.llms.custom_httpx.http_handler import get_ssl_configuration
from litellm.llms.github_copilot.authenticator import Authenticator

from retrai_core import ModelError

from .copilot_tokens import FOLDER_VARIABLE, HOW_TO_LOG_IN, CopilotTokens, is_api_key
from .secrets_filter import redact

# LiteLLM's own defaults and variables; the names of its constants change between releases.
CLIENT_ID = ("GITHUB_COPILOT_CLIENT_ID", "Iv1.b507a08c87ecfe98")
DEVICE_CODE = ("GITHUB_COPILOT_DEVICE_CODE_URL", "https://github.com/login/device/code")
ACCESS_TOKEN = ("GITHUB_COPILOT_ACCESS_TOKEN_URL", "https://github.com/login/oauth/access_token")
API_KEY = ("GITHUB_COPILOT_API_KEY_URL", "https://api.github.com/copilot_internal/v2/token")
DEFAULT_INTERVAL_S = 5.0
"""Between two questions whether the code has been entered (RFC 8628, section 3.2)."""
SLOWER_BY_S = 5.0
"""What `slow_down` adds to the interval, for good (RFC 8628, section 3.5)."""
SHORTEST_INTERVAL_S = 1.0
LONGEST_LOGIN_S = 900.0
"""GitHub's own limit; a server that allows more is not waited for any longer."""
ANSWER_LIMIT_S = 30.0
TRIES = 3
"""Times that a server is asked which cannot be reached, or fails by itself."""
LONGEST_CODE = 200
GRANT = "urn:ietf:params:oauth:grant-type:device_code"
SAME_COMMAND = "start the run again"

Report = Callable[[str], None]


class CopilotLogin:
    """Sees to it that LiteLLM finds a key for GitHub Copilot.

    Args:
        report: told the address and the code that a person has to enter, in one line.
    """

    def __init__(self, report: Report) -> None:
        self._report = report
        self._lock = asyncio.Lock()

    async def ensure(self, *, attended: bool) -> None:
        """Return as soon as there is a key that is valid for a minute at least.

        Args:
            attended: somebody may be asked to log in.

        Raises:
            ModelError: there is none; it says why in one line, and what to do.
        """
        tokens = CopilotTokens.of(os.environ)
        async with self._lock:  # two requests side by side are one login
            tokens.make_private()
            if tokens.has_valid_key():
                return
            try:
                await self._renew(tokens, attended)
            except OSError as error:
                raise _failed(
                    f"the login cannot be kept: {error}",
                    f"make {tokens.folder} writable, or set {FOLDER_VARIABLE} to another folder",
                ) from None

    async def _renew(self, tokens: CopilotTokens, attended: bool) -> None:
        async with _client() as client:
            token = tokens.access_token()
            key = await _api_key(client, token, tokens) if token else None
            if key is None:
                if not attended:
                    raise _failed(
                        "the login has expired" if token else "a login is needed",
                        HOW_TO_LOG_IN,
                    )
                token = await self._log_in(client)
                tokens.keep_access_token(token)
                key = await _api_key(client, token, tokens)
            if key is None:
                raise _failed("GitHub refuses the login that it has just given", SAME_COMMAND)
            tokens.keep_api_key(key)

    async def _log_in(self, client: httpx.AsyncClient) -> str:
        """The access token, once a person has entered the code."""
        url = _setting(DEVICE_CODE)
        body = {"client_id": _setting(CLIENT_ID), "scope": "read:user"}
        status, answer = await _answer(client, "POST", url, json=body)
        device = answer.get("device_code")
        code, page = _shown(answer.get("user_code")), _shown(answer.get("verification_uri"))
        if answer.get("error") or status >= 400:
            raise _failed(f"GitHub gives no code: {_reason(status, answer)}", SAME_COMMAND)
        if not isinstance(device, str) or not code or not page.startswith(("https://", "http://")):
            raise _malformed(url)
        limit_s = min(_seconds(answer.get("expires_in"), LONGEST_LOGIN_S), LONGEST_LOGIN_S)
        self._report(
            f"log in to GitHub Copilot: open {page} and enter the code {code} "
            f"(waiting for {limit_s / 60:.0f} minutes at most)"
        )
        interval_s = _seconds(answer.get("interval"), DEFAULT_INTERVAL_S)
        try:
            async with asyncio.timeout(limit_s):
                return await _entered(client, device, interval_s)
        except TimeoutError:
            raise _expired() from None


async def _entered(client: httpx.AsyncClient, device: str, interval_s: float) -> str:
    """Ask until the code has been entered, as often as the server allows."""
    url = _setting(ACCESS_TOKEN)
    body = {"client_id": _setting(CLIENT_ID), "device_code": device, "grant_type": GRANT}
    while True:
        interval_s = max(interval_s, SHORTEST_INTERVAL_S)
        await asyncio.sleep(interval_s)
        status, answer = await _answer(client, "POST", url, interval_s, json=body)
        token, error = answer.get("access_token"), answer.get("error")
        if isinstance(token, str) and token.strip():
            return token.strip()
        if error == "slow_down":
            interval_s = max(interval_s + SLOWER_BY_S, _seconds(answer.get("interval"), 0.0))
        elif error == "access_denied":
            raise _failed("the login was denied on GitHub", f"{SAME_COMMAND} for a new code")
        elif error == "expired_token":
            raise _expired()
        elif error is None and status < 400:
            raise _malformed(url)
        elif error != "authorization_pending":
            raise _failed(f"GitHub refuses the login: {_reason(status, answer)}", SAME_COMMAND)


async def _api_key(
    client: httpx.AsyncClient, token: str, tokens: CopilotTokens
) -> dict[str, Any] | None:
    """The key for an access token; None where that is not valid any more."""
    url = _setting(API_KEY)
    status, answer = await _answer(client, "GET", url, headers={"authorization": f"token {token}"})
    if status == 401:
        return None
    if status >= 400:
        raise _failed(
            f"GitHub gives this account no key: {_reason(status, answer, token)}",
            f"check its Copilot subscription, or delete {tokens.access_token_file} to log in with "
            "another account",
        )
    if not is_api_key(answer):
        raise _malformed(url)
    return answer


def _client() -> httpx.AsyncClient:
    # As LiteLLM's own requests: its headers (by no public name), its certificates, the proxies of
    # the environment.
    headers: dict[str, str] = cast("Any", Authenticator)()._get_github_headers()  # noqa: SLF001
    return httpx.AsyncClient(
        headers=headers, verify=cast("Any", get_ssl_configuration()), timeout=ANSWER_LIMIT_S
    )


async def _answer(
    client: httpx.AsyncClient, method: str, url: str, pause_s: float = 1.0, **kwargs: Any
) -> tuple[int, dict[str, Any]]:
    """A server's status and JSON object; tried again where it could not be reached.

    Raises:
        ModelError: it cannot be reached, or answers with something else.
    """
    problem = ""
    for attempt in range(TRIES):
        await asyncio.sleep(pause_s if attempt else 0)
        try:
            response = await client.request(method, url, **kwargs)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            problem = str(error) or type(error).__name__
            continue
        if response.status_code == 429 or response.status_code >= 500:
            problem = f"status {response.status_code}"
            continue
        try:
            raw: Any = response.json()
        except ValueError:
            raw = None
        if not isinstance(raw, dict):
            if response.status_code >= 400:
                return response.status_code, {}
            raise _malformed(url)
        return response.status_code, cast("dict[str, Any]", raw)
    raise _failed(f"no answer from {url}: {problem}", f"check the network, then {SAME_COMMAND}")


def _reason(status: int, answer: dict[str, Any], secret: str = "") -> str:
    """What a server says is wrong."""
    names = ("error_description", "message", "error")
    words = next((str(answer[name]) for name in names if answer.get(name)), "no reason given")
    return redact(f"{_shown(words)} (status {status})", [secret])


def _setting(of: tuple[str, str]) -> str:
    variable, default = of
    return os.environ.get(variable, default)


def _shown(value: object) -> str:
    """Text of a server, as it may stand on a terminal; empty for anything that is no text."""
    if not isinstance(value, str):
        return ""
    return "".join(filter(str.isprintable, value)).strip()[:LONGEST_CODE]


def _seconds(value: object, default: float) -> float:
    """A positive number of a server's answer."""
    if type(value) in (int, float) and cast(float, value) > 0:
        return cast(float, value)
    return default


def _expired() -> ModelError:
    return _failed("the code expired before it was entered", f"{SAME_COMMAND} for a new code")


def _malformed(url: str) -> ModelError:
    return _failed(
        f"{url} did not answer as GitHub does",
        f"check the network (a proxy, a login page), then {SAME_COMMAND}",
    )


def _failed(what: str, hint: str) -> ModelError:
    return ModelError(f"no login to GitHub Copilot: {what}", hint=hint, fatal=True)
