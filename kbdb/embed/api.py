"""What every embedding provider is, and which one the configuration means.

Neighbours: ``null``, ``onnx`` and ``service`` are the providers; each is loaded only when it is the one configured, and
loads numpy, onnxruntime or httpx only when it is asked for vectors.
"""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from kbdb.config import EmbeddingConfig

    Vectors = npt.NDArray[np.float32]

BATCH = 64
"""Texts that a provider takes at once; more are cut into so many. Services limit how many they take."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Everything that decides whether two vectors may be compared.

    Attributes:
        model: the model's name, as configured.
        dimensions: the length of its vectors.
        pooling: how token vectors become one: ``mean``; ``service`` where a service decides.
        normalisation: ``unit`` length; ``service`` where a service decides.
        tokenizer: SHA-256 of what cuts text into tokens, and of where it stops; empty where a service decides.
    """

    model: str
    dimensions: int
    pooling: str
    normalisation: str
    tokenizer: str

    def digest(self) -> str:
        """One short name for all of it."""
        return hashlib.sha256("\n".join(map(str, astuple(self))).encode()).hexdigest()[:32]


class EmbeddingProvider(ABC):
    """Turns texts into vectors. May be used by several threads at once."""

    @abstractmethod
    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row for each text, float32, ``dimensions()`` wide; a row depends on its own text alone.

        Raises:
            KbdbError: with one of the ``EMBEDDING_…`` codes; there are never fewer rows than texts.
        """

    @abstractmethod
    def dimensions(self) -> int:
        """The length of every vector."""

    @abstractmethod
    def model_name(self) -> str:
        """A stable name of the model."""

    @abstractmethod
    def fingerprint(self) -> Fingerprint:
        """What vectors of this provider may be compared with. Loads no model."""

    @abstractmethod
    def scripts(self) -> frozenset[str] | None:
        """The scripts whose languages it understands, by ISO 15924 code; None for all."""


def provider_of(config: EmbeddingConfig, environ: Mapping[str, str] = os.environ) -> EmbeddingProvider:
    """The provider that worker.toml means. Loads no model and asks nobody yet.

    Args:
        config: the ``[embedding]`` table.
        environ: where the key of a service and the user's folders are looked up.

    Raises:
        ConfigError: the settings contradict each other, or lack what this provider needs.
    """
    if config.provider == "onnx":
        from kbdb.embed.onnx import OnnxEmbeddingProvider

        return OnnxEmbeddingProvider(config, environ)
    if config.provider == "api":
        from kbdb.embed.service import ApiEmbeddingProvider

        return ApiEmbeddingProvider(config, environ)
    from kbdb.embed.null import NullEmbeddingProvider

    return NullEmbeddingProvider()
