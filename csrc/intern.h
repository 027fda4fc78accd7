/* Numbers distinct byte strings 0, 1, 2 ... in the order they come; builders keep words, stems, keys and kbids in such
 * tables. */
#ifndef KB_INTERN_H
#define KB_INTERN_H

#include "bytes_out.h"
#include "error.h"

#define KB_HEAD_BYTES 15u

/* The first 15 bytes of a string, and in the highest byte of `high` its length, at most 255: strings of no more bytes
 * are told apart by it for good, without a look at their bytes. */
typedef struct {
    uint64_t low;
    uint64_t high;
} kb_head;

/* A place of the hash table. */
typedef struct {
    kb_head head;
    uint32_t hash;
    uint32_t next; /* number + 1, 0 when free */
} kb_intern_slot;

typedef struct {
    kb_bytes bytes;    /* all strings, one after the other */
    uint64_t *offsets; /* of string i: offsets[i] to offsets[i + 1] */
    kb_intern_slot *slots;
    uint32_t count;
    uint32_t capacity; /* of offsets - 1 */
    uint32_t mask;     /* number of slots - 1 */
    uint64_t seed;
} kb_intern;

/* Begins a table; the struct must be zero before. A seed that an author of hostile text cannot know keeps look-ups
 * fast; numbers do not depend on it. The owner calls kb_intern_free, also after a failure. KB_E_MEMORY. */
kb_status kb_intern_init(kb_intern *intern, uint64_t seed);
void kb_intern_free(kb_intern *intern);

/* Sets *number to that of the string, which gets the next one when it is new. KB_E_MEMORY; KB_E_TOO_LARGE past 2^31
 * strings. Nothing changes on failure. */
kb_status kb_intern_add(kb_intern *intern, const uint8_t *bytes, size_t length, uint32_t *number);

/* Whether the string is there; sets *number when it is. */
bool kb_intern_find(const kb_intern *intern, const uint8_t *bytes, size_t length, uint32_t *number);

/* The same for a string of at most KB_HEAD_BYTES bytes, in two steps, so that the caller can do something else while
 * memory answers: kb_intern_expect gives what to find by. */
uint32_t kb_intern_expect(const kb_intern *intern, kb_head head);
bool kb_intern_find_short(const kb_intern *intern, kb_head head, uint32_t expected, uint32_t *number);

static inline const uint8_t *kb_intern_bytes(const kb_intern *intern, uint32_t number, size_t *length) {
    *length = (size_t)(intern->offsets[number + 1] - intern->offsets[number]);
    return intern->bytes.data + intern->offsets[number];
}

/* Sorts `count` distinct numbers by their strings, in ascending byte order. KB_E_MEMORY. */
kb_status kb_intern_sort(const kb_intern *intern, uint32_t *numbers, size_t count);

#endif
