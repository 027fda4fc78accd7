/* Merges words, stems, postings and positions (README.md sections 4 and 5). */
#include <stdlib.h>
#include <string.h>

#include "bitmap.h"
#include "lists_write.h"
#include "merge_task.h"

#define WORD_OFFSETS 0u
#define WORD_RECORDS 2u
#define STEM_OFFSETS 3u
#define STEM_RECORDS 5u
#define POSTINGS 6u

/* The words of a part. A word's place is that of its form among the forms of all stems. */
typedef struct {
    uint32_t *bases; /* by stem: the place of its first form; and one more, the end */
    uint32_t *forms; /* by place: the word's form in the merged segment, KB_NONE when it does not occur */
} part_words;

/* A walk over the kept postings of one part's stem. */
typedef struct {
    uint32_t part;
    uint32_t entry; /* of the merged segment, that the walk is at */
    const uint32_t *numbers;
    const uint32_t *forms; /* by form of the stem */
    kb_postings postings;
    kb_positions positions;
} source;

typedef struct {
    kb_merge_task *merge;
    part_words *parts;
    kb_union words;
    kb_union stems;
    uint32_t *stem_forms; /* by stem of the merged segment: its forms, counted */
    uint32_t most_forms;  /* of a stem */
    uint8_t *seen;        /* by form: whether the current stem was met as it */
    source *sources;      /* one a part */
    source **walking;     /* those that are at a posting of the current stem */
    uint32_t walking_count;
    uint8_t *places; /* of all entries; places.h */
    kb_bm25f bm25f;
    kb_bm25f_tables *tables; /* of a segment that is not small */
    kb_lists_writer lists;
} terms_task;

static const kb_terms *terms_of(terms_task *task, uint32_t part) { return &kb_merge_read(task->merge, part)->terms; }

/* Fills `bases`, and makes sure that words are numbered by rank among those of their stem. */
static kb_status read_forms(terms_task *task, uint32_t part, uint32_t *ranks, kb_error *error) {
    const kb_terms *terms = terms_of(task, part);
    uint32_t *bases = task->parts[part].bases;
    uint64_t base = 0;
    for (uint32_t i = 0; i < terms->words.count; i++) {
        kb_word word;
        kb_status status = kb_terms_word(terms, i, &word, error);
        if (status != KB_OK)
            return status;
        if (word.form != ranks[word.stem]++)
            return kb_corrupt(KB_FILE_TERMS, terms->word_records.offset + (uint64_t)i * terms->shape.word,
                              "a word's form is not its rank", error);
    }
    for (uint32_t i = 0; i < terms->stems.count; i++) {
        kb_stem stem;
        kb_status status = kb_terms_stem(terms, i, &stem, error);
        if (status != KB_OK)
            return status;
        if (stem.forms != ranks[i])
            return kb_corrupt(KB_FILE_TERMS, terms->stem_records.offset + (uint64_t)i * terms->shape.stem,
                              "a stem's forms are not as many as its words", error);
        bases[i] = (uint32_t)base;
        base += stem.forms;
    }
    bases[terms->stems.count] = (uint32_t)base;
    return KB_OK;
}

/* Marks, with 0 in place of KB_NONE, the forms of a stem that occur in kept entries. */
static kb_status find_forms(const kb_terms *terms, const uint8_t *keep, uint32_t number, uint32_t *forms,
                            kb_error *error) {
    kb_stem stem;
    kb_postings postings;
    kb_positions positions;
    kb_status status = kb_terms_stem(terms, number, &stem, error);
    uint32_t missing = status == KB_OK ? stem.forms : 0;
    if (status == KB_OK)
        status = kb_postings_open(terms, &stem, &postings, error);
    if (status == KB_OK)
        status = kb_positions_open(terms, &stem, &positions, error);
    while (status == KB_OK && missing > 0 && postings.left > 0) {
        status = kb_postings_next(&postings, error);
        if (status != KB_OK || !kb_bitmap_has(keep, postings.entry))
            continue;
        for (uint32_t field = 0; field < KB_FIELDS && status == KB_OK; field++) {
            if (postings.frequencies[field] > 0)
                status = kb_positions_seek(&positions, &postings, field, error);
            for (uint32_t i = 0; i < postings.frequencies[field] && status == KB_OK; i++) {
                status = kb_positions_next(&positions, error);
                if (status == KB_OK && forms[positions.form] == KB_NONE) {
                    forms[positions.form] = 0;
                    missing--;
                }
            }
        }
    }
    return status;
}

static kb_status find_all_forms(terms_task *task, uint32_t part, kb_error *error) {
    const kb_terms *terms = terms_of(task, part);
    const kb_merge_part *from = &task->merge->order->parts[part];
    const part_words *words = &task->parts[part];
    kb_status status = KB_OK;
    if (kb_bitmap_count(from->keep, from->segment->entries) == from->segment->entries)
        return KB_OK;
    memset(words->forms, 0xFF, terms->words.count * sizeof *words->forms);
    for (uint32_t i = 0; i < terms->stems.count && status == KB_OK; i++)
        status = find_forms(terms, from->keep, i, words->forms + words->bases[i], error);
    return status;
}

/* Leaves words and stems that occur in no kept entry of the part out of the unions. */
static kb_status leave_out(terms_task *task, uint32_t part, kb_error *error) {
    const kb_terms *terms = terms_of(task, part);
    const part_words *words = &task->parts[part];
    uint32_t *word_numbers = task->words.sets[part].numbers;
    uint32_t *stem_numbers = task->stems.sets[part].numbers;
    memset(stem_numbers, 0xFF, terms->stems.count * sizeof *stem_numbers);
    for (uint32_t i = 0; i < terms->words.count; i++) {
        kb_word word;
        kb_status status = kb_terms_word(terms, i, &word, error);
        if (status != KB_OK)
            return status;
        word_numbers[i] = words->forms[words->bases[word.stem] + word.form];
        if (word_numbers[i] != KB_NONE)
            stem_numbers[word.stem] = 0;
    }
    return KB_OK;
}

static kb_status read_part(terms_task *task, uint32_t part, kb_error *error) {
    const kb_terms *terms = terms_of(task, part);
    part_words *words = &task->parts[part];
    uint32_t *ranks = calloc((size_t)terms->stems.count + 1, sizeof *ranks);
    words->bases = calloc((size_t)terms->stems.count + 1, sizeof *words->bases);
    words->forms = calloc((size_t)terms->words.count + 1, sizeof *words->forms);
    kb_status status = ranks && words->bases && words->forms ? KB_OK : KB_E_MEMORY;
    if (status == KB_OK)
        status = read_forms(task, part, ranks, error);
    free(ranks);
    if (status == KB_OK)
        status = find_all_forms(task, part, error);
    if (status == KB_OK)
        status = kb_union_add_strings(&task->words, part, &terms->words);
    if (status == KB_OK)
        status = kb_union_add_strings(&task->stems, part, &terms->stems);
    return status == KB_OK ? leave_out(task, part, error) : status;
}

/* Gives the current word of the union its form; its stem must be the same in all parts. */
static kb_status number_form(terms_task *task, kb_error *error) {
    const kb_union *words = &task->words;
    uint32_t stem = KB_NONE;
    uint32_t form = 0;
    for (uint32_t i = 0; i < words->holders_count; i++) {
        uint32_t part = words->holders[i];
        const kb_terms *terms = terms_of(task, part);
        kb_word word;
        kb_status status = kb_terms_word(terms, words->sets[part].at, &word, error);
        if (status != KB_OK)
            return status;
        uint32_t number = task->stems.sets[part].numbers[word.stem];
        if (stem != KB_NONE && number != stem)
            return kb_corrupt(KB_FILE_TERMS,
                              terms->word_records.offset + (uint64_t)words->sets[part].at * terms->shape.word,
                              "a word has another stem than in an earlier segment", error);
        if (stem == KB_NONE)
            form = task->stem_forms[number]++;
        stem = number;
        task->parts[part].forms[task->parts[part].bases[word.stem] + word.form] = form;
    }
    return KB_OK;
}

static kb_status number_forms(terms_task *task, kb_error *error) {
    kb_status status = KB_OK;
    uint32_t most = 0;
    for (kb_union_walk(&task->words); status == KB_OK && kb_union_next(&task->words);)
        status = number_form(task, error);
    for (uint32_t i = 0; i < task->stems.count; i++)
        most = task->stem_forms[i] > most ? task->stem_forms[i] : most;
    task->most_forms = most;
    task->lists.shape = kb_terms_shape_of(task->merge->entries.count, task->stems.count, most);
    return status;
}

static kb_status put_words(terms_task *task, kb_error *error) {
    kb_container_writer *file = &task->merge->files[KB_FILE_TERMS];
    const kb_union *words = &task->words;
    const kb_terms_shape *shape = &task->lists.shape;
    uint32_t end = 0;
    kb_status status = kb_merge_begin_strings(words, file, WORD_OFFSETS);
    kb_region_begin_table(file, WORD_RECORDS, (uint64_t)words->count * shape->word);
    for (kb_union_walk(&task->words); status == KB_OK && kb_union_next(&task->words);) {
        uint32_t part = words->holders[0];
        kb_word word = {0};
        status = kb_merge_put_string(task->merge, words, file, WORD_OFFSETS, &end, error);
        if (status == KB_OK)
            status = kb_terms_word(terms_of(task, part), words->sets[part].at, &word, error);
        if (status != KB_OK)
            break;
        uint32_t form = task->parts[part].forms[task->parts[part].bases[word.stem] + word.form];
        uint8_t record[8];
        kb_store_u32(record, task->stems.sets[part].numbers[word.stem]);
        kb_store_u32(record + shape->word_stem, form);
        kb_region_put(file, WORD_RECORDS, record, shape->word);
    }
    kb_merge_end_strings(file, WORD_OFFSETS);
    kb_region_end(file, WORD_RECORDS);
    return status;
}

#define AHEAD 8u /* postings: reading on to the one that is prefetched takes as long as memory does */

/* Moves a walk to its next posting that is kept; *found is false when there is none. Begins to load what this posting,
 * and later ones, need of their entries. (In a function of its own, a compiler may take prefetches for nothing.) */
static kb_status advance(const terms_task *task, source *from, bool *found, kb_error *error) {
    const kb_merged_entry *merged = task->merge->merged;
    const kb_postings *postings = &from->postings;
    for (*found = false; postings->left > 0 && !*found;) {
        kb_status status = kb_postings_next(&from->postings, error);
        if (status != KB_OK)
            return status;
        from->entry = from->numbers[postings->entry];
        *found = from->entry != KB_NONE;
    }
    if (!*found)
        return KB_OK;
    const uint8_t *places = &task->places[merged[from->entry].first_place >> 3];
    __builtin_prefetch(places, 1);
    __builtin_prefetch(places + 40, 1); /* in the next line, if an entry of some 300 positions reaches into it */
    for (uint32_t i = postings->at == 0 ? 1 : AHEAD; i <= AHEAD && postings->at + i < postings->count; i++) {
        uint32_t later = from->numbers[postings->entries[postings->at + i]];
        if (later != KB_NONE)
            __builtin_prefetch(&merged[later], 1);
    }
    return KB_OK;
}

/* Begins the walks over the current stem in the parts that hold it. */
static kb_status open_sources(terms_task *task, kb_error *error) {
    task->walking_count = 0;
    for (uint32_t i = 0; i < task->stems.holders_count; i++) {
        uint32_t part = task->stems.holders[i];
        uint32_t number = task->stems.sets[part].at;
        const kb_terms *terms = terms_of(task, part);
        source *from = &task->sources[part];
        kb_stem stem;
        bool found = false;
        kb_status status = kb_terms_stem(terms, number, &stem, error);
        if (status == KB_OK)
            status = kb_postings_open(terms, &stem, &from->postings, error);
        if (status == KB_OK)
            status = kb_positions_open(terms, &stem, &from->positions, error);
        from->part = part;
        from->numbers = task->merge->entries.sets[part].numbers;
        from->forms = task->parts[part].forms + task->parts[part].bases[number];
        if (status == KB_OK)
            status = advance(task, from, &found, error);
        if (status != KB_OK)
            return status;
        if (found)
            task->walking[task->walking_count++] = from;
    }
    return KB_OK;
}

/* Writes the tokens of one field of the posting that a walk is at. */
static kb_status put_field(terms_task *task, source *from, uint32_t field, kb_error *error) {
    const kb_segment *segment = task->merge->order->parts[from->part].segment;
    const kb_merged_entry *entry = &task->merge->merged[from->entry];
    uint64_t first_place = entry->first_place;
    for (uint32_t i = 0; i < field; i++)
        first_place += entry->lengths[i];
    kb_status status = kb_positions_seek(&from->positions, &from->postings, field, error);
    uint64_t before = 0;
    for (uint32_t i = 0; i < from->postings.frequencies[field] && status == KB_OK; i++) {
        status = kb_positions_next(&from->positions, error);
        if (status != KB_OK)
            return status;
        uint32_t position = from->positions.position;
        uint32_t form = from->forms[from->positions.form];
        uint64_t token = (uint64_t)position << 32 | form;
        if (!kb_places_mark(task->places, first_place, entry->lengths[field], position))
            return kb_places_corrupt(segment, from->postings.entry, error);
        if (token < before)
            return kb_positions_corrupt(&from->positions, "positions in a field fall", error);
        before = token;
        task->seen[form] = 1;
        status = kb_lists_value(&task->lists, position, form);
    }
    return status;
}

static kb_status put_posting(terms_task *task, source *from, kb_error *error) {
    kb_merged_entry *entry = &task->merge->merged[from->entry];
    kb_status status = KB_OK;
    task->merge->current = from->part;
    for (uint32_t field = 0; field < KB_FIELDS && status == KB_OK; field++)
        if (from->postings.mask >> field & 1)
            status = put_field(task, from, field, error);
    entry->distinct += (from->postings.mask & 3) != 0;
    if (status == KB_OK)
        status = kb_lists_posting(&task->lists, from->entry, from->postings.frequencies, entry->lengths);
    return status;
}

/* Writes the postings of the current stem, those of all parts in the order of their entries. */
static kb_status put_postings(terms_task *task, kb_error *error) {
    kb_status status = open_sources(task, error);
    while (task->walking_count > 0 && status == KB_OK) {
        source **first = task->walking;
        bool found = false;
        for (uint32_t i = 1; i < task->walking_count; i++)
            if (task->walking[i]->entry < (*first)->entry)
                first = &task->walking[i];
        status = put_posting(task, *first, error);
        if (status == KB_OK)
            status = advance(task, *first, &found, error);
        if (status == KB_OK && !found)
            *first = task->walking[--task->walking_count];
    }
    return status;
}

static kb_status put_stem(terms_task *task, kb_error *error) {
    kb_container_writer *file = &task->merge->files[KB_FILE_TERMS];
    kb_lists_writer *lists = &task->lists;
    uint32_t forms = task->stem_forms[task->stems.number];
    memset(task->seen, 0, forms);
    kb_lists_begin(lists, forms);
    kb_status status = put_postings(task, error);
    if (status == KB_OK)
        status = kb_lists_end(lists);
    if (status != KB_OK)
        return status;
    const kb_terms *terms = terms_of(task, task->stems.holders[0]);
    if (memchr(task->seen, 0, forms) != NULL)
        return kb_corrupt(KB_FILE_TERMS, terms->words.offsets.offset, "a word occurs nowhere", error);
    kb_region_put(file, STEM_RECORDS, lists->records.data, lists->records.length);
    kb_region_put(file, POSTINGS, lists->postings.data, lists->postings.length);
    kb_region_put(&task->merge->files[KB_FILE_POSITIONS], 0, lists->positions.data, lists->positions.length);
    kb_lists_taken(lists);
    return KB_OK;
}

static kb_status put_stems(terms_task *task, kb_error *error) {
    kb_container_writer *file = &task->merge->files[KB_FILE_TERMS];
    kb_container_writer *positions = &task->merge->files[KB_FILE_POSITIONS];
    uint32_t end = 0;
    kb_status status = kb_merge_begin_strings(&task->stems, file, STEM_OFFSETS);
    kb_region_begin_table(file, STEM_RECORDS, ((uint64_t)task->stems.count + 1) * task->lists.shape.stem);
    kb_region_begin_lists(file, POSTINGS);
    kb_region_begin_lists(positions, 0);
    for (kb_union_walk(&task->stems); status == KB_OK && kb_union_next(&task->stems);) {
        status = kb_merge_put_string(task->merge, &task->stems, file, STEM_OFFSETS, &end, error);
        if (status == KB_OK)
            status = put_stem(task, error);
        if (status == KB_OK)
            status = file->status != KB_OK ? file->status : positions->status;
    }
    if (status == KB_OK)
        status = kb_lists_end_all(&task->lists);
    kb_region_put(file, STEM_RECORDS, task->lists.records.data, task->lists.records.length);
    kb_merge_end_strings(file, STEM_OFFSETS);
    kb_region_end(file, STEM_RECORDS);
    kb_region_end(file, POSTINGS);
    kb_region_end(positions, 0);
    return status;
}

/* Makes sure that each position of each entry was met. */
static kb_status check_places(terms_task *task, kb_error *error) {
    kb_union *entries = &task->merge->entries;
    for (kb_union_walk(entries); kb_union_next(entries);) {
        const kb_merged_entry *entry = &task->merge->merged[entries->number];
        uint64_t count = 0;
        for (uint32_t field = 0; field < KB_FIELDS; field++)
            count += entry->lengths[field];
        if (kb_places_check(task->places, entry->first_place, count))
            continue;
        uint32_t part = entries->holders[0];
        return kb_places_corrupt(kb_merge_read(task->merge, part), entries->sets[part].at, error);
    }
    return KB_OK;
}

static kb_status prepare(terms_task *task) {
    kb_merge_task *merge = task->merge;
    task->seen = malloc((size_t)task->most_forms + 1);
    task->sources = malloc(((size_t)merge->order->parts_count + 1) * sizeof *task->sources);
    task->walking = malloc(((size_t)merge->order->parts_count + 1) * sizeof *task->walking);
    if (task->seen == NULL || task->sources == NULL || task->walking == NULL)
        return KB_E_MEMORY;
    kb_bm25f_prepare(&merge->order->params, merge->entries.count, merge->totals, &task->bm25f);
    task->lists.bm25f = &task->bm25f;
    task->lists.entries_count = merge->entries.count;
    if (merge->entries.count >= KB_TABULATED_FROM) {
        task->tables = malloc(sizeof *task->tables);
        if (task->tables == NULL)
            return KB_E_MEMORY;
        kb_bm25f_tabulate(&task->bm25f, task->tables);
    }
    uint64_t place = 0;
    for (uint32_t i = 0; i < merge->entries.count; i++) {
        merge->merged[i].first_place = place;
        for (uint32_t field = 0; field < KB_FIELDS; field++)
            place += merge->merged[i].lengths[field];
    }
    task->places = calloc((size_t)(place / 8 + 1), 1);
    return task->places == NULL ? KB_E_MEMORY : KB_OK;
}

kb_status kb_merge_terms(kb_merge_task *merge, kb_error *error) {
    uint32_t count = merge->order->parts_count;
    terms_task task = {.merge = merge, .parts = calloc((size_t)count + 1, sizeof *task.parts)};
    kb_status status = task.parts == NULL ? KB_E_MEMORY : kb_union_new(count, &task.words);
    if (status == KB_OK)
        status = kb_union_new(count, &task.stems);
    for (uint32_t part = 0; part < count && status == KB_OK; part++)
        status = read_part(&task, part, error);
    if (status == KB_OK)
        status = kb_union_number(&task.stems, &merge->current, error);
    if (status == KB_OK)
        status = kb_union_number(&task.words, &merge->current, error);
    task.stem_forms = calloc((size_t)task.stems.count + 1, sizeof *task.stem_forms);
    if (status == KB_OK)
        status = task.stem_forms == NULL ? KB_E_MEMORY : number_forms(&task, error);
    if (status == KB_OK)
        status = put_words(&task, error);
    kb_union_free(&task.words);
    if (status == KB_OK)
        status = prepare(&task);
    if (status == KB_OK)
        status = put_stems(&task, error);
    if (status == KB_OK)
        status = check_places(&task, error);
    for (uint32_t part = 0; part < count && task.parts != NULL; part++) {
        free(task.parts[part].bases);
        free(task.parts[part].forms);
    }
    free(task.parts);
    kb_union_free(&task.stems);
    free(task.stem_forms);
    free(task.seen);
    free(task.sources);
    free(task.walking);
    free(task.places);
    free(task.tables);
    kb_lists_writer_free(&task.lists);
    return status;
}
