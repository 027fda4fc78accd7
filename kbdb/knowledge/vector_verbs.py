"""The verbs of a KnowledgeBase about vectors. Hands over to the verb's module."""

from __future__ import annotations

from kbdb.knowledge import embed_sections
from kbdb.knowledge.core import Core
from kbdb.knowledge.embed_sections import Made
from kbdb.knowledge.one_write import one_write
from kbdb.model.embedding import EmbeddingStatus
from kbdb.model.learn import AddSectionResult


class VectorVerbs:
    """What a KnowledgeBase does with the vectors of its sections."""

    _core: Core

    def next_vectors(self) -> Made | None:
        """Vectors for some live sections that wait for one; None where none waits.

        Writes nothing, so that it may be called on what ``reading`` gave, by another thread than the one that writes;
        ``take_vectors`` keeps what comes out.

        Raises:
            KbdbError: the provider serves nobody now, or the vectors on disk are damaged.
        """
        self._core.require_open()
        kbids = embed_sections.next_waiting(self._core)
        return embed_sections.make(self._core, kbids) if kbids else None

    @one_write
    def take_vectors(self, made: Made) -> None:
        """Keeps vectors that ``next_vectors`` made."""
        self._core.require_open()
        embed_sections.take(self._core, made)

    def embed(self) -> EmbeddingStatus:
        """Makes the vectors that sections wait for, as a daemon does beside its work.

        Raises:
            EmbeddingProviderNotConfiguredError: there is no provider.
            KbdbError: it serves nobody now; what was made until then is kept.
        """
        self._core.require_open()
        self._core.embedding.require("vector")
        while made := self.next_vectors():
            self.take_vectors(made)
        return embed_sections.status(self._core)

    def embedding_status(self) -> EmbeddingStatus:
        """How the database stands with vectors."""
        self._core.require_open()
        return embed_sections.status(self._core)

    def with_outcome(self, learned: AddSectionResult) -> AddSectionResult | None:
        """What was learned, and what came of its vectors; None while some of its sections still get theirs."""
        self._core.require_open()
        return embed_sections.outcome(self._core, learned)

    @property
    def embeds(self) -> bool:
        """Whether a provider is configured."""
        return self._core.embedding.is_configured

    @property
    def default_mode(self) -> str:
        """How searches are made that name no mode."""
        return self._core.config.search.mode

    @property
    def embedding_trouble(self) -> str:
        """What ``note_trouble`` was told last."""
        return self._core.embedding.trouble

    def note_trouble(self, trouble: str) -> None:
        """Has ``status`` tell why nothing is embedded now; ``""`` once something is."""
        self._core.embedding.trouble = trouble
