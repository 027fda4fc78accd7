"""Times as the truth files spell them: UTC, one spelling for each instant, so that text order is time order."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from kbdb.errors import InvalidArgumentError

_ZERO = len("+00:00")
"""Characters of UTC's offset, where the spelling has a Z."""

_SECONDS = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")
_INSTANT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z")


def seconds(moment: datetime) -> str:
    """The time of manifests and catalog: ``2026-01-31T12:00:00Z``; microseconds are cut off."""
    return f"{_utc(moment).isoformat(timespec='seconds')[:-_ZERO]}Z"


def instant(moment: datetime) -> str:
    """The time of events: ``2026-01-31T12:00:00.000000Z``."""
    return f"{_utc(moment).isoformat(timespec='microseconds')[:-_ZERO]}Z"


def now_instant() -> str:
    """The ``instant`` of this moment. A commit asks a few times."""
    # Rounded up, as a datetime's is.
    second, microsecond = divmod(-(-time.time_ns() // 1000), 1_000_000)
    return f"{_second(second)}.{microsecond:06d}Z"


def now_seconds() -> str:
    """The ``seconds`` of this moment."""
    return f"{_second(time.time_ns() // 1_000_000_000)}Z"


@lru_cache(maxsize=2)
def _second(since_1970: int) -> str:
    return datetime.fromtimestamp(since_1970, UTC).isoformat(timespec="seconds")[:-_ZERO]


def instant_after(moment: datetime, last: str) -> str:
    """The instant for a new event: ``moment``, or just after ``last`` where a clock went back or stood still.

    Args:
        moment: now.
        last: the newest instant that the new event must follow, or ``""``.
    """
    now = instant(moment)
    return now if now > last else instant(parse(last) + timedelta(microseconds=1))


def parse(text: str) -> datetime:
    """The moment that either spelling names.

    Raises:
        InvalidArgumentError: neither spelling, or no such date or time.
    """
    if not is_seconds(text) and not is_instant(text):
        raise InvalidArgumentError(f"not a UTC time: {text!r}", "write it like 2026-01-31T12:00:00Z")
    return datetime.fromisoformat(text)


def is_seconds(text: str) -> bool:
    """Whether the text is a time as in manifests."""
    return _SECONDS.fullmatch(text) is not None and _exists(text)


def is_instant(text: str) -> bool:
    """Whether the text is a time as in events."""
    return _INSTANT.fullmatch(text) is not None and _exists(text)


def _exists(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _utc(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise InvalidArgumentError(f"a time without a time zone: {moment.isoformat()}", "give it one, such as UTC")
    return moment if moment.tzinfo is UTC else moment.astimezone(UTC)
