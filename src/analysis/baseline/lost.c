/* lost.c - ranks that are not judged in a step, for work of theirs is not in the trace there (table health).
 *
 *     step        4     5     6
 *     rank 0      100   101   99
 *     rank 1      100   (40)  100       its work of step 5 counts as 100, what others have, and is no evidence
 *     rank 2      101   100   100
 */
#include "internal.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/model/health_table.h"

static bool mark(tl_baseline *b, const int32_t *ranks, const tl_table *health)
{
    size_t n = b->graph->nranks;
    for (size_t i = 0; i < health->n; i++) {
        const tl_health *row = tl_table_row(health, i);
        size_t r = tl_index_of(ranks, n, row->rank), s = 0;
        if (row->done != TL_REMEDY_NOT_JUDGED || row->step < 0 || r == n)
            continue;
        TL_BISECT(s, b->nsteps, mid, b->steps[mid] < row->step);
        if (s == b->nsteps || b->steps[s] != row->step)
            continue;
        if (b->lost == NULL)
            b->lost = tl_arena_zeroed(&b->arena, n * b->nsteps, sizeof *b->lost);
        if (b->lost == NULL)
            return false;
        b->lost[r * b->nsteps + s] = true;
    }
    return true;
}

/* In the k-th step of the class those who have lost work have what the others have in the middle. */
static void fill(const tl_baseline *b, const tl_work_class *class, size_t k, int64_t *ns, int64_t *pieces)
{
    const tl_role_ranks *role = &b->roles[class->role];
    const uint32_t *members = b->members + role->first;
    size_t n = 0, step = class->steps.v[k];
    for (size_t i = 0; i < role->n; i++)
        if (!tl_is_unjudged(b, members[i], step)) {
            ns[n] = class->ns[i * class->steps.n + k];
            pieces[n++] = class->pieces[i * class->steps.n + k];
        }
    if (n == 0 || n == role->n)
        return;
    int64_t usual_ns = tl_baseline_median(ns, n), usual_pieces = tl_baseline_median(pieces, n);
    for (size_t i = 0; i < role->n; i++)
        if (tl_is_unjudged(b, members[i], step)) {
            class->ns[i * class->steps.n + k] = usual_ns;
            class->pieces[i * class->steps.n + k] = (uint32_t)usual_pieces;
        }
}

bool tl_baseline_leave_out(tl_baseline *b, const int32_t *ranks, const tl_table *health)
{
    tl_arena arena = { 0 };
    if (!mark(b, ranks, health))
        return false;
    int64_t *ns = tl_arena_take(&arena, b->graph->nranks, sizeof *ns);
    int64_t *pieces = tl_arena_take(&arena, b->graph->nranks, sizeof *pieces);
    bool ok = !arena.failed;
    for (size_t c = 0; ok && b->lost != NULL && c < b->nclasses; c++)
        for (size_t k = 0; b->classes[c].family != TL_FAMILY_TRANSFER && k < b->classes[c].steps.n; k++)
            fill(b, &b->classes[c], k, ns, pieces);
    tl_arena_free(&arena);
    return ok;
}
