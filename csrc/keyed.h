/* Keyed lists: a sorted set of keys, each with an ascending list of entries (README.md section 3).
 *
 * Filters in corpus.dat and references in references.idx are such lists. Reading is safe from many threads.
 */
#ifndef KB_KEYED_H
#define KB_KEYED_H

#include "strings.h"

typedef struct {
    kb_strings keys;
    kb_table records;
    kb_lists lists;
    uint32_t entries; /* of the segment */
} kb_keyed;

/* Opens the four regions that begin with `region`. KB_E_CORRUPT, KB_E_MEMORY; closed like a table. */
kb_status kb_keyed_open(const kb_container *container, uint32_t region, kb_keyed *keyed, kb_error *error);
void kb_keyed_close(kb_keyed *keyed);

/* Sets *count to the number of entries that key `number`'s record tells. */
kb_status kb_keyed_count(const kb_keyed *keyed, uint32_t number, uint32_t *count, kb_error *error);

/* Writes the entries of key `number` to `entries`, which has room for its count. */
kb_status kb_keyed_entries(const kb_keyed *keyed, uint32_t number, uint32_t *entries, kb_error *error);

/* Sets the bits of the entries of key `number` in `bitmap`. */
kb_status kb_keyed_bitmap(const kb_keyed *keyed, uint32_t number, uint8_t *bitmap, kb_error *error);

/* Reads all keys and lists, and checks that the lists stand in key order without gaps and none is empty. */
kb_status kb_keyed_verify(const kb_keyed *keyed, kb_error *error);

#endif
