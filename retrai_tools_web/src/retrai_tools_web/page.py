"""Asking for a page: one address at a time, and no more of it than is wanted."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from urllib.parse import urljoin

import httpx

from retrai_core import ToolError

from .addresses import checked_address
from .decoding import ACCEPTED, BoundedDecoder

MAX_REDIRECTS = 5
_HEADERS = {
    "User-Agent": "Mozilla/5.0 (compatible; retrai)",
    "Accept": "text/html,application/xhtml+xml,text/*;q=0.9,application/json;q=0.9,*/*;q=0.1",
    "Accept-Encoding": ACCEPTED,
}


@dataclass(frozen=True, slots=True)
class Page:
    """What was read.

    Attributes:
        url: where it was in the end.
        status: the HTTP status.
        kind: the media type in small letters (`text/html`); empty where none is given.
        charset: as the server names it; empty where it does not.
        body: its beginning.
        cut: whether there is more.
    """

    url: str
    status: int
    kind: str
    charset: str
    body: bytes
    cut: bool


async def read_page(
    url: str, *, max_bytes: int, timeout_s: float, allow_hosts: Collection[str]
) -> Page:
    """Read a page, following redirects, each of which is checked like the first address.

    Args:
        url: the first address.
        max_bytes: how much of it is read.
        timeout_s: seconds for all of it.
        allow_hosts: hosts that need not be public.

    Raises:
        ToolError: an address is refused, nobody answers, it takes too long, it redirects too often.
    """
    # Not the proxy's of the environment: it would look the name up again, by itself.
    client = httpx.AsyncClient(
        verify=ssl.create_default_context(), trust_env=False, timeout=timeout_s
    )
    try:
        async with asyncio.timeout(timeout_s), client:
            for _ in range(MAX_REDIRECTS + 1):
                answer = await _ask(client, url, max_bytes, allow_hosts)
                if isinstance(answer, Page):
                    return answer
                url = answer
    except TimeoutError as error:
        raise ToolError(f"{url} did not come within {timeout_s:g} s") from error
    except (httpx.HTTPError, httpx.InvalidURL, ssl.SSLError) as error:
        why = str(error) or type(error).__name__
        raise ToolError(f"{url} cannot be read: {why}") from error
    raise ToolError(f"it redirects more than {MAX_REDIRECTS} times, last to {url}")


async def _ask(
    client: httpx.AsyncClient, url: str, max_bytes: int, allow_hosts: Collection[str]
) -> Page | str:
    """The page, or the address that it redirects to."""
    address = await checked_address(url, allow_hosts=allow_hosts)
    asked = httpx.URL(url)
    request = client.build_request(
        "GET",
        # The address itself, so that the name cannot mean another one by now.
        asked.copy_with(host=address, fragment=None),
        headers={**_HEADERS, "Host": asked.netloc.decode("ascii")},
        extensions={"sni_hostname": asked.raw_host.decode("ascii")},
    )
    response = await client.send(request, stream=True)
    try:
        if response.is_redirect and "location" in response.headers:
            return urljoin(url, response.headers["location"])
        return await _read(response, url, max_bytes)
    finally:
        await response.aclose()


async def _read(response: httpx.Response, url: str, max_bytes: int) -> Page:
    headers: Mapping[str, str] = response.headers
    decoder = BoundedDecoder(headers.get("content-encoding", "").strip().lower(), max_bytes + 1)
    body = b""
    async for raw in response.aiter_raw():
        body += decoder.feed(raw)
        if decoder.is_full:
            break
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    return Page(
        url=url,
        status=response.status_code,
        kind=kind,
        charset=response.charset_encoding or "",
        body=body[:max_bytes],
        cut=len(body) > max_bytes,
    )
