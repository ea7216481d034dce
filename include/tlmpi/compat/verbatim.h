/* verbatim.h - the values of a trace's entries exactly as written, which only the tables of other programs need.
 *
 * One of the common files of compat, with csv.h (tables as pandas writes them) and python.h (numbers and texts as
 * Python has them).  The common files depend on none of the other programs' tables, and use only trace.
 *
 * Times are the doubles that Python reads, ids may be texts, and arguments are as written.  The columns extend the
 * columns of the trace (tlmpi/trace/event/events.h): entry i of each column belongs to event i.
 *
 *     tl_verbatim words = { 0 };
 *     const tl_entry_hook hook = tl_verbatim_hook(&words, true);
 *     const tl_read_options options = { .keep = ~0u, .hook = &hook };
 *     st = tl_trace_read(path, &options, &trace, err);
 */
#ifndef TLMPI_COMPAT_VERBATIM_H
#define TLMPI_COMPAT_VERBATIM_H

#include "tlmpi/trace/event/hook.h"

/* A value that is only compared and shown.  An integer with an absolute value below 2^61 is stored as such; any other
 * value as the names id of its text, with the bit TL_REF_TEXT and, for a number, the bit TL_REF_NUMBER; an absent value
 * is TL_REF_NONE. */
typedef int64_t tl_ref;
#define TL_REF_NONE   INT64_MIN
#define TL_REF_TEXT   (INT64_C(1) << 62)
#define TL_REF_NUMBER (INT64_C(1) << 61)

/* Values of one event.  Names ids refer to the names of the trace. */
typedef struct tl_more {
    tl_ref correlation, external_id;                     /* args.correlation, args["External id"] */
    tl_ref id;                                           /* the entry's own id, as flows have */
    uint32_t kind, labels;                               /* names ids of args.kind, args.labels */
    uint32_t input_dims, input_strides, concrete_inputs; /* names ids of the args' JSON texts */
    uint32_t has;                                        /* TL_MORE_... */
} tl_more;
#define TL_MORE_ARGS        1u
#define TL_MORE_PH          2u
#define TL_MORE_PID         4u
#define TL_MORE_TID         8u
#define TL_MORE_CORRELATION 16u /* the key is there, even if its value is null */
#define TL_MORE_WHOLE_TS    32u /* ts is written as an integer */
#define TL_MORE_WHOLE_DUR   64u /* dur is written as an integer */

/* The args of an event of the category cuda_profiler_range: the names id of their JSON text. */
typedef struct tl_range_args {
    uint32_t event, args;
} tl_range_args;

/* Zero-initialise; tl_verbatim_free ends it. */
typedef struct tl_verbatim {
    size_t cap;
    double *ts, *dur;             /* us; NaN where absent */
    int64_t *stream;              /* args.stream, even if only for display; -1: absent, or no integer */
    tl_more *more;                /* NULL unless the hook was made with `more` */
    TL_VEC(tl_range_args) ranges; /* ascending by event */
} tl_verbatim;

/* Returns the hook that fills *words, which must not move until the trace has been read.  Without `more`, words->more
 * stays NULL.  Device work counts with any ph, as in the other programs. */
tl_entry_hook tl_verbatim_hook(tl_verbatim *words, bool more);
void tl_verbatim_free(tl_verbatim *words);

#endif
