/* Products of vectors and cosines, to the last bit the same everywhere (README.md section 10). There are two ways to
 * add products up, with the same results. */
#ifndef KB_DOT_H
#define KB_DOT_H

#include <stddef.h>
#include <stdint.h>

#define KB_DOT_LANES 8u /* partial sums */

/* The sum of the products of `count` doubles with as many f32, little-endian and unaligned. The doubles are f32
 * widened: a product of two f32 is exact in a double, so that only the order of the additions matters. */
typedef double (*kb_dot)(const double *left, const uint8_t *right, size_t count);

double kb_dot_portable(const double *left, const uint8_t *right, size_t count);

/* NULL where the compiler or this processor has no AVX2. */
kb_dot kb_dot_avx2(void);

/* `count` f32, little-endian and unaligned, as doubles. */
void kb_dot_widen(const uint8_t *vector, size_t count, double *to);

/* The cosine of two vectors by their product and lengths, which are above 0. Rounding takes it nowhere past 1. */
static inline double kb_cosine(double product, double left, double right) {
    double cosine = product / (left * right);
    return cosine > 1.0 ? 1.0 : cosine < -1.0 ? -1.0 : cosine;
}

#endif
