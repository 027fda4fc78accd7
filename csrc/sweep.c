/* Sweeps the postings of a plan's stems over windows of entries. */
#include "sweep.h"

#include <string.h>

#define UNITS 65000.0      /* all bounds together: a lane holds 65,535, and each bound is rounded up */
#define LEAST_SUM 1e-300   /* of all bounds: below it nothing is told apart, so that the scale stays finite */
#define FIRST_WINDOW 4096u /* small, because nothing tells yet which entries matter */
#define SAMPLE 4096u       /* entries by which the number of candidates is estimated */
#define SEEK_COST 32.0     /* looking up one posting takes as long as sweeping so many */
#define SCALED_MAX 1e9     /* only a stem whose every saturation is 0 has more: then no bound is above 1 */
#define SLACK (1.0 - 1e-9) /* of the heap's worst score in units: more than rounding can take */

typedef struct {
    kb_search_task *search;
    kb_lanes_find find;
    kb_sweep_clause *order[KB_CLAUSES_MAX]; /* by falling `most` */
    uint32_t count;
    uint32_t swept; /* the first so many are swept, the others looked up */
    uint32_t rest;  /* units: the sum of `most` over the others */
    double scale;   /* units a score */
    kb_sweep_clause *by_number[KB_CLAUSES_MAX];
    const uint8_t *codes; /* the length codes of corpus.dat */
    uint32_t start;       /* of the window */
    uint32_t end;
} sweep;

static kb_status open_clause(const sweep *work, uint32_t number, kb_sweep_clause *clause) {
    const kb_search_task *search = work->search;
    const kb_alternative *alternative = &search->plan->clauses[number].alternatives[0];
    const kb_stem *stem = &alternative->terms[0]->stems[search->segment];
    uint32_t impact = 0;
    clause->number = number;
    clause->df = stem->df;
    clause->factor = alternative->weight * alternative->idf;
    clause->reach = 0;
    kb_status status = kb_postings_open(&search->view->segment->terms, stem, &clause->swept, search->error);
    if (status != KB_OK)
        return status;
    for (uint32_t i = 0; i < kb_postings_blocks(stem->df); i++) {
        uint32_t other = kb_postings_impact(&clause->swept, i);
        impact = other > impact ? other : impact;
    }
    clause->impact = kb_search_bound(search->view, impact);
    return kb_postings_open(&search->view->segment->terms, stem, &clause->sought, search->error);
}

/* The units of a share, rounded up; at most `most`, which no share is above. */
static uint32_t units_of(const kb_sweep_clause *clause, double saturation) {
    uint32_t units = (uint32_t)(clause->scaled * saturation) + 1;
    return units < clause->most ? units : clause->most;
}

static void prepare_clause(const sweep *work, kb_sweep_clause *clause) {
    const kb_bm25f_tables *tables = work->search->searcher->bm25f.tables;
    const double scaled = work->scale * clause->factor;
    const double factor = scaled < SCALED_MAX ? scaled : SCALED_MAX;
    const int32_t most = (int32_t)(factor * clause->impact) + 1;
    clause->scaled = factor;
    clause->most = (uint32_t)most;
    for (uint32_t code = 0; code < KB_CODE_EXCEPTION; code++) {
        for (uint32_t length = 0; length <= KB_LENGTH_CODE_MAX; length++) {
            int32_t units = (int32_t)(factor * tables->most[code][length]) + 1;
            clause->units[code][length] = (uint16_t)(units < most ? units : most);
        }
    }
    memset(clause->units[KB_CODE_EXCEPTION], 0, sizeof clause->units[KB_CODE_EXCEPTION]);
}

static void sort(sweep *work) {
    for (uint32_t i = 1; i < work->count; i++) {
        kb_sweep_clause *moved = work->order[i];
        uint32_t at = i;
        for (; at > 0 && work->order[at - 1]->most < moved->most; at--)
            work->order[at] = work->order[at - 1];
        work->order[at] = moved;
    }
}

/* Opens the clauses that the segment holds, and chooses the units. */
static kb_status open_clauses(sweep *work) {
    const kb_plan *plan = work->search->plan;
    double sum = 0.0;
    for (uint32_t i = 0; i < plan->count; i++) {
        if (plan->clauses[i].alternatives[0].terms[0]->stems[work->search->segment].df == 0)
            continue;
        kb_sweep_clause *clause = &work->search->scratch->clauses[work->count];
        work->order[work->count++] = work->by_number[i] = clause;
        kb_status status = open_clause(work, i, clause);
        if (status != KB_OK)
            return status;
        sum += clause->factor * clause->impact;
    }
    work->scale = sum > LEAST_SUM ? UNITS / sum : 0.0;
    for (uint32_t i = 0; i < work->count; i++)
        prepare_clause(work, work->order[i]);
    sort(work);
    work->swept = work->count;
    return KB_OK;
}

/* Adds the bound of an exception, which is the block's next one. */
static kb_status add_exception(const sweep *work, kb_sweep_clause *clause, uint32_t entry) {
    kb_postings *postings = &clause->swept;
    kb_status status = kb_postings_exception(postings, work->search->error);
    if (status != KB_OK)
        return status;
    double most = kb_bm25f_most(&work->search->searcher->bm25f, postings->mask, postings->frequencies,
                                work->codes + entry, work->search->view->segment->entries);
    uint16_t *lane = &work->search->scratch->lanes[entry - work->start];
    *lane = (uint16_t)(*lane + units_of(clause, most));
    return KB_OK;
}

/* Adds the bounds of exceptions among postings `from` to `end - 1` of the block. */
static kb_status add_exceptions(const sweep *work, kb_sweep_clause *clause, uint32_t from, uint32_t end) {
    const kb_postings *postings = &clause->swept;
    for (uint32_t at = from - from % 4; at < end; at += 32) {
        uint64_t exceptions = kb_postings_exceptions(kb_postings_codes(postings, at, end));
        for (; exceptions != 0; exceptions &= exceptions - 1) {
            uint32_t number = at + (uint32_t)__builtin_ctzll(exceptions) / 2;
            if (number < from)
                continue; /* read before */
            kb_status status = add_exception(work, clause, postings->entries[number]);
            if (status != KB_OK)
                return status;
        }
    }
    return end == postings->count ? kb_postings_block_end(postings, work->search->error) : KB_OK;
}

/* Adds the bounds of postings `from` to `end - 1` of the block, but of exceptions 0. */
static void add_units(const sweep *work, const kb_sweep_clause *clause, uint32_t from, uint32_t end) {
    const uint32_t start = work->start;
    uint16_t *restrict lanes = work->search->scratch->lanes;
    const uint8_t *restrict lengths = work->codes + (size_t)KB_BODY * work->search->view->segment->entries + start;
    const uint8_t *restrict codes = clause->swept.codes;
    const uint32_t *restrict entries = clause->swept.entries;
    const uint16_t *restrict units = clause->units[0];
#define ADD(i, code)                                                                                       \
    do {                                                                                                   \
        uint32_t at = entries[i] - start;                                                                  \
        lanes[at] = (uint16_t)(lanes[at] + units[((code) & 3u) * (KB_LENGTH_CODE_MAX + 1) + lengths[at]]); \
    } while (0)
    for (; from < end && from % 4 != 0; from++)
        ADD(from, codes[from / 4] >> from % 4 * 2);
    for (; from + 4 <= end; from += 4) {
        uint32_t four = codes[from / 4];
        ADD(from, four);
        ADD(from + 1, four >> 2);
        ADD(from + 2, four >> 4);
        ADD(from + 3, four >> 6);
    }
    for (; from < end; from++)
        ADD(from, codes[from / 4] >> from % 4 * 2);
#undef ADD
}

/* Adds the bounds of the block's postings that lie in the window. */
static kb_status add_block(const sweep *work, kb_sweep_clause *clause) {
    const kb_postings *postings = &clause->swept;
    uint32_t from = clause->reach;
    uint32_t end = postings->count;
    while (end > from && postings->entries[end - 1] >= work->end)
        end--;
    add_units(work, clause, from, end);
    clause->reach = end;
    return postings->exceptions.next == postings->exceptions.end ? KB_OK : add_exceptions(work, clause, from, end);
}

static kb_status add_clause(const sweep *work, kb_sweep_clause *clause) {
    kb_postings *postings = &clause->swept;
    uint32_t blocks = kb_postings_blocks(clause->df);
    for (;;) {
        if (postings->count > 0) {
            kb_status status = add_block(work, clause);
            if (status != KB_OK || clause->reach < postings->count)
                return status;
        }
        uint32_t next = postings->count > 0 ? postings->block + 1 : 0;
        if (next == blocks)
            return KB_OK;
        kb_status status = kb_postings_block(postings, next, work->search->error);
        if (status != KB_OK)
            return status;
        clause->reach = 0;
    }
}

static bool is_full(const sweep *work) { return work->search->topk->count == work->search->topk->limit; }

/* What the swept bounds of an entry must reach, when those of so many units are missing; past the largest lane when
 * none can. */
static uint32_t need_of(const sweep *work, uint32_t missing) {
    double need = work->search->topk->hits[0].score * work->scale * SLACK - (double)missing;
    return need < 1.0 ? 1 : need > 65536.0 ? 65536 : (uint32_t)need;
}

/* Chooses how many stems to sweep from here on: fewer cost less to sweep and leave more candidates to look up. */
static void choose_swept(sweep *work) {
    const kb_scratch *scratch = work->search->scratch;
    uint32_t size = work->end - work->start < SAMPLE ? work->end - work->start : SAMPLE;
    uint32_t lanes = (size + 63) / 64 * 64;
    double share = (double)size / work->search->view->segment->entries;
    double postings = 0.0;
    double least = 0.0;
    uint32_t rest = work->rest;
    for (uint32_t i = 0; i < work->swept; i++)
        postings += work->order[i]->df * share;
    uint32_t best = work->swept;
    uint32_t best_rest = work->rest;
    for (uint32_t swept = work->swept; swept > 0; swept--) {
        uint32_t need = need_of(work, rest);
        uint32_t candidates = 0;
        if (need == 1 && swept < work->swept)
            break;
        if (need <= UINT16_MAX)
            work->find(scratch->lanes, lanes, (uint16_t)need, scratch->found);
        for (uint32_t i = 0; i < lanes / 64 && need <= UINT16_MAX; i++)
            candidates += kb_popcount(scratch->found[i]);
        double seeks = SEEK_COST * work->count * candidates;
        if (swept < work->swept && seeks > least)
            break; /* fewer swept stems leave no fewer candidates */
        double cost = postings + seeks;
        if (swept == work->swept || cost < least) {
            least = cost;
            best = swept;
            best_rest = rest;
        }
        postings -= work->order[swept - 1]->df * share;
        rest += work->order[swept - 1]->most;
    }
    work->swept = best;
    work->rest = best_rest;
}

/* Scores an entry exactly, in the plan's order. */
static kb_status score(const sweep *work, uint32_t entry) {
    kb_search_task *search = work->search;
    kb_hit hit = {search->segment, entry, 0.0, 0, NULL};
    for (uint32_t i = 0; i < search->plan->count; i++) {
        kb_sweep_clause *clause = work->by_number[i];
        bool found = false;
        double saturation = 0.0;
        if (clause == NULL)
            continue;
        kb_postings *postings = &clause->sought;
        kb_status status = kb_postings_seek(postings, entry, &found, search->error);
        if (status == KB_OK && (!found || postings->entry != entry))
            continue;
        if (status == KB_OK)
            status = kb_search_saturation(search, entry, postings->mask, postings->frequencies, &saturation);
        if (status != KB_OK)
            return status;
        hit.score = hit.score + clause->factor * saturation;
        hit.matched |= (uint64_t)1 << i;
    }
    return kb_topk_add(search->topk, &hit, search->error);
}

/* Scores the window's live and allowed entries whose bounds are from `need` to below `end`. */
static kb_status score_candidates(const sweep *work, uint32_t need, uint32_t end) {
    kb_scratch *scratch = work->search->scratch;
    uint32_t words = (work->end - work->start + 63) / 64;
    kb_status status = KB_OK;
    if (need >= end)
        return KB_OK;
    work->find(scratch->lanes, words * 64, (uint16_t)need, scratch->found);
    for (uint32_t i = 0; i < words && status == KB_OK; i++) {
        if (scratch->found[i] == 0)
            continue;
        uint64_t left = scratch->found[i] & kb_search_candidates(work->search, work->start / 64 + i);
        for (; left != 0 && status == KB_OK; left &= left - 1) {
            uint32_t at = i * 64 + (uint32_t)__builtin_ctzll(left);
            uint32_t lane = scratch->lanes[at];
            if (lane < end && !(is_full(work) && lane < need_of(work, work->rest)))
                status = score(work, work->start + at);
        }
    }
    return status;
}

#define BIN_BITS 8u /* lanes are counted in 256 bins */

/* The bound that as many live and allowed entries of the window reach as the heap still takes; 1 when fewer do. */
static uint32_t need_to_fill(const sweep *work) {
    const kb_scratch *scratch = work->search->scratch;
    uint32_t counts[1u << (16 - BIN_BITS)] = {0};
    uint32_t words = (work->end - work->start + 63) / 64;
    uint32_t wanted = work->search->topk->limit - work->search->topk->count;
    work->find(scratch->lanes, words * 64, 1, scratch->found);
    for (uint32_t i = 0; i < words; i++) {
        uint64_t left = scratch->found[i] & kb_search_candidates(work->search, work->start / 64 + i);
        for (; left != 0; left &= left - 1)
            counts[scratch->lanes[i * 64 + (uint32_t)__builtin_ctzll(left)] >> BIN_BITS]++;
    }
    uint32_t reached = 0;
    for (uint32_t bin = 1u << (16 - BIN_BITS); bin-- > 0;) {
        reached += counts[bin];
        if (reached >= wanted)
            return bin == 0 ? 1 : bin << BIN_BITS;
    }
    return 1;
}

/* Counts the window's matching entries. All stems were swept. */
static void count_window(const sweep *work) {
    const kb_scratch *scratch = work->search->scratch;
    uint32_t words = (work->end - work->start + 63) / 64;
    work->find(scratch->lanes, words * 64, 1, scratch->found);
    for (uint32_t i = 0; i < words; i++)
        work->search->total +=
            kb_popcount(scratch->found[i] & kb_search_candidates(work->search, work->start / 64 + i));
}

static kb_status search_window(sweep *work) {
    kb_status status = KB_OK;
    bool counts = work->search->total <= work->search->total_limit;
    uint64_t size = work->end - work->start;
    const kb_table *codes = &work->search->view->segment->corpus.codes;
    for (uint32_t field = 0; field < KB_FIELDS && status == KB_OK; field++) {
        const uint8_t *bytes = NULL;
        uint64_t at = (uint64_t)field * work->search->view->segment->entries + work->start;
        status = kb_table_bytes(codes, at, size, &bytes, work->search->error);
    }
    work->codes = codes->bytes;
    for (uint32_t i = 0; i < work->swept && status == KB_OK; i++)
        status = add_clause(work, work->order[i]);
    if (status == KB_OK && counts)
        count_window(work);
    uint32_t end = 65536;
    if (status == KB_OK && !is_full(work)) {
        uint32_t need = need_to_fill(work);
        status = score_candidates(work, need, end);
        end = need;
        for (uint32_t i = 0; i < work->count; i++)
            kb_postings_rewind(&work->order[i]->sought); /* the next candidates are from the whole window again */
    }
    if (status == KB_OK && is_full(work))
        status = score_candidates(work, need_of(work, work->rest), end);
    if (status == KB_OK && is_full(work) && work->search->total > work->search->total_limit)
        choose_swept(work);
    return status;
}

kb_status kb_sweep(kb_search_task *task, kb_lanes_find find) {
    sweep work = {.search = task, .find = find};
    uint32_t entries = task->view->segment->entries;
    uint32_t size = FIRST_WINDOW;
    kb_status status = kb_scratch_lanes(task->scratch, task->plan->count);
    if (status != KB_OK)
        return status;
    status = open_clauses(&work);
    for (uint32_t start = 0; start < entries && status == KB_OK; start = work.end) {
        work.start = start;
        work.end = entries - start < size ? entries : start + size;
        status = search_window(&work);
        memset(task->scratch->lanes, 0, size * sizeof *task->scratch->lanes);
        size = size * 2 < KB_WINDOW ? size * 2 : KB_WINDOW;
    }
    return status;
}
