/* stream.c - writes the tables of scope COLLECTIVE to the file, proc after proc.
 *
 *     proc p      writer (proc 0)
 *                 <-  GO            when the rows of all procs below p have arrived
 *     CHUNK, ROWS ->                written at once
 *
 * Proc 0 holds one message at a time; rows are written in ascending order.
 */
#include "tlmpi/job/transport/rows.h"
#include "internal.h"
#include "tlmpi/par/par.h"
#include <stdlib.h>

typedef struct stream {
    tl_store *store;
    int64_t epoch_ns;
    tl_row_buffers room;
    tl_endpoint endpoint;
} stream;

/* Proc 0: receives the n rows of proc p, and writes them unless st is a failure. */
static tl_status receive_rows(stream *s, const tl_schema *schema, int p, size_t n, tl_status st, tl_error *err)
{
    if (n > 0)
        tl_par_send(p, TL_MESSAGE_GO, NULL, 0, NULL, NULL);
    for (unsigned spins = 0; n > 0;) {
        tl_envelope m;
        tl_rows_head head;
        if (!tl_par_probe(&m)) {
            tl_par_nap(&spins);
            continue;
        }
        tl_received in = tl_received_of(&m);
        memcpy(&head, in.message.v, sizeof head);
        if (st == TL_OK)
            st = tl_rows_write(s->store, schema, in.tag, in.message.v, in.message.n, err);
        n -= (size_t)head.n;
        free(in.message.v);
        spins = 0;
    }
    return st;
}

static tl_status stream_table(stream *s, tl_table *table, tl_error *err)
{
    size_t *counts = NULL, nprocs, before, total;
    tl_status st = TL_OK;

    tl_row_buffers_make(&s->room, &table->schema, 1);
    tl_collect_rows(&table->n, 1, sizeof table->n, (void **)&counts, &nprocs);
    tl_count_before(table->n, &before, &total);
    if (tl_par_proc() == 0) {
        st = tl_store_table(s->store, table, s->epoch_ns, err);
        for (int p = 1; p < tl_par_nprocs(); p++)
            st = receive_rows(s, table->schema, p, counts[p], st, err);
    } else if (table->n > 0) {
        const tl_row_target target = { .first = before, .epoch_ns = s->epoch_ns };
        free(tl_endpoint_await(&s->endpoint, 0, TL_MESSAGE_GO).message.v);
        tl_rows_send(&s->endpoint, table, &target, &s->room);
    }
    free(counts);
    tl_table_free(table);
    tl_row_buffers_free(&s->room);
    return tl_par_agree(st, err);
}

tl_status tl_stream_tables(tl_store *store, int64_t epoch_ns, tl_tables *tables, tl_error *err)
{
    stream s = { .store = store, .epoch_ns = epoch_ns };
    tl_status st = TL_OK;

    tl_par_bcast(&s.epoch_ns, sizeof s.epoch_ns);
    tl_endpoint_open(&s.endpoint, NULL);
    for (size_t t = 0; st == TL_OK && t < tables->n; t++)
        if (tables->v[t].schema->scope == TL_SCOPE_COLLECTIVE)
            st = stream_table(&s, &tables->v[t], err);
    tl_unexpected_free(&s.endpoint.unexpected);
    return st;
}
