/* Gaps to entries. */
#include "gaps.h"

#include "bitmap.h"
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

/* By a set of 8 lanes: their numbers, ascending, in 4 bits each from the lowest on. */
static const uint32_t LANES_OF[256] = {
    0x00000000, 0x00000000, 0x00000001, 0x00000010, 0x00000002, 0x00000020, 0x00000021, 0x00000210, 0x00000003,
    0x00000030, 0x00000031, 0x00000310, 0x00000032, 0x00000320, 0x00000321, 0x00003210, 0x00000004, 0x00000040,
    0x00000041, 0x00000410, 0x00000042, 0x00000420, 0x00000421, 0x00004210, 0x00000043, 0x00000430, 0x00000431,
    0x00004310, 0x00000432, 0x00004320, 0x00004321, 0x00043210, 0x00000005, 0x00000050, 0x00000051, 0x00000510,
    0x00000052, 0x00000520, 0x00000521, 0x00005210, 0x00000053, 0x00000530, 0x00000531, 0x00005310, 0x00000532,
    0x00005320, 0x00005321, 0x00053210, 0x00000054, 0x00000540, 0x00000541, 0x00005410, 0x00000542, 0x00005420,
    0x00005421, 0x00054210, 0x00000543, 0x00005430, 0x00005431, 0x00054310, 0x00005432, 0x00054320, 0x00054321,
    0x00543210, 0x00000006, 0x00000060, 0x00000061, 0x00000610, 0x00000062, 0x00000620, 0x00000621, 0x00006210,
    0x00000063, 0x00000630, 0x00000631, 0x00006310, 0x00000632, 0x00006320, 0x00006321, 0x00063210, 0x00000064,
    0x00000640, 0x00000641, 0x00006410, 0x00000642, 0x00006420, 0x00006421, 0x00064210, 0x00000643, 0x00006430,
    0x00006431, 0x00064310, 0x00006432, 0x00064320, 0x00064321, 0x00643210, 0x00000065, 0x00000650, 0x00000651,
    0x00006510, 0x00000652, 0x00006520, 0x00006521, 0x00065210, 0x00000653, 0x00006530, 0x00006531, 0x00065310,
    0x00006532, 0x00065320, 0x00065321, 0x00653210, 0x00000654, 0x00006540, 0x00006541, 0x00065410, 0x00006542,
    0x00065420, 0x00065421, 0x00654210, 0x00006543, 0x00065430, 0x00065431, 0x00654310, 0x00065432, 0x00654320,
    0x00654321, 0x06543210, 0x00000007, 0x00000070, 0x00000071, 0x00000710, 0x00000072, 0x00000720, 0x00000721,
    0x00007210, 0x00000073, 0x00000730, 0x00000731, 0x00007310, 0x00000732, 0x00007320, 0x00007321, 0x00073210,
    0x00000074, 0x00000740, 0x00000741, 0x00007410, 0x00000742, 0x00007420, 0x00007421, 0x00074210, 0x00000743,
    0x00007430, 0x00007431, 0x00074310, 0x00007432, 0x00074320, 0x00074321, 0x00743210, 0x00000075, 0x00000750,
    0x00000751, 0x00007510, 0x00000752, 0x00007520, 0x00007521, 0x00075210, 0x00000753, 0x00007530, 0x00007531,
    0x00075310, 0x00007532, 0x00075320, 0x00075321, 0x00753210, 0x00000754, 0x00007540, 0x00007541, 0x00075410,
    0x00007542, 0x00075420, 0x00075421, 0x00754210, 0x00007543, 0x00075430, 0x00075431, 0x00754310, 0x00075432,
    0x00754320, 0x00754321, 0x07543210, 0x00000076, 0x00000760, 0x00000761, 0x00007610, 0x00000762, 0x00007620,
    0x00007621, 0x00076210, 0x00000763, 0x00007630, 0x00007631, 0x00076310, 0x00007632, 0x00076320, 0x00076321,
    0x00763210, 0x00000764, 0x00007640, 0x00007641, 0x00076410, 0x00007642, 0x00076420, 0x00076421, 0x00764210,
    0x00007643, 0x00076430, 0x00076431, 0x00764310, 0x00076432, 0x00764320, 0x00764321, 0x07643210, 0x00000765,
    0x00007650, 0x00007651, 0x00076510, 0x00007652, 0x00076520, 0x00076521, 0x00765210, 0x00007653, 0x00076530,
    0x00076531, 0x00765310, 0x00076532, 0x00765320, 0x00765321, 0x07653210, 0x00007654, 0x00076540, 0x00076541,
    0x00765410, 0x00076542, 0x00765420, 0x00765421, 0x07654210, 0x00076543, 0x00765430, 0x00765431, 0x07654310,
    0x00765432, 0x07654320, 0x07654321, 0x76543210,
};

/* The places of 8 symbols, and what reading them needs over and over. */
typedef struct {
    __m256i bytes;
    __m256i shifts;
    __m256i escapes;
} spread;

__attribute__((target("avx2"))) static inline __m256i symbols_at(const spread *how, const uint8_t *gaps) {
    __m256i packed = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)gaps));
    return _mm256_and_si256(_mm256_srlv_epi32(_mm256_shuffle_epi8(packed, how->bytes), how->shifts), how->escapes);
}

/* Reads 8 symbols at a time, as long as 16 bytes may be loaded. As every symbol adds itself to the entry before, and
 * one that ends a gap 1 more, all of their sums are right; those at escapes are no entries and squeezed out. */
__attribute__((target("avx2"))) static bool read_avx2(const uint8_t *gaps, const uint8_t *end, uint64_t symbols,
                                                      uint32_t bits, uint32_t count, uint32_t next, uint32_t *entries) {
    if (bits == 0)
        return read_run(symbols, count, next, entries);
    const uint32_t escape = (1u << bits) - 1;
    const spread how = {load(LAYOUTS[bits].bytes), load(LAYOUTS[bits].shifts), _mm256_set1_epi32((int)escape)};
    const __m256i one = _mm256_set1_epi32(1);
    const __m256i last = _mm256_set1_epi32(7);
    const __m256i nibbles = _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28);
    __m256i before = _mm256_set1_epi32((int)(next - 1)); /* the entry read last, and what was read of a gap after it */
    __m256i wrong = _mm256_setzero_si256();
    uint64_t left = symbols;
    uint32_t read = 0;
    bool ended = true;
    for (; symbols == count && left >= 8 && end - gaps >= 16; left -= 8, gaps += bits, read += 8) {
        __m256i eight = symbols_at(&how, gaps);
        wrong = _mm256_or_si256(wrong, _mm256_cmpeq_epi32(eight, how.escapes));
        __m256i reached = _mm256_add_epi32(before, sums_of(_mm256_add_epi32(eight, one)));
        _mm256_storeu_si256((__m256i *)(void *)(entries + read), reached);
        before = _mm256_permutevar8x32_epi32(reached, last);
    }
    if (_mm256_movemask_epi8(wrong) != 0)
        return false;
    for (; left > 0 && read < count && end - gaps >= 16; gaps += bits) {
        __m256i eight = symbols_at(&how, gaps);
        __m256i goes_on = _mm256_cmpeq_epi32(eight, how.escapes);
        __m256i ends = _mm256_add_epi32(one, goes_on); /* 0 where a symbol is an escape, whose comparison is -1 */
        __m256i reached = _mm256_add_epi32(before, sums_of(_mm256_add_epi32(eight, ends)));
        uint32_t there = left < 8 ? (1u << left) - 1 : 0xFF;
        uint32_t lanes = ~(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(goes_on)) & there;
        __m256i order = _mm256_srlv_epi32(_mm256_set1_epi32((int)LANES_OF[lanes]), nibbles);
        _mm256_storeu_si256((__m256i *)(void *)(entries + read), _mm256_permutevar8x32_epi32(reached, order));
        before = _mm256_permutevar8x32_epi32(reached, last);
        read += kb_popcount(lanes);
        ended = lanes > there >> 1;
        left = left < 8 ? 0 : left - 8;
    }
    if (left == 0)
        return read == count && ended;
    progress at = {0, read, (uint32_t)_mm256_extract_epi32(before, 0) + 1};
    return read_rest(at, gaps, end, left, bits, count, entries);
}

kb_gaps_read kb_gaps_read_avx2(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") ? read_avx2 : NULL;
}
#else
kb_gaps_read kb_gaps_read_avx2(void) { return NULL; }
#endif
