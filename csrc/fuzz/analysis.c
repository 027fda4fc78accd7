/* libFuzzer target of the tokeniser: whatever the bytes, tokens lie inside the text, are of lawful length, and their
 * positions leave no gap. */
#include "../analysis.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const uint8_t *text;
    size_t size;
    uint64_t next; /* the first position not yet used */
} watcher;

static kb_status watch(void *context, uint32_t position, const uint8_t *bytes, uint32_t length) {
    watcher *seen = context;
    assert(length >= 1 && length <= KB_TOKEN_BYTES_MAX);
    assert(bytes >= seen->text && length <= seen->size - (size_t)(bytes - seen->text));
    assert(position + 1 == seen->next || position == seen->next);
    seen->next = (uint64_t)position + 1;
    return KB_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *text = malloc(size + (size == 0));
    assert(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    watcher seen = {text, size, 0};
    uint32_t positions = 0;
    kb_status status = kb_tokenise(text, size, watch, &seen, &positions);
    assert(status == KB_OK || status == KB_E_UTF8);
    assert(status != KB_OK || positions == seen.next);
    free(text);
    return 0;
}
