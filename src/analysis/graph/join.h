/* join.h - the graphs of all ranks on their way to one. */
#ifndef ANALYSIS_GRAPH_JOIN_H
#define ANALYSIS_GRAPH_JOIN_H

#include "tlmpi/analysis/graph.h"
#include "tlmpi/base/hash.h"

/* A rank's clock: how far the job's is ahead of it, at two instants and between them. */
typedef struct tl_clock_shift {
    int64_t first_ns, last_ns; /* on the rank's clock */
    int64_t first_by_ns, last_by_ns;
} tl_clock_shift;

typedef struct tl_absentees tl_absentees;

/* Whose kernel a row is. */
typedef struct tl_member {
    int64_t start_ns; /* on the rank's clock */
    size_t comm;      /* among those of all ranks */
    uint32_t rank;    /* index */
    uint32_t arrival; /* TL_NONE: the rank's graph has no such kernel */
} tl_member;

typedef struct tl_joining {
    const tl_graph_input *in;
    tl_graph *out;
    const tl_rank_graph **graphs; /* by rank */
    uint32_t **release_of;        /* by rank and pause */
    tl_clock_shift *shifts;
    tl_member *members;           /* by row */
    tl_map false_votes;
    size_t *first_comm;           /* [nranks + 1] by rank: its comms among all */
    uint32_t *meeting_of;         /* by comm: the meeting that its END waits for, TL_NONE */
    TL_VEC(tl_node) meetings;     /* their first_edge is among ... */
    TL_VEC(tl_edge) arrivals;     /* ... what they wait for, one meeting after the other */
    tl_absentees *absentees;
    bool failed;
} tl_joining;

static inline const tl_member *tl_member_of(const tl_joining *j, const tl_late_row *row)
{
    return &j->members[row - j->in->rows];
}

/* meet.c: all meetings.  `failed` when memory is out. */
void tl_graph_meet(tl_joining *j);

/* absent.c, for meet.c: ranks that have no trace.  *out is NULL when memory is out. */
tl_absentees *tl_absentees_new(const tl_graph_input *in);
void tl_absentees_free(tl_absentees *absentees);

/* How many of those who take part in a collective have no trace. */
size_t tl_absentees_count(const tl_absentees *absentees, const tl_late_row *row);

/* When they came, the last of them, where that was after last_ns, the last arrival of those that have a trace: the transfer, which
 * ended at end_ns, took longer than usual.  INT64_MIN: not later, or nothing is known. */
int64_t tl_absentees_came(const tl_absentees *absentees, const tl_late_row *row, size_t nrows, int64_t last_ns, int64_t end_ns);

/* The meeting in which the i-th of them was last before at_ns; TL_NONE: in none.  There are tl_absentees_count. */
uint32_t tl_absentees_before(const tl_absentees *absentees, const tl_late_row *row, size_t i, int64_t at_ns);

/* They have been in a meeting that ended then.  False when memory is out. */
bool tl_absentees_met(tl_absentees *absentees, const tl_late_row *row, uint32_t meeting, int64_t done_ns);

/* untold.c: which pauses were waits.  release_of[i][p]: what released pause p of ranks[i], an index of its releases, or
 * TL_NONE.  graphs[nranks].  Counts them in out->npauses and nwaits.  False when memory is out. */
bool tl_graph_untold(const tl_rank_graph *const *graphs, size_t nranks, uint32_t *const *release_of, tl_graph *out);

/* order.c: fills order, dropping edges of cycles, and rest_ns.  False when memory is out. */
bool tl_graph_order(tl_graph *graph);

#endif
