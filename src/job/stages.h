/* stages.h - what the stages of a run hand on, and those that are files of their own. */
#ifndef JOB_STAGES_H
#define JOB_STAGES_H

#include "tlmpi/analysis/wait.h"
#include "tlmpi/job/call/options.h"
#include "tlmpi/job/read/rank_result.h"
#include "tlmpi/job/transport/work_queue.h"
#include "tlmpi/model/tables.h"
#include "tlmpi/par/par.h"
#include "tlmpi/store/store.h"

typedef struct tl_job {
    const tl_options *options;
    tl_rules rules;
    tl_plan plan;
    tl_tables tables;             /* rows of the ranks that this proc has read; of all ranks on proc 0 after gather */
    tl_participants participants; /* of the ranks that this proc has read; matching uses them up */
    tl_exposures exposures;       /* likewise */
    tl_details details;
    tl_rank_graphs graphs;
    tl_late_rows late;
    tl_writer *writer; /* proc 0 alone, as all below */
    tl_store *store;
    char *output;
} tl_job;

static inline bool tl_is_first(void)
{
    return tl_par_proc() == 0;
}

/* begin.c, collective: rules, files, tables: what every proc needs before it can read; then the output. */
tl_status tl_job_prepare(tl_job *j, tl_error *err);
tl_status tl_job_open_output(tl_job *j, tl_error *err);

/* reading.c, collective: reads ranks until there are no more. */
tl_status tl_job_read(tl_job *j, bool analyse, tl_error *err);

/* finish.c, on proc 0: reductions, the file, the words.  seconds: from when the run started, of the same clock.  *code
 * is the exit status that the traces call for. */
tl_status tl_job_finish(tl_job *j, double start_s, int *code, tl_error *err);

/* Seconds of a clock that only goes forward. */
double tl_now_s(void);

#endif
