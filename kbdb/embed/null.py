"""The provider where none is configured: asking it for anything but its name is an error that says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kbdb.embed.api import EmbeddingProvider
from kbdb.errors import EmbeddingProviderNotConfiguredError
from kbdb.model.embedding import Fingerprint

if TYPE_CHECKING:
    from kbdb.embed.api import Vectors


class NullEmbeddingProvider(EmbeddingProvider):
    """Has no vectors; an empty answer would look like a store without matches."""

    def prepare(self) -> None:
        """There is nothing to prepare."""

    def embed(self, texts: Sequence[str]) -> Vectors:  # noqa: ARG002
        """Refuses.

        Raises:
            EmbeddingProviderNotConfiguredError: always.
        """
        raise _not_configured()

    def dimensions(self) -> int:
        """None at all."""
        return 0

    def model_name(self) -> str:
        """``none``."""
        return "none"

    def fingerprint(self) -> Fingerprint:
        """Refuses, as ``embed`` does."""
        raise _not_configured()

    def scripts(self) -> frozenset[str] | None:
        """No script."""
        return frozenset()

    def floors(self) -> tuple[float, float] | None:
        """None."""
        return None


def _not_configured() -> EmbeddingProviderNotConfiguredError:
    return EmbeddingProviderNotConfiguredError(
        "Vector search requires a configured embedding provider",
        'set provider = "onnx" or "api" under [embedding] in worker.toml, or search with mode lexical',
    )
