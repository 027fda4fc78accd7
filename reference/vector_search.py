"""The nearest vectors of live sections: every one is looked at (csrc/README.md, section 10)."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from math import isfinite, sqrt
from typing import TYPE_CHECKING

from kbdb.checks import check_bitmaps, check_finite, check_limit, check_parts, check_query
from kbdb.plan import VectorHit
from kbdb.reference.corpus import corpus_kbid
from kbdb.reference.dot import cosine, dot
from kbdb.reference.search import kbid_text
from kbdb.reference.segment import Segment
from kbdb.reference.vectors_read import Vectors

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class VectorSearcher:
    """Files of vectors, oldest first, joined with what is live of an index's segments.

    A vector counts where it is that of a live section, and the newest of it.

    Attributes:
        sections: live sections that have a vector.
        memory_bytes: held beside segments and vectors.
        vectors, segments, live: what is searched.
        places: by kbid the segment and entry of each live section; of a kbid that is live in several, the last.
        newest: by kbid the part and record of each vector that counts.
    """

    def __init__(self, vectors: Sequence[Vectors], segments: Sequence[Segment], live: Sequence[bytes]) -> None:
        """Finds the section of each vector.

        Args:
            vectors: open files of the same dimensions, oldest first.
            segments: a hit names its segment by its place here.
            live: one bitmap a segment.

        Raises:
            CorruptError, InvalidArgumentError.
        """
        check_parts([part.dimensions for part in vectors])
        check_bitmaps(live, [segment.sections for segment in segments], "live")
        self.memory_bytes = 0
        self.vectors, self.segments, self.live = list(vectors), list(segments), list(live)
        for part in vectors:
            part.verify()
        self.places = {
            corpus_kbid(segment.corpus, entry): (number, entry)
            for number, segment in enumerate(self.segments)
            for entry in range(segment.sections)
            if _has(self.live[number], entry)
        }
        self.newest = {
            kbid: (number, record)
            for number, part in enumerate(self.vectors)
            for record, (kbid, _) in enumerate(part.all)
            if kbid in self.places
        }
        self.sections = len(self.newest)

    def missing(self) -> list[bytes]:
        """For each segment the bitmap of the live sections that have no vector."""
        having = {self.places[kbid] for kbid in self.newest}
        return [
            _bitmap(
                [_has(live, entry) and (number, entry) not in having for entry in range(self.segments[number].sections)]
            )
            for number, live in enumerate(self.live)
        ]

    def held(self) -> list[bytes]:
        """For each file of vectors the bitmap of the records that count."""
        counting = set(self.newest.values())
        return [
            _bitmap([(number, record) in counting for record in range(part.records)])
            for number, part in enumerate(self.vectors)
        ]

    def search(
        self, query: ReadableBuffer, limit: int, allowed: Sequence[bytes] | None = None, *, exact: bool = False
    ) -> tuple[VectorHit, ...]:
        """The ``limit`` sections whose vectors are nearest to a query, by falling cosine, then kbid.

        A vector of length 0 points nowhere: as a query it finds nothing, and it is no hit.

        Args:
            query: little-endian f32, finite, as many as the vectors have dimensions.
            limit: 0 or more.
            allowed: one bitmap a segment that narrows what may be found.
            exact: looks at every vector, as is done here anyway.
        """
        del exact
        check_limit(limit)
        if allowed is not None:
            check_bitmaps(allowed, [segment.sections for segment in self.segments], "allowed")
        if not self.vectors:
            return ()
        data = bytes(memoryview(query).cast("B"))
        check_query(len(data), self.vectors[0].dimensions)
        wanted = struct.unpack(f"<{self.vectors[0].dimensions}f", data)
        check_finite(all(map(isfinite, wanted)), "a query")
        hits = []
        for kbid, (number, record) in self.newest.items():
            segment, entry = self.places[kbid]
            if allowed is not None and not _has(allowed[segment], entry):
                continue
            vector = self.vectors[number].all[record][1]
            lengths = sqrt(dot(wanted, wanted)), sqrt(dot(vector, vector))
            if 0.0 not in lengths:
                score = cosine(dot(wanted, vector), *lengths)
                hits.append((-score, kbid, VectorHit(segment, entry, score, kbid_text(kbid))))
        return tuple(hit for _, _, hit in sorted(hits)[:limit])


def _has(bitmap: bytes, number: int) -> bool:
    return bool(bitmap[number >> 3] >> (number & 7) & 1)


def _bitmap(bits: Sequence[bool]) -> bytes:
    found = bytearray((len(bits) + 7) // 8)
    for number, bit in enumerate(bits):
        found[number >> 3] |= bit << (number & 7)
    return bytes(found)
