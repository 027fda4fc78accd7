/* The stems of some entries. */
#include "stems_of.h"

#include "bitmap.h"

#define TITLE_OR_BODY (1u << 0 | 1u << KB_BODY)

kb_status kb_stems_of(const kb_segment *segment, const uint8_t *wanted, kb_bytes *pairs, kb_error *error) {
    const kb_terms *terms = &segment->terms;
    for (uint32_t i = 0; i < terms->stems.count; i++) {
        kb_stem stem;
        kb_postings postings;
        kb_status status = kb_terms_stem(terms, i, &stem, error);
        if (status == KB_OK)
            status = kb_postings_open(terms, &stem, &postings, error);
        while (status == KB_OK && postings.left > 0) {
            status = kb_postings_next(&postings, error);
            if (status != KB_OK || !(postings.mask & TITLE_OR_BODY) || !kb_bitmap_has(wanted, postings.entry))
                continue;
            kb_bytes_put_u32(pairs, postings.entry);
            kb_bytes_put_u32(pairs, i);
        }
        if (status != KB_OK)
            return status;
    }
    return pairs->failed ? KB_E_MEMORY : KB_OK;
}
