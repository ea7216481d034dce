/* programs.c - the programs of ranks (analysis/program/program.h), from the procs that have read them to proc 0.  A program
 * is five arrays and a head, and travels so. */
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/job/transport/messages.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/par/par.h"
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------ the arrays */

enum { ENTRIES, COMMS, SEGMENTS, SHARES, KINDS, NARRAYS };

static const size_t element_size[NARRAYS] = { sizeof(tl_entry), sizeof(tl_comm), sizeof(tl_segment), sizeof(tl_share),
                                              sizeof(tl_kernel_kind) };

typedef struct head {
    int32_t rank;
    size_t n[NARRAYS];
    int64_t start_ns, end_ns;
    double contention, contention_error;
} head;

static const void *array_of(const tl_program *p, int which)
{
    const void *const arrays[NARRAYS] = { p->entries, p->comms, p->segments, p->shares, p->kinds };
    return arrays[which];
}

/* The segments have one more, which ends the shares of the last. */
static head head_of(const tl_rank_program *r)
{
    const tl_program *p = &r->program;
    size_t nsegments = p->segments != NULL ? p->nsegments + 1 : 0;
    return (head){ r->rank,       { p->nentries, p->ncomms, nsegments, p->nshares, p->nkinds },
                   p->start_ns,   p->end_ns,
                   p->contention, p->contention_error };
}

/* A program into the message. */
static bool enclose(const tl_rank_program *r, tl_message *out)
{
    const head h = head_of(r);
    bool ok = tl_message_put(out, &h, sizeof h);
    for (int which = 0; ok && which < NARRAYS; which++)
        ok = tl_message_put(out, array_of(&r->program, which), h.n[which] * element_size[which]);
    return ok;
}

/* The next program out of the message. */
static bool unpack(tl_message *in, tl_rank_program *out)
{
    head h;
    void *array[NARRAYS] = { NULL };
    bool ok = tl_message_get(in, &h, sizeof h);

    if (!ok)
        return false;
    for (int which = 0; which < NARRAYS; which++) {
        array[which] = tl_calloc(h.n[which] + 1, element_size[which]);
        ok = ok && array[which] != NULL && tl_message_get(in, array[which], h.n[which] * element_size[which]);
    }
    *out = (tl_rank_program){ .rank = h.rank,
                              .program = { .entries = array[ENTRIES],
                                           .nentries = h.n[ENTRIES],
                                           .comms = array[COMMS],
                                           .ncomms = h.n[COMMS],
                                           .segments = array[SEGMENTS],
                                           .nsegments = h.n[SEGMENTS] > 0 ? h.n[SEGMENTS] - 1 : 0,
                                           .shares = array[SHARES],
                                           .nshares = h.n[SHARES],
                                           .kinds = array[KINDS],
                                           .nkinds = h.n[KINDS],
                                           .start_ns = h.start_ns,
                                           .end_ns = h.end_ns,
                                           .contention = h.contention,
                                           .contention_error = h.contention_error } };
    return ok;
}

static int by_rank(const void *a, const void *b)
{
    const tl_rank_program *x = a, *y = b;
    return TL_COMPARE(x->rank, y->rank);
}

static bool unpack_all(tl_message *in, tl_programs *all)
{
    bool ok = true;
    while (ok && in->at < in->n) {
        ok = tl_vec_room(&all->of);
        if (ok) {
            all->of.v[all->of.n] = (tl_rank_program){ .rank = -1 };
            ok = unpack(in, &all->of.v[all->of.n++]);
        }
    }
    return ok;
}

tl_status tl_programs_collect(tl_programs *own, tl_programs *all, tl_error *err)
{
    tl_message mine = { 0 }, messages = { 0 };
    void *bytes = NULL;
    bool alone = tl_par_nprocs() == 1, ok = true;

    if (alone) {
        *all = *own;
        *own = (tl_programs){ 0 };
    }
    for (size_t i = 0; ok && i < own->of.n; i++)
        ok = enclose(&own->of.v[i], &mine);
    tl_programs_free(own);
    tl_status st = tl_par_agree(ok ? TL_OK : tl_fail_memory(err, "the programs of ranks"), err);
    if (st == TL_OK && !alone)
        st = tl_par_gather(mine.v, mine.n, &bytes, &messages.n, NULL, err);
    free(mine.v);
    messages.v = bytes;
    if (st == TL_OK && !unpack_all(&messages, all))
        st = tl_fail_memory(err, "the programs of all ranks");
    free(bytes);
    if (all->of.n > 1)
        qsort(all->of.v, all->of.n, sizeof *all->of.v, by_rank);
    return tl_par_agree(st, err);
}
