/* verbatim.h - an entry of a trace to the letter, as only the tables of other programs need it.
 *
 * One of the common files of compat, with csv.h (tables as pandas writes them) and python.h (numbers and texts as
 * Python has them).  The common files know none of the programs, and may use trace alone.
 *
 * Times as the doubles that Python reads, ids that may be texts, arguments as they are written: columns beside those of
 * the trace (tlmpi/trace/event/events.h), entry i of each is event i.
 *
 *     tl_verbatim words = { 0 };
 *     const tl_entry_hook hook = tl_verbatim_hook(&words, true);
 *     const tl_read_options options = { .keep = ~0u, .hook = &hook };
 *     st = tl_trace_read(path, &options, &trace, err);
 */
#ifndef TLMPI_COMPAT_VERBATIM_H
#define TLMPI_COMPAT_VERBATIM_H

#include "tlmpi/trace/event/hook.h"

/* A value that is compared and shown, not computed with: an integer of less than 2^61 is itself; anything else is the
 * names id of its text, with the bits TL_REF_TEXT and, where it is a number, TL_REF_NUMBER; TL_REF_NONE where it is
 * absent. */
typedef int64_t tl_ref;
#define TL_REF_NONE   INT64_MIN
#define TL_REF_TEXT   (INT64_C(1) << 62)
#define TL_REF_NUMBER (INT64_C(1) << 61)

/* Names ids are of the names of the trace. */
typedef struct tl_more {
    tl_ref correlation, external_id;                     /* of its args */
    tl_ref id;                                           /* of the entry: a flow's */
    uint32_t kind, labels;                               /* names ids of args.kind, args.labels */
    uint32_t input_dims, input_strides, concrete_inputs; /* names ids of the JSON text */
    uint32_t has;                                        /* TL_MORE_... */
} tl_more;
#define TL_MORE_ARGS        1u
#define TL_MORE_PH          2u
#define TL_MORE_PID         4u
#define TL_MORE_TID         8u
#define TL_MORE_CORRELATION 16u /* the key is there, be its value null */
#define TL_MORE_WHOLE_TS    32u /* written as an integer */
#define TL_MORE_WHOLE_DUR   64u

/* The args of an event of the category cuda_profiler_range, as they are written: a names id. */
typedef struct tl_range_args {
    uint32_t event, args;
} tl_range_args;

/* Zero-initialise; tl_verbatim_free ends it. */
typedef struct tl_verbatim {
    size_t cap;
    double *ts, *dur;             /* us; NaN where absent */
    int64_t *stream;              /* args.stream, be it a lane for display; -1 where there is none, or no integer */
    tl_more *more;                /* NULL unless it was asked for */
    TL_VEC(tl_range_args) ranges; /* ascending by event */
} tl_verbatim;

/* The hook that fills *words, which must stay where it is until the trace has been read; with `more`, or times alone.
 * Device work is taken whatever its ph, as the other programs do. */
tl_entry_hook tl_verbatim_hook(tl_verbatim *words, bool more);
void tl_verbatim_free(tl_verbatim *words);

#endif
