# cython: language_level=3, boundscheck=False, wraparound=False, embedsignature=False
"""The compiled engine: the one door from Python into csrc/ (twin: kbdb.reference; names: kbdb.index.api).

Arguments are checked by kbdb.checks, as in the twin; ``_failure`` turns the library's error codes into exceptions. The GIL is
released around everything that reads, builds or searches.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

import os

from kbdb.checks import (
    check_bitmap,
    check_bitmaps,
    check_counts,
    check_distance,
    check_entry,
    check_entry_number,
    check_fingerprint,
    check_kbid,
    check_limit,
    check_params,
    check_plan,
    check_segment_number,
    check_stems,
    check_threshold,
    utf8,
)
from kbdb.errors import CorruptError, InvalidArgumentError, StaleIndexError, TomlError, TooLargeError
from kbdb.normalise import ANALYSIS_VERSION, fold, normalise
from kbdb.plan import FIELDS, TOTAL_LIMIT, EngineHit, EngineResult, SegmentFiles, Share

__all__ = ["ANALYSIS_VERSION", "IMPLEMENTATION", "Builder", "Searcher", "Segment", "idf", "scan_toml", "tokenise"]

IMPLEMENTATION = "c"

FILE_NAMES = ("terms.idx", "positions.idx", "corpus.dat", "references.idx")
REBUILD = "the index can be made anew: kbdb rebuild"
TERMS_KEPT = 1 << 16  # stems a searcher remembers; past it it forgets them all, so that hostile queries cannot fill memory

cdef char *KBID_ALPHABET = b"0123456789abcdefghjkmnpqrstvwxyz"


cdef object _failure(kb_status status, const kb_error *error, str name):
    """The exception for a code that is not KB_OK; `name` is the segment's folder."""
    if status == KB_E_CORRUPT or status == KB_E_STALE:
        file = FILE_NAMES[error.file]
        path = f"{name}/{file}" if name else file
        message = (<bytes>error.message).decode("ascii")
        if status == KB_E_STALE:
            return StaleIndexError(f"{path}: {message}", REBUILD)
        return CorruptError(f"{path}: offset {error.offset}: {message}", REBUILD)
    if status == KB_E_TOO_LARGE:
        return TooLargeError("a text does not fit the 32 bits of an index number", "split the text into smaller sections")
    if status == KB_E_ARGUMENT or status == KB_E_UTF8:
        return InvalidArgumentError("the engine was handed what kbdb.checks should have refused")
    return MemoryError()


cdef inline const uint8_t *_start(bytes data):
    return <const uint8_t *>PyBytes_AS_STRING(data)


cdef str _text(const uint8_t *start, size_t length, int file, str name):
    """A string of a file, as text."""
    try:
        return PyUnicode_DecodeUTF8(<const char *>start, <Py_ssize_t>length, NULL)
    except UnicodeDecodeError:
        path = f"{name}/{FILE_NAMES[file]}" if name else FILE_NAMES[file]
        raise CorruptError(f"{path}: {bytes(start[:length])!r} is not UTF-8", REBUILD) from None


def idf(sections: int, df: int) -> float:
    """The weight of a stem that ``df`` of ``sections`` live entries hold."""
    check_counts(sections, df)
    return kb_bm25f_idf(sections, df)


cdef kb_status _take_token(void *context, uint32_t position, const uint8_t *start, uint32_t length) noexcept nogil:
    """Puts position, address (in two halves) and length at the end of a kb_numbers."""
    cdef kb_numbers *tokens = <kb_numbers *>context
    cdef uint64_t address = <uint64_t><size_t>start
    cdef kb_status status = kb_numbers_put(tokens, position)
    if status == KB_OK:
        status = kb_numbers_put(tokens, <uint32_t>address)
    if status == KB_OK:
        status = kb_numbers_put(tokens, <uint32_t>(address >> 32))
    if status == KB_OK:
        status = kb_numbers_put(tokens, length)
    return status


def tokenise(text: str) -> list:
    """The words of a text.

    Args:
        text: any string.

    Returns:
        (position, surface word) in order. Positions start at 0 and never fall; a whole identifier stands before its first
        part, at the same position.
    """
    cdef bytes data = normalise(text).encode()
    cdef const uint8_t *start = _start(data)
    cdef size_t length = len(data)
    cdef kb_numbers tokens
    cdef uint32_t positions = 0
    cdef kb_status status
    cdef size_t i
    cdef uint64_t address
    memset(&tokens, 0, sizeof(tokens))
    try:
        with nogil:
            status = kb_tokenise(start, length, _take_token, &tokens, &positions)
        if status == KB_E_ARGUMENT:
            status = KB_E_TOO_LARGE
        if status != KB_OK:
            raise _failure(status, NULL, "")
        words = []
        folded = {}
        for i in range(0, tokens.count, 4):
            address = <uint64_t>tokens.items[i + 1] | <uint64_t>tokens.items[i + 2] << 32
            token = PyUnicode_DecodeUTF8(<const char *><size_t>address, tokens.items[i + 3], NULL)
            word = folded.get(token)
            if word is None:
                word = folded[token] = fold(token)
            words.append((tokens.items[i], word))
        return words
    finally:
        free(tokens.items)


cdef object _toml_text(const kb_toml_event *event):
    cdef bytes decoded
    if event.decoded_length == event.text.length:
        return PyUnicode_DecodeUTF8(<const char *>event.text.bytes, <Py_ssize_t>event.text.length, NULL)
    decoded = PyBytes_FromStringAndSize(NULL, <Py_ssize_t>event.decoded_length)
    kb_toml_decode(event, <uint8_t *>PyBytes_AS_STRING(decoded))
    return decoded.decode()


def scan_toml(data: bytes) -> dict:
    """Reads one text of the canonical TOML subset (kbdb/store/README.md).

    Returns:
        Top-level keys in the order of the text: strings, integers, booleans, lists of strings or of integers, dicts for
        tables, lists of dicts for arrays of tables.

    Raises:
        TomlError: the text is not of the subset; the message gives the line and what was expected.
    """
    cdef bytes text = data
    cdef kb_toml scanner
    cdef kb_toml_event event
    cdef dict root = {}
    cdef dict table = root
    cdef list items = None
    kb_toml_init(&scanner, _start(text), len(text))
    while True:
        if kb_toml_next(&scanner, &event) != 0:
            raise TomlError(f"line {scanner.line}: {(<bytes>scanner.message).decode()}")
        if event.kind == KB_TOML_END:
            return root
        if event.kind == KB_TOML_ARRAY_END:
            items = None
            continue
        key = event.key.bytes[:event.key.length].decode("ascii")
        if event.kind == KB_TOML_TABLE:
            table = root[key] = {}
            continue
        if event.kind == KB_TOML_TABLE_ITEM:
            table = {}
            root.setdefault(key, []).append(table)
            continue
        if event.kind == KB_TOML_ARRAY:
            items = table[key] = []
            continue
        if event.kind == KB_TOML_STRING:
            value = _toml_text(&event)
        elif event.kind == KB_TOML_BOOLEAN:
            value = event.integer != 0
        else:
            value = event.integer
        if items is None:
            table[key] = value
        else:
            items.append(value)


cdef class Segment:
    """An immutable piece of the index; making one opens and validates it.

    Attributes:
        sections: number of entries, which are numbered in kbid order.
        name: the folder it is in, for errors.
        fingerprint: of the analysis it was built with.
    """

    cdef kb_segment _segment
    cdef kb_lengths _lengths
    cdef bint _has_lengths
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

    def __dealloc__(self):
        kb_segment_close(&self._segment)
        if self._has_lengths:
            kb_lengths_free(&self._lengths)
        while self._held > 0:
            self._held -= 1
            PyBuffer_Release(&self._buffers[self._held])

    @property
    def sections(self):
        return self._segment.entries

    @property
    def fingerprint(self):
        return self._segment.fingerprint

    cdef int _prepare(self) except -1:
        """Reads the lengths, once; another thread may do the same meanwhile, then the first result stays."""
        cdef kb_lengths lengths
        cdef kb_error error
        cdef kb_status status
        if self._has_lengths:
            return 0
        with nogil:
            status = kb_lengths_read(&self._segment, &lengths, &error)
        if status != KB_OK:
            raise _failure(status, &error, self.name)
        if self._has_lengths:
            kb_lengths_free(&lengths)
        else:
            self._lengths = lengths
            self._has_lengths = True
        return 0

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
        cdef kb_cursor cursor
        cdef kb_error error
        cdef kb_status status
        check_entry_number(entry, self._segment.entries)
        status = kb_corpus_stored(&self._segment.corpus, entry, &cursor, &error)
        if status != KB_OK:
            raise _failure(status, &error, self.name)
        return PyBytes_FromStringAndSize(<const char *>cursor.next, cursor.end - cursor.next)

    def lengths(self, entry: int) -> tuple:
        """Positions in each of ``FIELDS``."""
        cdef kb_entry found = self._entry(entry)
        return found.lengths[0], found.lengths[1], found.lengths[2], found.lengths[3], found.lengths[4]

    def distinct(self, entry: int) -> int:
        """Distinct stems in title and body together."""
        return self._entry(entry).distinct

    def listed(self) -> bytes:
        """Bitmap of the entries that a manifest lists."""
        cdef bytes bitmap = bytes((self._segment.entries + 7) >> 3)
        cdef uint8_t *bits = <uint8_t *>PyBytes_AS_STRING(bitmap)
        cdef kb_error error
        cdef kb_status status
        with nogil:
            status = kb_corpus_listed(&self._segment.corpus, bits, &error)
        if status != KB_OK:
            raise _failure(status, &error, self.name)
        return bitmap

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

    cdef list _keys(self, const kb_keyed *keyed, int file, prefix):
        cdef bytes wanted = utf8(prefix, "a prefix")
        cdef uint32_t first = 0
        cdef uint32_t end = 0
        cdef uint32_t i
        cdef uint32_t length = 0
        cdef uint32_t count = 0
        cdef const uint8_t *start
        cdef kb_error error
        cdef kb_status status = kb_strings_prefix(&keyed.keys, _start(wanted), len(wanted), &first, &end, &error)
        keys = []
        for i in range(first, end):
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

    def filter_keys(self, prefix: str) -> list:
        """Filter keys that begin with ``prefix``, with the number of their entries, in order."""
        return self._keys(&self._segment.corpus.filters, 2, prefix)

    def reference_keys(self, prefix: str) -> list:
        """Reference targets that begin with ``prefix``, with the number of entries that name them, in order."""
        return self._keys(&self._segment.references, 3, prefix)

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

    def references(self, key: str) -> list:
        """The entries that refer to a target, ascending."""
        cdef int64_t number = self._find_key(&self._segment.references, key)
        cdef uint32_t count = 0
        cdef uint32_t i
        cdef uint32_t *entries
        cdef kb_error error
        cdef kb_status status
        if number < 0:
            return []
        status = kb_keyed_count(&self._segment.references, <uint32_t>number, &count, &error)
        if status != KB_OK:
            raise _failure(status, &error, self.name)
        entries = <uint32_t *>malloc((<size_t>count + 1) * sizeof(uint32_t))
        if entries == NULL:
            raise MemoryError()
        try:
            status = kb_keyed_entries(&self._segment.references, <uint32_t>number, entries, &error)
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


cdef class Builder:
    """Collects entries, in any order, and makes a segment of them. One thread at a time; a second one is refused."""

    cdef kb_builder _builder
    cdef bint _busy

    def __cinit__(self, fingerprint: int):
        """Begins a segment.

        Args:
            fingerprint: names the analyser, languages and format.
        """
        cdef kb_status status
        check_fingerprint(fingerprint)
        status = kb_builder_new(fingerprint, int.from_bytes(os.urandom(8), "little"), &self._builder)
        if status != KB_OK:
            raise _failure(status, NULL, "")

    def __dealloc__(self):
        kb_builder_free(&self._builder)

    cdef int _enter(self) except -1:
        if self._busy:
            raise InvalidArgumentError("the builder is in use by another thread")
        self._busy = True
        return 0

    def add(self, entry) -> None:
        """Adds an entry, whose texts are analysed; InvalidArgumentError when its kbid is there already."""
        check_entry(entry)
        for name, text in zip(FIELDS, entry.fields):
            utf8(text, f"the text of {name}")
        texts = [normalise(text).encode() for text in entry.fields]
        self._enter()
        try:
            self._analyse(entry.kbid, texts)
            self._complete(entry)
        finally:
            self._busy = False

    cdef int _analyse(self, bytes kbid, list texts) except -1:
        cdef kb_source sources[5]
        cdef const uint8_t *start = _start(kbid)
        cdef const uint8_t *raw
        cdef size_t length = 0
        cdef kb_status status
        for i in range(5):
            sources[i].bytes = _start(texts[i])
            sources[i].length = len(texts[i])
        with nogil:
            status = kb_builder_analyse(&self._builder, start, sources)
        if status == KB_E_ARGUMENT:
            raise InvalidArgumentError(f"the entry {kbid.hex()} was added before")
        if status != KB_OK:
            raise _failure(status, NULL, "")
        while self._builder.raws_folded < self._builder.raws.count:
            raw = kb_intern_bytes(&self._builder.raws, self._builder.raws_folded, &length)
            word = fold(PyUnicode_DecodeUTF8(<const char *>raw, <Py_ssize_t>length, NULL)).encode()
            status = kb_builder_fold(&self._builder, _start(word), len(word))
            if status != KB_OK:
                raise _failure(status, NULL, "")
        return 0

    cdef int _complete(self, entry) except -1:
        cdef kb_status status = KB_OK
        cdef bytes key
        cdef bytes stored = entry.stored
        for text in entry.filters:
            key = text.encode()
            if status == KB_OK:
                status = kb_builder_filter(&self._builder, _start(key), len(key))
        for text in entry.references:
            key = text.encode()
            if status == KB_OK:
                status = kb_builder_reference(&self._builder, _start(key), len(key))
        if status == KB_OK:
            status = kb_builder_commit(&self._builder, _start(stored), len(stored), entry.listed)
        if status != KB_OK:
            raise _failure(status, NULL, "")
        return 0

    def merge(self, segment: Segment, keep: bytes) -> None:
        """Adds the entries of a segment whose bit is set in the bitmap ``keep``."""
        cdef Segment source = segment
        cdef bytes bitmap = keep
        cdef const uint8_t *bits = _start(bitmap)
        cdef uint32_t twice = 0
        cdef kb_error error
        cdef kb_status status
        check_bitmap(keep, source._segment.entries, "keep")
        self._enter()
        try:
            with nogil:
                status = kb_builder_merge(&self._builder, &source._segment, bits, &twice, &error)
        finally:
            self._busy = False
        if status == KB_E_ARGUMENT:
            raise InvalidArgumentError(f"the entry {source.kbid(twice).hex()} was added before")
        if status != KB_OK:
            raise _failure(status, &error, source.name)

    def remove(self, kbid: bytes) -> None:
        """Notes that a section of an older segment exists no more."""
        cdef bytes removed = kbid
        cdef kb_status status
        check_kbid(kbid)
        self._enter()
        status = kb_builder_remove(&self._builder, _start(removed))
        self._busy = False
        if status != KB_OK:
            raise _failure(status, NULL, "")

    def finish(self, stem) -> SegmentFiles:
        """Makes the files.

        Args:
            stem: called once with the sorted distinct words that have no stem yet; gives a stem for each.
        """
        cdef kb_status status
        self._enter()
        try:
            with nogil:
                status = kb_builder_sort_words(&self._builder)
            if status != KB_OK:
                raise _failure(status, NULL, "")
            self._set_stems(stem)
            return self._write()
        finally:
            self._busy = False

    cdef int _set_stems(self, stem) except -1:
        cdef size_t i
        cdef size_t length = 0
        cdef uint32_t number
        cdef const uint8_t *start
        cdef bytes encoded
        cdef kb_status status
        numbers = []
        words = []
        for i in range(self._builder.sorted_words.count):
            number = self._builder.sorted_words.items[i]
            if self._builder.word_stems.items[number] == KB_NONE:
                start = kb_intern_bytes(&self._builder.words, number, &length)
                numbers.append(number)
                words.append(PyUnicode_DecodeUTF8(<const char *>start, <Py_ssize_t>length, NULL))
        stems = stem(words)
        check_stems(words, stems)
        for number, text in zip(numbers, stems):
            encoded = utf8(text, "a stem")
            status = kb_builder_set_stem(&self._builder, number, _start(encoded), len(encoded))
            if status != KB_OK:
                raise _failure(status, NULL, "")
        return 0

    cdef object _write(self):
        cdef kb_bytes files[4]
        cdef kb_status status
        cdef int i
        memset(files, 0, sizeof(files))
        try:
            with nogil:
                status = kb_builder_write(&self._builder, files)
            if status != KB_OK:
                raise _failure(status, NULL, "")
            written = [PyBytes_FromStringAndSize(<const char *>files[i].data, <Py_ssize_t>files[i].length)
                       for i in range(4)]
            return SegmentFiles(*written)
        finally:
            for i in range(4):
                kb_bytes_free(&files[i])


cdef class _Term:
    """A stem looked up in all of a searcher's segments."""

    cdef kb_term term

    def __dealloc__(self):
        free(self.term.stems)


cdef class _Scratch:
    """What one search writes to."""

    cdef kb_scratch scratch

    def __cinit__(self, uint32_t entries):
        if kb_scratch_new(entries, &self.scratch) != KB_OK:
            raise MemoryError()

    def __dealloc__(self):
        kb_scratch_free(&self.scratch)


cdef class _Plan:
    """A plan as the library takes it, and what keeps its terms alive."""

    cdef kb_plan plan
    cdef kb_clause *clauses
    cdef kb_alternative *alternatives
    cdef const kb_term **terms
    cdef list held

    def __cinit__(self, clauses, size_t alternatives, size_t stems):
        self.held = []
        self.clauses = <kb_clause *>calloc(len(clauses) + 1, sizeof(kb_clause))
        self.alternatives = <kb_alternative *>calloc(alternatives + 1, sizeof(kb_alternative))
        self.terms = <const kb_term **>calloc(stems + 1, sizeof(kb_term *))
        if self.clauses == NULL or self.alternatives == NULL or self.terms == NULL:
            raise MemoryError()
        self.plan.clauses = self.clauses
        self.plan.count = <uint32_t>len(clauses)

    def __dealloc__(self):
        free(self.clauses)
        free(self.alternatives)
        free(self.terms)


cdef class Searcher:
    """A snapshot: segments, and the entries of each that are live. Entries outside do not exist for it.

    Attributes:
        sections: number of live entries, N.
        totals: summed lengths of ``FIELDS`` over the live entries.
        memory_bytes: held beside the segments' files, roughly.
    """

    cdef kb_searcher _searcher
    cdef kb_view *_views
    cdef uint32_t _count
    cdef uint32_t _largest
    cdef tuple _segments
    cdef tuple _live
    cdef list _scratches
    cdef dict _terms

    def __cinit__(self, segments, live, params):
        """Counts the live entries.

        Args:
            segments: those to search; a hit names its segment by its place here.
            live: one bitmap a segment.
            params: of BM25F.

        Raises:
            CorruptError: kbids or lengths of a segment are damaged.
        """
        cdef kb_params values
        cdef kb_status status
        cdef Segment segment
        cdef uint32_t i
        self._segments = tuple(segments)
        self._live = tuple(live)
        self._scratches = []
        self._terms = {}
        check_bitmaps(self._live, [segment.sections for segment in self._segments], "live")
        check_params(params)
        self._count = <uint32_t>len(self._segments)
        self._views = <kb_view *>calloc(<size_t>self._count + 1, sizeof(kb_view))
        if self._views == NULL:
            raise MemoryError()
        for i in range(self._count):
            segment = self._segments[i]
            segment._prepare()
            self._largest = max(self._largest, segment._segment.entries)
            self._views[i].segment = &segment._segment
            self._views[i].lengths = &segment._lengths
            self._views[i].live = _start(self._live[i])
        values.k1 = params.k1
        for i in range(KB_FIELDS):
            values.b[i] = params.b[i]
            values.weights[i] = params.weights[i]
        with nogil:
            status = kb_searcher_open(self._views, self._count, &values, &self._searcher)
        if status != KB_OK:
            raise _failure(status, NULL, "")

    def __dealloc__(self):
        kb_searcher_close(&self._searcher)
        free(self._views)

    @property
    def sections(self):
        return self._searcher.sections

    @property
    def totals(self):
        return tuple([self._searcher.totals[i] for i in range(KB_FIELDS)])

    @property
    def memory_bytes(self):
        lengths = sum([20 * (<Segment>segment)._segment.entries for segment in self._segments])
        norms = sum([8 * self._searcher.norms_count[i] for i in range(KB_FIELDS)])
        terms = len(self._terms) * (120 + self._count * sizeof(kb_stem))
        return lengths + norms + terms + len(self._scratches) * 28 * self._largest + sum(map(len, self._live))

    cdef object _failed(self, kb_status status, const kb_error *error):
        name = ""
        if status == KB_E_CORRUPT:
            name = (<Segment>self._segments[error.segment]).name
        return _failure(status, error, name)

    cdef _Term _term(self, str stem):
        """The stem in all segments; remembered, because the searcher never changes."""
        cdef _Term term = self._terms.get(stem)
        cdef kb_error error
        cdef kb_status status
        cdef bytes data
        cdef const uint8_t *start
        cdef size_t length
        if term is not None:
            return term
        data = utf8(stem, "a stem")
        start = _start(data)
        length = len(data)
        term = _Term()
        term.term.stems = <kb_stem *>calloc(<size_t>self._count + 1, sizeof(kb_stem))
        if term.term.stems == NULL:
            raise MemoryError()
        with nogil:
            status = kb_term_find(&self._searcher, start, length, &term.term, &error)
        if status != KB_OK:
            raise self._failed(status, &error)
        if len(self._terms) >= TERMS_KEPT:
            self._terms.clear()
        self._terms[stem] = term
        return term

    cdef _Plan _resolve(self, plan):
        """Looks the stems of a checked plan up."""
        cdef size_t alternatives = 0
        cdef size_t stems = 0
        cdef size_t i = 0
        cdef size_t at = 0
        cdef size_t stem_at = 0
        cdef kb_clause *target
        cdef kb_alternative *way
        cdef _Term term
        cdef _Plan made
        for clause in plan.clauses:
            alternatives += <size_t>len(clause.alternatives)
            for alternative in clause.alternatives:
                stems += <size_t>len(alternative.stems)
        made = _Plan(plan.clauses, alternatives, stems)
        for i, clause in enumerate(plan.clauses):
            target = &made.clauses[i]
            target.alternatives = &made.alternatives[at]
            target.count = <uint32_t>len(clause.alternatives)
            target.fields = KB_ALL_FIELDS if clause.field is None else <uint32_t>1 << <uint32_t>clause.field
            target.kind = KB_SHOULD if clause.kind == "should" else KB_MUST if clause.kind == "must" else KB_MUST_NOT
            for alternative in clause.alternatives:
                way = &made.alternatives[at]
                at += 1
                way.terms = &made.terms[stem_at]
                way.count = <uint32_t>len(alternative.stems)
                way.weight = alternative.weight
                way.idf = 0.0
                for stem in alternative.stems:
                    term = self._term(stem)
                    made.held.append(term)
                    made.terms[stem_at] = &term.term
                    stem_at += 1
                    way.idf = way.idf + term.term.idf
        return made

    cdef _Scratch _take_scratch(self):
        return self._scratches.pop() if self._scratches else _Scratch(self._largest)

    cdef tuple _search(self, plan, limit, allowed, bint as_rank):
        """Hits, as EngineHit or (kbid, score), and the total."""
        cdef _Plan made
        cdef _Scratch scratch
        cdef uint32_t most
        cdef uint32_t count = 0
        cdef uint32_t i
        cdef uint64_t total = 0
        cdef kb_hit *hits = NULL
        cdef kb_hit *hit
        cdef const uint8_t **bitmaps = NULL
        cdef kb_error error
        cdef kb_status status
        check_plan(plan)
        check_limit(limit)
        if allowed is not None:
            allowed = tuple(allowed)
            check_bitmaps(allowed, [segment.sections for segment in self._segments], "allowed")
        made = self._resolve(plan)
        most = <uint32_t>min(limit, self._searcher.sections)
        scratch = self._take_scratch()
        try:
            hits = <kb_hit *>malloc((<size_t>most + 1) * sizeof(kb_hit))
            if allowed is not None:
                bitmaps = <const uint8_t **>malloc((<size_t>self._count + 1) * sizeof(uint8_t *))
            if hits == NULL or (allowed is not None and bitmaps == NULL):
                raise MemoryError()
            if allowed is not None:
                for i in range(self._count):
                    bitmaps[i] = _start(allowed[i])
            with nogil:
                status = kb_search(&self._searcher, &made.plan, bitmaps, most, &scratch.scratch, hits, &count, &total,
                                   &error)
            if status != KB_OK:
                raise self._failed(status, &error)
            found = []
            for i in range(count):
                hit = &hits[i]
                if as_rank:
                    found.append((_kbid_text(kb_view_kbid(&self._views[hit.segment], hit.entry)), hit.score))
                else:
                    found.append(EngineHit(hit.segment, hit.entry, hit.score, hit.matched))
            return found, total
        finally:
            self._scratches.append(scratch)
            free(hits)
            free(bitmaps)

    def df(self, stem: str) -> int:
        """How many live entries hold a stem, in any field."""
        return self._term(stem).term.df

    def search(self, plan, limit: int, allowed=None) -> EngineResult:
        """The best ``limit`` sections that match, and how many match.

        Args:
            plan: the resolved query.
            limit: 0 or more.
            allowed: one bitmap a segment that narrows the candidates and never changes scores.
        """
        hits, total = self._search(plan, limit, allowed, False)
        return EngineResult(tuple(hits), min(total, TOTAL_LIMIT), total <= TOTAL_LIMIT)

    def rank(self, plan, limit: int) -> list:
        """Like ``search``, but just kbids, as 26 characters, and scores."""
        return self._search(plan, limit, None, True)[0]

    def explain(self, plan, segment: int, entry: int) -> tuple:
        """The shares of the should and must clauses that occur in an entry, in plan order; none when it is not live."""
        cdef _Plan made
        cdef _Scratch scratch
        cdef kb_share shares[64]
        cdef kb_share *share
        cdef uint32_t place
        cdef uint32_t number
        cdef uint32_t count = 0
        cdef uint32_t i
        cdef kb_error error
        cdef kb_status status
        check_plan(plan)
        check_segment_number(segment, self._count)
        check_entry_number(entry, self._segments[segment].sections)
        place = segment
        number = entry
        made = self._resolve(plan)
        scratch = self._take_scratch()
        with nogil:
            status = kb_explain(&self._searcher, &made.plan, place, number, &scratch.scratch, shares, &count, &error)
        self._scratches.append(scratch)
        if status != KB_OK:
            raise self._failed(status, &error)
        explained = []
        for i in range(count):
            share = &shares[i]
            frequencies = tuple([share.frequencies[field] for field in range(KB_FIELDS)])
            explained.append(Share(share.clause, share.alternative, share.value, share.weight, share.idf,
                                   share.saturation, frequencies))
        return tuple(explained)

    cdef dict _words(self, kb_words_kind kind, str text, str what, uint32_t distance):
        """Words of all segments that fit, each with its distance and the live entries that hold it."""
        cdef bytes data = utf8(text, what)
        cdef const uint8_t *start = _start(data)
        cdef const uint8_t *word
        cdef size_t length = len(data)
        cdef size_t j
        cdef uint32_t i
        cdef uint32_t size = 0
        cdef kb_found_words words
        cdef kb_error error
        cdef kb_status status
        found = {}
        for i in range(self._count):
            memset(&words, 0, sizeof(words))
            error.segment = i
            try:
                with nogil:
                    status = kb_words_find(&self._views[i], kind, start, length, distance, &words, &error)
                for j in range(words.count if status == KB_OK else 0):
                    if words.items[j].df == 0:
                        continue
                    status = kb_strings_get(&self._views[i].segment.terms.words, words.items[j].number, &word, &size, &error)
                    if status != KB_OK:
                        break
                    key = _text(word, size, 0, (<Segment>self._segments[i]).name)
                    found[key] = (words.items[j].distance, found.get(key, (0, 0))[1] + words.items[j].df)
                if status != KB_OK:
                    raise self._failed(status, &error)
            finally:
                kb_found_words_free(&words)
        return found

    def word_df(self, word: str) -> int:
        """How many live entries hold a surface word, in any field."""
        return self._words(KB_WORDS_EQUAL, word, "a word", 0).get(word, (0, 0))[1]

    def words_with_prefix(self, prefix: str, limit: int) -> list:
        """Words of live entries that begin with ``prefix``, with their word_df, by falling word_df, then word."""
        check_limit(limit)
        return _by_df(self._words(KB_WORDS_PREFIX, prefix, "a prefix", 0))[:limit]

    def words_containing(self, part: str, limit: int) -> list:
        """Words of live entries that hold ``part``, with their word_df, by falling word_df, then word."""
        check_limit(limit)
        return _by_df(self._words(KB_WORDS_CONTAINING, part, "a part", 0))[:limit]

    def words_near(self, word: str, distance: int, limit: int) -> list:
        """Words of live entries at 1 to ``distance`` edits that begin with the same code point.

        Returns:
            (word, distance, word_df), by distance, falling word_df, word.
        """
        utf8(word, "a word")
        check_distance(distance)
        check_limit(limit)
        found = [(other, edits, df) for other, (edits, df) in self._words(KB_WORDS_NEAR, word, "a word", distance).items()]
        return sorted(found, key=_near_order)[:limit]

    def similar(self, stems, threshold: float, limit: int) -> list:
        """Live entries whose stems in title and body have a Jaccard index of ``threshold`` or more with ``stems``.

        Returns:
            (segment, entry, Jaccard index), by falling index, kbid, segment.
        """
        cdef _Scratch scratch
        cdef _Term term
        cdef const kb_term **terms = NULL
        cdef kb_hit *hits = NULL
        cdef double least
        cdef uint32_t most
        cdef uint32_t wanted
        cdef uint32_t count = 0
        cdef uint32_t i
        cdef kb_error error
        cdef kb_status status
        for stem in stems:
            utf8(stem, "a stem")
        check_threshold(threshold)
        check_limit(limit)
        least = threshold
        most = <uint32_t>min(limit, self._searcher.sections)
        held = [self._term(stem) for stem in dict.fromkeys(stems)]
        wanted = <uint32_t>len(held)
        scratch = self._take_scratch()
        try:
            terms = <const kb_term **>malloc((<size_t>wanted + 1) * sizeof(kb_term *))
            hits = <kb_hit *>malloc((<size_t>most + 1) * sizeof(kb_hit))
            if terms == NULL or hits == NULL:
                raise MemoryError()
            for i in range(wanted):
                term = held[i]
                terms[i] = &term.term
            with nogil:
                status = kb_similar(&self._searcher, terms, wanted, least, most, &scratch.scratch, hits, &count, &error)
            if status != KB_OK:
                raise self._failed(status, &error)
            return [(hits[i].segment, hits[i].entry, hits[i].score) for i in range(count)]
        finally:
            self._scratches.append(scratch)
            free(terms)
            free(hits)


def _near_order(item):
    return item[1], -item[2], item[0]


cdef list _by_df(dict found):
    return sorted([(word, df) for word, (_, df) in found.items()], key=_df_order)


def _df_order(item):
    return -item[1], item[0]


cdef str _kbid_text(const uint8_t *kbid):
    """The 26 characters of a kbid: base 32, two zero bits at the end."""
    cdef char text[26]
    cdef uint32_t bits = 0
    cdef uint32_t held = 0
    cdef uint32_t at = 0
    cdef uint32_t i
    for i in range(KB_KBID_BYTES):
        bits = bits << 8 | kbid[i]
        held += 8
        while held >= 5:
            held -= 5
            text[at] = KBID_ALPHABET[bits >> held & 31]
            at += 1
    text[at] = KBID_ALPHABET[bits << (5 - held) & 31]
    return text[:26].decode("ascii")
