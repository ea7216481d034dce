/* rank_result.h - reads one trace and makes its rank's results: rows of tables, participants in collectives, graph. */
#ifndef TLMPI_JOB_READ_RANK_RESULT_H
#define TLMPI_JOB_READ_RANK_RESULT_H

#include "tlmpi/analysis/collective/match/behave.h"
#include "tlmpi/analysis/rank/time.h"
#include "tlmpi/analysis/rank/work/local.h"
#include "tlmpi/analysis/verdict/graph.h"
#include "tlmpi/job/read/execution.h"
#include "tlmpi/job/read/plan.h"
#include "tlmpi/model/names.h"
#include "tlmpi/model/participant.h"
#include "tlmpi/model/table.h"
#include "tlmpi/trace/read/reader.h"
#include "tlmpi/trace/view.h"

typedef struct tl_rank_result {
    int32_t rank;     /* the item's; of a single file the one in its text */
    tl_tables tables; /* one for each schema of the registry */
    tl_names names;   /* of the NAME cells */
    int64_t first_ns; /* first start in the interval table, TL_TIME_UNKNOWN without rows */
} tl_rank_result;

/* How to read; the same for every rank of a run. */
typedef struct tl_rank_reading {
    const tl_options *options;
    const tl_rules *rules;
    const tl_plan *plan;           /* has the execution traces to link */
    const tl_selection *selection; /* the part of the trace to read; NULL: everything */
    tl_found *found;               /* gets the steps and times that could be selected */
    bool analyse;                  /* false: read and count only */
    tl_participants *participants; /* gets the rank's participants in collectives */
    tl_exposures *exposures;       /* gets the spans of exposed communication */
    tl_rank_graphs *graphs;        /* gets the rank's graph */
    bool label;                    /* the graph has labels */
    tl_behaviours *behaviours;     /* gets sightings of kernels of unknown names; NULL: names are decided */
    tl_work_by_name *work_by_name; /* gets the names with most of the rank's time */
    /* Reads the trace: tl_trace_read or tl_team_read. */
    tl_status (*read)(void *arg, const tl_plan_item *item, const tl_read_options *options, tl_trace *out,
                      tl_error *err);
    void *read_arg;
    void (*tick)(void *);
    void *tick_arg;
} tl_rank_reading;

/* Writes the steps, times or both that the traces have, whichever the selection is by: "steps 4-6", "events from 0 to
 * 2.6 ms".  Sorts the steps. */
void tl_found_words(const tl_found *found, const tl_selection *selection, char *out, size_t n);

/* Returns the options for reading the traces of a run. */
tl_read_options tl_rank_read_options(const tl_rank_reading *how);

/* Reads a rank's windows into one trace; records: of their hooks, if reading has one.  An unreadable window counts as
 * damage; fails only if all are unreadable. */
tl_status tl_rank_read_windows(const tl_plan_item *item, const tl_read_options *reading, tl_records *records,
                               tl_trace *trace, tl_error *why);

/* Reads the trace and runs the analyses.  A trace that cannot be read is a result, too: a row in `rank` that says why.
 * tl_rank_result_free ends *out. */
void tl_rank_read(const tl_plan_item *item, const tl_rank_reading *how, tl_rank_result *out);

void tl_rank_result_free(tl_rank_result *result);

#endif
