/* Any plan over one segment: every share of every matching entry is added up. */
#ifndef KB_EXHAUSTIVE_H
#define KB_EXHAUSTIVE_H

#include "plan.h"

/* Adds the matching entries to the heap and to the total. KB_E_CORRUPT, KB_E_MEMORY. */
kb_status kb_exhaustive(kb_search_task *task);

#endif
