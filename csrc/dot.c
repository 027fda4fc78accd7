/* Products, added up. */
#include "dot.h"

#include "cursor.h"

/* Adds the products from `first` on, a multiple of KB_DOT_LANES, to the partial sums, and those together. */
static double finish(double *sums, const double *left, const uint8_t *right, size_t first, size_t count) {
    for (size_t i = first; i < count; i++)
        sums[i % KB_DOT_LANES] += left[i] * (double)kb_load_f32(right + 4 * i);
    double low = (sums[0] + sums[4]) + (sums[2] + sums[6]);
    double high = (sums[1] + sums[5]) + (sums[3] + sums[7]);
    return low + high;
}

double kb_dot_portable(const double *left, const uint8_t *right, size_t count) {
    double sums[KB_DOT_LANES] = {0.0};
    size_t whole = count - count % KB_DOT_LANES;
    for (size_t i = 0; i < whole; i += KB_DOT_LANES)
        for (size_t lane = 0; lane < KB_DOT_LANES; lane++)
            sums[lane] += left[i + lane] * (double)kb_load_f32(right + 4 * (i + lane));
    return finish(sums, left, right, whole, count);
}

void kb_dot_widen(const uint8_t *vector, size_t count, double *to) {
    for (size_t i = 0; i < count; i++)
        to[i] = (double)kb_load_f32(vector + 4 * i);
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

/* Four of the f32, as doubles. */
__attribute__((target("avx2"))) static inline __m256d load(const uint8_t *vector) {
    return _mm256_cvtps_pd(_mm_castsi128_ps(_mm_loadu_si128((const __m128i *)(const void *)vector)));
}

__attribute__((target("avx2"))) static double dot(const double *left, const uint8_t *right, size_t count) {
    double sums[KB_DOT_LANES];
    size_t whole = count - count % KB_DOT_LANES;
    __m256d low = _mm256_setzero_pd();
    __m256d high = _mm256_setzero_pd();
    for (size_t i = 0; i < whole; i += KB_DOT_LANES) {
        low = _mm256_add_pd(low, _mm256_mul_pd(_mm256_loadu_pd(left + i), load(right + 4 * i)));
        high = _mm256_add_pd(high, _mm256_mul_pd(_mm256_loadu_pd(left + i + 4), load(right + 4 * i + 16)));
    }
    _mm256_storeu_pd(sums, low);
    _mm256_storeu_pd(sums + 4, high);
    return finish(sums, left, right, whole, count);
}

kb_dot kb_dot_avx2(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") ? dot : NULL;
}
#else
kb_dot kb_dot_avx2(void) { return NULL; }
#endif
