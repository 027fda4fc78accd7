"""A real embedding service on loopback that knows a few meanings, and databases that ask it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Event

from http_server import Asked, HttpServer, Reply

import kbdb
from kbdb.knowledge import KnowledgeBase

MEANINGS = (
    {"postgres", "jsonb", "database", "rationale", "sql", "table"},
    {"apple", "apples", "pear", "pears", "fruit", "orchard", "harvest"},
    {"rain", "storm", "weather", "forecast", "umbrella"},
    {"train", "railway", "timetable", "station"},
)
PATIENT = "[search]\ndeadline_ms = 60000\n"
"""Settings under which a first question waits until a daemon has loaded what it needs, on a busy machine, too."""

DIMENSIONS = len(MEANINGS) + 1


def vector(text: str) -> list[float]:
    """How much a text has of each meaning; the last number is small, so that no vector is zero."""
    words = re.findall(r"\w+", text.lower())
    return [*(float(sum(word in meaning for word in words)) for meaning in MEANINGS), 0.125]


class MeaningService:
    """Answers ``POST /embeddings``.

    Attributes:
        refuse: texts that hold this are refused with 400; ``""``: none.
        status: what every request is answered with, where it is not 200.
        held: cleared, requests wait until it is set.
        answers: how many requests are answered before the others wait; None: all.
        asked: how many requests came.
        texts: all that was embedded, in turn.
    """

    def __init__(self) -> None:
        self.refuse = ""
        self.status = 200
        self.held = Event()
        self.held.set()
        self.answers: int | None = None
        self.asked = 0
        self.texts: list[str] = []
        self._server = HttpServer(self._answer)

    @property
    def url(self) -> str:
        return self._server.url

    def close(self) -> None:
        self.answer_all()
        self._server.close()

    def settings(self, model: str = "meanings", more: str = "") -> str:
        """A worker.toml of a database that asks this service."""
        return (
            f'{more}\n[embedding]\nprovider = "api"\nmodel = "{model}"\ndimensions = {DIMENSIONS}\n'
            f'api_url = "{self.url}"\n'
        )

    def configure(self, home: Path, model: str = "meanings", more: str = "") -> None:
        """Writes worker.toml into a database's folder, or a new one's.

        Args:
            home: the folder that holds ``.kbdb``.
            model: what the service is told to use.
            more: further settings, in tables of their own.
        """
        (home / ".kbdb" / "worker.toml").write_text(self.settings(model, more), encoding="utf-8")

    def answer_all(self) -> None:
        """Holds no request any more."""
        self.answers = None
        self.held.set()

    def _answer(self, asked: Asked) -> Reply:
        self.asked += 1
        if self.answers is not None and self.asked > self.answers:
            self.held.clear()
        self.held.wait()
        if self.status != 200:
            return Reply(self.status, b"{}")
        texts = json.loads(asked.body)["input"]
        if self.refuse and any(self.refuse in text for text in texts):
            return Reply(400, b'{"error": "this text is not liked"}')
        self.texts += texts
        items = [{"index": place, "embedding": vector(text)} for place, text in enumerate(texts)]
        return Reply(body=json.dumps({"data": items}).encode())


@contextmanager
def meaning_service() -> Iterator[MeaningService]:
    """A service that ends with the block."""
    service = MeaningService()
    try:
        yield service
    finally:
        service.close()


def learn_facts(kb: KnowledgeBase, facts: Mapping[str, str]) -> None:
    """Learns texts by their titles."""
    for title, text in facts.items():
        kb.learn(content=text, title=title)


def make_embedded(home: Path, service: MeaningService, facts: Mapping[str, str], more: str = "") -> None:
    """Makes a database that asks the service, of facts that have their vectors.

    Args:
        home: the folder that is to hold ``.kbdb``.
        service: what is asked.
        facts: texts by their titles.
        more: further settings.
    """
    kbdb.init(home).close()
    service.configure(home, more=more)
    with KnowledgeBase.open(home / ".kbdb") as kb:
        learn_facts(kb, facts)
        kb.embed()
