/* Scans the canonical subset of TOML in which section headers and manifests are written (toml.c; twin:
 * reference/toml.py).
 *
 * The grammar stands in kbdb/store/README.md. Every text of the subset is valid TOML 1.0, and there is exactly one text
 * for each value: what the scanner accepts, kbdb.store.toml.dumps writes back byte for byte.
 *
 * The scanner is a pull parser over bytes the caller owns. It allocates nothing, never writes to the input, reads
 * each byte a bounded number of times, and keeps its state in one struct; different scanners may run in different
 * threads. Slices in events point into the input and live as long as it does.
 *
 *     kb_toml scanner;
 *     kb_toml_event event;
 *     kb_toml_init(&scanner, data, size);
 *     do {
 *         if (kb_toml_next(&scanner, &event) != 0)
 *             ... TomlError("line %zu: %s", scanner.line, scanner.message)
 *         ... use the event
 *     } while (event.kind != KB_TOML_END);
 */
#ifndef KB_TOML_H
#define KB_TOML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Keys a table may hold, and tables plus keys at the top level. Duplicates are found by comparing with all names
 * so far, so this bounds the work a hostile text can cause; raising it changes what is valid. */
#define KB_TOML_MAX_KEYS 64

typedef enum {
    KB_TOML_END,        /* the text is complete and valid */
    KB_TOML_TABLE,      /* [key]: values that follow belong to this new table */
    KB_TOML_TABLE_ITEM, /* [[key]]: they belong to a new table at the end of the list `key` */
    KB_TOML_STRING,     /* key = "text"; an array's item has an empty key */
    KB_TOML_INTEGER,    /* key = integer; likewise */
    KB_TOML_BOOLEAN,    /* key = true or false: `integer` is 1 or 0; never in an array */
    KB_TOML_ARRAY,      /* key = [: STRING or INTEGER items follow, all of one kind, then ARRAY_END */
    KB_TOML_ARRAY_END
} kb_toml_kind;

typedef struct {
    const uint8_t *bytes;
    size_t length;
} kb_toml_slice;

typedef struct {
    kb_toml_kind kind;
    kb_toml_slice key;     /* ASCII letters, digits, _ and -; at least one, except for items of arrays: length 0 */
    kb_toml_slice text;    /* what stands between the quotes: valid UTF-8 */
    size_t decoded_length; /* bytes of the string itself; equal to text.length exactly when nothing is escaped */
    int64_t integer;
} kb_toml_event;

/* Fields other than `line` and `message` are the scanner's own. */
typedef struct {
    const uint8_t *next;
    const uint8_t *end;
    size_t line;         /* from 1; after an error, the line it is in */
    const char *message; /* static; what is wrong and what would be right; NULL without an error */
    const uint8_t *start;
    int array; /* the kind of the open array's items, KB_TOML_ARRAY before the first; 0 outside arrays */
    bool in_table;
    bool last_was_item; /* the newest of `names` is a [[list]] that more items may follow */
    size_t names_count;
    size_t keys_count;
    kb_toml_slice names[KB_TOML_MAX_KEYS]; /* top-level keys and tables */
    kb_toml_slice keys[KB_TOML_MAX_KEYS];  /* of the table now open */
} kb_toml;

/* Prepares to scan `size` bytes; `data` may be NULL when size is 0. The bytes must outlive the scanner and not change.
 */
void kb_toml_init(kb_toml *scanner, const uint8_t *data, size_t size);

/* Writes the next event and returns 0, or returns 1 and sets `line` and `message`. After KB_TOML_END or an error every
 * further call gives the same again. Once END came, all of the text was valid; events before it are only hopeful. */
int kb_toml_next(kb_toml *scanner, kb_toml_event *event);

/* Writes the decoded_length bytes (UTF-8) of a KB_TOML_STRING event to `out`. */
void kb_toml_decode(const kb_toml_event *event, uint8_t *out);

#endif
