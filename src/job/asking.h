/* asking.h - what proc 0 wants to know of a suspect and its peers, and what each proc knows of it. */
#ifndef TLMPI_JOB_ASKING_H
#define TLMPI_JOB_ASKING_H

#include "tlmpi/analysis/cause.h"
#include "tlmpi/base/status.h"

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

/* Collective: what proc 0 asks, if its status is TL_OK, is known to all. */
tl_status tl_asking_share(tl_asking *asking, tl_status st, tl_error *err);

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

#endif
