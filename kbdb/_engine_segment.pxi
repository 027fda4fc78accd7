# Part of _engine.pyx: an open segment.


cdef class Segment:
    """An immutable piece of the index; making one opens and validates it.

    Attributes:
        sections: number of entries, which are numbered in kbid order.
        name: the folder it is in, for errors.
        fingerprint: of the analysis it was built with.
    """

    cdef kb_segment _segment
    cdef Py_buffer _buffers[4]
    cdef int _held
    cdef readonly str name

    def __cinit__(self, terms, positions, corpus, references, *, fingerprint: int, name: str = ""):
        """Opens a segment.

        Args:
            terms, positions, corpus, references: the bytes of its files, kept alive by the segment.
            fingerprint: what it must have been built with.
            name: path of its folder.

        Raises:
            CorruptError, StaleIndexError.
        """
        cdef kb_source sources[4]
        cdef kb_error error
        cdef kb_status status
        cdef uint64_t expected
        check_fingerprint(fingerprint)
        expected = fingerprint
        self.name = name
        for data in (terms, positions, corpus, references):
            PyObject_GetBuffer(data, &self._buffers[self._held], PyBUF_SIMPLE)
            sources[self._held].bytes = <const uint8_t *>self._buffers[self._held].buf
            sources[self._held].length = <size_t>self._buffers[self._held].len
            self._held += 1
        with nogil:
            status = kb_segment_open(sources, expected, &self._segment, &error)
        if status != KB_OK:
            raise _failure(status, &error, name)
        if _is_portable():
            self._segment.terms.read_gaps = kb_gaps_read_portable

    def __dealloc__(self):
        kb_segment_close(&self._segment)
        while self._held > 0:
            self._held -= 1
            PyBuffer_Release(&self._buffers[self._held])

    @property
    def sections(self):
        return self._segment.entries

    @property
    def fingerprint(self):
        return self._segment.fingerprint

    cdef kb_entry _entry(self, entry) except *:
        cdef kb_entry found
        cdef kb_error error
        cdef kb_status status
        check_entry_number(entry, self._segment.entries)
        status = kb_corpus_entry(&self._segment.corpus, entry, &found, &error)
        if status != KB_OK:
            raise _failure(status, &error, self.name)
        return found

    def kbid(self, entry: int) -> bytes:
        """The 16 bytes of an entry's kbid."""
        cdef const uint8_t *found
        cdef kb_error error
        cdef kb_status status
        check_entry_number(entry, self._segment.entries)
        status = kb_corpus_kbid(&self._segment.corpus, entry, &found, &error)
        if status != KB_OK:
            raise _failure(status, &error, self.name)
        return PyBytes_FromStringAndSize(<const char *>found, KB_KBID_BYTES)

    def find(self, kbid: bytes) -> int:
        """The entry with this kbid, -1 when the segment has none."""
        cdef bytes wanted = kbid
        cdef cbool found = False
        cdef uint32_t entry = 0
        cdef kb_error error
        cdef kb_status status
        check_kbid(kbid)
        status = kb_corpus_find(&self._segment.corpus, _start(wanted), &found, &entry, &error)
        if status != KB_OK:
            raise _failure(status, &error, self.name)
        return entry if found else -1

    def stored(self, entry: int) -> bytes:
        """The bytes that were stored with an entry."""
        cdef kb_stored stored
        cdef kb_error error
        cdef kb_status status
        check_entry_number(entry, self._segment.entries)
        status = kb_corpus_stored(&self._segment.corpus, entry, &stored, &error)
        if status != KB_OK:
            raise _failure(status, &error, self.name)
        return (
            PyBytes_FromStringAndSize(<const char *>stored.shared.next, stored.shared.end - stored.shared.next)
            + PyBytes_FromStringAndSize(<const char *>stored.own.next, stored.own.end - stored.own.next)
        )

    def lengths(self, entry: int) -> tuple:
        """Positions in each of ``FIELDS``."""
        cdef uint32_t length = 0
        cdef uint32_t field
        cdef kb_error error
        cdef kb_status status
        check_entry_number(entry, self._segment.entries)
        lengths = []
        for field in range(KB_FIELDS):
            status = kb_corpus_length(&self._segment.corpus, entry, field, &length, &error)
            if status != KB_OK:
                raise _failure(status, &error, self.name)
            lengths.append(length)
        return tuple(lengths)

    def distinct(self, entry: int) -> int:
        """Distinct stems in title and body together."""
        return self._entry(entry).distinct

    def listed(self) -> bytes:
        """Bitmap of the entries that a manifest lists."""
        cdef const uint8_t *bits = NULL
        cdef kb_error error
        cdef kb_status status = kb_corpus_listed(&self._segment.corpus, &bits, &error)
        if status != KB_OK:
            raise _failure(status, &error, self.name)
        return PyBytes_FromStringAndSize(<const char *>bits, <Py_ssize_t>self._segment.corpus.listed.length)

    def removed(self) -> list:
        """Kbids of sections of older segments that exist no more, ascending."""
        cdef kb_table *table = &self._segment.corpus.removed
        cdef const uint8_t *start
        cdef kb_error error
        cdef size_t i
        cdef kb_status status = kb_table_bytes(table, 0, table.length, &start, &error)
        if status != KB_OK:
            raise _failure(status, &error, self.name)
        return [PyBytes_FromStringAndSize(<const char *>start + i, KB_KBID_BYTES)
                for i in range(0, table.length, KB_KBID_BYTES)]

    cdef list _keys(self, const kb_keyed *keyed, int file, prefix, after, limit):
        cdef bytes wanted = utf8(prefix, "a prefix")
        cdef bytes passed = utf8(after, "a key")
        cdef int64_t most = _most(limit)
        cdef uint32_t first = 0
        cdef uint32_t end = 0
        cdef uint32_t from_after = 0
        cdef uint32_t none = 0
        cdef cbool found = False
        cdef uint32_t i
        cdef uint32_t length = 0
        cdef uint32_t count = 0
        cdef const uint8_t *start
        cdef kb_error error
        cdef kb_status status = kb_strings_prefix(&keyed.keys, _start(wanted), len(wanted), &first, &end, &error)
        if status == KB_OK and passed:
            status = kb_strings_prefix(&keyed.keys, _start(passed), len(passed), &from_after, &none, &error)
            if status == KB_OK:
                status = kb_strings_find(&keyed.keys, _start(passed), len(passed), &found, &none, &error)
            if status == KB_OK:
                first = max(first, from_after + (1 if found else 0))
        keys = []
        for i in range(first, end):
            if len(keys) == most:
                break
            if status == KB_OK:
                status = kb_strings_get(&keyed.keys, i, &start, &length, &error)
            if status == KB_OK:
                status = kb_keyed_count(keyed, i, &count, &error)
            if status != KB_OK:
                break
            keys.append((_text(start, length, file, self.name), count))
        if status != KB_OK:
            raise _failure(status, &error, self.name)
        return keys

    cdef int64_t _find_key(self, const kb_keyed *keyed, key) except -2:
        """The number of a key, -1 when it is unknown."""
        cdef bytes wanted = utf8(key, "a key")
        cdef cbool found = False
        cdef uint32_t number = 0
        cdef kb_error error
        cdef kb_status status = kb_strings_find(&keyed.keys, _start(wanted), len(wanted), &found, &number, &error)
        if status != KB_OK:
            raise _failure(status, &error, self.name)
        return <int64_t>number if found else -1

    def filter_keys(self, prefix: str, after: str = "", limit: int | None = None) -> list:
        """The first keys past ``after`` that begin with ``prefix``, each with its number of entries, in order."""
        return self._keys(&self._segment.corpus.filters, 2, prefix, after, limit)

    def reference_keys(self, prefix: str) -> list:
        """Reference targets that begin with ``prefix``, with the number of entries that name them, in order."""
        return self._keys(&self._segment.references, 3, prefix, "", None)

    def filter(self, key: str) -> bytes:
        """Bitmap of the entries with a filter key."""
        cdef int64_t number = self._find_key(&self._segment.corpus.filters, key)
        cdef bytes bitmap = bytes((self._segment.entries + 7) >> 3)
        cdef uint8_t *bits = <uint8_t *>PyBytes_AS_STRING(bitmap)
        cdef kb_error error
        cdef kb_status status = KB_OK
        if number >= 0:
            with nogil:
                status = kb_keyed_bitmap(&self._segment.corpus.filters, <uint32_t>number, bits, &error)
        if status != KB_OK:
            raise _failure(status, &error, self.name)
        return bitmap

    def holders(self, key: str) -> list:
        """The entries with a filter key, ascending."""
        return self._entries_of(&self._segment.corpus.filters, key)

    def references(self, key: str) -> list:
        """The entries that refer to a target, ascending."""
        return self._entries_of(&self._segment.references, key)

    cdef list _entries_of(self, const kb_keyed *keyed, key):
        cdef int64_t number = self._find_key(keyed, key)
        cdef uint32_t count = 0
        cdef uint32_t i
        cdef uint32_t *entries
        cdef kb_error error
        cdef kb_status status
        if number < 0:
            return []
        status = kb_keyed_count(keyed, <uint32_t>number, &count, &error)
        if status != KB_OK:
            raise _failure(status, &error, self.name)
        entries = <uint32_t *>malloc((<size_t>count + 1) * sizeof(uint32_t))
        if entries == NULL:
            raise MemoryError()
        try:
            status = kb_keyed_entries(keyed, <uint32_t>number, entries, &error)
            if status != KB_OK:
                raise _failure(status, &error, self.name)
            return [entries[i] for i in range(count)]
        finally:
            free(entries)

    def verify(self) -> None:
        """Reads every byte of the four files and checks that they agree; CorruptError when not."""
        cdef kb_error error
        cdef kb_status status
        with nogil:
            status = kb_segment_verify(&self._segment, &error)
        if status != KB_OK:
            raise _failure(status, &error, self.name)
