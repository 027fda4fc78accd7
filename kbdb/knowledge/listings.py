"""Which documents list which section, packed, for a rebuild: it asks for each section once, in kbid order.

A manifest's own values are kept once, and of each section it lists only what an entry needs: some 110 bytes, and its
heading path. Kept as objects they would take five times as much, and every pass of Python's garbage collector would
visit them.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from marshal import dumps, loads

from kbdb.knowledge.entries import ListedBy, Place
from kbdb.model.truth import Manifest
from kbdb.store.ids import KBID_LENGTH

DOCUMENTS_KEPT = 8192
"""Documents whose values are ready to use, about 2 kB each; unpacking another takes as long as hashing its section."""


class Listings:
    """Made of all manifests; ``take`` lets go of what it gives."""

    def __init__(self, manifests: Iterable[Manifest]) -> None:
        self._documents: list[bytes] = []
        self._sections: list[bytes] = []
        for number, manifest in enumerate(manifests):
            opening = manifest.sections[0].kbid if manifest.sections else ""
            tags = tuple(sorted(set(manifest.tags)))
            own = (manifest.docid, manifest.origin.source, manifest.title, manifest.description, tags, opening)
            self._documents.append(dumps(own))
            places: dict[str, list[tuple[tuple[str, ...], int, int, int]]] = {}
            for p in manifest.sections:
                places.setdefault(p.kbid, []).append((p.heading_path, p.level, p.line, p.line_end))
            self._sections.extend(kbid.encode() + dumps((number, where)) for kbid, where in places.items())
        # Taken from the end, which costs nothing.
        self._sections.sort(reverse=True)
        self._document = lru_cache(maxsize=DOCUMENTS_KEPT)(self._unpack)

    def take(self, kbid: str) -> list[ListedBy]:
        """The documents that list a section, after those before it in the order of kbids were taken or passed over."""
        key, sections = kbid.encode(), self._sections
        found = []
        while sections and (record := sections[-1])[:KBID_LENGTH] <= key:
            if record.startswith(key):
                number, places = loads(record[KBID_LENGTH:])
                found.append(self._document(number).at(kbid, [Place(*place) for place in places]))
            sections.pop()
        return found

    def _unpack(self, number: int) -> ListedBy:
        return ListedBy(*loads(self._documents[number]))
