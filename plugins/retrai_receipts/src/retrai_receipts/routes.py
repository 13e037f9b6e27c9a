"""The routes that retrai-server has through this plugin: a run's receipt, and its verification."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

from retrai_core import FilesStore, Run, RunManager, RunNotFoundError, RunRecord

from .command import verification_json
from .receipt import RECEIPT_FILE
from .signing import SigningKey
from .verifying import VerifyOptions, verify

if TYPE_CHECKING:
    from collections.abc import Mapping

_VERIFIED = {"verified": True, "run": "9f86d081884c", "goal": "pytest", "problems": []}
_RECEIPT = {"receipt": {"run": "9f86d081884c"}, "signature": {"algorithm": "Ed25519"}}
_MISSING = {
    "error": "RunNotFoundError",
    "message": "run 9f86d081884c (failed) has no receipt",
    "hint": "an achieved run has one",
    "details": None,
    "detail": "run 9f86d081884c (failed) has no receipt",
}


class ServerState(Protocol):
    """What is used of retrai-server's own object."""

    manager: RunManager

    async def run(self, run_id: str) -> tuple[Run, RunRecord]:
        """A run that clients may see."""
        ...


def receipt_routes(server: ServerState) -> APIRouter:
    """A router with `GET .../receipt` and `POST .../verify`."""
    router = APIRouter(prefix="/api/runs/{run_id}", tags=["receipts"])

    @router.get("/receipt", responses=_answers(_RECEIPT))
    async def show_receipt(run_id: str) -> Response:  # pyright: ignore[reportUnusedFunction]
        """The receipt of an achieved run, byte for byte as it was signed."""
        content, _ = await _receipt(server, run_id)
        headers = {"Content-Disposition": f'attachment; filename="receipt-{run_id}.json"'}
        return Response(content, media_type="application/json", headers=headers)

    @router.post("/verify", responses=_answers(_VERIFIED))
    async def verify_run(run_id: str) -> Response:  # pyright: ignore[reportUnusedFunction]
        """Check the receipt's signature, then the tree, then the check itself on a clean copy."""
        content, record = await _receipt(server, run_id)
        key = SigningKey(FilesStore().state)
        name = f"the receipt of run {record.id}"
        found = await verify(server.manager, content, name, VerifyOptions(), key)
        return JSONResponse(verification_json(found))

    return router


async def _receipt(server: ServerState, run_id: str) -> tuple[bytes, RunRecord]:
    run, record = await server.run(run_id)
    content = await run.artifact(RECEIPT_FILE)
    if content is None:
        raise RunNotFoundError(
            f"run {run_id} ({record.status}) has no receipt", hint="an achieved run has one"
        )
    return content, record


def _answers(example: Mapping[str, Any]) -> dict[int | str, dict[str, Any]]:
    return {
        status: {"content": {"application/json": {"example": shown}}}
        for status, shown in ((200, example), (404, _MISSING))
    }
