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

struct tl_ideal {
    const tl_baseline *b;
    double **spare_ns; /* by class: [members * nsteps] */
    int64_t *scratch;
};

static size_t cells_of(const tl_baseline *b, const tl_work_class *class)
{
    return b->roles[class->role].n * b->nsteps;
}

static bool is_compared(const tl_work_class *class)
{
    return class->family == TL_FAMILY_DEVICE || class->family == TL_FAMILY_HOST || class->family == TL_FAMILY_TRANSFER;
}

static bool find_excess(tl_ideal *s)
{
    bool ok = true;
    for (size_t c = 0; ok && c < s->b->nclasses; c++) {
        const tl_work_class *class = &s->b->classes[c];
        if (!is_compared(class))
            continue;
        s->spare_ns[c] = tl_calloc(cells_of(s->b, class) + 1, sizeof **s->spare_ns);
        ok = s->spare_ns[c] != NULL && tl_excess(s->b, class, s->spare_ns[c], s->scratch);
    }
    return ok;
}

/* Of each member and step of a role: what its classes of a family have too much, and what is left of that less what they lack. */
static bool net(tl_ideal *s, uint32_t role, tl_family family)
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

static bool net_all(tl_ideal *s)
{
    bool ok = true;
    for (uint32_t q = 0; ok && q < s->b->nroles; q++)
        ok = net(s, q, TL_FAMILY_DEVICE) && net(s, q, TL_FAMILY_HOST);
    for (size_t c = 0; c < s->b->nclasses; c++) /* links do not take each other's data */
        for (size_t i = 0; s->b->classes[c].family == TL_FAMILY_TRANSFER && i < cells_of(s->b, &s->b->classes[c]); i++)
            s->spare_ns[c][i] = s->b->cut[i % s->b->nsteps] ? 0 : fmax(s->spare_ns[c][i], 0);
    return ok;
}

/* -------------------------------------------------------------------------------------------------------------- make */

tl_ideal *tl_ideal_new(const tl_baseline *b)
{
    tl_ideal *s = tl_calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    s->b = b;
    s->spare_ns = tl_calloc(b->nclasses + 1, sizeof *s->spare_ns);
    s->scratch = tl_malloc((b->graph->nranks + b->nlinks + b->nsteps + 1) * sizeof *s->scratch);
    if (s->spare_ns != NULL && s->scratch != NULL && find_excess(s) && net_all(s))
        return s;
    tl_ideal_free(s);
    return NULL;
}

void tl_ideal_free(tl_ideal *s)
{
    if (s == NULL)
        return;
    for (size_t c = 0; s->spare_ns != NULL && c < s->b->nclasses; c++)
        free(s->spare_ns[c]);
    free(s->spare_ns);
    free(s->scratch);
    free(s);
}

/* The same share of all its pieces; of a host's, of those that are longer than at peers, where these suffice: surplus_ns of all
 * together. */
static int64_t less_of(const tl_ideal *s, uint32_t class, size_t cell, int64_t work_ns, int64_t longer_ns, int64_t surplus_ns)
{
    int64_t own = s->b->classes[class].ns[cell], spare = llround(s->spare_ns[class][cell]);
    if (spare <= 0 || own <= 0)
        return 0;
    if (s->b->classes[class].family == TL_FAMILY_HOST && surplus_ns >= spare)
        return tl_portion(longer_ns, spare, surplus_ns);
    return tl_portion(work_ns, tl_ns_min(spare, own), own);
}

/* ------------------------------------------------------------------------------------------------------------- ranks */

static bool is_host(const tl_changes *c, uint32_t v)
{
    return c->class_of[v] != TL_NONE && c->b->classes[c->class_of[v]].family == TL_FAMILY_HOST;
}

/* What the piece takes longer than at peers. */
static int64_t longer(const tl_changes *c, uint32_t v)
{
    return tl_ns_max(0, c->open.nodes[v].work_ns - c->usual_ns[v]);
}

bool tl_ideal_of_rank(const tl_ideal *s, tl_changes *c)
{
    const tl_baseline *b = s->b;
    if (b->roles[b->role_of[c->rank]].n < 2)
        return true;
    int64_t *surplus_ns = tl_calloc(b->nclasses * b->nsteps + 1, sizeof *surplus_ns); /* by class and step */
    bool ok = surplus_ns != NULL && tl_surplus_waits(c);
    tl_changes_compare(c);
    for (uint32_t v = 0; ok && v < c->open.n; v++)
        if (is_host(c, v))
            surplus_ns[c->class_of[v] * b->nsteps + c->step_of[v]] += longer(c, v);
    for (uint32_t v = 0; ok && v < c->open.n; v++) {
        uint32_t class = c->class_of[v], port = class != TL_NONE ? tl_port_of(&c->open, v) : TL_NONE;
        if (class == TL_NONE || (port != TL_NONE && tl_link_of(b, c->open.of->ports[port].meeting) != TL_NONE))
            continue;
        size_t cell = b->place_of[c->rank] * b->nsteps + c->step_of[v];
        c->less_ns[v] = tl_ns_max(c->less_ns[v], less_of(s, class, cell, c->open.nodes[v].work_ns, is_host(c, v) ? longer(c, v) : 0,
                                                         surplus_ns[class * b->nsteps + c->step_of[v]]));
    }
    free(surplus_ns);
    return ok;
}

/* --------------------------------------------------------------------------------------------------------- transfers */

int64_t tl_ideal_of_transfer(const tl_ideal *s, uint32_t meeting, int64_t ns)
{
    const tl_baseline *b = s->b;
    uint32_t link = tl_link_of(b, meeting);
    if (link == TL_NONE || b->meeting_class[meeting] == TL_NONE)
        return 0;
    size_t cell = b->links[link].place * b->nsteps + tl_step_index(b, b->graph->meetings[meeting].step);
    return less_of(s, b->meeting_class[meeting], cell, ns, 0, 0);
}
