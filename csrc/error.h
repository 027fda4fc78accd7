/* The engine's error codes and how a fault in a file is described.
 *
 * Functions that can fail return kb_status; 0 is success. What they promise to write they write only on success, unless
 * their comment says otherwise. kbdb/_engine.pyx turns each code into one exception class.
 */
#ifndef KB_ERROR_H
#define KB_ERROR_H

#include <stdint.h>

typedef enum {
    KB_OK = 0,
    KB_E_CORRUPT,   /* bytes of a file are not what was written; kb_error says where */
    KB_E_STALE,     /* a file of another format version or analyser; kb_error says which */
    KB_E_ARGUMENT,  /* the caller broke a documented limit */
    KB_E_MEMORY,    /* no memory */
    KB_E_UTF8,      /* text that is not UTF-8 */
    KB_E_TOO_LARGE, /* what is built does not fit the format's numbers */
    KB_E_SINK       /* the caller's sink would not take any more (sink.h) */
} kb_status;

/* The four files of a segment; also the order in which functions take them. Vectors are no part of a segment. */
typedef enum {
    KB_FILE_TERMS,
    KB_FILE_POSITIONS,
    KB_FILE_CORPUS,
    KB_FILE_REFERENCES,
    KB_FILES,
    KB_FILE_VECTORS = KB_FILES
} kb_file;

/* Filled by the function that found KB_E_CORRUPT or KB_E_STALE, and only then. The message is static. */
typedef struct {
    const char *message;
    uint64_t offset; /* in the file; of the first byte that is known to be wrong, or of what holds it */
    kb_file file;
    uint32_t segment; /* its place in the searcher's list, or among the parts for vectors; only set by functions over
                         several */
} kb_error;

static inline kb_status kb_corrupt(kb_file file, uint64_t offset, const char *message, kb_error *error) {
    error->message = message;
    error->offset = offset;
    error->file = file;
    return KB_E_CORRUPT;
}

#endif
