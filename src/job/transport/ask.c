/* ask.c - questions of proc 0 to the procs that hold ranks, and their answers: each a message of one length, and then
 * of its bytes.
 *
 * All procs answer at once, proc 0 those of its own ranks while it waits.  Where all have to know of all (HOST_PIECES)
 * they go on together.
 */
#include "tlmpi/job/transport/ask.h"
#include "tlmpi/job/transport/messages.h"
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/par/par.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

enum { BLOCK = 1 << 20 };

/* ----------------------------------------------------------------------------------------------------------- which */

typedef struct rank_proc {
    int32_t rank, proc;
} rank_proc;

static int by_rank(const void *a, const void *b)
{
    const rank_proc *x = a, *y = b;
    return TL_COMPARE(x->rank, y->rank);
}

void tl_rank_procs_find(tl_held *held, tl_rank_procs *out)
{
    rank_proc *own = tl_malloc((held->n + 1) * sizeof *own), *all = NULL;
    *out = (tl_rank_procs){ .held = held };
    for (size_t i = 0; i < held->n; i++)
        own[i] = (rank_proc){ held->ranks[i].rank, tl_par_proc() };
    tl_collect_rows(own, held->n, sizeof *own, (void **)&all, &out->n, NULL);
    if (out->n > 1)
        qsort(all, out->n, sizeof *all, by_rank);
    out->ranks = tl_malloc((out->n + 1) * sizeof *out->ranks);
    out->procs = tl_malloc((out->n + 1) * sizeof *out->procs);
    for (size_t i = 0; i < out->n; i++) {
        out->ranks[i] = all[i].rank;
        out->procs[i] = all[i].proc;
    }
    free(own);
    free(all);
}

void tl_rank_procs_free(tl_rank_procs *procs)
{
    free(procs->ranks);
    free(procs->procs);
    *procs = (tl_rank_procs){ 0 };
}

/* -------------------------------------------------------------------------------------------------------- messages */

/* What goes before the bytes: the question, in the answer, too. */
typedef struct head {
    uint64_t what, n;
} head;

static void send(int to, int tag, uint64_t what, const tl_bytes *b)
{
    const head h = { what, b->n };
    tl_par_send(to, tag, &h, sizeof h, NULL, NULL);
    for (size_t at = 0; at < b->n; at += BLOCK)
        tl_par_send(to, tag, b->v + at, b->n - at < BLOCK ? b->n - at : BLOCK, NULL, NULL);
}

/* The part of one proc's answer that has arrived. */
typedef struct coming {
    head head;
    tl_bytes bytes;
    size_t left;
    bool begun;
} coming;

static void take(const tl_envelope *e, coming *c)
{
    if (!c->begun) {
        tl_par_take(e, &c->head);
        c->begun = true;
        c->left = c->head.n;
        tl_grow((void **)&c->bytes.v, &c->bytes.cap, c->left + 1, 1);
        return;
    }
    tl_par_take(e, c->bytes.v + c->bytes.n);
    c->left -= e->n;
    c->bytes.n += e->n;
}

/* Waits for one message each of n procs; from[proc]. */
static void receive(int n, coming *from)
{
    tl_envelope e;
    unsigned spins = 0;
    for (int left = n; left > 0;) {
        if (!tl_par_probe(&e)) {
            tl_par_nap(&spins);
            continue;
        }
        spins = 0;
        take(&e, &from[e.from]);
        left -= from[e.from].left == 0;
    }
}

/* -------------------------------------------------------------------------------------------------------- questions */

/* Adds one rank to a message: its index among the ranks asked, its number, how many bytes follow, and the bytes. */
static void put(tl_bytes *out, int32_t index, int32_t rank, const tl_bytes *bytes)
{
    const int32_t who[] = { index, rank };
    tl_bytes_put(out, who, sizeof who);
    tl_bytes_put_list(out, bytes->v, bytes->n, 1);
}

static tl_bytes get(tl_bytes *in, int32_t *index, int32_t *rank)
{
    tl_bytes bytes = { 0 };
    tl_bytes_get(in, index, sizeof *index);
    tl_bytes_get(in, rank, sizeof *rank);
    tl_bytes_get_list(in, (void **)&bytes.v, &bytes.n, 1);
    return bytes;
}

/* A piece on its way to where those of its position meet. */
typedef struct moving {
    uint64_t position;
    int64_t ns;
    int64_t proc;
} moving;

/* Collective: the pieces that come here, and to[i]: the proc that piece i came from. */
static int32_t *meet(const tl_host_pieces *own, const int32_t *to, tl_host_pieces *here)
{
    moving *out = tl_malloc((own->numbers.n + 1) * sizeof *out), *in = NULL;
    size_t n = 0;
    for (size_t i = 0; i < own->numbers.n; i++)
        out[i] = (moving){ own->positions.v[own->numbers.v[i]], own->ns.v[i], tl_par_proc() };
    tl_par_shuffle(out, own->numbers.n, sizeof *out, to, (void **)&in, &n);
    free(out);
    int32_t *from = tl_malloc((n + 1) * sizeof *from);
    for (size_t i = 0; i < n; i++) {
        tl_host_pieces_add(here, in[i].position, in[i].ns);
        from[i] = (int32_t)in[i].proc;
    }
    free(in);
    return from;
}

/* Collective: what is usual of pieces is found where those of the same position meet.  It comes back by proc, and from
 * each in the order in which the pieces went there. */
static void compare_pieces(tl_host_pieces *own)
{
    tl_host_pieces here = { .ns = { 0 } };
    const size_t n = own->numbers.n, nprocs = (size_t)tl_par_nprocs();
    int32_t *to = tl_malloc((n + 1) * sizeof *to);
    size_t *next = tl_calloc(nprocs + 1, sizeof *next), nback = 0;
    int64_t *back = NULL;
    for (size_t i = 0; i < n; i++) {
        to[i] = (int32_t)(own->positions.v[own->numbers.v[i]] % nprocs);
        next[to[i] + 1]++;
    }
    for (size_t p = 0; p < nprocs; p++)
        next[p + 1] += next[p];
    int32_t *from = meet(own, to, &here);
    tl_host_pieces_compare(&here);
    int64_t *ns = tl_malloc((here.numbers.n + 1) * sizeof *ns);
    for (size_t i = 0; i < here.numbers.n; i++)
        ns[i] = here.ns.v[here.numbers.v[i]];
    tl_par_shuffle(ns, here.numbers.n, sizeof *ns, from, (void **)&back, &nback);
    for (size_t i = 0; i < n; i++)
        own->ns.v[own->numbers.v[i]] = back[next[to[i]]++];
    own->ns.n = own->positions.n;
    tl_map_free(&own->number_of);
    tl_host_pieces_free(&here);
    free(to);
    free(from);
    free(next);
    free(ns);
    free(back);
}

/* ---------------------------------------------------------------------------------------------------------- answers */

/* The answers to a message, as bytes of another. */
static void answer(tl_held *held, tl_question question, tl_bytes *in, tl_bytes *out)
{
    while (in->at < in->n) {
        int32_t index, rank;
        tl_bytes one = get(in, &index, &rank), told = { 0 };
        tl_held_answer(held, rank, question, &one, &told);
        put(out, index, rank, &told);
        tl_bytes_free(&one);
        tl_bytes_free(&told);
    }
    if (question == TL_ASK_HOST_PIECES)
        compare_pieces(&held->pieces);
}

void tl_answer_questions(const tl_rank_procs *procs)
{
    for (;;) {
        coming from = { .left = 0 };
        tl_bytes out = { 0 };
        receive(1, &from);
        if (from.head.what == TL_ASK_NOTHING) {
            tl_bytes_free(&from.bytes);
            return;
        }
        answer(procs->held, (tl_question)from.head.what, &from.bytes, &out);
        tl_bytes_free(&from.bytes);
        send(0, TL_MESSAGE_ANSWER, from.head.what, &out);
        tl_bytes_free(&out);
    }
}

/* ---------------------------------------------------------------------------------------------------------- proc 0 */

void tl_ask_nothing(void)
{
    for (int p = 1; p < tl_par_nprocs(); p++)
        send(p, TL_MESSAGE_QUESTION, TL_ASK_NOTHING, &(tl_bytes){ 0 });
}

typedef struct asking {
    const tl_rank_procs *procs;
    const int32_t *ranks;
    tl_question question;
    tl_asked *asked;
    tl_bytes *messages; /* by proc */
    coming *answers;    /* by proc */
} asking;

static int32_t proc_of(const tl_rank_procs *procs, int32_t rank)
{
    size_t at = tl_index_of(procs->ranks, procs->n, rank);
    return at < procs->n ? procs->procs[at] : 0;
}

/* Sends the question to each proc that holds a rank asked; to every proc where all must go on together
 * (TL_ASK_HOST_PIECES).  Returns how many were sent. */
static int send_all(asking *a)
{
    int n = 0;
    for (size_t i = 0; i < a->asked->n; i++) {
        int32_t proc = proc_of(a->procs, a->ranks[i]);
        if (a->asked->in[i].v == NULL || proc == 0)
            continue;
        put(&a->messages[proc], (int32_t)i, a->ranks[i], &a->asked->in[i]);
        tl_bytes_free(&a->asked->in[i]);
    }
    for (int p = 1; p < tl_par_nprocs(); p++) {
        if (a->messages[p].n == 0 && a->question != TL_ASK_HOST_PIECES)
            continue;
        send(p, TL_MESSAGE_QUESTION, a->question, &a->messages[p]);
        tl_bytes_free(&a->messages[p]);
        n++;
    }
    return n;
}

static void answer_own(asking *a)
{
    for (size_t i = 0; i < a->asked->n; i++) {
        if (a->asked->in[i].v == NULL)
            continue;
        tl_held_answer(a->procs->held, a->ranks[i], a->question, &a->asked->in[i], &a->asked->out[i]);
        tl_bytes_free(&a->asked->in[i]);
    }
    if (a->question == TL_ASK_HOST_PIECES)
        compare_pieces(&a->procs->held->pieces);
}

static void take_answers(asking *a, coming *from)
{
    while (from->bytes.at < from->bytes.n) {
        int32_t index, rank;
        tl_bytes one = get(&from->bytes, &index, &rank);
        a->asked->out[index] = one;
    }
    tl_bytes_free(&from->bytes);
}

static void ask(void *of, const int32_t *ranks, tl_question question, tl_asked *asked)
{
    size_t nprocs = (size_t)tl_par_nprocs();
    asking a = { .procs = of,
                 .ranks = ranks,
                 .question = question,
                 .asked = asked,
                 .messages = tl_calloc(nprocs, sizeof *a.messages),
                 .answers = tl_calloc(nprocs, sizeof *a.answers) };
    int n = send_all(&a);
    answer_own(&a);
    receive(n, a.answers);
    for (size_t p = 1; p < nprocs; p++)
        take_answers(&a, &a.answers[p]);
    free(a.messages);
    free(a.answers);
}

tl_asker tl_procs_asker(tl_rank_procs *procs)
{
    return tl_par_nprocs() > 1 ? (tl_asker){ ask, procs, NULL } : tl_held_asker(procs->held);
}
