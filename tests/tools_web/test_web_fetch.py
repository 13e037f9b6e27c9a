"""Reading pages: what comes back, and what is refused."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from typing import Any

import pytest

from retrai_core import ToolError
from retrai_tools_web.addresses import refusal

from .conftest import WebServer

LOCAL = ["127.0.0.1"]


async def test_an_article_comes_as_text_without_what_surrounds_it(
    web: WebServer, fetching: Any
) -> None:
    async with fetching(allow_hosts=LOCAL) as fetch:
        answer = await fetch(web.url("article"))
    assert answer.ok
    assert "How to hold a spoon" in answer.content
    assert "between the thumb and the first finger" in answer.content
    assert "spoon --hold --level" in answer.content
    assert "never shown" not in answer.content
    assert "Shop" not in answer.content


async def test_the_charset_that_the_server_names_is_used(web: WebServer, fetching: Any) -> None:
    async with fetching(allow_hosts=LOCAL) as fetch:
        assert "Voilà." in (await fetch(web.url("latin"))).content


async def test_a_page_without_a_main_part_is_shown_whole(web: WebServer, fetching: Any) -> None:
    async with fetching(allow_hosts=LOCAL) as fetch:
        answer = await fetch(web.url("short"))
    assert answer.content.splitlines()[1:] == ["ok"]


async def test_texts_that_are_no_html_come_as_they_are(web: WebServer, fetching: Any) -> None:
    async with fetching(allow_hosts=LOCAL) as fetch:
        assert '{"version": "1.2.3"}' in (await fetch(web.url("json"))).content
        assert "small inside" in (await fetch(web.url("zipped"))).content


async def test_a_long_text_comes_in_parts_that_fit_together(web: WebServer, fetching: Any) -> None:
    parts: list[str] = []
    start = 0
    async with fetching(allow_hosts=LOCAL, max_chars=10_000) as fetch:
        while True:
            answer = await fetch(web.url("text"), start=start)
            head, _, text = answer.content.partition("\n")
            assert len(answer.content) <= 10_000
            parts.append(text)
            if "go on with start=" not in head:
                break
            start = int(head.rpartition("start=")[2].rstrip("]"))
        with pytest.raises(ToolError, match="has only"):
            await fetch(web.url("text"), start=10_000_000)
    assert "".join(parts) == "".join(f"line {n}\n" for n in range(5000))


@pytest.mark.parametrize("path", ["picture", "unnamed"])
async def test_what_is_no_text_is_said(web: WebServer, fetching: Any, path: str) -> None:
    async with fetching(allow_hosts=LOCAL) as fetch:
        with pytest.raises(ToolError, match=r"(png|octet-stream), which is no text"):
            await fetch(web.url(path))


async def test_a_missing_page_is_an_error_with_what_the_server_says(
    web: WebServer, fetching: Any
) -> None:
    async with fetching(allow_hosts=LOCAL) as fetch:
        answer = await fetch(web.url("nothing-here"))
    assert not answer.ok
    assert "(404)" in answer.content
    assert "There is no such page." in answer.content


async def test_of_a_page_of_100_mb_only_the_beginning_is_read(
    web: WebServer, fetching: Any
) -> None:
    async with fetching(allow_hosts=LOCAL, max_bytes=200_000) as fetch:
        answer = await fetch(web.url("huge"))
    assert answer.data["cut"]
    assert answer.data["chars"] == 200_000
    assert "it is longer than 200000 bytes" in answer.content
    assert web.sent < 50_000_000, "the rest was read too"


async def test_a_small_file_that_unpacks_to_300_mb_is_cut_as_well(
    web: WebServer, fetching: Any
) -> None:
    async with fetching(allow_hosts=LOCAL, max_bytes=200_000) as fetch:
        answer = await fetch(web.url("bomb"))
    assert answer.data["cut"]
    assert answer.data["chars"] == 200_000


@pytest.mark.parametrize(("path", "said"), [("damaged", "damaged"), ("brotli", "'br'")])
async def test_compressed_data_that_cannot_be_read_are_said(
    web: WebServer, fetching: Any, path: str, said: str
) -> None:
    async with fetching(allow_hosts=LOCAL) as fetch:
        with pytest.raises(ToolError, match=said):
            await fetch(web.url(path))


@pytest.mark.parametrize("path", ["hangs", "drips"])
async def test_a_page_that_does_not_come_to_an_end_is_given_up(
    web: WebServer, fetching: Any, path: str
) -> None:
    async with fetching(allow_hosts=LOCAL, timeout_s=0.5) as fetch:
        with pytest.raises(ToolError, match=r"did not come within 0\.5 s|cannot be read"):
            await fetch(web.url(path))


async def test_a_redirect_is_followed(web: WebServer, fetching: Any) -> None:
    async with fetching(allow_hosts=LOCAL) as fetch:
        answer = await fetch(web.url("to-article"))
    assert answer.data["url"] == web.url("article")


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("round", "redirects more than 5 times"),
        ("to-localhost", "localhost is refused: its address .* is this machine itself"),
        ("to-metadata", r"169\.254\.169\.254 is refused.*link-local"),
        ("to-file", "only http and https"),
    ],
)
async def test_a_redirect_to_where_nobody_may_go_is_refused(
    web: WebServer, fetching: Any, path: str, said: str
) -> None:
    async with fetching(allow_hosts=LOCAL) as fetch:
        with pytest.raises(ToolError, match=said):
            await fetch(web.url(path))
    assert not any(path == "/article" for path, _ in web.asked)


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0.0.0.0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "localhost",
    ],
)
async def test_this_machine_is_refused_however_it_is_written(
    web: WebServer, fetching: Any, host: str
) -> None:
    async with fetching() as fetch:
        with pytest.raises(ToolError, match=r"is refused|cannot be found"):
            await fetch(web.url("article", host))
    assert web.asked == []


@pytest.mark.parametrize(
    "address",
    [
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "0.0.0.0",
        "::",
        "fe80::1",
        "fd00::1",
        "ff02::1",
        "::ffff:10.0.0.1",
        "64:ff9b::a00:1",
        "2002:7f00:1::",
        "::10.0.0.1",
    ],
)
def test_addresses_that_are_not_public_are_refused(address: str) -> None:
    assert refusal(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", ["1.1.1.1", "2606:4700::1111", "64:ff9b::101:101"])
def test_public_addresses_are_let_through(address: str) -> None:
    assert refusal(ipaddress.ip_address(address)) is None


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://127.0.0.1/",
        "gopher://x",
        "no address",
        "http://",
        "http://user:secret@127.0.0.1/",
        "http://[::1",
        "http://127.0.0.1:99999/",
    ],
)
async def test_what_is_no_address_of_a_page_is_said(fetching: Any, url: str) -> None:
    async with fetching(allow_hosts=LOCAL) as fetch:
        with pytest.raises(ToolError) as caught:
            await fetch(url)
    assert "secret" not in str(caught.value)


async def test_a_name_is_looked_up_once_and_cannot_change_its_meaning(
    web: WebServer, fetching: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The resolver that a name's owner runs may answer differently the second time."""
    looked_up: list[str] = []

    async def resolver(host: str, port: int, **_: Any) -> list[Any]:
        looked_up.append(host)
        assert len(looked_up) == 1, "looked up twice"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    async with fetching(allow_hosts=["docs.test"]) as fetch:
        with monkeypatch.context() as patch:
            patch.setattr(asyncio.get_running_loop(), "getaddrinfo", resolver)
            answer = await fetch(web.url("json", "docs.test"))
    assert "1.2.3" in answer.content
    assert web.asked == [("/json", f"docs.test:{web.server_port}")]


async def test_a_name_with_a_public_and_a_private_address_is_refused(
    fetching: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def resolver(host: str, port: int, **_: Any) -> list[Any]:
        return [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))
            for address in ("1.1.1.1", "10.0.0.1")
        ]

    async with fetching() as fetch:
        monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", resolver)
        with pytest.raises(ToolError, match=r"10\.0\.0\.1 is a private network"):
            await fetch("http://both.test/")


async def test_an_address_where_nobody_listens_is_said(fetching: Any) -> None:
    async with fetching(allow_hosts=LOCAL) as fetch:
        with pytest.raises(ToolError, match="cannot be read"):
            await fetch("http://127.0.0.1:1/")
