"""The hook plugins `receipts` and `receipt-routes`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from retrai_core import RunInfo, Verdict, hookimpl


class ReceiptHook:
    """Signs the result of a run as the artifact `receipt.json`."""

    @hookimpl
    def artifacts(self, run: RunInfo, verdict: Verdict) -> Mapping[str, bytes]:
        """The receipt; nothing where the check did not pass on a clean copy."""
        if not verdict.achieved or "clean_copy" not in verdict.evidence:
            return {}
        # Every run builds this plugin, and few end here.
        from .receipt import RECEIPT_FILE, sign
        from .signing import SigningKey
        from .writing import make_receipt

        key = SigningKey(Path(verdict.evidence["state"]))
        return {RECEIPT_FILE: sign(make_receipt(run, verdict, key.public.fingerprint), key)}


class ReceiptRoutes:
    """Gives retrai-server the routes of receipts."""

    @hookimpl(optionalhook=True)
    def routes(self, server: Any) -> Sequence[Any]:
        """A run's receipt, and its verification."""
        from .routes import receipt_routes  # which needs what only retrai-server brings

        return [receipt_routes(server)]
