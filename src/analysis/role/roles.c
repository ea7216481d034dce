/* roles.c - components of the graph of pairs, each in the order of its ranks. */
#include "roles.h"
#include "tlmpi/base/components.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include <stdlib.h>

/* Neighbours in a pipeline, and over its ends. */
enum { PARTNERS_MAX = 4 };

/* Joins each pair once, and counts partners. */
static bool join(const tl_rank_pair *pairs, size_t npairs, uint32_t *up, int32_t *partners)
{
    tl_map seen = { 0 };
    bool ok = true;
    for (size_t i = 0; ok && i < npairs; i++) {
        uint32_t a = pairs[i].a < pairs[i].b ? pairs[i].a : pairs[i].b, b = pairs[i].a ^ pairs[i].b ^ a;
        uint64_t key = (uint64_t)a << 32 | b;
        if (a == b || tl_map_get(&seen, key) != TL_MAP_NONE)
            continue;
        ok = tl_map_put(&seen, key, 1) == 0;
        partners[a]++;
        partners[b]++;
        (void)tl_components_join(up, a, b);
    }
    tl_map_free(&seen);
    return ok;
}

bool tl_roles_of(const tl_rank_pair *pairs, size_t npairs, size_t nranks, int32_t *roles)
{
    uint32_t *up = tl_malloc((nranks + 1) * sizeof *up);
    int32_t *partners = tl_calloc(nranks + 1, sizeof *partners), *length = tl_calloc(nranks + 1, sizeof *length);
    bool ok = up != NULL && partners != NULL && length != NULL, pipelines = true;

    for (uint32_t r = 0; ok && r < nranks; r++)
        up[r] = r;
    ok = ok && join(pairs, npairs, up, partners);
    for (uint32_t r = 0; ok && r < nranks; r++) {
        roles[r] = length[tl_component_of(up, r)]++;
        pipelines = pipelines && partners[r] <= PARTNERS_MAX;
    }
    for (uint32_t r = 0; ok && r < nranks; r++)
        pipelines = pipelines && length[tl_component_of(up, r)] == length[tl_component_of(up, 0)];
    for (uint32_t r = 0; ok && !pipelines && r < nranks; r++)
        roles[r] = 0;
    free(up);
    free(partners);
    free(length);
    return ok;
}
