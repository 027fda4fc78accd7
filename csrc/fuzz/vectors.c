/* libFuzzer target of vectors.idx: a file is changed, and everything that reads it is called.
 *
 * The first byte of the input decides: even, and the rest are changes of a right file, four bytes each (offset, value);
 * odd, and the rest is the whole file.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "../cursor.h"
#include "exercise_vectors.h"

#define DIMENSIONS 13u
#define RECORDS 70u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static kb_bytes built; /* once for all inputs */
    if (size == 0)
        return 0;
    if (built.data == NULL)
        kb_exercise_vectors_build(DIMENSIONS, RECORDS, 1, &built);
    size_t length = data[0] & 1 ? size - 1 : built.length;
    /* Of exactly its size, so that the sanitizer sees a byte too many. */
    uint8_t *file = malloc(length + (length == 0));
    assert(file != NULL);
    memcpy(file, data[0] & 1 ? data + 1 : built.data, length);
    for (size_t at = 1; !(data[0] & 1) && at + 4 <= size; at += 4)
        file[(kb_load_u16(data + at) | (size_t)data[at + 2] << 16) % length] = data[at + 3];
    kb_exercise_vectors_read(file, length);
    free(file);
    return 0;
}
