# Part of _engine.pyx: builds segments.

# Bytes that making a segment takes at its height, measured: a token is held in 4 and written in about 3. Words are held
# with their stems, as C strings and as Python's.
cdef enum:
    MEMORY_PER_TOKEN = 7
    MEMORY_PER_WORD = 500
    MEMORY_PER_ENTRY = 250


cdef kb_source _utf8_source(text) except *:
    """The UTF-8 bytes of a text or of bytes that hold some; they live as long as the object."""
    cdef kb_source source
    cdef Py_ssize_t length = 0
    if isinstance(text, bytes):
        source.bytes = _start(text)
        source.length = len(<bytes>text)
        return source
    source.bytes = <const uint8_t *>PyUnicode_AsUTF8AndSize(text, &length)
    source.length = <size_t>length
    return source


cdef object _utf8_normal(text, str field):
    """What is analysed of a field's text; ASCII is its own normal form and its own UTF-8, so it is not copied."""
    if isinstance(text, str) and (<str>text).isascii():
        return text
    utf8(text, f"the text of {field}")
    return normalise(text).encode()


cdef bint _is_plainly_sound(entry) except -1:
    """Whether the entry is of those that ``check_entry`` takes, seen without its cost; nearly all are."""
    return (
        len(entry.kbid) == 16
        and len(entry.fields) == 5
        and _are_plainly_sound(entry.filters)
        and _are_plainly_sound(entry.references)
    )


cdef bint _are_plainly_sound(keys) except -1:
    cdef kb_source key
    cdef const uint8_t *before = NULL
    cdef size_t before_length = 0
    cdef int order
    if not isinstance(keys, tuple):
        return False
    for text in <tuple>keys:
        if not isinstance(text, str) or not (<str>text).isascii() or not text:
            return False
        key = _utf8_source(text)
        if before != NULL:
            order = memcmp(before, key.bytes, min(before_length, key.length))
            if order > 0 or (order == 0 and before_length >= key.length):
                return False
        before, before_length = key.bytes, key.length
    return True


cdef class Builder:
    """Collects entries, in any order, and makes a segment of them once. One thread at a time; a second one is refused."""

    cdef kb_builder _builder
    cdef bint _busy
    cdef bint _spent

    def __cinit__(self, fingerprint: int, params):
        """Begins a segment.

        Args:
            fingerprint: names the analyser, languages, parameters and format.
            params: of BM25F; impacts are made with them.
        """
        cdef kb_params values
        cdef kb_status status
        check_fingerprint(fingerprint)
        _take_params(params, &values)
        status = kb_builder_new(fingerprint, &values, int.from_bytes(os.urandom(8), "little"), &self._builder)
        if status != KB_OK:
            raise _failure(status, NULL, "")

    def __dealloc__(self):
        kb_builder_free(&self._builder)

    cdef int _enter(self) except -1:
        if self._busy:
            raise InvalidArgumentError("the builder is in use by another thread")
        if self._spent:
            raise InvalidArgumentError("the builder has made its segment")
        self._busy = True
        return 0

    def add(self, entry) -> None:
        """Adds an entry, whose texts are analysed; InvalidArgumentError when its kbid is there already."""
        if not _is_plainly_sound(entry):
            check_entry(entry)
        texts = [_utf8_normal(text, name) for name, text in zip(FIELDS, entry.fields)]
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
            sources[i] = _utf8_source(texts[i])
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
        cdef kb_source key
        cdef bytes stored = entry.stored
        for text in entry.filters:
            key = _utf8_source(text)
            if status == KB_OK:
                status = kb_builder_filter(&self._builder, key.bytes, key.length)
        for text in entry.references:
            key = _utf8_source(text)
            if status == KB_OK:
                status = kb_builder_reference(&self._builder, key.bytes, key.length)
        if status == KB_OK:
            status = kb_builder_commit(&self._builder, _start(stored), len(stored), entry.listed)
        if status != KB_OK:
            raise _failure(status, NULL, "")
        return 0

    @property
    def memory_bytes(self) -> int:
        """About what making a segment takes at its height, as far as entries were added."""
        return (
            self._builder.tokens_count * <size_t>MEMORY_PER_TOKEN
            + self._builder.words.count * <size_t>MEMORY_PER_WORD
            + self._builder.entries_count * <size_t>MEMORY_PER_ENTRY
            + self._builder.stored.length
            + self._builder.shared.bytes.length
        )

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
        """Makes the files; nothing can be added then. An error of ``stem`` leaves the builder as it was.

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
        cdef kb_source encoded
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
            _take_text(text, "a stem", &encoded)
            status = kb_builder_set_stem(&self._builder, number, encoded.bytes, encoded.length)
            if status != KB_OK:
                raise _failure(status, NULL, "")
        return 0

    cdef object _write(self):
        cdef kb_bytes files[4]
        cdef kb_status status
        cdef int i
        memset(files, 0, sizeof(files))
        try:
            self._spent = True
            with nogil:
                status = kb_builder_write(&self._builder, files)
                kb_builder_free(&self._builder)
            if status != KB_OK:
                raise _failure(status, NULL, "")
            written = []
            for i in range(4):
                written.append(PyBytes_FromStringAndSize(<const char *>files[i].data, <Py_ssize_t>files[i].length))
                kb_bytes_free(&files[i])
            return SegmentFiles(*written)
        finally:
            for i in range(4):
                kb_bytes_free(&files[i])
