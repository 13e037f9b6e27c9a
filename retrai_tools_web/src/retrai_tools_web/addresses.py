"""Which addresses a page may come from: the public internet, and nothing of this machine's own."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Collection
from urllib.parse import urlsplit

from retrai_core import ToolError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# Addresses that carry an IPv4 address in their last 32 bits: RFC 6052 (NAT64), RFC 4291.
_CARRIERS = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("::/96"))


def refusal(address: Address) -> str | None:
    """Why an address is not to be spoken to, or None where it is public."""
    inner = _carried(address)
    if inner is not None:
        return refusal(inner)
    if address.is_loopback:
        return "this machine itself"
    if address.is_link_local:
        return "link-local, where clouds keep their machines' secrets"
    if address.is_multicast:
        return "multicast"
    if address.is_unspecified:
        return "no address of a machine"
    if address.is_private:
        return "a private network"
    return None if address.is_global else "not on the public internet"


def _carried(address: Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that an IPv6 address stands for."""
    if isinstance(address, ipaddress.IPv4Address) or address.is_loopback or address.is_unspecified:
        return None
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if any(address in carrier for carrier in _CARRIERS):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return None


async def checked_address(url: str, *, allow_hosts: Collection[str]) -> str:
    """The one address that the page is asked from, so that no second look at the name is needed.

    Every address of the name must be public: a name that leads to both is a trap.

    Args:
        url: http or https, without a user's name.
        allow_hosts: as `HOST` or `HOST:PORT`; these may be anywhere.

    Raises:
        ToolError: the URL is no such one, the name is unknown, or an address is refused.
    """
    host, port = _place(url)
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ToolError(f"{host} cannot be found: {error}") from error
    is_allowed = host in allow_hosts or f"{host}:{port}" in allow_hosts
    addresses = [str(place[4][0]).partition("%")[0] for place in found]
    for text in addresses:
        problem = refusal(ipaddress.ip_address(text))
        if problem is not None and not is_allowed:
            raise ToolError(f"{host} is refused: its address {text} is {problem}")
    return addresses[0]


def _place(url: str) -> tuple[str, int]:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise ToolError(f"{url[:200]!r} is no address of a page: {error}") from error
    if parts.scheme not in ("http", "https"):
        raise ToolError(f"only http and https pages can be read, not {url[:200]!r}")
    if not host:
        raise ToolError(f"{url[:200]!r} names no host")
    if parts.username is not None or parts.password is not None:
        raise ToolError("an address with a user's name or password in it is not read")
    return host, port or (443 if parts.scheme == "https" else 80)
