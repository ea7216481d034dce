/* event_tables.h - the tables whose rows are written in the rank's turn, numbered as messages number them. */
#ifndef JOB_TRANSPORT_EVENT_TABLES_H
#define JOB_TRANSPORT_EVENT_TABLES_H

#include "tlmpi/analysis/registry.h"

/* Event tables at most; a registry with more does not compile its test. */
#define TL_EVENT_TABLES_MAX 32

/* Fills schemas with those of scope EVENT, in the registry's order, and returns how many there are. */
static inline size_t tl_event_tables(const tl_schema *schemas[TL_EVENT_TABLES_MAX])
{
    size_t nall, n = 0;
    const tl_schema *const *all = tl_all_schemas(&nall);
    for (size_t i = 0; i < nall && n < TL_EVENT_TABLES_MAX; i++)
        if (all[i]->scope == TL_SCOPE_EVENT)
            schemas[n++] = all[i];
    return n;
}

#endif
