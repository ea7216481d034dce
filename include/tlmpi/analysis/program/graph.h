/* graph.h - the programs of all ranks as one graph, joined where ranks meet in collectives.
 *
 * Entries, comms and segments of all ranks are numbered through: number = base of the rank + index in its program.  The
 * graph holds its input, the collectives with their members in the order in which they came, an order in which all of it can be
 * replayed, what is expected of each piece of a step (usual.h), and the times of the last replay (whatif.h).
 */
#ifndef TLMPI_ANALYSIS_PROGRAM_GRAPH_H
#define TLMPI_ANALYSIS_PROGRAM_GRAPH_H

#include "tlmpi/analysis/program/program.h"
#include "tlmpi/base/stats.h"

/* One rank in one collective: comms[comm] of programs[rank]. */
typedef struct tl_whatif_member {
    uint32_t rank, comm;
} tl_whatif_member;

/* One matched collective: members[first .. first + n). */
typedef struct tl_whatif_collective {
    uint32_t first, n;
    uint32_t like; /* collectives of one number (kind, size, ranks of the group ...) should take the same time */
    bool loose;    /* one may leave before the last has come: all-to-all, send and receive */
    uint32_t own;  /* those of one group that should; looked at only where ranks have no trace */
} tl_whatif_collective;

/* Borrowed until tl_whatif_free.  Ranks are indices. */
typedef struct tl_whatif_input {
    const tl_program *programs;
    const int64_t *offset_ns; /* added to a rank's times to have them on the clock of the job; NULL: nothing */
    const int32_t *roles;  /* ranks of one number do the same: stage of a pipeline, column of tensor parallel ranks */
    const uint32_t *hosts; /* by rank: its host (role.h); NULL: nobody knows */
    size_t nranks;
    const uint32_t *stand_in; /* [nabsent]: who stands for the (nranks + i)-th, which has no trace (absent.h) */
    size_t nabsent;           /* their programs and offsets stand behind those of the ranks */
    const tl_whatif_member *members;
    size_t nmembers;
    const tl_whatif_collective *collectives;
    size_t ncollectives;
} tl_whatif_input;

typedef enum tl_whatif_state {
    TL_WHATIF_OK,
    TL_WHATIF_EMPTY, /* nothing ran on any device */
    TL_WHATIF_ORDER, /* collectives contradict each other: each of several waits for the others */
    TL_WHATIF_ERROR  /* replayed unchanged, the job takes more than 5 % longer or shorter than it took */
} tl_whatif_state;

typedef struct tl_whatif_facts {
    tl_whatif_state state; /* but for TL_WHATIF_OK no replay is to be trusted */
    int64_t measured_ns;   /* from the first start of a recording to the last end on a device */
    int64_t simulated_ns;  /* replayed unchanged */
    size_t nsteps;
    const int32_t *steps; /* numbers of the steps, ascending */
    size_t nalone; /* pieces of communication that no collective names, or whose collective is a mistake: it contradicts
                    * others, or all of it sends */
    size_t by_sums, by_steps, uncompared; /* rank-steps: see above; uncompared: nothing to compare with */
    size_t compared;                      /* rank-steps compared segment by segment */
} tl_whatif_facts;

typedef struct tl_whatif tl_whatif;

/* All kinds of waits but the last: who waits for room in the queue has not asked to. */
enum { TL_ASKED_WAITS = TL_WAIT_QUEUE, TL_ALL_WAITS = (1 << TL_ASKED_WAITS) - 1 };

/* The whole of one rank's segments between two collectives that somebody else took part in too: what is compared. */
typedef struct tl_cell {
    int64_t work_ns, host_ns;           /* as they were */
    int64_t contended_ns;               /* of its work, what is there only because communication ran beside it */
    int64_t late_ns;                    /* for so long its work stood idle because the host was late */
    int64_t work_peer_ns, host_peer_ns; /* median of the others; its own where there is nothing to compare with */
    int64_t work_mid_ns, host_mid_ns;   /* median of all */
    int64_t work_others_ns, host_others_ns; /* median of the others in the row of part medians, chance and all */
    uint32_t first_segment;             /* its segments end where those of the next cell begin */
    uint32_t medians;                   /* row of part medians, TL_NONE */
    uint32_t step;                      /* index + 1; 0 outside all steps */
    uint32_t collective;                /* the one that ends it, TL_NONE: none does */
    uint8_t kind;                       /* of the collective that ends it, TL_NCOLLECTIVES: none does */
    uint32_t waits[TL_ASKED_WAITS];     /* how often its host asked to wait for the device, by tl_wait_kind */
    uint32_t waits_mid[TL_ASKED_WAITS]; /* median of all */
} tl_cell;

/* A part of a collective: once so many of its members, in the order in which they came, have begun, some may leave. */
typedef struct tl_stage {
    uint32_t collective;
    uint32_t first_seat, end_seat;   /* those that must have begun beside those of the stages before */
    uint32_t first_leave, end_leave; /* those that may leave */
} tl_stage;

/* What is replayed next: entries of one rank up to `to`, or a stage. */
typedef struct tl_item {
    uint32_t of; /* rank or stage */
    uint32_t to; /* TL_NONE: a stage */
} tl_item;

/* How ranks without a trace come to their seats. */
typedef enum tl_seating {
    TL_SEATED,  /* as has been found */
    TL_UNHEARD, /* never last */
    TL_FINDING  /* as the ends tell; it is being found */
} tl_seating;

/* What a rank's host was to take less time for, but had no entry for yet, in one cell. */
typedef struct tl_carry {
    const tl_cell *cell;
    int64_t ns;
    uint32_t waits[TL_ASKED_WAITS]; /* of the cell, so far */
} tl_carry;

struct tl_whatif {
    tl_whatif_input in;
    tl_whatif_facts facts;
    size_t *entry_base, *comm_base, *cell_base; /* [nranks + 1] */
    size_t nentries, ncomms, ncells;
    size_t nall;                       /* ranks, and then those that have no trace */

    /* Collectives, those of the input and then one for each comm alone. */
    uint32_t *collective_of, *rank_of; /* by comm */
    int64_t *lag_ns;                   /* by comm: as its program has it; of ranks without a trace as it must have been */
    int64_t *transfer_ns;              /* by comm: its end after the last start that it waited for, as traced */
    int64_t *tail_ns;                  /* by comm: of collectives that one may leave early, how much longer it stayed than
                                        * the median of the others; 0 if not */
    uint32_t *seats;                   /* comms of a collective together, in the order in which they came */
    uint32_t *leaves;                  /* the same, by how many they waited for */
    tl_stage *stages;                  /* those of a collective together and in order */
    size_t ncollectives, nstages;
    int64_t *like_ns;                  /* by collective of the input: transfer, and the median of those like it */
    int64_t *took_ns;
    bool *dissolved;                   /* by collective of the input: it contradicts others */
    int64_t *own_ns; /* by collective of the input, where ranks have no trace: what transfers of its group,
                      * and of any, usually take */
    int64_t *any_ns;
    double beside_part;  /* of the time that kernels run beside communication, what they would not take without it */
    int64_t *lasted_ns;  /* by comm, unchanged; NULL: nothing is known of that, or it is still being found */
    int64_t *given_back; /* by rank, while it is replayed: so much earlier its work would have ended */
    tl_seating seating;
    tl_item *order;
    size_t norder;

    tl_cell *cells;
    uint32_t **cell_of;                /* by rank: cell of each segment, counted in the rank */
    int64_t *medians;                  /* [nmedians * TL_NPARTS] */
    int32_t *steps;                    /* what facts.steps shows */
    size_t nmedians;
    uint32_t *compared;                /* the cells of each row of medians */
    size_t *first_compared;            /* [nmedians + 1] */

    /* The last replay. */
    int64_t *t;                        /* by entry */
    int64_t *start, *end;              /* by comm */
    int64_t *late;                     /* by entry of a host, unchanged: how long work stood idle for it */
    int64_t *last_start;               /* by collective, while it is replayed */
    int64_t *work_ns, *host_ns;        /* by rank: where each chain is, while it is replayed */
    uint32_t *at;                      /* by rank: entries replayed */
    tl_carry *carry;                   /* by rank */
    int64_t *step_end;                 /* by step, 0: outside */
    int64_t *step_ns;                  /* by step, unchanged */

    /* The scenario. */
    int64_t *work_cut, *host_cut;      /* by cell: taken off; below 0: added */
    int64_t *work_less, *host_less;    /* by cell: so much less is expected than of its rank alone */
    bool *inside;                      /* by cell: its rank is repaired; set only where several are */
    int64_t *numbers;                  /* by cell, scratch */
    bool *changed;                     /* by rank */
    uint8_t *unasked;                  /* by cell, bits 1 << tl_wait_kind: such that others do not ask for are left out */
    bool *untailed;                    /* by cell: tails are */
    int64_t *link_cut;                 /* by collective of the input */
};

/* Fills the collectives and the order of the graph.  False when memory is out; facts.state says whether
 * there is an order. */
bool tl_whatif_order(tl_whatif *w);

/* The time of a comm, an entry of a rank ... on the clock of the job. */
static inline int64_t tl_whatif_offset(const tl_whatif *w, uint32_t rank)
{
    return w->in.offset_ns != NULL ? w->in.offset_ns[rank] : 0;
}

#define TL_WHATIF_TIME_MAX (INT64_C(1) << 62)

/* Times added up along a path of any length. */
static inline int64_t tl_whatif_plus(int64_t a, int64_t b)
{
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum) || sum > TL_WHATIF_TIME_MAX)
        return TL_WHATIF_TIME_MAX;
    return sum;
}

#endif
