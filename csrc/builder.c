/* Collects entries for a segment: analysis, words, keys. invert.c writes. */
#include "builder.h"

#include <stdlib.h>
#include <string.h>

#include "analysis.h"
#include "cursor.h"

#define RAW_FLAG (1u << 31) /* in an open entry: the token's word is the number of a raw word */

kb_status kb_builder_new(uint64_t fingerprint, const kb_params *params, uint64_t seed, kb_builder *builder) {
    kb_intern *tables[] = {&builder->kbids, &builder->removed,     &builder->words,          &builder->raws,
                           &builder->stems, &builder->filter_keys, &builder->reference_keys, &builder->shared};
    builder->fingerprint = fingerprint;
    builder->params = *params;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (kb_intern_init(tables[i], seed) != KB_OK)
            return KB_E_MEMORY;
    return KB_OK;
}

void kb_builder_free(kb_builder *builder) {
    kb_intern *tables[] = {&builder->kbids, &builder->removed,     &builder->words,          &builder->raws,
                           &builder->stems, &builder->filter_keys, &builder->reference_keys, &builder->shared};
    kb_numbers *arrays[] = {&builder->word_stems, &builder->raw_words, &builder->filters, &builder->references,
                            &builder->sorted_words};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        kb_intern_free(tables[i]);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]->items);
    kb_bytes_free(&builder->stored);
    kb_builder_forget_tokens(builder);
    free(builder->entries);
    *builder = (kb_builder){0};
}

void kb_builder_forget_tokens(kb_builder *builder) {
    free(builder->tokens);
    builder->tokens = NULL;
    builder->tokens_count = builder->tokens_capacity = 0;
}

kb_status kb_numbers_put(kb_numbers *numbers, uint32_t item) {
    if (numbers->count == numbers->capacity) {
        size_t capacity = numbers->capacity == 0 ? 64 : numbers->capacity * 2;
        uint32_t *items = realloc(numbers->items, capacity * sizeof *items);
        if (items == NULL)
            return KB_E_MEMORY;
        numbers->items = items;
        numbers->capacity = capacity;
    }
    numbers->items[numbers->count++] = item;
    return KB_OK;
}

static kb_status reserve_token(kb_builder *builder) {
    if (builder->tokens_count < builder->tokens_capacity)
        return KB_OK;
    size_t capacity = builder->tokens_capacity == 0 ? 256 : builder->tokens_capacity * 2;
    kb_token *tokens = realloc(builder->tokens, capacity * sizeof *tokens);
    if (tokens == NULL)
        return KB_E_MEMORY;
    builder->tokens = tokens;
    builder->tokens_capacity = capacity;
    return KB_OK;
}

static size_t tokens_of(const kb_built_entry *entry) {
    size_t count = 0;
    for (uint32_t field = 0; field < KB_FIELDS; field++)
        count += entry->tokens[field];
    return count;
}

/* Forgets all that no entry owns. */
static void roll_back(kb_builder *builder) {
    const kb_built_entry none = {0};
    const kb_built_entry *last = builder->entries_count == 0 ? &none : &builder->entries[builder->entries_count - 1];
    builder->tokens_count = last->first_token + tokens_of(last);
    builder->filters.count = last->first_filter + last->filters;
    builder->references.count = last->first_reference + last->references;
    builder->stored.length = last->stored_offset + last->stored_length;
    builder->stored.failed = false;
}

/* The number of a word, in *word. */
static kb_status word_number(kb_builder *builder, const uint8_t *bytes, size_t length, uint32_t *word) {
    kb_status status = kb_intern_add(&builder->words, bytes, length, word);
    while (status == KB_OK && builder->word_stems.count < builder->words.count)
        status = kb_numbers_put(&builder->word_stems, KB_NONE);
    return status;
}

#define WAITING 16u /* tokens; a power of 2 */

/* A token whose word is asked for, and not looked up before others have been asked for too. */
typedef struct {
    kb_head head;
    uint32_t expected;
    size_t token;
} waiting_token;

/* The state of a text being cut. */
typedef struct {
    kb_builder *builder;
    const uint8_t *end; /* of the text */
    uint32_t position;  /* of the last token */
    uint32_t tokens;
    uint32_t asked;    /* tokens that wait or waited */
    uint32_t answered; /* of these */
    waiting_token waiting[WAITING];
} text_sink;

#define EACH_BYTE UINT64_C(0x0101010101010101)

/* Eight ASCII characters in lower case. */
static inline uint64_t lower_eight(uint64_t bytes) {
    uint64_t from_a = bytes + EACH_BYTE * (0x80 - 'A');
    uint64_t past_z = bytes + EACH_BYTE * (0x80 - 'Z' - 1);
    return bytes | (from_a & ~past_z & EACH_BYTE * 0x80) >> 2;
}

/* Sets *head to that of a token's word when it is ASCII and short, as most are. It takes no look at single bytes, and
 * no branch that depends on the length. */
static bool short_head(const text_sink *sink, const uint8_t *bytes, uint32_t length, kb_head *head) {
    uint8_t copy[16] = {0};
    if (length > KB_HEAD_BYTES)
        return false;
    if (sink->end - bytes < 16)
        bytes = memcpy(copy, bytes, length);
    uint64_t low = kb_load_u64(bytes) & (length < 8 ? (UINT64_C(1) << 8 * length) - 1 : UINT64_MAX);
    uint64_t high = kb_load_u64(bytes + 8) & (length < 8 ? 0 : (UINT64_C(1) << (8 * length - 64)) - 1);
    if ((low | high) & EACH_BYTE * 0x80)
        return false;
    *head = (kb_head){lower_eight(low), lower_eight(high) | (uint64_t)length << 56};
    return true;
}

/* Gives the token that waits longest its word. */
static kb_status answer(text_sink *sink) {
    const waiting_token *waiting = &sink->waiting[sink->answered++ % WAITING];
    kb_builder *builder = sink->builder;
    uint32_t word = 0;
    if (!kb_intern_find_short(&builder->words, waiting->head, waiting->expected, &word)) {
        uint8_t bytes[16];
        for (uint32_t i = 0; i < 8; i++) {
            bytes[i] = (uint8_t)(waiting->head.low >> 8 * i);
            bytes[i + 8] = (uint8_t)(waiting->head.high >> 8 * i);
        }
        kb_status status = word_number(builder, bytes, bytes[15], &word);
        if (status != KB_OK)
            return status;
    }
    builder->tokens[waiting->token] |= word;
    return KB_OK;
}

/* The word of a token that is not short or not ASCII, in *word; a raw word's number with RAW_FLAG when it is not yet
 * folded. */
static kb_status token_word(kb_builder *builder, const uint8_t *bytes, uint32_t length, uint32_t *word) {
    uint8_t lower[KB_TOKEN_BYTES_MAX];
    uint8_t all = 0;
    for (uint32_t i = 0; i < length; i++) {
        uint8_t byte = bytes[i];
        lower[i] = byte >= 'A' && byte <= 'Z' ? (uint8_t)(byte + ('a' - 'A')) : byte;
        all |= byte;
    }
    if (all < 0x80)
        return word_number(builder, lower, length, word);
    uint32_t raw = 0;
    kb_status status = kb_intern_add(&builder->raws, bytes, length, &raw);
    while (status == KB_OK && builder->raw_words.count < builder->raws.count)
        status = kb_numbers_put(&builder->raw_words, KB_NONE);
    if (status == KB_OK)
        *word = builder->raw_words.items[raw] == KB_NONE ? raw | RAW_FLAG : builder->raw_words.items[raw];
    return status;
}

static kb_status take_token(void *context, uint32_t position, const uint8_t *bytes, uint32_t length) {
    text_sink *sink = context;
    kb_builder *builder = sink->builder;
    kb_head head;
    uint32_t word = 0;
    kb_status status = reserve_token(builder);
    if (status == KB_OK && short_head(sink, bytes, length, &head)) {
        if (sink->asked - sink->answered == WAITING)
            status = answer(sink);
        uint32_t expected = kb_intern_expect(&builder->words, head);
        sink->waiting[sink->asked++ % WAITING] = (waiting_token){head, expected, builder->tokens_count};
    } else if (status == KB_OK) {
        status = token_word(builder, bytes, length, &word);
    }
    if (status != KB_OK)
        return status;
    builder->tokens[builder->tokens_count++] = word | (position - sink->position) << KB_TOKEN_STEP_SHIFT;
    sink->position = position;
    sink->tokens++;
    return KB_OK;
}

kb_status kb_builder_analyse(kb_builder *builder, const uint8_t kbid[KB_KBID_BYTES], const kb_source texts[KB_FIELDS]) {
    uint32_t number = 0;
    if (kb_intern_find(&builder->kbids, kbid, KB_KBID_BYTES, &number))
        return KB_E_ARGUMENT;
    roll_back(builder);
    builder->open = (kb_built_entry){
        .first_token = builder->tokens_count,
        .first_filter = builder->filters.count,
        .first_reference = builder->references.count,
        .stored_offset = builder->stored.length,
    };
    memcpy(builder->open_kbid, kbid, KB_KBID_BYTES);
    for (uint32_t field = 0; field < KB_FIELDS; field++) {
        const kb_source *text = &texts[field];
        text_sink sink;
        sink.builder = builder;
        sink.end = text->length == 0 ? NULL : text->bytes + text->length;
        sink.position = sink.tokens = sink.asked = sink.answered = 0;
        kb_status status = kb_tokenise(text->bytes, text->length, take_token, &sink, &builder->open.lengths[field]);
        while (status == KB_OK && sink.answered != sink.asked)
            status = answer(&sink);
        if (status != KB_OK)
            return status == KB_E_ARGUMENT ? KB_E_TOO_LARGE : status;
        builder->open.tokens[field] = sink.tokens;
    }
    return KB_OK;
}

kb_status kb_builder_fold(kb_builder *builder, const uint8_t *word, size_t length) {
    uint32_t number = 0;
    kb_status status = word_number(builder, word, length, &number);
    if (status == KB_OK)
        builder->raw_words.items[builder->raws_folded++] = number;
    return status;
}

static kb_status put_key(kb_intern *keys, kb_numbers *numbers, const uint8_t *key, size_t length, uint32_t *count) {
    uint32_t number = 0;
    kb_status status = kb_intern_add(keys, key, length, &number);
    if (status == KB_OK)
        status = kb_numbers_put(numbers, number);
    if (status == KB_OK)
        (*count)++;
    return status;
}

kb_status kb_builder_filter(kb_builder *builder, const uint8_t *key, size_t length) {
    return put_key(&builder->filter_keys, &builder->filters, key, length, &builder->open.filters);
}

kb_status kb_builder_reference(kb_builder *builder, const uint8_t *key, size_t length) {
    return put_key(&builder->reference_keys, &builder->references, key, length, &builder->open.references);
}

/* Appends `open` as an entry. */
static kb_status append(kb_builder *builder) {
    if (builder->entries_count == KB_ENTRIES_MAX)
        return KB_E_TOO_LARGE;
    if (builder->entries_count == builder->entries_capacity) {
        uint32_t capacity = builder->entries_capacity == 0 ? 16 : builder->entries_capacity * 2;
        kb_built_entry *entries = realloc(builder->entries, capacity * sizeof *entries);
        if (entries == NULL)
            return KB_E_MEMORY;
        builder->entries = entries;
        builder->entries_capacity = capacity;
    }
    uint32_t number = 0;
    kb_status status = kb_intern_add(&builder->kbids, builder->open_kbid, KB_KBID_BYTES, &number);
    if (status != KB_OK)
        return status;
    builder->entries[builder->entries_count++] = builder->open;
    return KB_OK;
}

kb_status kb_builder_commit(kb_builder *builder, const uint8_t *stored, size_t length, bool listed) {
    kb_built_entry *open = &builder->open;
    if (length > UINT32_MAX)
        return KB_E_TOO_LARGE;
    for (size_t i = open->first_token; i < builder->tokens_count; i++) {
        kb_token token = builder->tokens[i];
        if (token & RAW_FLAG)
            builder->tokens[i] = builder->raw_words.items[token & KB_TOKEN_WORD] | (token & KB_TOKEN_STEP);
    }
    uint32_t shared = kb_corpus_shared_length(stored, (uint32_t)length);
    open->shared = KB_NONE;
    kb_status status = shared == 0 ? KB_OK : kb_intern_add(&builder->shared, stored, shared, &open->shared);
    if (status != KB_OK)
        return status;
    open->stored_length = (uint32_t)length - shared;
    open->listed = listed;
    kb_bytes_put(&builder->stored, shared == 0 ? stored : stored + shared, open->stored_length);
    if (builder->stored.failed)
        return KB_E_MEMORY;
    return append(builder);
}

kb_status kb_builder_remove(kb_builder *builder, const uint8_t kbid[KB_KBID_BYTES]) {
    uint32_t number = 0;
    return kb_intern_add(&builder->removed, kbid, KB_KBID_BYTES, &number);
}

kb_status kb_builder_sort_words(kb_builder *builder) {
    kb_status status = KB_OK;
    uint8_t *occurs = calloc((size_t)builder->words.count + 1, 1);
    roll_back(builder);
    builder->sorted_words.count = 0;
    if (occurs == NULL)
        return KB_E_MEMORY;
    for (size_t i = 0; i < builder->tokens_count; i++)
        occurs[builder->tokens[i] & KB_TOKEN_WORD] = 1;
    for (uint32_t i = 0; i < builder->words.count && status == KB_OK; i++)
        if (occurs[i])
            status = kb_numbers_put(&builder->sorted_words, i);
    free(occurs);
    if (status == KB_OK)
        status = kb_intern_sort(&builder->words, builder->sorted_words.items, builder->sorted_words.count);
    return status;
}

kb_status kb_builder_set_stem(kb_builder *builder, uint32_t word, const uint8_t *stem, size_t length) {
    return kb_intern_add(&builder->stems, stem, length, &builder->word_stems.items[word]);
}
