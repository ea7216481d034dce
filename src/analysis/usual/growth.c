/* growth.c - stages of a pipeline of which each is one rank: a step in which all have more to do is nobody's
 * fault.
 *
 *     step         1      2        3
 *     stage 0   |XXXX|..|XXXX|..|XXXXXXXX|     the third has longer sequences: what the other steps of a stage tell is
 *     stage 1   |YYY|...|YYY|...|YYYYYY|.|     too little for it, by as much as for the other stages
 *
 * A rank alone is compared with its own other steps.  By how much more the others work in this step than they usually
 * do, in the middle, so much more is expected of it, and by a part of that more still: not all that a stage does grows,
 * and of one more than of another.  What is slow in one rank alone makes the work of no other longer.
 */
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "peers.h"
#include <stdlib.h>

/* Ratios in millionths; a step that is longer by less than this part is as usual. */
enum { USUAL = 1000000, SLACK = 32, MORE = 4 };

typedef struct share {
    int64_t step, ratio;
    uint32_t block;
} share;

static int by_step(const void *a, const void *b)
{
    const share *x = a, *y = b;
    int order = TL_COMPARE(x->step, y->step);
    order = order != 0 ? order : TL_COMPARE(x->ratio, y->ratio);
    return order != 0 ? order : TL_COMPARE(x->block, y->block);
}

/* Of each block what it works, of what is usual for its rank.  Returns how many. */
static size_t list_shares(const tl_block *v, size_t n, int64_t *scratch, share *out)
{
    size_t nout = 0;
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from; to < n && tl_blocks_alike(&v[from], &v[to]); to++)
            scratch[to - from] = v[to].work_ns;
        int64_t usual_ns = tl_median(scratch, to - from);
        for (size_t i = from; i < to && usual_ns > 0; i++)
            if (v[i].step != INT64_MIN)
                out[nout++] = (share){ v[i].step, tl_portion(v[i].work_ns, USUAL, usual_ns), (uint32_t)i };
    }
    return nout;
}

static void raise(int64_t *expected_ns, int64_t ns, int64_t ratio)
{
    int64_t more = tl_portion(*expected_ns, ratio, USUAL);
    if (*expected_ns < ns)
        *expected_ns = more < ns ? more : ns;
}

/* The n of one step, by their ratio. */
static void expect_more(tl_whatif *w, const tl_block *v, const share *of, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t middle = tl_other_place(tl_lower_middle(n - 1), i);
        int64_t grown = of[middle].ratio - USUAL, ratio = USUAL + grown + grown / MORE;
        const tl_block *b = &v[of[i].block];
        for (size_t k = b->first; grown > USUAL / SLACK && k < b->first + b->n; k++) {
            raise(&w->cells[k].work_peer_ns, w->cells[k].work_ns, ratio);
            raise(&w->cells[k].work_mid_ns, w->cells[k].work_ns, ratio);
        }
    }
}

bool tl_whatif_compare_growth(tl_whatif *w, const tl_block *v, size_t n)
{
    share *shares = tl_malloc((n + 1) * sizeof *shares);
    int64_t *scratch = tl_malloc((n + 1) * sizeof *scratch);
    bool whole = shares != NULL && scratch != NULL;
    size_t nshares = whole ? list_shares(v, n, scratch, shares) : 0;

    if (nshares > 1)
        qsort(shares, nshares, sizeof *shares, by_step);
    for (size_t from = 0, to; from < nshares; from = to) {
        for (to = from; to < nshares && shares[to].step == shares[from].step; to++)
            ;
        if (to - from > 1)
            expect_more(w, v, shares + from, to - from);
    }
    free(shares);
    free(scratch);
    return whole;
}
