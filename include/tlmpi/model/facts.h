/* facts.h - what the tables of a result come to, for the job as a whole: counts and sums, and no judgement.
 *
 * The same whether the tables have just been made or are read back from a file.
 */
#ifndef TLMPI_MODEL_FACTS_H
#define TLMPI_MODEL_FACTS_H

#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/table.h"
#include "tlmpi/model/tables.h"
#include <stdbool.h>

/* What a verdict rests on. */
typedef struct tl_trust {
    size_t nranks;              /* with device work */
    size_t missing, damaged;    /* ranks without a trace; with one that is cut or damaged */
    int64_t untimed, events;    /* events without a duration that can be, and all that were kept */
    size_t workless;            /* ranks whose trace has no device work */
    size_t launchless;          /* ranks whose trace lacks the launches of more than a tenth of their device work */
    size_t duplicates;          /* ranks of which there is another trace of the same time */
    int32_t world, other_world; /* the largest size of the job that a trace tells, and the smallest; -1: none */
    size_t unmarked;            /* ranks without marks of steps, which meet none of those that have some */
    size_t following;           /* ranks whose steps are those of the ranks that they meet ... */
    size_t misnumbered;         /* ... of these, that have marks with other numbers than the rest */
    int64_t stood_in;           /* of those without, others stand for so many in the replay */
    size_t nsteps;
    int64_t collectives, matched;
    int64_t outside;              /* matched, in no step, though some rank marks steps */
    int64_t judged;               /* collectives in which it is sure enough who came last: those that count */
    int64_t clocks, shifted;      /* clocks of the job; ranks whose times were shifted */
    bool untied;                  /* nothing compares the clocks of some hosts with others' */
    int64_t clock_uncertainty_ns; /* how far two of them may be apart; 0 of a single one */
    int64_t clock_off_ns;         /* by how much one of them is surely off, uncorrected, at most; 0: none is */
    int64_t clock_step_ns;        /* by how much one of them steps in the middle of the recording, at most; 0: none does */
    int64_t blurred;              /* collectives whose arrivals are nearer together than that */
    int64_t hidden_wait_ns;       /* waiting of which clocks cannot tell for whom it was ... */
    int64_t known_wait_ns;        /* ... and of which they can */
    int64_t ends_ns;              /* largest distance of the ends of ranks that end together; -1: none do */
    bool simulated;               /* the replay gives the measured time */
    double model_error;           /* NaN: nothing was replayed */
} tl_trust;

typedef struct tl_facts {
    tl_trust trust;
    int64_t measured_ns;      /* wall time of the rank with the longest; 0: no rank has device work */
    int64_t comm_unknown_ns;  /* of the mean rank: exposed communication that may be waiting or transfer */
    int64_t wall_ns;          /* of the window that all ranks have recorded: replayed where that is to be trusted */
    int64_t wait_ns;          /* GPU time that all waited in matched collectives, summed over ranks */
    int64_t path_ns;          /* the critical path across ranks; 0: not known */
    int64_t unexplained_ns;   /* what of it nothing explains */
    int64_t together_gain_ns; /* gain if all suspects were repaired; -1: not known */
    int64_t links_gain_ns;    /* gain if all slow links were; -1: there are none */
} tl_facts;

/* From tables rank, breakdown, health, straggler, quality, step, blame_step, whatif, clock and critical_path; one that is empty
 * tells nothing.  Rows are borrowed from them. */
void tl_facts_find(tl_tables *tables, tl_facts *out);

/* Whether the rank's trace shows device work, as far as table rank tells. */
bool tl_rank_has_work(const tl_table *ranks, int32_t rank);

/* The row of table rank; NULL: none. */
const tl_rank *tl_rank_row(tl_tables *tables, int32_t rank);

/* The same for the ranks of one host, and for no others; 0: the trace does not tell the host. */
uint64_t tl_host_key(const tl_rank *row);

/* A host that no trace names: "pids A-B", made of the process ids of its ranks. */
bool tl_is_host_of_pids(const char *name, size_t size);

/* What others waited for these ranks (ascending), by activity; TL_NACTIVITIES: by none.  What they waited for each
 * other is left out. */
void tl_delay_costs_by_activity(const tl_table *blame, const int32_t *ranks, size_t n,
                                int64_t activities[TL_NACTIVITIES + 1]);

#endif
