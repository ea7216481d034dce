/* cause.h - in which work, by name, does a late rank differ from its peers?
 *
 *     name          rank 3    peers                        excess of 3 over their median
 *     gemm          40 ms     20, 20, 21 ms    same count  20 ms: slower
 *     relu           5 ms      5,  5,  5 ms                -
 *     gc.collect     3 ms      0,  0,  0 ms                3 ms of idle time
 *
 * The kind of cause is known from replays (verdict.h).  Names tell the dominant work, and for a slow device also
 * whether some kernels take longer (COMPUTE_SLOW), all kernels do (THROTTLED), or there is more to compute (MORE_WORK).
 *
 * May use local.
 */
#ifndef TLMPI_ANALYSIS_VERDICT_CAUSE_H
#define TLMPI_ANALYSIS_VERDICT_CAUSE_H

#include "tlmpi/analysis/rank/work/local.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/table.h"

/* One name of one rank, summed over the steps of the question. */
typedef struct tl_cause_row {
    uint64_t name; /* content key */
    int64_t ns, size;
    int32_t rank;
    uint32_t count, depth; /* as in tl_named_work */
    uint8_t kind;          /* tl_named_work_kind */
    uint8_t activity;      /* tl_activity_kind */
    uint8_t frame;
} tl_cause_row;

/* A name in which the rank spends more than any of its peers. */
typedef struct tl_dominant_work {
    uint64_t name;            /* content key */
    int64_t own_ns, peers_ns; /* of the rank, and the median of its peers: device time of a kernel or copy; host time of
                               * an operator, annotation or frame, without nested ones */
    bool host;
} tl_dominant_work;

enum { TL_DOMINANT_WORK_MOST = 3 };

typedef struct tl_cause_found {
    tl_cause cause;         /* COMPUTE_SLOW may become THROTTLED or MORE_WORK; other causes stay */
    uint64_t dominant_work; /* content key of a name; 0: none has most of the excess */
    tl_dominant_work dominant[TL_DOMINANT_WORK_MOST]; /* largest excess first; no two names cover the same time */
    size_t ndominant;
    tl_against against; /* what the rank is compared with */
} tl_cause_found;

/* The question about one suspect. */
typedef struct tl_cause_question {
    int32_t rank;
    size_t npeers;    /* number of other ranks; a rank without a row for a name spends 0 ns in it */
    tl_cause cause;   /* why the rank is late */
    int64_t least_ns; /* smallest excess, ns, of a name that is listed in `dominant` */
} tl_cause_question;

/* Finds the names in which a rank exceeds its peers.  rows: of the rank and its peers, in any order, no two with the
 * same (kind, name, rank); sorted here by these. */
void tl_cause_find(tl_cause_row *rows, size_t n, const tl_cause_question *question, tl_cause_found *found);

/* ----------------------------------------------------------------------------------------------------------- asking */

/* Messages: proc 0 asks all procs about one suspect and its peers; each proc answers with the work by name of its
 * ranks. */

/* A step number that stands for all steps and the time outside of steps. */
enum { TL_ALL_STEPS = INT32_MIN };

/* One suspect.  Zero-initialise; tl_asking_free ends it. */
typedef struct tl_asking {
    int32_t *ranks; /* the suspect, and its peers */
    int32_t *steps;
    int32_t *others; /* for a suspect without peers: its other steps, which take the place of peers */
    size_t nranks, nsteps, nothers;
    int64_t least_ns;   /* on proc 0 only: least cost times the time of the steps, ns */
    tl_against against; /* on proc 0 only: what the suspect is compared with */
    int32_t *told; /* the message that holds the arrays, on procs that received it; NULL: each array is allocated by
                    * itself */
} tl_asking;

void tl_asking_free(tl_asking *asking);

/* Rows [first, end) of tl_work_by_name belong to one rank: a question about few ranks skips the rows of others.
 * Zero-initialise; free(v) ends it. */
typedef struct tl_rank_run {
    int32_t rank;
    size_t first, end;
} tl_rank_run;

typedef TL_VEC(tl_rank_run) tl_rank_runs;

void tl_rank_runs_list(const tl_work_by_name *work_by_name, tl_rank_runs *runs);

/* Returns this proc's rows for the question, summed over its steps; a row of an "other" step counts `nsteps` times.
 * The caller frees *rows. */
void tl_asking_answer(const tl_work_by_name *work_by_name, const tl_rank_runs *runs, const tl_asking *asking,
                      tl_cause_row **rows, size_t *n);

/* The ranks of the job; on proc 0 only. */
typedef struct tl_cause_input {
    const int32_t *ranks;  /* ascending */
    const uint32_t *roles; /* [nranks]: ranks of one role are peers */
    size_t nranks;
    double least_cost; /* as in tl_verdict_options */
} tl_cause_input;

/* Lists the rows of table straggler whose rank is late by a cause of its own (not by a link or another group).  The
 * caller frees *suspects. */
void tl_suspects_list(const tl_table *stragglers, uint32_t **suspects, size_t *n);

/* Makes the question about one suspect: its flagged steps against its peers; without peers, against its other steps; if
 * these are too few, against all ranks. */
void tl_asking_make(const tl_cause_input *in, tl_tables *tables, const tl_straggler *row, tl_asking *asking);

#endif
