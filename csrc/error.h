/* The engine's error codes: 0 is success; Python turns each other code into one exception class. */
#ifndef KB_ERROR_H
#define KB_ERROR_H

typedef enum {
    KB_OK = 0,
    KB_E_CORRUPT,  /* bytes of a file are not what was written */
    KB_E_STALE,    /* a file of another format version or analyser */
    KB_E_ARGUMENT, /* the caller broke a documented limit */
    KB_E_MEMORY,   /* no memory */
    KB_E_UTF8      /* text that is not UTF-8 */
} kb_status;

#endif
