/* Tests of what reads and writes single bytes: crc32, cursor, bytes_out, bitmap. */
#include <stdlib.h>
#include <string.h>

#include "../../csrc/bitmap.h"
#include "../../csrc/bytes_out.h"
#include "../../csrc/crc32.h"
#include "../../csrc/cursor.h"
#include "check.h"
#include "random.h"

void test_crc32(void) {
    uint8_t bytes[64];
    memset(bytes, 0xAA, sizeof bytes);
    CHECK(kb_crc32(NULL, 0) == 0);
    CHECK(kb_crc32((const uint8_t *)"123456789", 9) == 0xCBF43926u);
    CHECK(kb_crc32((const uint8_t *)"The quick brown fox jumps over the lazy dog", 43) == 0x414FA339u);
    CHECK(kb_crc32(bytes, sizeof bytes) == kb_crc32(bytes, sizeof bytes));
    CHECK(kb_crc32(bytes, 63) != kb_crc32(bytes, 64));
}

static bool reads(const char *bytes, size_t length, uint32_t expected) {
    kb_cursor cursor = {(const uint8_t *)bytes, (const uint8_t *)bytes + length};
    uint32_t value = 0;
    return kb_cursor_varint(&cursor, &value) && value == expected && cursor.next == cursor.end;
}

static bool refuses(const char *bytes, size_t length) {
    kb_cursor cursor = {(const uint8_t *)bytes, (const uint8_t *)bytes + length};
    uint32_t value = 0;
    return !kb_cursor_varint(&cursor, &value) && cursor.next == (const uint8_t *)bytes;
}

void test_cursor(void) {
    CHECK(reads("\x00", 1, 0));
    CHECK(reads("\x7F", 1, 127));
    CHECK(reads("\x80\x01", 2, 128));
    CHECK(reads("\xFF\xFF\xFF\xFF\x0F", 5, UINT32_MAX));
    CHECK(refuses("", 0));
    CHECK(refuses("\x80", 1));
    CHECK(refuses("\x80\x00", 2));                 /* longer than needed */
    CHECK(refuses("\xFF\xFF\xFF\xFF\x10", 5));     /* past 32 bits */
    CHECK(refuses("\xFF\xFF\xFF\xFF\x80\x00", 6)); /* more than 5 bytes */
    uint8_t numbers[40];
    for (size_t i = 0; i < sizeof numbers; i += 2) {
        numbers[i] = 0x81;
        numbers[i + 1] = 0x01;
    }
    for (uint64_t count = 0; count <= 20; count++) {
        kb_cursor cursor = {numbers, numbers + sizeof numbers};
        CHECK(kb_cursor_skip(&cursor, count) && cursor.next == numbers + 2 * count);
    }
    kb_cursor cursor = {numbers, numbers + sizeof numbers};
    CHECK(!kb_cursor_skip(&cursor, 21));
    CHECK(kb_load_u64((const uint8_t *)"\x01\x02\x03\x04\x05\x06\x07\x08") == 0x0807060504030201u);
}

void test_bytes_out(void) {
    static const uint32_t values[] = {0, 1, 127, 128, 16383, 16384, 0x0FFFFFFF, 0x10000000, UINT32_MAX};
    kb_bytes bytes = {0};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        kb_bytes_put_varint(&bytes, values[i]);
    kb_cursor cursor = {bytes.data, bytes.data + bytes.length};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        uint32_t value = 0;
        CHECK(kb_cursor_varint(&cursor, &value) && value == values[i]);
    }
    CHECK(cursor.next == cursor.end && !bytes.failed);
    kb_bytes_free(&bytes);
    kb_bytes_put_u16(&bytes, 0x0201);
    kb_bytes_put_u32(&bytes, 0x06050403);
    kb_bytes_put_u64(&bytes, 0x0E0D0C0B0A090807u);
    kb_bytes_put_zeros(&bytes, 1);
    CHECK(bytes.length == 15 && bytes.data[0] == 1 && bytes.data[5] == 6 && bytes.data[13] == 14 &&
          bytes.data[14] == 0);
    CHECK(kb_bytes_reserve(&bytes, SIZE_MAX) == NULL && bytes.failed);
    kb_bytes_put_u16(&bytes, 1);
    CHECK(bytes.length == 15);
    kb_bytes_free(&bytes);
}

static void check_next_clear(const uint8_t *bitmap, uint32_t entries) {
    for (uint32_t from = 0; from <= entries; from++) {
        uint32_t expected = from;
        while (expected < entries && kb_bitmap_has(bitmap, expected))
            expected++;
        CHECK(kb_bitmap_next_clear(bitmap, entries, from) == expected);
    }
}

void test_bitmap(void) {
    uint8_t bitmap[10] = {0};
    for (uint32_t i = 0; i < 75; i += 3)
        kb_bitmap_set(bitmap, i);
    CHECK(kb_bitmap_count(bitmap, 75) == 25);
    CHECK(kb_bitmap_has(bitmap, 72) && !kb_bitmap_has(bitmap, 73));
    CHECK(kb_bitmap_word(bitmap, 75, 0) == 0x9249249249249249u);
    CHECK(kb_bitmap_word(bitmap, 75, 1) == 0x0000000000000124u);
    CHECK(kb_popcount(0) == 0 && kb_popcount(UINT64_MAX) == 64 && kb_popcount(0x8000000000000001u) == 2);
    uint64_t state = 4;
    for (uint32_t entries = 0; entries <= 200; entries++) {
        /* Of exactly its size, so that a sanitizer sees a byte too many. */
        uint8_t *some = calloc((entries + 7) / 8 + (entries == 0), 1);
        uint32_t count = 0;
        for (uint32_t i = 0; i < entries; i++) {
            if (random_below(&state, 1 + entries % 9) == 0)
                continue;
            kb_bitmap_set(some, i);
            count++;
        }
        CHECK(kb_bitmap_count(some, entries) == count);
        check_next_clear(some, entries);
        for (uint32_t i = 0; i < entries; i++)
            kb_bitmap_set(some, i);
        CHECK(kb_bitmap_count(some, entries) == entries);
        check_next_clear(some, entries);
        free(some);
    }
}
