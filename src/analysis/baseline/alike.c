/* alike.c - unites kernels of different names that replace each other on the ranks of a role.
 *
 *     rank 0    gemm_128x128  12 times    gemm_64x64  12 times    relu 6 times
 *     rank 1    gemm_128x128  24 times                            relu 6 times
 *
 * A library picks the kernel that it finds fastest, and need not pick the same one on all ranks.  Two sets of names are
 * tried: the names that some ranks lack, then the names whose number of kernels differs between ranks.  If all ranks
 * run the same total number of kernels of such a set, its names become one class (TL_EXCHANGED).
 */
#include "internal.h"
#include "tlmpi/base/mem.h"
#include <stdlib.h>

/* A name of kernels in one role. */
typedef struct name {
    int64_t pieces;  /* in whole steps, of the first rank */
    uint32_t nranks; /* ranks with any */
    bool differs;    /* the number of pieces is not the same on all ranks */
} name;

typedef struct sorting {
    const tl_baseline *b;
    const tl_cells_of_rank *ranks;
    const tl_role_ranks *role;
    uint32_t nworking; /* ranks of the role that have a graph */
    tl_map number_of;  /* by key */
    TL_VEC(name) names;
    tl_arena arena;
    int64_t **pieces;   /* by member and kind, in whole steps */
    uint32_t **name_of; /* by member and kind: index of its name; TL_NONE: not a compute kernel */
} sorting;

static uint32_t rank_of(const sorting *s, uint32_t member)
{
    return s->b->members[s->role->first + member];
}

static void count_pieces(sorting *s, uint32_t member)
{
    const uint32_t rank = rank_of(s, member);
    const size_t n = s->b->nkinds[rank];
    const tl_cells_of_rank *r = &s->ranks[rank];
    int64_t *pieces = s->pieces[member] = tl_arena_zeroed(&s->arena, n, sizeof *pieces);
    uint32_t *name_of = s->name_of[member] = tl_arena_take(&s->arena, n, sizeof *name_of);
    for (size_t i = 0; i < r->n; i++)
        pieces[r->cells[i].kind] += s->b->cut[r->cells[i].step] ? 0 : r->cells[i].pieces;
    for (size_t k = 0; k < n; k++) {
        name_of[k] = r->kinds[k].computes ? tl_map_get(&s->number_of, r->kinds[k].key) : TL_NONE;
        if (r->kinds[k].computes && name_of[k] == TL_MAP_NONE) {
            name_of[k] = (uint32_t)s->names.n;
            tl_vec_room(&s->names);
            tl_map_put(&s->number_of, r->kinds[k].key, name_of[k]);
            s->names.v[s->names.n++] = (name){ .pieces = pieces[k] };
        }
        if (name_of[k] == TL_NONE)
            continue;
        name *of = &s->names.v[name_of[k]];
        of->nranks += pieces[k] > 0;
        of->differs = of->differs || pieces[k] != of->pieces;
    }
    s->nworking += tl_job_graph_has(s->b->graph, rank);
}

/* Whether some ranks have no kernel of the kind's name, or, unless `lacking`, the ranks' numbers of them differ. */
static bool differs(const sorting *s, uint32_t member, size_t kind, bool lacking)
{
    uint32_t number = s->name_of[member][kind];
    const name *of = number != TL_NONE ? &s->names.v[number] : NULL;
    return of != NULL && of->nranks > 0 && (of->nranks < s->nworking || (of->differs && !lacking));
}

/* Whether all ranks run the same total number of kernels of the names that differ, and more than none. */
static bool is_even(const sorting *s, bool lacking)
{
    int64_t first = -1;
    for (uint32_t i = 0; i < s->role->n; i++) {
        int64_t sum = 0;
        for (size_t k = 0; k < s->b->nkinds[rank_of(s, i)]; k++)
            sum += differs(s, i, k, lacking) ? s->pieces[i][k] : 0;
        if (!tl_job_graph_has(s->b->graph, rank_of(s, i)))
            continue;
        if (first >= 0 && sum != first)
            return false;
        first = sum;
    }
    return first > 0;
}

static void unite_exchanged(sorting *s)
{
    s->pieces = tl_arena_take(&s->arena, s->role->n, sizeof *s->pieces);
    s->name_of = tl_arena_take(&s->arena, s->role->n, sizeof *s->name_of);
    for (uint32_t i = 0; i < s->role->n; i++)
        count_pieces(s, i);
    bool lacking = is_even(s, true);
    if (!lacking && !is_even(s, false))
        return;
    for (uint32_t i = 0; i < s->role->n; i++)
        for (size_t k = 0; k < s->b->nkinds[rank_of(s, i)]; k++)
            if (differs(s, i, k, lacking))
                s->ranks[rank_of(s, i)].kinds[k].key = TL_EXCHANGED;
}

void tl_kinds_alike(const tl_baseline *b, tl_cells_of_rank *ranks)
{
    for (size_t q = 0; q < b->nroles; q++) {
        sorting s = { .b = b, .ranks = ranks, .role = &b->roles[q] };
        unite_exchanged(&s);
        free(s.names.v);
        tl_map_free(&s.number_of);
        tl_arena_free(&s.arena);
    }
}
