/* Vectors by cosine. */
#include "vector_search.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bitmap.h"

#define DEFERRED 4096u /* records that wait */
#define AHEAD 8u       /* sketches: multiplying so many takes as long as memory does */
#define NOTHING (-2.0) /* below every cosine */

/* Joins one segment: walks its live entries and, beside them, the kbids of each part. `at` has a number for each part.
 */
static kb_status join(const kb_view *view, uint32_t segment, kb_vector_searcher *searcher, uint32_t *at,
                      kb_error *error) {
    const kb_table *table = &view->segment->corpus.kbids;
    const uint8_t *kbids = NULL;
    kb_status status = kb_table_bytes(table, 0, table->length, &kbids, error);
    memset(at, 0, searcher->count * sizeof *at);
    for (uint32_t entry = 0; entry < view->segment->entries && status == KB_OK; entry++) {
        const uint8_t *kbid = kbids + (size_t)entry * KB_KBID_BYTES;
        if (!kb_bitmap_has(view->live, entry))
            continue;
        for (uint32_t i = searcher->count; i > 0; i--) {
            kb_vector_part *part = &searcher->parts[i - 1];
            const uint32_t count = part->vectors->count;
            at[i - 1] = kb_vectors_seek(part->kbids, count, at[i - 1], kbid);
            if (at[i - 1] == count || memcmp(part->kbids + (size_t)at[i - 1] * KB_KBID_BYTES, kbid, KB_KBID_BYTES) != 0)
                continue;
            searcher->sections += part->owners[at[i - 1]].segment == KB_NOBODYS;
            part->owners[at[i - 1]] = (kb_owner){segment, entry};
            if (part->lengths[at[i - 1]] > 0.0)
                kb_bitmap_set(part->pointing, at[i - 1]);
            break;
        }
    }
    return status;
}

kb_status kb_vector_searcher_open(const kb_view *views, uint32_t views_count, kb_vector_searcher *searcher,
                                  kb_error *error) {
    uint32_t *at = malloc(((size_t)searcher->count + 1) * sizeof *at);
    kb_status status = at == NULL ? KB_E_MEMORY : KB_OK;
    searcher->sections = 0;
    for (uint32_t i = 0; i < searcher->count; i++)
        for (uint32_t record = 0; record < searcher->parts[i].vectors->count; record++)
            searcher->parts[i].owners[record] = (kb_owner){KB_NOBODYS, 0};
    for (uint32_t i = 0; i < views_count && status == KB_OK; i++) {
        error->segment = i;
        status = join(&views[i], i, searcher, at, error);
    }
    free(at);
    return status;
}

void kb_vector_missing(const kb_vector_searcher *searcher, uint8_t *const *live) {
    for (uint32_t i = 0; i < searcher->count; i++) {
        const kb_vector_part *part = &searcher->parts[i];
        for (uint32_t record = 0; record < part->vectors->count; record++) {
            const kb_owner owner = part->owners[record];
            if (owner.segment != KB_NOBODYS)
                live[owner.segment][owner.entry >> 3] &= (uint8_t)~(1u << (owner.entry & 7));
        }
    }
}

void kb_vector_held(const kb_vector_part *part, uint8_t *held) {
    for (uint32_t record = 0; record < part->vectors->count; record++)
        if (part->owners[record].segment != KB_NOBODYS)
            kb_bitmap_set(held, record);
}

/* One search, at one part. */
typedef struct {
    const kb_vector_part *part;
    const uint8_t *const *allowed;
    kb_dot dot;
    const double *query;
    uint32_t dimensions;
    double length; /* of the query */
    /* A heap with the worst hit on top, with room for `limit`, which is not 0. */
    kb_vector_hit *hits;
    uint32_t limit;
    uint32_t count;
} task;

static bool is_better(const kb_vector_hit *left, const kb_vector_hit *right) {
    if (left->score != right->score)
        return left->score > right->score;
    return memcmp(left->kbid, right->kbid, KB_KBID_BYTES) < 0;
}

/* Puts a hit where the heap's order wants it, from the free place `at` downwards among the first `count`. */
static void sift_down(kb_vector_hit *hits, const kb_vector_hit hit, uint32_t at, uint32_t count) {
    for (;;) {
        uint64_t child = (uint64_t)at * 2 + 1;
        if (child >= count)
            break;
        if (child + 1 < count && is_better(&hits[child], &hits[child + 1]))
            child++;
        if (!is_better(&hit, &hits[child]))
            break;
        hits[at] = hits[child];
        at = (uint32_t)child;
    }
    hits[at] = hit;
}

static void add(task *search, const kb_vector_hit hit) {
    kb_vector_hit *hits = search->hits;
    if (search->count == search->limit) {
        if (is_better(&hit, &hits[0]))
            sift_down(hits, hit, 0, search->count);
        return;
    }
    uint32_t at = search->count++;
    while (at > 0 && is_better(&hits[(at - 1) / 2], &hit)) {
        hits[at] = hits[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    hits[at] = hit;
}

/* Sorts the hits, best first. */
static void finish(task *search) {
    for (uint32_t left = search->count; left > 1; left--) {
        kb_vector_hit last = search->hits[left - 1];
        search->hits[left - 1] = search->hits[0];
        sift_down(search->hits, last, 0, left - 1);
    }
}

/* What a cosine must reach to be a hit; rounded to 32 bits it stays within the slack of a sketch's bound. */
static float least_of(const task *search) {
    return (float)(search->count < search->limit ? NOTHING : search->hits[0].score);
}

static void look_at(task *search, const kb_vector_part *part, uint32_t record) {
    double product = search->dot(search->query, kb_vectors_components(part->vectors, record), search->dimensions);
    add(search, (kb_vector_hit){kb_cosine(product, search->length, part->lengths[record]), part->owners[record],
                                part->kbids + (size_t)record * KB_KBID_BYTES});
}

/* Those records of a block of 64 that may be hits. */
static uint64_t candidates(const task *search, uint32_t block) {
    uint64_t word = kb_bitmap_word(search->part->pointing, search->part->vectors->count, block);
    if (search->allowed == NULL)
        return word;
    for (uint64_t left = word; left != 0; left &= left - 1) {
        uint32_t record = block * 64 + (uint32_t)__builtin_ctzll(left);
        const kb_owner owner = search->part->owners[record];
        if (!kb_bitmap_has(search->allowed[owner.segment], owner.entry))
            word &= ~(left & -left);
    }
    return word;
}

static void look_at_all(task *search) {
    for (uint32_t block = 0; block < kb_bitmap_words(search->part->vectors->count); block++)
        for (uint64_t left = candidates(search, block); left != 0; left &= left - 1)
            look_at(search, search->part, block * 64 + (uint32_t)__builtin_ctzll(left));
}

/* The largest of what the cosines of records are at least, with the least of them on top: as many as there is room for
 * are known to reach it, without their vectors being read. */
typedef struct {
    float *values;
    uint32_t limit;
    uint32_t count;
} floors;

static void add_floor(floors *known, float value) {
    float *values = known->values;
    uint32_t at = 0;
    if (known->count < known->limit) {
        for (at = known->count++; at > 0 && values[(at - 1) / 2] > value; at = (at - 1) / 2)
            values[at] = values[(at - 1) / 2];
        values[at] = value;
        return;
    }
    if (value <= values[0])
        return;
    for (;;) {
        uint64_t child = (uint64_t)at * 2 + 1;
        if (child >= known->count)
            break;
        if (child + 1 < known->count && values[child + 1] < values[child])
            child++;
        if (values[child] >= value)
            break;
        values[at] = values[child];
        at = (uint32_t)child;
    }
    values[at] = value;
}

/* A record that may be a hit. */
typedef struct {
    const kb_vector_part *part;
    uint32_t record;
    float most; /* what its cosine is at most */
} candidate;

typedef struct {
    uint32_t count;
    candidate held[DEFERRED];
} deferred;

/* A search that goes through sketches. Records wait for the fine layer of their sketch, then for their vector, until
 * all parts have been gone through: what has to be reached is known best then. */
typedef struct {
    task *search;
    const kb_sketch_ways *ways;
    const kb_sketch_query *query;
    floors known;
    deferred coarse;
    deferred fine;
} sketch_task;

static float least_by(const sketch_task *by) {
    const float least = least_of(by->search);
    const bool is_known = by->known.count == by->known.limit;
    return is_known && by->known.values[0] > least ? by->known.values[0] : least;
}

/* Drops those that cannot be hits any more. */
static void drop(const sketch_task *by, deferred *waiting) {
    const float least = least_by(by);
    uint32_t left = 0;
    for (uint32_t i = 0; i < waiting->count; i++) {
        waiting->held[left] = waiting->held[i];
        left += waiting->held[i].most >= least;
    }
    waiting->count = left;
}

static void defer(sketch_task *by, deferred *waiting, const candidate one, void (*settle)(sketch_task *)) {
    if (waiting->count == DEFERRED) {
        drop(by, waiting);
        if (waiting->count > DEFERRED / 2)
            settle(by);
    }
    waiting->held[waiting->count++] = one;
}

/* What waits lies far apart, and is read in less time than it takes to come. */
static void prefetch(const uint8_t *bytes, size_t count) {
    for (size_t at = 0; at < count; at += 64)
        __builtin_prefetch(bytes + at);
}

static void look_at_fine(sketch_task *by) {
    deferred *waiting = &by->fine;
    drop(by, waiting);
    for (uint32_t i = 0; i < waiting->count; i++) {
        const candidate one = waiting->held[i];
        if (i + 1 < waiting->count) {
            const candidate next = waiting->held[i + 1];
            prefetch(kb_vectors_components(next.part->vectors, next.record), 4 * (size_t)by->search->dimensions);
        }
        if (one.most >= least_by(by))
            look_at(by->search, one.part, one.record);
    }
    waiting->count = 0;
}

static const uint8_t *fine_codes(const candidate *one) {
    const kb_sketches *sketches = one->part->sketches;
    return sketches->fine.codes + (size_t)one->record * sketches->lines * KB_SKETCH_LINE;
}

/* Reads the fine layer of a record, of which the coarse one says what its cosine is at most. */
static void refine(sketch_task *by, const candidate one) {
    const kb_sketch_bound bound = kb_sketch_refine(one.part->sketches, by->ways, one.record, by->query, one.most);
    add_floor(&by->known, bound.least);
    if (bound.most >= least_by(by))
        defer(by, &by->fine, (candidate){one.part, one.record, bound.most}, look_at_fine);
}

static void refine_coarse(sketch_task *by) {
    deferred *waiting = &by->coarse;
    drop(by, waiting);
    for (uint32_t i = 0; i < waiting->count; i++) {
        if (i + AHEAD < waiting->count) {
            const candidate *later = &waiting->held[i + AHEAD];
            prefetch(fine_codes(later), (size_t)later->part->sketches->lines * KB_SKETCH_LINE);
        }
        if (waiting->held[i].most >= least_by(by))
            refine(by, waiting->held[i]);
    }
    waiting->count = 0;
}

/* Goes through one block. Of vectors that are about as good as what has to be reached the fine layer is read at once,
 * so that it rises quickly; those that only may be wait, and few of them are still worth a look in the end. */
static void look_at_block(sketch_task *by, uint32_t block) {
    const kb_vector_part *part = by->search->part;
    float most[KB_SKETCH_BLOCK];
    uint64_t left = candidates(by->search, block);
    if (left != 0)
        left &= by->ways->find(part->sketches, block, by->query, least_by(by), most);
    for (; left != 0; left &= left - 1) {
        const uint32_t place = (uint32_t)__builtin_ctzll(left);
        const candidate one = {part, block * KB_SKETCH_BLOCK + place, most[place]};
        const float least = least_by(by);
        if (one.most - (part->sketches->coarse.errors[one.record] + by->query->error) >= least)
            refine(by, one);
        else if (one.most >= least)
            defer(by, &by->coarse, one, refine_coarse);
    }
}

static void look_at_best(sketch_task *by) {
    for (uint32_t block = 0; block < kb_bitmap_words(by->search->part->vectors->count); block++)
        look_at_block(by, block);
}

kb_status kb_vector_search(const kb_vector_searcher *searcher, const uint8_t *query, const uint8_t *const *allowed,
                           uint32_t limit, const kb_vector_ways *ways, kb_vector_hit *hits, uint32_t *count) {
    const uint32_t dimensions = searcher->dimensions;
    double *wide = malloc((size_t)dimensions * sizeof *wide);
    int8_t *codes = malloc(kb_sketch_query_bytes(dimensions));
    const uint32_t room = limit < searcher->sections ? limit : (uint32_t)searcher->sections;
    float *values = malloc(((size_t)room + 1) * sizeof *values);
    sketch_task *by = malloc(sizeof *by);
    task search = {.allowed = allowed, .dot = ways->dot, .query = wide, .dimensions = dimensions, .hits = hits};
    kb_sketch_query sketch;
    kb_status status = wide == NULL || codes == NULL || values == NULL || by == NULL ? KB_E_MEMORY : KB_OK;
    if (status == KB_OK) {
        kb_dot_widen(query, dimensions, wide);
        search.length = sqrt(ways->dot(wide, query, dimensions));
        search.limit = search.length > 0.0 ? room : 0;
    }
    if (search.limit > 0) {
        kb_sketch_query_new(wide, dimensions, search.length, codes, &sketch);
        by->search = &search;
        by->ways = ways->sketches;
        by->query = &sketch;
        by->known = (floors){values, room, 0};
        by->coarse.count = by->fine.count = 0;
    }
    for (uint32_t i = 0; i < searcher->count && search.limit > 0; i++) {
        search.part = &searcher->parts[i];
        if (ways->sketches == NULL || search.part->sketches == NULL)
            look_at_all(&search);
        else
            look_at_best(by);
    }
    if (search.limit > 0) {
        refine_coarse(by);
        look_at_fine(by);
    }
    finish(&search);
    *count = search.count;
    free(wide);
    free(codes);
    free(values);
    free(by);
    return status;
}
