/* job_roles.c - which ranks of the job do the same: those of one stage of a pipeline. */
#include "tlmpi/analysis/role.h"
#include "roles.h"
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

/* ------------------------------------------------------------------------------------------------- by what they compute */

/* One rank in one step, or in most of its steps. */
typedef struct computing {
    uint64_t does;
    uint32_t rank;
} computing;

static int by_what(const void *a, const void *b)
{
    const computing *x = a, *y = b;
    int order = TL_COMPARE(x->does, y->does);
    return order != 0 ? order : TL_COMPARE(x->rank, y->rank);
}

/* What the rank computes in more of its steps than anything else; 0: there are none.  scratch: as many as segments. */
static uint64_t usual_work(const tl_program *p, computing *scratch)
{
    size_t n = 0, most = 0;
    uint64_t usual = 0;
    for (size_t s = 0; s < p->nsegments; s++) {
        if (p->segments[s].step < 0)
            continue;
        if (s == 0 || p->segments[s].step != p->segments[s - 1].step)
            scratch[n++] = (computing){ 0, 0 };
        scratch[n - 1].does += p->segments[s].does;
    }
    if (n > 1)
        qsort(scratch, n, sizeof *scratch, by_what);
    for (size_t i = 0, to; i < n; i = to) {
        for (to = i; to < n && scratch[to].does == scratch[i].does; to++)
            ;
        if (to - i > most && scratch[i].does != 0) {
            most = to - i;
            usual = scratch[i].does;
        }
    }
    return usual;
}

/* Somebody sends, and no trace tells to whom. */
static bool sends_to_nobody_knows(const tl_role_input *in)
{
    bool sends = false;
    for (size_t i = 0; i < in->nrows; i++) {
        const tl_late_row *row = &in->rows[i];
        if (row->pair || row->peer >= 0)
            return false;
        sends = sends || tl_is_point_to_point((tl_collective)row->kind);
    }
    return sends;
}

/* The first stage of a pipeline embeds, the last has the loss: where nobody tells who sends to whom, ranks that run other
 * kernels in a step are of other stages, if several run the same, and as many of each, or times as many: those between the
 * first and the last. */
static bool part_by_work(tl_job_roles *roles, const tl_role_input *in)
{
    size_t most = 0, least = SIZE_MAX, nroles = 0;
    bool fit = true;

    for (size_t i = 0; i < in->programs->of.n; i++)
        most = in->programs->of.v[i].program.nsegments > most ? in->programs->of.v[i].program.nsegments : most;
    computing *scratch = tl_malloc((most + 1) * sizeof *scratch), *v = tl_calloc(in->nranks + 1, sizeof *v);
    bool ok = scratch != NULL && v != NULL;
    for (uint32_t r = 0; ok && r < in->nranks; r++)
        v[r].rank = r;
    for (size_t i = 0; ok && i < in->programs->of.n; i++) {
        size_t r = tl_index_of(in->ranks, in->nranks, in->programs->of.v[i].rank);
        if (r < in->nranks)
            v[r].does = usual_work(&in->programs->of.v[i].program, scratch);
    }
    if (ok && in->nranks > 1)
        qsort(v, in->nranks, sizeof *v, by_what);
    for (int turn = 0; ok && turn < 3; turn++) /* how few, whether they fit, and then the roles */
        for (size_t i = 0, to; i < in->nranks; i = to) {
            for (to = i; to < in->nranks && v[to].does == v[i].does; to++)
                if (turn == 2 && fit && least > 1)
                    roles->of[v[to].rank] = (int32_t)v[i].rank;
            least = to - i < least ? to - i : least;
            fit = fit && v[i].does != 0 && (turn == 0 || (to - i) % least == 0);
        }
    for (size_t r = 0; ok && r < in->nranks; r++) {
        nroles += roles->of[r] != roles->of[0];
        roles->named_roles[place_of(roles->named, roles->nnamed, in->ranks[r])] = roles->of[r];
    }
    roles->several = nroles > 0;
    free(scratch);
    free(v);
    return ok;
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
    bool ok = named != NULL && pairs != NULL && roles->named_roles != NULL && roles->of != NULL;
    for (size_t i = 0; ok && i < in->nrows; i++) {
        const tl_late_row *x = &in->rows[i], *y = i > 0 ? x - 1 : NULL;
        uint32_t at = place_of(named, roles->nnamed, x->rank);
        if (y != NULL && y->collective == x->collective && y->fits && y->pair &&
            (in->nranks > 2 || y->kind != TL_SEND_RECV))
            pairs[n++] = (tl_rank_pair){ place_of(named, roles->nnamed, y->rank), at };
        if (x->peer >= 0)
            pairs[n++] = (tl_rank_pair){ at, place_of(named, roles->nnamed, x->peer) };
    }
    ok = ok && tl_roles_of(pairs, n, roles->nnamed, roles->named_roles);
    for (size_t r = 0; ok && r < in->nranks; r++) {
        roles->of[r] = roles->named_roles[place_of(named, roles->nnamed, in->ranks[r])];
        roles->several = roles->several || roles->of[r] != roles->of[0];
    }
    free(pairs);
    if (ok && !roles->several && in->programs != NULL && sends_to_nobody_knows(in))
        ok = part_by_work(roles, in);
    return ok;
}

void tl_job_roles_free(tl_job_roles *roles)
{
    free(roles->of);
    free(roles->named);
    free(roles->named_roles);
    *roles = (tl_job_roles){ 0 };
}
