/* links.c - a link that takes as long as others like it: all from the last arrival on becomes shorter in proportion. */
#include "parts.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

typedef struct longer {
    int64_t own_ns, usual_ns;
} longer;

static int64_t spared(const longer *l, int64_t ns)
{
    return l->own_ns > 0 ? ns - tl_portion(ns, l->usual_ns, l->own_ns) : 0;
}

bool tl_repair_link(const tl_baseline *b, uint32_t link, const bool *on, const bool *also, tl_changes *scenario)
{
    const tl_graph *g = b->graph;
    const tl_link_ranks *of = &b->links[link];
    uint32_t first = g->first_node[g->nranks];
    longer *classes = tl_calloc(b->nclasses + 1, sizeof *classes);
    int64_t *scratch = tl_malloc((b->nlinks + b->nsteps + 1) * sizeof *scratch);
    bool ok = classes != NULL && scratch != NULL;

    for (size_t c = 0; ok && c < b->nclasses; c++)
        if (b->classes[c].role == of->role && b->classes[c].family == TL_FAMILY_TRANSFER)
            classes[c].usual_ns = tl_baseline_of(b, &b->classes[c], of->place, on, &classes[c].own_ns, scratch);
    for (uint32_t v = 0; ok && v < g->nnodes; v++) {
        uint32_t meeting = v < first ? tl_meeting_of(g, v) : v;
        if (meeting == TL_NONE || b->link_of[meeting - first] != link)
            continue;
        if (!on[b->step_of[meeting]] && !also[b->step_of[meeting]])
            continue;
        scenario->work_ns[v] -= spared(&classes[b->class_of[meeting]], v < first ? g->rest_ns[v] : g->nodes[v].work_ns);
    }
    free(classes);
    free(scratch);
    return ok;
}
