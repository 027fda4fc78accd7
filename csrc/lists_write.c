/* Postings and positions, written. */
#include "lists_write.h"

#include <stdlib.h>
#include <string.h>

#include "bitmap.h"
#include "bits.h"
#include "crc32.h"
#include "positions.h"

void kb_lists_writer_free(kb_lists_writer *writer) {
    kb_bytes_free(&writer->records);
    kb_bytes_free(&writer->postings);
    kb_bytes_free(&writer->positions);
    free(writer->refs);
    kb_bytes_free(&writer->blocks);
    kb_bytes_free(&writer->exceptions);
    free(writer->values);
    *writer = (kb_lists_writer){0};
}

void kb_lists_begin(kb_lists_writer *writer, uint32_t forms) {
    writer->forms = forms;
    writer->df = writer->next = writer->count = 0;
    writer->values_count = 0;
    writer->impact = 0.0;
    writer->refs_count = writer->blocks.length = writer->exceptions.length = 0;
    writer->postings_start = writer->postings.length;
    writer->positions_start = writer->positions.length;
    memset(writer->codes, 0, sizeof writer->codes);
}

kb_status kb_lists_value(kb_lists_writer *writer, uint32_t position, uint32_t form) {
    uint64_t value = (uint64_t)position << kb_positions_bits(writer->forms) | form;
    if (value > UINT32_MAX)
        return KB_E_TOO_LARGE;
    if (writer->values_count == writer->values_capacity) {
        size_t capacity = writer->values_capacity == 0 ? 4 * KB_BLOCK : writer->values_capacity * 2;
        uint32_t *values = realloc(writer->values, capacity * sizeof *values);
        if (values == NULL)
            return KB_E_MEMORY;
        writer->values = values;
        writer->values_capacity = capacity;
    }
    writer->values[writer->values_count++] = (uint32_t)value;
    return KB_OK;
}

#define ESCAPE_BITS 8u /* what an escape costs beside its own: it is slow to read, and so is what stands around it */

/* The symbols beside their last ones that gaps take in symbols of `bits` bits, at least 1. */
static uint64_t escapes_of(const uint32_t *gaps, uint32_t count, uint32_t bits) {
    uint32_t most = (1u << bits) - 1;
    uint64_t escapes = 0;
    for (uint32_t i = 0; i < count; i++)
        if (gaps[i] >= most)
            escapes += gaps[i] / most;
    return escapes;
}

uint32_t kb_lists_gap_bits(const uint32_t *entries, uint32_t count, uint32_t next, uint32_t *escapes) {
    *escapes = 0;
    /* Most lists of a small segment are of one entry. */
    if (count == 1 && entries[0] == next)
        return 0;
    uint32_t gaps[KB_BLOCK];
    uint32_t of_width[33] = {0};
    uint32_t all = 0;
    for (uint32_t i = 0; i < count; i++) {
        gaps[i] = entries[i] - next;
        next = entries[i] + 1;
        all |= gaps[i];
        of_width[kb_bits_width(gaps[i])]++;
    }
    if (all == 0)
        return 0;
    /* With one bit more than the widest gap needs there are no escapes. */
    uint32_t most = kb_bits_width(all) < KB_GAP_BITS_MAX ? kb_bits_width(all) + 1 : KB_GAP_BITS_MAX;
    uint32_t wider = 0; /* gaps that need more bits, so that each has an escape */
    for (uint32_t bits = most + 1; bits <= 32; bits++)
        wider += of_width[bits];
    uint32_t best = most;
    uint64_t least = UINT64_MAX;
    for (uint32_t bits = most; bits > 0; wider += of_width[bits--]) {
        if ((uint64_t)bits * count + (uint64_t)(bits + ESCAPE_BITS) * wider > least)
            continue;
        uint64_t found = escapes_of(gaps, count, bits);
        uint64_t cost = bits * (count + found) + ESCAPE_BITS * found;
        if (cost > least)
            continue;
        least = cost;
        best = bits;
        *escapes = (uint32_t)found;
    }
    return best;
}

static void put_gaps(kb_lists_writer *writer, uint32_t bits, uint32_t escapes) {
    uint32_t most = (1u << bits) - 1;
    uint32_t next = writer->next;
    size_t length = (size_t)kb_bits_bytes((uint64_t)writer->count + escapes, bits);
    uint8_t *to = kb_bytes_reserve(&writer->blocks, length);
    uint64_t held = 0;
    uint32_t filled = 0;
    if (to == NULL || bits == 0)
        return;
    for (uint32_t i = 0; i < writer->count; i++) {
        uint32_t left = writer->entries[i] - next;
        next = writer->entries[i] + 1;
        for (bool ends = false; !ends;) {
            uint32_t symbol = left < most ? left : most;
            ends = symbol < most;
            left -= symbol;
            held |= (uint64_t)symbol << filled;
            for (filled += bits; filled >= 8; filled -= 8) {
                *to++ = (uint8_t)held;
                held >>= 8;
            }
        }
    }
    if (filled > 0)
        *to = (uint8_t)held;
    writer->blocks.length += length;
}

/* Of 32 codes from `from`, a multiple of 32, on: a bit at the lower one of each pair that is not 0. */
static uint64_t others_of(const uint8_t *codes, uint32_t from) {
    uint64_t pairs = kb_load_u64(codes + from / 4);
    return (pairs | pairs >> 1) & 0x5555555555555555u;
}

uint32_t kb_lists_codes_count(const uint8_t codes[KB_BLOCK / 4]) {
    uint32_t others = 0;
    for (uint32_t from = 0; from < KB_BLOCK; from += 32)
        others += kb_popcount(others_of(codes, from));
    return others;
}

bool kb_lists_codes_dense(uint32_t count, uint32_t others) {
    return kb_bits_bytes(count, 2) < 1 + others + kb_bits_bytes(others, 2);
}

static void put_codes(kb_lists_writer *writer, bool dense, uint32_t others) {
    uint8_t listed[1 + KB_BLOCK + KB_BLOCK / 4] = {(uint8_t)others};
    uint32_t at = 0;
    if (dense) {
        kb_bytes_put(&writer->blocks, writer->codes, (size_t)kb_bits_bytes(writer->count, 2));
        return;
    }
    for (uint32_t from = 0; from < writer->count; from += 32) {
        for (uint64_t left = others_of(writer->codes, from); left != 0; left &= left - 1, at++) {
            uint32_t place = from + (uint32_t)__builtin_ctzll(left) / 2;
            uint32_t code = writer->codes[place / 4] >> place % 4 * 2 & 3;
            uint8_t *kind = &listed[1 + others + at / 4];
            *kind = (uint8_t)(*kind | code << at % 4 * 2);
            listed[1 + at] = (uint8_t)place;
        }
    }
    kb_bytes_put(&writer->blocks, listed, 1 + others + (size_t)kb_bits_bytes(others, 2));
}

static void put_values(kb_lists_writer *writer) {
    uint32_t bits = kb_positions_bits(writer->forms);
    uint32_t all = 0;
    for (size_t i = 0; i < writer->values_count; i++)
        all |= writer->values[i];
    bool bare = bits > 0 && (all & kb_positions_forms(bits)) == 0;
    for (size_t i = 0; i < writer->values_count && bare; i++)
        writer->values[i] = (uint32_t)((uint64_t)writer->values[i] >> bits);
    uint32_t width = kb_bits_width(bare ? (uint32_t)((uint64_t)all >> bits) : all);
    width = width == 0 ? 1 : width;
    uint8_t first = (uint8_t)(width | (bare ? KB_POSITIONS_BARE : 0));
    kb_bytes_put_u8(&writer->positions, first);
    kb_bits_put(&writer->positions, writer->values, writer->values_count, width);
    writer->values_count = 0;
}

static kb_status put_ref(kb_lists_writer *writer, kb_block_ref ref) {
    if (writer->refs_count == writer->refs_capacity) {
        size_t capacity = writer->refs_capacity == 0 ? 16 : writer->refs_capacity * 2;
        kb_block_ref *refs = realloc(writer->refs, capacity * sizeof *refs);
        if (refs == NULL)
            return KB_E_MEMORY;
        writer->refs = refs;
        writer->refs_capacity = capacity;
    }
    writer->refs[writer->refs_count++] = ref;
    return KB_OK;
}

static kb_status put_block(kb_lists_writer *writer) {
    uint32_t escapes = 0;
    uint32_t bits = kb_lists_gap_bits(writer->entries, writer->count, writer->next, &escapes);
    uint32_t others = kb_lists_codes_count(writer->codes);
    bool dense = kb_lists_codes_dense(writer->count, others);
    uint8_t first = (uint8_t)(bits | (dense ? KB_CODES_DENSE : 0));
    kb_bytes_put_u8(&writer->blocks, first);
    kb_bytes_put_varint(&writer->blocks, escapes);
    put_codes(writer, dense, others);
    put_gaps(writer, bits, escapes);
    kb_bytes_put(&writer->blocks, writer->exceptions.data, writer->exceptions.length);
    put_values(writer);
    size_t positions_end = writer->positions.length - writer->positions_start;
    if (writer->blocks.length > UINT32_MAX || positions_end > UINT32_MAX)
        return KB_E_TOO_LARGE;
    uint32_t last = writer->entries[writer->count - 1];
    kb_block_ref ref = {last, (uint32_t)writer->blocks.length, (uint32_t)positions_end,
                        kb_bm25f_impact(writer->impact)};
    writer->next = last + 1;
    writer->count = 0;
    writer->impact = 0.0;
    writer->exceptions.length = 0;
    memset(writer->codes, 0, sizeof writer->codes);
    return put_ref(writer, ref);
}

static void put_exception(kb_lists_writer *writer, uint8_t mask, const uint32_t frequencies[KB_FIELDS]) {
    bool once = true;
    if (mask == 1u << KB_BODY && frequencies[KB_BODY] <= UINT8_MAX - KB_EXCEPTION_BODY + KB_EXCEPTION_LEAST) {
        uint8_t first = (uint8_t)(KB_EXCEPTION_BODY + frequencies[KB_BODY] - KB_EXCEPTION_LEAST);
        kb_bytes_put_u8(&writer->exceptions, first);
        return;
    }
    for (uint32_t field = 0; field < KB_FIELDS; field++)
        once = once && frequencies[field] <= 1;
    uint8_t first = (uint8_t)(mask | (once ? KB_EXCEPTION_ONCE : 0));
    kb_bytes_put_u8(&writer->exceptions, first);
    for (uint32_t field = 0; field < KB_FIELDS && !once; field++)
        if (mask >> field & 1)
            kb_bytes_put_varint(&writer->exceptions, frequencies[field] - 1);
}

kb_status kb_lists_posting(kb_lists_writer *writer, uint32_t entry, const uint32_t frequencies[KB_FIELDS],
                           const uint32_t lengths[KB_FIELDS]) {
    uint8_t mask = 0;
    uint32_t body = frequencies[KB_BODY];
    for (uint32_t field = 0; field < KB_FIELDS; field++)
        mask = (uint8_t)(mask | (uint32_t)(frequencies[field] > 0) << field);
    bool plain = mask == 1u << KB_BODY && body <= KB_CODE_EXCEPTION;
    uint32_t code = plain ? body - 1 : KB_CODE_EXCEPTION;
    if (!plain)
        put_exception(writer, mask, frequencies);
    double saturation = kb_bm25f_saturation(writer->bm25f, frequencies, lengths);
    if (saturation > writer->impact)
        writer->impact = saturation;
    writer->codes[writer->count / 4] = (uint8_t)(writer->codes[writer->count / 4] | code << writer->count % 4 * 2);
    writer->entries[writer->count++] = entry;
    writer->df++;
    return writer->count == KB_BLOCK ? put_block(writer) : KB_OK;
}

/* Writes the block_refs, now that the lengths are known which tell how wide their numbers are. */
static kb_status put_refs(kb_lists_writer *writer) {
    uint64_t positions_length = writer->positions.length - writer->positions_start;
    uint32_t blocks = (uint32_t)writer->refs_count;
    kb_ref_shape shape = {0};
    uint64_t length = 0;
    /* The length counts the refs too; the widest that a number can be comes last. */
    for (uint32_t width = 1; width <= 4; width++) {
        shape =
            kb_ref_shape_of(writer->entries_count, blocks, UINT32_MAX >> (32 - 8 * width), (uint32_t)positions_length);
        length = writer->blocks.length + (uint64_t)blocks * shape.all;
        if (length > UINT32_MAX)
            return KB_E_TOO_LARGE;
        if (kb_narrow_width((uint32_t)length) <= width)
            break;
    }
    for (uint32_t i = 0; i < blocks; i++) {
        const kb_block_ref *ref = &writer->refs[i];
        kb_bytes_put_u8(&writer->postings, (uint8_t)ref->impact);
        kb_bytes_put_narrow(&writer->postings, ref->last, shape.last);
        kb_bytes_put_narrow(&writer->postings, ref->postings_end, shape.postings_end);
        kb_bytes_put_narrow(&writer->postings, ref->positions_end, shape.positions_end);
    }
    return KB_OK;
}

kb_status kb_lists_end(kb_lists_writer *writer) {
    kb_status status = writer->count > 0 ? put_block(writer) : KB_OK;
    if (status == KB_OK)
        status = put_refs(writer);
    kb_bytes_put(&writer->postings, writer->blocks.data, writer->blocks.length);
    if (status != KB_OK)
        return status;
    if (writer->postings.failed || writer->positions.failed || writer->blocks.failed || writer->exceptions.failed)
        return KB_E_MEMORY;
    size_t postings_length = writer->postings.length - writer->postings_start;
    size_t positions_length = writer->positions.length - writer->positions_start;
    uint64_t postings_start = writer->postings_taken + writer->postings_start;
    uint64_t positions_start = writer->positions_taken + writer->positions_start;
    if (postings_length > UINT32_MAX || postings_start + postings_length > KB_LISTS_MAX ||
        positions_start + positions_length > KB_LISTS_MAX)
        return KB_E_TOO_LARGE;
    kb_bytes_put_u40(&writer->records, postings_start);
    kb_bytes_put_u40(&writer->records, positions_start);
    kb_bytes_put_u32(&writer->records, kb_crc32(writer->postings.data + writer->postings_start, postings_length));
    kb_bytes_put_u32(&writer->records, kb_crc32(writer->positions.data + writer->positions_start, positions_length));
    kb_bytes_put_narrow(&writer->records, writer->df, writer->shape.df);
    kb_bytes_put_narrow(&writer->records, writer->forms, writer->shape.forms);
    return writer->records.failed ? KB_E_MEMORY : KB_OK;
}

kb_status kb_lists_end_all(kb_lists_writer *writer) {
    kb_bytes_put_u40(&writer->records, writer->postings_taken + writer->postings.length);
    kb_bytes_put_u40(&writer->records, writer->positions_taken + writer->positions.length);
    kb_bytes_put_zeros(&writer->records, writer->shape.stem - 10);
    return writer->records.failed ? KB_E_MEMORY : KB_OK;
}

void kb_lists_taken(kb_lists_writer *writer) {
    writer->postings_taken += writer->postings.length;
    writer->positions_taken += writer->positions.length;
    writer->records.length = writer->postings.length = writer->positions.length = 0;
}
