/* Gaps to entries. */
#include "gaps.h"

#include "cursor.h"

/* Where reading has come. */
typedef struct {
    uint32_t read;  /* bytes */
    uint32_t count; /* entries */
    uint32_t next;
} progress;

/* A symbol that is not an escape ends a gap: the entry it leads to counts, and the next gap begins behind it. Taking
 * both as 0 or 1 needs no branch, which escapes would make hard to foresee. */
static inline void take(progress *at, uint32_t symbol, uint32_t escape, uint32_t *entries) {
    uint32_t ends = symbol != escape;
    at->next += symbol;
    entries[at->count] = at->next;
    at->next += ends;
    at->count += ends;
}

/* Reads on from `at` to the end. */
static bool read_rest(progress at, const uint8_t *gaps, uint32_t bytes, uint32_t bits, uint32_t count,
                      uint32_t *entries) {
    uint32_t step = bits == 16 ? 2 : 1;
    for (; at.read + step <= bytes && at.count < count; at.read += step) {
        if (bits == 4) {
            take(&at, gaps[at.read] & 15u, 15, entries);
            take(&at, gaps[at.read] >> 4, 15, entries);
        } else if (bits == 8) {
            take(&at, gaps[at.read], 255, entries);
        } else {
            take(&at, kb_load_u16(gaps + at.read), 65535, entries);
        }
    }
    if (at.read < bytes || at.count < count)
        return false;
    /* Of 4 bits, a half byte left over is 0 and was read as a gap of that; an escape ends no gap. */
    uint32_t last = gaps[bytes - 1] >> 4;
    return bits != 4 || (at.count == count ? last != 15 : last == 0);
}

bool kb_gaps_read_portable(const uint8_t *gaps, uint32_t bytes, uint32_t bits, uint32_t count, uint32_t next,
                           uint32_t *entries) {
    return read_rest((progress){.next = next}, gaps, bytes, bits, count, entries);
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

/* Turns 8 gaps into entries. */
__attribute__((target("avx2"))) static inline void put_8(progress *at, __m256i gaps, uint32_t *entries) {
    const __m256i one = _mm256_set1_epi32(1);
    __m256i sums = _mm256_add_epi32(gaps, one);
    sums = _mm256_add_epi32(sums, _mm256_slli_si256(sums, 4));
    sums = _mm256_add_epi32(sums, _mm256_slli_si256(sums, 8));
    /* These shifts work in halves: the sum of the lower half is still missing in the upper one. */
    __m256i lower = _mm256_permutevar8x32_epi32(sums, _mm256_set1_epi32(3));
    sums = _mm256_add_epi32(sums, _mm256_blend_epi32(_mm256_setzero_si256(), lower, 0xF0));
    sums = _mm256_add_epi32(sums, _mm256_set1_epi32((int)at->next));
    _mm256_storeu_si256((__m256i *)(void *)(entries + at->count), _mm256_sub_epi32(sums, one));
    at->next = (uint32_t)_mm256_extract_epi32(sums, 7);
    at->count += 8;
}

/* Of 16 symbols in bytes, whether none is an escape. */
__attribute__((target("avx2"))) static inline bool is_plain(__m128i symbols, char escape) {
    return _mm_movemask_epi8(_mm_cmpeq_epi8(symbols, _mm_set1_epi8(escape))) == 0;
}

__attribute__((target("avx2"))) static inline void put_16(progress *at, __m128i symbols, uint32_t *entries) {
    put_8(at, _mm256_cvtepu8_epi32(symbols), entries);
    put_8(at, _mm256_cvtepu8_epi32(_mm_srli_si128(symbols, 8)), entries);
}

/* Reads 16 or 8 gaps at a time where they are whole in the bytes and none is an escape; else one by one. */
__attribute__((target("avx2"))) static bool read_avx2(const uint8_t *gaps, uint32_t bytes, uint32_t bits,
                                                      uint32_t count, uint32_t next, uint32_t *entries) {
    const __m128i low = _mm_set1_epi8(15);
    progress at = {.next = next};
    while (at.count + 16 <= count && at.read + (bits == 4 ? 8u : 16u) <= bytes) {
        if (bits == 4) {
            __m128i pairs = _mm_loadl_epi64((const __m128i *)(const void *)(gaps + at.read));
            __m128i high = _mm_and_si128(_mm_srli_epi16(pairs, 4), low);
            __m128i symbols = _mm_unpacklo_epi8(_mm_and_si128(pairs, low), high);
            if (is_plain(symbols, 15)) {
                put_16(&at, symbols, entries);
                at.read += 8;
                continue;
            }
            for (uint32_t end = at.read + 8; at.read < end; at.read++) {
                take(&at, gaps[at.read] & 15u, 15, entries);
                take(&at, gaps[at.read] >> 4, 15, entries);
            }
        } else if (bits == 8) {
            __m128i symbols = _mm_loadu_si128((const __m128i *)(const void *)(gaps + at.read));
            if (is_plain(symbols, (char)255)) {
                put_16(&at, symbols, entries);
                at.read += 16;
                continue;
            }
            for (uint32_t end = at.read + 16; at.read < end; at.read++)
                take(&at, gaps[at.read], 255, entries);
        } else {
            for (uint32_t end = at.read + 16; at.read < end; at.read += 2)
                take(&at, kb_load_u16(gaps + at.read), 65535, entries);
        }
    }
    return read_rest(at, gaps, bytes, bits, count, entries);
}

kb_gaps_read kb_gaps_read_avx2(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") ? read_avx2 : NULL;
}
#else
kb_gaps_read kb_gaps_read_avx2(void) { return NULL; }
#endif
