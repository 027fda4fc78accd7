/* positions.idx. */
#include "positions.h"

#include "bits.h"

uint32_t kb_positions_bits(uint32_t forms) { return kb_bits_width(forms - 1); }

kb_status kb_positions_open(const kb_terms *terms, const kb_stem *stem, kb_positions *positions, kb_error *error) {
    *positions = (kb_positions){.terms = terms, .bits = kb_positions_bits(stem->forms), .forms = stem->forms};
    kb_status status = kb_lists_get(&terms->positions, stem->number, stem->positions_offset, stem->positions_length,
                                    stem->positions_crc, &positions->list, error);
    positions->block = positions->block_end = positions->list.next;
    return status;
}

kb_status kb_positions_corrupt(const kb_positions *positions, const char *message, kb_error *error) {
    const kb_lists *lists = &positions->terms->positions;
    return kb_corrupt(lists->file, lists->offset + (uint64_t)(positions->block - lists->bytes), message, error);
}

static kb_status find_block(kb_positions *positions, const kb_postings *postings, uint32_t block, kb_error *error) {
    uint32_t start = kb_postings_positions(postings, block);
    uint32_t end = kb_postings_positions(postings, block + 1);
    if (end <= start || end > kb_cursor_left(&positions->list))
        return kb_postings_corrupt(postings, "a block of positions is misplaced", error);
    uint32_t first = positions->list.next[start];
    bool bare = first & KB_POSITIONS_BARE;
    positions->width = first & ~KB_POSITIONS_BARE;
    positions->bits = bare ? 0 : kb_positions_bits(positions->forms);
    positions->block = positions->list.next + start + 1;
    positions->block_end = positions->list.next + end;
    if (positions->width == 0 || positions->width > 32 || (bare && positions->forms == 1))
        return kb_positions_corrupt(positions, "a block of positions has a wrong width", error);
    return KB_OK;
}

void kb_positions_prefetch(const kb_positions *positions, const kb_postings *postings, const kb_spot *spots,
                           uint32_t count) {
    uint32_t start = kb_postings_positions(postings, spots[0].block);
    uint32_t end = kb_postings_positions(postings, spots[0].block + 1);
    uint32_t width = positions->width != 0 ? positions->width : 8; /* most blocks of a list are of one width */
    if (end > kb_cursor_left(&positions->list))
        return;
    __builtin_prefetch(positions->list.next + start);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t at = start + spots[i].first * width / 8;
        __builtin_prefetch(positions->list.next + (at < end ? at : end));
    }
}

kb_status kb_positions_go(kb_positions *positions, const kb_postings *postings, const kb_spot *spot, uint32_t field,
                          kb_error *error) {
    kb_status status = find_block(positions, postings, spot->block, error);
    if (status != KB_OK)
        return status;
    positions->at = spot->first;
    for (uint32_t i = 0; i < field; i++)
        positions->at += spot->frequencies[i];
    uint64_t held = (uint64_t)(positions->block_end - positions->block) * 8;
    if ((positions->at + spot->frequencies[field]) * positions->width > held)
        return kb_positions_corrupt(positions, "a block has fewer positions than its postings tell", error);
    return KB_OK;
}

uint32_t kb_positions_skip(kb_positions *positions, uint32_t left, uint32_t position) {
    uint64_t wanted = (uint64_t)position << positions->bits;
    uint64_t low = positions->at;
    /* A halving without branches: which half it is cannot be foreseen. */
    for (uint32_t rest = left; rest > 0;) {
        uint32_t half = (rest + 1) / 2;
        uint64_t bit = (low + half - 1) * positions->width;
        uint64_t value = kb_bits_get(positions->block, positions->block_end, bit, positions->width);
        low += value < wanted ? half : 0;
        rest -= half;
    }
    left -= (uint32_t)(low - positions->at);
    positions->at = low;
    return left;
}

kb_status kb_positions_next(kb_positions *positions, kb_error *error) {
    uint64_t bit = positions->at++ * positions->width;
    uint32_t value = kb_bits_get(positions->block, positions->block_end, bit, positions->width);
    positions->position = (uint32_t)((uint64_t)value >> positions->bits);
    positions->form = value & kb_positions_forms(positions->bits);
    if (positions->form >= positions->forms)
        return kb_positions_corrupt(positions, "a position names a form past its stem's", error);
    return KB_OK;
}

#define AT_ONCE 4u             /* values compared without a branch; mostly that is all there are */
#define NARROW (57u / AT_ONCE) /* so wide, they are in one word wherever it begins */

kb_status kb_positions_has(const kb_positions *positions, uint32_t count, uint64_t position, bool *has,
                           kb_error *error) {
    uint32_t width = positions->width;
    uint32_t bits = positions->bits;
    uint64_t values = ((uint64_t)1 << width) - 1;
    uint64_t forms = kb_positions_forms(bits);
    bool found = false;
    bool sound = true;
    for (uint64_t i = 0; i < count; i += AT_ONCE) {
        uint64_t bit = (positions->at + i) * width;
        uint64_t word = kb_bits_word(positions->block, positions->block_end, bit) >> bit % 8;
        for (uint64_t j = i; j < i + AT_ONCE; j++) {
            if (width > NARROW && j < count)
                word = kb_bits_get(positions->block, positions->block_end, (positions->at + j) * width, width);
            uint64_t value = word & values;
            found |= (value >> bits == position) & (j < count);
            sound &= ((value & forms) < positions->forms) | (j >= count);
            word = width > NARROW ? 0 : word >> width;
        }
    }
    *has = found;
    return sound ? KB_OK : kb_positions_corrupt(positions, "a position names a form past its stem's", error);
}

kb_status kb_positions_verify_block(kb_positions *positions, const kb_postings *postings, kb_error *error) {
    uint64_t count = postings->tokens + postings->total;
    uint32_t largest = 0;
    kb_status status = find_block(positions, postings, postings->block, error);
    if (status != KB_OK)
        return status;
    uint64_t bytes = (uint64_t)(positions->block_end - positions->block);
    if (count * positions->width > bytes * 8 || kb_bits_bytes(count, positions->width) != bytes)
        return kb_positions_corrupt(positions, "a block has more or fewer positions than its postings tell", error);
    for (uint64_t i = 0; i < count; i++)
        largest |= kb_bits_get(positions->block, positions->block_end, i * positions->width, positions->width);
    uint32_t spare = (uint32_t)(bytes * 8 - count * positions->width);
    if (spare > 0 && positions->block_end[-1] >> (8 - spare) != 0)
        return kb_positions_corrupt(positions, "the bits after a block's positions are not 0", error);
    uint32_t width = kb_bits_width(largest);
    bool formless = positions->bits > 0 && (largest & kb_positions_forms(positions->bits)) == 0;
    if ((width == 0 ? 1 : width) != positions->width || formless)
        return kb_positions_corrupt(positions, "a block of positions is wider than needed", error);
    return KB_OK;
}
