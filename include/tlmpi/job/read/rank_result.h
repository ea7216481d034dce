/* rank_result.h - from one trace file to what is known of its rank alone: rows of tables, parts in collectives,
 * graph. */
#ifndef TLMPI_JOB_READ_RANK_RESULT_H
#define TLMPI_JOB_READ_RANK_RESULT_H

#include "tlmpi/job/read/plan.h"
#include "tlmpi/analysis/behave.h"
#include "tlmpi/analysis/graph.h"
#include "tlmpi/analysis/time.h"
#include "tlmpi/analysis/local.h"
#include "tlmpi/model/names.h"
#include "tlmpi/model/participant.h"
#include "tlmpi/model/table.h"
#include "tlmpi/trace/read/reader.h"
#include "tlmpi/trace/view.h"

typedef struct tl_rank_result {
    int32_t rank;     /* the item's, or what the text of a file that is alone says */
    tl_tables tables; /* one for each schema of the registry */
    tl_names names;   /* of the NAME cells */
    int64_t first_ns; /* first start in the interval table, TL_TIME_UNKNOWN without rows */
} tl_rank_result;

/* How to read; the same for every rank of a run. */
typedef struct tl_rank_reading {
    const tl_options *options;
    const tl_rules *rules;
    const tl_plan *plan;           /* whose execution traces are linked */
    const tl_selection *selection; /* the part of the trace to read; NULL: everything */
    tl_found *found;               /* gets what there was to select from */
    bool analyse;                  /* false: read and count only */
    tl_participants *participants; /* gets the rank's parts in collectives */
    tl_exposures *exposures;       /* gets the spans in which the rank did nothing but communicate */
    tl_rank_graphs *graphs;        /* gets its graph */
    bool label;                    /* ... with labels */
    tl_behaviours *behaviours;     /* gets what may show that its kernels communicate; NULL: already decided */
    tl_work_by_name *work_by_name; /* gets the names that took most of the rank's time */
    /* Reads the trace: tl_trace_read, or a team does it together. */
    tl_status (*read)(void *arg, const tl_plan_item *item, const tl_read_options *options, tl_trace *out,
                      tl_error *err);
    void *read_arg;
    void (*tick)(void *);
    void *tick_arg;
} tl_rank_reading;

/* Writes what the traces have of the selected kind: "steps 4-6", "events from 0 to 2.6 ms", or both.  Sorts the
 * steps. */
void tl_found_words(const tl_found *found, const tl_selection *selection, char *out, size_t n);

/* How the traces of a run are read. */
tl_read_options tl_rank_read_options(const tl_rank_reading *how);

/* Reads the trace and runs the analyses.  A trace that cannot be read is a result, too: a row in `rank` that says why.
 * tl_rank_result_free ends *out. */
void tl_rank_read(const tl_plan_item *item, const tl_rank_reading *how, tl_rank_result *out);

void tl_rank_result_free(tl_rank_result *result);

#endif
