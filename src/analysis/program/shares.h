/* shares.h - what the segments of a program spent their time on. */
#ifndef ANALYSIS_PROGRAM_SHARES_H
#define ANALYSIS_PROGRAM_SHARES_H

#include "build.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/span.h"

/* Begun by tl_shares_begin, ended by tl_shares_free. */
typedef struct tl_shares {
    const tl_building *b;
    const tl_activity *activity;
    tl_activity_cursor cursor;
    tl_parts *of; /* by segment */
    size_t nsegments;
    TL_VEC(tl_span) late; /* when something stood still because its launch was to come */
} tl_shares;

bool tl_shares_begin(tl_shares *s, const tl_building *b, const tl_activity *activity, size_t nsegments);
void tl_shares_free(tl_shares *s);

/* [from_ns, to_ns) was work of a segment.  Calls come in order of from_ns. */
void tl_shares_work(tl_shares *s, uint32_t segment, int64_t from_ns, int64_t to_ns);

/* In [from_ns, to_ns) a launch was late: charged to the segments in which the host was then, each instant once.  In any
 * order.  False when memory is out. */
bool tl_shares_late(tl_shares *s, int64_t from_ns, int64_t to_ns);

/* Writes the shares of the program, and where those of each segment begin.  False when memory is out. */
bool tl_shares_write(tl_shares *s, tl_program *out);

#endif
