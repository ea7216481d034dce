/* missing.h - ranks that take part in collectives and have no trace: when did they come?
 *
 *     rank 0    [ p ]====work====[   m   ]
 *     rank 1    [ p ]===work===  [   m   ]
 *     absent    [ p ]- - - - - ->[   m   ]         so long after p as those that do the same, and no later than it can have come
 *
 * So it is for each p from which those that do the same have a way to m: what m waits for is the last of them,
 * whichever that is when something is repaired.
 *
 * They carry delays from one group to another, which nothing else tells of: who waited for them may have waited for
 * somebody else. Whether one was late shows in who waits for it: a transfer that takes far longer than others like it
 * waited for somebody.
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
    const int32_t *ranks; /* [nranks], ascending: those that have a trace */
    size_t nranks;
    const tl_late_row *rows; /* as of tl_graph_input */
    size_t nrows;
    const tl_table *groups; /* table group: who of a collective has no trace; NULL: all have one */
    int32_t world;          /* ranks of the job; 0: not known */
} tl_missing_input;

typedef struct tl_comers tl_comers;

/* How a rank came to a collective from one that it was in before: how long after that was done it would have come there
 * at the soonest, by what it did between the two without meeting anybody. */
typedef struct tl_way {
    int64_t ns;
    int64_t from_ns; /* when the one before was done */
    uint32_t from;   /* which one that was */
} tl_way;

typedef TL_VEC(tl_way) tl_way_list;

/* Of all ranks, each from its own row of the one before. */
typedef struct tl_ways {
    tl_way_list list;
    uint32_t (*of)[2]; /* [nrows] by row: the first of its ways, and how many */
} tl_ways;

/* Those to one place: TL_WAYS_MOST at most, by which it would be reached last; from each meeting the longest. */
typedef struct tl_ways_to {
    tl_way *v; /* [TL_WAYS_MOST] */
    uint32_t n;
} tl_ways_to;

void tl_way_add(tl_ways_to *to, tl_way way);

/* From which of their meetings they came, and how long after it was done. */
typedef struct tl_coming_from {
    uint32_t meeting;
    int64_t after_ns;
} tl_coming_from;

/* One collective, and how those came to it that have no trace. */
typedef struct tl_coming {
    const tl_late_row *rows;
    size_t nrows;
    int64_t last_ns, end_ns;    /* the last arrival of those that have a trace; the first end */
    uint32_t meeting;           /* its number */
    int64_t came_ns;            /* out: when the last of all came */
    const tl_coming_from *from; /* out, until the next; nobody is there who was nowhere before */
    size_t nfrom;
    int64_t late_ns;   /* out: by how much a single rank without a trace came later than those that do the same come, at
                        * least; 0: it did not, or nobody knows */
    int32_t late_rank; /* out: that rank; -1 */
} tl_coming;

/* The input has to stay. */
tl_comers *tl_comers_new(const tl_missing_input *in);
void tl_comers_free(tl_comers *comers);

/* How many who have no trace take part in a collective. */
size_t tl_comers_count(const tl_comers *comers, const tl_late_row *row);

/* Whether there is anybody who has no trace, and whether ranks[rank] does the same as one of them. */
bool tl_comers_any(const tl_comers *comers);
bool tl_comers_follow(const tl_comers *comers, uint32_t rank);

/* First all collectives in which ranks meet; then, from the ways of all whom somebody follows, each again to know when
 * those came. */
void tl_comers_met(tl_comers *comers, const tl_coming *coming);
void tl_comers_sort(tl_comers *comers, const tl_ways *ways);
void tl_comers_come(tl_comers *comers, tl_coming *coming);

#endif
