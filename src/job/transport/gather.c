/* gather.c - the rows of whole tables, from all procs to proc 0. */
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/job/transport/messages.h"
#include "tlmpi/par/par.h"
#include <stdlib.h>

/* Puts the rows of a scope's tables, each after their number, into the message; the tables are empty then. */
static void enclose(tl_tables *tables, tl_scope scope, tl_bytes *out)
{
    for (size_t t = 0; t < tables->n; t++) {
        tl_table *table = &tables->v[t];
        if (table->schema->scope != scope)
            continue;
        tl_bytes_put_list(out, table->rows, table->n, table->schema->row_size);
        table->n = 0;
    }
}

/* Proc 0: the messages of all procs, one after the other, back into the tables. */
static void unpack(tl_tables *tables, tl_scope scope, tl_bytes *in)
{
    while (in->at < in->n)
        for (size_t t = 0; t < tables->n; t++) {
            tl_table *table = &tables->v[t];
            size_t n, size = table->schema->row_size;
            if (table->schema->scope != scope)
                continue;
            tl_bytes_get(in, &n, sizeof n);
            const char *rows = in->v + in->at;
            tl_bytes_skip(in, n * size);
            tl_table_append(table, rows, n);
        }
}

static void sort(tl_tables *tables, tl_scope scope)
{
    for (size_t t = 0; t < tables->n; t++)
        if (tables->v[t].schema->scope == scope)
            tl_table_sort(&tables->v[t]);
}

void tl_gather_tables(tl_tables *tables, tl_scope scope)
{
    tl_bytes mine = { 0 }, all = { 0 };
    void *bytes = NULL;

    if (tl_par_nprocs() > 1) {
        enclose(tables, scope, &mine);
        tl_par_gather(mine.v, mine.n, &bytes, &all.n, NULL);
        free(mine.v);
        all.v = bytes;
        unpack(tables, scope, &all);
        free(bytes);
    }
    sort(tables, scope);
}
