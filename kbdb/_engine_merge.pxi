# Part of _engine.pyx: makes one segment of several.


cdef class _Into:
    """Takes what a merge writes to Python's callable, whose error it keeps."""

    cdef object put
    cdef object error

    def __cinit__(self, put):
        self.put = put


cdef kb_status _write(void *context, kb_file file, uint64_t offset, const uint8_t *start, size_t length) noexcept with gil:
    into = <_Into>context
    try:
        into.put(file, offset, PyBytes_FromStringAndSize(<const char *>start, <Py_ssize_t>length))
    except BaseException as error:
        into.error = error
        return KB_E_SINK
    return KB_OK


def merge(segments, keeps, removed, *, fingerprint: int, params, into) -> None:
    """Makes one segment of several, with the bytes that a build from the same entries gives.

    Args:
        segments: in any order.
        keeps: for each segment the bitmap of those of its entries that are wanted; no kbid twice.
        removed: kbids of sections of older segments that exist no more; those that are entries are left out.
        fingerprint: what the segment is made with.
        params: of BM25F; impacts are made with them.
        into: called with the number of a file in the order of SegmentFiles, an offset, and bytes that belong there: at
            most 1 MB and a little, each byte of a file once, not always in order. What it raises ends the merge.

    Raises:
        CorruptError, InvalidArgumentError, TooLargeError.
    """
    cdef kb_merge_order order
    cdef kb_merge_part *parts
    cdef kb_sink sink
    cdef kb_error error
    cdef kb_status status
    cdef Segment segment
    cdef bytes keep
    cdef bytes gone
    cdef uint8_t twice[16]
    cdef _Into taker = _Into(into)
    check_fingerprint(fingerprint)
    _take_params(params, &order.params)
    segments, keeps, removed = tuple(segments), tuple(keeps), set(removed)
    check_bitmaps(keeps, [item.sections for item in segments], "keep")
    for kbid in removed:
        check_kbid(kbid)
    gone = b"".join(sorted(removed))
    parts = <kb_merge_part *>calloc(len(segments) + 1, sizeof(kb_merge_part))
    if parts == NULL:
        raise MemoryError()
    try:
        for i in range(len(segments)):
            segment, keep = segments[i], keeps[i]
            parts[i].segment = &segment._segment
            parts[i].keep = _start(keep)
        order.parts = parts
        order.parts_count = <uint32_t>len(segments)
        order.removed = _start(gone)
        order.removed_count = <size_t>len(removed)
        order.fingerprint = fingerprint
        sink.write = _write
        sink.context = <void *>taker
        with nogil:
            status = kb_merge(&order, &sink, twice, &error)
    finally:
        free(parts)
    if status == KB_E_SINK:
        raise taker.error
    if status == KB_E_ARGUMENT:
        raise InvalidArgumentError(f"the entry {bytes(twice[:16]).hex()} is in two segments")
    if status == KB_E_CORRUPT:
        raise _failure(status, &error, segments[error.segment].name)
    if status != KB_OK:
        raise _failure(status, NULL, "")
