/* internal.h - between the files of this room: who has no trace, which ranks do the same, and when untraced ranks are
 * expected. */
#ifndef ANALYSIS_UNTRACED_RANKS_INTERNAL_H
#define ANALYSIS_UNTRACED_RANKS_INTERNAL_H

#include "tlmpi/analysis/untraced_ranks.h"

/* ------------------------------------------------------------------------------------------------- untraced_ranks.c */

/* What is known of a group; all 0 where nothing is. */
typedef struct tl_untraced_group {
    uint32_t first, n; /* its untraced ranks: members[first, first + n) */
    uint64_t sort;     /* what it is for */
    size_t size;       /* number of its ranks; 0: not known */
} tl_untraced_group;

/* The ranks without a trace.  All ranks are numbered: those of in->ranks, after them the untraced ones. */
typedef struct tl_untraced_ranks {
    const tl_untraced_ranks_input *in;
    int32_t *ranks; /* [n] ascending: all untraced ranks that are known */
    size_t n;
    tl_untraced_group *groups;
    size_t ngroups;
    uint32_t *members; /* of the groups: indices of `ranks` */
    int32_t *peer;     /* by traced rank: the only untraced rank that it is known to talk to; below 0: none, or
                        * several */
    uint32_t *role;    /* [in->nranks + n] equal for ranks that do the same: the lowest number of these */
} tl_untraced_ranks;

void tl_untraced_ranks_make(const tl_untraced_ranks_input *in, tl_untraced_ranks *out);
void tl_untraced_ranks_free(tl_untraced_ranks *a);

/* Returns the number of a row's rank; in->nranks: it has no trace. */
uint32_t tl_untraced_ranks_number(const tl_untraced_ranks *a, const tl_late_row *row);

/* Returns the untraced ranks that take part in a collective, as indices of `ranks`; *n of them.  one: room for a single
 * one. */
const uint32_t *tl_untraced_ranks_of(const tl_untraced_ranks *a, const tl_late_row *row, uint32_t *one, size_t *n);
size_t tl_untraced_ranks_count(const tl_untraced_ranks *a, const tl_late_row *row);

/* Returns the peer of a row between two ranks, also where the trace names none but only one untraced rank is possible;
 * below 0: not known, or no peer. */
int32_t tl_untraced_ranks_peer(const tl_untraced_ranks *a, const tl_late_row *row);

/* Returns how many ranks take part, also if some of them have lost the collective. */
size_t tl_untraced_ranks_members(const tl_untraced_ranks *a, const tl_late_row *row, size_t nrows);

/* Returns a hash, equal for collectives of one kind and number of members. */
uint64_t tl_untraced_ranks_kind(const tl_untraced_ranks *a, const tl_late_row *row, size_t nrows);

/* Returns what is known of the group of a row; NULL: it is in none. */
const tl_untraced_group *tl_untraced_ranks_group(const tl_untraced_ranks *a, const tl_late_row *row);

/* roles.c: fills role. */
void tl_untraced_ranks_find_roles(tl_untraced_ranks *a);

/* ----------------------------------------------------------------------------------------------------------
 * expect.c */

/* A collective in the sequence of a step. */
typedef struct tl_turn {
    uint64_t what;
    int64_t collective; /* its number */
    int32_t step;
} tl_turn;

/* A meeting of a rank without a trace. */
typedef struct tl_untraced_meeting {
    tl_turn turn;
    int64_t done_ns;
    uint32_t meeting;
    uint32_t first_path, npaths; /* in the list of expected paths */
} tl_untraced_meeting;

typedef struct tl_expectation tl_expectation;

tl_expectation *tl_expectation_new(const tl_untraced_ranks *untraced);
void tl_expectation_free(tl_expectation *expectation);

/* Returns the turn of the next collective of a rank, by its number. */
tl_turn tl_expect_next(tl_expectation *expectation, uint32_t rank, const tl_late_row *row, size_t nrows);

/* Returns the turn of a collective, as the rank of its first row counts it. */
tl_turn tl_expect_turn(const tl_expectation *expectation, const tl_late_row *row);

/* Whether a traced rank does the same as an untraced one. */
bool tl_expect_has_role(const tl_expectation *expectation, uint32_t rank);

/* Appends the paths of a rank without a trace between its meetings met[n], in order of time, each from one of these. */
void tl_expect_paths(tl_expectation *expectation, const tl_inter_collective_paths *paths, uint32_t rank,
                     tl_untraced_meeting *met, size_t n, tl_inter_collective_path_list *out);

/* Whether a traced rank of the same role is in both collectives: `from`, and the later one with the rows rows[n]. */
bool tl_expect_same_role(tl_expectation *expectation, uint32_t rank, tl_turn from, const tl_late_row *rows, size_t n);

#endif
