/* Lanes: 16-bit sums side by side, compared many at a time. There are two ways to do it with the same results. */
#ifndef KB_LANES_H
#define KB_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sets bit i of words[i / 64] for each of `count` lanes, a multiple of 64, that is at least `need`, and clears the
 * others. */
typedef void (*kb_lanes_find)(const uint16_t *lanes, size_t count, uint16_t need, uint64_t *words);

void kb_lanes_find_portable(const uint16_t *lanes, size_t count, uint16_t need, uint64_t *words);

/* NULL where the compiler or this processor has no AVX2. */
kb_lanes_find kb_lanes_find_avx2(void);

#endif
