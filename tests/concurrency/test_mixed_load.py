"""Learners, searchers, those who forget and bring back, a rebuild and a gc, all at once."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from daemons import wait_for
from household import Household

from tests.concurrency.crew import Crew


@pytest.mark.parametrize("seconds", [5, pytest.param(30, marks=pytest.mark.long)])
def test_every_acknowledged_write_is_seen_by_every_later_read_and_none_half(
    home: Household, tmp_path: Path, seconds: int
) -> None:
    crew = Crew(home, tmp_path)
    wait_for(crew.are_at_work)
    time.sleep(seconds)
    assert crew.are_at_work()
    calls = crew.finish()
    print(f"{calls:,} calls in {seconds} s explained")
    home.stop()
