"""Embedding in a real daemon that asks a real service on loopback."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from daemons import PATIENCE_S, Daemon, Talk, running, wait_for
from meanings import MeaningService

import kbdb

BACKLOG = 150
"""Sections of more than two batches."""


@pytest.fixture
def daemon(root: Path, service: MeaningService) -> Iterator[Daemon]:
    """A daemon whose database asks the service."""
    kbdb.init(root).close()
    service.configure(root.parent)
    with running(root) as started:
        yield started


@pytest.fixture
def talk(daemon: Daemon) -> Iterator[Talk]:
    connected = daemon.talk()
    yield connected
    connected.close()


def embedding(talk: Talk) -> dict[str, Any]:
    status: dict[str, Any] = talk.ask("dbStatus")["embedding"]
    return status


def embedded(talk: Talk) -> bool:
    status = embedding(talk)
    return status["waiting"] == 0 and status["vectors"] > 0


def by_meaning(talk: Talk, query: str) -> list[str]:
    return [hit["title"] for hit in talk.ask("search", query=query, mode="vector")["hits"]]


def many_facts(folder: Path, count: int = BACKLOG) -> Path:
    """A document of so many sections about nothing in particular, and one about rain."""
    path = folder / "many.md"
    facts = "".join(f"# Fact {number}\n\nNumber {number} has no meaning.\n\n" for number in range(count - 1))
    path.write_text(f"{facts}# Picnic\n\nTake an umbrella.\n", encoding="utf-8")
    return path


def asked(service: MeaningService) -> None:
    """Waits until a request stands before the service, which answers none."""
    wait_for(lambda: service.asked > 0)


def test_what_is_learned_is_stored_at_once_and_found_by_meaning_a_little_later(talk: Talk) -> None:
    learned = talk.ask("addSection", content="We chose Postgres because of JSONB.", title="Storage")
    assert learned["vector_embedding_failed"] is None
    wait_for(lambda: embedded(talk))
    assert by_meaning(talk, "sql rationale") == ["Storage"]
    assert talk.ask("daemonStatus")["embedding"] == 0


def test_a_learn_that_waits_is_answered_once_meaning_finds_it(talk: Talk, tmp_path: Path) -> None:
    learned = talk.ask("learn", paths=[str(many_facts(tmp_path))], waitEmbeddings=True)
    assert (len(learned["kbids"]), learned["vector_embedding_failed"], learned["warnings"]) == (BACKLOG, False, [])
    assert by_meaning(talk, "weather")[0] == "Picnic"
    again = talk.ask("learn", paths=[str(many_facts(tmp_path))], waitEmbeddings=True)
    assert (again["sections_added"], again["vector_embedding_failed"]) == (0, False)


def test_several_learns_that_wait_share_one_turn_and_are_all_answered(daemon: Daemon, service: MeaningService) -> None:
    talks = [daemon.talk() for _ in range(4)]
    service.held.clear()
    ids = [talk.send("addSection", content=f"Rain {n}.", waitEmbeddings=True) for n, talk in enumerate(talks)]
    asked(service)
    service.held.set()
    answers = [talk.answer_to(id)["result"] for talk, id in zip(talks, ids, strict=True)]
    assert [answer["vector_embedding_failed"] for answer in answers] == [False] * 4
    for talk in talks:
        talk.close()


def test_without_a_provider_nobody_waits(root: Path) -> None:
    with running(root) as daemon:
        talk = daemon.talk()
        learned = talk.ask("addSection", content="Apples.", title="Apples", waitEmbeddings=True)
        assert (learned["vector_embedding_failed"], learned["warnings"]) == (
            False,
            ["no embedding provider is configured: no vectors were made"],
        )
        talk.close()


def test_who_waits_hears_which_section_was_refused_and_why(talk: Talk, service: MeaningService, tmp_path: Path) -> None:
    service.refuse = "nettle"
    (tmp_path / "notes.md").write_text("# Soup\n\nOf nettles.\n\n# Jam\n\nOf pears.\n")
    learned = talk.ask("learn", paths=[str(tmp_path / "notes.md")], waitEmbeddings=True)
    assert learned["vector_embedding_failed"] is True
    (warning,) = learned["warnings"]
    assert "stored, and found by words; a section got no vector" in warning
    assert "this text is not liked" in warning
    assert by_meaning(talk, "orchard") == ["Jam"]
    status = embedding(talk)
    assert (status["vectors"], status["waiting"], status["failed"], status["trouble"]) == (1, 0, 1, "")


def test_what_is_forgotten_or_withdrawn_is_not_waited_for(talk: Talk, service: MeaningService, tmp_path: Path) -> None:
    (kbid,) = talk.ask("addSection", content="A storm is coming.", title="Storm", waitEmbeddings=True)["kbids"]
    talk.ask("removeSection", kbid=kbid)
    (tmp_path / "storm.md").write_text("# Storm\n\nA storm is coming.\n")
    again = talk.ask("learn", paths=[str(tmp_path / "storm.md")], waitEmbeddings=True)
    assert [held["state"] for held in again["suppressed"]] == ["forgotten"]
    assert again["vector_embedding_failed"] is False
    service.asked = 0
    service.held.clear()
    other = talk.send("addSection", content="Snow is coming.", title="Snow", waitEmbeddings=True)
    asked(service)
    (item,) = (item for item in talk.ask("list", what="sections")["items"] if item["title"] == "Snow")
    talk.ask("removeSection", kbid=item["kbid"])
    service.held.set()
    assert talk.answer_to(other)["result"]["vector_embedding_failed"] is False


def test_trouble_is_told_and_the_provider_is_tried_again_for_what_is_learned_later(
    talk: Talk, service: MeaningService
) -> None:
    service.status = 403
    learned = talk.ask("addSection", content="A storm is coming.", title="Storm", waitEmbeddings=True)
    assert learned["vector_embedding_failed"] is True
    assert "stored, and found by words; no vectors were made: " in learned["warnings"][0]
    assert "answered 403" in learned["warnings"][0]
    assert "answered 403" in embedding(talk)["trouble"]
    assert embedding(talk)["waiting"] == 1
    assert [hit["title"] for hit in talk.ask("search", query="storm")["hits"]] == ["Storm"]
    service.status = 200
    assert (
        talk.ask("addSection", content="Rain.", title="Rain", waitEmbeddings=True)["vector_embedding_failed"] is False
    )
    wait_for(lambda: embedding(talk)["waiting"] == 0)
    assert (embedding(talk)["vectors"], embedding(talk)["trouble"]) == (2, "")


def test_nobody_else_waits_for_a_service_that_is_slow(daemon: Daemon, talk: Talk, service: MeaningService) -> None:
    service.held.clear()
    waits = talk.send("addSection", content="A storm is coming.", title="Storm", waitEmbeddings=True)
    asked(service)
    other = daemon.talk()
    assert other.ask("addSection", content="Pears keep.", title="Pears")["vector_embedding_failed"] is None
    assert [hit["title"] for hit in other.ask("search", query="pears storm")["hits"]] != []
    assert other.ask("check")["ok"]
    assert other.ask("daemonStatus")["embedding"] >= 1
    service.held.set()
    assert talk.answer_to(waits)["result"]["vector_embedding_failed"] is False
    other.close()


def test_who_asked_can_end_the_wait(talk: Talk, service: MeaningService) -> None:
    service.held.clear()
    waits = talk.send("addSection", content="A storm is coming.", title="Storm", waitEmbeddings=True)
    asked(service)
    talk.notify("cancel", id=waits)
    answer = talk.answer_to(waits)["result"]
    assert answer["vector_embedding_failed"] is None
    assert (answer["interrupted"], answer["interrupted_by"]) == (True, "INTERRUPTED")
    assert [hit["title"] for hit in talk.ask("search", query="storm")["hits"]] == ["Storm"]
    service.held.set()
    wait_for(lambda: embedded(talk))


@pytest.mark.parametrize("by", ["shutdown", "signal"])
def test_an_end_waits_for_no_service_and_answers_those_who_do(
    daemon: Daemon, talk: Talk, service: MeaningService, by: str
) -> None:
    service.held.clear()
    waits = talk.send("addSection", content="A storm is coming.", title="Storm", waitEmbeddings=True)
    asked(service)
    if by == "shutdown":
        daemon.talk().ask("shutdown")
    else:
        daemon.process.send_signal(signal.SIGTERM)
    answer = talk.answer_to(waits)["result"]
    assert (answer["sections_added"], answer["vector_embedding_failed"]) == (1, None)
    assert not answer["interrupted"]
    assert daemon.process.wait(PATIENCE_S) == 0, "less than what a request may take"


def test_a_client_that_goes_away_is_not_waited_for(daemon: Daemon, service: MeaningService) -> None:
    service.held.clear()
    gone = daemon.talk()
    gone.send("addSection", content="A storm is coming.", title="Storm", waitEmbeddings=True)
    asked(service)
    gone.close()
    talk = daemon.talk()
    wait_for(lambda: talk.ask("daemonStatus")["connections"] == 1)
    service.held.set()
    wait_for(lambda: embedded(talk))
    talk.close()


def test_it_is_not_idle_before_all_is_embedded(root: Path, service: MeaningService, tmp_path: Path) -> None:
    kbdb.init(root).close()
    service.configure(root.parent, more="[daemon]\nidle_timeout_s = 1")
    with running(root) as daemon:
        talk = daemon.talk()
        service.held.clear()
        talk.ask("learn", paths=[str(many_facts(tmp_path))])
        asked(service)
        talk.close()
        with pytest.raises(subprocess.TimeoutExpired):
            daemon.process.wait(4)
        service.held.set()
        assert daemon.process.wait(PATIENCE_S) == 0
    with kbdb.open(root) as kb:
        assert (kb.status().embedding.vectors, kb.status().embedding.waiting) == (BACKLOG, 0)


def test_a_provider_in_trouble_keeps_nobody_up(root: Path, service: MeaningService) -> None:
    kbdb.init(root).close()
    service.configure(root.parent, more="[daemon]\nidle_timeout_s = 1")
    service.status = 403
    with running(root) as daemon:
        talk = daemon.talk()
        talk.ask("addSection", content="A storm is coming.", title="Storm")
        talk.close()
        assert daemon.process.wait(PATIENCE_S) == 0


def test_vectors_of_another_model_wait_for_a_rebuild(root: Path, service: MeaningService) -> None:
    kbdb.init(root).close()
    service.configure(root.parent)
    with running(root) as first:
        talk = first.talk()
        talk.ask("addSection", content="A storm is coming.", title="Storm", waitEmbeddings=True)
        talk.close()
        assert first.stop() == 0
    service.configure(root.parent, model="newer")
    made = len(service.texts)
    with running(root) as second:
        talk = second.talk()
        learned = talk.ask("addSection", content="More rain.", title="Rain", waitEmbeddings=True)
        assert learned["vector_embedding_failed"] is True
        assert "made by meanings, and the model is newer now; run: kbdb rebuild" in learned["warnings"][0]
        assert embedding(talk)["stale"]
        assert len(service.texts) == made
        assert talk.ask("rebuildIndexes")["vectors"] == 2
        assert by_meaning(talk, "umbrella") == ["Rain", "Storm"]
        talk.close()


@pytest.mark.parametrize("moment", ["before the first vector", "in the middle"])
def test_what_a_kill_left_without_vectors_the_next_daemon_embeds(
    root: Path, service: MeaningService, tmp_path: Path, moment: str
) -> None:
    kbdb.init(root).close()
    service.configure(root.parent)
    service.answers = 0 if moment == "before the first vector" else 1
    with running(root) as killed:
        talk = killed.talk()
        talk.ask("learn", paths=[str(many_facts(tmp_path))])
        wait_for(lambda: service.asked > service.answers)
        killed.stop(signal.SIGKILL)
        talk.close()
    service.answer_all()
    with running(root) as next_one:
        talk = next_one.talk()
        wait_for(lambda: embedding(talk)["vectors"] == BACKLOG)
        assert embedding(talk)["waiting"] == 0
        assert by_meaning(talk, "weather")[0] == "Picnic"
        assert talk.ask("check")["ok"]
        talk.close()


def test_a_rebuild_lets_others_read_and_write_and_can_be_ended(
    daemon: Daemon, talk: Talk, service: MeaningService, tmp_path: Path
) -> None:
    talk.ask("learn", paths=[str(many_facts(tmp_path))], waitEmbeddings=True)
    before = talk.ask("search", query="weather", mode="vector")["hits"]
    made, other = len(service.texts), daemon.talk()
    service.held.clear()
    service.asked = 0
    rebuilds = talk.send("rebuildIndexes", progress=True)
    asked(service)
    other.ask("addSection", content="Pears keep.", title="Pears")
    assert [hit["title"] for hit in other.ask("search", query="pears")["hits"]] == ["Pears"]
    assert other.ask("search", query="pears", mode="lexical")["total"] == 1
    assert service.asked == 1, "nobody else asks the provider meanwhile"
    talk.notify("cancel", id=rebuilds)
    assert talk.answer_to(rebuilds)["error"]["data"]["code"] == "INTERRUPTED"
    service.held.set()
    wait_for(lambda: embedding(other)["vectors"] == BACKLOG + 1)
    assert other.ask("search", query="weather", mode="vector")["hits"][0] == before[0]
    assert len(service.texts) <= made + 64 + 2, "of those that were there none was made again, but for one batch"
    other.close()


def test_a_rebuild_takes_what_is_learned_meanwhile_along(
    daemon: Daemon, talk: Talk, service: MeaningService, tmp_path: Path
) -> None:
    talk.ask("learn", paths=[str(many_facts(tmp_path))], waitEmbeddings=True)
    other = daemon.talk()
    service.held.clear()
    service.asked = 0
    rebuilds = talk.send("rebuildIndexes", progress=True)
    asked(service)
    waits = other.send("addSection", content="Pears keep.", title="Pears", waitEmbeddings=True)
    third = daemon.talk()
    wait_for(lambda: third.ask("search", query="pears")["total"] == 1)
    service.held.set()
    assert talk.answer_to(rebuilds)["result"]["vectors"] == BACKLOG
    assert other.answer_to(waits)["result"]["vector_embedding_failed"] is False
    assert by_meaning(third, "orchard")[0] == "Pears"
    for done in (other, third):
        done.close()


def test_a_rebuild_ends_with_the_daemon_even_while_a_service_hangs(
    daemon: Daemon, talk: Talk, service: MeaningService
) -> None:
    talk.ask("addSection", content="A storm is coming.", title="Storm", waitEmbeddings=True)
    service.held.clear()
    service.asked = 0
    rebuilds = talk.send("rebuildIndexes")
    asked(service)
    daemon.process.send_signal(signal.SIGTERM)
    assert talk.answer_to(rebuilds)["error"]["data"]["code"] == "DAEMON_STOPPED"
    assert daemon.process.wait(PATIENCE_S) == 0
    service.held.set()
    with kbdb.open(daemon.root) as kb:
        assert kb.status().embedding.vectors == 1
