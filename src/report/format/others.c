/* others.c - one row for the kernels that a shortened list leaves out. */
#include "tlmpi/report/format/others.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/table.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns a cell of the row; zero if the table lacks the column. */
static tl_content cell_of(const tl_schema *table, const char *column, const unsigned char *row)
{
    const tl_field *f = tl_schema_field(table, column);
    return f != NULL ? tl_content_of(f, row) : (tl_content){ .d = 0 };
}

void tl_others_add(tl_others *o, const tl_schema *table, const unsigned char *row)
{
    const int64_t rank = cell_of(table, "rank", row).i;
    o->share += o->rows > 0 && rank != o->rank ? NAN : cell_of(table, "share", row).d;
    o->rank = rank;
    o->count += cell_of(table, "count", row).i;
    o->total_ns = tl_ns_add(o->total_ns, cell_of(table, "total_ns", row).i);
    o->rows++;
}

static tl_text name_of(void *words, uint32_t id)
{
    (void)id;
    return (tl_text){ words, strlen(words) };
}

void tl_others_print(const tl_others *o, tl_printer *printer)
{
    const tl_schema *table = printer->schema;
    const double mean_ns = o->count > 0 ? (double)o->total_ns / (double)o->count : NAN;
    const struct {
        const char *column;
        const void *value;
        size_t size;
    } cells[] = { { "count", &o->count, sizeof o->count },
                  { "total_ns", &o->total_ns, sizeof o->total_ns },
                  { "mean_ns", &mean_ns, sizeof mean_ns },
                  { "share", &o->share, sizeof o->share },
                  { "name", "", 0 } /* name_of has the text */ };
    if (o->rows == 0)
        return;
    unsigned char *row = tl_calloc(1, table->row_size);
    bool *blank = tl_malloc(table->nfields * sizeof *blank);
    memset(blank, true, table->nfields);
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
        const tl_field *f = tl_schema_field(table, cells[i].column);
        memcpy(row + f->offset, cells[i].value, cells[i].size);
        blank[f - table->fields] = false;
    }
    char words[48];
    snprintf(words, sizeof words, "(%" PRId64 " other%s)", o->rows, o->rows > 1 ? "s" : "");
    tl_printer other = *printer;
    other.name = name_of;
    other.name_arg = words;
    other.blank = blank;
    tl_print_rows(&other, row, 1);
    printer->any = true;
    free(row);
    free(blank);
}
