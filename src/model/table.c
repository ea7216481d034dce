/* table.c - rows of a schema: adding, sorting by the keys, finding fields. */
#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void tl_table_reserve(tl_table *table, size_t n)
{
    tl_grow((void **)&table->rows, &table->cap, table->n + n, table->schema->row_size);
}

void *tl_table_add(tl_table *table)
{
    tl_table_reserve(table, 1);
    /* Zeroed with its padding, so that the bytes of a row are a function of its cells. */
    return memset(tl_table_row(table, table->n++), 0, table->schema->row_size);
}

void tl_table_append(tl_table *table, const void *rows, size_t n)
{
    if (n == 0)
        return;
    tl_table_reserve(table, n);
    memcpy(tl_table_row(table, table->n), rows, n * table->schema->row_size);
    table->n += n;
}

void tl_row_add(const tl_schema *schema, void *sum, const void *row)
{
    for (const tl_field *f = schema->fields; f < schema->fields + schema->nfields; f++) {
        int64_t *to = (int64_t *)(void *)((char *)sum + f->offset);
        const int64_t *more = (const int64_t *)(const void *)((const char *)row + f->offset);
        if (f->role == TL_ROLE_MEASURE && f->type == TL_TYPE_I64)
            *to = tl_ns_add(*to, *more);
    }
}

size_t tl_table_from_rank(const tl_table *table, int32_t rank)
{
    size_t row = 0;
    TL_BISECT(row, table->n, mid, *(const int32_t *)tl_table_row(table, mid) < rank);
    return row;
}

const void *tl_row_of_rank(const tl_table *table, int32_t rank)
{
    size_t at = tl_table_from_rank(table, rank);
    const int32_t *row = at < table->n ? tl_table_row(table, at) : NULL;
    return row != NULL && *row == rank ? row : NULL;
}

void tl_table_set_name_rows(tl_table *table, const uint32_t *row_of)
{
    for (size_t f = 0; f < table->schema->nfields; f++) {
        const tl_field *field = &table->schema->fields[f];
        for (size_t i = 0; field->type == TL_TYPE_NAME && i < table->n; i++) {
            unsigned char *cell = (unsigned char *)tl_table_row(table, i) + field->offset;
            uint32_t id;
            memcpy(&id, cell, sizeof id);
            if (id != TL_NO_NAME)
                memcpy(cell, &row_of[id], sizeof id);
        }
    }
}

void tl_table_free(tl_table *table)
{
    free(table->rows);
    *table = (tl_table){ .schema = table->schema };
}

/* Maps the cell of a key that is not text to a number, so that the numbers are in the order of the cells.  NaN, which
 * means no value, is last. */
static uint64_t number_of(const tl_field *f, const unsigned char *cell)
{
    const uint64_t sign = UINT64_C(1) << 63;
    uint32_t small;
    uint64_t large;
    double real;

    switch (f->type) {
    case TL_TYPE_I32:
    case TL_TYPE_NAME:
        memcpy(&small, cell, sizeof small);
        return small ^ (f->type == TL_TYPE_I32 ? UINT32_C(1) << 31 : 0); /* negative numbers first */
    case TL_TYPE_I64:
    case TL_TYPE_TIME:
        memcpy(&large, cell, sizeof large);
        return large ^ sign;
    case TL_TYPE_F64:
        memcpy(&real, cell, sizeof real);
        real = real == 0 ? 0 : real;
        memcpy(&large, &real, sizeof large);
        return real != real ? UINT64_MAX : (large & sign) != 0 ? ~large : large | sign;
    case TL_TYPE_ENUM:
    case TL_TYPE_TEXT:
        break;
    }
    return *cell;
}

static int compare_rows(const tl_schema *schema, const unsigned char *a, const unsigned char *b)
{
    for (const tl_field *f = schema->fields; f < schema->fields + schema->nfields; f++) {
        const unsigned char *x = a + f->offset, *y = b + f->offset;
        if (f->role != TL_ROLE_KEY)
            continue;
        int order = f->type == TL_TYPE_TEXT ? memcmp(x, y, f->size) : TL_COMPARE(number_of(f, x), number_of(f, y));
        if (order != 0)
            return order;
    }
    return 0;
}

static int by_keys(const void *table, uint32_t a, uint32_t b)
{
    const tl_table *t = table;
    return compare_rows(t->schema, tl_table_row(t, a), tl_table_row(t, b));
}

void tl_table_arrange(const tl_table *table, uint32_t *order)
{
    const size_t size = table->schema->row_size;
    void *first = tl_malloc(size);
    for (uint32_t i = 0; i < table->n; i++) {
        uint32_t to = i;
        memcpy(first, tl_table_row(table, i), size);
        for (uint32_t from = order[to]; from != i; from = order[to]) {
            memcpy(tl_table_row(table, to), tl_table_row(table, from), size);
            order[to] = to;
            to = from;
        }
        memcpy(tl_table_row(table, to), first, size);
        order[to] = to;
    }
    free(first);
}

/* Sorts the rows from `first` on. */
static void sort_from(const tl_table *table, size_t first)
{
    const tl_table rest = { .schema = table->schema, .rows = tl_table_row(table, first), .n = table->n - first };
    size_t n = rest.n, i = 1;
    while (i < n && compare_rows(rest.schema, tl_table_row(&rest, i - 1), tl_table_row(&rest, i)) <= 0)
        i++;
    if (i >= n) /* rows mostly are in order already, and one comparison of each with the next finds that */
        return;

    tl_mem_indexable(n);
    uint32_t *order = tl_sorted_index(n, by_keys, &rest);
    tl_table_arrange(&rest, order);
    free(order);
}

void tl_table_sort(tl_table *table)
{
    if (table->n > 0)
        sort_from(table, 0);
}

void tl_table_unite(tl_table *table, size_t first, void (*add)(void *sum, const void *row))
{
    size_t kept = first, size = table->schema->row_size;
    if (table->n <= first)
        return;
    sort_from(table, first);
    for (size_t i = first; i < table->n; i++) {
        const void *row = tl_table_row(table, i);
        bool same = kept > first && compare_rows(table->schema, tl_table_row(table, kept - 1), row) == 0;
        if (same && add == NULL)
            tl_row_add(table->schema, tl_table_row(table, kept - 1), row);
        else if (same)
            add(tl_table_row(table, kept - 1), row);
        else
            memmove(tl_table_row(table, kept++), row, size);
    }
    table->n = kept;
}

const tl_field *tl_schema_field(const tl_schema *schema, const char *name)
{
    for (size_t i = 0; i < schema->nfields; i++)
        if (strcmp(schema->fields[i].name, name) == 0)
            return &schema->fields[i];
    return NULL;
}

const char *tl_field_label(const tl_field *field, unsigned value)
{
    for (unsigned i = 0; field->labels != NULL && field->labels[i] != NULL; i++)
        if (i == value)
            return field->labels[i];
    return NULL;
}

tl_content tl_content_of(const tl_field *field, const void *row)
{
    const unsigned char *at = (const unsigned char *)row + field->offset;
    tl_content cell = { .d = 0 };
    int32_t small = 0;
    uint32_t id = 0;
    const char *label;

    switch (field->type) {
    case TL_TYPE_I32:
        memcpy(&small, at, sizeof small);
        cell.i = small;
        break;
    case TL_TYPE_I64:
    case TL_TYPE_TIME:
        memcpy(&cell.i, at, sizeof cell.i);
        cell.none = field->type == TL_TYPE_TIME && cell.i == TL_TIME_UNKNOWN;
        break;
    case TL_TYPE_F64:
        memcpy(&cell.d, at, sizeof cell.d);
        cell.none = isnan(cell.d);
        break;
    case TL_TYPE_NAME:
        memcpy(&id, at, sizeof id);
        cell.i = id;
        cell.none = id == TL_NO_NAME;
        break;
    case TL_TYPE_ENUM:
        label = tl_field_label(field, *at);
        cell.i = *at;
        cell.text = (tl_text){ label, label != NULL ? strlen(label) : 0 };
        break;
    case TL_TYPE_TEXT:
        cell.text = (tl_text){ (const char *)at, strnlen((const char *)at, field->size) };
        break;
    }
    return cell;
}

void tl_cell_text(char *cell, size_t size, const char *text, size_t n)
{
    memset(cell, 0, size);
    if (n > size) {
        /* Cuts before a whole character: at most three bytes follow the first byte of a character in UTF-8. */
        size_t cut = size;
        while (cut > 0 && size - cut < 3 && ((unsigned char)text[cut] & 0xc0) == 0x80)
            cut--;
        n = ((unsigned char)text[cut] & 0xc0) == 0x80 ? size : cut;
    }
    if (n > 0)
        memcpy(cell, text, n);
}

void tl_cell_path(char *cell, size_t size, const char *path)
{
    static const char mark[] = "...";
    size_t n = strlen(path), shown = size - (sizeof mark - 1);
    if (n <= size) {
        tl_cell_text(cell, size, path, n);
        return;
    }
    const char *end = path + n - shown, *slash = strchr(end, '/');
    for (int i = 0; i < 3 && ((unsigned char)*end & 0xc0) == 0x80; i++)
        end++;
    if (slash != NULL)
        end = slash;
    memset(cell, 0, size);
    memcpy(cell, mark, sizeof mark - 1);
    memcpy(cell + sizeof mark - 1, end, strlen(end));
}

void tl_tables_init(tl_tables *tables, const tl_schema *const *schemas, size_t n)
{
    *tables = (tl_tables){ .v = tl_calloc(n, sizeof *tables->v) };
    tables->n = n;
    for (size_t i = 0; i < tables->n; i++)
        tables->v[i].schema = schemas[i];
}

void tl_tables_free(tl_tables *tables)
{
    for (size_t i = 0; i < tables->n; i++)
        tl_table_free(&tables->v[i]);
    free(tables->v);
    *tables = (tl_tables){ 0 };
}

tl_table *tl_tables_get(tl_tables *tables, const tl_schema *schema)
{
    for (size_t i = 0; i < tables->n; i++)
        if (tables->v[i].schema == schema)
            return &tables->v[i];
    return NULL;
}
