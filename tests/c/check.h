/* The plainest test runner: CHECK counts what fails and says where; main.c calls every group. */
#ifndef KB_CHECK_H
#define KB_CHECK_H

#include <stdbool.h>

/* Counts a failure and prints it; use CHECK. */
void check_failed(const char *file, int line, const char *condition);

#define CHECK(condition) ((condition) ? (void)0 : check_failed(__FILE__, __LINE__, #condition))

/* The groups. */
void test_crc32(void);
void test_cursor(void);
void test_bytes_out(void);
void test_bitmap(void);
void test_bits(void);
void test_lanes(void);
void test_gaps(void);
void test_length_codes(void);
void test_lists(void);
void test_bits_after_gaps(void);
void test_intern(void);
void test_distance(void);
void test_builder(void);
void test_damage(void);
void test_hostile_files(void);
void test_container_writer(void);
void test_merge(void);
void test_merge_damage(void);
void test_strategies(void);
void test_false_impacts(void);
void test_hostile_windows(void);
void test_dot(void);
void test_sketch_bounds(void);
void test_vector_searches(void);
void test_vector_damage(void);
void test_vector_sinks(void);

#endif
