"""The thread that has sections embedded: when it tries again, and what becomes of what was made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest
from daemons import wait_for
from locks import unlocked
from meanings import MeaningService

import kbdb
from kbdb.daemon import embedder as module
from kbdb.daemon.embedder import Embedder
from kbdb.daemon.queue import FairQueue, Job
from kbdb.daemon.writer import Writer
from kbdb.errors import BusyError, StorageError
from kbdb.knowledge import KnowledgeBase, vectors
from kbdb.model.embedding import EmbeddingStatus


class Embedding:
    """A real database with its writer and its embedder.

    Args:
        root: its ``.kbdb`` folder.
        pauses: the embedder's arguments about when it tries again.
    """

    def __init__(self, root: Path, **pauses: float) -> None:
        self.kb = KnowledgeBase.open(root)
        self.reading: Any = self.kb.reading()
        self.queue = FairQueue()
        self.embedder = Embedder(self.queue.put, embeds=self.kb.embeds, **pauses)
        self.writer = Writer(self.kb, self.queue, unlocked, self.publish, lambda _: None)
        self.writer.start()
        self.embedder.start()

    def publish(self, reading: Any) -> None:
        self.reading = reading
        self.embedder.published(reading)

    def status(self) -> EmbeddingStatus:
        status: EmbeddingStatus = self.reading.embedding_status()
        return status

    def learn(self, content: str) -> Any:
        """Learns a text; the answer, once it is stored."""
        return self.write(lambda kb: kb.learn(content=content, title=content))

    def rebuild(self) -> Any:
        return self.write(lambda kb: kb.rebuild(), is_short=False)

    def write(self, verb: Callable[[KnowledgeBase], Any], *, is_short: bool = True) -> Any:
        answers: SimpleQueue[Any] = SimpleQueue()
        self.queue.put(Job("owner", "a write", "process 1", lambda kb, _: verb(kb), is_short, answers.put))
        return answers.get()

    def close(self) -> None:
        self.embedder.end()
        self.queue.end()
        self.writer.join()
        self.embedder.join()
        self.kb.close()


@pytest.fixture
def root(tmp_path: Path, service: MeaningService) -> Path:
    """Of a database that asks the service."""
    kbdb.init(tmp_path).close()
    service.configure(tmp_path)
    return tmp_path / ".kbdb"


def test_a_provider_in_trouble_is_tried_again_by_and_by(root: Path, service: MeaningService) -> None:
    service.status = 403
    running = Embedding(root, first_pause_s=0.01)
    running.learn("Rain.")
    wait_for(lambda: service.asked >= 4)
    assert "answered 403" in running.status().trouble
    service.status = 200
    wait_for(lambda: service.texts == ["Rain.\nRain."])
    wait_for(lambda: running.status().trouble == "")
    running.close()
    assert len(service.texts) == 1


def test_what_is_learned_in_time_of_trouble_has_it_tried_again_soon_but_not_at_once(
    root: Path, service: MeaningService
) -> None:
    service.status = 403
    running = Embedding(root, first_pause_s=3600.0, soon_s=3600.0)
    running.learn("Rain.")
    wait_for(lambda: running.embedder.waiting == 1 and running.status().trouble != "")
    asked = service.asked
    running.learn("Snow.")
    running.learn("Hail.")
    running.close()
    assert service.asked == asked
    running = Embedding(root, first_pause_s=3600.0, soon_s=0.0)
    wait_for(lambda: service.asked > asked and running.status().trouble != "")
    service.status = 200
    running.learn("Fog.")
    wait_for(lambda: len(service.texts) == 4)
    running.close()


def test_a_rebuild_that_succeeds_ends_the_trouble(root: Path, service: MeaningService) -> None:
    service.status = 403
    running = Embedding(root, first_pause_s=3600.0, soon_s=3600.0)
    running.learn("Rain.")
    wait_for(lambda: running.status().trouble != "")
    service.status = 200
    assert running.rebuild().vectors == 1
    assert running.status().trouble == ""
    running.learn("Snow.")
    wait_for(lambda: running.status().vectors == 2)
    running.close()


def test_vectors_are_offered_again_where_the_writer_is_kept_from_writing(
    root: Path, service: MeaningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "WRITER_PAUSE_S", 0.01)
    running, refusals, take = Embedding(root), [0], KnowledgeBase.take_vectors

    def busy_at_first(kb: KnowledgeBase, made: Any) -> None:
        refusals[0] += 1
        if refusals[0] <= 3:
            raise BusyError("a backup is being made", "try again later")
        take(kb, made)

    monkeypatch.setattr(KnowledgeBase, "take_vectors", busy_at_first)
    running.learn("Rain.")
    wait_for(lambda: running.status().vectors == 1)
    running.close()
    assert (refusals, service.texts) == ([4], ["Rain.\nRain."])


def test_vectors_that_cannot_be_kept_are_trouble(
    root: Path, service: MeaningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: KnowledgeBase, __: Any) -> None:
        raise StorageError("the disk is full")

    monkeypatch.setattr(KnowledgeBase, "take_vectors", full)
    running = Embedding(root)
    running.learn("Rain.")
    wait_for(lambda: running.status().trouble == "the disk is full")
    assert not running.embedder.is_busy
    running.close()
    assert len(service.texts) == 1


def test_vectors_are_written_now_and_then_although_the_writer_never_rests(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "WRITTEN_EACH", 2)
    running = Embedding(root)
    monkeypatch.setattr(running.kb, "settle", lambda: None)
    running.learn("Rain.")
    running.learn("Snow.")
    wait_for(lambda: any((root / "indexes").glob("*/vectors.idx")))
    running.close()
