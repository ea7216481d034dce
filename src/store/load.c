/* load.c - reads rows of a result file into this program's structs.  The file may be of another version, or malicious:
 * everything in it is checked. */
#include "tlmpi/store/load.h"

#include "tlmpi/base/mem.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)256 << 10)

enum { NO_LABEL = 255 };

/* The file's column for one of our fields. */
typedef struct column {
    const tl_field *from;
    uint8_t values[256]; /* of an enum: our value for each value of the file; NO_LABEL: none */
} column;

typedef struct loading {
    tl_result *result;
    const tl_schema *from, *ours; /* schemas of the file and of this program */
    tl_take_row *take;
    void *arg;
    column *columns; /* by field of `ours` */
    int64_t epoch_ns;
} loading;

#define WRITTEN_BY_ANOTHER "another version of tlmpi has written the file: analyse the traces again"

static void translate(const tl_field *from, const tl_field *to, uint8_t values[256])
{
    memset(values, NO_LABEL, 256);
    for (int i = 0; i < NO_LABEL && from->labels != NULL && from->labels[i] != NULL; i++)
        for (int k = 0; k < NO_LABEL && to->labels[k] != NULL; k++)
            if (strcmp(from->labels[i], to->labels[k]) == 0)
                values[i] = (uint8_t)k;
}

static tl_status find_columns(loading *l, tl_error *err)
{
    const tl_schema *ours = l->ours;
    for (size_t f = 0; f < ours->nfields; f++) {
        const tl_field *to = &ours->fields[f], *from = tl_schema_field(l->from, to->name);
        if (from == NULL)
            return tl_fail(err, TL_EINPUT, "table %s has no column %s; " WRITTEN_BY_ANOTHER, ours->name, to->name);
        if (from->type != to->type || from->size != to->size)
            return tl_fail(err, TL_EINPUT, "column %s of table %s is of another type; " WRITTEN_BY_ANOTHER, to->name,
                           ours->name);
        l->columns[f].from = from;
        if (to->type == TL_TYPE_ENUM)
            translate(from, to, l->columns[f].values);
    }
    return TL_OK;
}

/* Converts a row.  Returns false if an enum's cell has no label. */
static bool convert(const loading *l, const unsigned char *packed, unsigned char *row, size_t *field)
{
    const tl_schema *ours = l->ours;
    for (size_t f = 0; f < ours->nfields; f++) {
        const tl_field *to = &ours->fields[f];
        const unsigned char *cell = packed + l->columns[f].from->offset;
        memcpy(row + to->offset, cell, to->size);
        if (to->type == TL_TYPE_ENUM) {
            row[to->offset] = l->columns[f].values[*cell];
            *field = f;
            if (row[to->offset] == NO_LABEL)
                return false;
        } else if (to->type == TL_TYPE_TIME) {
            int64_t ns;
            memcpy(&ns, cell, sizeof ns);
            ns = ns == TL_TIME_UNKNOWN ? ns : tl_ns_sum(ns, l->epoch_ns);
            memcpy(row + to->offset, &ns, sizeof ns);
        }
    }
    return true;
}

static tl_status read_rows(loading *l, tl_error *err)
{
    size_t size = l->from->row_size, block = BLOCK_BYTES / size + 1, field = 0;
    uint64_t n = tl_result_nrows(l->result, l->from);
    unsigned char *packed = tl_malloc(block * size), *row = tl_malloc(l->ours->row_size);
    tl_status st = TL_OK;

    for (uint64_t first = 0; st == TL_OK && first < n; first += block) {
        size_t some = n - first < block ? (size_t)(n - first) : block;
        st = tl_result_read(l->result, l->from, first, some, packed, err);
        for (size_t i = 0; st == TL_OK && i < some; i++)
            if (convert(l, packed + i * size, row, &field))
                l->take(l->arg, row);
            else
                st = tl_fail(err, TL_EINPUT, "table %s, row %llu: the value of %s has no label; " WRITTEN_BY_ANOTHER,
                             l->from->name, (unsigned long long)first + i, l->ours->fields[field].name);
    }
    free(row);
    free(packed);
    return st;
}

tl_status tl_result_each(tl_result *result, const tl_schema *ours, tl_take_row *take, void *arg, tl_error *err)
{
    loading l = { .result = result, .ours = ours, .take = take, .arg = arg };
    l.from = tl_result_find(result, ours->name);
    if (l.from == NULL)
        return tl_fail(err, TL_EINPUT, "the file has no table %s; " WRITTEN_BY_ANOTHER, ours->name);
    tl_status st = tl_result_attr_int(result, "epoch_ns", &l.epoch_ns, err);
    if (st != TL_OK)
        return st;
    l.columns = tl_calloc(ours->nfields + 1, sizeof *l.columns);
    st = find_columns(&l, err);
    if (st == TL_OK)
        st = read_rows(&l, err);
    free(l.columns);
    return st;
}

static void append(void *table, const void *row)
{
    tl_table_append(table, row, 1);
}

tl_status tl_result_load(tl_result *result, tl_tables *tables, size_t required, tl_error *err)
{
    tl_status st = TL_OK;
    for (size_t t = 0; st == TL_OK && t < tables->n; t++) {
        tl_table *to = &tables->v[t];
        if (t < required || tl_result_find(result, to->schema->name) != NULL)
            st = tl_result_each(result, to->schema, append, to, err);
    }
    return st;
}
