/* desk.c - proc 0's side of post.h. */
#include "desk.h"
#include "event_tables.h"
#include "tlmpi/job/transport/letters.h"
#include "tlmpi/par/par.h"
#include "tlmpi/report/format/terminal.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NS_PER_S INT64_C(1000000000)

struct tl_desk {
    const tl_plan *plan;
    tl_store *store;
    const tl_schema *tables[TL_EVENT_TABLES_MAX];
    size_t ntables;
    uint64_t nrows[TL_EVENT_TABLES_MAX];        /* placed so far */
    int64_t next;                               /* trace to hand out ... */
    int32_t next_piece, leader;                 /* ... this piece of it; who has its piece 0 */
    int64_t placed;                             /* traces before this one have their place */
    struct waiting {
        tl_letter counts;
        int from;
        bool here;
    } *waiting;                                 /* for each trace: its COUNTS, until its turn */
    int64_t epoch_ns;
    bool has_epoch;
    tl_names names;
    int done;                                   /* procs that have been told there is no more */
    tl_mail *mail;                              /* of proc 0 itself */
    bool in_order;
    uint64_t outstanding;                       /* rows that have a place and are not yet in */
    bool progress;
    time_t shown;                               /* when progress was last shown */
    tl_status status;
    tl_error error;
};

tl_desk *tl_desk_open(const tl_plan *plan, tl_store *store, bool in_order, bool progress)
{
    tl_desk *d = tl_calloc(1, sizeof *d);
    if (d == NULL)
        return NULL;
    d->plan = plan;
    d->store = store;
    d->in_order = in_order;
    d->progress = progress;
    d->ntables = tl_event_tables(d->tables);
    d->waiting = tl_calloc(plan->n + 1, sizeof *d->waiting);
    if (d->waiting == NULL) {
        free(d);
        return NULL;
    }
    return d;
}

void tl_desk_close(tl_desk *d)
{
    if (d == NULL)
        return;
    for (size_t i = 0; i < d->plan->n; i++)
        free(d->waiting[i].counts.v);
    free(d->waiting);
    tl_names_free(&d->names);
    free(d);
}

tl_status tl_desk_status(const tl_desk *d, tl_error *err)
{
    return d->status == TL_OK ? TL_OK : tl_fail(err, d->status, "%s", d->error.text);
}

int64_t tl_desk_epoch(const tl_desk *d)
{
    return d->epoch_ns;
}

const tl_names *tl_desk_names(const tl_desk *d)
{
    return &d->names;
}

/* The first failure ends the writing; reading goes on only as far as it has been handed out. */
static void note_failure(tl_desk *d, tl_status status)
{
    if (d->status == TL_OK)
        d->status = status;
}

static void reply(tl_desk *d, int to, int tag, const void *bytes, size_t n)
{
    if (to != 0)
        tl_par_send(to, tag, bytes, n, NULL, NULL);
    else if (!tl_mail_put(d->mail, 0, tag, bytes, n))
        tl_post_give_up();
}

/* -------------------------------------------------------------------------------------------------------- progress */

static void show_progress(tl_desk *d)
{
    time_t now = time(NULL);
    bool terminal = tl_is_terminal(stderr);
    if (!d->progress || now < d->shown + (terminal ? 1 : 30))
        return;
    if (d->shown != 0)
        fprintf(stderr, terminal ? "\r%" PRId64 " of %zu traces read" : "%" PRId64 " of %zu traces read\n", d->placed,
                d->plan->n);
    d->shown = now;
}

/* ---------------------------------------------------------------------------------------------------------- places */

/* Takes the names of a COUNTS letter into the dictionary; ids[i] is the row of its i-th name. */
static bool place_names(tl_desk *d, tl_letter *counts, uint32_t nnames, uint32_t *ids)
{
    for (uint32_t i = 0; i < nnames; i++) {
        uint32_t n;
        if (!tl_letter_get(counts, &n, sizeof n) || n > counts->n - counts->at)
            return false;
        ids[i] = tl_names_intern(&d->names, counts->v + counts->at, n);
        counts->at += n;
        if (ids[i] == TL_NO_NAME)
            return false;
    }
    return true;
}

/* Gives one trace its place; its turn has come. */
static bool place(tl_desk *d, struct waiting *w)
{
    tl_counts_head head;
    tl_letter out = { 0 };
    uint64_t rows[TL_EVENT_TABLES_MAX] = { 0 };

    if (!tl_letter_get(&w->counts, &head, sizeof head) || head.ntables != d->ntables ||
        !tl_letter_get(&w->counts, rows, d->ntables * sizeof *rows))
        return false;
    if (!d->has_epoch && head.first_ns != TL_TIME_UNKNOWN) {
        int64_t into_second = head.first_ns % NS_PER_S;
        d->epoch_ns = head.first_ns - (into_second < 0 ? into_second + NS_PER_S : into_second);
        d->has_epoch = true;
    }
    uint32_t *ids = tl_malloc(((size_t)head.nnames + 1) * sizeof *ids);
    bool whole = ids != NULL && place_names(d, &w->counts, head.nnames, ids);
    if (!whole)
        note_failure(d, tl_fail_memory(&d->error, "the names"));

    for (size_t t = 0; whole && t < d->ntables && d->store != NULL && d->status == TL_OK; t++)
        note_failure(d, tl_store_rank(d->store, d->tables[t], head.rank, d->nrows[t], rows[t], &d->error));

    tl_place_head answer = { d->epoch_ns, whole && d->store != NULL && d->status == TL_OK, 0 };
    whole = tl_letter_put(&out, &answer, sizeof answer) && tl_letter_put(&out, d->nrows, d->ntables * sizeof *d->nrows) &&
            (ids == NULL || tl_letter_put(&out, ids, head.nnames * sizeof *ids));
    for (size_t t = 0; t < d->ntables; t++) {
        d->nrows[t] += rows[t];
        d->outstanding += answer.wanted ? rows[t] : 0;
    }
    if (whole)
        reply(d, w->from, TL_LETTER_PLACE, out.v, out.n);
    free(ids);
    free(out.v);
    return whole;
}

/* Gives a place to every trace whose turn has come. */
static bool place_ready(tl_desk *d)
{
    while ((size_t)d->placed < d->plan->n && d->waiting[d->placed].here && !(d->in_order && d->outstanding > 0)) {
        struct waiting *turn = &d->waiting[d->placed];
        if (!place(d, turn))
            return false;
        free(turn->counts.v);
        turn->counts = (tl_letter){ 0 };
        d->placed++;
    }
    return true;
}

static bool take_counts(tl_desk *d, int from, const void *bytes, size_t n)
{
    tl_counts_head head;
    if (n < sizeof head)
        return false;
    memcpy(&head, bytes, sizeof head);
    if (head.item < 0 || (size_t)head.item >= d->plan->n)
        return false;
    struct waiting *w = &d->waiting[head.item];
    w->from = from;
    w->here = tl_letter_put(&w->counts, bytes, n);
    show_progress(d);
    return w->here && place_ready(d);
}

/* ------------------------------------------------------------------------------------------------------------ rows */

static bool take_rows(tl_desk *d, int tag, const char *bytes, size_t n)
{
    tl_rows_head head;
    if (n < sizeof head)
        return false;
    memcpy(&head, bytes, sizeof head);
    if (head.table >= d->ntables || head.n > d->outstanding)
        return false;
    d->outstanding -= head.n;
    const tl_schema *schema = d->tables[head.table];
    bytes += sizeof head;
    n -= sizeof head;
    if (d->status == TL_OK && tag == TL_LETTER_CHUNK)
        note_failure(d, tl_store_chunk(d->store, schema, head.first, bytes, n, &d->error));
    else if (d->status == TL_OK)
        note_failure(d, tl_store_rows(d->store, schema, head.first, bytes, (size_t)head.n, &d->error));
    return place_ready(d);
}

/* The next trace, or the next piece of the trace at hand: a team that has begun gets all its members. */
static void hand_out(tl_desk *d, int to)
{
    tl_task task = { -1, 0, to };

    if (d->next_piece > 0 || ((size_t)d->next < d->plan->n && d->status == TL_OK)) {
        d->leader = d->next_piece == 0 ? to : d->leader;
        task = (tl_task){ d->next, d->next_piece, d->leader };
        d->next_piece++;
        if (d->next_piece == d->plan->items[d->next].npieces) {
            d->next_piece = 0;
            d->next++;
        }
    }
    d->done += task.item < 0;
    reply(d, to, TL_LETTER_ITEM, &task, sizeof task);
}

void tl_desk_take(tl_desk *d, int from, int tag, const void *bytes, size_t n)
{
    bool fine = true;
    switch (tag) {
    case TL_LETTER_NEXT:
        hand_out(d, from);
        break;
    case TL_LETTER_COUNTS:
        fine = take_counts(d, from, bytes, n);
        break;
    case TL_LETTER_CHUNK:
    case TL_LETTER_ROWS:
        fine = take_rows(d, tag, bytes, n);
        break;
    case TL_LETTER_READY:
    case TL_LETTER_GO:
    case TL_LETTER_PIECE:
        fine = tl_mail_put(d->mail, from, tag, bytes, n);
        break;
    default:
        fine = false;
    }
    if (!fine)
        tl_post_give_up();
}

/* --------------------------------------------------------------------------------------------------------- serving */

bool tl_desk_serve(tl_desk *d)
{
    tl_message m;
    bool any = false;
    while (tl_par_probe(&m)) {
        void *bytes = tl_malloc(m.n + 1);
        if (bytes == NULL)
            tl_post_give_up();
        tl_par_take(&m, bytes);
        tl_desk_take(d, m.from, m.tag, bytes, m.n);
        free(bytes);
        any = true;
    }
    return any;
}

void tl_desk_serve_out(tl_desk *d)
{
    unsigned spins = 0;
    while (d->done < tl_par_nprocs()) {
        if (tl_desk_serve(d))
            spins = 0;
        else
            tl_par_nap(&spins);
    }
    if (d->progress && d->shown != 0 && tl_is_terminal(stderr))
        fprintf(stderr, "\r\033[K");
}

void tl_desk_mail(tl_desk *d, tl_mail *mail)
{
    d->mail = mail;
}
