/* internal.h - shared by the files of untraced_ranks: the untraced ranks, the roles of all ranks, and expected
 * arrivals. */
#ifndef ANALYSIS_UNTRACED_RANKS_INTERNAL_H
#define ANALYSIS_UNTRACED_RANKS_INTERNAL_H

#include "tlmpi/analysis/collective/untraced_ranks.h"

/* ------------------------------------------------------------------------------------------------- untraced_ranks.c */

/* A process group; all 0 if unknown. */
typedef struct tl_untraced_group {
    uint32_t first, n; /* its untraced ranks: members[first, first + n) */
    uint64_t sort;     /* hash of its purpose: description, or kind of parallelism */
    size_t size;       /* number of its ranks; 0: unknown */
} tl_untraced_group;

/* The untraced ranks.  A rank's number is its index in in->ranks if it is traced, else in->nranks + its index in
 * `ranks`. */
typedef struct tl_untraced_ranks {
    const tl_untraced_ranks_input *in;
    int32_t *ranks; /* [n] ascending: the known untraced ranks */
    size_t n;
    tl_untraced_group *groups;
    size_t ngroups;
    uint32_t *members; /* of the groups: indices of `ranks` */
    int32_t *peer;     /* by traced rank: its only known untraced peer; below 0: none, or several */
    uint32_t *role;    /* [in->nranks + n] by number: the lowest number in its role */
} tl_untraced_ranks;

void tl_untraced_ranks_make(const tl_untraced_ranks_input *in, tl_untraced_ranks *out);
void tl_untraced_ranks_free(tl_untraced_ranks *a);

/* Returns the number of the row's rank; in->nranks: untraced. */
uint32_t tl_untraced_ranks_number(const tl_untraced_ranks *a, const tl_late_row *row);

/* Returns the untraced members of the row's collective, *n indices of `ranks`.  one: storage for the result of a
 * point-to-point row. */
const uint32_t *tl_untraced_ranks_of(const tl_untraced_ranks *a, const tl_late_row *row, uint32_t *one, size_t *n);
size_t tl_untraced_ranks_count(const tl_untraced_ranks *a, const tl_late_row *row);

/* Returns the peer of a point-to-point row; if the trace names none, the rank's only untraced peer; below 0: unknown,
 * or no peer. */
int32_t tl_untraced_ranks_peer(const tl_untraced_ranks *a, const tl_late_row *row);

/* Returns the number of members of a collective, also if some traced members did not record it. */
size_t tl_untraced_ranks_members(const tl_untraced_ranks *a, const tl_late_row *row, size_t nrows);

/* Returns a hash, equal for collectives of one kind and number of members. */
uint64_t tl_untraced_ranks_kind(const tl_untraced_ranks *a, const tl_late_row *row, size_t nrows);

/* Returns the group of a row; NULL: none. */
const tl_untraced_group *tl_untraced_ranks_group(const tl_untraced_ranks *a, const tl_late_row *row);

/* --------------------------------------------------------------------------------------------------------- expect.c */

/* The place of a collective in a rank's step. */
typedef struct tl_turn {
    uint64_t what;
    int64_t collective; /* number of the collective in the job */
    int32_t step;
} tl_turn;

/* A meeting of an untraced rank. */
typedef struct tl_untraced_meeting {
    tl_turn turn;
    int64_t done_ns;
    uint32_t meeting;
    uint32_t first_path, npaths; /* paths to it in the list of expected paths */
} tl_untraced_meeting;

typedef struct tl_expectation tl_expectation;

tl_expectation *tl_expectation_new(const tl_untraced_ranks *untraced);
void tl_expectation_free(tl_expectation *expectation);

/* Returns the turn of the next collective of the rank numbered `rank`.  Call once for each collective, in their
 * order. */
tl_turn tl_expect_next(tl_expectation *expectation, uint32_t rank, const tl_late_row *row, size_t nrows);

/* Returns the turn of the row's collective on the row's rank. */
tl_turn tl_expect_turn(const tl_expectation *expectation, const tl_late_row *row);

/* Whether an untraced rank has the role of the traced rank numbered `rank`. */
bool tl_expect_has_role(const tl_expectation *expectation, uint32_t rank);

/* Appends the expected paths of an untraced rank between its meetings met[n], which are in order of time; fills
 * first_path and npaths of each meeting. */
void tl_expect_paths(tl_expectation *expectation, const tl_inter_collective_paths *paths, uint32_t rank,
                     tl_untraced_meeting *met, size_t n, tl_inter_collective_path_list *out);

/* Whether one traced rank of the role of `rank` takes part in both collectives: `from`, and the later one with
 * rows[n]. */
bool tl_expect_same_role(tl_expectation *expectation, uint32_t rank, tl_turn from, const tl_late_row *rows, size_t n);

#endif
