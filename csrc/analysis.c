/* Cuts normalised text into tokens by the rules of README.md section 7 (see analysis.h; twin: reference/analysis.py).
 *
 * The text is checked to be UTF-8 first, so that everything after that may decode without looking for faults. It falls
 * into runs of pair scripts and identifiers; an identifier is words held together by joiners, a word is parts found by
 * case. An identifier is walked once to find its end and, when it has several words or parts, again to deliver them,
 * because the whole comes before its parts.
 */
#include "analysis.h"

#include <stdbool.h>
#include <string.h>

#include "unicode_classes.h"
#include "utf8.h"

enum {
    MARKS_MAX = 15,              /* that stay with their base; keeps a pair of characters within KB_TOKEN_BYTES_MAX */
    WHOLE_CODE_POINTS_MAX = 64,  /* of an identifier or word that is a token beside its parts */
    CONTRACTION_LETTERS_MAX = 2, /* after an apostrophe that belongs to the word: user's, don't, we'll */
};

typedef struct {
    uint8_t kind;
    uint8_t script;
} character_class;

typedef struct {
    const uint8_t *start;
    const uint8_t *end;
    size_t code_points;
} slice;

typedef struct {
    const uint8_t *end;
    kb_token_sink sink;
    void *context;
    uint32_t position;
} tokeniser;

/* How many bytes at the start are ASCII, at least; most texts are nothing else, and eight bytes are checked at once. */
static size_t ascii_length(const uint8_t *text, size_t length) {
    uint64_t eight;
    size_t at = 0;
    for (; length - at >= sizeof eight; at += sizeof eight) {
        memcpy(&eight, text + at, sizeof eight);
        if (eight & UINT64_C(0x8080808080808080))
            break;
    }
    return at;
}

/* The class of the character at *at, which must be below `end`; moves *at behind it. The text is valid UTF-8. */
static inline character_class next_class(const uint8_t **at) {
    const uint8_t *p = *at;
    uint32_t code = p[0];
    if (code < 0x80) {
        *at = p + 1;
    } else if (code < 0xE0) {
        code = (code & 0x1F) << 6 | (p[1] & 0x3Fu);
        *at = p + 2;
    } else if (code < 0xF0) {
        code = (code & 0x0F) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
        *at = p + 3;
    } else {
        code = (code & 0x07) << 18 | (p[1] & 0x3Fu) << 12 | (p[2] & 0x3Fu) << 6 | (p[3] & 0x3Fu);
        *at = p + 4;
    }
    uint8_t number = kb_class_rows[kb_class_pages[code >> 8]][code & 0xFF];
    return (character_class){kb_class_kind[number], kb_class_script[number]};
}

static inline uint8_t kind_at(const uint8_t *at, const uint8_t *end) {
    if (at >= end)
        return KB_KIND_OTHER;
    if (*at < 0x80)
        return kb_ascii_kind[*at];
    return next_class(&at).kind;
}

static inline bool is_letter(uint8_t kind) {
    return kind == KB_KIND_LETTER || kind == KB_KIND_LOWER || kind == KB_KIND_UPPER;
}

static inline bool is_word(uint8_t kind) { return kind == KB_KIND_DIGIT || is_letter(kind); }

static inline bool scripts_fit(uint8_t script, uint8_t other) { return script == 0 || other == 0 || script == other; }

/* Goes past the marks of a base that ends at `at`; adds their number to *code_points. */
static inline const uint8_t *skip_marks(const uint8_t *at, const uint8_t *end, size_t *code_points) {
    for (int marks = 0; marks < MARKS_MAX && at < end && *at >= 0x80; marks++) {
        const uint8_t *next = at;
        if (next_class(&next).kind != KB_KIND_MARK)
            break;
        at = next;
        *code_points += 1;
    }
    return at;
}

/* Reads a unit (a base of a word and its marks) that fits *script; NULL when there is none at `at`. */
static inline const uint8_t *read_unit(const uint8_t *at, const uint8_t *end, uint8_t *script, uint8_t *kind,
                                       size_t *code_points) {
    if (at >= end)
        return NULL;
    character_class found = next_class(&at);
    if (!is_word(found.kind) || !scripts_fit(*script, found.script))
        return NULL;
    if (found.script != 0)
        *script = found.script;
    *kind = found.kind;
    *code_points += 1;
    return skip_marks(at, end, code_points);
}

static inline bool is_lower_of(uint8_t script, const uint8_t *at, const uint8_t *end) {
    if (at >= end)
        return false;
    character_class found = next_class(&at);
    return found.kind == KB_KIND_LOWER && scripts_fit(script, found.script);
}

/* Whether a part starts at a capital whose unit ends at `after`, given what stood before it. At the end of an acronym
 * the capital belongs to what follows, unless that is only a plural's s: HTTP|Server, utf8|Decode, APIs, URLs|For. */
static bool starts_part(uint8_t previous, uint8_t script, const uint8_t *after, const uint8_t *end) {
    if (previous == KB_KIND_LOWER)
        return true;
    if ((previous != KB_KIND_UPPER && previous != KB_KIND_DIGIT) || !is_lower_of(script, after, end))
        return false;
    size_t ignored = 0;
    return *after != 's' || is_lower_of(script, skip_marks(after + 1, end, &ignored), end);
}

/* The end of the contraction whose apostrophe is at `at`, NULL when it is none: one or two letters, and then neither a
 * letter nor a digit. */
static const uint8_t *contraction_end(const uint8_t *at, const uint8_t *end, uint8_t script, size_t *code_points) {
    size_t added = 1;
    int letters = 0;
    next_class(&at);
    while (is_letter(kind_at(at, end))) {
        uint8_t kind;
        const uint8_t *next = read_unit(at, end, &script, &kind, &added);
        if (next == NULL || ++letters > CONTRACTION_LETTERS_MAX)
            return NULL;
        at = next;
    }
    if (letters == 0 || kind_at(at, end) == KB_KIND_DIGIT)
        return NULL;
    *code_points += added;
    return at;
}

/* Reads the word at `start`, where a letter or digit stands: fills *word, and *first_end with its first part's end. */
static void read_word(const uint8_t *start, const uint8_t *end, slice *word, const uint8_t **first_end) {
    const uint8_t *at = start;
    size_t code_points = 0;
    uint8_t script = 0, previous = KB_KIND_OTHER;
    *first_end = NULL;
    for (;;) {
        const uint8_t *before = at;
        if (scripts_fit(script, KB_SCRIPT_LATIN))
            while (at < end && kb_ascii_kind[*at & 0x7F] == KB_KIND_LOWER && *at < 0x80)
                at++;
        if (at != before) {
            script = KB_SCRIPT_LATIN;
            previous = KB_KIND_LOWER;
            code_points += (size_t)(at - before);
            at = skip_marks(at, end, &code_points);
        } else {
            uint8_t kind;
            const uint8_t *after = read_unit(at, end, &script, &kind, &code_points);
            if (after == NULL)
                break;
            if (*first_end == NULL && kind == KB_KIND_UPPER && at > start && starts_part(previous, script, after, end))
                *first_end = at;
            at = after;
            previous = kind;
        }
        while (is_letter(previous) && kind_at(at, end) == KB_KIND_APOSTROPHE) {
            const uint8_t *after = contraction_end(at, end, script, &code_points);
            if (after == NULL)
                break;
            at = after;
            previous = KB_KIND_LETTER;
        }
    }
    *word = (slice){start, at, code_points};
    if (*first_end == NULL)
        *first_end = at;
}

/* The start of the word that a joiner at `at` leads to, NULL when there is none. A joiner is underscores, or one sign
 * with underscores around it, or an apostrophe; two colons count as one sign. */
static const uint8_t *after_joiner(const uint8_t *at, const uint8_t *end, size_t *code_points) {
    const uint8_t *start = at;
    size_t signs = 0;
    while (at < end && *at == '_')
        at++;
    uint8_t kind = kind_at(at, end);
    if (kind == KB_KIND_JOINER || (kind == KB_KIND_APOSTROPHE && at == start)) {
        const uint8_t *sign = at;
        next_class(&at);
        signs = (size_t)(at - sign) - 1;
    } else if (kind == KB_KIND_COLON) {
        at += at + 1 < end && at[1] == ':' ? 2 : 1;
    }
    if (kind != KB_KIND_APOSTROPHE)
        while (at < end && *at == '_')
            at++;
    if (at == start || !is_word(kind_at(at, end)))
        return NULL;
    *code_points += (size_t)(at - start) - signs;
    return at;
}

static inline kb_status deliver(const tokeniser *self, const uint8_t *start, const uint8_t *end) {
    return self->sink(self->context, self->position, start, (uint32_t)(end - start));
}

static bool fits_token(slice text) {
    return text.code_points <= WHOLE_CODE_POINTS_MAX && (size_t)(text.end - text.start) <= KB_TOKEN_BYTES_MAX;
}

/* Delivers a word that is too long for one token in pieces of whole units, each as long as may be. */
static kb_status deliver_pieces(tokeniser *self, slice word) {
    const uint8_t *start = word.start, *at = start;
    while (at < word.end) {
        size_t ignored = 0;
        const uint8_t *next = at;
        next_class(&next);
        next = skip_marks(next, word.end, &ignored);
        if ((size_t)(next - start) > KB_TOKEN_BYTES_MAX) {
            kb_status status = deliver(self, start, at);
            if (status != KB_OK)
                return status;
            self->position++;
            start = at;
        }
        at = next;
    }
    kb_status status = deliver(self, start, at);
    self->position++;
    return status;
}

/* Delivers a word: pieces when it is too long, else the word itself and, when it has several, its parts. */
static kb_status deliver_word(tokeniser *self, slice word, const uint8_t *first_end) {
    if ((size_t)(word.end - word.start) > KB_TOKEN_BYTES_MAX)
        return deliver_pieces(self, word);
    if (first_end < word.end && fits_token(word)) {
        kb_status status = deliver(self, word.start, word.end);
        if (status != KB_OK)
            return status;
    }
    const uint8_t *start = word.start;
    for (;;) {
        kb_status status = deliver(self, start, first_end);
        self->position++;
        if (status != KB_OK || first_end == word.end)
            return status;
        slice rest;
        start = first_end;
        read_word(start, word.end, &rest, &first_end);
    }
}

/* The end of the word at `start` when a look at ASCII bytes shows that it is the whole identifier and has one part,
 * else NULL. That is so for most words of most texts; the rest of this file would find the same. */
static const uint8_t *plain_word_end(const uint8_t *start, const uint8_t *end) {
    const uint8_t *at = start + 1;
    if (*start >= 0x80)
        return NULL;
    while (at < end && *at < 0x80 && (kb_ascii_kind[*at] == KB_KIND_LOWER || kb_ascii_kind[*at] == KB_KIND_DIGIT))
        at++;
    if ((size_t)(at - start) > KB_TOKEN_BYTES_MAX)
        return NULL;
    if (at == end || (*at < 0x80 && kb_ascii_kind[*at] == KB_KIND_OTHER))
        return at;
    bool before_space = *at < 0x80 && !is_word(kb_ascii_kind[*at]) && (at + 1 == end || at[1] == ' ' || at[1] == '\n');
    return before_space ? at : NULL;
}

/* Delivers the identifier at `start`, where a letter or digit stands, and sets *after to its end: the whole when it has
 * several words, then each word. */
static kb_status identifier(tokeniser *self, const uint8_t *start, const uint8_t **after) {
    slice word, whole;
    const uint8_t *first_end, *ignored_end;
    size_t ignored = 0;
    *after = plain_word_end(start, self->end);
    if (*after != NULL) {
        kb_status status = deliver(self, start, *after);
        self->position++;
        return status;
    }
    read_word(start, self->end, &word, &first_end);
    whole = word;
    const uint8_t *next = after_joiner(whole.end, self->end, &whole.code_points);
    while (next != NULL) {
        slice more;
        read_word(next, self->end, &more, &ignored_end);
        whole.end = more.end;
        whole.code_points += more.code_points;
        next = after_joiner(whole.end, self->end, &whole.code_points);
    }
    *after = whole.end;
    if (word.end < whole.end && fits_token(whole)) {
        kb_status status = deliver(self, whole.start, whole.end);
        if (status != KB_OK)
            return status;
    }
    for (;;) {
        kb_status status = deliver_word(self, word, first_end);
        if (status != KB_OK || word.end == whole.end)
            return status;
        next = after_joiner(word.end, self->end, &ignored);
        read_word(next, self->end, &word, &first_end);
    }
}

/* Delivers the run of a pair script at `start`: each two neighbouring characters, or the one there is. */
static kb_status pair_run(tokeniser *self, const uint8_t *start, const uint8_t **after) {
    const uint8_t *at = start;
    size_t ignored = 0;
    uint8_t script = next_class(&at).script;
    at = skip_marks(at, self->end, &ignored);
    const uint8_t *second = at;
    bool paired = false;
    while (at < self->end) {
        const uint8_t *next = at;
        character_class found = next_class(&next);
        if (found.kind != KB_KIND_PAIR || found.script != script)
            break;
        next = skip_marks(next, self->end, &ignored);
        kb_status status = deliver(self, start, next);
        if (status != KB_OK)
            return status;
        self->position++;
        paired = true;
        start = second;
        second = at = next;
    }
    *after = at;
    if (paired)
        return KB_OK;
    kb_status status = deliver(self, start, at);
    self->position++;
    return status;
}

kb_status kb_tokenise(const uint8_t *text, size_t length, kb_token_sink sink, void *context, uint32_t *positions) {
    *positions = 0;
    if (length > KB_TEXT_BYTES_MAX)
        return KB_E_ARGUMENT;
    if (length == 0)
        return KB_OK;
    size_t ascii = ascii_length(text, length);
    if (!kb_utf8_valid(text + ascii, length - ascii))
        return KB_E_UTF8;
    tokeniser self = {text + length, sink, context, 0};
    kb_status status = KB_OK;
    const uint8_t *at = text;
    while (status == KB_OK && at < self.end) {
        const uint8_t *next = at;
        uint8_t kind = next_class(&next).kind;
        if (is_word(kind))
            status = identifier(&self, at, &next);
        else if (kind == KB_KIND_PAIR)
            status = pair_run(&self, at, &next);
        at = next;
    }
    *positions = self.position;
    return status;
}
