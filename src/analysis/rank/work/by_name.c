/* by_name.c - rows by name: sorted by time on a rank, and summed up over all ranks.
 *
 *     rank 0   gemm  add  copy          add: ranks 0 and 1
 *     rank 1   gemm  add                copy: rank 0 ...
 *
 * Which ranks are outliers, farther from the rest than the scatter of the rest explains?
 *
 *     values   . .:. .          :  .             three of ten are outliers
 *              |rest |          |k |
 *
 * The k values farthest from the median, less than half of all, are outliers if even the nearest of them is farther
 * from the mean of the rest than chance explains (Student's t, with heavy tails).  The largest such k counts, so that
 * two outliers do not mask each other.  Trying many k makes chance likelier: the chance of k is multiplied by k (k +
 * 1), since the sum of 1 / (k (k + 1)) over all k is 1, and by the number of values that could have been the
 * nearest.
 */
#include "internal.h"
#include "tlmpi/analysis/chance.h"
#include "tlmpi/model/parameters.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct sorting {
    const unsigned char *rows;
    size_t row_size, name, measure[2], nmeasures;
    const tl_field *kind; /* NULL: the table has no column `kind` */
    const tl_names *names;
} sorting;

static int by_measure(const void *context, uint32_t a, uint32_t b)
{
    const sorting *p = context;
    const unsigned char *x = p->rows + a * p->row_size, *y = p->rows + b * p->row_size;
    uint32_t name_x, name_y;

    for (size_t i = 0; i < p->nmeasures; i++) {
        int64_t of_x, of_y;
        memcpy(&of_x, x + p->measure[i], sizeof of_x);
        memcpy(&of_y, y + p->measure[i], sizeof of_y);
        if (of_x != of_y)
            return TL_COMPARE(of_y, of_x);
    }
    memcpy(&name_x, x + p->name, sizeof name_x);
    memcpy(&name_y, y + p->name, sizeof name_y);
    int order = name_x == TL_NO_NAME || name_y == TL_NO_NAME
                    ? TL_COMPARE(name_x, name_y)
                    : tl_text_compare(tl_names_text(p->names, name_x), tl_names_text(p->names, name_y));
    return order != 0 || p->kind == NULL ? order : TL_COMPARE(x[p->kind->offset], y[p->kind->offset]);
}

void tl_rows_sort_and_number(tl_table *table, size_t first, const tl_names *names, const char *measure,
                             const char *second)
{
    const tl_schema *schema = table->schema;
    size_t n = table->n - first, size = schema->row_size, place = tl_schema_field(schema, "place")->offset;
    unsigned char *rows = tl_malloc(n * size + 1);
    sorting p = { .rows = rows,
                  .row_size = size,
                  .name = tl_schema_field(schema, "name")->offset,
                  .measure = { tl_schema_field(schema, measure)->offset,
                               second != NULL ? tl_schema_field(schema, second)->offset : 0 },
                  .nmeasures = second != NULL ? 2 : 1,
                  .kind = tl_schema_field(schema, "kind"),
                  .names = names };

    if (n > 0)
        memcpy(rows, tl_table_row(table, first), n * size);
    uint32_t *order = tl_sorted_index(n, by_measure, &p);
    for (size_t i = 0; i < n; i++) {
        unsigned char *row = tl_table_row(table, first + i);
        int32_t number = (int32_t)i + 1;
        memcpy(row, rows + order[i] * size, size);
        memcpy(row + place, &number, sizeof number);
    }
    free(order);
    free(rows);
}

/* -------------------------------------------------------------------------------------------------- outlier ranks */

typedef struct rank_value {
    double value, error; /* standard error of value; 0 or NaN: none */
    double distance;     /* from the median of all values */
    int32_t rank;
} rank_value;

TL_SORT_BY(by_distance, rank_value, DOWN(distance), rank)
TL_SORT_BY(by_rank, rank_value, rank)

/* Distance, in standard deviations, up to which a value is never an outlier: it is too likely for any number of tries,
 * and is not computed. */
#define NEVER_OUTLIER 3.0

/* Whether v[k - 1] is an outlier of the rest v[k .. n), whose mean and sum of squared deviations are given. */
static bool is_outlier(const rank_value *v, size_t n, size_t k, double mean, double squares)
{
    const rank_value *one = &v[k - 1];
    double rest = (double)(n - k), error = one->error > 0 ? one->error : 0, apart = fabs(one->value - mean);
    double scale = sqrt(squares / (rest - 1) * (1 + 1 / rest) + error * error);
    double tries = 2 * (rest + 1) * (double)k * (double)(k + 1);
    double degrees = rest - 1 < TL_TAIL_DEGREES ? rest - 1 : TL_TAIL_DEGREES;

    if (apart <= (double)TL_ROUNDING_NS || apart <= NEVER_OUTLIER * scale)
        return false;
    return scale == 0 || tries * tl_student_tail_of(apart / scale, degrees) < TL_VERDICT_ALPHA;
}

/* Returns the number of outliers; moves them to the front of v, by rank. */
static size_t find_outliers(rank_value *v, size_t n, double median)
{
    size_t found = 0;
    double mean = 0, squares = 0;

    if (n < TL_MEDIAN_LEAST + 1)
        return 0;
    for (size_t i = 0; i < n; i++)
        v[i].distance = fabs(v[i].value - median);
    qsort(v, n, sizeof *v, by_distance);
    for (size_t k = n; k-- > 0;) { /* the rest is v[k, n) */
        double rest = (double)(n - k), apart = v[k].value - mean;
        bool may = found == 0 && 2 * (k + 1) < n && k + 1 + TL_MEDIAN_LEAST <= n;
        if (may && is_outlier(v, n, k + 1, mean, squares))
            found = k + 1;
        mean += apart / rest;
        squares += apart * (v[k].value - mean);
    }
    qsort(v, found, sizeof *v, by_rank);
    return found;
}

/* Writes the ranks of v[0, n), ascending, as "3,7-9"; ends with dots if they do not fit. */
static void list_ranks(const rank_value *v, size_t n, char *cell, size_t size)
{
    static const char dots[] = { ',', '.', '.', '.' };
    char one[32];
    size_t used = 0;

    for (size_t i = 0, to; i < n; i = to) {
        for (to = i + 1; to < n && v[to].rank == v[to - 1].rank + 1; to++)
            ;
        size_t length = (size_t)snprintf(one, sizeof one, "%s%d", i > 0 ? "," : "", v[i].rank);
        if (to - i > 1)
            length += (size_t)snprintf(one + length, sizeof one - length, "-%d", v[to - 1].rank);
        if (used + length + (to < n ? sizeof dots : 0) > size) {
            memcpy(cell + used, dots, sizeof dots);
            return;
        }
        memcpy(cell + used, one, length);
        used += length;
    }
}

/* ------------------------------------------------------------------------------------------------------- over ranks */

TL_SORT_BY(by_name_and_rank, tl_named_row, name, kind, rank)

/* Returns the sums and outliers over the n rows of one name.  means, values: room for n each. */
static tl_over_ranks sum_up(const tl_named_row *rows, size_t n, double *means, rank_value *values)
{
    tl_over_ranks of = {
        .rows = rows, .ranks = (int32_t)n, .slowest_rank = -1, .fastest_rank = -1, .slowest_ns = NAN, .fastest_ns = NAN
    };
    size_t nmeans = 0;

    for (size_t i = 0; i < n; i++) {
        const tl_named_row *row = &rows[i];
        of.count += row->count;
        if (isnan(row->mean_ns))
            continue;
        if (nmeans == 0 || row->mean_ns > of.slowest_ns) {
            of.slowest_rank = row->rank;
            of.slowest_ns = row->mean_ns;
        }
        if (nmeans == 0 || row->mean_ns < of.fastest_ns) {
            of.fastest_rank = row->rank;
            of.fastest_ns = row->mean_ns;
        }
        values[nmeans] =
            (rank_value){ .value = row->mean_ns, .error = row->std_ns / sqrt((double)row->count), .rank = row->rank };
        means[nmeans++] = row->mean_ns;
    }
    of.median_ns = tl_real_median(means, nmeans);
    of.noutliers = (int32_t)find_outliers(values, nmeans, of.median_ns);
    list_ranks(values, (size_t)of.noutliers, of.outlier_ranks, sizeof of.outlier_ranks);
    return of;
}

void tl_over_ranks_each(tl_named_row *rows, size_t n, void (*add)(void *arg, const tl_over_ranks *of, tl_table *out),
                        void *arg, tl_table *out)
{
    tl_arena arena = { 0 };
    double *means = tl_arena_take(&arena, n, sizeof *means);
    rank_value *values = tl_arena_take(&arena, n, sizeof *values);

    qsort(rows, n, sizeof *rows, by_name_and_rank);
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && TL_ORDER(&rows[to], &rows[from], name, kind) == 0; to++)
            ;
        tl_over_ranks of = sum_up(rows + from, to - from, means, values);
        add(arg, &of, out);
    }
    tl_arena_free(&arena);
}
