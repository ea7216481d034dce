/* ask.c - questions of proc 0 to the procs that hold ranks, and their answers: each a message with a length, then
 * messages with the bytes.
 *
 * All procs answer at the same time; proc 0 answers for its own ranks while it waits.  HOST_PIECES is collective: its
 * answers compare pieces of all procs.
 */
#include "tlmpi/job/transport/ask.h"
#include "tlmpi/base/group.h"
#include "tlmpi/job/transport/messages.h"
#include "tlmpi/job/transport/rows.h"

enum { BLOCK = 1 << 20 };

TL_SORT_BY(by_rank, struct tl_rank_proc, rank)

tl_rank_procs tl_rank_procs_find(tl_rank_server *server)
{
    tl_rank_procs all = { .server = server };
    struct tl_rank_proc *own = tl_malloc((server->n + 1) * sizeof *own);
    for (size_t i = 0; i < server->n; i++)
        own[i] = (struct tl_rank_proc){ server->ranks[i].rank, tl_par_proc() };
    tl_collect_rows(own, server->n, sizeof *own, (void **)&all.v, &all.n);
    tl_vec_sort(&all, by_rank);
    free(own);
    return all;
}

/* -------------------------------------------------------------------------------------------------------- messages */

/* The first message of a question or answer; what: the tl_question, n: number of bytes that follow. */
typedef struct head {
    uint64_t what, n;
} head;

/* A partly received question or answer of one proc; begun: its head has arrived. */
typedef struct coming {
    head head;
    tl_bytes bytes;
    bool begun;
} coming;

/* Sends the bytes to proc `to`, and frees them. */
static void send(int to, int tag, uint64_t what, tl_bytes *b)
{
    const head h = { what, b->n };
    tl_par_send(to, tag, &h, sizeof h, NULL, NULL);
    for (size_t at = 0; at < b->n; at += BLOCK)
        tl_par_send(to, tag, b->v + at, b->n - at < BLOCK ? b->n - at : BLOCK, NULL, NULL);
    tl_bytes_free(b);
}

/* Waits for complete messages from n procs, into from[proc]. */
static void receive(int n, coming *from)
{
    tl_envelope e;
    for (unsigned spins = 0; n > 0;) {
        if (!tl_par_probe(&e)) {
            tl_par_nap(&spins);
            continue;
        }
        coming *c = &from[e.from];
        spins = 0;
        tl_par_take(&e, c->begun ? (void *)(c->bytes.v + c->bytes.n) : &c->head);
        if (!c->begun)
            tl_grow((void **)&c->bytes.v, &c->bytes.cap, c->head.n + 1, 1);
        c->bytes.n += c->begun ? e.n : 0;
        c->begun = true;
        n -= c->bytes.n == c->head.n;
    }
}

/* Appends the part of one rank to a message: index of the rank among those asked, rank, bytes of question or answer.
 * Frees the bytes. */
static void put_part(tl_bytes *out, int32_t index, int32_t rank, tl_bytes *bytes)
{
    const int32_t who[] = { index, rank };
    tl_bytes_put(out, who, sizeof who);
    tl_bytes_put_list(out, bytes->v, bytes->n, 1);
    tl_bytes_free(bytes);
}

static tl_bytes get_part(tl_bytes *in, int32_t who[2])
{
    tl_bytes bytes = { 0 };
    tl_bytes_get(in, who, 2 * sizeof *who);
    tl_bytes_get_list(in, (void **)&bytes.v, &bytes.n, 1);
    return bytes;
}

/* ---------------------------------------------------------------------------------------------------------- answers */

/* A piece in transit to the proc that compares the pieces of its position; proc: its sender. */
typedef struct moving {
    uint64_t position;
    int64_t ns;
    int64_t proc;
} moving;

/* Collective: moves own piece i to proc to[i].  Fills `here` with the pieces received; returns their senders. */
static int32_t *move_pieces(const tl_host_pieces *own, const int32_t *to, tl_host_pieces *here)
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

/* Collective: compares pieces of one position (tl_host_pieces_compare) on one proc, and returns the results to the
 * pieces' procs; they arrive by proc, in the order in which the pieces were sent. */
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
    int32_t *from = move_pieces(own, to, &here);
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

/* Returns the message with the answers to the questions in `in`, and frees `in`. */
static tl_bytes answer(tl_rank_server *server, tl_question question, tl_bytes *in)
{
    tl_bytes out = { 0 };
    while (in->at < in->n) {
        int32_t who[2];
        tl_bytes asked = get_part(in, who), told = { 0 };
        tl_rank_server_answer(server, who[1], question, &asked, &told);
        tl_bytes_free(&asked);
        put_part(&out, who[0], who[1], &told);
    }
    tl_bytes_free(in);
    if (question == TL_ASK_HOST_PIECES)
        compare_pieces(&server->pieces);
    return out;
}

void tl_answer_questions(const tl_rank_procs *procs)
{
    for (;;) {
        coming from = { .begun = false };
        receive(1, &from);
        if (from.head.what == TL_ASK_NOTHING) {
            tl_bytes_free(&from.bytes);
            return;
        }
        tl_bytes out = answer(procs->server, (tl_question)from.head.what, &from.bytes);
        send(0, TL_MESSAGE_ANSWER, from.head.what, &out);
    }
}

/* ---------------------------------------------------------------------------------------------------------- proc 0 */

void tl_ask_nothing(void)
{
    for (int p = 1; p < tl_par_nprocs(); p++)
        send(p, TL_MESSAGE_QUESTION, TL_ASK_NOTHING, &(tl_bytes){ 0 });
}

static void store_answers(tl_bytes *from, tl_asked *asked)
{
    while (from->at < from->n) {
        int32_t who[2];
        tl_bytes told = get_part(from, who);
        asked->out[who[0]] = told;
    }
    tl_bytes_free(from);
}

/* Sends the question to each proc that holds a rank asked, HOST_PIECES to every proc, and waits for the answers. */
static void ask(void *of, const int32_t *ranks, tl_question question, tl_asked *asked)
{
    const tl_rank_procs *procs = of;
    int nprocs = tl_par_nprocs(), n = 0;
    tl_bytes *messages = tl_calloc((size_t)nprocs, sizeof *messages);
    coming *answers = tl_calloc((size_t)nprocs, sizeof *answers);

    for (size_t i = 0; i < asked->n; i++) {
        size_t at = 0;
        TL_BISECT(at, procs->n, mid, procs->v[mid].rank < ranks[i]);
        const bool held = at < procs->n && procs->v[at].rank == ranks[i];
        if (asked->in[i].v != NULL)
            put_part(&messages[held ? procs->v[at].proc : 0], (int32_t)i, ranks[i], &asked->in[i]);
    }
    for (int p = 1; p < nprocs; p++)
        if (messages[p].n > 0 || question == TL_ASK_HOST_PIECES) {
            send(p, TL_MESSAGE_QUESTION, question, &messages[p]);
            n++;
        }
    tl_bytes own = answer(procs->server, question, &messages[0]);
    receive(n, answers);
    store_answers(&own, asked);
    for (int p = 1; p < nprocs; p++)
        store_answers(&answers[p].bytes, asked);
    free(messages);
    free(answers);
}

tl_asker tl_procs_asker(tl_rank_procs *procs)
{
    return tl_par_nprocs() > 1 ? (tl_asker){ ask, procs, NULL } : tl_rank_server_asker(procs->server);
}
