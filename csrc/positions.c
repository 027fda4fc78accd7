/* positions.idx. */
#include "positions.h"

uint32_t kb_positions_bits(uint32_t forms) {
    uint32_t bits = 0;
    while ((uint64_t)1 << bits < forms)
        bits++;
    return bits;
}

kb_status kb_positions_open(const kb_terms *terms, const kb_stem *stem, kb_positions *positions, kb_error *error) {
    *positions = (kb_positions){.terms = terms, .bits = kb_positions_bits(stem->forms), .forms = stem->forms};
    return kb_lists_get(&terms->positions, stem->number, stem->positions_offset, stem->positions_length,
                        stem->positions_crc, &positions->cursor, error);
}

static void pass_fields(kb_positions *positions, const kb_postings *postings, uint32_t end) {
    for (; positions->field < end; positions->field++)
        positions->skip += postings->frequencies[positions->field];
}

void kb_positions_leave(kb_positions *positions, const kb_postings *postings) {
    pass_fields(positions, postings, KB_FIELDS);
}

static kb_status corrupt(const kb_positions *positions, const char *message, kb_error *error) {
    return kb_lists_corrupt(&positions->terms->positions, &positions->cursor, message, error);
}

kb_status kb_positions_seek(kb_positions *positions, const kb_postings *postings, uint32_t field, kb_error *error) {
    pass_fields(positions, postings, field);
    positions->field = field + 1;
    positions->position = 0;
    uint64_t skip = positions->skip;
    positions->skip = 0;
    if (!kb_cursor_skip(&positions->cursor, skip))
        return corrupt(positions, "a list ends before its last position", error);
    if (postings->frequencies[field] > kb_cursor_left(&positions->cursor))
        return corrupt(positions, "a list has fewer positions than its postings tell", error);
    return KB_OK;
}

kb_status kb_positions_next(kb_positions *positions, kb_error *error) {
    uint32_t value = 0;
    if (!kb_cursor_varint(&positions->cursor, &value))
        return corrupt(positions, "a list of positions holds a wrong varint", error);
    uint32_t gap = (uint32_t)((uint64_t)value >> positions->bits);
    if (gap > UINT32_MAX - positions->position)
        return corrupt(positions, "a position is past 32 bits", error);
    positions->position += gap;
    positions->form = value & (uint32_t)(((uint64_t)1 << positions->bits) - 1);
    if (positions->form >= positions->forms)
        return corrupt(positions, "a position names a form past its stem's", error);
    return KB_OK;
}

kb_status kb_positions_end(const kb_positions *positions, kb_error *error) {
    if (positions->skip == 0 && positions->cursor.next == positions->cursor.end)
        return KB_OK;
    return corrupt(positions, "a list is longer or shorter than its positions", error);
}
