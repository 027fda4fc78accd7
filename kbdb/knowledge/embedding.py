"""The embedding provider of an open database, and the vectors of questions.

What it is asked for sections, and what becomes of the answers, is the business of ``embed_sections``.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from functools import cached_property, lru_cache

from kbdb.config import Config
from kbdb.embed.api import EmbeddingProvider, provider_of
from kbdb.errors import (
    EmbeddingProviderNotConfiguredError,
    EmbeddingUnavailableError,
)
from kbdb.knowledge.vectors import HeldVectors
from kbdb.model.embedding import Fingerprint

REMEMBERED = 256
"""Questions whose vectors are kept: the next page of an answer asks the same again."""

PREPARED_S = 10.0
"""How long the first question waits for a model to be loaded; the deadline is for what comes after."""

AT_ONCE = 8
"""Questions that a provider is asked at a time; where so many do not come back, no more are asked."""


class Embedding:
    """The provider of an open database, and what came of asking it. Any thread may use it.

    Attributes:
        refused: sections that the provider did not take, and why; a rebuild tries them again.
        wordless: sections that have nothing to be embedded.
        outdated: sections whose vectors are of words that stand for them no more.
        trouble: why nothing is embedded now, or ``""``.
        at_rest: whether nothing is to be embedded now, since a rebuild makes all anew.
    """

    def __init__(self, config: Config) -> None:
        self.refused: dict[str, str] = {}
        self.wordless: set[str] = set()
        self.outdated: set[str] = set()
        self.trouble = ""
        self.at_rest = False
        self._config = config.embedding
        self._deadline_s = config.search.deadline_ms / 1000
        self._slots = threading.Semaphore(AT_ONCE)
        self.of_query = lru_cache(REMEMBERED)(self._of_query)

    def look_again(self, stored: Iterable[str], redescribed: Iterable[str]) -> None:
        """Forgets what came of asking for sections that were stored just now, and for those with another description,
        which get another vector."""
        self.outdated.update(redescribed)
        for kbid in (*stored, *redescribed):
            self.refused.pop(kbid, None)
            self.wordless.discard(kbid)

    @property
    def is_configured(self) -> bool:
        return self._config.provider != "none"

    @property
    def rrf_k(self) -> int:
        return self._config.rrf_k

    @cached_property
    def provider(self) -> EmbeddingProvider:
        """The provider; loads no model.

        Raises:
            ConfigError: the settings contradict each other.
        """
        return provider_of(self._config)

    @cached_property
    def fingerprint(self) -> Fingerprint:
        """What vectors made now can be compared with (errors as ``provider``, and of a model's files)."""
        return self.provider.fingerprint()

    def serves(self, held: HeldVectors) -> bool:
        """Whether vectors that are there can be compared with those made now."""
        return held.serves(self.fingerprint)

    def require(self, mode: str) -> None:
        """Raises EmbeddingProviderNotConfiguredError where there is no provider for a mode."""
        self.require_for(f"{mode} search", ", or search with mode lexical")

    def require_for(self, what: str, instead: str = "") -> None:
        """The same for whatever else needs one; ``instead`` ends the hint."""
        if not self.is_configured:
            raise EmbeddingProviderNotConfiguredError(
                f"{what} needs an embedding provider, and none is configured",
                f'set provider = "onnx" or "api" under [embedding] in worker.toml (a daemon that runs reads it '
                f"after: kbdb daemon restart){instead}",
            )

    def vectors_of(self, texts: Sequence[str]) -> bytes:
        """The vectors of texts, as little-endian f32, one after the other (errors as the provider's ``embed``)."""
        return self.provider.embed(texts).astype("<f4", order="C", copy=False).tobytes()

    def _of_query(self, text: str) -> bytes:
        """The vector of a question; ``of_query`` remembers some.

        Raises:
            EmbeddingUnavailableError: the provider is late.
            KbdbError: it failed.
        """
        if not self._slots.acquire(blocking=False):
            raise EmbeddingUnavailableError(
                f"{AT_ONCE} queries wait for their vectors already", "search again once they have been answered"
            )
        prepared, answer = threading.Event(), Future[bytes]()

        def ask() -> None:
            try:
                self.provider.prepare()
                prepared.set()
                answer.set_result(self.vectors_of([text]))
            except BaseException as error:
                answer.set_exception(error)
            finally:
                prepared.set()
                self._slots.release()

        # An end of the process does not wait for a service that hangs.
        threading.Thread(target=ask, name="kbdb-query", daemon=True).start()
        if not prepared.wait(PREPARED_S):
            raise EmbeddingUnavailableError("the model is still being loaded", "search again in a while")
        try:
            return answer.result(self._deadline_s)
        except TimeoutError:
            late = f"the vector of the query did not come within {self._deadline_s * 1000:g} ms"
            if self.provider.last_failure:
                raise EmbeddingUnavailableError(f"{late}: {self.provider.last_failure}") from None
            hint = "search again, or raise search.deadline_ms in worker.toml"
            raise EmbeddingUnavailableError(late, hint) from None
