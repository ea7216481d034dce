/* job_graph.h - shared by the files that join the graphs of all ranks into the job's graph. */
#ifndef ANALYSIS_GRAPH_JOB_GRAPH_H
#define ANALYSIS_GRAPH_JOB_GRAPH_H

#include "tlmpi/analysis/collective/untraced_ranks.h"
#include "tlmpi/analysis/verdict/graph.h"
#include "tlmpi/base/hash.h"

/* The kernel of a row: its rank, and its port in that rank's graph. */
typedef struct tl_member {
    int64_t start_ns; /* on the rank's clock */
    uint32_t rank;    /* index of the rank */
    uint32_t port;    /* TL_NONE: the kernel is not in the rank's graph */
} tl_member;

typedef struct tl_job_graph_draft {
    const tl_job_graph_input *in;
    const tl_asker *asker;
    tl_job_graph *out;
    tl_arena arena;               /* owns the arrays */
    const tl_rank_graph **graphs; /* by rank */
    uint32_t **release_of;        /* by rank and pause: index of its release; TL_NONE: no wait */
    tl_clock_shift *shifts;
    tl_member *members;           /* by row */
    TL_VEC(uint64_t) false_votes; /* of all ranks */
    int32_t **step_of;            /* by rank and segment: its step; NULL: nodes of the rank have their steps */
    TL_VEC(tl_meeting) meetings;
    TL_VEC(tl_meeting_edge) edges; /* edges to meetings, grouped by meeting */
    tl_untraced_ranks_input untraced_input;
    tl_untraced_arrivals *arrivals;
} tl_job_graph_draft;

static inline const tl_member *tl_member_of(const tl_job_graph_draft *j, const tl_late_row *row)
{
    return &j->members[row - j->in->rows];
}

/* match.c: fills meetings from traced ranks, and the meeting of each port. */
void tl_job_graph_match_ranks(tl_job_graph_draft *j);

/* match.c: adds edges from untraced ranks to the meetings, once the graphs of ranks are final. */
void tl_job_graph_add_untraced(tl_job_graph_draft *j);

/* final_graph.c: writes the question FINAL_GRAPH; reads its answer, and adds the numbers of edges left out to the
 * graph. */
void tl_finalize_question_put(const tl_job_graph_draft *j, size_t rank, tl_bytes *out);
void tl_final_graph_get(tl_job_graph *graph, size_t rank, tl_bytes *in);

/* inter_collective_path.c: finds the paths between collectives of all ranks in a role with untraced ranks.  The caller
 * frees out->list.v and out->of. */
void tl_job_graph_find_paths(const tl_job_graph_draft *j, tl_inter_collective_paths *out);

/* unrecorded_waits.c: finds the pauses that were waits.  graphs[nranks]; release_of[i][p] gets the release of pause p
 * of ranks[i], an index of its graph's releases; TL_NONE: no wait.  Counts pauses and waits in out->npauses and
 * nwaits. */
void tl_job_graph_find_unrecorded_waits(const tl_rank_graph *const *graphs, size_t nranks, uint32_t *const *release_of,
                                        tl_job_graph *out);

#endif
