"""The engine in plain Python: the deliberately simple twin of ``kbdb._engine``, file for file (csrc/README.md).

These are the names every engine offers; ``kbdb.index.api`` describes them.
"""

from __future__ import annotations

from kbdb.reference.analysis import ANALYSIS_VERSION, tokenise
from kbdb.reference.bm25f import bm25f_idf as idf
from kbdb.reference.builder import Builder
from kbdb.reference.merge import merge
from kbdb.reference.searcher import Searcher
from kbdb.reference.segment import Segment
from kbdb.reference.toml import scan_toml
from kbdb.reference.vector_search import VectorSearcher
from kbdb.reference.vectors_read import Vectors
from kbdb.reference.vectors_write import vectors_merge as merge_vectors
from kbdb.reference.vectors_write import vectors_write as write_vectors

IMPLEMENTATION = "reference"

__all__ = [
    "ANALYSIS_VERSION",
    "IMPLEMENTATION",
    "Builder",
    "Searcher",
    "Segment",
    "VectorSearcher",
    "Vectors",
    "idf",
    "merge",
    "merge_vectors",
    "scan_toml",
    "tokenise",
    "write_vectors",
]
