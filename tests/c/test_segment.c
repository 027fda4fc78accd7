/* Tests of a whole segment: what was built reads back, and whatever is done to its bytes gives a named error. */
#include <stdlib.h>
#include <string.h>

#include "../../csrc/fuzz/exercise.h"
#include "../../csrc/segment.h"
#include "check.h"
#include "random.h"

static void free_files(kb_bytes files[KB_FILES]) {
    for (kb_file file = KB_FILE_TERMS; file < KB_FILES; file++)
        kb_bytes_free(&files[file]);
}

void test_builder(void) {
    kb_bytes files[KB_FILES] = {{0}};
    kb_bytes again[KB_FILES] = {{0}};
    kb_exercise_build(KB_EXERCISE_SMALL, files);
    kb_exercise_build(KB_EXERCISE_SMALL, again);
    for (kb_file file = KB_FILE_TERMS; file < KB_FILES; file++)
        CHECK(files[file].length == again[file].length &&
              memcmp(files[file].data, again[file].data, files[file].length) == 0);
    CHECK(kb_exercise_read(files) == KB_OK);
    kb_exercise_reseal(files);
    for (kb_file file = KB_FILE_TERMS; file < KB_FILES; file++)
        CHECK(memcmp(files[file].data, again[file].data, files[file].length) == 0);
    free_files(files);
    free_files(again);
}

static bool is_named(kb_status status) { return status == KB_E_CORRUPT || status == KB_E_STALE; }

/* Reads the files with one of them in memory of exactly `length` bytes, so that a sanitizer sees a byte too many. */
static kb_status read_with(const kb_bytes files[KB_FILES], kb_file changed, size_t length, size_t at, uint8_t flip) {
    kb_bytes copy[KB_FILES];
    memcpy(copy, files, sizeof copy);
    copy[changed] = (kb_bytes){.data = malloc(length + (length == 0)), .length = length};
    memcpy(copy[changed].data, files[changed].data, length);
    if (flip != 0)
        copy[changed].data[at] ^= flip;
    kb_status status = kb_exercise_read(copy);
    free(copy[changed].data);
    return status;
}

void test_damage(void) {
    kb_bytes files[KB_FILES] = {{0}};
    kb_exercise_build(KB_EXERCISE_SMALL, files);
    for (kb_file file = KB_FILE_TERMS; file < KB_FILES; file++) {
        for (size_t at = 0; at < files[file].length; at++) {
            CHECK(is_named(read_with(files, file, files[file].length, at, (uint8_t)(1u << at % 8))));
            CHECK(is_named(read_with(files, file, at, 0, 0)));
        }
    }
    free_files(files);
}

/* Changes some bytes of a file at a time, and makes all checksums right again. */
static void change_with_checksums(const kb_bytes files[KB_FILES], kb_file changed, uint32_t changes, uint64_t *state) {
    kb_bytes copies[KB_FILES];
    for (kb_file file = KB_FILE_TERMS; file < KB_FILES; file++) {
        copies[file] = (kb_bytes){.data = malloc(files[file].length), .length = files[file].length};
        memcpy(copies[file].data, files[file].data, files[file].length);
    }
    for (uint32_t i = 0; i < changes; i++) {
        static const uint8_t values[] = {0, 1, 4, 8, 16, 127, 128, 254, 255};
        size_t at = random_below(state, (uint32_t)copies[changed].length);
        copies[changed].data[at] =
            random_below(state, 3) ? values[random_below(state, 9)] : (uint8_t)random_below(state, 256);
    }
    kb_exercise_reseal(copies);
    kb_status status = kb_exercise_read(copies);
    /* KB_E_ARGUMENT: a kbid that comes twice, found when merging. */
    CHECK(status == KB_OK || status == KB_E_ARGUMENT || is_named(status));
    for (kb_file file = KB_FILE_TERMS; file < KB_FILES; file++)
        kb_bytes_free(&copies[file]);
}

void test_hostile_files(void) {
    kb_bytes files[KB_FILES] = {{0}};
    uint64_t state = 6;
    kb_exercise_build(KB_EXERCISE_LARGE, files);
    CHECK(kb_exercise_read(files) == KB_OK);
    for (kb_file file = KB_FILE_TERMS; file < KB_FILES; file++)
        for (uint32_t i = 0; i < 300; i++)
            change_with_checksums(files, file, 1 + i % 4, &state);
    free_files(files);
}
