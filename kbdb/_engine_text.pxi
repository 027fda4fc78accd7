# Part of _engine.pyx: tokens and idf.


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
        (position, surface word) in order. Positions start at 0 and never fall; a whole identifier stands before its
        first part, at the same position.
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
