"""The number that says what an index was built with; a file that carries another is stale."""

from __future__ import annotations

from hashlib import sha256

from kbdb.index.api import EngineModule
from kbdb.plan import Params

FORMAT = 3
"""Version of the segment files (csrc/README.md, 2) and of what ``kbdb.knowledge.entries`` puts into them."""

SNOWBALL = "3.1"
"""Version of the Snowball algorithms that both engines stem with; pyproject.toml pins the packages to it."""


def describe(engine: EngineModule, language: str, params: Params) -> str:
    """What the fingerprint is made of, readable: format, analysis, stemmers, language and BM25F parameters."""
    bm25f = " ".join(map(repr, (params.k1, *params.b, *params.weights)))
    return f"format {FORMAT}; analysis {engine.ANALYSIS_VERSION}; snowball {SNOWBALL} {language}; bm25f {bm25f}"


def fingerprint(description: str) -> int:
    """The first 8 bytes of the description's SHA-256, big-endian."""
    return int.from_bytes(sha256(description.encode()).digest()[:8], "big")
