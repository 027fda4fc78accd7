/* Numbers for tests that look random and are the same on every machine. */
#ifndef KB_RANDOM_H
#define KB_RANDOM_H

#include <stdint.h>

/* A number below `end`, which is at least 1. */
static inline uint32_t random_below(uint64_t *state, uint32_t end) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*state >> 32) % end);
}

#endif
