/* Every reader let loose on a file of vectors. For the fuzz target here and the C tests (tests/c). */
#ifndef KB_EXERCISE_VECTORS_H
#define KB_EXERCISE_VECTORS_H

#include "exercise.h"

/* Makes a file of `records` vectors: of crowds, some alike, some of length 0, some of the largest and smallest numbers.
 * The records' kbids are those of entries of kb_exercise_build, and some more. The buffer must be empty; the owner
 * frees it. */
void kb_exercise_vectors_build(uint32_t dimensions, uint32_t records, uint64_t seed, kb_bytes *file);

/* Opens a file and, when that works, reads, sketches, merges and searches it, in each way there is; ends the program
 * where ways differ. Returns what was wrong with the file. */
kb_status kb_exercise_vectors_read(const uint8_t *bytes, size_t length);

#endif
