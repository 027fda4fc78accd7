# What kbdb/_engine.pyx uses of the C library; the headers in csrc/ are the manual.

from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef extern from "<stdbool.h>" nogil:
    ctypedef bint cbool "bool"

cdef extern from "error.h" nogil:
    ctypedef enum kb_status:
        KB_OK
        KB_E_CORRUPT
        KB_E_STALE
        KB_E_ARGUMENT
        KB_E_MEMORY
        KB_E_UTF8
        KB_E_TOO_LARGE
        KB_E_SINK
    enum:
        KB_FILES
    ctypedef enum kb_file:
        KB_FILE_TERMS
        KB_FILE_VECTORS
    ctypedef struct kb_error:
        const char *message
        uint64_t offset
        int file
        uint32_t segment

cdef extern from "toml.h" nogil:
    ctypedef enum kb_toml_kind:
        KB_TOML_END
        KB_TOML_TABLE
        KB_TOML_TABLE_ITEM
        KB_TOML_STRING
        KB_TOML_INTEGER
        KB_TOML_BOOLEAN
        KB_TOML_ARRAY
        KB_TOML_ARRAY_END
    ctypedef struct kb_toml_slice:
        const uint8_t *bytes
        size_t length
    ctypedef struct kb_toml_event:
        kb_toml_kind kind
        kb_toml_slice key
        kb_toml_slice text
        size_t decoded_length
        int64_t integer
    ctypedef struct kb_toml:
        size_t line
        const char *message
    void kb_toml_init(kb_toml *scanner, const uint8_t *data, size_t size)
    int kb_toml_next(kb_toml *scanner, kb_toml_event *event)
    void kb_toml_decode(const kb_toml_event *event, uint8_t *out)

cdef extern from "analysis.h" nogil:
    ctypedef kb_status (*kb_token_sink)(void *context, uint32_t position, const uint8_t *bytes,
                                        uint32_t length) noexcept
    kb_status kb_tokenise(const uint8_t *text, size_t length, kb_token_sink sink, void *context, uint32_t *positions)

cdef extern from "cursor.h" nogil:
    ctypedef struct kb_cursor:
        const uint8_t *next
        const uint8_t *end
    uint32_t kb_load_u32(const uint8_t *bytes)

cdef extern from "bytes_out.h" nogil:
    ctypedef struct kb_bytes:
        uint8_t *data
        size_t length
    void kb_bytes_free(kb_bytes *bytes)

cdef extern from "intern.h" nogil:
    ctypedef struct kb_intern:
        kb_bytes bytes
        uint32_t count
    const uint8_t *kb_intern_bytes(const kb_intern *intern, uint32_t number, size_t *length)

cdef extern from "gaps.h" nogil:
    ctypedef cbool (*kb_gaps_read)(const uint8_t *gaps, const uint8_t *end, uint64_t symbols, uint32_t bits,
                                   uint32_t count, uint32_t next, uint32_t *entries) noexcept
    cbool kb_gaps_read_portable(const uint8_t *gaps, const uint8_t *end, uint64_t symbols, uint32_t bits,
                                uint32_t count, uint32_t next, uint32_t *entries) noexcept

cdef extern from "segment.h" nogil:
    ctypedef struct kb_strings:
        uint32_t count
    ctypedef struct kb_keyed:
        kb_strings keys
    ctypedef struct kb_terms:
        kb_strings words
        kb_strings stems
        kb_gaps_read read_gaps
    ctypedef struct kb_table:
        const uint8_t *bytes
        uint64_t length
    ctypedef struct kb_corpus:
        kb_keyed filters
        kb_table removed
        kb_table listed
    ctypedef struct kb_entry:
        uint32_t distinct
    ctypedef struct kb_stem:
        uint32_t df
    ctypedef struct kb_segment:
        kb_terms terms
        kb_corpus corpus
        kb_keyed references
        uint32_t entries
        uint64_t fingerprint
    ctypedef struct kb_source:
        const uint8_t *bytes
        size_t length
    kb_status kb_segment_open(const kb_source *sources, uint64_t fingerprint, kb_segment *segment, kb_error *error)
    void kb_segment_close(kb_segment *segment)
    kb_status kb_segment_verify(const kb_segment *segment, kb_error *error)
    kb_status kb_table_bytes(const kb_table *table, uint64_t offset, uint64_t length, const uint8_t **bytes,
                             kb_error *error)
    kb_status kb_strings_get(const kb_strings *strings, uint32_t number, const uint8_t **bytes, uint32_t *length,
                             kb_error *error)
    kb_status kb_strings_find(const kb_strings *strings, const uint8_t *bytes, size_t length, cbool *found,
                              uint32_t *number, kb_error *error)
    kb_status kb_strings_prefix(const kb_strings *strings, const uint8_t *bytes, size_t length, uint32_t *first,
                                uint32_t *end, kb_error *error)
    kb_status kb_keyed_count(const kb_keyed *keyed, uint32_t number, uint32_t *count, kb_error *error)
    kb_status kb_keyed_entries(const kb_keyed *keyed, uint32_t number, uint32_t *entries, kb_error *error)
    kb_status kb_keyed_bitmap(const kb_keyed *keyed, uint32_t number, uint8_t *bitmap, kb_error *error)
    kb_status kb_corpus_kbid(const kb_corpus *corpus, uint32_t entry, const uint8_t **kbid, kb_error *error)
    kb_status kb_corpus_find(const kb_corpus *corpus, const uint8_t *kbid, cbool *found, uint32_t *entry,
                             kb_error *error)
    kb_status kb_corpus_entry(const kb_corpus *corpus, uint32_t number, kb_entry *entry, kb_error *error)
    kb_status kb_corpus_length(const kb_corpus *corpus, uint32_t number, uint32_t field, uint32_t *length,
                               kb_error *error)
    ctypedef struct kb_stored:
        kb_cursor shared
        kb_cursor own
    kb_status kb_corpus_stored(const kb_corpus *corpus, uint32_t number, kb_stored *stored, kb_error *error)
    kb_status kb_corpus_listed(const kb_corpus *corpus, const uint8_t **bitmap, kb_error *error)

cdef extern from "bm25f.h" nogil:
    enum:
        KB_FIELDS
        KB_KBID_BYTES
    ctypedef struct kb_params:
        double k1
        double *b
        double *weights
    ctypedef struct kb_bm25f_tables:
        pass
    ctypedef struct kb_bm25f:
        pass
    double kb_bm25f_idf(uint64_t sections, uint64_t df)
    void kb_bm25f_tabulate(kb_bm25f *bm25f, kb_bm25f_tables *tables)

cdef extern from "lanes.h" nogil:
    ctypedef void (*kb_lanes_find)(const uint16_t *lanes, size_t count, uint16_t need, uint64_t *words) noexcept
    void kb_lanes_find_portable(const uint16_t *lanes, size_t count, uint16_t need, uint64_t *words)
    kb_lanes_find kb_lanes_find_avx2()

cdef extern from "stems_of.h" nogil:
    kb_status kb_stems_of(const kb_segment *segment, const uint8_t *wanted, kb_bytes *pairs, kb_error *error)

cdef extern from "builder.h" nogil:
    const uint32_t KB_NONE
    ctypedef struct kb_numbers:
        uint32_t *items
        size_t count
    ctypedef struct kb_builder:
        uint64_t fingerprint
        kb_intern words
        kb_intern raws
        kb_numbers word_stems
        kb_numbers sorted_words
        kb_intern shared
        kb_bytes stored
        size_t tokens_count
        uint32_t entries_count
        uint32_t raws_folded
    kb_status kb_numbers_put(kb_numbers *numbers, uint32_t item)
    kb_status kb_builder_new(uint64_t fingerprint, const kb_params *params, uint64_t seed, kb_builder *builder)
    void kb_builder_free(kb_builder *builder)
    kb_status kb_builder_analyse(kb_builder *builder, const uint8_t *kbid, const kb_source *texts)
    kb_status kb_builder_fold(kb_builder *builder, const uint8_t *word, size_t length)
    kb_status kb_builder_filter(kb_builder *builder, const uint8_t *key, size_t length)
    kb_status kb_builder_reference(kb_builder *builder, const uint8_t *key, size_t length)
    kb_status kb_builder_commit(kb_builder *builder, const uint8_t *stored, size_t length, bint listed)
    kb_status kb_builder_remove(kb_builder *builder, const uint8_t *kbid)
    kb_status kb_builder_sort_words(kb_builder *builder)
    kb_status kb_builder_set_stem(kb_builder *builder, uint32_t word, const uint8_t *stem, size_t length)
    kb_status kb_builder_write(kb_builder *builder, kb_bytes *files)

cdef extern from "sink.h" nogil:
    ctypedef struct kb_sink:
        kb_status (*write)(void *context, kb_file file, uint64_t offset, const uint8_t *bytes, size_t length) noexcept
        void *context

cdef extern from "merge.h" nogil:
    ctypedef struct kb_merge_part:
        const kb_segment *segment
        const uint8_t *keep
    ctypedef struct kb_merge_order:
        const kb_merge_part *parts
        uint32_t parts_count
        const uint8_t *removed
        size_t removed_count
        uint64_t fingerprint
        kb_params params
    kb_status kb_merge(const kb_merge_order *order, const kb_sink *sink, uint8_t *twice, kb_error *error)

cdef extern from "search.h" nogil:
    const uint32_t KB_ALL_FIELDS
    ctypedef struct kb_view:
        const kb_segment *segment
        const uint8_t *live
    ctypedef struct kb_searcher:
        kb_bm25f bm25f
        uint64_t sections
        uint64_t *totals
    ctypedef struct kb_term:
        uint64_t df
        double idf
        kb_stem *stems
    ctypedef struct kb_alternative:
        const kb_term **terms
        uint32_t count
        double weight
        double idf
    ctypedef enum kb_kind:
        KB_SHOULD
        KB_MUST
        KB_MUST_NOT
    ctypedef struct kb_clause:
        const kb_alternative *alternatives
        uint32_t count
        uint32_t fields
        kb_kind kind
    ctypedef struct kb_plan:
        const kb_clause *clauses
        uint32_t count
    ctypedef struct kb_hit:
        uint32_t segment
        uint32_t entry
        double score
        uint64_t matched
    ctypedef struct kb_share:
        uint32_t clause
        uint32_t alternative
        double value
        double weight
        double idf
        double saturation
        uint32_t *frequencies
    ctypedef struct kb_scratch:
        uint32_t entries
    kb_status kb_searcher_open(kb_view *views, uint32_t count, const kb_params *params, kb_searcher *searcher,
                               kb_error *error)
    kb_status kb_term_find(const kb_searcher *searcher, const uint8_t *stem, size_t length, kb_term *term,
                           kb_error *error)
    void kb_scratch_new(uint32_t entries, kb_scratch *scratch)
    size_t kb_scratch_bytes(const kb_scratch *scratch)
    void kb_scratch_free(kb_scratch *scratch)
    kb_status kb_search(const kb_searcher *searcher, const kb_plan *plan, const uint8_t **allowed, uint32_t limit,
                        uint64_t total_limit, kb_lanes_find find, kb_scratch *scratch, kb_hit *hits, uint32_t *count,
                        uint64_t *total, kb_error *error)
    kb_status kb_explain(const kb_searcher *searcher, const kb_plan *plan, uint32_t segment, uint32_t entry,
                         kb_scratch *scratch, kb_share *shares, uint32_t *count, kb_error *error)

cdef extern from "words.h" nogil:
    ctypedef enum kb_words_kind:
        KB_WORDS_EQUAL
        KB_WORDS_PREFIX
        KB_WORDS_CONTAINING
        KB_WORDS_NEAR
    ctypedef struct kb_found_word:
        uint32_t number
        uint32_t distance
        uint32_t df
    ctypedef struct kb_found_words:
        kb_found_word *items
        size_t count
    kb_status kb_words_find(const kb_view *view, kb_words_kind kind, const uint8_t *text, size_t length,
                            uint32_t distance, kb_found_words *words, kb_error *error)
    kb_status kb_words_of_stem(const kb_terms *terms, const kb_stem *stem, kb_found_words *words, kb_error *error)
    void kb_found_words_free(kb_found_words *words)

cdef extern from "similar.h" nogil:
    ctypedef struct kb_likeness:
        const kb_source *stems
        uint32_t count
        double threshold
        uint32_t segment
        uint32_t entry

    kb_status kb_similar(const kb_searcher *searcher, const kb_likeness *wanted, uint32_t limit, kb_scratch *scratch,
                         kb_hit *hits, uint32_t *found, kb_error *error)

cdef extern from "dot.h" nogil:
    ctypedef double (*kb_dot)(const double *left, const uint8_t *right, size_t count) noexcept
    double kb_dot_portable(const double *left, const uint8_t *right, size_t count) noexcept
    kb_dot kb_dot_avx2()

cdef extern from "vectors_read.h" nogil:
    ctypedef struct kb_vectors:
        uint32_t count
        uint32_t dimensions
    kb_status kb_vectors_open(const uint8_t *data, size_t length, kb_vectors *vectors, kb_error *error)
    kb_status kb_vectors_check(const kb_vectors *vectors, kb_dot dot, uint8_t *kbids, double *lengths, kb_error *error)
    const uint8_t *kb_vectors_kbid(const kb_vectors *vectors, uint32_t record)
    const uint8_t *kb_vectors_components(const kb_vectors *vectors, uint32_t record)
    cbool kb_vectors_are_finite(const uint8_t *components, uint32_t dimensions)
    cbool kb_vectors_find(const uint8_t *kbids, uint32_t count, const uint8_t *kbid, uint32_t *record)

cdef extern from "vectors_write.h" nogil:
    ctypedef struct kb_vectors_new:
        uint32_t dimensions
        uint32_t count
        const uint8_t *kbids
        const uint8_t *components
        const uint32_t *order
    ctypedef struct kb_vectors_part:
        const kb_vectors *vectors
        const uint8_t *kbids
        const uint8_t *keep
    kb_status kb_vectors_write(const kb_vectors_new *vectors, const kb_sink *sink, uint32_t *wrong)
    kb_status kb_vectors_merge(const kb_vectors_part *parts, uint32_t count, uint32_t dimensions, const kb_sink *sink)

cdef extern from "sketch.h" nogil:
    ctypedef struct kb_sketches:
        uint32_t count
    ctypedef struct kb_sketch_ways:
        pass
    const kb_sketch_ways kb_sketch_portable
    const kb_sketch_ways *kb_sketch_avx2()
    kb_status kb_sketches_new(const kb_vectors *vectors, const double *lengths, kb_sketches *sketches)
    void kb_sketches_free(kb_sketches *sketches)
    size_t kb_sketches_bytes(const kb_sketches *sketches)

cdef extern from "vector_search.h" nogil:
    ctypedef struct kb_owner:
        uint32_t segment
        uint32_t entry
    ctypedef struct kb_vector_part:
        const kb_vectors *vectors
        const uint8_t *kbids
        const double *lengths
        const kb_sketches *sketches
        kb_owner *owners
        uint8_t *pointing
    ctypedef struct kb_vector_searcher:
        kb_vector_part *parts
        uint32_t count
        uint32_t dimensions
        uint64_t sections
    ctypedef struct kb_vector_hit:
        double score
        kb_owner owner
        const uint8_t *kbid
    ctypedef struct kb_vector_ways:
        kb_dot dot
        const kb_sketch_ways *sketches
    kb_status kb_vector_searcher_open(const kb_view *views, uint32_t count, kb_vector_searcher *searcher,
                                      kb_error *error)
    void kb_vector_missing(const kb_vector_searcher *searcher, uint8_t *const *live)
    void kb_vector_held(const kb_vector_part *part, uint8_t *held)
    kb_status kb_vector_search(const kb_vector_searcher *searcher, const uint8_t *query, const uint8_t *const *allowed,
                               uint32_t limit, const kb_vector_ways *ways, kb_vector_hit *hits, uint32_t *count)
