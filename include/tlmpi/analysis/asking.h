/* asking.h - what is to be known of a suspect and its peers, and what the details of some ranks tell of it. */
#ifndef TLMPI_ANALYSIS_ASKING_H
#define TLMPI_ANALYSIS_ASKING_H

#include "tlmpi/analysis/cause.h"
#include "tlmpi/model/table.h"

/* In place of the steps that are asked for: all there are, and what is in none. */
enum { TL_ALL_STEPS = INT32_MIN };

/* One suspect.  Zero-initialise; tl_asking_free ends it. */
typedef struct tl_asking {
    int32_t *ranks; /* the suspect, and its peers */
    int32_t *steps;
    int32_t *others; /* of a suspect that has no peers: its other steps, each of which stands for one */
    size_t nranks, nsteps, nothers;
    int32_t *told; /* where they are once all procs know them; NULL: each by itself */
} tl_asking;

void tl_asking_free(tl_asking *asking);

/* The details of one rank after the other: who asks for few ranks of many need not look at all.  Zero-initialise;
 * free(v) ends it. */
typedef struct tl_rank_run {
    int32_t rank;
    size_t first, end;
} tl_rank_run;

typedef TL_VEC(tl_rank_run) tl_rank_runs;

bool tl_rank_runs_list(const tl_details *details, tl_rank_runs *runs);

/* This proc's rows of what is asked, all steps together; other steps as many times as there are steps.  *rows is the
 * caller's to free.  False when memory is out. */
bool tl_asking_answer(const tl_details *details, const tl_rank_runs *runs, const tl_asking *asking, tl_cause_row **rows,
                      size_t *n);

/* The ranks of the job; of proc 0 alone. */
typedef struct tl_cause_input {
    const int32_t *ranks; /* ascending */
    const int32_t *roles; /* of each: those of one role are peers */
    size_t nranks;
} tl_cause_input;

/* Rows of the suspects in the table of stragglers; *suspects is the caller's to free.  False when memory is out. */
bool tl_suspects_list(const tl_table *stragglers, uint32_t **suspects, size_t *n);

/* Asks about one: its flagged steps, or its window; without peers the others, or else all ranks.  *lost_ns: the wall time that
 * they lost.  False when memory is out. */
bool tl_asking_make(const tl_cause_input *in, tl_tables *tables, const tl_straggler *row, tl_asking *asking, int64_t *lost_ns);

/* What its repair gains; 0, not known, where others hide that: the suspects together, or all hosts if none were late,
 * gain twice as much. */
int64_t tl_gain_of_asked(tl_tables *tables, const tl_straggler *row);

/* Enters what has been found: what it has more than its peers is the cause, if that is most of what they waited for it. */
void tl_take_cause(const tl_cause_found *found, int64_t lost_ns, tl_straggler *row);

#endif
