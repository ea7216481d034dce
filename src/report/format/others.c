/* others.c - what a list of kernels, cut short, leaves out, as one row. */
#include "tlmpi/report/format/others.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/table.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void tl_others_init(tl_others *others, const tl_schema *table)
{
    *others = (tl_others){ .table = table, .least_ns = INT64_MAX, .one_rank = true, .one_kind = true, .one_class = true };
}

void tl_others_free(tl_others *others)
{
    free(others->first);
    others->first = NULL;
}

/* A cell of the row; `absent` where the table has no such column. */
static int64_t int_of(const tl_others *o, const char *column, const unsigned char *row, int64_t absent)
{
    const tl_field *f = tl_schema_field(o->table, column);
    int64_t value = 0;
    int32_t small;

    if (f == NULL)
        return absent;
    if (f->type == TL_TYPE_I64) {
        memcpy(&value, row + f->offset, sizeof value);
        return value;
    }
    if (f->type == TL_TYPE_ENUM)
        return row[f->offset];
    memcpy(&small, row + f->offset, sizeof small);
    return small;
}

static double real_of(const tl_others *o, const char *column, const unsigned char *row)
{
    const tl_field *f = tl_schema_field(o->table, column);
    double value = NAN;
    if (f != NULL && f->type == TL_TYPE_F64)
        memcpy(&value, row + f->offset, sizeof value);
    return value;
}

/* Adds n runs of the given mean and standard deviation to the runs, mean and sum of squared deviations of `o`. */
static void add_runs(tl_others *o, double n, double mean_ns, double std_ns)
{
    double all = o->runs + n, apart = mean_ns - o->mean_ns;
    if (!(n > 0))
        return;
    o->squares += (n > 1 ? std_ns * std_ns * (n - 1) : 0) + apart * apart * o->runs * n / all;
    o->mean_ns += apart * n / all;
    o->runs = all;
}

void tl_others_add(tl_others *o, const unsigned char *row)
{
    int64_t count = int_of(o, "count", row, 0);

    if (o->first == NULL) {
        o->first = tl_malloc(o->table->row_size);
        memcpy(o->first, row, o->table->row_size);
    }
    o->rows++;
    o->one_rank &= int_of(o, "rank", row, 0) == int_of(o, "rank", o->first, 0);
    o->one_kind &= int_of(o, "kind", row, 0) == int_of(o, "kind", o->first, 0);
    o->one_class &= int_of(o, "unclassified", row, 0) == int_of(o, "unclassified", o->first, 0);
    o->count = tl_ns_add(o->count, count);
    o->total_ns = tl_ns_add(o->total_ns, int_of(o, "total_ns", row, 0));
    o->least_ns = tl_ns_min(o->least_ns, int_of(o, "min_ns", row, INT64_MAX));
    o->most_ns = tl_ns_max(o->most_ns, int_of(o, "max_ns", row, 0));
    o->share += real_of(o, "share", row);
    add_runs(o, (double)count, real_of(o, "mean_ns", row), real_of(o, "std_ns", row));
}

/* ------------------------------------------------------------------------------------------------------------- row */

typedef struct making {
    const tl_schema *table;
    unsigned char *row;
    bool *blank; /* by column */
} making;

static const tl_field *fill(making *m, const char *column)
{
    const tl_field *f = tl_schema_field(m->table, column);
    if (f != NULL)
        m->blank[f - m->table->fields] = false;
    return f;
}

static void put_int(making *m, const char *column, int64_t value)
{
    const tl_field *f = fill(m, column);
    if (f != NULL)
        memcpy(m->row + f->offset, &value, sizeof value);
}

static void put_real(making *m, const char *column, double value)
{
    const tl_field *f = fill(m, column);
    if (f != NULL)
        memcpy(m->row + f->offset, &value, sizeof value);
}

/* What all have as the first. */
static void keep(making *m, const char *column, const unsigned char *first)
{
    const tl_field *f = fill(m, column);
    if (f != NULL)
        memcpy(m->row + f->offset, first + f->offset, f->size);
}

static void make(const tl_others *o, making *m)
{
    for (size_t i = 0; i < o->table->nfields; i++)
        m->blank[i] = true;
    if (o->one_rank) {
        keep(m, "rank", o->first);
        put_real(m, "share", o->share);
    }
    if (o->one_kind)
        keep(m, "kind", o->first);
    if (o->one_class)
        keep(m, "unclassified", o->first);
    put_int(m, "count", o->count);
    put_int(m, "total_ns", o->total_ns);
    put_real(m, "mean_ns", o->count > 0 ? (double)o->total_ns / (double)o->count : NAN);
    put_real(m, "std_ns", o->runs > 1 ? sqrt(o->squares / (o->runs - 1)) : NAN);
    put_int(m, "min_ns", o->least_ns);
    put_int(m, "max_ns", o->most_ns);
    (void)fill(m, "name"); /* whatever number stands there: name_of has the text */
}

static tl_text name_of(void *words, uint32_t id)
{
    (void)id;
    return (tl_text){ words, strlen(words) };
}

bool tl_others_print(const tl_others *o, tl_printer *printer)
{
    char words[48];
    if (o->rows == 0)
        return true;
    making m = { .table = o->table,
                 .row = tl_calloc(1, o->table->row_size),
                 .blank = tl_calloc(o->table->nfields, sizeof *m.blank) };
    const tl_printer kept = *printer;
    make(o, &m);
    snprintf(words, sizeof words, "(%" PRId64 " other%s)", o->rows, o->rows > 1 ? "s" : "");
    printer->name = name_of;
    printer->name_arg = words;
    printer->blank = m.blank;
    bool ok = tl_print_rows(printer, m.row, 1);
    printer->name = kept.name;
    printer->name_arg = kept.name_arg;
    printer->blank = NULL;
    free(m.row);
    free(m.blank);
    return ok;
}
