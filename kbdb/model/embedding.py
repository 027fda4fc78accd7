"""What vectors are known by, and how an open database stands with them."""

from __future__ import annotations

import hashlib
from dataclasses import astuple, dataclass


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


@dataclass(frozen=True, slots=True)
class EmbeddingStatus:
    """How a database stands with vectors.

    Attributes:
        provider: as configured: ``none``, ``onnx`` or ``api``.
        model: the configured model; ``""`` without a provider.
        dimensions: the length of its vectors; 0 without a provider.
        vectors: live sections that have one which can be used.
        waiting: live sections that still get one.
        failed: live sections that the provider refused; the next rebuild tries them again.
        stale: whether the vectors on disk are of another model, or cannot be read: they are not used, and
            ``kbdb rebuild`` makes them anew.
        trouble: why nothing is embedded now, or ``""``.
    """

    provider: str = "none"
    model: str = ""
    dimensions: int = 0
    vectors: int = 0
    waiting: int = 0
    failed: int = 0
    stale: bool = False
    trouble: str = ""
