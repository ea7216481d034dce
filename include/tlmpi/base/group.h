/* group.h - groups of rows: those that compare as equal.
 *
 *     uint32_t *order = tl_sorted_index(n, by_name, rows);
 *     for (size_t from = 0, to; from < n; from = to) {
 *         to = tl_group_end(order, from, n, by_name, rows);     rows order[from .. to) have one name
 *     }
 *     free(order);
 *
 *     TL_GROUPS (from, to, order, n, by_name, rows) ...         the same loop
 *
 * If each row has the number of its group, no order is needed: tl_group_rows.
 */
#ifndef TLMPI_BASE_GROUP_H
#define TLMPI_BASE_GROUP_H

#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

/* Returns the indices 0 .. n - 1, sorted; stable.  The caller frees them. */
uint32_t *tl_sorted_index(size_t n, tl_compare *compare, const void *context);

/* Sorts n rows of `size` bytes, and merges equal rows: add(sum, row) adds each further row to the first one.  Returns
 * the number of remaining rows. */
size_t tl_merge_equal(void *rows, size_t n, size_t size, int (*compare)(const void *a, const void *b),
                      void (*add)(void *sum, const void *row));

/* Returns the end of the group that begins at `from` < n. */
size_t tl_group_end(const uint32_t *order, size_t from, size_t n, tl_compare *compare, const void *context);

/* The same of rows of `size` bytes that stand in order themselves. */
static inline size_t tl_run_end(const void *rows, size_t from, size_t n, size_t size,
                                int (*compare)(const void *a, const void *b))
{
    const char *v = rows;
    size_t to = from + 1;
    while (to < n && compare(v + from * size, v + to * size) == 0)
        to++;
    return to;
}

/* Distributes the rows 0 .. n - 1 to groups, in O(n + ngroups); stable: those of group g are v[first[g]] to v[first[g +
 * 1] - 1].  group_of[i]: below ngroups; UINT32_MAX: row i is in no group.  first: room for ngroups + 1. */
void tl_group_rows(const uint32_t *group_of, size_t n, size_t ngroups, size_t *first, uint32_t *v);

/* Distributes n files of bytes[n] to nprocs procs: in order of size, descending, each to the proc with the fewest bytes
 * so far; ties go to the lowest proc.  Returns the proc of each file; the caller frees the array. */
int32_t *tl_deal_by_size(const uint64_t *bytes, size_t n, int nprocs);

/* What a macro declares has no parentheses.  NOLINTBEGIN(bugprone-macro-parentheses) */
#define TL_GROUPS(from, to, order, n, compare, context)                                                                \
    for (size_t from = 0, to; from < (n) && ((to) = tl_group_end(order, from, n, compare, context)) > from; from = to)

/* The groups of a TL_VEC in order, by a function for qsort. */
#define TL_RUNS(from, to, vec, compare)                                                                                \
    for (size_t from = 0, to;                                                                                          \
         from < (vec)->n && ((to) = tl_run_end((vec)->v, from, (vec)->n, sizeof *(vec)->v, compare)) > from;           \
         from = to)

/* Sorts the elements of a TL_VEC by a function for qsort. */
#define tl_vec_sort(vec, compare) tl_sort((vec)->v, (vec)->n, sizeof *(vec)->v, compare)
/* NOLINTEND(bugprone-macro-parentheses) */

#endif
