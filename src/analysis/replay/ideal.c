/* ideal.c - nobody slower than is usual: what each piece of work exceeds that by, step by step.
 *
 *     rank 0, one step     [ a: 10 ][ b: 6 ]      usual  a: 8   b: 7      a has 2 too many, b lacks 1: of a, 1 is to spare
 *
 * What is to spare of a rank's family in a step is never more than what it has too much of all classes together: who runs one
 * kernel where others run another is not faster without it.
 */
#include "parts.h"
#include "tlmpi/base/stats.h"
#include <math.h>
#include <stdlib.h>

typedef struct sparing {
    const tl_baseline *b;
    tl_ideal *out;
    double **spare_ns;    /* by class: [members * nsteps] */
    int64_t **surplus_ns; /* by class of hosts: by how much pieces are longer than at peers, together */
    int64_t *scratch;
} sparing;

static size_t cells_of(const tl_baseline *b, const tl_work_class *class)
{
    return b->roles[class->role].n * b->nsteps;
}

static bool is_compared(const tl_work_class *class)
{
    return class->family == TL_FAMILY_DEVICE || class->family == TL_FAMILY_HOST || class->family == TL_FAMILY_TRANSFER;
}

static bool find_excess(sparing *s)
{
    bool ok = true;
    for (size_t c = 0; ok && c < s->b->nclasses; c++) {
        const tl_work_class *class = &s->b->classes[c];
        if (!is_compared(class))
            continue;
        s->spare_ns[c] = tl_calloc(cells_of(s->b, class) + 1, sizeof **s->spare_ns);
        s->surplus_ns[c] = tl_calloc(class->family == TL_FAMILY_HOST ? cells_of(s->b, class) + 1 : 1, sizeof **s->surplus_ns);
        ok = s->spare_ns[c] != NULL && s->surplus_ns[c] != NULL && tl_excess(s->b, class, s->spare_ns[c], s->scratch);
    }
    return ok;
}

/* Of each member and step of a role: what its classes of a family have too much, and what is left of that less what they lack. */
static bool net(sparing *s, uint32_t role, tl_family family)
{
    const tl_baseline *b = s->b;
    size_t cells = b->roles[role].n * b->nsteps;
    double *above = tl_calloc(cells + 1, sizeof *above), *all = tl_calloc(cells + 1, sizeof *all);
    bool ok = above != NULL && all != NULL;

    for (int turn = 0; ok && turn < 2; turn++)
        for (size_t c = 0; c < b->nclasses; c++) {
            if (b->classes[c].role != role || b->classes[c].family != family)
                continue;
            for (size_t i = 0; i < cells; i++) {
                double *ns = &s->spare_ns[c][i];
                if (turn == 0) {
                    above[i] += fmax(*ns, 0);
                    all[i] += *ns;
                } else {
                    *ns = *ns > 0 && all[i] > 0 && !b->cut[i % b->nsteps] ? *ns * all[i] / above[i] : 0;
                }
            }
        }
    free(above);
    free(all);
    return ok;
}

static bool net_all(sparing *s)
{
    bool ok = true;
    for (uint32_t q = 0; ok && q < s->b->nroles; q++)
        ok = net(s, q, TL_FAMILY_DEVICE) && net(s, q, TL_FAMILY_HOST);
    for (size_t c = 0; c < s->b->nclasses; c++) /* links do not take each other's data */
        for (size_t i = 0; s->b->classes[c].family == TL_FAMILY_TRANSFER && i < cells_of(s->b, &s->b->classes[c]); i++)
            s->spare_ns[c][i] = s->b->cut[i % s->b->nsteps] ? 0 : fmax(s->spare_ns[c][i], 0);
    return ok;
}

/* The same share of all its pieces; of a host's, of those that are longer than at peers, where these suffice. */
static int64_t less_of(const sparing *s, uint32_t class, size_t cell, int64_t work_ns, int64_t longer_ns)
{
    int64_t own = s->b->classes[class].ns[cell], spare = llround(s->spare_ns[class][cell]);
    if (spare <= 0 || own <= 0)
        return 0;
    if (s->b->classes[class].family == TL_FAMILY_HOST && s->surplus_ns[class][cell] >= spare)
        return tl_portion(longer_ns, spare, s->surplus_ns[class][cell]);
    return tl_portion(work_ns, tl_ns_min(spare, own), own);
}

/* What the piece takes longer than at peers; only hosts have any. */
static int64_t longer(const sparing *s, uint32_t node, const int64_t *usual_ns)
{
    return tl_ns_max(0, s->b->graph->nodes[node].work_ns - usual_ns[node]);
}

static void spare_rank(sparing *s, size_t rank, const int64_t *usual_ns)
{
    const tl_baseline *b = s->b;
    const tl_graph *g = b->graph;
    for (int turn = 0; turn < 2; turn++)
        for (uint32_t v = g->first_node[rank]; v < g->first_node[rank + 1]; v++) {
            uint32_t class = b->class_of[v];
            if (class == TL_NONE)
                continue;
            size_t cell = b->place_of[rank] * b->nsteps + b->step_of[v];
            bool host = b->classes[class].family == TL_FAMILY_HOST;
            if (turn == 1)
                s->out->less_ns[v] = less_of(s, class, cell, g->nodes[v].work_ns, host ? longer(s, v, usual_ns) : 0);
            else if (host)
                s->surplus_ns[class][cell] += longer(s, v, usual_ns);
        }
}

/* The link of a meeting, or of one that an END waits for; TL_NONE: it is none, or no evidence. */
static uint32_t link_of(const tl_baseline *b, uint32_t node)
{
    uint32_t first = b->graph->first_node[b->graph->nranks], meeting = node < first ? tl_meeting_of(b->graph, node) : node;
    return meeting != TL_NONE && b->nlinks > 0 ? b->link_of[meeting - first] : TL_NONE;
}

/* A transfer, and how much later than the first its members are done. */
static void spare_links(sparing *s)
{
    const tl_baseline *b = s->b;
    const tl_graph *g = b->graph;
    uint32_t first = g->first_node[g->nranks];
    for (uint32_t v = 0; v < g->nnodes; v++) {
        uint32_t link = link_of(b, v), meeting = v < first ? tl_meeting_of(g, v) : v;
        if (link == TL_NONE || b->class_of[meeting] == TL_NONE)
            continue;
        size_t cell = b->links[link].place * b->nsteps + b->step_of[meeting];
        s->out->less_ns[v] = less_of(s, b->class_of[meeting], cell, v < first ? g->rest_ns[v] : g->nodes[v].work_ns, 0);
    }
}

static void list_parts(const tl_graph *g, tl_ideal *out)
{
    out->parts = 0;
    for (size_t v = 0; v < g->nnodes; v++)
        out->parts |= (out->less_ns[v] != 0 ? 1U << g->nodes[v].part : 0) | (out->gone[v] ? 1U << TL_PART_SYNC : 0);
}

void tl_ideal_add(const tl_graph *g, const tl_changes *scenario, tl_ideal *ideal)
{
    for (size_t v = 0; v < g->nnodes; v++) {
        ideal->less_ns[v] = tl_ns_max(ideal->less_ns[v], g->nodes[v].work_ns - scenario->work_ns[v]);
        ideal->gone[v] = ideal->gone[v] || scenario->gone[v];
    }
    list_parts(g, ideal);
}

bool tl_ideal_find(const tl_baseline *b, tl_ideal *out)
{
    const tl_graph *g = b->graph;
    sparing s = { .b = b,
                  .out = out,
                  .spare_ns = tl_calloc(b->nclasses + 1, sizeof *s.spare_ns),
                  .surplus_ns = tl_calloc(b->nclasses + 1, sizeof *s.surplus_ns),
                  .scratch = tl_malloc((g->nranks + b->nlinks + b->nsteps + 1) * sizeof *s.scratch) };
    int64_t *usual_ns = tl_calloc(g->nnodes + 1, sizeof *usual_ns);

    *out = (tl_ideal){ tl_calloc(g->nnodes + 1, sizeof *out->less_ns), tl_calloc(g->nnodes + 1, sizeof *out->gone), 0 };
    bool ok = s.spare_ns != NULL && s.surplus_ns != NULL && s.scratch != NULL && usual_ns != NULL && out->less_ns != NULL &&
              out->gone != NULL && find_excess(&s) && net_all(&s);
    for (uint32_t q = 0; ok && q < b->nroles; q++)
        ok = b->roles[q].n < 2 || (tl_usual_of_pieces(b, q, usual_ns) && tl_surplus_waits(b, q, out->gone));
    for (size_t r = 0; ok && r < g->nranks; r++)
        if (b->roles[b->role_of[r]].n > 1)
            spare_rank(&s, r, usual_ns);
    if (ok) {
        spare_links(&s);
        list_parts(g, out);
    }
    for (size_t c = 0; c < b->nclasses; c++) {
        free(s.spare_ns != NULL ? s.spare_ns[c] : NULL);
        free(s.surplus_ns != NULL ? s.surplus_ns[c] : NULL);
    }
    free(s.spare_ns);
    free(s.surplus_ns);
    free(s.scratch);
    free(usual_ns);
    return ok;
}

void tl_ideal_free(tl_ideal *ideal)
{
    free(ideal->less_ns);
    free(ideal->gone);
    *ideal = (tl_ideal){ 0 };
}

void tl_ideal_take(const tl_baseline *b, const tl_ideal *ideal, unsigned parts, const bool *sorts, tl_changes *scenario)
{
    const tl_graph *g = b->graph;
    for (uint32_t v = 0; v < g->nnodes; v++) {
        uint32_t link = link_of(b, v);
        bool some = link != TL_NONE ? sorts != NULL && sorts[b->links[link].role - b->nroles] : (parts >> g->nodes[v].part & 1U) != 0;
        scenario->work_ns[v] = g->nodes[v].work_ns - (some ? ideal->less_ns[v] : 0);
        scenario->gone[v] = ideal->gone[v] && (parts >> TL_PART_SYNC & 1U) != 0;
    }
}
