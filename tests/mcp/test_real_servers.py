"""Servers that nobody here wrote, over both transports."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
from pathlib import Path
from typing import Any

from retrai_core.agents.tool_schema import schema

from .conftest import Offering, installed


def repository(folder: Path) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    (folder / "a.txt").write_text("hello\n")
    for command in (("init", "-q"), ("add", "."), (*who, "commit", "-q", "-m", "the first")):
        subprocess.run(["git", *command], cwd=folder, check=True, capture_output=True)


async def test_the_git_server_reads_a_repository(offering: Offering, tmp_path: Path) -> None:
    repository(tmp_path)
    async with offering({"git": {"command": [installed("mcp-server-git")]}}) as offer:
        found = await offer.call("git.git_log", repo_path=str(tmp_path))
        assert found.ok
        assert "the first" in found.content
        refused = await offer.call("git.git_log", repo_path="/no/such/place")
        assert not refused.ok
        assert "/no/such/place" in refused.content


async def test_the_time_server_converts_a_time(offering: Offering) -> None:
    async with offering({"time": {"command": [installed("mcp-server-time")]}}) as offer:
        assert sorted(offer.tools) == ["time.convert_time", "time.get_current_time"]
        found = await offer.call(
            "time.convert_time",
            source_timezone="UTC",
            time="12:00",
            target_timezone="Asia/Kolkata",
        )
        assert "17:30" in found.content


async def test_the_filesystem_server_keeps_to_its_folder(
    offering: Offering, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("hello")
    entry = {"command": [installed("mcp-server-filesystem"), str(tmp_path)], "needs": ["read"]}
    async with offering({"files": entry}) as offer:
        read = await offer.call("files.read_text_file", path=str(tmp_path / "a.txt"))
        assert (read.ok, read.content) == (True, "hello")
        outside = await offer.call("files.read_text_file", path="/etc/hostname")
        assert not outside.ok
        assert offer.tools["files.read_text_file"].needs == {"read"}


async def test_every_kind_of_answer_becomes_text(offering: Offering) -> None:
    async with offering({"all": {"command": [installed("mcp-server-everything")]}}) as offer:
        assert (await offer.call("all.echo", message="hello")).content == "Echo: hello"
        assert "image/png" in (await offer.call("all.get-tiny-image")).content
        weather = await offer.call("all.get-structured-content", location="New York")
        assert "temperature" in weather.content
        assert weather.data["temperature"]
        resource = await offer.call("all.get-resource-reference", resourceType="Text", resourceId=1)
        assert "demo://resource" in resource.content
        wrong = await offer.call("all.get-sum", a="one")
        assert not wrong.ok


async def test_a_model_is_told_what_the_server_says_of_its_arguments(offering: Offering) -> None:
    async with offering({"all": {"command": [installed("mcp-server-everything")]}}) as offer:
        told: dict[str, Any] = schema(offer.tools["all.get-sum"])["function"]
        assert told["name"] == "all__get-sum"
        assert set(told["parameters"]["properties"]) == {"a", "b"}
        assert told["parameters"]["required"] == ["a", "b"]


async def test_a_server_at_an_address_is_spoken_to_over_http(
    offering: Offering, tmp_path: Path
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = await asyncio.create_subprocess_exec(
        *(installed("mcp-server-everything"), "streamableHttp"),
        env={**os.environ, "PORT": str(port)},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        cwd=tmp_path,
    )
    try:
        async with asyncio.timeout(60):
            while True:
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                    writer.close()
                    break
                except OSError:
                    await asyncio.sleep(0.05)
        async with offering({"far": {"url": f"http://127.0.0.1:{port}/mcp"}}) as offer:
            assert (await offer.call("far.echo", message="hello")).content == "Echo: hello"
    finally:
        server.kill()
        await server.wait()
