/* link_ends.c - at which ranks slow links end.
 *
 *     2 --- 3              of two ranks: both
 *     0 - 1 - 2 - 3        of more: the two that are done last by far (link_last_two.c), or none
 *
 * Of several links that are slow at the same time: the one rank that is in all of them and in no other link of their
 * role; else the ranks of the one host that is.
 */
#include "internal.h"
#include "tlmpi/base/mem.h"
#include <stdlib.h>
#include <string.h>

typedef struct finding {
    const tl_findings *j;
    const tl_baseline *b;
    uint32_t *named; /* [nlinks] candidate of the link, if it is chosen; else TL_NONE */
    size_t nnamed;
} finding;

static bool has_rank(const tl_baseline *b, const tl_link_ranks *link, uint32_t rank, uint64_t host)
{
    for (uint32_t i = 0; i < link->n; i++) {
        uint32_t member = b->link_members[link->first + i];
        if (host != 0 ? b->host_of[member] == host : member == rank)
            return true;
    }
    return false;
}

/* Whether all named links have the rank (host not 0: a rank of the host), and no other link of their roles has. */
static bool is_common(const finding *f, uint32_t rank, uint64_t host)
{
    const tl_baseline *b = f->b;
    for (uint32_t l = 0; l < b->nlinks; l++) {
        bool has = has_rank(b, &b->links[l], rank, host), like = false;
        for (uint32_t k = 0; !like && has && f->named[l] == TL_NONE && k < b->nlinks; k++)
            like = f->named[k] != TL_NONE && b->links[k].role == b->links[l].role;
        if (f->named[l] != TL_NONE ? !has : like)
            return false;
    }
    return true;
}

static bool overlap(const finding *f)
{
    for (size_t s = 0; s < f->j->nsteps; s++) {
        bool all = true;
        for (uint32_t l = 0; l < f->b->nlinks; l++)
            all = all && (f->named[l] == TL_NONE || f->j->candidates.v[f->named[l]].on[s]);
        if (all)
            return true;
    }
    return false;
}

static void put(const finding *f, uint32_t rank, uint32_t candidate, tl_link_ends *out)
{
    const tl_candidate *candidates = f->j->candidates.v;
    uint32_t *of = &out->candidate_of[rank];
    if (*of == TL_NONE || candidates[candidate].solo_gain_ns > candidates[*of].solo_gain_ns)
        *of = candidate;
}

/* Finds the one member of the first named link that is common to all, else the one common host; false: neither. */
static bool find_common(const finding *f, tl_link_ends *out)
{
    const tl_baseline *b = f->b;
    uint32_t first = 0, common = TL_NONE, n = 0;
    while (f->named[first] == TL_NONE)
        first++;
    const tl_link_ranks *link = &b->links[first];
    for (uint32_t i = 0; i < link->n; i++)
        if (is_common(f, b->link_members[link->first + i], 0)) {
            common = b->link_members[link->first + i];
            n++;
        }
    if (n == 1) {
        for (uint32_t l = 0; l < b->nlinks; l++)
            if (f->named[l] != TL_NONE)
                put(f, common, f->named[l], out);
        return true;
    }
    uint64_t host = 0;
    n = 0;
    for (uint32_t i = 0; i < link->n; i++) {
        uint64_t of = b->host_of[b->link_members[link->first + i]];
        if (of == 0 || of == host || !is_common(f, 0, of))
            continue;
        host = of;
        n++;
    }
    for (uint32_t l = 0; n == 1 && l < b->nlinks; l++)
        for (uint32_t i = 0; f->named[l] != TL_NONE && i < b->links[l].n; i++) {
            uint32_t member = b->link_members[b->links[l].first + i];
            if (b->host_of[member] == host)
                put(f, member, f->named[l], out);
        }
    return n == 1;
}

void tl_link_ends_find(const tl_findings *j, const tl_baseline *b, tl_link_ends *out)
{
    finding f = { .j = j, .b = b, .named = tl_malloc((b->nlinks + 1) * sizeof *f.named) };
    *out = (tl_link_ends){ .candidate_of = tl_malloc((b->graph->nranks + 1) * sizeof *out->candidate_of) };

    for (size_t l = 0; l < b->nlinks; l++)
        f.named[l] = TL_NONE;
    for (size_t r = 0; r < b->graph->nranks; r++)
        out->candidate_of[r] = TL_NONE;
    for (uint32_t u = 0; u < j->candidates.n; u++)
        if (j->candidates.v[u].needed && j->candidates.v[u].link != TL_NONE) {
            f.named[j->candidates.v[u].link] = u;
            f.nnamed++;
        }
    out->common = f.nnamed > 1 && overlap(&f) && find_common(&f, out);
    for (uint32_t l = 0; !out->common && l < b->nlinks; l++) {
        uint32_t two[2] = { 0, 0 };
        bool told = b->links[l].n == 2;
        if (f.named[l] == TL_NONE)
            continue;
        if (told)
            memcpy(two, b->link_members + b->links[l].first, sizeof two);
        else
            tl_link_last_two(j, b, &j->candidates.v[f.named[l]], two, &told);
        for (int i = 0; told && i < 2; i++)
            put(&f, two[i], f.named[l], out);
    }
    free(f.named);
}
