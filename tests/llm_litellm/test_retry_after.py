"""The server's own word on when to come back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

from hypothesis import given
from hypothesis import strategies as st

from retrai_llm_litellm.retries import RetryPolicy, retry_after_s

NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Refused(Exception):
    """An answer with a status and headers, as LiteLLM raises it."""

    def __init__(self, status_code: int, **headers: str) -> None:
        super().__init__("refused")
        self.status_code = status_code
        self.litellm_response_headers = headers


@given(st.integers(0, 10_000))
def test_seconds_and_dates_say_the_same(seconds: int) -> None:
    date = format_datetime(NOW + timedelta(seconds=seconds), usegmt=True)
    assert retry_after_s({"retry-after": str(seconds)}) == seconds
    assert retry_after_s({"retry-after": date}, NOW) == seconds


@given(st.text())
def test_no_header_is_too_strange(text: str) -> None:
    wait = retry_after_s({"retry-after": text}, NOW)
    assert wait is None or wait >= 0


def test_a_date_that_has_passed_means_now() -> None:
    assert retry_after_s({"retry-after": "Mon, 01 Jan 2024 00:00:00 GMT"}, NOW) == 0


@given(st.sampled_from([408, 429, 500, 503, 529]), st.integers(0, 4))
def test_without_a_word_waits_grow_within_bounds(status: int, retries: int) -> None:
    wait = RetryPolicy(max_retries=5).wait_s(Refused(status), retries)
    assert wait is not None
    assert 0.25 * 2**retries <= wait <= 0.5 * 2**retries


@given(st.sampled_from([400, 401, 403, 404, 422]), st.integers(0, 4))
def test_refusals_are_final(status: int, retries: int) -> None:
    assert RetryPolicy().wait_s(Refused(status, **{"retry-after": "1"}), retries) is None


def test_the_last_attempt_is_the_last() -> None:
    policy = RetryPolicy(max_retries=2)
    assert policy.wait_s(Refused(500), 1) is not None
    assert policy.wait_s(Refused(500), 2) is None
