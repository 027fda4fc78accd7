/* Lanes, compared. */
#include "lanes.h"

void kb_lanes_find_portable(const uint16_t *lanes, size_t count, uint16_t need, uint64_t *words) {
    for (size_t block = 0; block < count / 64; block++) {
        const uint16_t *lane = lanes + block * 64;
        uint16_t most = 0;
        for (size_t i = 0; i < 64; i++)
            most = lane[i] > most ? lane[i] : most;
        uint64_t word = 0;
        for (size_t i = 0; i < 64 && most >= need; i++)
            word |= (uint64_t)(lane[i] >= need) << i;
        words[block] = word;
    }
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

__attribute__((target("avx2"))) static uint32_t find_32(const uint16_t *lane, __m256i need) {
    __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)lane);
    __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(lane + 16));
    low = _mm256_cmpeq_epi16(_mm256_max_epu16(low, need), low);
    high = _mm256_cmpeq_epi16(_mm256_max_epu16(high, need), high);
    /* Packing works in halves of 128 bits: the four quarters come as low, high, low, high. */
    __m256i packed = _mm256_permute4x64_epi64(_mm256_packs_epi16(low, high), 0xD8);
    return (uint32_t)_mm256_movemask_epi8(packed);
}

__attribute__((target("avx2"))) static void find(const uint16_t *lanes, size_t count, uint16_t need, uint64_t *words) {
    __m256i wanted = _mm256_set1_epi16((short)need);
    for (size_t block = 0; block < count / 64; block++) {
        const uint16_t *lane = lanes + block * 64;
        words[block] = find_32(lane, wanted) | (uint64_t)find_32(lane + 32, wanted) << 32;
    }
}

kb_lanes_find kb_lanes_find_avx2(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") ? find : NULL;
}
#else
kb_lanes_find kb_lanes_find_avx2(void) { return NULL; }
#endif
