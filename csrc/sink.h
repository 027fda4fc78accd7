/* Where a writer puts the bytes of files that it does not keep. */
#ifndef KB_SINK_H
#define KB_SINK_H

#include <stddef.h>

#include "error.h"

/* `write` gets bytes that belong at an offset of a file: each byte of a file once, not always in order, so that what
 * stands before lists can tell of them. The bytes are the writer's again when it returns. Anything but KB_OK ends the
 * writing, and is what the writer then gives its own caller. */
typedef struct {
    kb_status (*write)(void *context, kb_file file, uint64_t offset, const uint8_t *bytes, size_t length);
    void *context;
} kb_sink;

#endif
