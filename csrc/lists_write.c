/* Postings and positions, written. */
#include "lists_write.h"

#include <stdlib.h>
#include <string.h>

#include "bits.h"
#include "crc32.h"
#include "positions.h"

void kb_lists_writer_free(kb_lists_writer *writer) {
    kb_bytes_free(&writer->records);
    kb_bytes_free(&writer->postings);
    kb_bytes_free(&writer->positions);
    kb_bytes_free(&writer->refs);
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
    writer->refs.length = writer->blocks.length = writer->exceptions.length = 0;
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

/* The bytes that gaps take in symbols of `bits` bits. */
static uint32_t gap_bytes(const uint32_t *entries, uint32_t count, uint32_t next, uint32_t bits) {
    uint32_t most = (1u << bits) - 1;
    uint32_t symbols = count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t gap = entries[i] - next;
        if (gap >= most)
            symbols += gap / most;
        next = entries[i] + 1;
    }
    return bits == 4 ? symbols / 2 + symbols % 2 : symbols * (bits / 8);
}

uint32_t kb_lists_gap_bits(const uint32_t *entries, uint32_t count, uint32_t next, uint32_t *bytes) {
    uint32_t bits = 4;
    *bytes = gap_bytes(entries, count, next, 4);
    for (uint32_t wider = 8; wider <= 16; wider *= 2) {
        uint32_t needed = gap_bytes(entries, count, next, wider);
        if (needed < *bytes) {
            bits = wider;
            *bytes = needed;
        }
    }
    return bits;
}

static void put_symbol(uint8_t *to, uint32_t bits, uint32_t at, uint32_t symbol) {
    if (bits == 4) {
        to[at / 2] = (uint8_t)(to[at / 2] | symbol << at % 2 * 4);
    } else if (bits == 8) {
        to[at] = (uint8_t)symbol;
    } else {
        to[(size_t)at * 2] = (uint8_t)symbol;
        to[(size_t)at * 2 + 1] = (uint8_t)(symbol >> 8);
    }
}

static void put_gaps(kb_lists_writer *writer, uint32_t bits, uint32_t bytes) {
    uint32_t most = (1u << bits) - 1;
    uint32_t next = writer->next;
    uint32_t at = 0;
    uint8_t *to = kb_bytes_reserve(&writer->blocks, bytes);
    if (to == NULL)
        return;
    memset(to, 0, bytes);
    for (uint32_t i = 0; i < writer->count; i++) {
        uint32_t gap = writer->entries[i] - next;
        for (; gap >= most; gap -= most)
            put_symbol(to, bits, at++, most);
        put_symbol(to, bits, at++, gap);
        next = writer->entries[i] + 1;
    }
    writer->blocks.length += bytes;
}

static void put_values(kb_lists_writer *writer) {
    uint32_t all = 1;
    for (size_t i = 0; i < writer->values_count; i++)
        all |= writer->values[i];
    uint8_t width = (uint8_t)kb_bits_width(all);
    kb_bytes_put(&writer->positions, &width, 1);
    kb_bits_put(&writer->positions, writer->values, writer->values_count, width);
    writer->values_count = 0;
}

static kb_status put_block(kb_lists_writer *writer) {
    uint32_t bytes = 0;
    uint32_t bits = kb_lists_gap_bits(writer->entries, writer->count, writer->next, &bytes);
    uint8_t first = (uint8_t)bits;
    kb_bytes_put(&writer->blocks, &first, 1);
    kb_bytes_put_u16(&writer->blocks, (uint16_t)bytes);
    kb_bytes_put(&writer->blocks, writer->codes, writer->count / 4 + (writer->count % 4 != 0));
    put_gaps(writer, bits, bytes);
    kb_bytes_put(&writer->blocks, writer->exceptions.data, writer->exceptions.length);
    put_values(writer);
    size_t positions_end = writer->positions.length - writer->positions_start;
    if (writer->blocks.length > UINT32_MAX || positions_end > UINT32_MAX)
        return KB_E_TOO_LARGE;
    uint32_t last = writer->entries[writer->count - 1];
    uint8_t impact = kb_bm25f_impact(writer->impact);
    kb_bytes_put_u32(&writer->refs, last);
    kb_bytes_put_u32(&writer->refs, (uint32_t)writer->blocks.length);
    kb_bytes_put_u32(&writer->refs, (uint32_t)positions_end);
    kb_bytes_put(&writer->refs, &impact, 1);
    writer->next = last + 1;
    writer->count = 0;
    writer->impact = 0.0;
    writer->exceptions.length = 0;
    memset(writer->codes, 0, sizeof writer->codes);
    return KB_OK;
}

static void put_exception(kb_lists_writer *writer, uint8_t mask, const uint32_t frequencies[KB_FIELDS]) {
    kb_bytes_put(&writer->exceptions, &mask, 1);
    for (uint32_t field = 0; field < KB_FIELDS; field++)
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

kb_status kb_lists_end(kb_lists_writer *writer) {
    kb_status status = writer->count > 0 ? put_block(writer) : KB_OK;
    kb_bytes_put(&writer->postings, writer->refs.data, writer->refs.length);
    kb_bytes_put(&writer->postings, writer->blocks.data, writer->blocks.length);
    if (status != KB_OK)
        return status;
    if (writer->postings.failed || writer->positions.failed || writer->refs.failed || writer->blocks.failed ||
        writer->exceptions.failed)
        return KB_E_MEMORY;
    size_t postings_length = writer->postings.length - writer->postings_start;
    size_t positions_length = writer->positions.length - writer->positions_start;
    if (postings_length > UINT32_MAX)
        return KB_E_TOO_LARGE;
    kb_bytes_put_u64(&writer->records, writer->postings_taken + writer->postings_start);
    kb_bytes_put_u64(&writer->records, writer->positions_taken + writer->positions_start);
    kb_bytes_put_u32(&writer->records, (uint32_t)postings_length);
    kb_bytes_put_u32(&writer->records, (uint32_t)positions_length);
    kb_bytes_put_u32(&writer->records, writer->df);
    kb_bytes_put_u32(&writer->records, writer->forms);
    kb_bytes_put_u32(&writer->records, kb_crc32(writer->postings.data + writer->postings_start, postings_length));
    kb_bytes_put_u32(&writer->records, kb_crc32(writer->positions.data + writer->positions_start, positions_length));
    return writer->records.failed ? KB_E_MEMORY : KB_OK;
}

void kb_lists_taken(kb_lists_writer *writer) {
    writer->postings_taken += writer->postings.length;
    writer->positions_taken += writer->positions.length;
    writer->records.length = writer->postings.length = writer->positions.length = 0;
}
