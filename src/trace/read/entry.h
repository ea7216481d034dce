/* entry.h - what entries of traceEvents say of the process that wrote them, for a look at a file. */
#ifndef TLMPI_TRACE_READ_ENTRY_H
#define TLMPI_TRACE_READ_ENTRY_H

#include "tlmpi/trace/event/fields.h"

/* What the first entries have told; zero-initialise. */
typedef struct tl_seen {
    bool has_first, first_is_event; /* about the first entry that can be read: an event has a ph */
    bool has_ts;
    int64_t ts_ns;    /* of the first entry with a time of its own */
    int64_t pid;      /* of the first entry that the host has written; 0 without one */
    bool has_category; /* an entry has a category of PyTorch's profiler */
    bool has_bare_work; /* an entry that lasts has a name and no category, as all of that profiler have */
    char foreign[48]; /* the first category of another program, printable; empty without one */
} tl_seen;

/* Adds what the entry tells.  Whether it is an event. */
bool tl_entry_see(tl_seen *seen, const tl_fields *fields);

/* Whether the trace is another program's: no category seen is the profiler's, and a foreign one, or timed work without
 * a category, was. */
bool tl_seen_is_foreign(const tl_seen *seen);

/* Whether the begin is known, and that the events are the profiler's as far as they tell. */
bool tl_seen_enough(const tl_seen *seen);

/* The global rank that the arguments of a collective tell: "Rank" is the place among "Process Group Ranks", or else
 * counts from "Global rank start" by "Global rank stride".  -1 where the entry has none. */
int64_t tl_entry_rank(const tl_fields *fields);

/* Whether the text of an entry, not yet parsed, may be that of device work: a category of it stands there in quotes. */
bool tl_entry_may_be_device_work(tl_text entry);

#endif
