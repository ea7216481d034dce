/* facts.h - counts and sums for the whole job, from the tables of a result, without judgement.
 *
 * The facts are the same whether the tables have just been made or are read back from a file.
 */
#ifndef TLMPI_MODEL_FACTS_H
#define TLMPI_MODEL_FACTS_H

#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/table.h"
#include "tlmpi/model/tables.h"
#include <stdbool.h>

/* Counts that tell how far a verdict can be trusted. */
typedef struct tl_trust {
    size_t nranks;              /* ranks with device work */
    size_t missing, damaged;    /* ranks without a trace; ranks whose trace is cut or damaged */
    int64_t untimed, events;    /* events without a valid duration; all events kept */
    size_t workless;            /* ranks whose trace has no device work */
    size_t launchless;          /* ranks whose trace lacks more than a small part of the launches of their device
                                 * work */
    size_t duplicates;          /* ranks with another trace of the same time */
    int32_t world, other_world; /* the largest size of the job that a trace tells, and the smallest; -1: none */
    size_t unmarked;            /* ranks that mark no steps, and share no collective with ranks that do */
    size_t following;           /* ranks whose steps are taken from the ranks that they meet in collectives */
    size_t nsteps, left_out;    /* steps; steps among them that not all ranks have whole, which are not judged */
    int64_t collectives, matched;
    int64_t outside;              /* matched collectives in no step, though some rank marks steps */
    int64_t judged;               /* collectives whose last rank to arrive is known: only these count for a verdict */
    int64_t clocks, shifted;      /* clocks of the job; ranks whose times were shifted */
    bool untied;                  /* the clocks of some hosts cannot be compared with the others */
    bool apart;                   /* as untied, and recordings do not overlap, so that the job's time includes the
                                   * clocks' offset */
    int64_t clock_uncertainty_ns; /* the most that two clocks may be apart; 0: one clock */
    int64_t clock_off_ns;         /* largest certain offset of a clock that is not corrected; 0: none */
    int64_t clock_step_ns;        /* largest step of a clock within the recording; 0: none */
    int64_t blurred;              /* collectives whose arrivals are closer together than clocks can tell */
    int64_t hidden_wait_ns;       /* waiting charged to no rank: clocks cannot tell which rank was late */
    int64_t known_wait_ns;        /* waiting charged to a late rank */
    int64_t ends_ns;              /* largest distance between ranks' ends of a collective that ranks leave together;
                                   * -1: none */
    bool simulated;               /* the replay gives the measured time */
    double model_error;           /* relative error of the replay; NaN: nothing was replayed */
} tl_trust;

typedef struct tl_facts {
    tl_trust trust;
    int64_t measured_ns;      /* longest wall time of a rank; 0: no rank has device work */
    int64_t comm_unknown_ns;  /* mean over ranks of the exposed communication that may be waiting or transfer */
    int64_t wall_ns;          /* time of the window that all ranks have recorded: replayed where the replay is
                               * trusted */
    int64_t wait_ns;          /* GPU time spent waiting in matched collectives, summed over ranks */
    int64_t path_ns;          /* length of the critical path across ranks; 0: unknown */
    int64_t unexplained_ns;   /* part of path_ns that nothing explains */
    int64_t together_gain_ns; /* gain if all suspects were repaired; -1: unknown */
    int64_t links_gain_ns;    /* gain if all slow links were repaired; -1: there are none */
} tl_facts;

/* Fills *out from tables rank, breakdown, health, straggler, quality, step, blame_step, whatif, clock and
 * critical_path; an empty table leaves its facts unknown. */
void tl_facts_find(tl_tables *tables, tl_facts *out);

/* Returns whether the rank's trace has device work, as far as table rank tells. */
bool tl_rank_has_work(const tl_table *ranks, int32_t rank);

/* Returns the rank's row in table rank; NULL: none. */
const tl_rank *tl_rank_row(tl_tables *tables, int32_t rank);

/* Returns the group's row in table group; NULL: none. */
const tl_group_row *tl_group_of(const tl_table *groups, int32_t group);

/* Returns a key of the row's host, equal only for ranks of one host; 0: the trace does not tell the host. */
uint64_t tl_host_key(const tl_rank *row);

/* Returns whether the name was made for a host that no trace names: "pids A-B", from the process ids of the host's
 * ranks. */
bool tl_is_host_of_pids(const char *name, size_t size);

/* Sums by activity the time that other ranks waited for these ranks (ascending); entry TL_NACTIVITIES: no known
 * activity.  Waits of these ranks for each other are excluded. */
void tl_delay_costs_by_activity(const tl_table *blame, const int32_t *ranks, size_t n,
                                int64_t activities[TL_NACTIVITIES + 1]);

#endif
