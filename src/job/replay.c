/* replay.c - see replay.h.  A program is four arrays and a head; arrays of all programs travel one behind the other. */
#include "replay.h"
#include "share.h"
#include "tlmpi/par/par.h"
#include <stdlib.h>
#include <string.h>

void tl_programs_free(tl_programs *programs)
{
    for (size_t i = 0; i < programs->of.n; i++)
        tl_program_free(&programs->of.v[i].program);
    free(programs->of.v);
    *programs = (tl_programs){ 0 };
}

tl_status tl_programs_add(tl_programs *programs, const tl_rank_view *view, const tl_activity *activity,
                          const tl_host_waits *waits, tl_error *err)
{
    if (!tl_vec_room(&programs->of))
        return tl_fail_memory(err, "the program of a rank");
    tl_rank_program *p = &programs->of.v[programs->of.n++];
    *p = (tl_rank_program){ .rank = view->rank };
    tl_status st = tl_program_make(view, activity, waits, &p->program, err);
    for (size_t i = 0; st == TL_OK && i < p->program.ncomms; i++)
        p->program.comms[i].kernel = view->kernels[p->program.comms[i].kernel].uid;
    return st;
}

/* ------------------------------------------------------------------------------------------------------ the arrays */

enum { ENTRIES, COMMS, SEGMENTS, SHARES, NARRAYS };

static const size_t element_size[NARRAYS] = { sizeof(tl_entry), sizeof(tl_comm), sizeof(tl_segment), sizeof(tl_share) };

typedef struct head {
    int32_t rank;
    size_t n[NARRAYS];
    int64_t start_ns, end_ns;
} head;

static const void *array_of(const tl_program *p, int which)
{
    const void *const arrays[NARRAYS] = { p->entries, p->comms, p->segments, p->shares };
    return arrays[which];
}

/* The segments have one more, which ends the shares of the last. */
static head head_of(const tl_rank_program *r)
{
    const tl_program *p = &r->program;
    size_t nsegments = p->segments != NULL ? p->nsegments + 1 : 0;
    return (head){ r->rank, { p->nentries, p->ncomms, nsegments, p->nshares }, p->start_ns, p->end_ns };
}

/* All of this proc's arrays of one sort, one behind the other; the caller frees them.  NULL when memory is out. */
static void *pile(const tl_programs *own, int which, size_t *n)
{
    size_t size = element_size[which], at = 0;
    *n = 0;
    for (size_t i = 0; i < own->of.n; i++)
        *n += head_of(&own->of.v[i]).n[which];
    unsigned char *all = tl_malloc(*n * size + 1);
    for (size_t i = 0; all != NULL && i < own->of.n; i++) {
        size_t bytes = head_of(&own->of.v[i]).n[which] * size;
        if (bytes > 0)
            memcpy(all + at, array_of(&own->of.v[i].program, which), bytes);
        at += bytes;
    }
    return all;
}

/* The arrays of one program, out of the piles. */
static bool unpile(const head *h, unsigned char *const piles[NARRAYS], size_t at[NARRAYS], tl_program *p)
{
    void *array[NARRAYS];
    bool whole = true;
    for (int which = 0; which < NARRAYS; which++) {
        size_t bytes = h->n[which] * element_size[which];
        array[which] = tl_calloc(h->n[which] + 1, element_size[which]);
        whole = whole && array[which] != NULL;
        if (array[which] != NULL && bytes > 0)
            memcpy(array[which], piles[which] + at[which], bytes);
        at[which] += bytes;
    }
    *p = (tl_program){ .entries = array[ENTRIES],
                       .nentries = h->n[ENTRIES],
                       .comms = array[COMMS],
                       .ncomms = h->n[COMMS],
                       .segments = array[SEGMENTS],
                       .nsegments = h->n[SEGMENTS] > 0 ? h->n[SEGMENTS] - 1 : 0,
                       .shares = array[SHARES],
                       .nshares = h->n[SHARES],
                       .start_ns = h->start_ns,
                       .end_ns = h->end_ns };
    return whole;
}

static int by_rank(const void *a, const void *b)
{
    const tl_rank_program *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static tl_status unpile_all(const head *heads, size_t n, unsigned char *const piles[NARRAYS], tl_programs *all,
                            tl_error *err)
{
    size_t at[NARRAYS] = { 0 };
    bool whole = true;
    for (size_t i = 0; whole && i < n; i++) {
        whole = tl_vec_room(&all->of);
        if (whole) {
            all->of.v[all->of.n] = (tl_rank_program){ .rank = heads[i].rank };
            whole = unpile(&heads[i], piles, at, &all->of.v[all->of.n++].program);
        }
    }
    if (whole && all->of.n > 1)
        qsort(all->of.v, all->of.n, sizeof *all->of.v, by_rank);
    return whole ? TL_OK : tl_fail_memory(err, "the programs of all ranks");
}

tl_status tl_programs_collect(const tl_programs *own, tl_programs *all, tl_error *err)
{
    head *heads = tl_malloc((own->of.n + 1) * sizeof *heads), *all_heads = NULL;
    unsigned char *piles[NARRAYS] = { NULL };
    size_t nheads = 0;

    for (size_t i = 0; heads != NULL && i < own->of.n; i++)
        heads[i] = head_of(&own->of.v[i]);
    tl_status st = tl_par_agree(heads != NULL ? TL_OK : tl_fail_memory(err, "the programs of ranks"), err);
    if (st == TL_OK)
        st = tl_collect_rows(heads, own->of.n, sizeof *heads, (void **)&all_heads, &nheads, NULL, err);
    for (int which = 0; st == TL_OK && which < NARRAYS; which++) {
        size_t n, nall;
        void *mine = pile(own, which, &n);
        st = tl_par_agree(mine != NULL ? TL_OK : tl_fail_memory(err, "the programs of ranks"), err);
        if (st == TL_OK)
            st = tl_collect_rows(mine, n, element_size[which], (void **)&piles[which], &nall, NULL, err);
        free(mine);
    }
    if (st == TL_OK && tl_par_proc() == 0)
        st = unpile_all(all_heads, nheads, piles, all, err);
    free(heads);
    free(all_heads);
    for (int which = 0; which < NARRAYS; which++)
        free(piles[which]);
    return tl_par_agree(st, err);
}
