"""Who may talk to the server: hosts, origins, the token, sizes; and what browsers may do."""

from __future__ import annotations

import ipaddress
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .errors import error_response
from .pages import login_page

MAX_BODY_BYTES = 1_000_000
MAX_QUERY_BYTES = 8_192
MAX_HEADER_BYTES = 32_768
MAX_MESSAGE_BYTES = 65_536
"""Of a WebSocket message that a client sends; the server reads none of them."""
_SAFE = frozenset({"GET", "HEAD"})
_PUBLIC = frozenset({"/api/health", "/login"})
_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


def is_loopback(host: str) -> bool:
    """Whether a host is this machine alone."""
    if host.lower() in _LOOPBACK_NAMES:
        return True
    address = _address(host)
    return address is not None and address.is_loopback


@dataclass(frozen=True)
class Access:
    """Who is let in.

    Attributes:
        host: what the server listens on.
        port: its port; a part of the cookie's name, since browsers do not tell ports apart there.
        token: what a client shows.
        cookie: what a browser shows after it has shown the token.
    """

    host: str
    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def cookie_name(self) -> str:
        """The cookie's name."""
        return f"retrai-{self.port}"

    def knows_host(self, name: str) -> bool:
        """Whether the server answers under a name.

        A page that has its own name resolve to this machine (DNS rebinding) sends that name. An
        address cannot be rebound.
        """
        name = name.lower()
        if name in _LOOPBACK_NAMES or name == self.host.lower():
            return True
        if is_loopback(self.host):
            return False
        return _address(name) is not None or name == socket.gethostname().lower()


class Guard:
    """The middleware around everything that the server answers.

    Args:
        app: the application.
        access: who is let in.
        body_limits: bytes that a body may have, by path; `MAX_BODY_BYTES` for every other.
    """

    def __init__(
        self, app: ASGIApp, access: Access, body_limits: Mapping[str, int] = MappingProxyType({})
    ) -> None:
        self._app = app
        self._access = access
        self._body_limits = body_limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        is_api = scope["path"].startswith("/api/")
        answer = self._refusal(connection) or self._unknown_client(connection, is_api=is_api)

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(_HEADERS)
                if is_api or answer is not None:
                    headers["Cache-Control"] = "no-store"
            await send(message)

        if answer is None:
            await self._app(scope, _limited(receive, self._body_limit(connection)), send_safely)
        else:
            await answer(scope, receive, send_safely)

    def _refusal(self, connection: HTTPConnection) -> Response | None:
        """The answer to what nobody may send, with or without the token."""
        hosts = connection.headers.getlist("host")
        if len(hosts) != 1 or not self._access.knows_host(_hostname(hosts[0])):
            return error_response(
                403, "UnknownHost", "the server does not answer under this host's name"
            )
        is_socket = connection.scope["type"] == "websocket"
        origins = connection.headers.getlist("origin")
        changes = is_socket or connection.scope["method"] not in _SAFE
        if changes and any(origin.lower() != f"http://{hosts[0].lower()}" for origin in origins):
            return error_response(403, "ForeignOrigin", "a page of another site has sent this")
        if len(connection.scope["query_string"]) > MAX_QUERY_BYTES:
            return error_response(414, "TooLong", f"more than {MAX_QUERY_BYTES} bytes of query")
        length = connection.headers.get("content-length", "0")
        limit = self._body_limit(connection)
        if not length.isdecimal() or len(length) > 18 or int(length) > limit:
            return error_response(413, "TooLarge", f"the body may have {limit} bytes")
        return None

    def _body_limit(self, connection: HTTPConnection) -> int:
        return self._body_limits.get(connection.scope["path"], MAX_BODY_BYTES)

    def _unknown_client(self, connection: HTTPConnection, *, is_api: bool) -> Response | None:
        """The answer to a client that does not show the token, or shows it in the address."""
        scope = connection.scope
        path = scope["path"]
        is_page = scope["type"] == "http" and scope["method"] in _SAFE and not is_api
        if is_page and "token" in connection.query_params:
            if _same(connection.query_params["token"], self._access.token):
                return self._with_cookie(connection)
            return login_page("This is not the token of this server.", 401)
        if path in _PUBLIC:
            return None
        scheme, _, token = connection.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and _same(token.strip(), self._access.token):
            return None
        cookie = connection.cookies.get(self._access.cookie_name, "")
        if _same(cookie, self._access.cookie):
            changes = scope["type"] == "websocket" or scope["method"] not in _SAFE
            if changes and "origin" not in connection.headers:  # which every browser sends
                return error_response(403, "NoOrigin", "a cookie counts only beside an `Origin`")
            return None
        if is_page:
            return login_page("", 401)
        answer = error_response(
            401,
            "Unauthorized",
            "this needs the token that `retrai serve` has printed",
            "send `Authorization: Bearer TOKEN`",
        )
        answer.headers["WWW-Authenticate"] = "Bearer"
        return answer

    def _with_cookie(self, connection: HTTPConnection) -> Response:
        """The same address without the token, and the cookie."""
        query = [pair for pair in connection.query_params.multi_items() if pair[0] != "token"]
        path = "/" + connection.scope["path"].lstrip("/")  # `//host` is another server's address
        there = quote(path) + (f"?{urlencode(query)}" if query else "")
        response = RedirectResponse(there, 303)
        response.set_cookie(
            self._access.cookie_name, self._access.cookie, httponly=True, samesite="strict"
        )
        return response


def _limited(receive: Receive, max_bytes: int) -> Receive:
    """`receive`, which refuses a body that is too large, whatever length it announced."""
    received = 0

    async def receive_limited() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b"")) if message["type"] == "http.request" else 0
        if received > max_bytes:
            raise HTTPException(413, f"the body may have {max_bytes} bytes")
        return message

    return receive_limited


def _same(given: str, expected: str) -> bool:
    """Whether two secrets are equal, in a time that does not depend on where they differ."""
    return secrets.compare_digest(given.encode("utf-8", "replace"), expected.encode())


def _hostname(host: str) -> str:
    """The name in a `Host` header, without the port; empty where it is no host."""
    try:
        parts: Any = urlsplit(f"//{host}")
        _ = parts.port  # raises for what is no port
    except ValueError:
        return ""
    return "" if parts.path or parts.query or "@" in host else parts.hostname or ""


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None
