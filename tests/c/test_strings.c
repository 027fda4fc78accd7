/* Tests of what handles words: intern, distance. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../csrc/distance.h"
#include "../../csrc/intern.h"
#include "check.h"

void test_intern(void) {
    kb_intern intern = {0};
    uint32_t numbers[5000];
    char text[16];
    CHECK(kb_intern_init(&intern, 42) == KB_OK);
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 5000; i++) {
            int length = snprintf(text, sizeof text, "%u", (i * 7919) % 5000);
            CHECK(kb_intern_add(&intern, (const uint8_t *)text, (size_t)length, &numbers[i]) == KB_OK &&
                  numbers[i] == i);
        }
    }
    CHECK(intern.count == 5000);
    CHECK(!kb_intern_find(&intern, (const uint8_t *)"5000", 4, &numbers[0]));
    CHECK(kb_intern_sort(&intern, numbers, 5000) == KB_OK);
    for (uint32_t i = 1; i < 5000; i++) {
        size_t left = 0;
        size_t right = 0;
        const uint8_t *before = kb_intern_bytes(&intern, numbers[i - 1], &left);
        const uint8_t *after = kb_intern_bytes(&intern, numbers[i], &right);
        int order = memcmp(before, after, left < right ? left : right);
        CHECK(order < 0 || (order == 0 && left < right));
    }
    kb_intern_free(&intern);
}

static uint32_t edits(const char *word, const char *other, uint32_t most) {
    kb_distance distance = {0};
    CHECK(kb_distance_open((const uint8_t *)word, strlen(word), most, &distance) == KB_OK);
    uint32_t result = kb_distance_to(&distance, (const uint8_t *)other, strlen(other));
    kb_distance_close(&distance);
    return result;
}

void test_distance(void) {
    CHECK(edits("same", "same", 2) == 0);
    CHECK(edits("", "ab", 2) == 2);
    CHECK(edits("kitten", "sitting", 3) == 3);
    CHECK(edits("kitten", "sitting", 2) > 2);
    CHECK(edits("teh", "the", 1) == 1); /* neighbours swapped */
    CHECK(edits("ca", "abc", 3) == 3);  /* nothing is edited twice */
    CHECK(edits("stra\xC3\x9F"
                "e",
                "strase", 2) == 1); /* code points, not bytes */
    CHECK(edits("a", "abcdefghijkl", 2) > 2);
    CHECK(edits("abcdefghijkl", "a", 2) > 2);
    CHECK(edits("word", "wor\xFF", 2) > 2); /* not UTF-8 */
}
