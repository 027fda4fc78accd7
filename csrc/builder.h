/* Builds a segment's four files from texts (README.md sections 3 to 7).
 *
 * Three steps: collect (builder.c), give every word a stem (the caller, between), write (invert.c). One thread at a
 * time. After KB_E_MEMORY the builder stays usable, without the entry that failed.
 *
 *     kb_builder_new
 *     for each entry: kb_builder_analyse, kb_builder_fold as often as needed, kb_builder_filter ..., kb_builder_commit
 *     kb_builder_sort_words, kb_builder_set_stem for each word without, kb_builder_write
 */
#ifndef KB_BUILDER_H
#define KB_BUILDER_H

#include "bm25f.h"
#include "intern.h"
#include "segment.h"

/* A token of an entry being built: its word, and KB_TOKEN_STEP when it stands one position after the token before it;
 * the first of a field does not, and stands at 0. Tables hold at most 2^30 words. */
typedef uint32_t kb_token;

#define KB_TOKEN_STEP_SHIFT 30u
#define KB_TOKEN_STEP (1u << KB_TOKEN_STEP_SHIFT)
#define KB_TOKEN_WORD (KB_TOKEN_STEP - 1)

typedef struct {
    size_t first_token; /* of field 0; the other fields' follow */
    size_t first_filter;
    size_t first_reference;
    size_t stored_offset; /* of its own bytes */
    uint32_t stored_length;
    uint32_t shared; /* the number of the shared string that what is stored begins with, or KB_NONE */
    uint32_t filters;
    uint32_t references;
    uint32_t tokens[KB_FIELDS];
    uint32_t lengths[KB_FIELDS];
    bool listed;
} kb_built_entry;

/* An array of u32 that grows. */
typedef struct {
    uint32_t *items;
    size_t count;
    size_t capacity;
} kb_numbers;

typedef struct {
    uint64_t fingerprint;
    kb_params params; /* that impacts are made with */
    kb_intern kbids;  /* number i belongs to entries[i] */
    kb_intern removed;
    kb_intern words;
    kb_intern raws; /* words that are not ASCII, not yet folded */
    kb_intern stems;
    kb_intern filter_keys;
    kb_intern reference_keys;
    kb_intern shared;
    kb_numbers word_stems; /* by word: its stem, KB_NONE when it has none yet */
    kb_numbers raw_words;  /* by raw word: the word it folds to, KB_NONE when that is not known yet */
    kb_numbers filters;    /* keys of the entries, one entry after the other */
    kb_numbers references;
    kb_bytes stored;
    kb_token *tokens;
    size_t tokens_count;
    size_t tokens_capacity;
    kb_built_entry *entries;
    uint32_t entries_count;
    uint32_t entries_capacity;
    kb_built_entry open; /* the entry between analyse and commit */
    uint8_t open_kbid[KB_KBID_BYTES];
    uint32_t raws_folded;    /* raw words below this number have been folded */
    kb_numbers sorted_words; /* the words that occur, ascending; kb_builder_sort_words */
} kb_builder;

/* The struct must be zero before; the owner calls kb_builder_free, also after a failure. The seed is kb_intern's. */
kb_status kb_builder_new(uint64_t fingerprint, const kb_params *params, uint64_t seed, kb_builder *builder);
void kb_builder_free(kb_builder *builder);

/* Begins an entry: cuts its five texts (normalised; analysis.h) into tokens. Then, for each number from raws_folded to
 * raws.count - 1, the caller gives kb_builder_fold the folded form of that raw word. KB_E_ARGUMENT when the kbid is
 * there already; KB_E_UTF8, KB_E_TOO_LARGE, KB_E_MEMORY. */
kb_status kb_builder_analyse(kb_builder *builder, const uint8_t kbid[KB_KBID_BYTES], const kb_source texts[KB_FIELDS]);
kb_status kb_builder_fold(kb_builder *builder, const uint8_t *word, size_t length);

/* Adds a key to the open entry; in any order, each once. */
kb_status kb_builder_filter(kb_builder *builder, const uint8_t *key, size_t length);
kb_status kb_builder_reference(kb_builder *builder, const uint8_t *key, size_t length);

/* Completes the open entry. */
kb_status kb_builder_commit(kb_builder *builder, const uint8_t *stored, size_t length, bool listed);

/* Notes that a section of an older segment exists no more. */
kb_status kb_builder_remove(kb_builder *builder, const uint8_t kbid[KB_KBID_BYTES]);

/* Fills sorted_words. */
kb_status kb_builder_sort_words(kb_builder *builder);

/* Gives a word, which has none yet, its stem. */
kb_status kb_builder_set_stem(kb_builder *builder, uint32_t word, const uint8_t *stem, size_t length);

/* Writes the files, after kb_builder_sort_words and with a stem for each of sorted_words, to four empty buffers in the
 * order of kb_file. KB_E_TOO_LARGE, KB_E_MEMORY. The owner frees the buffers, also after a failure. The builder has
 * given its tokens up then: only kb_builder_free may follow. */
kb_status kb_builder_write(kb_builder *builder, kb_bytes files[KB_FILES]);

/* Lets go of all tokens, once they are written. */
void kb_builder_forget_tokens(kb_builder *builder);

/* Puts at the end. KB_E_MEMORY. */
kb_status kb_numbers_put(kb_numbers *numbers, uint32_t item);

#endif
