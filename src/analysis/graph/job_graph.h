/* job_graph.h - the graphs of all ranks on their way to one. */
#ifndef ANALYSIS_GRAPH_JOB_GRAPH_H
#define ANALYSIS_GRAPH_JOB_GRAPH_H

#include "tlmpi/analysis/graph.h"
#include "tlmpi/analysis/untraced_ranks.h"
#include "tlmpi/base/hash.h"

/* Whose kernel a row is. */
typedef struct tl_member {
    int64_t start_ns; /* on the rank's clock */
    uint32_t rank;    /* index */
    uint32_t port;    /* TL_NONE: the rank's graph has no such kernel */
} tl_member;

typedef struct tl_job_graph_draft {
    const tl_job_graph_input *in;
    const tl_asker *asker;
    tl_job_graph *out;
    tl_arena arena;               /* of all but what is in lists */
    const tl_rank_graph **graphs; /* by rank */
    uint32_t **release_of;        /* by rank and pause */
    tl_clock_shift *shifts;
    tl_member *members;           /* by row */
    TL_VEC(uint64_t) false_votes; /* of any rank */
    int32_t **step_of;            /* by rank: of each of its segments; NULL: its nodes have their steps */
    TL_VEC(tl_meeting) meetings;
    TL_VEC(tl_meeting_edge) edges; /* what meetings wait for, one meeting after the other */
    tl_untraced_ranks_input untraced_input;
    tl_untraced_arrivals *arrivals;
} tl_job_graph_draft;

static inline const tl_member *tl_member_of(const tl_job_graph_draft *j, const tl_late_row *row)
{
    return &j->members[row - j->in->rows];
}

/* match.c: all meetings, of those who have a trace; ports know theirs. */
void tl_job_graph_match_ranks(tl_job_graph_draft *j);

/* match.c: adds the arrivals of untraced ranks to the meetings, once the graphs of ranks are final. */
void tl_job_graph_add_untraced(tl_job_graph_draft *j);

/* final_graph.c: the question, and its answer; what is left out is counted in the graph. */
void tl_finalize_question_put(const tl_job_graph_draft *j, size_t rank, tl_bytes *out);
void tl_final_graph_get(tl_job_graph *graph, size_t rank, tl_bytes *in);

/* inter_collective_path.c: the paths between collectives of all ranks whose role has a rank without a trace.  The
 * caller frees out->list.v and out->of. */
void tl_job_graph_find_paths(const tl_job_graph_draft *j, tl_inter_collective_paths *out);

/* unrecorded_waits.c: which pauses were waits.  release_of[i][p]: what released pause p of ranks[i], an index of its
 * releases, or TL_NONE.  graphs[nranks].  Counts them in out->npauses and nwaits. */
void tl_job_graph_find_unrecorded_waits(const tl_rank_graph *const *graphs, size_t nranks, uint32_t *const *release_of,
                                        tl_job_graph *out);

#endif
