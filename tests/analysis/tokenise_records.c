/* Tokenises records from standard input (u32 length in native order, bytes) for test_twins.py: for each, a line
 * "position:hex ..." and the status and number of positions. Each record stands in memory of its own, so that a
 * sanitizer sees every byte read outside it. */
#include <stdio.h>
#include <stdlib.h>

#include "analysis.h"

static kb_status print_token(void *context, uint32_t position, const uint8_t *bytes, uint32_t length) {
    (void)context;
    printf("%u:", (unsigned)position);
    for (uint32_t i = 0; i < length; i++)
        printf("%02x", bytes[i]);
    putchar(' ');
    return KB_OK;
}

int main(void) {
    uint32_t length;
    while (fread(&length, sizeof length, 1, stdin) == 1) {
        uint8_t *text = malloc(length);
        uint32_t positions;
        if (length > 0 && (text == NULL || fread(text, 1, length, stdin) != length))
            return 1;
        kb_status status = kb_tokenise(text, length, print_token, NULL, &positions);
        printf("%d %u\n", (int)status, (unsigned)positions);
        free(text);
    }
    return 0;
}
