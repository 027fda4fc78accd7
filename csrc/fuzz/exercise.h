/* Segments of all that a segment can hold, their checksums made right again after a change, and every reader let loose
 * on them.
 *
 * For the fuzz targets here and the C tests (tests/c). All functions end the program on a failed assertion.
 */
#ifndef KB_EXERCISE_H
#define KB_EXERCISE_H

#include "../builder.h"

#define KB_EXERCISE_FINGERPRINT 7u
#define KB_EXERCISE_SMALL 14u  /* entries that have lists of one block */
#define KB_EXERCISE_LARGE 530u /* entries that have lists of up to four, and gaps of each width */

extern const kb_params kb_exercise_params;

/* Builds a segment of so many entries, with words in several fields, phrases, filters, references, removed kbids. The
 * buffers must be empty; the owner frees them. */
void kb_exercise_build(uint32_t entries, kb_bytes files[KB_FILES]);

/* Gives each word of the builder that occurs and has none a stem: itself, less an s at its end. */
void kb_exercise_stem(kb_builder *builder);

/* Makes the checksums of lists, pages, kbids and headers right for whatever the four files hold, as far as their
 * headers and records point inside them. */
void kb_exercise_reseal(kb_bytes *files);

/* Opens the files and, when that works, reads, searches, verifies and merges them. Returns the first of those
 * statuses that was not KB_OK. */
kb_status kb_exercise_read(const kb_bytes files[KB_FILES]);

#endif
