/* top.c - the first N rows in the order of one column: a heap of N rows, the one that would stand last on top. */
#include "select.h"

#include "tlmpi/base/sort.h"
#include "tlmpi/model/table.h"
#include <stdlib.h>

typedef struct tl_top_entry entry;

static const unsigned char *row_of(const tl_top *top, const entry *e)
{
    return top->rows + e->slot * top->select->table->row_size;
}

/* Below zero where row a stands before row b; one without a value stands last, whichever way the column is sorted. */
static int compare(const tl_top *top, const unsigned char *a, const unsigned char *b)
{
    const tl_field *by = top->select->sort;
    const tl_content x = tl_content_of(by, a), y = tl_content_of(by, b);
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

/* Whether row a, the `order`-th, stands before that of entry b. */
static bool stands_before(const tl_top *top, const unsigned char *a, uint64_t order, const entry *b)
{
    int by_cell = compare(top, a, row_of(top, b));
    return by_cell != 0 ? by_cell < 0 : order < b->order;
}

static bool entry_before(const tl_top *top, const entry *a, const entry *b)
{
    return stands_before(top, row_of(top, a), a->order, b);
}

static void swap(entry *a, entry *b)
{
    entry kept = *a;
    *a = *b;
    *b = kept;
}

/* Lets heap[0] sink among the first n. */
static void sink(tl_top *top, size_t n)
{
    for (size_t i = 0, child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && entry_before(top, &top->heap[child], &top->heap[child + 1]))
            child++;
        if (entry_before(top, &top->heap[child], &top->heap[i]))
            return;
        swap(&top->heap[child], &top->heap[i]);
    }
}

void tl_top_add(tl_top *top, const void *row)
{
    uint64_t order = top->seen++;
    size_t size = top->select->table->row_size, i = top->n;

    if (top->n == top->limit) {
        entry *last = &top->heap[0];
        if (!stands_before(top, row, order, last)) {
            top->drop(top->drop_arg, row);
            return;
        }
        top->drop(top->drop_arg, row_of(top, last));
        memcpy(top->rows + last->slot * size, row, size);
        last->order = order;
        sink(top, top->n);
        return;
    }
    tl_grow((void **)&top->heap, &top->cap, top->n + 1, sizeof *top->heap);
    tl_grow((void **)&top->rows, &top->rows_cap, top->n + 1, size);
    memcpy(top->rows + top->n * size, row, size);
    top->heap[top->n] = (entry){ order, top->n };
    top->n++;
    for (; i > 0 && entry_before(top, &top->heap[(i - 1) / 2], &top->heap[i]); i = (i - 1) / 2)
        swap(&top->heap[(i - 1) / 2], &top->heap[i]);
}

void tl_top_sort(tl_top *top)
{
    for (size_t n = top->n; n > 1; n--) {
        swap(&top->heap[0], &top->heap[n - 1]);
        sink(top, n - 1);
    }
}

const void *tl_top_row(const tl_top *top, size_t i)
{
    return row_of(top, &top->heap[i]);
}

void tl_top_free(tl_top *top)
{
    free(top->heap);
    free(top->rows);
}
