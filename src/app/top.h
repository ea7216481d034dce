/* top.h - the first N rows in the order of one column, without holding the others. */
#ifndef TLMPI_APP_TOP_H
#define TLMPI_APP_TOP_H

#include "tlmpi/base/mem.h"
#include "tlmpi/base/text.h"
#include "tlmpi/model/schema.h"
#include <stdint.h>

/* Set those before `private`, the rest zero; tl_top_free ends it.  Rows may be packed. */
typedef struct tl_top {
    const tl_schema *table;
    const tl_field *by;
    bool descending;
    size_t limit;               /* N, at least 1 */
    tl_text (*name)(void *arg, uint32_t id);
    void *name_arg;
    void (*drop)(void *arg, const void *row); /* takes each row that is not among the first N, or no longer.  NULL:
                                               * such rows are not wanted */
    void *drop_arg;
    /* private: */
    uint64_t seen;              /* rows offered */
    struct tl_top_entry {
        uint64_t order;         /* which row this was: of equal cells the earlier row stands first */
        size_t slot;            /* of its copy in rows */
    } *heap;                    /* the row that would stand last is on top */
    size_t n, cap;
    unsigned char *rows;
    size_t rows_cap;
} tl_top;

/* Offers a row; it is copied when it is among the first N of the rows offered. */
void tl_top_add(tl_top *top, const void *row);

/* Puts the rows in order: tl_top_row(top, i) for i < top->n.  Nothing may be added after. */
void tl_top_sort(tl_top *top);
const void *tl_top_row(const tl_top *top, size_t i);

void tl_top_free(tl_top *top);

#endif
