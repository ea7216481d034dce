/* answers.c - answers CANDIDATES and CHANGE: a rank changed by each repair, by several repairs together, or by the
 * ideal. */
#include "internal.h"
#include "tlmpi/base/mem.h"
#include <stdlib.h>
#include <string.h>

void tl_rank_repairs_free(tl_rank_repairs *repairs)
{
    for (size_t u = 0; repairs->plans != NULL && u < repairs->nplans; u++)
        tl_repair_plan_free(&repairs->plans[u]);
    free(repairs->plans);
    tl_rank_ideal_free(&repairs->ideal);
    *repairs = (tl_rank_repairs){ 0 };
}

/* ------------------------------------------------------------------------------------------------------- candidates */

typedef struct reducing {
    tl_changes c;
    uint8_t *marks;      /* [nodes] tl_fold_mark */
    uint32_t *number_of; /* [nodes] its number in the fold */
    uint8_t *activity;   /* [nodes] tl_activity_kind to which the time taken off is charged */
    TL_VEC(tl_reduction) reductions;
    tl_folded folded;
} reducing;

/* Flag in `activity`: of a wait that peers do not have. */
enum { OF_WAIT = 0x80 };

/* Sets the activity of host nodes.  Host time around a wait that peers do not have, up to the next launch, gets the
 * activity of that wait.  A launch that peers do not have counts as compute, if peers have most of the host's pieces.
 * Nodes with an activity other than HOST keep it. */
static void set_host_activities(reducing *t, const tl_repair_plan *plan)
{
    const tl_open_rank *o = &t->c.open;
    size_t pieces = 0, known = 0;
    tl_drop_waits(&t->c, plan->drop);
    for (uint32_t v = 0; v < o->n; v++) {
        pieces += tl_is_host_piece(&o->nodes[v]);
        known += t->c.baseline_ns[v] > 0;
    }
    for (uint32_t v = 0; v < o->n; v++) {
        const tl_node *node = &o->nodes[v];
        if (t->c.gone[v]) {
            t->activity[v] = node->activity | OF_WAIT;
            t->activity[o->edges[node->first_edge].from] = t->activity[v]; /* the begin of the wait */
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
}

/* Appends the reductions of a plan, marks its nodes for the fold, and undoes the changes. */
static void add_reductions(reducing *t, const tl_repair_plan *plan, uint32_t candidate)
{
    const tl_open_rank *o = &t->c.open;
    tl_repair_plan_apply(plan, &t->c);
    for (uint32_t v = 0; v < o->n; v++)
        t->activity[v] = o->nodes[v].activity;
    if (plan->family == TL_FAMILY_HOST)
        set_host_activities(t, plan);
    for (uint32_t v = 0; v < o->n; v++) {
        if (t->c.less_ns[v] != 0) {
            tl_vec_push(&t->reductions, (tl_reduction){ t->c.less_ns[v], v, candidate, t->activity[v], 0 });
            tl_fold_mark_put(&t->marks[v], TL_FOLD_WORK);
        }
        if (!t->c.gone[v])
            continue;
        if (t->activity[v] == TL_ACTIVITY_HOST)
            t->activity[v] = TL_ACTIVITY_SYNC; /* an unrecorded wait */
        tl_vec_push(&t->reductions, (tl_reduction){ TL_GONE, v, candidate, t->activity[v], 0 });
        tl_fold_mark_put(&t->marks[v], TL_FOLD_EDGES);
        for (uint32_t e = o->nodes[v].first_edge; e < o->nodes[v + 1].first_edge; e++)
            tl_fold_mark_put(&t->marks[o->edges[e].from], TL_FOLD_KEEP);
    }
    tl_changes_reset(&t->c);
}

void tl_candidates_answer(const tl_open_rank *rank, const tl_work_class_map *class_map, tl_rank_repairs *repairs,
                          tl_bytes *in, tl_bytes *out)
{
    reducing t = { 0 };
    size_t nplans;
    tl_rank_repairs_free(repairs);
    tl_bytes_get(in, &nplans, sizeof nplans);
    repairs->plans = tl_calloc(nplans + 1, sizeof *repairs->plans);
    while (repairs->nplans < nplans)
        tl_repair_plan_get(&repairs->plans[repairs->nplans++], in);
    tl_changes_open(rank, class_map, &t.c);
    size_t n = t.c.open.n + (size_t)1;
    t.marks = tl_calloc(n, sizeof *t.marks);
    t.number_of = tl_malloc(n * sizeof *t.number_of);
    t.activity = tl_malloc(n * sizeof *t.activity);
    for (uint32_t u = 0; u < repairs->nplans; u++)
        add_reductions(&t, &repairs->plans[u], u);
    tl_folded_make(&t.c, t.marks, &t.folded, t.number_of);
    for (size_t i = 0; i < t.reductions.n; i++)
        t.reductions.v[i].node = t.number_of[t.reductions.v[i].node];
    tl_bytes_put_list(out, t.reductions.v, t.reductions.n, sizeof *t.reductions.v);
    tl_folded_put(&t.folded, rank->of->graph.ncomms, out);
    tl_changes_free(&t.c);
    tl_folded_free(&t.folded);
    free(t.marks);
    free(t.number_of);
    free(t.activity);
    free(t.reductions.v);
}

/* ----------------------------------------------------------------------------------------------------------- change */

typedef struct changing {
    const tl_rank_repairs *repairs;
    tl_changes c;
    TL_VEC(tl_end_less) ends;
    int64_t *less_ns; /* [nodes] of the ideal in all activities; NULL: not computed yet, nor is `gone` */
    bool *gone;       /* [nodes] of the ideal in all activities */
} changing;

static void apply_plans(const tl_rank_repairs *repairs, tl_bytes *in, tl_changes *c)
{
    uint32_t *which = NULL;
    size_t n;
    tl_bytes_get_list(in, (void **)&which, &n, sizeof *which);
    for (size_t i = 0; i < n; i++) {
        if (which[i] >= repairs->nplans)
            tl_fault("a question names a plan that is not there");
        tl_repair_plan_apply(&repairs->plans[which[i]], c);
    }
    free(which);
}

/* Applies the plans in the question and the ideal, in all activities.  All questions about the ideal name the same
 * plans, so the result is computed once. */
static void apply_ideal(changing *a, tl_bytes *in)
{
    const size_t n = a->c.open.n;
    const tl_rank_ideal *ideal = &a->repairs->ideal;
    if (a->less_ns == NULL) {
        apply_plans(a->repairs, in, &a->c);
        tl_rank_ideal_apply(ideal, &a->c);
        /* What the ideal takes off ENDs of collectives on links moves from less_ns to the list `ends`. */
        for (uint32_t p = 0; p < ideal->nports; p++) {
            uint32_t end = a->c.open.of->ports[p].arrival + 1;
            if (!ideal->on_link[p] || a->c.less_ns[end] == 0)
                continue;
            tl_vec_push(&a->ends, (tl_end_less){ a->c.less_ns[end], p, 0 });
            a->c.less_ns[end] = 0;
        }
        a->less_ns = tl_malloc((n + 1) * sizeof *a->less_ns);
        a->gone = tl_malloc((n + 1) * sizeof *a->gone);
        memcpy(a->less_ns, a->c.less_ns, n * sizeof *a->less_ns);
        memcpy(a->gone, a->c.gone, n * sizeof *a->gone);
        return;
    }
    memcpy(a->c.less_ns, a->less_ns, n * sizeof *a->less_ns);
    memcpy(a->c.gone, a->gone, n * sizeof *a->gone);
    size_t nplans = 0;
    tl_bytes_get(in, &nplans, sizeof nplans);
    tl_bytes_skip(in, nplans * sizeof(uint32_t));
}

/* Reads the next change of the question, and applies it. */
static void apply_next_change(changing *a, tl_bytes *in, tl_change *how)
{
    tl_changes_reset(&a->c);
    tl_bytes_get(in, how, sizeof *how);
    if (how->kind == TL_CHANGE_IDEAL) {
        uint32_t activities = how->activities; /* whose changes are kept; bit HOST: all activities of the host */
        apply_ideal(a, in);
        activities |= (activities >> TL_ACTIVITY_HOST & 1U) != 0 ? TL_HOST_ACTIVITIES : 0;
        for (uint32_t v = 0; v < a->c.open.n; v++) {
            a->c.less_ns[v] = (activities >> a->c.open.nodes[v].activity & 1U) != 0 ? a->c.less_ns[v] : 0;
            a->c.gone[v] = a->c.gone[v] && (activities >> TL_ACTIVITY_SYNC & 1U) != 0;
        }
        return;
    }
    apply_plans(a->repairs, in, &a->c);
    if (how->kind == TL_CHANGE_BALANCE)
        tl_balance_rank(how->to, &a->c);
    else if (how->kind == TL_CHANGE_HOST)
        tl_free_host(&a->c);
}

void tl_changed_get(tl_folded *folded, tl_bytes *in)
{
    uint8_t any = 0;
    *folded = (tl_folded){ 0 };
    tl_bytes_get(in, &any, sizeof any);
    if (any != 0)
        tl_folded_get(folded, in);
}

void tl_change_answer(const tl_open_rank *rank, const tl_work_class_map *class_map, const tl_rank_repairs *repairs,
                      tl_bytes *in, tl_bytes *out)
{
    changing a = { .repairs = repairs };
    tl_change how = { .kind = TL_CHANGE_NONE };
    tl_folded folded = { 0 };
    bool asked = false;
    tl_changes_open(rank, class_map, &a.c);
    tl_changes_keep(&a.c); /* lane 0: unchanged */
    while (in->at < in->n) {
        apply_next_change(&a, in, &how);
        const uint8_t lane = (uint8_t)tl_changes_keep(&a.c);
        asked = asked || how.kind == TL_CHANGE_NONE;
        tl_bytes_put(out, &lane, sizeof lane);
        if (how.kind == TL_CHANGE_IDEAL)
            tl_bytes_put_list(out, a.ends.v, (how.activities >> TL_ACTIVITY_COMM & 1U) != 0 ? a.ends.n : 0,
                              sizeof *a.ends.v);
    }
    const uint8_t any = asked || a.c.nlanes > 1;
    tl_bytes_put(out, &any, sizeof any);
    if (any) {
        tl_folded_make(&a.c, NULL, &folded, NULL);
        tl_folded_put(&folded, rank->of->graph.ncomms, out);
        tl_folded_free(&folded);
    }
    tl_changes_free(&a.c);
    free(a.ends.v);
    free(a.less_ns);
    free(a.gone);
}
