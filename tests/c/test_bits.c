/* Tests of numbers side by side: packed bits, lanes, length codes. */
#include <stdlib.h>
#include <string.h>

#include "../../csrc/bits.h"
#include "../../csrc/corpus.h"
#include "../../csrc/gaps.h"
#include "../../csrc/lanes.h"
#include "check.h"
#include "random.h"

/* Packs random numbers into memory of exactly their size, and reads them back from there. */
static void pack(uint32_t count, uint32_t width, uint64_t *state) {
    uint32_t values[70];
    size_t length = (size_t)kb_bits_bytes(count, width);
    kb_bytes out = {.data = malloc(length), .capacity = length};
    for (uint32_t i = 0; i < count; i++)
        values[i] =
            i % 3 == 0 ? (uint32_t)(((uint64_t)1 << width) - 1) : random_below(state, UINT32_MAX) >> (32 - width);
    kb_bits_put(&out, values, count, width);
    CHECK(out.length == length && out.capacity == length && !out.failed);
    const uint8_t *end = out.data + length;
    for (uint32_t i = 0; i < count; i++)
        CHECK(kb_bits_get(out.data, end, (uint64_t)i * width, width) == values[i]);
    uint32_t spare = (uint32_t)(length * 8 - (size_t)count * width);
    CHECK(spare < 8 && end[-1] >> (8 - spare) == 0);
    kb_bytes_free(&out);
}

void test_bits(void) {
    uint64_t state = 1;
    for (uint32_t width = 1; width <= 32; width++)
        for (uint32_t count = 1; count <= 70; count++)
            pack(count, width, &state);
    CHECK(kb_bits_width(0) == 0 && kb_bits_width(1) == 1 && kb_bits_width(UINT32_MAX) == 32);
    for (uint32_t width = 1; width < 32; width++)
        CHECK(kb_bits_width((1u << width) - 1) == width && kb_bits_width(1u << width) == width + 1);
}

/* Compares both ways to find lanes with what each lane says. */
static void find_lanes(const uint16_t *lanes, size_t count, uint16_t need) {
    kb_lanes_find ways[] = {kb_lanes_find_portable, kb_lanes_find_avx2()};
    for (size_t way = 0; way < 2; way++) {
        uint64_t *words = malloc(count / 8 + (count == 0));
        memset(words, 0xAA, count / 8);
        if (ways[way] != NULL) {
            ways[way](lanes, count, need, words);
            for (size_t i = 0; i < count; i++)
                CHECK((words[i / 64] >> i % 64 & 1) == (lanes[i] >= need));
        }
        free(words);
    }
}

void test_lanes(void) {
    static const uint16_t needs[] = {1, 2, 255, 256, 32767, 32768, 32769, 65534, 65535};
    static const uint16_t borders[] = {0, 1, 254, 255, 256, 32767, 32768, 65534, 65535};
    uint64_t state = 2;
    for (size_t count = 0; count <= 64 * 9; count += 64) {
        uint16_t *lanes = malloc(count * sizeof *lanes + (count == 0));
        for (size_t i = 0; i < count; i++)
            lanes[i] = i % 2 ? borders[random_below(&state, 9)] : (uint16_t)random_below(&state, 65536);
        for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
            find_lanes(lanes, count, needs[i]);
        memset(lanes, 0, count * sizeof *lanes);
        find_lanes(lanes, count, 1);
        for (size_t i = 0; i < count; i += 97) {
            lanes[i] = 1;
            find_lanes(lanes, count, 1);
            lanes[i] = 0;
        }
        free(lanes);
    }
}

/* Random bytes, most of them short gaps, are the same entries or the same refusal in both ways. */
void test_gaps(void) {
    kb_gaps_read ways[] = {kb_gaps_read_portable, kb_gaps_read_avx2()};
    uint64_t state = 8;
    for (uint32_t i = 0; i < 40000; i++) {
        uint32_t bits = i % (KB_GAP_BITS_MAX + 1);
        uint32_t count = 1 + random_below(&state, KB_BLOCK);
        uint32_t symbols = count + (i % 2 ? random_below(&state, 8) : 0);
        uint32_t spare = i % 3 ? random_below(&state, 20) : 0; /* that may be loaded, and is not used */
        uint32_t length = (symbols * bits + 7) / 8 + spare;
        uint32_t rare = 1 + random_below(&state, 100);
        uint8_t *gaps = malloc((size_t)length + 1);
        uint32_t entries[2][KB_BLOCK + KB_BLOCK_SPARE];
        bool read[2];
        for (uint32_t at = 0; at < length; at++)
            gaps[at] = random_below(&state, rare) == 0 ? 0xFF : (uint8_t)random_below(&state, i % 5 ? 240 : 256);
        gaps = realloc(gaps, length == 0 ? 1 : length); /* so that a sanitiser sees what lies past it */
        for (uint32_t way = 0; way < 2 && ways[way] != NULL; way++)
            read[way] = ways[way](gaps, gaps + length, symbols, bits, count, 7, entries[way]);
        if (ways[1] != NULL)
            CHECK(read[0] == read[1] && (!read[0] || memcmp(entries[0], entries[1], count * sizeof(uint32_t)) == 0));
        free(gaps);
    }
}

void test_length_codes(void) {
    uint32_t before = 0;
    for (uint64_t length = 0; length <= UINT32_MAX; length += 1 + length / 300) {
        uint32_t code = kb_corpus_length_code((uint32_t)length);
        uint32_t least = kb_corpus_code_length(code);
        CHECK(code >= before && code <= KB_LENGTH_CODE_MAX);
        CHECK(least <= length && (code == KB_LENGTH_CODE_MAX || length - least <= length / 32));
        before = code;
    }
    for (uint32_t code = 0; code <= KB_LENGTH_CODE_MAX; code++) {
        uint32_t least = kb_corpus_code_length(code);
        CHECK(kb_corpus_length_code(least) == code);
        CHECK(code == 0 || kb_corpus_length_code(least - 1) == code - 1);
    }
    CHECK(kb_corpus_length_code(UINT32_MAX) == KB_LENGTH_CODE_MAX && kb_corpus_code_length(255) == 4032);
}
