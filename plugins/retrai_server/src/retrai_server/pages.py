"""The pages: the built dashboard where there is one, the login page, and the API's reference."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

STATIC = Path(__file__).parent / "static"
_METHODS = ("get", "post", "patch", "put", "delete")


class Dashboard(StaticFiles):
    """The built files; every other path is a view of the page, which routes by itself."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """The file, or the page."""
        if scope["path"].startswith("/api/"):
            raise HTTPException(404, "there is no such route; /api/docs lists them")
        try:
            response = await super().get_response(path, scope)
        except HTTPException as error:
            if error.status_code != 404 or "." in Path(path).name:
                raise
            response = await super().get_response("index.html", scope)
        # The names of the files stay: a browser asks whether they are still the same.
        response.headers["Cache-Control"] = "no-cache"
        return response


def plain_page() -> HTMLResponse:
    """The start page where no dashboard was built."""
    return _page(
        "retrai",
        "<p>This server has no dashboard. "
        '<a href="/api/docs">What the API can do</a>, and its '
        '<a href="/api/openapi.json">OpenAPI document</a>.</p>',
    )


def login_page(problem: str, status: int = 200) -> HTMLResponse:
    """Asks for the token, which the browser then sends in the address, once."""
    said = f'<p role="alert">{html.escape(problem)}</p>' if problem else ""
    form = (
        '<form action="/" method="get"><p><label for="token">Token</label> '
        '<input id="token" name="token" type="password" autocomplete="off" required autofocus> '
        "<button>Open</button></p></form>"
        "<p>The terminal in which <code>retrai serve</code> runs shows an address with the token."
        "</p>"
    )
    return _page("retrai: token", said + form, status)


def reference_page(document: dict[str, Any]) -> HTMLResponse:
    """The API's routes, as the OpenAPI document describes them; without a script."""
    routes = "".join(
        _route(path, *one)
        for path, ways in document["paths"].items()
        for one in ways.items()
        if one[0] in _METHODS
    )
    intro = f"<p>{html.escape(document['info']['description'])}</p>"
    return _page("retrai API", intro + routes)


def _route(path: str, method: str, route: dict[str, Any]) -> str:
    parts = [f"<h2><code>{method.upper()} {html.escape(path)}</code></h2>"]
    parts.append(f"<p>{html.escape(route.get('description') or route.get('summary', ''))}</p>")
    items = [
        f"<li><code>{html.escape(one['name'])}</code> ({one['in']}): "
        f"{html.escape(one.get('description', ''))}</li>"
        for one in route.get("parameters", [])
    ]
    parts.append(f"<ul>{''.join(items)}</ul>" if items else "")
    for title, content in _examples(route):
        shown = html.escape(json.dumps(content, indent=2))
        parts.append(f"<details><summary>{title}</summary><pre>{shown}</pre></details>")
    return f"<section>{''.join(parts)}</section>"


def _examples(route: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """What is sent and answered, by example."""
    shown = [("request", route.get("requestBody", {}))]
    shown += [(f"answer {status}", answer) for status, answer in route["responses"].items()]
    for title, part in shown:
        content = part.get("content", {}).get("application/json", {})
        if "example" in content:
            yield title, content["example"]
        for name, example in content.get("examples", {}).items():
            yield f"{title}: {html.escape(name)}", example["value"]


def _page(title: str, body: str, status: int = 200) -> HTMLResponse:
    head = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{title}</title></head>"
    )
    return HTMLResponse(f"{head}<body><main><h1>{title}</h1>{body}</main></body></html>", status)
