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
    *others =
        (tl_others){ .table = table, .least_ns = INT64_MAX, .one_rank = true, .one_kind = true, .one_class = true };
}

void tl_others_free(tl_others *others)
{
    free(others->first);
    others->first = NULL;
}

/* A cell of the row: of no column, one without a value. */
static tl_content cell_of(const tl_others *o, const char *column, const unsigned char *row)
{
    const tl_field *f = tl_schema_field(o->table, column);
    return f != NULL ? tl_content_of(f, row) : (tl_content){ .none = true, .d = NAN };
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
    const tl_content least = cell_of(o, "min_ns", row);
    int64_t count = cell_of(o, "count", row).i;

    if (o->first == NULL) {
        o->first = tl_malloc(o->table->row_size);
        memcpy(o->first, row, o->table->row_size);
    }
    o->rows++;
    o->one_rank &= cell_of(o, "rank", row).i == cell_of(o, "rank", o->first).i;
    o->one_kind &= cell_of(o, "kind", row).i == cell_of(o, "kind", o->first).i;
    o->one_class &= cell_of(o, "unclassified", row).i == cell_of(o, "unclassified", o->first).i;
    o->count = tl_ns_add(o->count, count);
    o->total_ns = tl_ns_add(o->total_ns, cell_of(o, "total_ns", row).i);
    o->least_ns = least.none ? o->least_ns : tl_ns_min(o->least_ns, least.i);
    o->most_ns = tl_ns_max(o->most_ns, cell_of(o, "max_ns", row).i);
    o->share += cell_of(o, "share", row).d;
    add_runs(o, (double)count, cell_of(o, "mean_ns", row).d, cell_of(o, "std_ns", row).d);
}

/* ------------------------------------------------------------------------------------------------------------- row */

typedef struct making {
    const tl_schema *table;
    unsigned char *row;
    bool *blank; /* by column */
} making;

/* Puts a cell of `column`, of at most `size` bytes; nothing where the table has no such column. */
static void put(making *m, const char *column, const void *value, size_t size)
{
    const tl_field *f = tl_schema_field(m->table, column);
    if (f == NULL)
        return;
    m->blank[f - m->table->fields] = false;
    memcpy(m->row + f->offset, value, f->size < size ? f->size : size);
}

static void put_real(making *m, const char *column, double value)
{
    put(m, column, &value, sizeof value);
}

/* What all have as the first. */
static void keep(making *m, const char *column, const unsigned char *first)
{
    const tl_field *f = tl_schema_field(m->table, column);
    if (f != NULL)
        put(m, column, first + f->offset, f->size);
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
    put(m, "count", &o->count, sizeof o->count);
    put(m, "total_ns", &o->total_ns, sizeof o->total_ns);
    put_real(m, "mean_ns", o->count > 0 ? (double)o->total_ns / (double)o->count : NAN);
    put_real(m, "std_ns", o->runs > 1 ? sqrt(o->squares / (o->runs - 1)) : NAN);
    put(m, "min_ns", &o->least_ns, sizeof o->least_ns);
    put(m, "max_ns", &o->most_ns, sizeof o->most_ns);
    put(m, "name", "", 0); /* whatever number stands there: name_of has the text */
}

static tl_text name_of(void *words, uint32_t id)
{
    (void)id;
    return (tl_text){ words, strlen(words) };
}

void tl_others_print(const tl_others *o, tl_printer *printer)
{
    char words[48];
    if (o->rows == 0)
        return;
    making m = { .table = o->table,
                 .row = tl_calloc(1, o->table->row_size),
                 .blank = tl_calloc(o->table->nfields, sizeof *m.blank) };
    const tl_printer kept = *printer;
    make(o, &m);
    snprintf(words, sizeof words, "(%" PRId64 " other%s)", o->rows, o->rows > 1 ? "s" : "");
    printer->name = name_of;
    printer->name_arg = words;
    printer->blank = m.blank;
    tl_print_rows(printer, m.row, 1);
    printer->name = kept.name;
    printer->name_arg = kept.name_arg;
    printer->blank = NULL;
    free(m.row);
    free(m.blank);
}
