/* The TOML scanner: one pass over the bytes, one line at a time; interface and rules in toml.h, twin in
 * reference/toml.py. */
#include "toml.h"

#include <string.h>

#include "utf8.h"

/* Messages are part of the interface: the twin says the same, word for word. */
static const char *const BLANK_LINE = "a blank line stands only before a table header, and only one";
static const char *const NO_BLANK_LINE = "expected a blank line before the table header";
static const char *const BAD_TABLE = "expected a table header: [name] or [[name]]";
static const char *const BAD_KEY = "expected a key of letters, digits, _ or -, or a table header";
static const char *const BAD_EQUALS = "expected ' = ' after the key";
static const char *const BAD_VALUE = "expected a value: a string, an integer, true, false or an array";
static const char *const BAD_ITEM = "expected a string or an integer in the array";
static const char *const MIXED_ARRAY = "expected an array of strings only or of integers only";
static const char *const BAD_SEPARATOR = "expected ', ' or ']' in the array";
static const char *const BAD_DIGIT = "expected a digit after the minus sign";
static const char *const BAD_ZERO = "expected an integer without leading zeros, and 0 without a sign";
static const char *const OUT_OF_RANGE = "expected an integer of at most 64 bits";
static const char *const OPEN_STRING = "expected the string's closing quote on the same line";
static const char *const BARE_CONTROL = "expected an escape in place of the control character";
static const char *const BAD_ESCAPE =
    "expected one of the escapes \\\" \\\\ \\b \\t \\n \\f \\r, or \\u00XX with upper-case digits for another control "
    "character";
static const char *const NOT_UTF8 = "expected UTF-8 in the string";
static const char *const BAD_LINE_END = "expected the end of the line";
static const char *const DUPLICATE_KEY = "expected another name: this key is there already";
static const char *const DUPLICATE_TABLE =
    "expected another name: this table is there already, or its [[items]] do not stand together";
static const char *const TOO_MANY_KEYS = "expected at most 64 keys in one table";

static int fail(kb_toml *scanner, const char *message) {
    scanner->message = message;
    return 1;
}

/* The byte at `offset` from the cursor, or -1 past the end. Bytes are only ever read here and in checked runs. */
static int peek(const kb_toml *scanner, size_t offset) {
    return (size_t)(scanner->end - scanner->next) > offset ? scanner->next[offset] : -1;
}

static bool skip(kb_toml *scanner, const char *expected) {
    size_t length = strlen(expected);
    if ((size_t)(scanner->end - scanner->next) < length || memcmp(scanner->next, expected, length) != 0)
        return false;
    scanner->next += length;
    return true;
}

static bool is_digit(int byte) { return byte >= '0' && byte <= '9'; }

static bool is_key_byte(int byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || is_digit(byte) || byte == '_' || byte == '-';
}

static kb_toml_slice scan_key(kb_toml *scanner) {
    kb_toml_slice key = {scanner->next, 0};
    while (is_key_byte(peek(scanner, 0)))
        scanner->next++;
    key.length = (size_t)(scanner->next - key.bytes);
    return key;
}

static int end_line(kb_toml *scanner) {
    if (peek(scanner, 0) != '\n')
        return fail(scanner, BAD_LINE_END);
    scanner->next++;
    scanner->line++;
    return 0;
}

static bool same(kb_toml_slice a, kb_toml_slice b) {
    return a.length == b.length && memcmp(a.bytes, b.bytes, a.length) == 0;
}

static int add_key(kb_toml *scanner, kb_toml_slice *keys, size_t *count, kb_toml_slice key, const char *duplicate) {
    for (size_t i = 0; i < *count; i++)
        if (same(keys[i], key))
            return fail(scanner, duplicate);
    if (*count == KB_TOML_MAX_KEYS)
        return fail(scanner, TOO_MANY_KEYS);
    keys[(*count)++] = key;
    return 0;
}

static int hex_digit(int byte) {
    if (is_digit(byte))
        return byte - '0';
    return byte >= 'A' && byte <= 'F' ? byte - 'A' + 10 : -1;
}

/* What `\` and this byte stand for; -1 when that is no escape. */
static int short_escape(int byte) {
    switch (byte) {
        case '"':
            return '"';
        case '\\':
            return '\\';
        case 'b':
            return '\b';
        case 't':
            return '\t';
        case 'n':
            return '\n';
        case 'f':
            return '\f';
        case 'r':
            return '\r';
        default:
            return -1;
    }
}

/* The control character that \u00 and these two digits stand for; -1 for one that has a shorter form. */
static int control_escape(int high, int low) {
    int value = hex_digit(high) * 16 + hex_digit(low);
    if (hex_digit(high) < 0 || hex_digit(low) < 0 || (value >= 0x20 && value != 0x7F))
        return -1;
    return value == '\b' || value == '\t' || value == '\n' || value == '\f' || value == '\r' ? -1 : value;
}

static int scan_escape(kb_toml *scanner) {
    if (short_escape(peek(scanner, 1)) >= 0) {
        scanner->next += 2;
        return 0;
    }
    if (peek(scanner, 1) != 'u' || peek(scanner, 2) != '0' || peek(scanner, 3) != '0' ||
        control_escape(peek(scanner, 4), peek(scanner, 5)) < 0)
        return fail(scanner, BAD_ESCAPE);
    scanner->next += 6;
    return 0;
}

static int scan_string(kb_toml *scanner, kb_toml_event *event) {
    event->kind = KB_TOML_STRING;
    event->text.bytes = ++scanner->next;
    for (;;) {
        size_t width = 1;
        uint32_t character;
        int byte = peek(scanner, 0);
        if (byte == '"')
            break;
        if (byte < 0 || byte == '\n')
            return fail(scanner, OPEN_STRING);
        if (byte < 0x20 || byte == 0x7F)
            return fail(scanner, BARE_CONTROL);
        if (byte == '\\') {
            if (scan_escape(scanner) != 0)
                return 1;
        } else {
            width = kb_utf8_read(scanner->next, (size_t)(scanner->end - scanner->next), &character);
            if (width == 0)
                return fail(scanner, NOT_UTF8);
            scanner->next += width;
        }
        event->decoded_length += width;
    }
    event->text.length = (size_t)(scanner->next - event->text.bytes);
    scanner->next++;
    return 0;
}

static int scan_integer(kb_toml *scanner, kb_toml_event *event) {
    bool negative = skip(scanner, "-");
    uint64_t limit = (uint64_t)INT64_MAX + negative;
    uint64_t value = 0;
    bool fits = true;
    event->kind = KB_TOML_INTEGER;
    if (!is_digit(peek(scanner, 0)))
        return fail(scanner, BAD_DIGIT);
    if (peek(scanner, 0) == '0' && (negative || is_digit(peek(scanner, 1))))
        return fail(scanner, BAD_ZERO);
    for (; is_digit(peek(scanner, 0)); scanner->next++) {
        uint64_t digit = (uint64_t)(*scanner->next - '0');
        fits = fits && value <= (limit - digit) / 10;
        value = fits ? value * 10 + digit : value;
    }
    if (!fits)
        return fail(scanner, OUT_OF_RANGE);
    event->integer = negative ? -1 - (int64_t)(value - 1) : (int64_t)value;
    return 0;
}

static int scan_item(kb_toml *scanner, kb_toml_event *event) {
    int byte = peek(scanner, 0);
    int kind = byte == '"' ? KB_TOML_STRING : KB_TOML_INTEGER;
    if (byte != '"' && byte != '-' && !is_digit(byte))
        return fail(scanner, BAD_ITEM);
    if (scanner->array != KB_TOML_ARRAY && scanner->array != kind)
        return fail(scanner, MIXED_ARRAY);
    scanner->array = kind;
    return kind == KB_TOML_STRING ? scan_string(scanner, event) : scan_integer(scanner, event);
}

static int continue_array(kb_toml *scanner, kb_toml_event *event) {
    bool first = scanner->array == KB_TOML_ARRAY;
    if (skip(scanner, "]")) {
        event->kind = KB_TOML_ARRAY_END;
        scanner->array = 0;
        return end_line(scanner);
    }
    if (!first && !skip(scanner, ", "))
        return fail(scanner, BAD_SEPARATOR);
    return scan_item(scanner, event);
}

static int scan_value(kb_toml *scanner, kb_toml_event *event) {
    int byte = peek(scanner, 0);
    if (byte == '"')
        return scan_string(scanner, event) || end_line(scanner);
    if (byte == '-' || is_digit(byte))
        return scan_integer(scanner, event) || end_line(scanner);
    if (byte == '[') {
        scanner->next++;
        scanner->array = event->kind = KB_TOML_ARRAY;
        return 0;
    }
    event->kind = KB_TOML_BOOLEAN;
    event->integer = byte == 't';
    if (!skip(scanner, "true") && !skip(scanner, "false"))
        return fail(scanner, BAD_VALUE);
    return end_line(scanner);
}

static int scan_pair(kb_toml *scanner, kb_toml_event *event) {
    event->key = scan_key(scanner);
    if (event->key.length == 0)
        return fail(scanner, BAD_KEY);
    if (scanner->in_table ? add_key(scanner, scanner->keys, &scanner->keys_count, event->key, DUPLICATE_KEY)
                          : add_key(scanner, scanner->names, &scanner->names_count, event->key, DUPLICATE_KEY))
        return 1;
    if (!skip(scanner, " = "))
        return fail(scanner, BAD_EQUALS);
    return scan_value(scanner, event);
}

static int scan_table(kb_toml *scanner, kb_toml_event *event) {
    bool is_item, continues;
    scanner->next++;
    is_item = skip(scanner, "[");
    event->kind = is_item ? KB_TOML_TABLE_ITEM : KB_TOML_TABLE;
    event->key = scan_key(scanner);
    if (event->key.length == 0 || !skip(scanner, is_item ? "]]" : "]"))
        return fail(scanner, BAD_TABLE);
    continues = is_item && scanner->last_was_item && same(scanner->names[scanner->names_count - 1], event->key);
    if (!continues && add_key(scanner, scanner->names, &scanner->names_count, event->key, DUPLICATE_TABLE) != 0)
        return 1;
    scanner->last_was_item = is_item;
    scanner->in_table = true;
    scanner->keys_count = 0;
    return end_line(scanner);
}

void kb_toml_init(kb_toml *scanner, const uint8_t *data, size_t size) {
    static const uint8_t nothing = 0;
    scanner->start = scanner->next = data != NULL ? data : &nothing;
    scanner->end = scanner->start + size;
    scanner->line = 1;
    scanner->message = NULL;
    scanner->array = 0;
    scanner->in_table = scanner->last_was_item = false;
    scanner->names_count = scanner->keys_count = 0;
}

int kb_toml_next(kb_toml *scanner, kb_toml_event *event) {
    int byte;
    if (scanner->message != NULL)
        return 1;
    event->key = event->text = (kb_toml_slice){scanner->next, 0};
    event->decoded_length = 0;
    event->integer = 0;
    if (scanner->array != 0)
        return continue_array(scanner, event);
    byte = peek(scanner, 0);
    if (byte < 0) {
        event->kind = KB_TOML_END;
        return 0;
    }
    if (byte == '\n') {
        if (scanner->next == scanner->start || peek(scanner, 1) != '[')
            return fail(scanner, BLANK_LINE);
        scanner->next++;
        scanner->line++;
        return scan_table(scanner, event);
    }
    if (byte != '[')
        return scan_pair(scanner, event);
    return scanner->next == scanner->start ? scan_table(scanner, event) : fail(scanner, NO_BLANK_LINE);
}

void kb_toml_decode(const kb_toml_event *event, uint8_t *out) {
    const uint8_t *next = event->text.bytes;
    const uint8_t *end = next + event->text.length;
    while (next < end) {
        if (*next != '\\') {
            *out++ = *next++;
        } else if (next[1] != 'u') {
            *out++ = (uint8_t)short_escape(next[1]);
            next += 2;
        } else {
            *out++ = (uint8_t)control_escape(next[4], next[5]);
            next += 6;
        }
    }
}
