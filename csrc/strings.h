/* A sorted set of byte strings in two tables, offsets and bytes: words, stems and keys (README.md sections 3 and 4). */
#ifndef KB_STRINGS_H
#define KB_STRINGS_H

#include "container.h"

typedef struct {
    kb_table offsets;
    kb_table bytes;
    uint32_t count;
} kb_strings;

/* Opens regions `region` (offsets) and `region + 1` (bytes). KB_E_CORRUPT, KB_E_MEMORY; closed like a table. */
kb_status kb_strings_open(const kb_container *container, uint32_t region, kb_strings *strings, kb_error *error);
void kb_strings_close(kb_strings *strings);

/* Sets *bytes and *length to string `number`, which is below the count. */
kb_status kb_strings_get(const kb_strings *strings, uint32_t number, const uint8_t **bytes, uint32_t *length,
                         kb_error *error);

/* Sets *number to the first string that is not below the given one (the count when all are). */
kb_status kb_strings_seek(const kb_strings *strings, const uint8_t *bytes, size_t length, uint32_t *number,
                          kb_error *error);

/* Sets *found, and *number when the string is there. */
kb_status kb_strings_find(const kb_strings *strings, const uint8_t *bytes, size_t length, bool *found, uint32_t *number,
                          kb_error *error);

/* The same for one that can only stand from `low` on and before `high`, which are at most the count; *number is also
 * set when it does not, to where it would. */
kb_status kb_strings_find_between(const kb_strings *strings, uint32_t low, uint32_t high, const uint8_t *bytes,
                                  size_t length, bool *found, uint32_t *number, kb_error *error);

/* Sets *first and *end to the range of strings that begin with the given bytes. */
kb_status kb_strings_prefix(const kb_strings *strings, const uint8_t *bytes, size_t length, uint32_t *first,
                            uint32_t *end, kb_error *error);

/* Checks that the offsets leave no gaps, and that the strings are not empty, distinct and ascending, and UTF-8 if they
 * are text. */
kb_status kb_strings_verify(const kb_strings *strings, bool text, kb_error *error);

#endif
