/* writer.c - proc 0's side of work_queue.h: hands out traces and writes rows. */
#include "internal.h"
#include "tlmpi/par/par.h"
#include "tlmpi/report/format/words.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NS_PER_S INT64_C(1000000000)

struct tl_writer {
    const tl_plan *plan;
    tl_store *store;
    const tl_schema *tables[TL_EVENT_TABLES_MAX];
    size_t ntables;
    uint64_t nrows[TL_EVENT_TABLES_MAX]; /* by table: number of rows reserved */
    int64_t next;                        /* trace to hand out next */
    int32_t next_slice, leader;          /* slice of it to hand out next; the proc that has its slice 0 */
    int64_t nreserved;                   /* number of traces whose rows are reserved */
    struct waiting {
        tl_bytes counts;
        int from;
        bool here;
    } * waiting; /* by trace: its COUNTS, until the rows of all earlier traces are reserved */
    int64_t epoch_ns;
    bool has_epoch;
    tl_names names;
    int done;                  /* number of procs that were told that no trace is left */
    tl_unexpected *unexpected; /* messages for proc 0 as a reader */
    bool in_order;
    uint64_t outstanding; /* number of reserved rows that have not arrived */
    bool progress;
    time_t start, shown;                   /* when reading began, and when progress was last shown; 0: never */
    uint64_t nread, read_bytes, all_bytes; /* traces and bytes of files */
    tl_status status;                      /* the first failure: nothing more is written or handed out */
    tl_error error;
};

tl_writer *tl_writer_open(const tl_plan *plan, tl_store *store, bool in_order, bool progress)
{
    tl_writer *w = tl_calloc(1, sizeof *w);
    w->plan = plan;
    w->store = store;
    w->in_order = in_order;
    w->progress = progress;
    w->start = time(NULL);
    for (size_t i = 0; i < plan->n; i++)
        w->all_bytes += plan->items[i].bytes;
    w->ntables = tl_event_tables(w->tables);
    w->waiting = tl_calloc(plan->n + 1, sizeof *w->waiting);
    return w;
}

void tl_writer_close(tl_writer *w)
{
    if (w == NULL)
        return;
    for (size_t i = 0; i < w->plan->n; i++)
        free(w->waiting[i].counts.v);
    free(w->waiting);
    tl_names_free(&w->names);
    free(w);
}

tl_status tl_writer_status(const tl_writer *w, tl_error *err)
{
    return w->status == TL_OK ? TL_OK : tl_fail(err, w->status, "%s", w->error.text);
}

int64_t tl_writer_epoch(const tl_writer *w)
{
    return w->epoch_ns;
}

tl_names *tl_writer_names(tl_writer *w)
{
    return &w->names;
}

static void reply(tl_writer *w, int to, int tag, const void *bytes, size_t n)
{
    tl_received own = { .tag = tag };
    if (to != 0) {
        tl_par_send(to, tag, bytes, n, NULL, NULL);
        return;
    }
    tl_bytes_put(&own.message, bytes, n);
    tl_vec_push(w->unexpected, own);
}

/* -------------------------------------------------------------------------------------------------------- progress */

/* Counts a trace that has been read.  Tells on stderr how far reading is, once it has taken 2 s: every second on a
 * terminal, in a log when another tenth is done. */
static void show_progress(tl_writer *w, uint64_t bytes)
{
    bool terminal = tl_is_terminal(stderr);
    time_t now = time(NULL);
    double took_s = difftime(now, w->start);
    uint64_t before = w->read_bytes, tenth = w->all_bytes / 10 + 1;

    w->nread++;
    w->read_bytes += bytes;
    if (!w->progress || took_s < 2 || w->nread == w->plan->n || w->read_bytes == 0 ||
        (terminal ? now == w->shown : w->read_bytes / tenth == before / tenth))
        return;
    fprintf(stderr,
            terminal ? "\r%" PRIu64 " of %zu traces read, %s of %s, %.0f s left\033[K"
                     : "%" PRIu64 " of %zu traces read, %s of %s, %.0f s left\n",
            w->nread, w->plan->n, tl_bytes_in_words((int64_t)w->read_bytes).text,
            tl_bytes_in_words((int64_t)w->all_bytes).text, took_s * ((double)w->all_bytes / (double)w->read_bytes - 1));
    w->shown = now;
}

/* ---------------------------------------------------------------------------------------------------- reserved rows */

/* Reserves the rows of the next trace in the file, and replies with the first rows. */
static void reserve_rows(tl_writer *w, struct waiting *turn)
{
    tl_counts_head head;
    tl_bytes out = { 0 };
    uint64_t rows[TL_EVENT_TABLES_MAX] = { 0 };

    tl_bytes_get(&turn->counts, &head, sizeof head);
    tl_bytes_get(&turn->counts, rows, w->ntables * sizeof *rows);
    if (!w->has_epoch && head.first_ns != TL_TIME_UNKNOWN) {
        int64_t into_second = head.first_ns % NS_PER_S;
        w->epoch_ns = head.first_ns - (into_second < 0 ? into_second + NS_PER_S : into_second);
        w->has_epoch = true;
    }
    uint32_t *ids = tl_malloc(((size_t)head.nnames + 1) * sizeof *ids), length;
    for (uint32_t i = 0; i < head.nnames; i++) {
        tl_bytes_get(&turn->counts, &length, sizeof length);
        const char *text = turn->counts.v + turn->counts.at;
        tl_bytes_skip(&turn->counts, length);
        ids[i] = tl_names_intern(&w->names, text, length);
    }

    for (size_t t = 0; t < w->ntables && w->store != NULL && w->status == TL_OK; t++)
        w->status = tl_store_rank(w->store, w->tables[t], head.rank, w->nrows[t], rows[t], &w->error);

    tl_first_rows_head answer = { w->epoch_ns, w->store != NULL && w->status == TL_OK, 0 };
    tl_bytes_put(&out, &answer, sizeof answer);
    tl_bytes_put(&out, w->nrows, w->ntables * sizeof *w->nrows);
    tl_bytes_put(&out, ids, head.nnames * sizeof *ids);
    for (size_t t = 0; t < w->ntables; t++) {
        w->nrows[t] += rows[t];
        w->outstanding += answer.wanted ? rows[t] : 0;
    }
    reply(w, turn->from, TL_MESSAGE_FIRST_ROWS, out.v, out.n);
    free(ids);
    free(out.v);
}

/* Reserves rows for the next traces whose COUNTS are here; in_order: one trace at a time. */
static void reserve_ready(tl_writer *w)
{
    while ((size_t)w->nreserved < w->plan->n && w->waiting[w->nreserved].here && !(w->in_order && w->outstanding > 0)) {
        struct waiting *turn = &w->waiting[w->nreserved];
        reserve_rows(w, turn);
        free(turn->counts.v);
        turn->counts = (tl_bytes){ 0 };
        w->nreserved++;
    }
}

static void store_counts(tl_writer *w, int from, const void *bytes, size_t n)
{
    tl_counts_head head;
    memcpy(&head, bytes, sizeof head);
    struct waiting *turn = &w->waiting[head.item];
    turn->from = from;
    turn->here = true;
    tl_bytes_put(&turn->counts, bytes, n);
    show_progress(w, w->plan->items[head.item].bytes);
    reserve_ready(w);
}

/* ------------------------------------------------------------------------------------------------------------ rows */

static void write_rows(tl_writer *w, int tag, const char *bytes, size_t n)
{
    tl_rows_head head;
    memcpy(&head, bytes, sizeof head);
    w->outstanding -= head.n;
    if (w->status == TL_OK)
        w->status = tl_rows_write(w->store, w->tables[head.table], tag, bytes, n, &w->error);
    reserve_ready(w);
}

/* Replies with the next trace, or the next slice of a trace that is being read, even after a failure: its leader waits
 * for all slices. */
static void hand_out(tl_writer *w, int to)
{
    tl_task task = { -1, 0, to };

    if (w->next_slice > 0 || ((size_t)w->next < w->plan->n && w->status == TL_OK)) {
        w->leader = w->next_slice == 0 ? to : w->leader;
        task = (tl_task){ w->next, w->next_slice, w->leader };
        w->next_slice++;
        if (w->next_slice == w->plan->items[w->next].nslices) {
            w->next_slice = 0;
            w->next++;
        }
    }
    w->done += task.item < 0;
    reply(w, to, TL_MESSAGE_ITEM, &task, sizeof task);
}

void tl_writer_take(tl_writer *w, int from, int tag, const void *bytes, size_t n)
{
    tl_received other = { .from = from, .tag = tag };
    switch (tag) {
    case TL_MESSAGE_NEXT:
        hand_out(w, from);
        break;
    case TL_MESSAGE_COUNTS:
        store_counts(w, from, bytes, n);
        break;
    case TL_MESSAGE_CHUNK:
    case TL_MESSAGE_ROWS:
        write_rows(w, tag, bytes, n);
        break;
    default: /* READY, GO, SLICE */
        tl_bytes_put(&other.message, bytes, n);
        tl_vec_push(w->unexpected, other);
    }
}

/* --------------------------------------------------------------------------------------------------------- serving */

bool tl_writer_serve(tl_writer *w)
{
    tl_envelope m;
    bool any = false;
    while (tl_par_probe(&m)) {
        tl_received in = tl_received_of(&m);
        tl_writer_take(w, in.from, in.tag, in.message.v, in.message.n);
        tl_bytes_free(&in.message);
        any = true;
    }
    return any;
}

void tl_writer_serve_out(tl_writer *w)
{
    unsigned spins = 0;
    while (w->done < tl_par_nprocs()) {
        if (tl_writer_serve(w))
            spins = 0;
        else
            tl_par_nap(&spins);
    }
    if (w->shown != 0 && tl_is_terminal(stderr))
        fprintf(stderr, "\r\033[K");
}

void tl_writer_unexpected(tl_writer *w, tl_unexpected *queue)
{
    w->unexpected = queue;
}
