"""Errors as JSON: `{"error", "message", "hint", "details", "detail"}`."""

from __future__ import annotations

import json
from typing import Any

from fastapi.exceptions import RequestValidationError, WebSocketRequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from retrai_core import (
    PluginError,
    RetraiError,
    RunNotFoundError,
    StateFolderError,
    TrustRequired,
    UsageError,
    WorkspaceLockedError,
)

_STATUS_OF: tuple[tuple[type[RetraiError], int], ...] = (
    (TrustRequired, 409),
    (RunNotFoundError, 404),
    (WorkspaceLockedError, 409),
    (StateFolderError, 507),
    (UsageError, 422),
    (PluginError, 422),
)
_NAMES = {400: "BadRequest", 404: "NotFound", 405: "MethodNotAllowed", 413: "TooLarge"}


class ApiError(RetraiError):
    """An error with an HTTP status of its own.

    Args:
        status: the HTTP status.
        error: the error's name, for programs.
        message: what is wrong.
        hint: what to do.
        details: more, for programs.
    """

    def __init__(
        self, status: int, error: str, message: str, *, hint: str = "", details: Any = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.error = error
        self.details = details


class Json(JSONResponse):
    """JSON in ASCII: half a surrogate pair, as a file's name may have one, is escaped; a number
    that JSON does not know is null."""

    def render(self, content: Any) -> bytes:
        """The body."""
        try:
            text = json.dumps(content, allow_nan=False, separators=(",", ":"))
        except ValueError:
            known = json.loads(json.dumps(content), parse_constant=lambda _: None)
            text = json.dumps(known, separators=(",", ":"))
        return text.encode("ascii")


def error_response(
    status: int, error: str, message: str, hint: str = "", details: Any = None
) -> Json:
    """An error as every route answers it."""
    body = {"error": error, "message": message, "hint": hint, "details": details}
    return Json({**body, "detail": message}, status)


def response_of(error: Exception) -> Json:
    """The answer to an exception of a route."""
    if isinstance(error, ApiError):
        return error_response(error.status, error.error, error.message, error.hint, error.details)
    if isinstance(error, RetraiError):
        status = next((code for cls, code in _STATUS_OF if isinstance(error, cls)), 503)
        details, hint = None, error.hint
        if isinstance(error, TrustRequired):
            details = {"digest": error.digest, "items": error.items}
            hint = f'the same request with `"trust": "{error.digest}"` agrees'
        name = type(error).__name__
        message = error.message.replace(" (from flag)", "")  # what a request says is no flag
        return error_response(status, name, message, hint, details)
    if isinstance(error, RequestValidationError | WebSocketRequestValidationError):
        # Without the input: it may be a key.
        details = [{key: one[key] for key in ("loc", "msg", "type")} for one in error.errors()]
        where = ".".join(str(part) for part in details[0]["loc"])
        message = f"{where}: {details[0]['msg']}"
        return error_response(422, "ValidationError", message, "see /api/docs", details)
    if isinstance(error, HTTPException):
        name = _NAMES.get(error.status_code, "HTTPError")
        return error_response(error.status_code, name, str(error.detail))
    response = error_response(500, "InternalError", "the server failed; its own output says how")
    response.headers["Connection"] = "close"  # as uvicorn does, which does not say so itself
    return response
