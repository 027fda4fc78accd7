/* Vectors in twice 4 bits a dimension. */
#include "sketch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cursor.h"

#define CODES_A_LINE (2 * KB_SKETCH_LINE)
#define QUERY_MOST 127.0 /* 16 products of a code with it fit 16 bits */
#define LANES 8u

/* What is added to each bound for all that is rounded on the way to it: numbers of 32 bits that are hardly above 1, of
 * which at most a dozen are rounded. */
#define SLACK 2e-6f

/* What a squared length found by adding up numbers of 32 bits in LANES lanes is wrong at most: the vector is rounded,
 * and so is each of `dimensions / LANES` sums, twice. */
static double square_slack(uint32_t dimensions) { return 1e-6 + 3e-8 * dimensions; }

/* How far out the code of a vector's largest number is; less cuts that one, and resolves the others better. The one
 * that fits a vector best is taken. */
static const float REACHES[] = {1.0f, 0.8f, 0.65f};

static uint32_t lines_of(uint32_t dimensions) { return (dimensions + CODES_A_LINE - 1) / CODES_A_LINE; }

size_t kb_sketch_query_bytes(uint32_t dimensions) { return (size_t)lines_of(dimensions) * CODES_A_LINE; }

/* Where a vector is sketched; all filled up to whole lines. */
typedef struct {
    float *unit;   /* the vector, of length 1; 0 past its dimensions */
    float *levels; /* what its codes stand for, -15 to 15, odd; 0 past its dimensions */
    float *best;
    size_t count; /* whole lines of numbers */
    uint32_t dimensions;
} workplace;

static bool begin(workplace *at, uint32_t dimensions) {
    const size_t count = (size_t)lines_of(dimensions) * CODES_A_LINE;
    *at = (workplace){calloc(count, sizeof(float)), calloc(count, sizeof(float)), calloc(count, sizeof(float)), count,
                      dimensions};
    return at->unit != NULL && at->levels != NULL && at->best != NULL;
}

static void end(workplace *at) {
    free(at->unit);
    free(at->levels);
    free(at->best);
}

/* Finds levels of which 1 would be `steps` above the middle. */
static void find_levels(workplace *at, float steps) {
    for (size_t i = 0; i < at->dimensions; i++) {
        int32_t code = (int32_t)(at->unit[i] * steps + 8.0f);
        code = code < 0 ? 0 : code;
        code = code > 15 ? 15 : code;
        at->levels[i] = (float)(2 * code - 15);
    }
}

static float product_of(const float *left, const float *right, size_t count) {
    float sums[LANES] = {0.0f};
    for (size_t i = 0; i < count; i += LANES)
        for (size_t lane = 0; lane < LANES; lane++)
            sums[lane] += left[i + lane] * right[i + lane];
    return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

/* The length, at most, of the difference of a vector of length 1 and another `scale` times as long as one whose product
 * with the first and whose square are given. */
static float error_of(double scale, double product, double square, uint32_t dimensions) {
    double difference = 1.0 - 2.0 * scale * product + scale * scale * square;
    return (float)sqrt((difference > 0.0 ? difference : 0.0) + square_slack(dimensions)) + SLACK;
}

/* Sketches the vector at the workplace and leaves there what the sketch lacks, which it gives the length of. `length`
 * is what the vector was divided by. */
static float sketch_one(workplace *at, float length, const kb_sketch_layer *layer, uint32_t record) {
    uint8_t *line = layer->codes + (size_t)record * at->count / 2;
    float largest = 0.0f;
    float product = 0.0f;
    float square = 1.0f;
    for (size_t i = 0; i < at->dimensions; i++)
        largest = fabsf(at->unit[i]) > largest ? fabsf(at->unit[i]) : largest;
    for (size_t i = 0; i < sizeof REACHES / sizeof *REACHES; i++) {
        find_levels(at, 7.5f / (largest * REACHES[i]));
        float new_product = product_of(at->unit, at->levels, at->count);
        float new_square = product_of(at->levels, at->levels, at->count);
        if (new_product * new_product * square > product * product * new_square) {
            float *levels = at->best;
            at->best = at->levels;
            at->levels = levels;
            product = new_product;
            square = new_square;
        }
    }
    float scale = product / square;
    for (size_t i = 0; i < at->count; i += CODES_A_LINE)
        for (size_t k = 0; k < KB_SKETCH_LINE; k++) {
            uint32_t low = (uint32_t)((int32_t)at->best[i + k] + 15) / 2;
            uint32_t high = (uint32_t)((int32_t)at->best[i + KB_SKETCH_LINE + k] + 15) / 2;
            line[i / 2 + k] = (uint8_t)(low | high << 4);
        }
    layer->scales[record] = scale * length;
    layer->errors[record] = error_of((double)scale, (double)product, (double)square, at->dimensions) * length;
    for (size_t i = 0; i < at->count; i++)
        at->unit[i] -= scale * at->best[i];
    return sqrtf(product_of(at->unit, at->unit, at->count));
}

static void sketch_record(workplace *at, const kb_vectors *vectors, uint32_t record, double length,
                          const kb_sketches *sketches) {
    const uint8_t *components = kb_vectors_components(vectors, record);
    for (size_t i = 0; i < at->dimensions; i++)
        at->unit[i] = (float)((double)kb_load_f32(components + 4 * i) / length);
    float left = sketch_one(at, 1.0f, &sketches->coarse, record);
    if (!(left > 0.0f)) {
        sketches->fine.errors[record] = sketches->coarse.errors[record];
        return;
    }
    for (size_t i = 0; i < at->dimensions; i++)
        at->unit[i] /= left;
    sketch_one(at, left, &sketches->fine, record);
    sketches->fine.errors[record] += SLACK;
}

static bool new_layer(size_t records, size_t bytes, kb_sketch_layer *layer) {
    *layer = (kb_sketch_layer){calloc(records * bytes + 1, 1), calloc(records + 1, sizeof(float)),
                               calloc(records + 1, sizeof(float))};
    return layer->codes != NULL && layer->scales != NULL && layer->errors != NULL;
}

static void free_layer(kb_sketch_layer *layer) {
    free(layer->codes);
    free(layer->scales);
    free(layer->errors);
}

kb_status kb_sketches_new(const kb_vectors *vectors, const double *lengths, kb_sketches *sketches) {
    const size_t records = ((size_t)vectors->count + KB_SKETCH_BLOCK - 1) / KB_SKETCH_BLOCK * KB_SKETCH_BLOCK;
    const uint32_t lines = lines_of(vectors->dimensions);
    workplace at;
    *sketches = (kb_sketches){.lines = lines, .count = vectors->count};
    bool complete = begin(&at, vectors->dimensions);
    complete = new_layer(records, (size_t)lines * KB_SKETCH_LINE, &sketches->coarse) && complete;
    complete = new_layer(records, (size_t)lines * KB_SKETCH_LINE, &sketches->fine) && complete;
    for (uint32_t i = 0; i < vectors->count && complete; i++)
        if (lengths[i] > 0.0) /* others are never hits */
            sketch_record(&at, vectors, i, lengths[i], sketches);
    end(&at);
    if (complete)
        return KB_OK;
    kb_sketches_free(sketches);
    return KB_E_MEMORY;
}

void kb_sketches_free(kb_sketches *sketches) {
    free_layer(&sketches->coarse);
    free_layer(&sketches->fine);
    *sketches = (kb_sketches){.count = 0};
}

size_t kb_sketches_bytes(const kb_sketches *sketches) {
    return (size_t)sketches->count * 2 * (sketches->lines * KB_SKETCH_LINE + 2 * sizeof(float));
}

void kb_sketch_query_new(const double *wide, uint32_t dimensions, double length, int8_t *codes,
                         kb_sketch_query *query) {
    double largest = 0.0;
    double product = 0.0;
    double square = 0.0;
    *query = (kb_sketch_query){.codes = codes};
    memset(codes, 0, kb_sketch_query_bytes(dimensions));
    for (uint32_t i = 0; i < dimensions; i++)
        largest = fabs(wide[i]) > largest ? fabs(wide[i]) : largest;
    for (uint32_t i = 0; i < dimensions; i++) {
        double at = wide[i] / largest * QUERY_MOST;
        int32_t code = (int32_t)(at < 0.0 ? at - 0.5 : at + 0.5);
        codes[i] = (int8_t)code;
        query->sum += code;
        product += wide[i] / length * code;
        square += (double)code * code;
    }
    query->scale = (float)(product / square);
    query->error = error_of((double)query->scale, product, square, dimensions);
}

/* The product of a sketched vector of scale 1 with a query. */
static inline float about_of(int32_t products, const kb_sketch_query *query, float scale) {
    return (float)(2 * products - 15 * query->sum) * scale * query->scale;
}

kb_sketch_bound kb_sketch_refine(const kb_sketches *sketches, const kb_sketch_ways *ways, uint32_t record,
                                 const kb_sketch_query *query, float most) {
    const uint8_t *line = sketches->fine.codes + (size_t)record * sketches->lines * KB_SKETCH_LINE;
    float error = sketches->fine.errors[record];
    float coarse = most - (sketches->coarse.errors[record] + query->error);
    float fine = about_of(ways->multiply(line, query->codes, sketches->lines), query, sketches->fine.scales[record]);
    float about = coarse + fine;
    float off = (error + query->error * (1.0f + error)) + SLACK;
    return (kb_sketch_bound){about + off, about - off};
}

static int32_t multiply_portable(const uint8_t *line, const int8_t *codes, uint32_t lines) {
    int32_t products = 0;
    for (; lines > 0; lines--) {
        for (uint32_t k = 0; k < KB_SKETCH_LINE; k++)
            products += (line[k] & 15) * codes[k] + (line[k] >> 4) * codes[KB_SKETCH_LINE + k];
        line += KB_SKETCH_LINE;
        codes += CODES_A_LINE;
    }
    return products;
}

static uint64_t find_portable(const kb_sketches *sketches, uint32_t block, const kb_sketch_query *query, float least,
                              float most[KB_SKETCH_BLOCK]) {
    const kb_sketch_layer *layer = &sketches->coarse;
    const size_t start = (size_t)block * KB_SKETCH_BLOCK;
    const uint8_t *line = layer->codes + start * sketches->lines * KB_SKETCH_LINE;
    uint64_t found = 0;
    for (uint32_t i = 0; i < KB_SKETCH_BLOCK; i++) {
        int32_t products = multiply_portable(line, query->codes, sketches->lines);
        most[i] = about_of(products, query, layer->scales[start + i]) + (layer->errors[start + i] + query->error);
        found |= (uint64_t)(most[i] >= least) << i;
        line += (size_t)sketches->lines * KB_SKETCH_LINE;
    }
    return found;
}

const kb_sketch_ways kb_sketch_portable = {find_portable, multiply_portable};

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))
#define LINES_AT_ONCE 8u /* each adds two products of 15 * 127 at most to 16 bits */

AVX2 static inline __m256i load(const void *bytes) { return _mm256_loadu_si256((const __m256i *)bytes); }

/* The products of one sketch's codes with the query's, in 8 sums. */
AVX2 static inline __m256i products_of(const uint8_t *line, const int8_t *codes, uint32_t lines) {
    const __m256i halves = _mm256_set1_epi8(15);
    const __m256i ones = _mm256_set1_epi16(1);
    __m256i sums = _mm256_setzero_si256();
    while (lines > 0) {
        uint32_t now = lines < LINES_AT_ONCE ? lines : LINES_AT_ONCE;
        __m256i low = _mm256_setzero_si256();
        __m256i high = _mm256_setzero_si256();
        lines -= now;
        for (; now > 0; now--) {
            __m256i both = load(line);
            __m256i upper = _mm256_and_si256(_mm256_srli_epi16(both, 4), halves);
            low = _mm256_add_epi16(low, _mm256_maddubs_epi16(_mm256_and_si256(both, halves), load(codes)));
            high = _mm256_add_epi16(high, _mm256_maddubs_epi16(upper, load(codes + KB_SKETCH_LINE)));
            line += KB_SKETCH_LINE;
            codes += CODES_A_LINE;
        }
        sums = _mm256_add_epi32(sums, _mm256_add_epi32(_mm256_madd_epi16(low, ones), _mm256_madd_epi16(high, ones)));
    }
    return sums;
}

/* The whole sums of four sketches in a row. */
AVX2 static inline __m128i products_of_4(const uint8_t *first, size_t bytes, const int8_t *codes, uint32_t lines) {
    __m256i left = _mm256_hadd_epi32(products_of(first, codes, lines), products_of(first + bytes, codes, lines));
    __m256i right =
        _mm256_hadd_epi32(products_of(first + 2 * bytes, codes, lines), products_of(first + 3 * bytes, codes, lines));
    __m256i sums = _mm256_hadd_epi32(left, right);
    return _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
}

AVX2 static int32_t multiply(const uint8_t *line, const int8_t *codes, uint32_t lines) {
    __m256i sums = products_of(line, codes, lines);
    __m128i half = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    half = _mm_hadd_epi32(half, half);
    return _mm_cvtsi128_si32(_mm_hadd_epi32(half, half));
}

AVX2 static uint64_t find(const kb_sketches *sketches, uint32_t block, const kb_sketch_query *query, float least,
                          float most[KB_SKETCH_BLOCK]) {
    const kb_sketch_layer *layer = &sketches->coarse;
    const size_t bytes = (size_t)sketches->lines * KB_SKETCH_LINE;
    const size_t start = (size_t)block * KB_SKETCH_BLOCK;
    const __m128i middle = _mm_set1_epi32(15 * query->sum);
    const __m128 error = _mm_set1_ps(query->error);
    uint64_t found = 0;
    for (uint32_t i = 0; i < KB_SKETCH_BLOCK; i += 4) {
        __m128i sums = products_of_4(layer->codes + (start + i) * bytes, bytes, query->codes, sketches->lines);
        __m128 levels = _mm_cvtepi32_ps(_mm_sub_epi32(_mm_add_epi32(sums, sums), middle));
        __m128 scales = _mm_loadu_ps(layer->scales + start + i);
        __m128 about = _mm_mul_ps(_mm_mul_ps(levels, scales), _mm_set1_ps(query->scale));
        __m128 upper = _mm_add_ps(about, _mm_add_ps(_mm_loadu_ps(layer->errors + start + i), error));
        _mm_storeu_ps(most + i, upper);
        found |= (uint64_t)(uint32_t)_mm_movemask_ps(_mm_cmpge_ps(upper, _mm_set1_ps(least))) << i;
    }
    return found;
}

static const kb_sketch_ways with_avx2 = {find, multiply};

const kb_sketch_ways *kb_sketch_avx2(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") ? &with_avx2 : NULL;
}
#else
const kb_sketch_ways *kb_sketch_avx2(void) { return NULL; }
#endif
