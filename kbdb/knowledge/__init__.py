"""The knowledge layer: ``KnowledgeBase``, the one place where store, ingest, index and query meet."""

from kbdb.knowledge.base import KnowledgeBase
from kbdb.progress import Progress

__all__ = ["KnowledgeBase", "Progress"]
