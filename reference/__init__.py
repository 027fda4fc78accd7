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

IMPLEMENTATION = "reference"

__all__ = [
    "ANALYSIS_VERSION",
    "IMPLEMENTATION",
    "Builder",
    "Searcher",
    "Segment",
    "idf",
    "merge",
    "scan_toml",
    "tokenise",
]
