/* untraced_ranks.h - untraced ranks, which take part in collectives and have no trace: when did they come?
 *
 *     rank 0    [ p ]====work====[   m   ]
 *     rank 1    [ p ]===work===  [   m   ]
 *     untraced  [ p ]- - - - - ->[   m   ]         as long after p as ranks of its role, no later than m allows
 *
 * The drawing holds for each p from which ranks of the role have a path to m: m waits for the latest of these arrivals,
 * and a repair may make another one the latest.
 *
 * Untraced ranks carry delays from one group to another, and no other record shows these delays: a rank that waited for
 * an untraced one may in truth have waited for a third.  Lateness of an untraced rank shows in the ranks that waited
 * for it: a transfer that takes far longer than others like it has waited for a rank.
 *
 * May use wait.
 */
#ifndef TLMPI_ANALYSIS_UNTRACED_RANKS_H
#define TLMPI_ANALYSIS_UNTRACED_RANKS_H

#include "tlmpi/analysis/wait.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/model/table.h"

typedef struct tl_untraced_ranks_input {
    const int32_t *ranks; /* [nranks], ascending: the traced ranks */
    size_t nranks;
    const tl_late_row *rows; /* as in tl_job_graph_input */
    size_t nrows;
    const tl_table *groups; /* table group: names the untraced members of collectives; NULL: all ranks are traced */
    int32_t world;          /* number of ranks of the job; 0: unknown */
} tl_untraced_ranks_input;

typedef struct tl_untraced_arrivals tl_untraced_arrivals;

/* A path of a rank from an earlier collective to the one at hand, over work without a meeting in between. */
typedef struct tl_inter_collective_path {
    int64_t ns;      /* soonest arrival, counted from when the earlier collective was done */
    int64_t from_ns; /* when the earlier collective was done */
    uint32_t from;   /* row of the rank in the earlier collective */
} tl_inter_collective_path;

typedef TL_VEC(tl_inter_collective_path) tl_inter_collective_path_list;

/* The paths of all ranks, each from the rank's row in an earlier collective to its row in a later one. */
typedef struct tl_inter_collective_paths {
    tl_inter_collective_path_list list;
    uint32_t (*of)[2]; /* [nrows] by row of arrival: the first of its paths, and their number */
} tl_inter_collective_paths;

/* The paths to one place: the longest from each meeting; of more than TL_WAYS_MOST the ones that arrive last. */
typedef struct tl_paths_to_node {
    tl_inter_collective_path *v; /* [TL_WAYS_MOST] */
    uint32_t n;
} tl_paths_to_node;

void tl_paths_to_node_add(tl_paths_to_node *to, tl_inter_collective_path path);

/* A meeting from which an untraced rank came, and how long after that meeting it arrived. */
typedef struct tl_arrival_source {
    uint32_t meeting;
    int64_t after_ns;
} tl_arrival_source;

/* One collective, and how its untraced ranks came to it. */
typedef struct tl_untraced_arrival {
    const tl_late_row *rows;
    size_t nrows;
    int64_t last_ns, end_ns;       /* last arrival of a traced rank; first end */
    uint32_t meeting;              /* number of the meeting */
    int64_t arrived_ns;            /* out: when the last of all ranks came */
    const tl_arrival_source *from; /* out, valid until the next call; without ranks that were in no meeting before */
    size_t nfrom;
    int64_t late_ns;   /* out: by how much, at least, the only untraced rank came later than ranks of its role come; 0:
                        * it was not late, or that is unknown */
    int32_t late_rank; /* out: that rank; -1: none */
} tl_untraced_arrival;

/* Borrows *in, which has to outlive the result. */
tl_untraced_arrivals *tl_untraced_arrivals_new(const tl_untraced_ranks_input *in);
void tl_untraced_arrivals_free(tl_untraced_arrivals *arrivals);

/* Returns the number of untraced ranks in a collective. */
size_t tl_untraced_arrivals_count(const tl_untraced_arrivals *arrivals, const tl_late_row *row);

/* Whether any rank is untraced; and whether ranks[rank] has the role of an untraced rank. */
bool tl_untraced_arrivals_any(const tl_untraced_arrivals *arrivals);
bool tl_untraced_arrivals_has_role(const tl_untraced_arrivals *arrivals, uint32_t rank);

/* Call tl_untraced_arrivals_add_collective for all collectives in which ranks meet; then tl_untraced_arrivals_expect,
 * with the paths of all ranks for which tl_untraced_arrivals_has_role is true; then tl_untraced_arrivals_find for each
 * collective again, to know when its untraced ranks came. */
void tl_untraced_arrivals_add_collective(tl_untraced_arrivals *arrivals, const tl_untraced_arrival *arrival);
void tl_untraced_arrivals_expect(tl_untraced_arrivals *arrivals, const tl_inter_collective_paths *paths);
void tl_untraced_arrivals_find(tl_untraced_arrivals *arrivals, tl_untraced_arrival *arrival);

#endif
