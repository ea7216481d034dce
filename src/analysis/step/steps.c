/* steps.c - the steps of the job, and how long each took.
 *
 *     host      |  mark 1  |  mark 2  |  mark 3  |
 *     device    ......[ work of 1 ][c][ work of 2 ][c][ work of 3 ][c]
 *                                     |<-- step 2 -->|
 *
 * A mark is the host's.  Where it runs ahead of its device its marks may be much shorter than what the device takes for
 * a step: a step is as long as from the last end of what was done in the step before, on any rank, to that of its own:
 * collectives, and work after them, for which the others wait in the next.  Steps without
 * one, and the next, are equal parts; the first with one begins at the last end of what was before it.  Where nothing
 * was, it counts as its mark, if that is longer than its collectives.
 */
#include "tlmpi/analysis/step.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/tables.h"
#include <stdlib.h>
#include <string.h>

size_t tl_job_step_index(const tl_job_step *steps, size_t n, int32_t number)
{
    size_t low = 0;
    TL_BISECT(low, n, mid, steps[mid].number < number);
    return low < n && steps[low].number == number ? low : n;
}

static int by_number(const void *a, const void *b)
{
    const tl_job_step *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return TL_COMPARE(x->ns, y->ns);
}

/* Each number once, with the middle of its lengths. */
static size_t unite(tl_job_step *steps, size_t m)
{
    size_t n = 0;
    if (m > 1)
        qsort(steps, m, sizeof *steps, by_number);
    for (size_t i = 0, to; i < m; i = to) {
        for (to = i; to < m && steps[to].number == steps[i].number; to++)
            ;
        steps[n++] = steps[i + tl_upper_middle(to - i)];
    }
    return n;
}

/* Of the collectives of one step. */
typedef struct extent {
    int64_t first_ns, last_ns;
    bool any;
} extent;

static void find_extents(const tl_job_step *steps, size_t n, const tl_late_row *rows, size_t nrows, extent *of)
{
    for (size_t i = 0; i < nrows; i++) {
        size_t s = tl_job_step_index(steps, n, rows[i].step);
        if (s == n || !rows[i].fits)
            continue;
        extent *e = &of[s];
        e->first_ns = !e->any || rows[i].start_ns < e->first_ns ? rows[i].start_ns : e->first_ns;
        e->last_ns = !e->any || rows[i].end_ns > e->last_ns ? rows[i].end_ns : e->last_ns;
        if (rows[i].step == rows[i].own_step)
            e->last_ns = tl_ns_max(e->last_ns, rows[i].done_ns);
        e->any = true;
    }
}

/* The last end before first_ns of collectives of no step, or of none in the list; INT64_MIN: there is none. */
static int64_t end_before(int32_t first_step, int64_t first_ns, const tl_late_row *rows, size_t nrows)
{
    int64_t last_ns = INT64_MIN;
    for (size_t i = 0; i < nrows; i++)
        if (rows[i].fits && rows[i].step < first_step && rows[i].start_ns < first_ns && rows[i].end_ns > last_ns)
            last_ns = rows[i].end_ns;
    return last_ns;
}

/* The first step with collectives. */
static int64_t measure_first(const tl_job_step *step, const extent *of, const tl_late_row *rows, size_t nrows)
{
    int64_t before_ns = end_before(step->number, of->first_ns, rows, nrows),
            ns = tl_ns_between(of->last_ns, before_ns != INT64_MIN ? before_ns : of->first_ns);
    return ns > 0 && (before_ns != INT64_MIN || ns > step->ns) ? ns : step->ns;
}

static bool measure(tl_job_step *steps, size_t n, const tl_late_row *rows, size_t nrows)
{
    extent *of = tl_calloc(n + 1, sizeof *of);
    size_t before = SIZE_MAX;
    if (of == NULL)
        return false;
    find_extents(steps, n, rows, nrows, of);
    for (size_t s = 0; s < n; s++) {
        if (!of[s].any)
            continue;
        int64_t ns = before == SIZE_MAX ? 0 : tl_ns_between(of[s].last_ns, of[before].last_ns);
        if (before == SIZE_MAX)
            steps[s].ns = measure_first(&steps[s], &of[s], rows, nrows);
        else if (ns >= (int64_t)(s - before))
            for (size_t i = before + 1; i <= s; i++)
                steps[i].ns = ns / (int64_t)(s - before);
        before = s;
    }
    free(of);
    return true;
}

/* Steps that nobody has marked are at least a ns, and the first is no shorter than the next. */
static size_t count_numbered(const tl_late_row *rows, size_t nrows)
{
    int32_t last = -1;
    for (size_t i = 0; i < nrows; i++)
        last = rows[i].step > last ? rows[i].step : last;
    return (size_t)(last + 1);
}

static tl_job_step *list_numbered(const tl_late_row *rows, size_t nrows, size_t n)
{
    tl_job_step *steps = tl_malloc((n + 1) * sizeof *steps);
    for (size_t s = 0; steps != NULL && s < n; s++)
        steps[s] = (tl_job_step){ (int32_t)s, 1 };
    if (steps != NULL && !measure(steps, n, rows, nrows)) {
        free(steps);
        return NULL;
    }
    if (steps != NULL && n > 1 && steps[0].ns < steps[1].ns)
        steps[0].ns = steps[1].ns;
    return steps;
}

tl_job_step *tl_job_steps_list(tl_tables *tables, const int32_t *marked, size_t nmarked, const tl_late_row *rows,
                               size_t nrows, size_t *n)
{
    const tl_table *marks = tl_tables_get(tables, &tl_step_schema), *ranks = tl_tables_get(tables, &tl_rank_schema);
    size_t m = 0, numbered = nmarked == 0 ? count_numbered(rows, nrows) : 0;

    *n = numbered;
    if (numbered > 0)
        return list_numbered(rows, nrows, numbered);
    tl_job_step *steps = tl_malloc((marks->n + ranks->n + 1) * sizeof *steps);
    for (size_t i = 0; steps != NULL && i < marks->n; i++) {
        const tl_step *row = tl_table_row(marks, i);
        if (row->end_ns > row->start_ns && tl_index_of(marked, nmarked, row->rank) < nmarked)
            steps[m++] = (tl_job_step){ row->step, row->end_ns - row->start_ns };
    }
    for (size_t i = 0; steps != NULL && nmarked == 0 && i < ranks->n; i++) {
        const tl_rank *row = tl_table_row(ranks, i);
        if (row->intervals > 0 && row->last_ns > row->first_ns)
            steps[m++] = (tl_job_step){ -1, row->last_ns - row->first_ns };
    }
    if (steps != NULL)
        *n = unite(steps, m);
    if (steps != NULL && nmarked > 0 && !measure(steps, *n, rows, nrows)) {
        free(steps);
        return NULL;
    }
    return steps;
}

/* ------------------------------------------------------------------------------------------- before the first step */

static int64_t middle_length(const tl_job_step *steps, size_t n)
{
    int64_t *lengths_ns = tl_malloc((n + 1) * sizeof *lengths_ns);
    for (size_t i = 0; lengths_ns != NULL && i < n; i++)
        lengths_ns[i] = steps[i].ns;
    int64_t ns = lengths_ns != NULL && n > 0 ? tl_lower_median(lengths_ns, n) : INT64_MAX;
    free(lengths_ns);
    return ns;
}

bool tl_job_begun(const tl_job_step *steps, size_t nsteps, const int32_t *ranks, size_t nranks, const tl_late_row *rows,
                  size_t nrows)
{
    int64_t *begin_ns = tl_malloc((nranks + 1) * sizeof *begin_ns),
            *first_ns = tl_malloc((nranks + 1) * sizeof *first_ns);
    int64_t least_ns = middle_length(steps, nsteps) / 2;
    bool begun = begin_ns != NULL && first_ns != NULL && nranks > 0 && nsteps > 0;

    for (size_t r = 0; begun && r < nranks; r++)
        begin_ns[r] = first_ns[r] = INT64_MAX;
    for (size_t i = 0; begun && i < nrows; i++) {
        size_t r = tl_index_of(ranks, nranks, rows[i].rank);
        if (!rows[i].fits || r == nranks)
            continue;
        begin_ns[r] = rows[i].start_ns < begin_ns[r] ? rows[i].start_ns : begin_ns[r];
        if (rows[i].step == steps[0].number && rows[i].start_ns < first_ns[r])
            first_ns[r] = rows[i].start_ns;
    }
    for (size_t r = 0; begun && r < nranks; r++)
        begun = first_ns[r] != INT64_MAX && tl_ns_between(first_ns[r], begin_ns[r]) >= least_ns;
    free(begin_ns);
    free(first_ns);
    return begun;
}

/* -------------------------------------------------------------------------------------------------- the last step */

/* One rank in one group. */
typedef struct taking_part {
    int32_t group;
    uint32_t n; /* collectives in the last step */
} taking_part;

bool tl_job_ends_in_turn(const tl_job_step *steps, size_t nsteps, const tl_late_row *rows, size_t nrows)
{
    taking_part *all = tl_malloc((nrows + 1) * sizeof *all);
    tl_map of = { 0 }, group_of = { 0 };
    size_t n = 0;
    bool ok = all != NULL && nsteps > 0, differ = false;

    for (size_t i = 0; ok && i < nrows; i++) {
        if (rows[i].group < 0 || rows[i].peer >= 0)
            continue;
        uint64_t key = (uint64_t)(uint32_t)rows[i].group << 32 | (uint32_t)rows[i].rank;
        uint32_t at = tl_map_get(&of, key);
        if (at == TL_MAP_NONE) {
            at = (uint32_t)n;
            all[n++] = (taking_part){ rows[i].group, 0 };
            ok = tl_map_put(&of, key, at) == 0;
        }
        all[at].n += rows[i].step == steps[nsteps - 1].number;
    }
    for (size_t i = 0; ok && !differ && i < n; i++) {
        uint32_t first = tl_map_get(&group_of, (uint64_t)(uint32_t)all[i].group);
        if (first == TL_MAP_NONE)
            ok = tl_map_put(&group_of, (uint64_t)(uint32_t)all[i].group, (uint32_t)i) == 0;
        else
            differ = all[i].n != all[first].n;
    }
    tl_map_free(&of);
    tl_map_free(&group_of);
    free(all);
    return ok && differ;
}
