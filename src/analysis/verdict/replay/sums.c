/* sums.c - excess by stretch, for kinds of work of which a rank has more pieces than its peers.
 *
 *     peers    [ a ][ b ]c[ a ]c           c: collectives
 *     rank     [ a ][ b ][ b ][ b ]c[ a ]c
 *
 * If all pieces of b were made shorter in proportion, time would also go where no piece is additional; so each stretch
 * between two collectives is compared by itself.
 */
#include "internal.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

/* Work of one kind of a rank in one stretch of the steps of a window; kinds are numbered as in the question. */
typedef struct stretch {
    uint64_t key; /* of window, kind and segment */
    int64_t ns;
    uint32_t window, kind, segment, member;
} stretch;

typedef TL_VEC(stretch) stretches;

static uint64_t key_of(uint32_t window, uint32_t kind, uint32_t segment)
{
    return tl_hash_mix(tl_hash_mix(window, kind), segment);
}

/* The question SUMS: kinds of device work, and the steps of each window. */
typedef struct wanted {
    tl_work_kind *kinds;
    size_t nkinds, ncells;
    uint32_t *window; /* [nkinds * nsteps] 0: not asked for */
    uint32_t *own;    /* by kind of the class map: the kind in the question; TL_NONE: not asked for */
} wanted;

void tl_sums_answer(const tl_open_rank *rank, const tl_work_class_map *class_map, tl_bytes *in, tl_bytes *out)
{
    tl_changes c = { 0 };
    stretches sums = { 0 };
    wanted a = { 0 };
    tl_map at = { 0 };
    tl_bytes_get_list(in, (void **)&a.kinds, &a.nkinds, sizeof *a.kinds);
    tl_bytes_get_list(in, (void **)&a.window, &a.ncells, sizeof *a.window);
    a.own = tl_malloc_none(class_map->nkinds);
    for (uint32_t k = 0; k < a.nkinds; k++) {
        uint32_t own = tl_kind_find(class_map, a.kinds[k]);
        if (own != TL_NONE && a.own[own] == TL_NONE) /* kinds of one class count as the first of them */
            a.own[own] = k;
    }
    tl_changes_open(rank, class_map, &c);
    tl_changes_compare(&c);
    for (uint32_t v = 0; v < c.open.n; v++) {
        uint32_t kind = c.kind_of[v] != TL_NONE ? a.own[c.kind_of[v]] : TL_NONE;
        uint32_t window = kind != TL_NONE ? a.window[kind * c.class_map->nsteps + c.step_of[v]] : 0;
        if (window == 0)
            continue;
        uint32_t segment = tl_segment_of(c.class_map, &c.open.nodes[v]);
        uint64_t key = key_of(window, kind, segment);
        uint32_t i = tl_map_number(&at, key, sums.n);
        if (i == sums.n)
            tl_vec_push(&sums, (stretch){ .key = key, .window = window, .kind = kind, .segment = segment });
        if (sums.v != NULL)
            sums.v[i].ns += c.open.nodes[v].work_ns;
    }
    tl_map_free(&at);
    tl_bytes_put_list(out, sums.v, sums.n, sizeof *sums.v);
    tl_changes_free(&c);
    free(sums.v);
    free(a.kinds);
    free(a.window);
    free(a.own);
}

void tl_repair_stretches(const tl_repair_plan *plan, tl_changes *c)
{
    tl_map at = { 0 };
    for (uint32_t i = 0; i < plan->nsums; i++)
        tl_map_put(&at, key_of(plan->sums[i].window, plan->sums[i].kind, plan->sums[i].segment), i);
    for (uint32_t v = 0; v < c->open.n; v++) {
        uint32_t kind = c->kind_of[v];
        uint32_t window = kind != TL_NONE ? plan->window[kind * plan->nsteps + c->step_of[v]] : 0;
        uint32_t i = window > 0 ? tl_map_get(&at, key_of(window, kind, tl_segment_of(c->class_map, &c->open.nodes[v])))
                                : TL_MAP_NONE;
        int64_t ns = c->open.nodes[v].work_ns;
        if (i != TL_MAP_NONE && plan->sums[i].own_ns > 0)
            c->less_ns[v] += ns - tl_portion(ns, plan->sums[i].baseline_ns, plan->sums[i].own_ns);
    }
    tl_map_free(&at);
}

/* --------------------------------------------------------------------------------------------------------- who asks */

static void put_wanted(const tl_baseline *b, uint32_t rank, const tl_repair_plan *plan, tl_bytes *out)
{
    tl_work_kind *kinds = tl_malloc((plan->nkinds + 1) * sizeof *kinds);
    uint32_t *window = tl_calloc(plan->nkinds * plan->nsteps + 1, sizeof *window);
    for (size_t k = 0; k < plan->nkinds; k++) {
        const tl_work_class *class = &b->classes[b->class_of_kind[rank][k]];
        kinds[k] = (tl_work_kind){ class->key, class->family, 0 };
    }
    for (size_t i = 0; i < plan->nkinds * plan->nsteps; i++)
        window[i] = plan->window[i] <= plan->nwindows - plan->nsummed ? 0 : plan->window[i];
    tl_bytes_put_list(out, kinds, plan->nkinds, sizeof *kinds);
    tl_bytes_put_list(out, window, plan->nkinds * plan->nsteps, sizeof *window);
    free(kinds);
    free(window);
}

TL_SORT_BY(by_key, stretch, key, member)

/* Fills plan->sums: the rank's time and the role's median time of each stretch, ns. */
static void fill_sums(const tl_baseline *b, uint32_t rank, stretches *all, tl_repair_plan *plan)
{
    size_t n = b->roles[b->role_of[rank]].n;
    int64_t *ns = tl_malloc((n + 1) * sizeof *ns);
    plan->sums = tl_malloc((all->n + 1) * sizeof *plan->sums);
    tl_sort(all->v, all->n, sizeof *all->v, by_key);
    for (size_t i = 0, to; i < all->n; i = to) {
        const stretch *first = &all->v[i];
        for (size_t k = 0; k < n; k++)
            ns[k] = 0;
        for (to = i; to < all->n && all->v[to].key == first->key; to++)
            ns[all->v[to].member] = all->v[to].ns;
        int64_t own = ns[b->index_in_role[rank]];
        if (own > 0)
            plan->sums[plan->nsums++] =
                (tl_repair_plan_sum){ own, tl_baseline_median(ns, n), first->window, first->kind, first->segment, 0 };
    }
    free(ns);
}

void tl_repair_plan_sums(const tl_baseline *b, uint32_t rank, tl_repair_plan *plan)
{
    const tl_role_ranks *role = &b->roles[b->role_of[rank]];
    const uint32_t *members = b->members + role->first;
    stretches all = { 0 };
    tl_asked asked;
    tl_asked_new(b->graph->nranks, &asked);
    for (uint32_t i = 0; i < role->n; i++)
        put_wanted(b, rank, plan, &asked.in[members[i]]);
    tl_ask_ranks(b->asker, TL_ASK_SUMS, &asked);
    for (uint32_t i = 0; i < role->n; i++) {
        stretch *list = NULL;
        size_t n;
        tl_bytes_get_list(&asked.out[members[i]], (void **)&list, &n, sizeof *list);
        for (size_t k = 0; k < n; k++) {
            list[k].member = i;
            tl_vec_push(&all, list[k]);
        }
        free(list);
    }
    fill_sums(b, rank, &all, plan);
    tl_asked_free(&asked);
    free(all.v);
}
