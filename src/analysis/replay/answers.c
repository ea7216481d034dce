/* answers.c - a rank changed as it is asked for: by its repairs one by one, by some of them together, by all that it
 * has too much. */
#include "internal.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>
#include <string.h>

void tl_told_free(tl_told *told)
{
    for (size_t u = 0; told->plans != NULL && u < told->nplans; u++)
        tl_repair_plan_free(&told->plans[u]);
    free(told->plans);
    tl_rank_ideal_free(&told->ideal);
    *told = (tl_told){ 0 };
}

/* ------------------------------------------------------------------------------------------------------------ units */

typedef struct taking {
    tl_changes c;
    uint8_t *marks;      /* [nodes] tl_fold_mark */
    uint32_t *number_of; /* [nodes] folded */
    uint8_t *activity;   /* [nodes] tl_activity_kind of what is taken off */
    TL_VEC(tl_taken) taken;
    tl_folded folded;
} taking;

static bool put(taking *t, uint32_t node, uint32_t unit, int64_t ns)
{
    if (!tl_vec_room(&t->taken))
        return false;
    t->taken.v[t->taken.n++] = (tl_taken){ ns, node, unit, t->activity[node], 0 };
    return true;
}

/* Besides an activity: of a wait that peers do not have. */
enum { OF_WAIT = 0x80 };

/* Of a host, what it does around waits that peers do not have is theirs, up to the next launch; and the launches that
 * peers do not have are of the work that these do not have, if most are such that they have.  What has a name of its own
 * stays that. */
static bool name_host(taking *t, const tl_repair_plan *plan)
{
    const tl_open_rank *o = &t->c.open;
    size_t pieces = 0, known = 0;
    bool ok = tl_drop_waits(&t->c, plan->drop);
    for (uint32_t v = 0; v < o->n; v++) {
        pieces += tl_is_host_piece(&o->nodes[v]);
        known += t->c.baseline_ns[v] > 0;
    }
    for (uint32_t v = 0; ok && v < o->n; v++) {
        const tl_node *node = &o->nodes[v];
        if (t->c.gone[v]) {
            t->activity[v] = node->activity | OF_WAIT;
            t->activity[o->edges[node->first_edge].from] = t->activity[v]; /* where it begins */
        }
        if (node->activity != TL_ACTIVITY_HOST)
            continue;
        if (2 * known > pieces && node->kind == TL_NODE_LAUNCH && tl_is_host_piece(node) && t->c.baseline_ns[v] == 0)
            t->activity[v] = TL_ACTIVITY_COMPUTE;
        for (uint32_t e = node->first_edge; e < o->nodes[v + 1].first_edge; e++) {
            uint32_t from = o->edges[e].from;
            if (from < o->n && o->nodes[from].kind != TL_NODE_LAUNCH && (t->activity[from] & OF_WAIT) != 0)
                t->activity[v] = t->activity[from];
        }
    }
    for (uint32_t v = 0; v < o->n; v++)
        t->activity[v] &= (uint8_t)~OF_WAIT;
    memset(t->c.gone, 0, o->n * sizeof *t->c.gone);
    return ok;
}

/* What the plan takes off; then all is unchanged again. */
static bool take(taking *t, const tl_repair_plan *plan, uint32_t unit)
{
    const tl_open_rank *o = &t->c.open;
    bool ok = tl_repair_plan_apply(plan, &t->c);
    for (uint32_t v = 0; ok && v < o->n; v++)
        t->activity[v] = o->nodes[v].activity;
    ok = ok && (plan->family != TL_FAMILY_HOST || name_host(t, plan));
    for (uint32_t v = 0; ok && v < o->n; v++) {
        if (t->c.less_ns[v] != 0) {
            ok = put(t, v, unit, t->c.less_ns[v]);
            tl_fold_mark_put(&t->marks[v], TL_FOLD_WORK);
        }
        if (!ok || !t->c.gone[v])
            continue;
        if (t->activity[v] == TL_ACTIVITY_HOST)
            t->activity[v] = TL_ACTIVITY_SYNC; /* a pause that is a wait, as it turned out */
        ok = put(t, v, unit, TL_GONE);
        tl_fold_mark_put(&t->marks[v], TL_FOLD_EDGES);
        for (uint32_t e = o->nodes[v].first_edge; e < o->nodes[v + 1].first_edge; e++)
            tl_fold_mark_put(&t->marks[o->edges[e].from], TL_FOLD_KEEP);
    }
    tl_changes_reset(&t->c);
    return ok;
}

static bool get_plans(tl_told *told, tl_bytes *in)
{
    size_t n;
    tl_told_free(told);
    if (!tl_bytes_get(in, &n, sizeof n))
        return false;
    told->plans = tl_calloc(n + 1, sizeof *told->plans);
    bool ok = told->plans != NULL;
    while (ok && told->nplans < n)
        ok = tl_repair_plan_get(&told->plans[told->nplans++], in);
    return ok;
}

bool tl_units_answer(const tl_open_rank *rank, const tl_frame *frame, tl_told *told, tl_bytes *in, tl_bytes *out)
{
    taking t = { 0 };
    bool ok = get_plans(told, in) && tl_changes_open(rank, frame, &t.c);
    size_t n = ok ? t.c.open.n + (size_t)1 : 1;
    t.marks = tl_calloc(n, sizeof *t.marks);
    t.number_of = tl_malloc(n * sizeof *t.number_of);
    t.activity = tl_malloc(n * sizeof *t.activity);
    ok = ok && t.marks != NULL && t.number_of != NULL && t.activity != NULL;
    for (uint32_t u = 0; ok && u < told->nplans; u++)
        ok = take(&t, &told->plans[u], u);
    ok = ok && tl_folded_make(&t.c, t.marks, &t.folded, t.number_of);
    for (size_t i = 0; ok && i < t.taken.n; i++)
        t.taken.v[i].node = t.number_of[t.taken.v[i].node];
    ok = ok && tl_bytes_put_list(out, t.taken.v, t.taken.n, sizeof *t.taken.v) &&
         tl_folded_put(&t.folded, rank->of->graph.ncomms, out);
    tl_changes_free(&t.c);
    tl_folded_free(&t.folded);
    free(t.marks);
    free(t.number_of);
    free(t.activity);
    free(t.taken.v);
    return ok;
}

/* ----------------------------------------------------------------------------------------------------------- change */

typedef TL_VEC(tl_end_less) end_list;

static bool apply_plans(const tl_told *told, tl_bytes *in, tl_changes *c)
{
    uint32_t *which = NULL;
    size_t n;
    bool ok = tl_bytes_get_list(in, (void **)&which, &n, sizeof *which);
    for (size_t i = 0; ok && i < n; i++)
        ok = which[i] < told->nplans && tl_repair_plan_apply(&told->plans[which[i]], c);
    free(which);
    return ok;
}

/* What is taken off the members of collectives on links is told apart. */
static bool move_ends(const tl_rank_ideal *ideal, tl_changes *c, end_list *ends)
{
    for (uint32_t p = 0; p < ideal->nports; p++) {
        uint32_t end = c->open.of->ports[p].arrival + 1;
        if (!ideal->on_link[p] || c->less_ns[end] == 0)
            continue;
        if (!tl_vec_room(ends))
            return false;
        ends->v[ends->n++] = (tl_end_less){ c->less_ns[end], p, 0 };
        c->less_ns[end] = 0;
    }
    return true;
}

/* Only those activities, of a host all that it does if what has no name is among them; which of them are left. */
static uint32_t mask(tl_changes *c, uint32_t activities)
{
    uint32_t left = 0;
    activities |= (activities >> TL_ACTIVITY_HOST & 1U) != 0 ? TL_HOST_ACTIVITIES : 0;
    for (uint32_t v = 0; v < c->open.n; v++) {
        uint32_t activity = 1U << c->open.nodes[v].activity;
        c->less_ns[v] = (activity & activities) != 0 ? c->less_ns[v] : 0;
        c->gone[v] = c->gone[v] && (activities >> TL_ACTIVITY_SYNC & 1U) != 0;
        activity = (activity & TL_HOST_ACTIVITIES) != 0 ? 1U << TL_ACTIVITY_HOST : activity;
        left |= (c->less_ns[v] != 0 ? activity : 0) | (c->gone[v] ? 1U << TL_ACTIVITY_SYNC : 0);
    }
    return left;
}

bool tl_change_answer(const tl_open_rank *rank, const tl_frame *frame, const tl_told *told, tl_bytes *in, tl_bytes *out)
{
    tl_changes c = { 0 };
    tl_folded folded = { 0 };
    end_list ends = { 0 };
    tl_change how;
    uint32_t activities = 0;
    bool ok = tl_bytes_get(in, &how, sizeof how) && tl_changes_open(rank, frame, &c) && apply_plans(told, in, &c);
    if (ok && how.kind == TL_CHANGE_IDEAL) {
        ok = tl_rank_ideal_apply(&told->ideal, &c) && move_ends(&told->ideal, &c, &ends);
        activities = mask(&c, how.activities);
    } else if (ok && how.kind == TL_CHANGE_BALANCE) {
        tl_balance_rank(how.to, &c);
    } else if (ok && how.kind == TL_CHANGE_HOST) {
        tl_free_host(&c);
    }
    ok = ok && tl_folded_make(&c, NULL, &folded, NULL) && tl_folded_put(&folded, rank->of->graph.ncomms, out) &&
         tl_bytes_put(out, &activities, sizeof activities) && tl_bytes_put_list(out, ends.v, ends.n, sizeof *ends.v);
    tl_changes_free(&c);
    tl_folded_free(&folded);
    free(ends.v);
    return ok;
}
