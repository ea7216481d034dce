/* table.c - rows of a schema: adding, sorting by the keys, finding fields. */
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/table.h"
#include "tlmpi/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Room for n more rows. */
static void room(tl_table *table, size_t n)
{
    tl_grow((void **)&table->rows, &table->cap, table->n + n, table->schema->row_size);
}

void tl_table_reserve(tl_table *table, size_t n)
{
    room(table, n);
}

void *tl_table_add(tl_table *table)
{
    room(table, 1);
    /* Zeroed with its padding, so that the bytes of a row are a function of its cells. */
    return memset(tl_table_row(table, table->n++), 0, table->schema->row_size);
}

void tl_table_append(tl_table *table, const void *rows, size_t n)
{
    if (n == 0)
        return;
    room(table, n);
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

static int compare_i32(const unsigned char *a, const unsigned char *b)
{
    int32_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return TL_COMPARE(x, y);
}

static int compare_i64(const unsigned char *a, const unsigned char *b)
{
    int64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return TL_COMPARE(x, y);
}

static int compare_name(const unsigned char *a, const unsigned char *b)
{
    uint32_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return TL_COMPARE(x, y);
}

/* NaN, which is no value, comes after all values. */
static int compare_f64(const unsigned char *a, const unsigned char *b)
{
    double x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    bool x_none = x != x, y_none = y != y;
    return x_none || y_none ? x_none - y_none : TL_COMPARE(x, y);
}

static int compare_rows(const tl_schema *schema, const unsigned char *a, const unsigned char *b)
{
    for (size_t i = 0; i < schema->nfields; i++) {
        const tl_field *f = &schema->fields[i];
        if (f->role != TL_ROLE_KEY)
            continue;

        const unsigned char *x = a + f->offset, *y = b + f->offset;
        int order = 0;
        switch (f->type) {
        case TL_TYPE_I32:
            order = compare_i32(x, y);
            break;
        case TL_TYPE_I64:
        case TL_TYPE_TIME:
            order = compare_i64(x, y);
            break;
        case TL_TYPE_F64:
            order = compare_f64(x, y);
            break;
        case TL_TYPE_NAME:
            order = compare_name(x, y);
            break;
        case TL_TYPE_ENUM:
        case TL_TYPE_TEXT:
            order = memcmp(x, y, f->size);
            break;
        }
        if (order != 0)
            return order;
    }
    return 0;
}

/* What rows are compared by first: the bytes of their leading keys, so that they compare as two numbers. */
typedef struct place {
    uint64_t prefix[2];
    size_t row;
} place;

enum { PREFIX = sizeof((place *)0)->prefix };

/* Appends a number of so many bytes, the highest first. */
static size_t put_number(unsigned char *prefix, size_t n, uint64_t x, size_t size)
{
    for (size_t i = 0; i < size && n < PREFIX; i++)
        prefix[n++] = (unsigned char)(x >> 8 * (size - 1 - i));
    return n;
}

static size_t put_key(unsigned char *prefix, size_t n, const tl_field *f, const unsigned char *at)
{
    uint32_t small = 0;
    uint64_t large = 0;
    if (f->type == TL_TYPE_I64 || f->type == TL_TYPE_TIME) {
        memcpy(&large, at, sizeof large);
        return put_number(prefix, n, large ^ UINT64_C(1) << 63, sizeof large); /* below 0 stands first */
    }
    if (f->type == TL_TYPE_I32 || f->type == TL_TYPE_NAME) {
        memcpy(&small, at, sizeof small);
        return put_number(prefix, n, small ^ (f->type == TL_TYPE_I32 ? UINT32_C(1) << 31 : 0), sizeof small);
    }
    for (size_t i = 0; i < f->size && n < PREFIX; i++)
        prefix[n++] = at[i];
    return n;
}

static place place_of(const tl_table *table, size_t row)
{
    const tl_schema *schema = table->schema;
    unsigned char prefix[PREFIX] = { 0 };
    place p = { .row = row };
    size_t n = 0;
    for (size_t i = 0; i < schema->nfields && n < PREFIX; i++) {
        const tl_field *f = &schema->fields[i];
        if (f->role == TL_ROLE_KEY && f->type == TL_TYPE_F64)
            break;
        if (f->role == TL_ROLE_KEY)
            n = put_key(prefix, n, f, (const unsigned char *)tl_table_row(table, row) + f->offset);
    }
    for (size_t i = 0; i < PREFIX; i++)
        p.prefix[i / 8] = p.prefix[i / 8] << 8 | prefix[i];
    return p;
}

static int compare_places(const tl_table *table, const place *a, const place *b)
{
    if (a->prefix[0] != b->prefix[0])
        return TL_COMPARE(a->prefix[0], b->prefix[0]);
    if (a->prefix[1] != b->prefix[1])
        return TL_COMPARE(a->prefix[1], b->prefix[1]);
    return compare_rows(table->schema, tl_table_row(table, a->row), tl_table_row(table, b->row));
}

static bool in_order(const tl_table *table)
{
    for (size_t i = 1; i < table->n; i++)
        if (compare_rows(table->schema, tl_table_row(table, i - 1), tl_table_row(table, i)) > 0)
            return false;
    return true;
}

/* Merges the sorted runs from[a, b) and from[b, c) into to[a, c); of equal rows the left goes first. */
static void merge(const tl_table *table, const place *from, place *to, size_t a, size_t b, size_t c)
{
    size_t i = a, j = b;
    for (size_t k = a; k < c; k++) {
        bool left = j == c || (i < b && compare_places(table, &from[i], &from[j]) <= 0);
        to[k] = from[left ? i++ : j++];
    }
}

/* Sorts by merging runs of 1, 2, 4 ... from one array to the other and back; returns the one that holds the result. */
static place *sort_places(const tl_table *table, place *from, place *to)
{
    size_t n = table->n;
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t a = 0; a < n; a += 2 * width) {
            size_t b = n - a > width ? a + width : n;
            size_t c = n - b > width ? b + width : n;
            merge(table, from, to, a, b, c);
        }
        place *other = from;
        from = to;
        to = other;
    }
    return from;
}

void tl_table_sort(tl_table *table)
{
    /* Rows mostly come in order, and then it costs one look at each. */
    if (in_order(table))
        return;

    size_t n = table->n, size = table->schema->row_size;
    place *from = tl_malloc(n * sizeof *from), *to = tl_malloc(n * sizeof *to);
    unsigned char *rows = tl_malloc(n * size);
    for (size_t i = 0; i < n; i++)
        from[i] = place_of(table, i);
    const place *sorted = sort_places(table, from, to);
    for (size_t i = 0; i < n; i++)
        memcpy(rows + i * size, tl_table_row(table, sorted[i].row), size);
    free(table->rows);
    table->rows = rows;
    table->cap = n;
    free(to);
    free(from);
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
        /* A character of UTF-8 has at most three bytes after its first: back to a first byte, unless there is none. */
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
