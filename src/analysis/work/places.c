/* places.c - rows by name in the order of their time. */
#include "places.h"
#include "tlmpi/base/group.h"
#include <stdlib.h>
#include <string.h>

typedef struct placing {
    const unsigned char *rows;
    size_t row_size, name;
    const tl_field *kind; /* NULL: there is none */
    size_t measure[2], nmeasures;
    const tl_names *names;
} placing;

static int by_name(const placing *p, const unsigned char *x, const unsigned char *y)
{
    uint32_t of_x, of_y;
    memcpy(&of_x, x + p->name, sizeof of_x);
    memcpy(&of_y, y + p->name, sizeof of_y);
    if (of_x == TL_NO_NAME || of_y == TL_NO_NAME)
        return TL_COMPARE(of_x, of_y);
    return tl_text_compare(tl_names_text(p->names, of_x), tl_names_text(p->names, of_y));
}

static int by_place(const void *context, uint32_t a, uint32_t b)
{
    const placing *p = context;
    const unsigned char *x = p->rows + a * p->row_size, *y = p->rows + b * p->row_size;

    for (size_t i = 0; i < p->nmeasures; i++) {
        int64_t of_x, of_y;
        memcpy(&of_x, x + p->measure[i], sizeof of_x);
        memcpy(&of_y, y + p->measure[i], sizeof of_y);
        if (of_x != of_y)
            return TL_COMPARE(of_y, of_x);
    }
    int order = by_name(p, x, y);
    return order != 0 || p->kind == NULL ? order : TL_COMPARE(x[p->kind->offset], y[p->kind->offset]);
}

void tl_places_number(tl_table *table, size_t first, const tl_names *names, const char *const *measures)
{
    const tl_schema *schema = table->schema;
    size_t n = table->n - first, size = schema->row_size, place = tl_schema_field(schema, "place")->offset;
    placing p = { .row_size = size,
                  .name = tl_schema_field(schema, "name")->offset,
                  .kind = tl_schema_field(schema, "kind"),
                  .names = names };
    unsigned char *rows = tl_malloc(n * size + 1);

    for (; measures[p.nmeasures] != NULL; p.nmeasures++)
        p.measure[p.nmeasures] = tl_schema_field(schema, measures[p.nmeasures])->offset;
    if (n > 0)
        memcpy(rows, tl_table_row(table, first), n * size);
    p.rows = rows;
    uint32_t *order = tl_sorted_index(n, by_place, &p);
    for (size_t i = 0; i < n; i++) {
        unsigned char *row = tl_table_row(table, first + i);
        int32_t number = (int32_t)i + 1;
        memcpy(row, rows + order[i] * size, size);
        memcpy(row + place, &number, sizeof number);
    }
    free(order);
    free(rows);
}
