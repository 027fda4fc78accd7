"""Vectors on disk: a ``vectors.idx`` (csrc/README.md, 10) and, beside it, what made its vectors.

They lie in a numbered folder of ``indexes/`` of their own, so that words and vectors are written each in its time;
``meta.toml`` names the folders of both (``index_files``). What it does not name counts for nothing.
"""

from __future__ import annotations

import hashlib
import mmap
from collections.abc import Callable
from dataclasses import dataclass

from kbdb.errors import CorruptError, StorageError, TomlError
from kbdb.index.api import IntoFile
from kbdb.model.embedding import Fingerprint
from kbdb.paths import Layout
from kbdb.store import files, index_files
from kbdb.store.index_files import REBUILD, map_file
from kbdb.store.times import now_seconds
from kbdb.store.toml import dumps, loads

NAME = "vectors.idx"
META_NAME = "vectors-meta.toml"
VERSION = 1
"""Of vectors.idx."""


@dataclass(frozen=True, slots=True)
class VectorsMeta:
    """What ``vectors-meta.toml`` says.

    Attributes:
        made_by: what the vectors may be compared with.
        last_built: when they were written, as manifests write times.
        section_count: how many there are.
        sha256: of vectors.idx, which has no checksum of its own.
    """

    made_by: Fingerprint
    last_built: str
    section_count: int
    sha256: str


def write_vectors(
    layout: Layout, folder: int, made_by: Fingerprint, count: int, write: Callable[[IntoFile], None]
) -> None:
    """Makes both files in a folder that nothing names yet, durably.

    Args:
        folder: its number.
        made_by: what made the vectors.
        count: how many there are.
        write: puts the bytes of vectors.idx into what it is called with.
    """
    path = layout.indexes / str(folder)
    files.make_folder(path, below=layout.root)
    with files.writing(path / NAME, sync=True, point="vectors", paced=True) as put:
        write(put)
    meta = {
        "model_name": made_by.model,
        "dimensions": made_by.dimensions,
        "version": VERSION,
        "last_built": now_seconds(),
        "section_count": count,
        "pooling": made_by.pooling,
        "normalisation": made_by.normalisation,
        "tokenizer": made_by.tokenizer,
        "sha256": digest_of(layout, folder),
    }
    files.write_atomic(path / META_NAME, dumps({"vectors": meta}), sync=True, point="vectors")
    # Else a power cut could keep the meta file that names the folder and lose the folder.
    files.sync_folder(layout.indexes)


def read_meta(layout: Layout, folder: int) -> VectorsMeta:
    """What a folder's ``vectors-meta.toml`` says.

    Raises:
        CorruptError: it is missing, or not what was written.
    """
    path = layout.indexes / str(folder) / META_NAME
    data = files.read(path)
    if data is None:
        raise CorruptError(f"{path} is missing", REBUILD)
    try:
        return _decode(loads(data, str(path)))
    except (TomlError, KeyError, TypeError, ValueError) as error:
        raise CorruptError(f"{path} does not say what made the vectors: {error}", REBUILD) from error


def folders(layout: Layout) -> list[int]:
    """The numbers of all folders that hold vectors, whether they count or not."""
    return [number for number in index_files.folders(layout) if (layout.indexes / str(number) / META_NAME).is_file()]


def map_vectors(layout: Layout, folder: int) -> mmap.mmap | bytes:
    """A folder's ``vectors.idx``, mapped read-only."""
    return map_file(layout.indexes / str(folder) / NAME)


def digest_of(layout: Layout, folder: int) -> str:
    """The SHA-256 of a folder's ``vectors.idx`` as it is on disk.

    Raises:
        CorruptError: it is missing.
        StorageError: it cannot be read.
    """
    path = layout.indexes / str(folder) / NAME
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError as error:
        raise CorruptError(f"{path} is missing", REBUILD) from error
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}") from error


def size(layout: Layout, folder: int) -> int:
    """Bytes of a folder's ``vectors.idx``; 0 where there is none."""
    return files.size(layout.indexes / str(folder) / NAME) or 0


def _decode(value: dict[str, object]) -> VectorsMeta:
    table = value["vectors"]
    if not isinstance(table, dict):
        raise TypeError("vectors must be a table")
    numbers = [table[name] for name in ("dimensions", "version", "section_count")]
    texts = [table[name] for name in ("model_name", "pooling", "normalisation", "tokenizer", "last_built", "sha256")]
    if not all(type(number) is int for number in numbers) or not all(isinstance(text, str) for text in texts):
        raise TypeError("dimensions, version and section_count must be integers, all else text")
    dimensions, version, count = numbers
    if version != VERSION:
        raise ValueError(f"version is {version}, and this kbdb reads {VERSION}")
    model, pooling, normalisation, tokenizer, built, sha256 = texts
    return VectorsMeta(Fingerprint(model, dimensions, pooling, normalisation, tokenizer), built, count, sha256)
