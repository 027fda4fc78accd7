/* Optimal string alignment distance over code points, up to a bound (README.md section 9). */
#ifndef KB_DISTANCE_H
#define KB_DISTANCE_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"

/* A word that others are compared with. */
typedef struct {
    uint32_t *characters; /* of the word; then those of the other, then three rows of the table */
    uint32_t length;      /* in code points */
    uint32_t most;
} kb_distance;

/* Prepares to compare with `word` (UTF-8); distances up to `most` are told exactly. The owner calls kb_distance_close.
 * KB_E_MEMORY. */
kb_status kb_distance_open(const uint8_t *word, size_t length, uint32_t most, kb_distance *distance);
void kb_distance_close(kb_distance *distance);

/* The distance to `other`, or some number above `most`; that too when `other` is not UTF-8. */
uint32_t kb_distance_to(kb_distance *distance, const uint8_t *other, size_t length);

#endif
