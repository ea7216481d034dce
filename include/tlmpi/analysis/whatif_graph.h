/* whatif_graph.h - the programs of all ranks as one graph: what whatif.c replays and critical.c walks back over.
 *
 * Entries, comms and segments of all ranks are numbered through: number = base of the rank + index in its program.
 */
#ifndef ANALYSIS_WHATIF_GRAPH_H
#define ANALYSIS_WHATIF_GRAPH_H

#include "tlmpi/analysis/whatif.h"
#include "tlmpi/base/stats.h"

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

/* whatif_order.c: fills the collectives and the order of the graph.  False when memory is out; facts.state says whether
 * there is an order. */
bool tl_whatif_order(tl_whatif *w);

/* whatif_peers.c: fills cells, steps and medians, which need collective_of.  False when memory is out. */
bool tl_whatif_compare(tl_whatif *w);

/* whatif_usual.c: fills like_ns and tail_ns, which need took_ns and transfer_ns.  False when memory is out. */
bool tl_whatif_compare_links(tl_whatif *w);
bool tl_whatif_find_tails(tl_whatif *w);

/* whatif_outside.c: sets work_less and host_less for ranks that are repaired together. */
void tl_whatif_look_outside(tl_whatif *w, const uint8_t *repaired);

/* whatif_contention.c: sets beside_part.  What kernels that ran so long beside communication would not have taken without it.
 * After the unchanged replay: from now on replays reckon with it.  In one, when the end of a comm is known.  False when memory
 * is out. */
bool tl_whatif_find_contention(tl_whatif *w);
int64_t tl_whatif_contended(const tl_whatif *w, int64_t beside_ns);
bool tl_whatif_keep_lengths(tl_whatif *w);
void tl_whatif_give_back(tl_whatif *w, uint32_t comm);

/* whatif_absent.c: cells for ranks without a trace, those of who stands for them; then how long these are repaired, and when
 * they come to their collectives.  False when memory is out. */
bool tl_whatif_give_cells(tl_whatif *w);
bool tl_whatif_settle(tl_whatif *w);

/* whatif_absent.c, while it finds that: seats the comms of a stage that belong to ranks without a trace; the others are. */
void tl_whatif_seat_absent(tl_whatif *w, const tl_stage *stage);

/* whatif_replay.c: replays with the cuts as they are. */
int64_t tl_whatif_replay(tl_whatif *w);

/* whatif.c: how long work stood idle for each entry of a host in the last replay; what repairing one cell takes off work and
 * host. */
void tl_whatif_find_lateness(tl_whatif *w);
void tl_whatif_surplus_of(const tl_whatif *w, uint32_t rank, size_t cell, uint32_t parts, int64_t *work_ns,
                          int64_t *host_ns);

/* The parts of one cell. */
void tl_whatif_cell_parts(const tl_whatif *w, uint32_t rank, const tl_cell *cell, tl_parts *sum);

/* whatif.c: the time of a comm, an entry of a rank ... on the clock of the job. */
static inline int64_t tl_whatif_offset(const tl_whatif *w, uint32_t rank)
{
    return w->in.offset_ns != NULL ? w->in.offset_ns[rank] : 0;
}

/* When a comm may start in the replay, but for its lag: the latest of what it waits for.  Of equals the later named in
 * program.h; *entry and *other say which it was, TL_NONE for neither. */
int64_t tl_whatif_ready(const tl_whatif *w, uint32_t comm, uint32_t *entry, uint32_t *other);

#define TL_WHATIF_TIME_MAX (INT64_C(1) << 62)

/* Times added up along a path of any length. */
static inline int64_t tl_whatif_plus(int64_t a, int64_t b)
{
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum) || sum > TL_WHATIF_TIME_MAX)
        return TL_WHATIF_TIME_MAX;
    return sum;
}

/* When the first of them starts. */
int64_t tl_whatif_first_start(const tl_whatif *w);

/* From ends of steps to their times. */
void tl_whatif_step_times(const tl_whatif *w, int64_t *step_ns);

#endif
