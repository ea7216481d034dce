/* stages.h - what the stages of a run hand on, and the stages that are files of their own. */
#ifndef JOB_STAGES_H
#define JOB_STAGES_H

#include "tlmpi/analysis/behave.h"
#include "tlmpi/analysis/wait.h"
#include "tlmpi/analysis/whatif.h"
#include "tlmpi/job/call/options.h"
#include "tlmpi/job/read/rank_result.h"
#include "tlmpi/job/transport/work_queue.h"
#include "tlmpi/model/tables.h"
#include "tlmpi/par/par.h"
#include "tlmpi/store/store.h"

enum { TL_SELECTION_BYTES = 1024 };

typedef struct tl_job {
    const tl_options *options;
    tl_rules rules;
    tl_plan plan;
    bool selected; /* of the traces a part alone is looked at: */
    tl_selection selection;
    tl_found found;               /* what there was, in the traces that this proc has read; then on proc 0 in all */
    tl_tables tables;             /* rows of the ranks that this proc has read; of all ranks on proc 0 after gather */
    tl_participants participants; /* of the ranks that this proc has read; matching uses them up */
    tl_exposures exposures;       /* of the ranks that this proc has read; matching uses them up */
    tl_behaviours behaviours;     /* of the ranks that this proc has read, until it is decided which communicate */
    tl_work_by_name work_by_name;
    tl_rank_graphs graphs;
    tl_late_rows late;
    tl_whatif_study *whatif; /* answered on proc 0; NULL: nothing else is asked */
    tl_writer *writer; /* proc 0 alone, as all below */
    tl_store *store;
    char *output;
    char selected_words[TL_SELECTION_BYTES]; /* what is selected, "ranks 0-3; steps 3-5"; empty where everything is */
    char selection_notes[TL_SELECTION_BYTES]; /* which parts of it nothing is of, and what is whole; empty where there are none */
} tl_job;

static inline bool tl_is_first(void)
{
    return tl_par_proc() == 0;
}

/* selection.c, collective: what the options select, which may have to be looked up; once all is read, that it has left
 * something; the words for it. */
tl_status tl_job_select(tl_job *j, tl_error *err);
tl_status tl_job_check_selection(tl_job *j, tl_error *err);

/* selection.c, on proc 0, once all tables are there: adds to the words what is not cut, or has nothing of what is
 * selected. */
tl_status tl_job_end_selection(tl_job *j, tl_error *err);

/* begin.c, collective: rules, files, tables: what every proc needs before it can read; then the output. */
tl_status tl_job_prepare(tl_job *j, tl_error *err);
tl_status tl_job_open_output(tl_job *j, tl_error *err);

/* reading.c, collective: reads ranks until there are no more. */
tl_status tl_job_read(tl_job *j, bool analyse, tl_error *err);

/* reading.c, collective: where kernels that no rule names behave as communication does, all ranks are read once more, and
 * these kernels are taken for that.  Not where a trace can be read only once. */
tl_status tl_job_reread(tl_job *j, tl_error *err);

/* reading.c, each proc: reads its share of the memory timelines into rows, which are gathered as those of the job. */
void tl_job_read_memory(tl_job *j);

/* finish.c, on proc 0: reductions, the file, the words.  seconds: from when the run started, of the same clock.  *code
 * is the exit status that the traces call for. */
tl_status tl_job_finish(tl_job *j, double start_s, int *code, tl_error *err);

/* Seconds of a clock that only goes forward. */
double tl_now_s(void);

#endif
