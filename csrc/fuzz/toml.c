/* libFuzzer target of the TOML scanner: whatever the bytes, every event's slices lie inside them and strings decode to
 * the length that was promised. */
#include <assert.h>
#include <stdlib.h>

#include "../toml.h"

static void check_slice(kb_toml_slice slice, const uint8_t *data, size_t size) {
    assert(slice.length == 0 || (slice.bytes >= data && slice.length <= size - (size_t)(slice.bytes - data)));
}

static void check_string(const kb_toml_event *event) {
    assert(event->decoded_length <= event->text.length);
    /* Of exactly this size, so that the sanitizer sees a byte too many. */
    uint8_t *decoded = malloc(event->decoded_length + (event->decoded_length == 0));
    assert(decoded != NULL);
    kb_toml_decode(event, decoded);
    free(decoded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kb_toml scanner;
    kb_toml_event event;
    size_t events = 0;
    kb_toml_init(&scanner, data, size);
    do {
        if (kb_toml_next(&scanner, &event) != 0) {
            assert(scanner.message != NULL && scanner.line >= 1 && scanner.line <= size + 1);
            assert(kb_toml_next(&scanner, &event) == 1);
            return 0;
        }
        check_slice(event.key, data, size);
        check_slice(event.text, data, size);
        if (event.kind == KB_TOML_STRING)
            check_string(&event);
        assert(++events <= size + 1);
    } while (event.kind != KB_TOML_END);
    return 0;
}
