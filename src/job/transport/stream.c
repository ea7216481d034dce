/* stream.c - rows of collectives, from the procs that have them to the file.
 *
 *     proc p      writer (proc 0)
 *                 <-  GO            when the rows of the procs before p are in
 *     CHUNK, ROWS ->                written at once
 *
 * Proc 0 holds a message at a time, and the file is written from its first row to its last.
 */
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/job/transport/messages.h"
#include "row_sender.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/par/par.h"
#include <stdlib.h>

typedef struct stream {
    tl_store *store;
    int64_t epoch_ns;
    tl_row_buffers room;
    tl_endpoint endpoint;
    size_t *counts;   /* on proc 0: rows of each proc */
    tl_status status; /* the first that writing failed with */
    tl_error error;
} stream;

/* Proc 0: rows of its own. */
static void write_own(stream *s, const tl_table *table)
{
    size_t size = tl_chunk_rows(table->schema);
    for (size_t i = 0, n; s->status == TL_OK && i < table->n; i += n) {
        n = table->n - i < size ? table->n - i : size;
        tl_pack(table->schema, tl_table_row(table, i), n, s->epoch_ns, s->room.packed);
        s->status = tl_store_rows(s->store, table->schema, i, s->room.packed, n, &s->error);
    }
}

/* Proc 0: a message of rows; how many there were. */
static size_t write_rows(stream *s, const tl_schema *schema, const tl_received *message)
{
    tl_rows_head head;
    const char *rows = message->message.v + sizeof head;

    memcpy(&head, message->message.v, sizeof head);
    if (s->status != TL_OK)
        return (size_t)head.n;
    if (message->tag == TL_MESSAGE_CHUNK)
        s->status = tl_store_chunk(s->store, schema, head.first, rows, message->message.n - sizeof head, &s->error);
    else
        s->status = tl_store_rows(s->store, schema, head.first, rows, (size_t)head.n, &s->error);
    return (size_t)head.n;
}

/* Proc 0: all rows of proc p. */
static void take_rows(stream *s, const tl_schema *schema, int p)
{
    size_t left = s->counts[p];
    unsigned spins = 0;

    if (left > 0)
        tl_par_send(p, TL_MESSAGE_GO, NULL, 0, NULL, NULL);
    while (left > 0) {
        tl_envelope m;
        if (!tl_par_probe(&m)) {
            tl_par_nap(&spins);
            continue;
        }
        tl_received message = tl_received_of(&m);
        left -= write_rows(s, schema, &message);
        free(message.message.v);
        spins = 0;
    }
}

static tl_status stream_table(stream *s, tl_table *table, tl_error *err)
{
    size_t *counts = NULL, nprocs, before, total;
    tl_collect_rows(&table->n, 1, sizeof table->n, (void **)&counts, &nprocs, NULL);
    tl_status st = TL_OK;

    s->counts = counts;
    tl_count_before(table->n, &before, &total);
    if (tl_par_proc() == 0) {
        write_own(s, table);
        for (int p = 1; p < tl_par_nprocs(); p++)
            take_rows(s, table->schema, p);
        st = s->status == TL_OK ? TL_OK : tl_fail(err, s->status, "%s", s->error.text);
    } else if (table->n > 0) {
        const tl_row_target target = { .first = before, .epoch_ns = s->epoch_ns };
        free(tl_endpoint_await(&s->endpoint, 0, TL_MESSAGE_GO).message.v);
        tl_rows_send(&s->endpoint, table, &target, &s->room);
    }
    free(counts);
    tl_table_free(table);
    return tl_par_agree(st, err);
}

tl_status tl_stream_tables(tl_store *store, int64_t epoch_ns, tl_tables *tables, tl_error *err)
{
    stream s = { .store = store, .epoch_ns = epoch_ns };
    tl_status st = TL_OK;

    tl_par_bcast(&s.epoch_ns, sizeof s.epoch_ns);
    tl_endpoint_open(&s.endpoint, NULL);
    for (size_t t = 0; st == TL_OK && t < tables->n; t++) {
        const tl_schema *schema = tables->v[t].schema;
        if (schema->scope != TL_SCOPE_COLLECTIVE)
            continue;
        tl_row_buffers_make(&s.room, &schema, 1);
        st = stream_table(&s, &tables->v[t], err);
        tl_row_buffers_free(&s.room);
    }
    tl_unexpected_free(&s.endpoint.unexpected);
    return st;
}
