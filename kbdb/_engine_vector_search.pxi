# Part of _engine.pyx: the nearest vectors of live sections.


cdef class VectorSearcher:
    """Files of vectors, oldest first, joined with what is live of an index's segments.

    A vector counts where it is that of a live section, and the newest of it.

    Attributes:
        sections: live sections that have a vector.
        memory_bytes: held beside segments and vectors.
    """

    cdef kb_vector_searcher _searcher
    cdef kb_dot _dot
    cdef kb_sketch_ways *_ways
    cdef tuple _vectors
    cdef tuple _segments
    cdef tuple _live

    def __cinit__(self, vectors, segments, live):
        """Finds the section of each vector.

        Args:
            vectors: open files of the same dimensions, oldest first.
            segments: a hit names its segment by its place here.
            live: one bitmap a segment.

        Raises:
            CorruptError, InvalidArgumentError.
        """
        cdef kb_view *views = NULL
        cdef kb_error error
        cdef kb_status status
        cdef kb_vector_part *part
        cdef Vectors file
        cdef Segment segment
        cdef uint32_t i
        cdef uint32_t count
        self._vectors, self._segments, self._live = tuple(vectors), tuple(segments), tuple(live)
        check_parts([item.dimensions for item in self._vectors])
        check_bitmaps(self._live, [item.sections for item in self._segments], "live")
        self._dot = _dot_way()
        self._ways = <kb_sketch_ways *>kb_sketch_avx2()
        if self._ways == NULL or _is_portable():
            self._ways = <kb_sketch_ways *>&kb_sketch_portable
        self._searcher.count = <uint32_t>len(self._vectors)
        self._searcher.dimensions = self._vectors[0].dimensions if self._vectors else 0
        self._searcher.parts = <kb_vector_part *>calloc(<size_t>self._searcher.count + 1, sizeof(kb_vector_part))
        count = <uint32_t>len(self._segments)
        views = <kb_view *>calloc(<size_t>count + 1, sizeof(kb_view))
        try:
            if self._searcher.parts == NULL or views == NULL:
                raise MemoryError()
            for i in range(self._searcher.count):
                file = self._vectors[i]
                file._check()
                part = &self._searcher.parts[i]
                part.vectors = &file._vectors
                part.kbids = file._kbids
                part.lengths = file._lengths
                part.owners = <kb_owner *>malloc((<size_t>file._vectors.count + 1) * sizeof(kb_owner))
                part.pointing = <uint8_t *>calloc((<size_t>file._vectors.count >> 3) + 1, 1)
                if part.owners == NULL or part.pointing == NULL:
                    raise MemoryError()
            for i in range(count):
                segment = self._segments[i]
                views[i].segment = &segment._segment
                views[i].live = _start(self._live[i])
            with nogil:
                status = kb_vector_searcher_open(views, count, &self._searcher, &error)
        finally:
            free(views)
        if status == KB_E_CORRUPT:
            raise _failure(status, &error, (<Segment>self._segments[error.segment]).name)
        if status != KB_OK:
            raise _failure(status, NULL, "")

    def __dealloc__(self):
        cdef uint32_t i
        for i in range(self._searcher.count if self._searcher.parts != NULL else 0):
            free(self._searcher.parts[i].owners)
            free(self._searcher.parts[i].pointing)
        free(self._searcher.parts)

    @property
    def sections(self):
        return self._searcher.sections

    @property
    def memory_bytes(self):
        cdef size_t held = sizeof(kb_vector_searcher) + self._searcher.count * sizeof(kb_vector_part)
        cdef uint32_t i
        for i in range(self._searcher.count):
            held += self._searcher.parts[i].vectors.count * sizeof(kb_owner)
            held += self._searcher.parts[i].vectors.count >> 3
        return held

    def missing(self) -> list:
        """For each segment the bitmap of the live sections that have no vector."""
        cdef uint8_t **bitmaps = <uint8_t **>calloc(len(self._live) + 1, sizeof(uint8_t *))
        cdef bytes bits
        if bitmaps == NULL:
            raise MemoryError()
        try:
            # New objects, into which the bits are copied: Python has only one of each bytes object of length 1.
            missing = [bytes(len(live)) for live in self._live]
            for i, bits in enumerate(missing):
                bitmaps[i] = <uint8_t *>PyBytes_AS_STRING(bits)
                memcpy(bitmaps[i], _start(self._live[i]), len(bits))
            kb_vector_missing(&self._searcher, <uint8_t *const *>bitmaps)
        finally:
            free(bitmaps)
        return missing

    def held(self) -> list:
        """For each file of vectors the bitmap of the records that count."""
        cdef bytes bits
        cdef uint32_t i
        held = []
        for i in range(self._searcher.count):
            bits = bytes((self._searcher.parts[i].vectors.count + 7) >> 3)
            kb_vector_held(&self._searcher.parts[i], <uint8_t *>PyBytes_AS_STRING(bits))
            held.append(bits)
        return held

    def search(self, query, limit: int, allowed=None, *, exact: bool = False) -> tuple:
        """The ``limit`` sections whose vectors are nearest to a query, by falling cosine, then kbid.

        A vector of length 0 points nowhere: as a query it finds nothing, and it is no hit.

        Args:
            query: little-endian f32, finite, as many as the vectors have dimensions.
            limit: 0 or more.
            allowed: one bitmap a segment that narrows what may be found.
            exact: looks at every vector, whether it is sketched or not; the hits are the same.

        Returns:
            VectorHit for each.
        """
        cdef kb_vector_searcher searcher = self._searcher
        cdef kb_vector_ways ways
        cdef kb_vector_hit *hits = NULL
        cdef const uint8_t **bitmaps = NULL
        cdef Py_buffer buffer
        cdef uint32_t count = 0
        cdef uint32_t most
        cdef uint32_t i
        cdef kb_status status
        check_limit(limit)
        if allowed is not None:
            allowed = tuple(allowed)
            check_bitmaps(allowed, [segment.sections for segment in self._segments], "allowed")
        ways.dot = self._dot
        ways.sketches = NULL if exact else self._ways
        most = <uint32_t>min(limit, self._searcher.sections)
        searcher.parts = NULL
        PyObject_GetBuffer(query, &buffer, PyBUF_SIMPLE)
        try:
            if searcher.count == 0:
                return ()
            check_query(buffer.len, searcher.dimensions)
            check_finite(kb_vectors_are_finite(<const uint8_t *>buffer.buf, searcher.dimensions), "a query")
            # A copy of its own: files may get sketches while it runs.
            searcher.parts = <kb_vector_part *>malloc(searcher.count * sizeof(kb_vector_part))
            hits = <kb_vector_hit *>malloc((<size_t>most + 1) * sizeof(kb_vector_hit))
            if allowed is not None:
                bitmaps = <const uint8_t **>malloc((len(allowed) + 1) * sizeof(uint8_t *))
            if searcher.parts == NULL or hits == NULL or (allowed is not None and bitmaps == NULL):
                raise MemoryError()
            for i in range(searcher.count):
                searcher.parts[i] = self._searcher.parts[i]
                searcher.parts[i].sketches = (<Vectors>self._vectors[i])._sketches
            if allowed is not None:
                for i in range(<uint32_t>len(allowed)):
                    bitmaps[i] = _start(allowed[i])
            with nogil:
                status = kb_vector_search(&searcher, <const uint8_t *>buffer.buf, <const uint8_t *const *>bitmaps,
                                          most, &ways, hits, &count)
            if status != KB_OK:
                raise _failure(status, NULL, "")
            return tuple([VectorHit(hits[i].owner.segment, hits[i].owner.entry, hits[i].score,
                                    _kbid_text(hits[i].kbid)) for i in range(count)])
        finally:
            free(searcher.parts)
            free(hits)
            free(bitmaps)
            PyBuffer_Release(&buffer)
