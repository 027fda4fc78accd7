"""Fixtures that every test folder may use."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from meanings import MeaningService, meaning_service

CHECKOUT = Path(__file__).resolve().parent.parent

# No test fails because the machine is slow or busy.
settings.register_profile("kbdb", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("kbdb")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The real test collections, beside the checkout or where ``KBDB_SHARED`` says; skips where they are absent."""
    named = os.environ.get("KBDB_SHARED")
    shared = Path(named) if named else CHECKOUT.parent / "shared"
    if not (shared / "data").is_dir():
        pytest.skip(f"the shared test collections are not at {shared / 'data'}")
    return shared / "data"


@pytest.fixture
def service() -> Iterator[MeaningService]:
    """An embedding service on loopback that ends with the test."""
    with meaning_service() as running:
        yield running


@pytest.fixture(scope="session")
def runtime_folder() -> Iterator[str]:
    """The runtime folder of tests without one of their own; its path is short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="kb", ignore_cleanup_errors=True) as folder:
        yield folder


@pytest.fixture(autouse=True)
def own_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory, runtime_folder: str
) -> None:
    """No test sees the user's databases, neither ``KBDB_DB`` nor the home folder's, and none leaves a daemon behind.

    Tests of daemons, and of commands that use one, take ``KBDB_DAEMON`` away again.
    """
    monkeypatch.setenv("KBDB_DAEMON", "off")
    monkeypatch.delenv("KBDB_DB", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data-home")))
    monkeypatch.setenv("XDG_RUNTIME_DIR", runtime_folder)
