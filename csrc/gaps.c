/* Gaps to entries. */
#include "gaps.h"

#include "bits.h"

/* Where reading has come. */
typedef struct {
    uint64_t read;  /* symbols */
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
static bool read_rest(progress at, const uint8_t *gaps, const uint8_t *end, uint64_t symbols, uint32_t bits,
                      uint32_t count, uint32_t *entries) {
    uint32_t escape = (1u << bits) - 1;
    for (; at.read < symbols && at.count < count; at.read++)
        take(&at, kb_bits_get(gaps, end, at.read * bits, bits), escape, entries);
    return at.read == symbols && at.count == count;
}

/* Without symbols: every gap is 0. */
static bool read_run(uint64_t symbols, uint32_t count, uint32_t next, uint32_t *entries) {
    for (uint32_t i = 0; i < count; i++)
        entries[i] = next + i;
    return symbols == count;
}

bool kb_gaps_read_portable(const uint8_t *gaps, const uint8_t *end, uint64_t symbols, uint32_t bits, uint32_t count,
                           uint32_t next, uint32_t *entries) {
    if (bits == 0)
        return read_run(symbols, count, next, entries);
    return read_rest((progress){.next = next}, gaps, end, symbols, bits, count, entries);
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

/* Where 8 symbols of so many bits lie in the bytes they take: for each the 4 bytes that begin with its first bit (the
 * last of them holds none of it), and which bit of the first byte that is. */
#define BYTE(bits, i, k) ((i) * (bits) / 8 + (k) < 16 ? (i) * (bits) / 8 + (k) : 0x80)
#define BYTES(bits, i) BYTE(bits, i, 0), BYTE(bits, i, 1), BYTE(bits, i, 2), 0x80
#define LAYOUT(bits)                                                                                     \
    {                                                                                                    \
        {BYTES(bits, 0), BYTES(bits, 1), BYTES(bits, 2), BYTES(bits, 3), BYTES(bits, 4), BYTES(bits, 5), \
         BYTES(bits, 6), BYTES(bits, 7)},                                                                \
        {0, (bits) % 8, 2 * (bits) % 8, 3 * (bits) % 8, 4 * (bits) % 8, 5 * (bits) % 8, 6 * (bits) % 8,  \
         7 * (bits) % 8},                                                                                \
    }

typedef struct {
    uint8_t bytes[32];
    uint32_t shifts[8];
} layout;

static const layout LAYOUTS[KB_GAP_BITS_MAX + 1] = {
    LAYOUT(0), LAYOUT(1),  LAYOUT(2),  LAYOUT(3),  LAYOUT(4),  LAYOUT(5),  LAYOUT(6),  LAYOUT(7),  LAYOUT(8),
    LAYOUT(9), LAYOUT(10), LAYOUT(11), LAYOUT(12), LAYOUT(13), LAYOUT(14), LAYOUT(15), LAYOUT(16),
};

/* The sums of 8 numbers from the first on. */
__attribute__((target("avx2"))) static inline __m256i sums_of(__m256i numbers) {
    numbers = _mm256_add_epi32(numbers, _mm256_slli_si256(numbers, 4));
    numbers = _mm256_add_epi32(numbers, _mm256_slli_si256(numbers, 8));
    /* These shifts work in halves: the sum of the lower half is still missing in the upper one. */
    __m256i lower = _mm256_permutevar8x32_epi32(numbers, _mm256_set1_epi32(3));
    return _mm256_add_epi32(numbers, _mm256_blend_epi32(_mm256_setzero_si256(), lower, 0xF0));
}

__attribute__((target("avx2"))) static inline __m256i load(const void *bytes) {
    return _mm256_loadu_si256((const __m256i *)bytes);
}

/* Reads 8 symbols at a time, as long as 16 bytes may be loaded and no entry can come past the last; one by one where
 * one of them is an escape. */
__attribute__((target("avx2"))) static bool read_avx2(const uint8_t *gaps, const uint8_t *end, uint64_t symbols,
                                                      uint32_t bits, uint32_t count, uint32_t next, uint32_t *entries) {
    if (bits == 0)
        return read_run(symbols, count, next, entries);
    const uint32_t escape = (1u << bits) - 1;
    const __m256i escapes = _mm256_set1_epi32((int)escape);
    const __m256i bytes = load(LAYOUTS[bits].bytes);
    const __m256i shifts = load(LAYOUTS[bits].shifts);
    const __m256i one = _mm256_set1_epi32(1);
    const __m256i last = _mm256_set1_epi32(7);
    __m256i before = _mm256_set1_epi32((int)(next - 1)); /* the entry read last */
    progress at = {0};
    for (; at.read + 8 <= symbols && at.count + 8 <= count; at.read += 8, gaps += bits) {
        if (end - gaps < 16)
            break;
        __m256i packed = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)gaps));
        __m256i eight = _mm256_srlv_epi32(_mm256_shuffle_epi8(packed, bytes), shifts);
        eight = _mm256_and_si256(eight, escapes);
        if (_mm256_movemask_epi8(_mm256_cmpeq_epi32(eight, escapes)) == 0) {
            __m256i reached = _mm256_add_epi32(before, sums_of(_mm256_add_epi32(eight, one)));
            _mm256_storeu_si256((__m256i *)(void *)(entries + at.count), reached);
            before = _mm256_permutevar8x32_epi32(reached, last);
            at.count += 8;
        } else {
            uint32_t each[8];
            _mm256_storeu_si256((__m256i *)(void *)each, eight);
            at.next = (uint32_t)_mm256_extract_epi32(before, 0) + 1;
            for (uint32_t i = 0; i < 8; i++)
                take(&at, each[i], escape, entries);
            before = _mm256_set1_epi32((int)(at.next - 1));
        }
    }
    at.next = (uint32_t)_mm256_extract_epi32(before, 0) + 1;
    uint64_t rest = symbols - at.read;
    at.read = 0;
    return read_rest(at, gaps, end, rest, bits, count, entries);
}

kb_gaps_read kb_gaps_read_avx2(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") ? read_avx2 : NULL;
}
#else
kb_gaps_read kb_gaps_read_avx2(void) { return NULL; }
#endif
