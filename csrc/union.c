/* The union of sorted sets. There are few sets, so the least of their next strings is found by looking at each. */
#include "union.h"

#include <stdlib.h>
#include <string.h>

kb_status kb_union_new(uint32_t sets, kb_union *all) {
    all->sets = calloc((size_t)sets + 1, sizeof *all->sets);
    all->holders = calloc((size_t)sets + 1, sizeof *all->holders);
    if (all->sets == NULL || all->holders == NULL)
        return KB_E_MEMORY;
    all->sets_count = sets;
    return KB_OK;
}

void kb_union_free(kb_union *all) {
    for (uint32_t i = 0; i < all->sets_count; i++)
        free(all->sets[i].numbers);
    free(all->sets);
    free(all->holders);
    *all = (kb_union){0};
}

static kb_status add(kb_union_set *set, uint32_t count) {
    set->count = count;
    set->numbers = calloc((size_t)count + 1, sizeof *set->numbers);
    return set->numbers == NULL ? KB_E_MEMORY : KB_OK;
}

kb_status kb_union_add_strings(kb_union *all, uint32_t set, const kb_strings *strings) {
    all->sets[set].strings = strings;
    return add(&all->sets[set], strings->count);
}

kb_status kb_union_add_kbids(kb_union *all, uint32_t set, const kb_corpus *corpus) {
    all->sets[set].corpus = corpus;
    return add(&all->sets[set], corpus->entries);
}

static kb_status get(const kb_union_set *set, const uint8_t **bytes, uint32_t *length, kb_error *error) {
    if (set->strings != NULL)
        return kb_strings_get(set->strings, set->at, bytes, length, error);
    *length = KB_KBID_BYTES;
    return kb_corpus_kbid(set->corpus, set->at, bytes, error);
}

static int compare(const kb_union_set *left, const kb_union_set *right) {
    if (left->prefix != right->prefix)
        return left->prefix < right->prefix ? -1 : 1;
    uint32_t shorter = left->length < right->length ? left->length : right->length;
    int order = shorter <= 8 ? 0 : memcmp(left->bytes + 8, right->bytes + 8, shorter - 8);
    return order != 0 ? order : (left->length > right->length) - (left->length < right->length);
}

static void skip_left_out(kb_union_set *set) {
    while (set->at < set->count && set->numbers[set->at] == KB_NONE)
        set->at++;
}

/* Reads the string that comes next, if there is one; it must be above `before`, the one read last. */
static kb_status read_next(kb_union_set *set, const kb_union_set *before, kb_error *error) {
    skip_left_out(set);
    if (set->at == set->count)
        return KB_OK;
    kb_status status = get(set, &set->bytes, &set->length, error);
    if (status != KB_OK)
        return status;
    set->prefix = 0;
    for (uint32_t i = 0; i < 8; i++)
        set->prefix = set->prefix << 8 | (i < set->length ? set->bytes[i] : 0u);
    if (before != NULL && compare(before, set) >= 0) {
        const kb_table *table = set->strings != NULL ? &set->strings->bytes : &set->corpus->kbids;
        return kb_corrupt(table->file, table->offset + (uint64_t)(set->bytes - table->bytes),
                          "strings are not in ascending order", error);
    }
    return KB_OK;
}

/* Fills `holders` with the sets whose next string is the least. */
static void find_least(kb_union *all) {
    const kb_union_set *least = NULL;
    all->holders_count = 0;
    for (uint32_t i = 0; i < all->sets_count; i++) {
        const kb_union_set *set = &all->sets[i];
        if (set->at == set->count)
            continue;
        int order = least == NULL ? -1 : compare(set, least);
        if (order > 0)
            continue;
        if (order < 0)
            all->holders_count = 0;
        all->holders[all->holders_count++] = i;
        least = set;
    }
}

kb_status kb_union_number(kb_union *all, uint32_t *set, kb_error *error) {
    kb_status status = KB_OK;
    for (*set = 0; *set < all->sets_count; (*set)++) {
        all->sets[*set].at = 0;
        status = read_next(&all->sets[*set], NULL, error);
        if (status != KB_OK)
            return status;
    }
    for (find_least(all); all->holders_count > 0; find_least(all)) {
        all->bytes += all->sets[all->holders[0]].length;
        if (all->count == KB_NONE - 1)
            return KB_E_TOO_LARGE;
        for (uint32_t i = 0; i < all->holders_count; i++) {
            *set = all->holders[i];
            kb_union_set *holder = &all->sets[*set];
            kb_union_set before = *holder;
            holder->numbers[holder->at++] = all->count;
            status = read_next(holder, &before, error);
            if (status != KB_OK)
                return status;
        }
        all->count++;
    }
    return KB_OK;
}

void kb_union_walk(kb_union *all) {
    for (uint32_t i = 0; i < all->sets_count; i++) {
        all->sets[i].at = 0;
        skip_left_out(&all->sets[i]);
    }
    all->number = KB_NONE;
    all->holders_count = 0;
}

bool kb_union_next(kb_union *all) {
    for (uint32_t i = 0; i < all->holders_count; i++) {
        kb_union_set *holder = &all->sets[all->holders[i]];
        holder->at++;
        skip_left_out(holder);
    }
    all->number++;
    all->holders_count = 0;
    if (all->number == all->count)
        return false;
    for (uint32_t i = 0; i < all->sets_count; i++) {
        const kb_union_set *set = &all->sets[i];
        if (set->at < set->count && set->numbers[set->at] == all->number)
            all->holders[all->holders_count++] = i;
    }
    return true;
}

kb_status kb_union_string(const kb_union *all, const uint8_t **bytes, uint32_t *length, kb_error *error) {
    return get(&all->sets[all->holders[0]], bytes, length, error);
}
