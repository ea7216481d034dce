/* missing.h - untraced ranks, which take part in collectives and have no trace: when did they come?
 *
 *     rank 0    [ p ]====work====[   m   ]
 *     rank 1    [ p ]===work===  [   m   ]
 *     absent    [ p ]- - - - - ->[   m   ]         as long after p as ranks of its role, no later than m allows
 *
 * The drawing holds for each p from which ranks of the role have a way to m: m waits for the latest of these arrivals,
 * and a repair may make another one the latest.
 *
 * Untraced ranks carry delays from one group to another, and no other record shows these delays: a rank that waited for
 * an untraced one may in truth have waited for a third.  Lateness of an untraced rank shows in the ranks that waited
 * for it: a transfer that takes far longer than others like it has waited for a rank.
 *
 * May use wait.
 */
#ifndef TLMPI_ANALYSIS_MISSING_H
#define TLMPI_ANALYSIS_MISSING_H

#include "tlmpi/analysis/wait.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/model/table.h"

typedef struct tl_missing_input {
    const int32_t *ranks; /* [nranks], ascending: the traced ranks */
    size_t nranks;
    const tl_late_row *rows; /* as in tl_graph_input */
    size_t nrows;
    const tl_table *groups; /* table group: names the untraced members of collectives; NULL: all ranks are traced */
    int32_t world;          /* number of ranks of the job; 0: unknown */
} tl_missing_input;

typedef struct tl_comers tl_comers;

/* A way of a rank from an earlier collective to the one at hand, over work without a meeting in between. */
typedef struct tl_way {
    int64_t ns; /* soonest arrival, counted from when the earlier collective was done */
    int64_t from_ns; /* when the earlier collective was done */
    uint32_t from;   /* row of the rank in the earlier collective */
} tl_way;

typedef TL_VEC(tl_way) tl_way_list;

/* The ways of all ranks, each from the rank's row in an earlier collective to its row in a later one. */
typedef struct tl_ways {
    tl_way_list list;
    uint32_t (*of)[2]; /* [nrows] by row of arrival: the first of its ways, and their number */
} tl_ways;

/* The ways to one place: the longest from each meeting; of more than TL_WAYS_MOST the ones that arrive last. */
typedef struct tl_ways_to {
    tl_way *v; /* [TL_WAYS_MOST] */
    uint32_t n;
} tl_ways_to;

void tl_way_add(tl_ways_to *to, tl_way way);

/* A meeting from which an untraced rank came, and how long after that meeting it arrived. */
typedef struct tl_coming_from {
    uint32_t meeting;
    int64_t after_ns;
} tl_coming_from;

/* One collective, and how its untraced ranks came to it. */
typedef struct tl_coming {
    const tl_late_row *rows;
    size_t nrows;
    int64_t last_ns, end_ns;    /* last arrival of a traced rank; first end */
    uint32_t meeting;           /* number of the meeting */
    int64_t came_ns;            /* out: when the last of all ranks came */
    const tl_coming_from *from; /* out, valid until the next call; without ranks that were in no meeting before */
    size_t nfrom;
    int64_t late_ns;   /* out: by how much, at least, the only untraced rank came later than ranks of its role come; 0:
                        * it was not late, or that is unknown */
    int32_t late_rank; /* out: that rank; -1: none */
} tl_coming;

/* Borrows *in, which has to outlive the result. */
tl_comers *tl_comers_new(const tl_missing_input *in);
void tl_comers_free(tl_comers *comers);

/* Returns the number of untraced ranks in a collective. */
size_t tl_comers_count(const tl_comers *comers, const tl_late_row *row);

/* Whether any rank is untraced; and whether ranks[rank] has the role of an untraced rank. */
bool tl_comers_any(const tl_comers *comers);
bool tl_comers_follow(const tl_comers *comers, uint32_t rank);

/* Call tl_comers_met for all collectives in which ranks meet; then tl_comers_sort, with the ways of all ranks for which
 * tl_comers_follow is true; then tl_comers_come for each collective again, to know when its untraced ranks came. */
void tl_comers_met(tl_comers *comers, const tl_coming *coming);
void tl_comers_sort(tl_comers *comers, const tl_ways *ways);
void tl_comers_come(tl_comers *comers, tl_coming *coming);

#endif
