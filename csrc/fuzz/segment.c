/* libFuzzer target of one file's readers (KB_TARGET says which): the file is changed, its checksums are made right
 * again, and everything that reads it is called.
 *
 * The first byte of the input decides: even, and the rest are changes of the right file, four bytes each (offset,
 * value); odd, and the rest is the whole file.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "../cursor.h"
#include "exercise.h"

/* Each file in memory of exactly its size, so that the sanitizer sees a byte too many. */
static uint8_t *copy_exactly(const uint8_t *bytes, size_t length) {
    uint8_t *copy = malloc(length + (length == 0));
    assert(copy != NULL);
    if (length > 0)
        memcpy(copy, bytes, length);
    return copy;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static kb_bytes built[KB_FILES]; /* once for all inputs */
    kb_bytes files[KB_FILES] = {{0}};
    if (size == 0)
        return 0;
    if (built[0].data == NULL)
        kb_exercise_build(KB_EXERCISE_LARGE, built);
    for (kb_file file = KB_FILE_TERMS; file < KB_FILES; file++)
        files[file] =
            (kb_bytes){.data = copy_exactly(built[file].data, built[file].length), .length = built[file].length};
    kb_bytes *target = &files[KB_TARGET];
    if (data[0] & 1) {
        free(target->data);
        target->length = size - 1;
        target->data = copy_exactly(data + 1, size - 1);
    } else {
        for (size_t at = 1; at + 4 <= size; at += 4)
            target->data[(kb_load_u16(data + at) | (size_t)data[at + 2] << 16) % target->length] = data[at + 3];
    }
    kb_exercise_reseal(files);
    kb_exercise_read(files);
    for (kb_file file = KB_FILE_TERMS; file < KB_FILES; file++)
        free(files[file].data);
    return 0;
}
