/* Runs the C unit tests; exit status 1 when something failed. */
#include <stdio.h>

#include "check.h"

static int failures;

void check_failed(const char *file, int line, const char *condition) {
    failures++;
    fprintf(stderr, "%s:%d: %s\n", file, line, condition);
}

int main(void) {
    test_crc32();
    test_cursor();
    test_bytes_out();
    test_bitmap();
    test_bits();
    test_lanes();
    test_gaps();
    test_length_codes();
    test_lists();
    test_bits_after_gaps();
    test_intern();
    test_distance();
    test_builder();
    test_damage();
    test_hostile_files();
    test_container_writer();
    test_merge();
    test_merge_damage();
    test_strategies();
    test_false_impacts();
    test_hostile_windows();
    test_dot();
    test_sketch_bounds();
    test_vector_searches();
    test_vector_damage();
    test_vector_sinks();
    printf("%d failures\n", failures);
    return failures != 0;
}
