/* job_roles.c - see job_roles.h. */
#include "job_roles.h"
#include "tlmpi/analysis/roles.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

/* The ranks that have a trace, and those that they send to or receive from; ascending, each once. */
static int32_t *list_named(const tl_role_input *in, size_t *n)
{
    int32_t *v = tl_malloc((in->nranks + in->nrows + 1) * sizeof *v);
    size_t m = 0, kept = 0;
    for (size_t r = 0; v != NULL && r < in->nranks; r++)
        v[m++] = in->ranks[r];
    for (size_t i = 0; v != NULL && i < in->nrows; i++)
        if (in->rows[i].peer >= 0)
            v[m++] = in->rows[i].peer;
    tl_int_sort(v, m);
    for (size_t i = 0; i < m; i++)
        if (kept == 0 || v[i] != v[kept - 1])
            v[kept++] = v[i];
    *n = kept;
    return v;
}

static uint32_t place_of(const int32_t *v, size_t n, int32_t rank)
{
    size_t at = tl_index_of(v, n, rank);
    return at < n ? (uint32_t)at : 0;
}

/* A pipeline keeps its stages where the traces of some are missing.  Two ranks of a job of two are peers, unless one is
 * said to send to the other. */
bool tl_job_roles_find(tl_job_roles *roles, const tl_role_input *in)
{
    size_t n = 0;
    const int32_t *named = roles->named = list_named(in, &roles->nnamed);
    tl_rank_pair *pairs = tl_malloc((2 * in->nrows + 1) * sizeof *pairs);

    roles->named_roles = tl_calloc(roles->nnamed + 1, sizeof *roles->named_roles);
    roles->of = tl_calloc(in->nranks + 1, sizeof *roles->of);
    bool whole = named != NULL && pairs != NULL && roles->named_roles != NULL && roles->of != NULL;
    for (size_t i = 0; whole && i < in->nrows; i++) {
        const tl_late_row *x = &in->rows[i], *y = i > 0 ? x - 1 : NULL;
        uint32_t at = place_of(named, roles->nnamed, x->rank);
        if (y != NULL && y->collective == x->collective && y->fits && y->pair &&
            (in->nranks > 2 || y->kind != TL_SEND_RECV))
            pairs[n++] = (tl_rank_pair){ place_of(named, roles->nnamed, y->rank), at };
        if (x->peer >= 0)
            pairs[n++] = (tl_rank_pair){ at, place_of(named, roles->nnamed, x->peer) };
    }
    whole = whole && tl_roles_of(pairs, n, roles->nnamed, roles->named_roles);
    for (size_t r = 0; whole && r < in->nranks; r++) {
        roles->of[r] = roles->named_roles[place_of(named, roles->nnamed, in->ranks[r])];
        roles->several = roles->several || roles->of[r] != roles->of[0];
    }
    free(pairs);
    return whole;
}

void tl_job_roles_free(tl_job_roles *roles)
{
    free(roles->of);
    free(roles->named);
    free(roles->named_roles);
    *roles = (tl_job_roles){ 0 };
}
