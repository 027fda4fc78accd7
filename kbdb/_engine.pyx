# cython: language_level=3, boundscheck=False, wraparound=False, embedsignature=False
"""The compiled engine: the one door from Python into csrc/ (twin: kbdb.reference; names: kbdb.index.api).

Arguments are checked by kbdb.checks, as in the twin; ``_failure`` turns the library's error codes into exceptions. The
GIL is released around everything that scans, builds or searches.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.unicode cimport PyUnicode_AsUTF8AndSize, PyUnicode_DecodeUTF8
from libc.stdlib cimport calloc, free, getenv, malloc
from libc.string cimport memcmp, memcpy, memset, strcmp

import os

from kbdb.checks import (
    check_bitmap,
    check_bitmaps,
    check_counts,
    check_distance,
    check_entry,
    check_entry_number,
    check_fingerprint,
    check_finite,
    check_kbid,
    check_limit,
    check_params,
    check_parts,
    check_plan,
    check_query,
    check_record_number,
    check_segment_number,
    check_stems,
    check_threshold,
    check_vectors,
    utf8,
)
from kbdb.errors import CorruptError, InvalidArgumentError, StaleIndexError, TomlError, TooLargeError
from kbdb.normalise import ANALYSIS_VERSION, fold, normalise
from kbdb.plan import FIELDS, TOTAL_LIMIT, EngineHit, EngineResult, SegmentFiles, Share, VectorHit

__all__ = [
    "ANALYSIS_VERSION",
    "IMPLEMENTATION",
    "Builder",
    "Searcher",
    "Segment",
    "VectorSearcher",
    "Vectors",
    "idf",
    "merge",
    "merge_vectors",
    "scan_toml",
    "tokenise",
    "write_vectors",
]

IMPLEMENTATION = "c"

FILE_NAMES = ("terms.idx", "positions.idx", "corpus.dat", "references.idx", "vectors.idx")
REBUILD = "the index can be made anew: kbdb rebuild"
# Stems a searcher remembers; past it it forgets them all, so that hostile queries cannot fill memory.
TERMS_KEPT = 1 << 16

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
        message = "a text does not fit the 32 bits of an index number"
        return TooLargeError(message, "split the text into smaller sections")
    if status == KB_E_ARGUMENT or status == KB_E_UTF8:
        return InvalidArgumentError("the engine was handed what kbdb.checks should have refused")
    return MemoryError()


cdef bint _is_portable() except -1:
    """Whether the ways that any processor can go are to be taken."""
    cdef const char *asked = getenv("KBDB_SIMD")
    return asked != NULL and strcmp(asked, b"portable") == 0


cdef int _take_params(params, kb_params *values) except -1:
    cdef uint32_t field
    check_params(params)
    values.k1 = params.k1
    for field in range(KB_FIELDS):
        values.b[field] = params.b[field]
        values.weights[field] = params.weights[field]
    return 0


cdef int64_t _most(limit) except -2:
    """A limit as a number that no segment has more of; -1 where there is none."""
    if limit is None:
        return -1
    check_limit(limit)
    return min(limit, 0xFFFFFFFF)


cdef inline const uint8_t *_start(bytes data):
    return <const uint8_t *>PyBytes_AS_STRING(data)


cdef int _take_text(str text, str what, kb_source *source) except -1:
    """The bytes of a text, which last as long as it; `what` names it in the error."""
    cdef Py_ssize_t length = 0
    try:
        source.bytes = <const uint8_t *>PyUnicode_AsUTF8AndSize(text, &length)
    except UnicodeEncodeError:
        utf8(text, what)
    source.length = <size_t>length
    return 0


cdef str _text(const uint8_t *start, size_t length, int file, str name):
    """A string of a file, as text."""
    try:
        return PyUnicode_DecodeUTF8(<const char *>start, <Py_ssize_t>length, NULL)
    except UnicodeDecodeError:
        path = f"{name}/{FILE_NAMES[file]}" if name else FILE_NAMES[file]
        raise CorruptError(f"{path}: {bytes(start[:length])!r} is not UTF-8", REBUILD) from None


include "_engine_text.pxi"
include "_engine_toml.pxi"
include "_engine_segment.pxi"
include "_engine_builder.pxi"
include "_engine_merge.pxi"
include "_engine_searcher.pxi"
include "_engine_vectors.pxi"
include "_engine_vector_search.pxi"
