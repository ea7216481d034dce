/* untraced_ranks.h - untraced ranks take part in collectives, but have no trace: when did they arrive?
 *
 *     rank 0    [ p ]====work====[   m   ]
 *     rank 1    [ p ]===work===  [   m   ]
 *     untraced  [ p ]- - - - - ->[   m   ]         as long after p as ranks of its role, and before the end of m
 *
 * Each earlier collective p from which ranks of the role have a path to m gives an arrival.  m waits for the latest of
 * these arrivals, and a repair may make another one the latest.
 *
 * An untraced rank passes delays from one process group to another: a rank that waited for an untraced rank may in
 * truth have waited for a third one.  If an untraced rank is late, the transfer seems to take far longer than the
 * transfers of similar collectives.
 *
 * May use wait.
 */
#ifndef TLMPI_ANALYSIS_COLLECTIVE_UNTRACED_RANKS_H
#define TLMPI_ANALYSIS_COLLECTIVE_UNTRACED_RANKS_H

#include "tlmpi/analysis/collective/wait.h"
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

/* A path of a rank from an earlier collective to a later one, over work with no meeting in between. */
typedef struct tl_inter_collective_path {
    int64_t ns;      /* length: earliest arrival minus end of the earlier collective */
    int64_t from_ns; /* end of the earlier collective */
    uint32_t from;   /* row of the rank in the earlier collective */
} tl_inter_collective_path;

typedef TL_VEC(tl_inter_collective_path) tl_inter_collective_path_list;

/* The paths of all ranks, each from the rank's row in an earlier collective to its row in a later one. */
typedef struct tl_inter_collective_paths {
    tl_inter_collective_path_list list;
    uint32_t (*of)[2]; /* [nrows] by row of arrival: index and number of its paths */
} tl_inter_collective_paths;

/* The longest path to one node from each meeting; if there are more than TL_WAYS_MOST, the latest to arrive. */
typedef struct tl_paths_to_node {
    tl_inter_collective_path *v; /* [TL_WAYS_MOST] */
    uint32_t n;
} tl_paths_to_node;

void tl_paths_to_node_add(tl_paths_to_node *to, tl_inter_collective_path path);

/* An earlier meeting of an untraced rank, and the time from the end of that meeting to the rank's arrival. */
typedef struct tl_arrival_source {
    uint32_t meeting;
    int64_t after_ns;
} tl_arrival_source;

/* One collective, and the arrivals of its untraced ranks. */
typedef struct tl_untraced_arrival {
    const tl_late_row *rows;
    size_t nrows;
    int64_t last_ns, end_ns;       /* last traced arrival; first end */
    uint32_t meeting;              /* number of the meeting */
    int64_t arrived_ns;            /* out: last arrival of all ranks, traced and untraced */
    const tl_arrival_source *from; /* out, valid until the next call; none for a rank without an earlier meeting */
    size_t nfrom;
    int64_t late_ns;   /* out: lower bound of the lateness of the only untraced rank, compared with its role; 0: not
                        * late, or unknown */
    int32_t late_rank; /* out: the late untraced rank; -1: none */
} tl_untraced_arrival;

/* Borrows *in, which has to outlive the result. */
tl_untraced_arrivals *tl_untraced_arrivals_new(const tl_untraced_ranks_input *in);
void tl_untraced_arrivals_free(tl_untraced_arrivals *arrivals);

/* Returns the number of untraced ranks in a collective. */
size_t tl_untraced_arrivals_count(const tl_untraced_arrivals *arrivals, const tl_late_row *row);

/* Whether any rank is untraced; and whether ranks[rank] has the role of an untraced rank. */
bool tl_untraced_arrivals_any(const tl_untraced_arrivals *arrivals);
bool tl_untraced_arrivals_has_role(const tl_untraced_arrivals *arrivals, uint32_t rank);

/* First tl_untraced_arrivals_add_collective for all collectives in which ranks meet; then tl_untraced_arrivals_expect,
 * with the paths of all ranks for which tl_untraced_arrivals_has_role is true; then tl_untraced_arrivals_find for each
 * collective, which fills the out fields. */
void tl_untraced_arrivals_add_collective(tl_untraced_arrivals *arrivals, const tl_untraced_arrival *arrival);
void tl_untraced_arrivals_expect(tl_untraced_arrivals *arrivals, const tl_inter_collective_paths *paths);
void tl_untraced_arrivals_find(tl_untraced_arrivals *arrivals, tl_untraced_arrival *arrival);

#endif
