"""An embedding provider that remembers: texts that were embedded once are read from a folder the next time.

Embedding the collections takes minutes, everything else seconds; and who compares two ways of ranking wants the same
vectors under both.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from kbdb.config import parse
from kbdb.embed.api import BATCH, EmbeddingProvider
from kbdb.embed.onnx import OnnxEmbeddingProvider
from kbdb.model.embedding import Fingerprint

if TYPE_CHECKING:
    from kbdb.embed.api import Vectors

KEY = 32
"""Bytes of a text's SHA-256."""


def local_provider() -> OnnxEmbeddingProvider:
    """The model that worker.toml means by ``provider = "onnx"``, nothing else said."""
    return OnnxEmbeddingProvider(parse(b'[embedding]\nprovider = "onnx"\n').embedding, os.environ)


def cached(provider: EmbeddingProvider, folder: Path | None) -> EmbeddingProvider:
    """The provider, with a cache if a folder is given."""
    return CachedProvider(provider, folder) if folder else provider


class CachedProvider(EmbeddingProvider):
    """Another provider, with a file of its vectors, one for each fingerprint.

    The file holds records of SHA-256 of a text and its vector, each appended by one write: several processes may fill
    it, and one that is killed leaves at most a torn record at the end, which is cut off.
    """

    def __init__(self, provider: EmbeddingProvider, folder: Path) -> None:
        """Args:
        provider: what embeds the texts that are not there yet.
        folder: where the file is; made if it is missing.
        """
        self._provider = provider
        self._path = folder / f"{provider.fingerprint().digest()}.vectors"
        self._record = KEY + 4 * provider.dimensions()
        folder.mkdir(parents=True, exist_ok=True)
        self._known = self._read()

    def prepare(self) -> None:
        """Loads nothing: where all texts are known, no model is needed."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row for each text; a text that was embedded before costs nothing."""
        import numpy as np

        keys = [sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        wanted = list(missing.items())
        for start in range(0, len(wanted), BATCH):
            self._add(wanted[start : start + BATCH])
        if not keys:
            return np.empty((0, self.dimensions()), np.float32)
        return np.frombuffer(b"".join(map(self._known.__getitem__, keys)), "<f4").reshape(len(keys), -1).copy()

    def dimensions(self) -> int:
        return self._provider.dimensions()

    def model_name(self) -> str:
        return self._provider.model_name()

    def fingerprint(self) -> Fingerprint:
        return self._provider.fingerprint()

    def scripts(self) -> frozenset[str] | None:
        return self._provider.scripts()

    def floors(self) -> tuple[float, float] | None:
        return self._provider.floors()

    def _add(self, batch: Sequence[tuple[bytes, str]]) -> None:
        rows = self._provider.embed([text for _, text in batch])
        records = [key + row.astype("<f4").tobytes() for (key, _), row in zip(batch, rows, strict=True)]
        with self._path.open("ab", buffering=0) as file:
            for record in records:
                file.write(record)
        self._known.update((record[:KEY], record[KEY:]) for record in records)

    def _read(self) -> dict[bytes, bytes]:
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return {}
        whole = len(data) - len(data) % self._record
        if whole < len(data):
            os.truncate(self._path, whole)
        starts = range(0, whole, self._record)
        return {data[start : start + KEY]: data[start + KEY : start + self._record] for start in starts}
