/* The gaps of a block of postings, read into entries (README.md section 4). There are two ways to do it with the same
 * results; both use only the bytes that the symbols take. */
#ifndef KB_GAPS_H
#define KB_GAPS_H

#include <stdbool.h>
#include <stdint.h>

#define KB_BLOCK 128u       /* postings in a block */
#define KB_BLOCK_SPARE 16u  /* numbers after a block's entries that reading may write to */
#define KB_GAP_BITS_MAX 16u /* 8 symbols then fit 16 bytes */

/* Reads `count` entries, at most KB_BLOCK, from `symbols` symbols of `bits` bits, at most KB_GAP_BITS_MAX; `next` is
 * the entry that a gap of 0 would give first. The symbols lie before `end`, up to which bytes may be loaded. `entries`
 * has room for KB_BLOCK + KB_BLOCK_SPARE. False when the symbols are more or fewer. Entries wrap only in damaged
 * blocks, which then do not end at their last entry. */
typedef bool (*kb_gaps_read)(const uint8_t *gaps, const uint8_t *end, uint64_t symbols, uint32_t bits, uint32_t count,
                             uint32_t next, uint32_t *entries);

bool kb_gaps_read_portable(const uint8_t *gaps, const uint8_t *end, uint64_t symbols, uint32_t bits, uint32_t count,
                           uint32_t next, uint32_t *entries);

/* NULL where the compiler or this processor has no AVX2. */
kb_gaps_read kb_gaps_read_avx2(void);

#endif
