/* stages.h - the state that the stages of a run share, and the stages that have files of their own. */
#ifndef JOB_STAGES_H
#define JOB_STAGES_H

#include "tlmpi/analysis/collective/match/behave.h"
#include "tlmpi/analysis/collective/wait.h"
#include "tlmpi/analysis/verdict/whatif.h"
#include "tlmpi/job/call/options.h"
#include "tlmpi/job/read/plan.h"
#include "tlmpi/job/read/rank_result.h"
#include "tlmpi/job/run.h"
#include "tlmpi/job/transport/work_queue.h"
#include "tlmpi/model/table.h"
#include "tlmpi/model/tables.h"
#include "tlmpi/par/par.h"
#include "tlmpi/report/answers/answers.h"
#include "tlmpi/store/store.h"

enum { TL_SELECTION_BYTES = 1024 };

typedef struct tl_job {
    const tl_options *options;
    tl_rules rules;
    tl_plan plan;
    bool selected; /* the options select a part of the traces, by `selection` */
    tl_selection selection;
    tl_found found;               /* extent of the traces that this proc has read; on proc 0 after
                                   * tl_job_check_selection of all traces */
    tl_tables tables;             /* rows of the ranks that this proc has read; of all ranks on proc 0 after gather */
    tl_participants participants; /* of the ranks that this proc has read; matching uses them up */
    tl_exposures exposures;       /* of the ranks that this proc has read; matching uses them up */
    tl_behaviours behaviours;     /* of the ranks that this proc has read, until tl_job_reread decides which of them
                                   * communicate */
    tl_work_by_name work_by_name;
    tl_rank_graphs graphs;
    tl_late_rows late;
    int stopped_by;          /* the signal that ended the reading early; 0: none */
    tl_whatif_study *whatif; /* NULL: no what-if study is wanted; on proc 0 it receives the answers */
    tl_writer *writer;       /* this and all fields below: proc 0 alone */
    tl_store *store;
    char *output;
    char selected_words[TL_SELECTION_BYTES];  /* the selection in words, "ranks 0-3; steps 3-5"; empty: everything is
                                              * selected */
    char selection_notes[TL_SELECTION_BYTES]; /* parts of the selection that match nothing, and tables that are not cut;
                                               * empty: none */
} tl_job;

static inline bool tl_is_first(void)
{
    return tl_par_proc() == 0;
}

/* selection.c, collective: resolves the options that select (the first finds the traces' origin if times are selected);
 * fails if nothing is selected, once all ranks are read; describes the selection. */
tl_status tl_job_select(tl_job *j, tl_error *err);
tl_status tl_job_check_selection(tl_job *j, tl_error *err);

/* selection.c, on proc 0, once all tables are complete: adds notes on tables that the selection does not cut, or leaves
 * without rows. */
tl_status tl_job_end_selection(tl_job *j, tl_error *err);

/* begin.c, collective: rules, files and tables, which every proc needs before it can read; then the output. */
tl_status tl_job_prepare(tl_job *j, tl_error *err);
tl_status tl_job_open_output(tl_job *j, tl_error *err);

/* reading.c, collective: reads ranks until the queue is empty. */
tl_status tl_job_read(tl_job *j, bool analyse, tl_error *err);

/* reading.c, collective: if kernels that no rule names behave as communication does, takes these for communication; if
 * iterations of a server differ between ranks, takes none for steps; and then reads all ranks once more.  Does nothing
 * if a trace is a pipe. */
tl_status tl_job_reread(tl_job *j, tl_error *err);

/* reading.c, each proc: reads its share of the memory timelines into rows of scope JOB. */
void tl_job_read_memory(tl_job *j);

/* ----------------------------------------------------------------------------------------------- what proc 0 prints */

/* Lists the runs of the folder, oldest first. */
void tl_tell_runs(const tl_inventory *inventory);

/* Warns on stderr of each file left out, missing rank or damaged trace. */
void tl_tell_problems(const tl_plan *plan, tl_tables *job);

/* Prints the summary of a run.  output: path of the result file. */
void tl_tell_summary(const tl_plan *plan, tl_tables *job, const tl_answers *answers, const tl_options *options,
                     const char *output, double seconds);

/* Prints what was read: a line for each rank. */
void tl_tell_inventory(const tl_plan *plan, tl_tables *job);

/* Prints the "table hash" lines of a result file. */
tl_status tl_tell_digest(const char *path, tl_error *err);

/* Returns TL_EINPUT: nothing of the input could be read, and the cause of the first file. */
tl_status tl_fail_unreadable(tl_tables *job, tl_error *err);

/* Prints the results of tlmpi whatif.  nmissing: number of ranks without a trace. */
tl_status tl_whatif_tell(const tl_whatif_study *study, const tl_printer *print, size_t nmissing, tl_error *err);

/* Returns the exit status that the state of the input calls for. */
int tl_exit_of_input(const tl_plan *plan, tl_tables *job);

/* The commit that this program was built from: 40 digits, and "-dirty" if files differed from it; empty if the build
 * did not know it (Commit.cmake). */
extern const char tl_git_commit[];

#endif
