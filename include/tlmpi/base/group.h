/* group.h - rows in groups, by an order in which those of one group are equal.
 *
 *     uint32_t *order = tl_sorted_index(n, by_name, rows);
 *     for (size_t from = 0, to; from < n; from = to) {
 *         to = tl_group_end(order, from, n, by_name, rows);     rows order[from .. to) have one name
 *     }
 *     free(order);
 *
 *     TL_GROUPS (from, to, order, n, by_name, rows) ...         the same loop
 *
 * Where each row knows the number of its group, no order is needed: tl_group_rows.
 */
#ifndef TLMPI_BASE_GROUP_H
#define TLMPI_BASE_GROUP_H

#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

/* The indices 0 .. n - 1 in order, equals as they were; in memory of their own. */
uint32_t *tl_sorted_index(size_t n, tl_compare *compare, const void *context);

/* Sorts n rows of `size` bytes, and makes one row of equal rows: add(sum, row) adds each later row to the first one.
 * Returns the number of rows that are left. */
size_t tl_merge_equal(void *rows, size_t n, size_t size, int (*compare)(const void *a, const void *b),
                      void (*add)(void *sum, const void *row));

/* Where the group ends that begins at `from` < n. */
size_t tl_group_end(const uint32_t *order, size_t from, size_t n, tl_compare *compare, const void *context);

/* Deals the rows 0 .. n - 1 to their groups, in O(n + ngroups): those of group g are v[first[g]] to v[first[g + 1] - 1],
 * as they were.  group_of[i]: below ngroups, or UINT32_MAX for a row of no group.  first has room for ngroups + 1. */
void tl_group_rows(const uint32_t *group_of, size_t n, size_t ngroups, size_t *first, uint32_t *v);

/* Deals n files of bytes[n] to nprocs procs: the largest first, each to the proc with the fewest bytes up to then, of
 * equal procs to the lowest.  Returns the proc of each file; the caller frees the array. */
int32_t *tl_deal_by_size(const uint64_t *bytes, size_t n, int nprocs);

/* What a macro declares has no parentheses.  NOLINTBEGIN(bugprone-macro-parentheses) */
#define TL_GROUPS(from, to, order, n, compare, context)                                                                \
    for (size_t from = 0, to; from < (n) && ((to) = tl_group_end(order, from, n, compare, context)) > from; from = to)

/* Puts the elements of a TL_VEC in order, by a function for qsort. */
#define tl_vec_sort(vec, compare) tl_sort((vec)->v, (vec)->n, sizeof *(vec)->v, compare)
/* NOLINTEND(bugprone-macro-parentheses) */

#endif
