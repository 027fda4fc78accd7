# Part of _engine.pyx: the TOML scanner's events as Python values.


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
