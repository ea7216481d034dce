/* ways.h - where the collectives of a rank go, and what they do there: by it a rank without a trace is known.
 *
 * A way is where collectives of one sort go: a group, or from one rank to another.  A rank knows its ways by what they
 * do in a step in the middle; two ranks are alike if the ways of one can be told among those of the other.
 */
#ifndef ANALYSIS_ABSENT_WAYS_H
#define ANALYSIS_ABSENT_WAYS_H

#include "tlmpi/analysis/absent.h"
#include "tlmpi/base/mem.h"

/* Its meetings: order[first .. first + n). */
typedef struct tl_way {
    uint32_t first, n;
    uint64_t does;     /* in the middle step; 0: nothing */
    uint32_t usual;    /* so many */
    int64_t begins_ns; /* ... and when it begins */
} tl_way;

/* A way as one rank has it. */
typedef struct tl_own_way {
    int32_t rank; /* number */
    uint32_t way;
    uint64_t like; /* equal for ways that do the same */
    int64_t begins_ns;
} tl_own_way;

typedef struct tl_absent_finding {
    const tl_absent_input *in;
    tl_absent *out;
    tl_way *ways;
    size_t nways;
    uint32_t *order;                    /* of meetings, by way */
    int32_t middle;                     /* the step in which ways are compared */
    TL_VEC(tl_own_way) present, absent; /* by rank and likeness */
    TL_VEC(tl_absent_seat) seats;
} tl_absent_finding;

/* The step in the middle of all collectives: recordings neither begin nor end in it. */
bool tl_absent_find_middle(tl_absent_finding *f);

/* The k-th of a way. */
const tl_meeting *tl_absent_meeting_at(const tl_absent_finding *f, const tl_way *w, size_t k);

/* Whether it is a send and a receive. */
bool tl_absent_is_pair(const tl_meeting *m);

/* Fills order and ways.  False: memory is out, here and below. */
bool tl_absent_list_ways(tl_absent_finding *f);

/* The role of any rank; false when it is not known. */
bool tl_absent_role_of(const tl_absent_finding *f, int32_t rank, int32_t *role);

/* The ranks of a way: those of its group, or the two. */
tl_group_ranks tl_absent_ranks_of(const tl_absent_finding *f, const tl_way *w, int32_t two[2]);

/* Ranks without a trace that have two ways or more; their numbers ascending, the caller frees them. */
bool tl_absent_list_linking(const tl_absent_finding *f, int32_t **out, size_t *n);

/* Fills present and absent. */
bool tl_absent_list_own_ways(tl_absent_finding *f, const int32_t *linking, size_t nlinking);

/* Those of one rank, of sorted ones; how many. */
size_t tl_absent_ways_of(const tl_own_way *v, size_t n, int32_t rank, size_t *first);

#endif
