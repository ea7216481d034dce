/* top.c - the first N rows in the order of one column: a heap of N rows, the one that would stand last on top. */
#include "top.h"

#include <math.h>
#include <stdlib.h>

typedef struct tl_top_entry entry;

static int order_of(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

static tl_text text_cell(const unsigned char *cell, size_t size)
{
    const unsigned char *end = memchr(cell, 0, size);
    return (tl_text){ (const char *)cell, end != NULL ? (size_t)(end - cell) : size };
}

/* A cell without a value stands last, whichever way the column is sorted. */
static int place_missing(bool a_missing, bool b_missing, bool *decided)
{
    *decided = a_missing || b_missing;
    return order_of(a_missing, b_missing);
}

/* Below zero where cell a stands before cell b. */
static int compare_cells(const tl_top *top, const unsigned char *a, const unsigned char *b)
{
    const tl_field *field = top->by;
    bool decided = false;
    int order = 0;

    switch (field->type) {
    case TL_TYPE_I32: {
        int32_t x, y;
        memcpy(&x, a, sizeof x);
        memcpy(&y, b, sizeof y);
        order = order_of(x, y);
        break;
    }
    case TL_TYPE_I64:
    case TL_TYPE_TIME: {
        int64_t x, y;
        memcpy(&x, a, sizeof x);
        memcpy(&y, b, sizeof y);
        if (field->type == TL_TYPE_TIME)
            order = place_missing(x == TL_TIME_UNKNOWN, y == TL_TIME_UNKNOWN, &decided);
        if (!decided)
            order = order_of(x, y);
        break;
    }
    case TL_TYPE_F64: {
        double x, y;
        memcpy(&x, a, sizeof x);
        memcpy(&y, b, sizeof y);
        order = place_missing(isnan(x), isnan(y), &decided);
        if (!decided)
            order = x < y ? -1 : x > y;
        break;
    }
    case TL_TYPE_NAME: {
        uint32_t x, y;
        memcpy(&x, a, sizeof x);
        memcpy(&y, b, sizeof y);
        order = place_missing(x == TL_NO_NAME, y == TL_NO_NAME, &decided);
        if (!decided)
            order = x == y ? 0 : tl_text_compare(top->name(top->name_arg, x), top->name(top->name_arg, y));
        break;
    }
    case TL_TYPE_ENUM:
        order = order_of(*a, *b);
        break;
    case TL_TYPE_TEXT:
        order = tl_text_compare(text_cell(a, field->size), text_cell(b, field->size));
        break;
    }
    return top->descending && !decided ? -order : order;
}

/* Whether row a, the `order`-th, stands before that of entry b. */
static bool stands_before(const tl_top *top, const unsigned char *a, uint64_t order, const entry *b)
{
    int by_cell = compare_cells(top, a + top->by->offset, top->rows + b->slot * top->table->row_size + top->by->offset);
    return by_cell != 0 ? by_cell < 0 : order < b->order;
}

static bool entry_before(const tl_top *top, const entry *a, const entry *b)
{
    return stands_before(top, top->rows + a->slot * top->table->row_size, a->order, b);
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

static void rise(tl_top *top, size_t i)
{
    for (; i > 0 && entry_before(top, &top->heap[(i - 1) / 2], &top->heap[i]); i = (i - 1) / 2)
        swap(&top->heap[(i - 1) / 2], &top->heap[i]);
}

void tl_top_add(tl_top *top, const void *row)
{
    uint64_t order = top->seen++;
    size_t size = top->table->row_size;

    if (top->n == top->limit) {
        if (!stands_before(top, row, order, &top->heap[0])) {
            if (top->drop != NULL)
                top->drop(top->drop_arg, row);
            return;
        }
        if (top->drop != NULL)
            top->drop(top->drop_arg, top->rows + top->heap[0].slot * size);
        memcpy(top->rows + top->heap[0].slot * size, row, size);
        top->heap[0].order = order;
        sink(top, top->n);
        return;
    }
    tl_grow((void **)&top->heap, &top->cap, top->n + 1, sizeof *top->heap);
    tl_grow((void **)&top->rows, &top->rows_cap, top->n + 1, size);
    memcpy(top->rows + top->n * size, row, size);
    top->heap[top->n] = (entry){ order, top->n };
    rise(top, top->n++);
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
    return top->rows + top->heap[i].slot * top->table->row_size;
}

void tl_top_free(tl_top *top)
{
    free(top->heap);
    free(top->rows);
}
