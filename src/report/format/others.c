/* others.c - one row for the kernels that a shortened list leaves out. */
#include "tlmpi/report/format/others.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/table.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How the value of a column is made from the cells of the rows left out. */
static const struct {
    const char *column;
    enum { SAME, SUM, REAL_SUM, LEAST, MOST } how; /* SAME: the value if all cells are equal, else none */
} columns[] = { { "rank", SAME },    { "kind", SAME },    { "unclassified", SAME }, { "count", SUM },
                { "total_ns", SUM }, { "min_ns", LEAST }, { "max_ns", MOST },       { "share", REAL_SUM } };

static void set_cell(const tl_others *o, const char *column, const void *value, size_t size)
{
    const tl_field *f = tl_schema_field(o->table, column);
    if (f == NULL)
        return;
    memcpy(o->row + f->offset, value, size);
    o->blank[f - o->table->fields] = false;
}

/* Returns a cell of the row; zero if the table lacks the column. */
static tl_content cell_of(const tl_others *o, const char *column, const unsigned char *row)
{
    const tl_field *f = tl_schema_field(o->table, column);
    return f != NULL ? tl_content_of(f, row) : (tl_content){ .d = 0 };
}

void tl_others_init(tl_others *o, const tl_schema *table)
{
    *o = (tl_others){ .table = table,
                      .row = tl_calloc(1, table->row_size),
                      .blank = tl_malloc((table->nfields + 1) * sizeof *o->blank) };
    memset(o->blank, true, table->nfields);
}

void tl_others_free(tl_others *o)
{
    free(o->row);
    free(o->blank);
}

static void add_cell(const tl_others *o, size_t i, const unsigned char *row)
{
    const tl_field *f = tl_schema_field(o->table, columns[i].column);
    if (f == NULL)
        return;
    const tl_content sum = tl_content_of(f, o->row), cell = tl_content_of(f, row);
    const double real = sum.d + cell.d;
    const int64_t whole = columns[i].how == SUM     ? tl_ns_add(sum.i, cell.i)
                          : columns[i].how == LEAST ? tl_ns_min(sum.i, cell.i)
                                                    : tl_ns_max(sum.i, cell.i);
    if (columns[i].how == SAME)
        o->blank[f - o->table->fields] |= memcmp(o->row + f->offset, row + f->offset, f->size) != 0;
    else
        memcpy(o->row + f->offset, columns[i].how == REAL_SUM ? (const void *)&real : &whole, f->size);
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
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        const tl_field *f = tl_schema_field(o->table, columns[i].column);
        if (o->rows > 0)
            add_cell(o, i, row);
        else if (f != NULL)
            set_cell(o, f->name, row + f->offset, f->size);
    }
    o->rows++;
    add_runs(o, (double)cell_of(o, "count", row).i, cell_of(o, "mean_ns", row).d, cell_of(o, "std_ns", row).d);
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
    const tl_field *rank = tl_schema_field(o->table, "rank"), *share = tl_schema_field(o->table, "share");
    const double count = (double)cell_of(o, "count", o->row).i,
                 mean_ns = count > 0 ? (double)cell_of(o, "total_ns", o->row).i / count : NAN,
                 std_ns = o->runs > 1 ? sqrt(o->squares / (o->runs - 1)) : NAN;
    set_cell(o, "mean_ns", &mean_ns, sizeof mean_ns);
    set_cell(o, "std_ns", &std_ns, sizeof std_ns);
    set_cell(o, "name", "", 0);        /* the text comes from name_of, not from the cell */
    if (rank != NULL && share != NULL) /* shares are of the time of one rank */
        o->blank[share - o->table->fields] = o->blank[rank - o->table->fields];
    tl_printer other = *printer;
    snprintf(words, sizeof words, "(%" PRId64 " other%s)", o->rows, o->rows > 1 ? "s" : "");
    other.name = name_of;
    other.name_arg = words;
    other.blank = o->blank;
    tl_print_rows(&other, o->row, 1);
    printer->any = true;
}
