"""Requests made from an OpenAPI document: those that fit it, and those that do not."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable

from .served import Served


def fuzz(
    served: Served, document: dict[str, Any], change: Callable[[Any], None], max_examples: int
) -> set[int]:
    """Send requests to every route of a document; none may fail, nor end the server.

    Args:
        served: the server.
        document: OpenAPI.
        change: puts what exists, an id say, into some of the cases.
        max_examples: so many requests of each kind for each route.

    Returns:
        the statuses that were answered.
    """
    statuses: set[int] = set()
    for result in schemathesis.openapi.from_dict(document).get_all_operations():
        operation = result.ok()
        for mode in (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE):

            @given(case=operation.as_strategy(generation_mode=mode))
            @settings(
                max_examples=max_examples,
                deadline=None,
                phases=[Phase.generate],
                database=None,
                derandomize=True,
                suppress_health_check=list(HealthCheck),
            )
            def ask(case: Any) -> None:
                change(case)
                answer = case.call(
                    base_url=served.base,
                    headers={"Authorization": f"Bearer {served.token}"},
                    timeout=120,
                )
                statuses.add(answer.status_code)
                assert answer.status_code < 500, (case.as_curl_command(), answer.text)

            with suppress(Unsatisfiable):  # a route without a value that could be wrong
                ask()
    assert served.process.poll() is None
    return statuses
