"""search with a mode over MCP: how an agent reads by what it was answered, and that meaning was left out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from daemons import Daemon, running
from mcp_calls import Quiet, call, error, text_of
from meanings import PATIENT, MeaningService, make_embedded

from kbdb.mcp.server import KbdbServer

FACTS = {
    "Storage": "We chose Postgres because of JSONB.",
    "Cellar": "Apples and pears keep until spring.",
    "Picnic": "Take an umbrella, the forecast says rain.",
}


@pytest.fixture
def daemon(root: Path, service: MeaningService) -> Iterator[Daemon]:
    """A daemon of a database whose sections have their vectors."""
    make_embedded(root.parent, service, FACTS, more=PATIENT)
    with running(root) as started:
        yield started


@contextmanager
def restarted(daemon: Daemon) -> Iterator[None]:
    """Another daemon in the place of this one, which reads its settings anew."""
    daemon.stop()
    with running(daemon.root):
        yield


def test_an_agent_finds_by_meaning_what_has_none_of_its_words(server: KbdbServer) -> None:
    assert call(server, "search", query="sql")["hits"] == []
    for mode in ("vector", "hybrid"):
        found = call(server, "search", query="sql", mode=mode)
        assert found["hits"][0]["title"] == "Storage"
        assert (found["search_mode"], found["retrieval_method"]) == (mode, mode)
        assert "vector_index_stale" not in found
    text = text_of(server.call_tool("search", {"query": "sql", "mode": "hybrid"}, Quiet()))
    assert "hybrid search by hybrid" in text


def test_pages_of_a_hybrid_search_follow_each_other(server: KbdbServer) -> None:
    whole = [hit["kbid"] for hit in call(server, "search", query="fruit weather", mode="hybrid")["hits"]]
    found, offset = [], 0
    while offset is not None:
        page = call(server, "search", query="fruit weather", mode="hybrid", limit=1, offset=offset)
        found += [hit["kbid"] for hit in page["hits"]]
        offset = page["next_offset"]
    assert found == whole
    assert len(whole) == len(FACTS)


def test_without_a_provider_an_agent_is_told_so(root: Path, daemon: Daemon, server: KbdbServer) -> None:
    (root / "worker.toml").unlink()
    with restarted(daemon):
        for mode in ("vector", "hybrid"):
            assert error(server, "search", query="sql", mode=mode)["code"] == "EMBEDDING_PROVIDER_NOT_CONFIGURED"
        assert call(server, "search", query="umbrella")["search_mode"] == "lexical"


def test_an_agent_reads_that_the_vectors_are_stale(
    root: Path, daemon: Daemon, server: KbdbServer, service: MeaningService
) -> None:
    service.configure(root.parent, model="newer", more=PATIENT)
    with restarted(daemon):
        found = call(server, "search", query="umbrella", mode="hybrid")
        assert (found["retrieval_method"], found["vector_index_stale"]) == ("lexical", True)
        assert [hit["title"] for hit in found["hits"]] == ["Picnic"]
        text = text_of(server.call_tool("search", {"query": "umbrella", "mode": "hybrid"}, Quiet()))
        assert "hybrid search by lexical" in text
        assert "vector_index_stale" in text
        assert "warning: searched by words alone: the vectors were made by meanings" in text
        call(server, "rebuild")
        assert call(server, "search", query="umbrella", mode="hybrid")["retrieval_method"] == "hybrid"


def test_an_agent_reads_that_the_provider_failed(server: KbdbServer, service: MeaningService) -> None:
    service.status = 403
    found = call(server, "search", query="umbrella", mode="vector")
    assert (found["retrieval_method"], [hit["title"] for hit in found["hits"]]) == ("lexical", ["Picnic"])
    assert found["warnings"][0].startswith("searched by words alone: ")


def test_a_mode_that_is_none_is_refused(server: KbdbServer) -> None:
    assert error(server, "search", query="x", mode="fuzzy")["code"] == "INVALID_ARGUMENT"


def test_an_agent_need_not_name_the_mode_that_is_configured(
    root: Path, daemon: Daemon, server: KbdbServer, service: MeaningService
) -> None:
    service.configure(root.parent, more=f'{PATIENT}mode = "hybrid"')
    with restarted(daemon):
        found = call(server, "search", query="sql")
    assert (found["search_mode"], found["hits"][0]["title"]) == ("hybrid", "Storage")


def test_check_over_mcp_compares_nothing(server: KbdbServer) -> None:
    assert "duplicates" not in call(server, "check")
