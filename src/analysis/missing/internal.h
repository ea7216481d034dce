/* internal.h - between the files of this room: who has no trace, and when those are expected. */
#ifndef ANALYSIS_MISSING_INTERNAL_H
#define ANALYSIS_MISSING_INTERNAL_H

#include "tlmpi/analysis/missing.h"

/* absent.c: who has no trace. */
typedef struct tl_absentees tl_absentees;
tl_absentees *tl_absentees_new(const tl_missing_input *in);
void tl_absentees_free(tl_absentees *absentees);
size_t tl_absentees_all(const tl_absentees *absentees);
int32_t tl_absentees_rank(const tl_absentees *absentees, uint32_t number);

/* Those who take part in a collective, as their numbers among all of them; *n of them.  one: room for a single one. */
const uint32_t *tl_absentees_of(const tl_absentees *absentees, const tl_late_row *row, uint32_t *one, size_t *n);

static inline size_t tl_absentees_count(const tl_absentees *absentees, const tl_late_row *row)
{
    uint32_t one;
    size_t n;
    tl_absentees_of(absentees, row, &one, &n);
    return n;
}

/* Returns the peer of a row between two ranks, also where the trace names none but only one untraced rank is possible;
 * below 0: not known, or no peer. */
int32_t tl_absentees_peer(const tl_absentees *absentees, const tl_late_row *row);

/* How many ranks take part, also if some of them have lost it. */
size_t tl_absentees_members(const tl_absentees *absentees, const tl_late_row *row, size_t nrows);

/* Equal for collectives of one kind and number of members. */
uint64_t tl_absentees_kind(const tl_absentees *absentees, const tl_late_row *row, size_t nrows);

/* What the group of a collective is for. */
uint64_t tl_absentees_sort_of(const tl_absentees *absentees, const tl_late_row *row);

/* roles.c: role[ranks], those without a trace after the others: the same for all that do the same, a rank of theirs. */
void tl_missing_roles(const tl_missing_input *in, const tl_absentees *absentees, uint32_t *role);

/* expect.c: a collective in the sequence of a step. */
typedef struct tl_turn {
    uint64_t what;
    int64_t collective; /* its number */
    int32_t step;
} tl_turn;

/* A meeting of a rank without a trace. */
typedef struct tl_seen {
    tl_turn turn;
    int64_t done_ns;
    uint32_t meeting;
    uint32_t first_way, nways; /* in the list of expected ways */
} tl_seen;

typedef struct tl_expecting tl_expecting;

tl_expecting *tl_expecting_new(const tl_missing_input *in, const tl_absentees *absentees);
void tl_expecting_free(tl_expecting *expecting);

/* The turn of the next collective of a rank; those without a trace are after the others. */
void tl_expect_next(tl_expecting *expecting, uint32_t rank, const tl_late_row *row, size_t nrows, tl_turn *out);

/* The turn of a collective, as the rank of its first row counts it. */
tl_turn tl_expect_turn(const tl_expecting *expecting, const tl_late_row *row);

/* Whether ranks[rank] does the same as one without a trace. */
bool tl_expect_follow(const tl_expecting *expecting, uint32_t rank);

/* The ways of a rank without a trace between its meetings met[n], in order of time, each from one of these, appended.
 */
void tl_expect_ways(tl_expecting *expecting, const tl_ways *ways, uint32_t rank, tl_seen *met, size_t n,
                    tl_way_list *out);

/* Whether a traced rank of the same role is in both collectives: `from`, and the later one with the rows rows[n]. */
bool tl_expect_same_role(tl_expecting *expecting, uint32_t rank, tl_turn from, const tl_late_row *rows, size_t n);

#endif
