/* top.c - the first N rows in the order of one column: rows are collected, and sorted and cut to N whenever there are
 * twice as many. */
#include "select.h"

#include "tlmpi/base/group.h"
#include "tlmpi/model/table.h"
#include <stdlib.h>
#include <string.h>

const void *tl_top_row(const tl_top *top, size_t i)
{
    return top->rows + i * top->select->table->row_size;
}

/* Returns a number below 0 if row a comes before row b; rows without a value come last in both directions. */
static int compare(const void *context, uint32_t a, uint32_t b)
{
    const tl_top *top = context;
    const tl_field *by = top->select->sort;
    const tl_content x = tl_content_of(by, tl_top_row(top, a)), y = tl_content_of(by, tl_top_row(top, b));
    int order;

    if (x.none || y.none)
        return TL_COMPARE(x.none, y.none);
    if (by->type == TL_TYPE_F64)
        order = TL_COMPARE(x.d, y.d);
    else if (by->type == TL_TYPE_TEXT)
        order = tl_text_compare(x.text, y.text);
    else if (by->type == TL_TYPE_NAME && x.i != y.i)
        order = tl_text_compare(tl_result_name(top->select->result, (uint32_t)x.i),
                                tl_result_name(top->select->result, (uint32_t)y.i));
    else
        order = TL_COMPARE(x.i, y.i);
    return top->select->descending ? -order : order;
}

void tl_top_sort(tl_top *top)
{
    const size_t size = top->select->table->row_size;
    uint32_t *index = tl_sorted_index(top->n, compare, top);
    unsigned char *sorted = tl_malloc(top->n * size + 1);
    for (size_t i = 0; i < top->n; i++)
        memcpy(sorted + i * size, tl_top_row(top, index[i]), size);
    for (size_t i = top->limit; i < top->n; i++)
        top->drop(top->drop_arg, sorted + i * size);
    free(index);
    free(top->rows);
    top->rows = sorted;
    top->cap = top->n;
    top->n = top->n < top->limit ? top->n : top->limit;
}

void tl_top_add(tl_top *top, const void *row)
{
    enum { LEAST_KEPT = 1024 }; /* the fewest rows that are sorted at a time */
    const size_t size = top->select->table->row_size;
    if (top->n >= LEAST_KEPT && top->n / 2 >= top->limit)
        tl_top_sort(top);
    tl_grow((void **)&top->rows, &top->cap, top->n + 1, size);
    memcpy(top->rows + top->n++ * size, row, size);
}
