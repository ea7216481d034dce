/* work_queue.c - the reading proc's side of work_queue.h: asks for traces and sends their rows to the writer. */
#include "internal.h"
#include "tlmpi/par/par.h"
#include <stdlib.h>

/* ---------------------------------------------------------------------------------------------- unexpected messages */

tl_received tl_received_of(const tl_envelope *envelope)
{
    tl_received in = { .from = envelope->from, .tag = envelope->tag };
    in.message = (tl_bytes){ .v = tl_malloc(envelope->n + 1), .n = envelope->n, .cap = envelope->n + 1 };
    tl_par_take(envelope, in.message.v);
    return in;
}

/* Linear search: few messages wait at a time. */
bool tl_unexpected_take(tl_unexpected *queue, int from, int tag, tl_received *out)
{
    for (size_t i = 0; i < queue->n; i++) {
        const tl_received *l = &queue->v[i];
        if (l->tag != tag || (from >= 0 && l->from != from))
            continue;
        *out = *l;
        queue->n--;
        memmove(&queue->v[i], &queue->v[i + 1], (queue->n - i) * sizeof *queue->v);
        return true;
    }
    return false;
}

void tl_unexpected_free(tl_unexpected *queue)
{
    for (size_t i = 0; i < queue->n; i++)
        free(queue->v[i].message.v);
    free(queue->v);
    *queue = (tl_unexpected){ 0 };
}

/* -------------------------------------------------------------------------------------------------------- endpoint */

void tl_endpoint_open(tl_endpoint *endpoint, tl_writer *writer)
{
    *endpoint = (tl_endpoint){ .writer = writer };
    if (writer != NULL)
        tl_writer_unexpected(writer, &endpoint->unexpected);
}

void tl_endpoint_tick(void *endpoint)
{
    tl_endpoint *p = endpoint;
    if (p->writer != NULL)
        tl_writer_serve(p->writer);
}

void tl_endpoint_send(tl_endpoint *endpoint, int to, int tag, const void *bytes, size_t n)
{
    if (to == 0 && endpoint->writer != NULL)
        tl_writer_take(endpoint->writer, 0, tag, bytes, n);
    else
        tl_par_send(to, tag, bytes, n, tl_endpoint_tick, endpoint);
}

/* Receives all messages that have arrived, on proc 0 through the writer; returns whether there were any. */
static bool receive_pending(tl_endpoint *endpoint)
{
    tl_envelope m;
    bool any = false;

    if (endpoint->writer != NULL)
        return tl_writer_serve(endpoint->writer);
    while (tl_par_probe(&m)) {
        tl_vec_push(&endpoint->unexpected, tl_received_of(&m));
        any = true;
    }
    return any;
}

tl_received tl_endpoint_await(tl_endpoint *endpoint, int from, int tag)
{
    tl_received message;
    unsigned spins = 0;

    while (!tl_unexpected_take(&endpoint->unexpected, from, tag, &message)) {
        if (receive_pending(endpoint))
            spins = 0;
        else
            tl_par_nap(&spins);
    }
    return message;
}

tl_task tl_work_queue_next(tl_endpoint *endpoint)
{
    tl_task task;

    tl_endpoint_send(endpoint, 0, TL_MESSAGE_NEXT, NULL, 0);
    tl_received answer = tl_endpoint_await(endpoint, 0, TL_MESSAGE_ITEM);
    tl_bytes_get(&answer.message, &task, sizeof task);
    free(answer.message.v);
    return task;
}

/* ---------------------------------------------------------------------------------------------------------- counts */

/* The names in the rows, in order of first use: those of event tables first, so that other tables do not change the
 * order of /names. */
typedef struct used_names {
    uint32_t *row_of; /* local id -> row in the message, TL_NO_NAME: unused; after the answer -> row in /names */
    uint32_t *order;  /* row in the message -> local id */
    uint32_t n;
} used_names;

static void number_names(const tl_table *table, used_names *used)
{
    for (size_t f = 0; f < table->schema->nfields; f++) {
        const tl_field *field = &table->schema->fields[f];
        for (size_t i = 0; field->type == TL_TYPE_NAME && i < table->n; i++) {
            uint32_t id;
            memcpy(&id, (const char *)tl_table_row(table, i) + field->offset, sizeof id);
            if (id != TL_NO_NAME && used->row_of[id] == TL_NO_NAME) {
                used->order[used->n] = id;
                used->row_of[id] = used->n++;
            }
        }
    }
}

static void collect_names(const tl_tables *tables, const tl_names *names, used_names *used)
{
    used->row_of = tl_malloc((names->n + 1) * sizeof *used->row_of);
    used->order = tl_malloc((names->n + 1) * sizeof *used->order);
    for (size_t i = 0; i <= names->n; i++)
        used->row_of[i] = TL_NO_NAME;
    for (int others = 0; others < 2; others++)
        for (size_t t = 0; t < tables->n; t++)
            if ((tables->v[t].schema->scope != TL_SCOPE_EVENT) == others)
                number_names(&tables->v[t], used);
}

static void write_counts(int64_t item, const tl_rank_result *result, const tl_table *const *tables, size_t ntables,
                         const used_names *used, tl_bytes *out)
{
    tl_counts_head head = { item, result->first_ns, result->rank, (uint32_t)ntables, used->n, 0 };
    tl_bytes_put(out, &head, sizeof head);
    for (size_t t = 0; t < ntables; t++) {
        uint64_t rows = tables[t]->n;
        tl_bytes_put(out, &rows, sizeof rows);
    }
    for (uint32_t i = 0; i < used->n; i++) {
        tl_text text = tl_names_text(&result->names, used->order[i]);
        uint32_t n = (uint32_t)text.n;
        tl_bytes_put(out, &n, sizeof n);
        tl_bytes_put(out, text.p, text.n);
    }
}

void tl_work_queue_deliver(tl_endpoint *endpoint, int64_t item, tl_rank_result *result)
{
    const tl_schema *schemas[TL_EVENT_TABLES_MAX];
    tl_table *tables[TL_EVENT_TABLES_MAX];
    size_t ntables = tl_event_tables(schemas);
    used_names used = { 0 };
    tl_row_buffers room = { 0 };
    tl_bytes counts = { 0 };
    tl_first_rows_head head;
    uint64_t first[TL_EVENT_TABLES_MAX];

    for (size_t t = 0; t < ntables; t++)
        tables[t] = tl_tables_get(&result->tables, schemas[t]);
    tl_row_buffers_make(&room, schemas, ntables);
    collect_names(&result->tables, &result->names, &used);
    write_counts(item, result, (const tl_table *const *)tables, ntables, &used, &counts);
    tl_endpoint_send(endpoint, 0, TL_MESSAGE_COUNTS, counts.v, counts.n);

    tl_bytes answer = tl_endpoint_await(endpoint, 0, TL_MESSAGE_FIRST_ROWS).message;
    tl_bytes_get(&answer, &head, sizeof head);
    tl_bytes_get(&answer, first, ntables * sizeof *first);
    for (uint32_t i = 0; i < used.n; i++)
        tl_bytes_get(&answer, &used.row_of[used.order[i]], sizeof(uint32_t));
    for (size_t t = 0; t < result->tables.n; t++)
        tl_table_set_name_rows(&result->tables.v[t], used.row_of);
    for (size_t t = 0; head.wanted && t < ntables; t++) {
        const tl_row_target target = { (uint32_t)t, first[t], head.epoch_ns };
        tl_rows_send(endpoint, tables[t], &target, &room);
    }
    for (size_t t = 0; t < ntables; t++)
        tl_table_free(tables[t]);
    free(used.row_of);
    free(used.order);
    tl_row_buffers_free(&room);
    free(counts.v);
    free(answer.v);
}
