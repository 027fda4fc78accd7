/* A small segment, its checksums made right again after a change, and every reader let loose on it.
 *
 * For the fuzz targets here and the C tests (tests/c). All functions end the program on a failed assertion.
 */
#ifndef KB_EXERCISE_H
#define KB_EXERCISE_H

#include "../bytes_out.h"
#include "../error.h"

#define KB_EXERCISE_FINGERPRINT 7u

/* Builds the segment: a dozen entries with words in several fields, phrases, filters, references, removed kbids. The
 * buffers must be empty; the owner frees them. */
void kb_exercise_build(kb_bytes files[KB_FILES]);

/* Makes the checksums of lists, pages, kbids and headers right for whatever the files hold, as far as their headers and
 * records point inside them. */
void kb_exercise_reseal(kb_bytes files[KB_FILES]);

/* Opens the files and, when that works, reads, searches, verifies and merges them. Returns the first of those
 * statuses that was not KB_OK. */
kb_status kb_exercise_read(const kb_bytes files[KB_FILES]);

#endif
