"""What every embedding provider is, and which one the configuration means.

Neighbours: ``null``, ``onnx`` and ``service`` are the providers; each is loaded only when it is the one configured, and
loads numpy, onnxruntime or httpx only when it is asked for vectors.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from kbdb.config import EmbeddingConfig
    from kbdb.model.embedding import Fingerprint

    Vectors = npt.NDArray[np.float32]

BATCH = 64
"""Texts that a provider takes at once; more are cut into so many. Services limit how many they take."""


class EmbeddingProvider(ABC):
    """Turns texts into vectors. May be used by several threads at once.

    Attributes:
        last_failure: why the last try to get vectors failed, though there may be more tries; ``""`` once one succeeded.
    """

    last_failure = ""

    @abstractmethod
    def prepare(self) -> None:
        """Does beforehand, once, what makes the first call slow, such as loading a model (errors as ``embed``)."""

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

    @abstractmethod
    def floors(self) -> tuple[float, float] | None:
        """The cosine of question and section that answers, and the one from which it may; None: nobody measured it."""


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
