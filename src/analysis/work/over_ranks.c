/* over_ranks.c - rows by name of all ranks, name by name.
 *
 *     rank 0   gemm  add  copy          add: ranks 0 and 1
 *     rank 1   gemm  add                copy: rank 0 ...
 */
#include "over_ranks.h"
#include "apart.h"
#include "places.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/quantile.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What stands for ranks that do not fit a cell. */
#define DOTS ",..."

/* Rows, with the columns that are looked at. */
typedef struct columns {
    const tl_table *table;
    size_t name, kind, rank, count, mean_ns, std_ns;
    bool has_kind;
} columns;

static columns columns_of(const tl_table *table)
{
    const tl_schema *schema = table->schema;
    const tl_field *kind = tl_schema_field(schema, "kind");
    return (columns){ .table = table,
                      .name = tl_schema_field(schema, "name")->offset,
                      .kind = kind != NULL ? kind->offset : 0,
                      .rank = tl_schema_field(schema, "rank")->offset,
                      .count = tl_schema_field(schema, "count")->offset,
                      .mean_ns = tl_schema_field(schema, "mean_ns")->offset,
                      .std_ns = tl_schema_field(schema, "std_ns")->offset,
                      .has_kind = kind != NULL };
}

static const unsigned char *row_of(const columns *c, uint32_t i)
{
    return tl_table_row(c->table, i);
}

static int64_t int64_at(const void *row, size_t offset)
{
    int64_t value;
    memcpy(&value, (const char *)row + offset, sizeof value);
    return value;
}

static int32_t int32_at(const void *row, size_t offset)
{
    int32_t value;
    memcpy(&value, (const char *)row + offset, sizeof value);
    return value;
}

static double real_at(const void *row, size_t offset)
{
    double value;
    memcpy(&value, (const char *)row + offset, sizeof value);
    return value;
}

static int compare_names(const void *context, uint32_t a, uint32_t b)
{
    const columns *c = context;
    const unsigned char *x = row_of(c, a), *y = row_of(c, b);
    uint32_t of_x = (uint32_t)int32_at(x, c->name), of_y = (uint32_t)int32_at(y, c->name);
    if (of_x != of_y)
        return TL_COMPARE(of_x, of_y);
    return c->has_kind ? TL_COMPARE(x[c->kind], y[c->kind]) : 0;
}

static int by_name(const void *context, uint32_t a, uint32_t b)
{
    const columns *c = context;
    int order = compare_names(c, a, b);
    return order != 0 ? order : TL_COMPARE(int32_at(row_of(c, a), c->rank), int32_at(row_of(c, b), c->rank));
}

/* The ranks of v[0, n), in order, as "3,7-9"; the end in dots where they do not fit. */
static void list_ranks(const tl_rank_value *v, size_t n, char *cell, size_t size)
{
    char one[32];
    size_t used = 0;

    for (size_t i = 0, to; i < n; i = to) {
        for (to = i + 1; to < n && v[to].rank == v[to - 1].rank + 1; to++)
            ;
        int length = to - i > 1 ? snprintf(one, sizeof one, "%s%d-%d", i > 0 ? "," : "", v[i].rank, v[to - 1].rank)
                                : snprintf(one, sizeof one, "%s%d", i > 0 ? "," : "", v[i].rank);
        bool last = to == n;
        if (used + (size_t)length + (last ? 0 : sizeof DOTS - 1) > size) {
            memcpy(cell + used, DOTS, sizeof DOTS - 1);
            return;
        }
        memcpy(cell + used, one, (size_t)length);
        used += (size_t)length;
    }
}

static double real_std(const double *x, size_t n)
{
    double mean = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        double apart = x[i] - mean;
        mean += apart / (double)(i + 1);
        squares += apart * (x[i] - mean);
    }
    return n > 1 ? sqrt(squares / (double)(n - 1)) : NAN;
}

/* Room for what each rank that has a name has of it. */
typedef struct rooms {
    double *means;
    tl_rank_value *values;
    int64_t *numbers;
} rooms;

/* What the n rows of one name have in common. */
static tl_over_ranks sum_up(const columns *c, const void *const *rows, size_t n, const rooms *room)
{
    tl_over_ranks of = { .rows = rows,
                         .ranks = (int32_t)n,
                         .slowest_rank = -1,
                         .fastest_rank = -1,
                         .slowest_ns = NAN,
                         .fastest_ns = NAN,
                         .room = room->numbers };
    size_t nmeans = 0;

    for (size_t i = 0; i < n; i++) {
        double mean = real_at(rows[i], c->mean_ns);
        of.count += int64_at(rows[i], c->count);
        if (isnan(mean))
            continue;
        if (nmeans == 0 || mean > of.slowest_ns) {
            of.slowest_rank = int32_at(rows[i], c->rank);
            of.slowest_ns = mean;
        }
        if (nmeans == 0 || mean < of.fastest_ns) {
            of.fastest_rank = int32_at(rows[i], c->rank);
            of.fastest_ns = mean;
        }
        room->values[nmeans] =
            (tl_rank_value){ .value = mean,
                             .error = real_at(rows[i], c->std_ns) / sqrt((double)int64_at(rows[i], c->count)),
                             .rank = int32_at(rows[i], c->rank) };
        room->means[nmeans++] = mean;
    }
    of.std_ns = real_std(room->means, nmeans);
    of.median_ns = tl_real_median(room->means, nmeans);
    of.apart = (int32_t)tl_apart_find(room->values, nmeans, room->means);
    list_ranks(room->values, (size_t)of.apart, of.apart_ranks, sizeof of.apart_ranks);
    return of;
}

static void add_names(const columns *c, tl_add_over_ranks *add, void *arg, tl_arena *arena, tl_table *out)
{
    size_t n = c->table->n;
    uint32_t *order = tl_sorted_index(n, by_name, c);
    const void **rows = tl_arena_take(arena, n, sizeof *rows);
    const rooms room = { .means = tl_arena_take(arena, n, sizeof *room.means),
                         .values = tl_arena_take(arena, n, sizeof *room.values),
                         .numbers = tl_arena_take(arena, n, sizeof *room.numbers) };

    for (size_t i = 0; i < n; i++)
        rows[i] = row_of(c, order[i]);
    for (size_t from = 0, to; from < n; from = to) {
        to = tl_group_end(order, from, n, compare_names, c);
        const tl_over_ranks of = sum_up(c, rows + from, to - from, &room);
        add(arg, &of, out);
    }
    free(order);
}

void tl_over_ranks_add(const tl_table *rows, const tl_names *names, tl_add_over_ranks *add, void *arg,
                       const char *const *measures, tl_table *out)
{
    const columns c = columns_of(rows);
    tl_arena arena = { 0 };
    if (rows->n != 0) {
        add_names(&c, add, arg, &arena, out);
        tl_places_number(out, 0, names, measures);
    }

    tl_arena_free(&arena);
}
