/* group.c - what it gains when the transfers of one kind of group take no longer than transfers like them.
 *
 *     group   0 default_pg 0-15   1 mesh_dp 0-6/2   2 mesh_dp 1-7/2   5 mesh_tp 0,1   9 mesh_tp 8,9
 *     kind    0                   1                 1                 5               5
 *
 * A kind goes by the number of its first group.
 */
#include "parts.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/participant.h"
#include <stdlib.h>
#include <string.h>

/* So many kinds, those with most transfer. */
enum { KINDS_MOST = 8 };

typedef struct group_kind {
    int32_t first; /* group */
    int64_t transfer_ns;
    bool taken;
} group_kind;

typedef struct kinds {
    group_kind *v;
    size_t n;
    uint32_t *of; /* [ngroups], by number of group; TL_NONE */
    size_t ngroups;
} kinds;

/* Groups are of one kind if they are described alike and as large; where nobody describes them, if their ranks are as
 * far apart: neighbours share a tensor, those farther apart a stage or a replica. */
static uint64_t kind_of(const tl_group_row *row, int32_t *ranks)
{
    static const char unsaid[] = "undefined";
    size_t n = strnlen(row->description, sizeof row->description);
    uint64_t size = (uint64_t)(int64_t)row->size;

    if (n > 0 && !(n == sizeof unsaid - 1 && memcmp(row->description, unsaid, n) == 0))
        return tl_hash_mix(tl_hash_bytes(row->description, n), size);
    size_t most = row->size > 0 ? (size_t)row->size : 0;
    size_t known = tl_ranks_of_text(row->ranks, sizeof row->ranks, ranks, most);
    return tl_hash_mix(size, known > 1 ? (uint64_t)(ranks[1] - ranks[0]) : 0);
}

static bool list_kinds(const tl_table *groups, kinds *k)
{
    size_t most = 0;
    tl_map numbers = { 0 };

    for (size_t i = 0; i < groups->n; i++) {
        const tl_group_row *row = tl_table_row(groups, i);
        k->ngroups = row->group >= 0 && (size_t)row->group >= k->ngroups ? (size_t)row->group + 1 : k->ngroups;
        most = row->size > 0 && (size_t)row->size > most ? (size_t)row->size : most;
    }
    int32_t *ranks = tl_malloc((most + 1) * sizeof *ranks);
    k->v = tl_malloc((groups->n + 1) * sizeof *k->v);
    k->of = tl_malloc((k->ngroups + 1) * sizeof *k->of);
    bool whole = ranks != NULL && k->v != NULL && k->of != NULL;
    if (whole)
        memset(k->of, 0xff, k->ngroups * sizeof *k->of); /* TL_NONE */
    for (size_t i = 0; whole && i < groups->n; i++) {
        const tl_group_row *row = tl_table_row(groups, i);
        if (row->group < 0 || row->size == 0) /* or it has counts alone */
            continue;
        uint64_t key = kind_of(row, ranks);
        uint32_t at = tl_map_get(&numbers, key);
        if (at == TL_MAP_NONE) {
            at = (uint32_t)k->n;
            whole = tl_map_put(&numbers, key, at) == 0;
            k->v[k->n++] = (group_kind){ .first = row->group };
        }
        k->of[row->group] = at;
    }
    for (size_t i = 0; whole && i < groups->n; i++) {
        const tl_group_row *row = tl_table_row(groups, i);
        uint32_t at = row->group >= 0 ? k->of[row->group] : TL_NONE;
        if (at != TL_NONE)
            k->v[at].transfer_ns = tl_ns_sum(k->v[at].transfer_ns, row->transfer_ns);
    }
    tl_map_free(&numbers);
    free(ranks);
    return whole;
}

/* The kind with most transfer of those that have not been taken, the first of equal ones; TL_NONE. */
static uint32_t take_largest(kinds *k)
{
    uint32_t largest = TL_NONE;
    for (uint32_t i = 0; i < k->n; i++)
        if (!k->v[i].taken && (largest == TL_NONE || k->v[i].transfer_ns > k->v[largest].transfer_ns))
            largest = i;
    if (largest != TL_NONE)
        k->v[largest].taken = true;
    return largest;
}

static bool repair_kind(tl_gains *g, const kinds *k, uint32_t kind, uint8_t *links)
{
    bool any = false;
    for (size_t c = 0; c < g->job.ncollectives; c++) {
        int32_t group = g->in->rows[g->job.row_of[c]].group;
        links[c] = group >= 0 && (size_t)group < k->ngroups && k->of[group] == kind;
        any = any || links[c];
    }
    if (!any)
        return true;
    int64_t gain_ns = tl_whatif_gain(g->whatif, &(tl_scenario){ .links = links }, NULL);
    return tl_gains_add_kind(g, k->v[kind].first, gain_ns);
}

bool tl_gains_of_groups(tl_gains *g)
{
    kinds k = { 0 };
    uint8_t *links = tl_malloc(g->job.ncollectives + 1);
    bool whole = links != NULL && list_kinds(tl_tables_get(g->tables, &tl_group_row_schema), &k);

    for (int turn = 0; whole && turn < KINDS_MOST; turn++) {
        uint32_t kind = take_largest(&k);
        if (kind != TL_NONE)
            whole = repair_kind(g, &k, kind, links);
    }
    free(k.v);
    free(k.of);
    free(links);
    return whole;
}
