/* cause.h - what a rank that is late did otherwise than its peers: which of its work it is, and under which name.
 *
 *     name          rank 3    peers                        excess of 3 over their median
 *     gemm          40 ms     20, 20, 21 ms    same count  20 ms: slower
 *     relu           5 ms      5,  5,  5 ms                -
 *     gc.collect     3 ms      0,  0,  0 ms                3 ms of idle time
 *
 * What it is late for is known from replays (verdict.h).  Names tell where; and of computing, whether some kernels take
 * longer, or all, or there is more to compute on.
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
    uint64_t name; /* content key */
    int64_t ns, size;
    int32_t rank;
    uint32_t count, depth; /* as in tl_detail */
    uint8_t kind;          /* tl_detail_kind */
    uint8_t activity;      /* tl_activity_kind */
    uint8_t frame;
} tl_cause_row;

/* A name in which the rank spends more than any of its peers. */
typedef struct tl_cause_place {
    uint64_t name;            /* content key */
    int64_t own_ns, peers_ns; /* of the rank, and the median of its peers: device time of a kernel or copy, time of the
                               * host in an operator, annotation or frame and in none inside of it */
    bool host;
} tl_cause_place;

enum { TL_PLACES_MOST = 3 };

typedef struct tl_cause_found {
    tl_cause cause; /* COMPUTE_SLOW may be THROTTLED or MORE_WORK; the others are what they were */
    uint64_t place; /* content key of a name; 0: none stands out */
    tl_cause_place places[TL_PLACES_MOST]; /* largest excess first; no two cover the same time */
    size_t nplaces;
} tl_cause_found;

/* What is asked about a suspect. */
typedef struct tl_cause_question {
    int32_t rank;
    size_t npeers;    /* ranks beside it; where one has no row for a name it has nothing of it */
    tl_cause cause;   /* what the rank is late for */
    int64_t least_ns; /* the least excess that a place is told for */
} tl_cause_question;

/* rows: of the rank and its peers, in any order; sorted here by (kind, name, rank); no two with the same of these. */
void tl_cause_find(tl_cause_row *rows, size_t n, const tl_cause_question *question, tl_cause_found *found);

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
    int64_t least_ns; /* of proc 0 alone: VERDICT_LEAST_COST of the time of the steps */
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

void tl_rank_runs_list(const tl_details *details, tl_rank_runs *runs);

/* This proc's rows of what is asked, all steps together; other steps as many times as there are steps.  *rows is the
 * caller's to free. */
void tl_asking_answer(const tl_details *details, const tl_rank_runs *runs, const tl_asking *asking, tl_cause_row **rows,
                      size_t *n);

/* The ranks of the job; of proc 0 alone. */
typedef struct tl_cause_input {
    const int32_t *ranks;  /* ascending */
    const uint32_t *roles; /* of each: those of one role are peers */
    size_t nranks;
    double least_cost; /* as in tl_verdict_options */
} tl_cause_input;

/* Rows of the ranks that are late for something of their own in the table of stragglers; *suspects is the caller's to
 * free. */
void tl_suspects_list(const tl_table *stragglers, uint32_t **suspects, size_t *n);

/* Asks about one: its flagged steps; without peers the others, or else all ranks. */
void tl_asking_make(const tl_cause_input *in, tl_tables *tables, const tl_straggler *row, tl_asking *asking);

#endif
