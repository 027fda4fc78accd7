# Part of _engine.pyx: files of vectors, opened, written, merged.


cdef object _no_memory(void *pointer):
    if pointer == NULL:
        raise MemoryError()


cdef kb_dot _dot_way() except? NULL:
    cdef kb_dot dot = kb_dot_avx2()
    return kb_dot_portable if dot == NULL or _is_portable() else dot


cdef class Vectors:
    """An open vectors.idx; making one looks at its header and length. The first use of a record checks them all.

    Attributes:
        dimensions: of each vector.
        records: how many vectors, numbered in kbid order.
        name: the folder it is in, for errors.
        memory_bytes: held beside the file.
    """

    cdef kb_vectors _vectors
    cdef Py_buffer _buffer
    cdef bint _held
    cdef kb_dot _dot
    cdef uint8_t *_kbids
    cdef double *_lengths
    cdef kb_sketches *_sketches
    cdef readonly str name

    def __cinit__(self, data, *, name: str = ""):
        """Opens a file.

        Args:
            data: its bytes, kept alive by the object.
            name: path of its folder.

        Raises:
            CorruptError, StaleIndexError.
        """
        cdef kb_error error
        cdef kb_status status
        self.name = name
        self._dot = _dot_way()
        PyObject_GetBuffer(data, &self._buffer, PyBUF_SIMPLE)
        self._held = True
        status = kb_vectors_open(<const uint8_t *>self._buffer.buf, <size_t>self._buffer.len, &self._vectors, &error)
        if status != KB_OK:
            raise _failure(status, &error, name)

    def __dealloc__(self):
        free(self._kbids)
        free(self._lengths)
        if self._sketches != NULL:
            kb_sketches_free(self._sketches)
            free(self._sketches)
        if self._held:
            PyBuffer_Release(&self._buffer)

    @property
    def dimensions(self):
        return self._vectors.dimensions

    @property
    def records(self):
        return self._vectors.count

    @property
    def memory_bytes(self):
        cdef size_t held = sizeof(kb_vectors)
        if self._kbids != NULL:
            held += self._vectors.count * (<size_t>KB_KBID_BYTES + sizeof(double))
        if self._sketches != NULL:
            held += kb_sketches_bytes(self._sketches)
        return held

    cdef int _check(self) except -1:
        """Checks every record, once. Threads that come here together do it each, and one of them keeps what it found."""
        cdef uint8_t *kbids
        cdef double *lengths
        cdef kb_error error
        cdef kb_status status
        if self._kbids != NULL:
            return 0
        kbids = <uint8_t *>malloc(<size_t>self._vectors.count * KB_KBID_BYTES + 1)
        lengths = <double *>malloc(<size_t>self._vectors.count * sizeof(double) + 1)
        try:
            if kbids == NULL or lengths == NULL:
                raise MemoryError()
            with nogil:
                status = kb_vectors_check(&self._vectors, self._dot, kbids, lengths, &error)
            if status != KB_OK:
                raise _failure(status, &error, self.name)
            if self._kbids == NULL:
                self._kbids, self._lengths = kbids, lengths
                kbids, lengths = NULL, NULL
        finally:
            free(kbids)
            free(lengths)
        return 0

    def verify(self) -> None:
        """Checks every record: kbids ascend, and all numbers are finite. CorruptError when not."""
        self._check()

    def prepare(self) -> None:
        """Sketches every vector, so that searches need not look at all; about a microsecond each. Answers stay the same."""
        cdef kb_sketches *sketches
        cdef kb_status status
        self._check()
        if self._sketches != NULL:
            return
        sketches = <kb_sketches *>calloc(1, sizeof(kb_sketches))
        if sketches == NULL:
            raise MemoryError()
        with nogil:
            status = kb_sketches_new(&self._vectors, self._lengths, sketches)
        if status == KB_OK and self._sketches == NULL:
            self._sketches = sketches
            return
        kb_sketches_free(sketches)
        free(sketches)
        if status != KB_OK:
            raise _failure(status, NULL, self.name)

    def kbid(self, record: int) -> bytes:
        """The 16 bytes of a record's kbid."""
        check_record_number(record, self._vectors.count)
        self._check()
        return PyBytes_FromStringAndSize(<const char *>kb_vectors_kbid(&self._vectors, record), KB_KBID_BYTES)

    def find(self, kbid: bytes) -> int:
        """The record of this kbid, -1 when there is none."""
        cdef bytes wanted = kbid
        cdef uint32_t record = 0
        check_kbid(kbid)
        self._check()
        return record if kb_vectors_find(self._kbids, self._vectors.count, _start(wanted), &record) else -1

    def vector(self, record: int) -> bytes:
        """The numbers of a record, as little-endian f32."""
        check_record_number(record, self._vectors.count)
        self._check()
        return PyBytes_FromStringAndSize(<const char *>kb_vectors_components(&self._vectors, record),
                                         <Py_ssize_t>self._vectors.dimensions * 4)


cdef kb_status _write_one(void *context, kb_file file, uint64_t offset, const uint8_t *start, size_t length) noexcept with gil:
    into = <_Into>context
    try:
        into.put(offset, PyBytes_FromStringAndSize(<const char *>start, <Py_ssize_t>length))
    except BaseException as error:
        into.error = error
        return KB_E_SINK
    return KB_OK


def write_vectors(dimensions: int, kbids, vectors, into) -> None:
    """Writes a file of vectors.

    Args:
        dimensions: 1 to 65,535.
        kbids: 16 bytes each, distinct, in any order.
        vectors: little-endian f32, finite, those of the kbids in turn.
        into: called with an offset and bytes that belong there. What it raises ends the writing.

    Raises:
        InvalidArgumentError.
    """
    cdef kb_vectors_new new
    cdef kb_sink sink
    cdef kb_status status
    cdef Py_buffer buffer
    cdef uint32_t wrong = 0
    cdef uint32_t *order = NULL
    cdef bytes joined
    cdef _Into taker = _Into(into)
    kbids = list(kbids)
    PyObject_GetBuffer(vectors, &buffer, PyBUF_SIMPLE)
    try:
        ordered = check_vectors(dimensions, kbids, buffer.len)
        joined = b"".join(kbids)
        order = <uint32_t *>malloc((len(kbids) + 1) * sizeof(uint32_t))
        if order == NULL:
            raise MemoryError()
        for i, number in enumerate(ordered):
            order[i] = number
        new.dimensions = dimensions
        new.count = <uint32_t>len(kbids)
        new.kbids = _start(joined)
        new.components = <const uint8_t *>buffer.buf
        new.order = order
        sink.write = _write_one
        sink.context = <void *>taker
        with nogil:
            status = kb_vectors_write(&new, &sink, &wrong)
    finally:
        free(order)
        PyBuffer_Release(&buffer)
    if status == KB_E_SINK:
        raise taker.error
    if status == KB_E_ARGUMENT and wrong < new.count:
        check_finite(False, f"vector {wrong}")
    if status != KB_OK:
        raise _failure(status, NULL, "")


def merge_vectors(parts, keeps, into) -> None:
    """Makes one file of several.

    Args:
        parts: open files of the same dimensions, oldest first; at least one. Of records with one kbid the last counts.
        keeps: for each part the bitmap of those of its records that are wanted.
        into: called with an offset and bytes that belong there. What it raises ends the writing.

    Raises:
        CorruptError, InvalidArgumentError, TooLargeError.
    """
    cdef kb_vectors_part *items = NULL
    cdef kb_sink sink
    cdef kb_status status
    cdef Vectors part
    cdef bytes keep
    cdef uint32_t count
    cdef uint32_t dimensions
    cdef _Into taker = _Into(into)
    parts, keeps = tuple(parts), tuple(keeps)
    check_parts([item.dimensions for item in parts], merging=True)
    check_bitmaps(keeps, [item.records for item in parts], "keep")
    count, dimensions = <uint32_t>len(parts), parts[0].dimensions
    items = <kb_vectors_part *>calloc(count, sizeof(kb_vectors_part))
    if items == NULL:
        raise MemoryError()
    try:
        for i in range(count):
            part, keep = parts[i], keeps[i]
            part._check()
            items[i].vectors = &part._vectors
            items[i].kbids = part._kbids
            items[i].keep = _start(keep)
        sink.write = _write_one
        sink.context = <void *>taker
        with nogil:
            status = kb_vectors_merge(items, count, dimensions, &sink)
    finally:
        free(items)
    if status == KB_E_SINK:
        raise taker.error
    if status != KB_OK:
        raise _failure(status, NULL, "")
