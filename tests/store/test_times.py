"""Times: one spelling for each instant, so that text order is time order."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbdb.errors import InvalidArgumentError
from kbdb.store.times import (
    instant,
    instant_after,
    is_instant,
    is_seconds,
    now_instant,
    now_seconds,
    parse,
    seconds,
)

MOMENT = datetime(2026, 1, 31, 13, 0, 0, 5, tzinfo=timezone(timedelta(hours=1)))
moments = st.datetimes(timezones=st.just(UTC))


def test_both_spellings_are_utc() -> None:
    assert seconds(MOMENT) == "2026-01-31T12:00:00Z"
    assert instant(MOMENT) == "2026-01-31T12:00:00.000005Z"


def test_this_moment_is_spelled_as_a_datetime_of_it_would_be() -> None:
    before, now, after = instant(datetime.now(UTC)), now_instant(), instant(datetime.now(UTC))
    assert before <= now <= after
    before, now, after = seconds(datetime.now(UTC)), now_seconds(), seconds(datetime.now(UTC))
    assert before <= now <= after


@given(moments, moments)
def test_instants_read_back_and_sort_as_text(a: datetime, b: datetime) -> None:
    assert is_instant(instant(a))
    assert is_seconds(seconds(a))
    assert parse(instant(a)) == a
    assert (instant(a) < instant(b)) == (a < b)


def test_a_new_event_follows_the_last_even_when_the_clock_went_back() -> None:
    assert instant_after(MOMENT, "") == "2026-01-31T12:00:00.000005Z"
    assert instant_after(MOMENT, "2026-01-31T12:00:00.000005Z") == "2026-01-31T12:00:00.000006Z"
    assert instant_after(MOMENT, "2026-12-31T23:59:59.999999Z") == "2027-01-01T00:00:00.000000Z"


@pytest.mark.parametrize(
    "text",
    ["", "2026-01-31", "2026-01-31T12:00:00", "2026-01-31t12:00:00Z", "2026-02-30T00:00:00Z", "2026-01-01T24:00:01Z"],
)
def test_anything_else_is_no_time(text: str) -> None:
    assert not is_seconds(text)
    with pytest.raises(InvalidArgumentError, match="not a UTC time"):
        parse(text)


def test_a_time_needs_a_zone() -> None:
    with pytest.raises(InvalidArgumentError, match="without a time zone"):
        instant(datetime(2026, 1, 31))
