"""The goal `api-test`: every endpoint of an HTTP API answers as it should."""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import json
import os
import re
import secrets
import sys
import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, cast
from urllib.parse import urlsplit

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    field_validator,
)

from retrai_core import CaseOutcome, GoalResult, Limits, RecordedCall, ToolError
from retrai_goal_support import suite_result

from ..command.goal import CommandGoal, CommandOptions
from ..merged_run import OUTPUT_BYTES
from . import client as api_client
from .neighbors import Request, neighbors_of

_SHOWN = 1500
_BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
"""Whoever has no token must be refused, whatever program asks."""
_UNAUTHORIZED = 401
_NO_ANSWER = "no answer: "
MAX_NEIGHBORS = 60
_SENT = {"path", "method", "body", "headers", "timeout"}
"""The fields of an endpoint that the client gets; it must not see the expected answer."""
PROMPT = """\
The goal is `api-test`: the API at {base_url} answers each of these requests as it should:

{endpoints}

{start}
- Start from the answers you are given. Build what an endpoint stands for in the project's own \
sources, so that other requests of its kind are answered too; an answer that is written down for \
just these requests is no solution.
- Tests and what configures them are protected{protected}.\
"""


def _as_text(value: object) -> object:
    return str(value) if isinstance(value, int | float) else value


class Endpoint(BaseModel):
    """A request, and the answer that it should have."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    path: str = Field(min_length=1)
    """Path below `base_url`, with the query (`/users?limit=2`)."""
    method: Annotated[str, StringConstraints(to_upper=True, pattern=r"^[A-Za-z]+$")] = "GET"
    """HTTP method."""
    body: Any = Field(default=None, alias="json")
    """JSON body of the request."""
    headers: dict[str, Annotated[str, BeforeValidator(_as_text)]] = Field(
        default_factory=dict[str, str]
    )
    """Headers of the request."""
    expect_status: int = Field(default=200, ge=100, le=599)
    """Expected status."""
    expect_json: Any = None
    """Expected JSON: objects may have more keys, everything else must be equal."""
    timeout: float = Field(default=10.0, gt=0, le=600)
    """Maximum seconds for the answer."""

    @field_validator("path")
    @classmethod
    def _begins_with_a_slash(cls, value: str) -> str:
        if any(sign.isspace() for sign in value):
            raise ValueError("must not have blanks; write %20")
        return value if value.startswith("/") else f"/{value}"


class ApiTestOptions(CommandOptions):
    """Options of the goal `api-test`."""

    base_url: str = Field(default="http://127.0.0.1:8000", json_schema_extra={"runs": True})
    """Address of the API."""
    endpoints: list[Endpoint] = Field(min_length=1, json_schema_extra={"loosens": True})
    """Requests, in order, each a case: `path`, `method` (GET), `json`, `headers`, `expect_status`
    (200), `expect_json`, `timeout` (10 seconds)."""
    start_command: str = Field(default="", json_schema_extra={"runs": True})
    """Shell line that starts the server and stays in the foreground. It is started anew for each
    check, in the sandbox, and ended with its processes. Default: the server is there already."""
    start_timeout_s: float = Field(default=30.0, gt=0, json_schema_extra={"loosens": False})
    """Maximum seconds until the server listens."""

    @field_validator("base_url")
    @classmethod
    def _is_an_address(cls, value: str) -> str:
        url = urlsplit(value)
        if url.scheme not in ("http", "https") or not url.hostname:
            raise ValueError("must be an address like http://127.0.0.1:8000")
        url.port  # noqa: B018 - raises where it can be none
        return value


class _Given(BaseModel):
    """What the client found for one request."""

    status: int = 0
    body: str = ""
    problem: str = ""

    @property
    def text(self) -> str:
        """The answer as one line."""
        if self.problem:
            return f"{_NO_ANSWER}{self.problem}"
        try:
            body = json.dumps(json.loads(self.body), sort_keys=True, ensure_ascii=False)
        except ValueError:
            body = json.dumps(self.body, ensure_ascii=False) if self.body else ""
        return f"{self.status} {body}".strip()


class _Report(BaseModel):
    """What the client found."""

    secret: str = ""
    problem: str = ""
    printed: str = ""
    answers: list[_Given] = []


class ApiTestGoal(CommandGoal[ApiTestOptions]):
    """The server that `start_command` starts answers each request of `endpoints` with the expected
    status and, where one is given, the expected JSON. Each endpoint is a case. The server runs in
    the sandbox, from the tree that is checked, and is ended with its process group; if
    something already listens at the address, the check is incomplete. Without `start_command` the
    requests go to whatever listens there. At the end the old and the new server get the requests
    again, and others near them: an answer that only the check gets is not believed, and other
    answers that have changed are shown."""

    name: ClassVar[str] = "api-test"
    summary: ClassVar[str] = "every endpoint of an HTTP API answers as it should"
    needs: ClassVar[frozenset[str]] = frozenset({"read", "run", "network"})
    protects: ClassVar[str] = "the tests, and checking files that the start command names"

    def shell_text(self, project: Path) -> str:
        return self.options.start_command

    async def check(self, state: Mapping[str, Any], cwd: Path) -> GoalResult:
        options = self.options
        command = ["requests", "to", options.base_url]
        if options.start_command:
            command = ["bash", "-c", options.start_command]
        try:
            async with _alone_at(options.base_url, options.timeout_s):
                found = await self._ask(cwd, self._requests)
        except TimeoutError:
            problem = f"another check has held {options.base_url} for {options.timeout_s:g} s"
            found = _Report(problem=problem)
        if found.problem:
            return suite_result({}, command, problem=found.problem, output=found.printed)
        cases: dict[str, CaseOutcome] = {}
        failures: dict[str, str] = {}
        calls: list[RecordedCall] = []
        asked = zip(options.endpoints, self._requests, found.answers, strict=True)
        for number, (endpoint, request, answer) in enumerate(asked):
            name = f"{endpoint.method} {endpoint.path}"
            same = sum(other.partition(" #")[0] == name for other in cases)
            case = f"{name} #{same + 1}" if same else name
            problem = _problem(endpoint, answer)
            cases[case] = "failed" if problem else "passed"
            calls.append(RecordedCall(case, _call(request), answer.text, str(number), plain=True))
            if problem:
                failures[case] = f"{problem}\n{answer.body[:_SHOWN]}".strip()
        if failures and found.printed.strip():
            last = next(reversed(failures))
            failures[last] += f"\n\nThe server printed:\n{found.printed[-3000:].strip()}"
        result = suite_result(cases, command, failures=failures)
        at_start = not state and cwd == self.context.project
        wanted = "failed" if at_start else "passed"
        if not options.start_command or (cwd == self.context.project and not at_start):
            return result
        return replace(result, calls=[each for each in calls if cases[each.case] == wanted])

    async def replay_calls(
        self, copy: Path, calls: Sequence[RecordedCall], *, neighbors: int, timeout_s: float
    ) -> Sequence[RecordedCall]:
        options, most = self.options, min(neighbors, MAX_NEIGHBORS)
        near = await asyncio.to_thread(neighbors_of, self._requests, most)
        # All of them, in their order: one may need what another has done.
        asked = [*map(_from_browser, options.endpoints, self._requests), *near]
        # The other copy's server may be there, until its last answer.
        longest_s = options.start_timeout_s + timeout_s + max(each["timeout"] for each in asked)
        try:
            async with _alone_at(options.base_url, longest_s + 30):
                found = await self._ask(copy, asked, timeout_s)
        except TimeoutError:
            return []
        answers = [each.text for each in found.answers]
        again = [
            replace(each, answer=answers[int(each.replay)])
            for each in calls
            if int(each.replay) < len(answers)
        ]
        others = zip(near, answers[len(self._requests) :], strict=False)
        told = ((each, text) for each, text in others if not text.startswith(_NO_ANSWER))
        return [*again, *(RecordedCall("", _call(each), text) for each, text in told)]

    @property
    def _requests(self) -> list[Request]:
        """What the client gets of the endpoints."""
        return [one.model_dump(include=_SENT, by_alias=True) for one in self.options.endpoints]

    def system_prompt(self) -> str:
        options = self.options
        own = [*self.own_files(self.context.project), *options.protect]
        lines = [_described(endpoint) for endpoint in options.endpoints]
        start = "- The server is there already; it is not started for you."
        if options.start_command:
            start = (
                f"- The check starts the server anew with `{options.start_command}` and ends it. "
                "Do the same while you work, and leave no server running: the port must be free."
            )
        return PROMPT.format(
            base_url=options.base_url,
            endpoints="\n".join(lines),
            start=start,
            protected=f" ({', '.join(own)} among them)" if own else "",
        )

    async def _ask(
        self, cwd: Path, requests: Sequence[Request], send_for_s: float | None = None
    ) -> _Report:
        """What the client reports; the problem where it reports nothing.

        Args:
            cwd: the project, or a copy.
            requests: to be sent, in order.
            send_for_s: after so many seconds no more are sent; None sends all.
        """
        options, secret = self.options, secrets.token_hex(16)
        longest_s = send_for_s or sum(each["timeout"] for each in requests)
        limit_s = min(options.start_timeout_s + longest_s + 15, options.timeout_s)
        job = {
            "secret": secret,
            "base_url": options.base_url,
            "start_command": options.start_command,
            "start_timeout_s": options.start_timeout_s,
            "requests": requests,
            "limit_s": send_for_s,
        }
        client = Path(api_client.__file__)
        try:
            done = await self.context.sandbox.run(
                # Isolated: no file of the project decides what this process imports.
                [sys.executable, "-I", "-S", str(client)],
                timeout_s=limit_s,
                cwd=cwd / options.path,
                env={"PYTHONDONTWRITEBYTECODE": "1"},
                limits=Limits(output_bytes=OUTPUT_BYTES),
                stdin=json.dumps(job).encode() + b"\n",
                readable=[Path(sys.prefix), Path(sys.base_prefix), client.parent],
            )
        except (ToolError, FileNotFoundError) as error:
            return _Report(problem=f"the requests cannot be sent: {error}")
        if done.timed_out:
            return _Report(problem=f"the endpoints were not all answered within {limit_s:g} s")
        try:
            report = _Report.model_validate_json(done.stdout)
        except ValidationError:
            lines = done.stderr.strip().splitlines() or [f"exit status {done.exit_code}"]
            return _Report(problem=f"the requests gave no report: {lines[-1][:300]}")
        is_whole = report.problem or send_for_s or len(report.answers) == len(requests)
        if not is_whole or not secrets.compare_digest(report.secret, secret):
            return _Report(problem="the report is not that of the requests")
        return report


@asynccontextmanager
async def _alone_at(base_url: str, timeout_s: float) -> AsyncGenerator[None]:
    """Hold the address: one server at a time can listen there, also of other runs of the user.

    Raises:
        TimeoutError: another check held it for so long.
    """
    url = urlsplit(base_url)
    name = f"retrai-api-{os.getuid()}-{url.hostname}-{url.port or url.scheme}.lock"
    place = os.path.join(tempfile.gettempdir(), name)
    file = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        async with asyncio.timeout(timeout_s):
            while True:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    await asyncio.sleep(0.1)
        yield
    finally:
        os.close(file)


def _from_browser(endpoint: Endpoint, request: Request) -> Request:
    """The request as a browser sends it, where it must be refused for want of a token."""
    headers: dict[str, str] = request["headers"]
    if endpoint.expect_status != _UNAUTHORIZED or "user-agent" in map(str.lower, headers):
        return request
    return {**request, "headers": {**headers, "User-Agent": _BROWSER}}


def _call(request: Request) -> str:
    """A request as a call of its route: `GET /items/*("/items/1")`. A header may say a secret, so
    it is shown by a digest."""
    route, _, query = request["path"].partition("?")
    name = re.sub(r"\d+", "*", route)
    parts: list[object] = [request["path"] if query or name != route else None, request["json"]]
    told = [json.dumps(each, ensure_ascii=False) for each in parts if each is not None]
    for header, value in request["headers"].items():
        told.append(f"{header}: #{hashlib.sha256(value.encode()).hexdigest()[:6]}")
    return f"{request['method']} {name}({', '.join(told)})"


def _described(endpoint: Endpoint) -> str:
    line = f"- {endpoint.method} {endpoint.path}"
    if endpoint.body is not None:
        line += f" with {json.dumps(endpoint.body, ensure_ascii=False)}"
    line += f": status {endpoint.expect_status}"
    if endpoint.expect_json is not None:
        line += f", JSON {json.dumps(endpoint.expect_json, ensure_ascii=False)}"
    return line


def _problem(endpoint: Endpoint, answer: _Given) -> str:
    """Why an answer is not the expected one; empty where it is."""
    if answer.problem:
        return answer.problem
    if answer.status != endpoint.expect_status:
        return f"status {answer.status}, expected {endpoint.expect_status}"
    if endpoint.expect_json is None:
        return ""
    try:
        given: object = json.loads(answer.body)
    except ValueError:
        return "the answer is no JSON"
    return difference(given, endpoint.expect_json)


def difference(given: object, expected: object, place: str = "") -> str:
    """How a JSON value differs from the expected one; objects may have more keys.

    Example:
        >>> difference({"id": 1, "name": "a"}, {"id": 1}), difference({"ids": [1]}, {"ids": [2]})
        ('', 'ids[0] is 1, expected 2')
    """
    where, found = place or "the answer", given
    if isinstance(expected, dict) and isinstance(given, dict):
        has, wants = cast("dict[str, object]", given), cast("dict[str, object]", expected)
        for key, value in wants.items():
            below = f"{place}.{key}" if place else key
            if key not in has:
                return f"{below} is missing"
            if problem := difference(has[key], value, below):
                return problem
        return ""
    if isinstance(expected, list) and isinstance(given, list):
        items, wanted = cast("list[object]", given), cast("list[object]", expected)
        if len(wanted) != len(items):
            return f"{where} has {len(items)} items, expected {len(wanted)}"
        problems = (
            difference(one, other, f"{place}[{number}]")
            for number, (one, other) in enumerate(zip(items, wanted, strict=True))
        )
        return next(filter(None, problems), "")
    if given == expected and isinstance(given, bool) == isinstance(expected, bool):
        return ""
    return f"{where} is {_short(found)}, expected {_short(expected)}"


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:200]}..."
