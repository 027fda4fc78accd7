/* Writes vectors.idx, new or of several (README.md section 10), to a sink, front to back. */
#ifndef KB_VECTORS_WRITE_H
#define KB_VECTORS_WRITE_H

#include "sink.h"
#include "vectors_read.h"

/* Vectors to write; all belongs to the caller. */
typedef struct {
    uint32_t dimensions;
    uint32_t count;
    const uint8_t *kbids;      /* 16 bytes each, in any order */
    const uint8_t *components; /* little-endian f32, of the kbids in turn */
    const uint32_t *order;     /* numbers of the kbids, by ascending kbid */
} kb_vectors_new;

/* KB_E_ARGUMENT where a vector holds what is no finite number, with *wrong its number; where kbids do not ascend in
 * that order, or numbers are past a limit, with *wrong `count`. KB_E_MEMORY, or what the sink gave. */
kb_status kb_vectors_write(const kb_vectors_new *vectors, const kb_sink *sink, uint32_t *wrong);

/* A file, found right by kb_vectors_check, which filled `kbids`, and those of its records that are wanted. */
typedef struct {
    const kb_vectors *vectors;
    const uint8_t *kbids;
    const uint8_t *keep; /* a bitmap */
} kb_vectors_part;

/* Makes one file of several of the same dimensions. Of wanted records of one kbid that of the last part is taken.
 * KB_E_TOO_LARGE when they do not fit one file; KB_E_MEMORY, or what the sink gave. */
kb_status kb_vectors_merge(const kb_vectors_part *parts, uint32_t count, uint32_t dimensions, const kb_sink *sink);

#endif
