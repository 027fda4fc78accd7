/* vectors.idx, written. */
#include "vectors_write.h"

#include <stdlib.h>
#include <string.h>

#include "bitmap.h"
#include "bytes_out.h"

#define CHUNK ((size_t)1 << 20) /* bytes given to the sink at a time, and one record more */

/* What is to be given to the sink, and where. */
typedef struct {
    const kb_sink *sink;
    kb_bytes pending;
    uint64_t written;
    kb_status status;
} writer;

static void flush(writer *to) {
    if (to->status == KB_OK && to->pending.failed)
        to->status = KB_E_MEMORY;
    if (to->status == KB_OK && to->pending.length > 0)
        to->status =
            to->sink->write(to->sink->context, KB_FILE_VECTORS, to->written, to->pending.data, to->pending.length);
    to->written += to->pending.length;
    to->pending.length = 0;
}

static void put_header(writer *to, uint32_t dimensions, uint32_t count) {
    static const uint8_t version = KB_VECTORS_VERSION;
    kb_bytes_put(&to->pending, (const uint8_t *)KB_VECTORS_MAGIC, 4);
    kb_bytes_put(&to->pending, &version, 1);
    kb_bytes_put_u16(&to->pending, (uint16_t)dimensions);
    kb_bytes_put_u32(&to->pending, count);
}

static void put_record(writer *to, const uint8_t *kbid, const uint8_t *components, uint32_t dimensions) {
    kb_bytes_put(&to->pending, kbid, KB_VECTORS_KBID_BYTES);
    kb_bytes_put(&to->pending, components, (size_t)dimensions * 4);
    if (to->pending.length >= CHUNK || to->pending.failed)
        flush(to);
}

static kb_status end(writer *to) {
    flush(to);
    kb_bytes_free(&to->pending);
    return to->status;
}

kb_status kb_vectors_write(const kb_vectors_new *vectors, const kb_sink *sink, uint32_t *wrong) {
    const uint32_t dimensions = vectors->dimensions;
    const uint8_t *before = NULL;
    writer to = {.sink = sink};
    *wrong = vectors->count;
    if (dimensions == 0 || dimensions > KB_DIMENSIONS_MAX || vectors->count > KB_RECORDS_MAX)
        return KB_E_ARGUMENT;
    for (uint32_t i = 0; i < vectors->count; i++) {
        if (kb_vectors_are_finite(vectors->components + (size_t)i * dimensions * 4, dimensions))
            continue;
        *wrong = i;
        return KB_E_ARGUMENT;
    }
    put_header(&to, dimensions, vectors->count);
    for (uint32_t i = 0; i < vectors->count && to.status == KB_OK; i++) {
        const uint32_t number = vectors->order[i];
        const uint8_t *kbid = vectors->kbids + (size_t)number * KB_VECTORS_KBID_BYTES;
        if (before != NULL && memcmp(before, kbid, KB_VECTORS_KBID_BYTES) >= 0)
            to.status = KB_E_ARGUMENT;
        put_record(&to, kbid, vectors->components + (size_t)number * dimensions * 4, dimensions);
        before = kbid;
    }
    return end(&to);
}

/* A walk over the wanted records of all parts, by kbid. `next` has the record of each part that comes next. */
typedef struct {
    const kb_vectors_part *parts;
    uint32_t count;
    uint32_t *next;
} walk;

static void skip_unwanted(walk *over, uint32_t part) {
    const kb_vectors_part *of = &over->parts[part];
    while (over->next[part] < of->vectors->count && !kb_bitmap_has(of->keep, over->next[part]))
        over->next[part]++;
}

static void begin(walk *over) {
    for (uint32_t part = 0; part < over->count; part++) {
        over->next[part] = 0;
        skip_unwanted(over, part);
    }
}

static const uint8_t *kbid_of(const walk *over, uint32_t part) {
    return over->parts[part].kbids + (size_t)over->next[part] * KB_VECTORS_KBID_BYTES;
}

/* Whether there is a record more: that with the lowest kbid, of the last part that has it. */
static bool step(walk *over, uint32_t *part, uint32_t *record) {
    const uint8_t *lowest = NULL;
    for (uint32_t i = 0; i < over->count; i++) {
        if (over->next[i] == over->parts[i].vectors->count)
            continue;
        if (lowest == NULL || memcmp(kbid_of(over, i), lowest, KB_VECTORS_KBID_BYTES) <= 0) {
            lowest = kbid_of(over, i);
            *part = i;
            *record = over->next[i];
        }
    }
    for (uint32_t i = 0; i < over->count && lowest != NULL; i++) {
        if (over->next[i] == over->parts[i].vectors->count ||
            memcmp(kbid_of(over, i), lowest, KB_VECTORS_KBID_BYTES) != 0)
            continue;
        over->next[i]++;
        skip_unwanted(over, i);
    }
    return lowest != NULL;
}

kb_status kb_vectors_merge(const kb_vectors_part *parts, uint32_t count, uint32_t dimensions, const kb_sink *sink) {
    walk over = {parts, count, malloc(((size_t)count + 1) * sizeof *over.next)};
    writer to = {.sink = sink, .status = over.next == NULL ? KB_E_MEMORY : KB_OK};
    uint64_t records = 0;
    uint32_t part = 0;
    uint32_t record = 0;
    if (to.status == KB_OK) {
        begin(&over);
        while (step(&over, &part, &record))
            records++;
        to.status = records > KB_RECORDS_MAX ? KB_E_TOO_LARGE : KB_OK;
    }
    if (to.status == KB_OK) {
        put_header(&to, dimensions, (uint32_t)records);
        begin(&over);
    }
    while (to.status == KB_OK && step(&over, &part, &record))
        put_record(&to, kb_vectors_kbid(parts[part].vectors, record),
                   kb_vectors_components(parts[part].vectors, record), dimensions);
    free(over.next);
    return end(&to);
}
