/* gather.c - the rows of whole tables, from all procs to proc 0. */
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/job/transport/messages.h"
#include "tlmpi/par/par.h"
#include <stdlib.h>

/* Puts the rows of a scope's tables, each after their number, into the message; the tables are empty then. */
static bool enclose(tl_tables *tables, tl_scope scope, tl_bytes *out)
{
    bool ok = true;
    for (size_t t = 0; ok && t < tables->n; t++) {
        tl_table *table = &tables->v[t];
        if (table->schema->scope != scope)
            continue;
        ok = tl_bytes_put(out, &table->n, sizeof table->n) &&
             tl_bytes_put(out, table->rows, table->n * table->schema->row_size);
        table->n = 0;
    }
    return ok;
}

/* Proc 0: the messages of all procs, one after the other, back into the tables. */
static bool unpack(tl_tables *tables, tl_scope scope, tl_bytes *in)
{
    bool ok = true;
    while (ok && in->at < in->n)
        for (size_t t = 0; ok && t < tables->n; t++) {
            tl_table *table = &tables->v[t];
            size_t n = 0, size = table->schema->row_size;
            if (table->schema->scope != scope)
                continue;
            ok = tl_bytes_get(in, &n, sizeof n) && n <= (in->n - in->at) / size &&
                 tl_table_append(table, in->v + in->at, n);
            in->at += ok ? n * size : 0;
        }
    return ok;
}

static bool sort(tl_tables *tables, tl_scope scope)
{
    bool ok = true;
    for (size_t t = 0; ok && t < tables->n; t++)
        ok = tables->v[t].schema->scope != scope || tl_table_sort(&tables->v[t]);
    return ok;
}

tl_status tl_gather_tables(tl_tables *tables, tl_scope scope, tl_error *err)
{
    tl_bytes mine = { 0 }, all = { 0 };
    void *bytes = NULL;

    if (tl_par_nprocs() == 1)
        return sort(tables, scope) ? TL_OK : tl_fail_memory(err, "the rows of ranks");
    tl_status st = tl_par_agree(enclose(tables, scope, &mine) ? TL_OK : tl_fail_memory(err, "the rows of ranks"), err);
    if (st == TL_OK)
        st = tl_par_gather(mine.v, mine.n, &bytes, &all.n, NULL, err);
    free(mine.v);
    all.v = bytes;
    if (st == TL_OK && tl_par_proc() == 0 && !(unpack(tables, scope, &all) && sort(tables, scope)))
        st = tl_fail_memory(err, "the rows of ranks");
    free(bytes);
    return tl_par_agree(st, err);
}
