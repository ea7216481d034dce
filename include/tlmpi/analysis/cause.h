/* cause.h - why is a rank late, and at which place: what it did in the steps in which it stands out, against its peers.
 *
 *     name          rank 3    peers                        excess of 3 over their median
 *     gemm          40 ms     20, 20, 21 ms    same count  20 ms: slower
 *     relu           5 ms      5,  5,  5 ms                -
 *     gc.collect     3 ms      0,  0,  0 ms                3 ms of idle time
 *
 * First by the parts of the time, then by names within the largest: the same kernels, all or a few of them longer, or
 * more of them, or larger ones; for idle time the innermost name that covers 80 % of what any name covers.  A pure
 * function of rows.
 *
 * May use local.
 */
#ifndef TLMPI_ANALYSIS_CAUSE_H
#define TLMPI_ANALYSIS_CAUSE_H

#include "tlmpi/analysis/local.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/table.h"

/* One name of one rank, all steps that count together. */
typedef struct tl_cause_row {
    uint64_t name; /* content key; 0 for activities */
    int64_t ns, size;
    int32_t rank;
    uint32_t count, depth; /* as in tl_detail */
    uint8_t kind;          /* tl_detail_kind */
    uint8_t activity;      /* tl_activity_kind */
    uint8_t frame;
} tl_cause_row;

typedef struct tl_cause_found {
    bool found;         /* it has more time than its peers in anything */
    tl_cause cause;     /* MIXED: no activity has 80 % of the excess */
    double share;       /* of the excess that the largest activity has */
    int64_t ns;         /* the excess, all activities together */
    int64_t awaited_ns; /* so much more than it its peers communicate: they wait for it */
    uint64_t place;     /* content key of a name; 0: none stands out */
} tl_cause_found;

/* rows: of the rank and its peers, in any order; sorted here by (kind, activity, name, rank); no two with the same
 * of these.  npeers: ranks beside it; where one has no row for a name it has nothing of it.  gain_ns: what the job
 * gains when the rank is repaired; 0: not known.  Where work of the device is most of what the rank has more, and all
 * together are more than that, the rest is the lead of its host, which it has lost over that work: peers that wait for
 * it launch ahead meanwhile.  The same holds where one copy, or one thing that the host is known to have done, makes up
 * most of what the repair gains: idle time beyond that is the same delay, met again.  False when memory is out. */
bool tl_cause_find(tl_cause_row *rows, size_t n, int32_t rank, size_t npeers, int64_t gain_ns, tl_cause_found *found);

/* What an activity (tl_activity_kind) is called where nothing more is known of it; UNKNOWN where it tells no cause. */
tl_cause tl_cause_of_activity(int activity);

/* ----------------------------------------------------------------------------------------------------------- asking */

/* What is to be known of a suspect and its peers, and what the details of some ranks tell of it. */

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
    const int32_t *ranks;  /* ascending */
    const uint32_t *roles; /* of each: those of one role are peers */
    size_t nranks;
} tl_cause_input;

/* Rows of the suspects in the table of stragglers; *suspects is the caller's to free.  False when memory is out. */
bool tl_suspects_list(const tl_table *stragglers, uint32_t **suspects, size_t *n);

/* Asks about one: its flagged steps, or its window; without peers the others, or else all ranks.  *lost_ns: the wall
 * time that they lost.  False when memory is out. */
bool tl_asking_make(const tl_cause_input *in, tl_tables *tables, const tl_straggler *row, tl_asking *asking,
                    int64_t *lost_ns);

/* What its repair gains; 0, not known, where others hide that: the suspects together, or all hosts if none were late,
 * gain twice as much. */
int64_t tl_gain_of_asked(tl_tables *tables, const tl_straggler *row);

/* Enters what has been found: what it has more than its peers is the cause, if that is most of what they waited for
 * it. */
void tl_take_cause(const tl_cause_found *found, int64_t lost_ns, tl_straggler *row);

#endif
