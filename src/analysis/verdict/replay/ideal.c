/* ideal.c - the ideal, with no rank slower than its baseline: by how much each piece of work exceeds it, step by step.
 *
 *     rank 0, one step     [ a: 10 ][ b: 6 ]      baseline  a: 8   b: 7      excess 2 and -1, net 1: 1 comes off a
 *
 * The time taken off a family of work of a rank and step is at most the net excess over all classes of the family: a
 * rank that runs one kernel where its peers run another would not be faster without it.
 */
#include "internal.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/stats.h"
#include <math.h>
#include <stdlib.h>

struct tl_ideal {
    const tl_baseline *b;
    tl_arena arena;
    double **spare; /* by class and cell: excess, ns; WAIT: number of waits beyond those of peers */
    int64_t *scratch;
};

static size_t cells_of(const tl_baseline *b, const tl_work_class *class)
{
    return b->roles[class->role].n * class->steps.n;
}

static void count_waits(const tl_ideal *s, const tl_work_class *class, double *spare)
{
    const size_t n = class->steps.n;
    for (size_t k = 0; k < n; k++) {
        int64_t usual = tl_pieces_usual(s->b, class, class->steps.v[k], s->scratch);
        for (size_t i = 0; i < s->b->roles[class->role].n; i++)
            spare[i * n + k] = s->b->cut[class->steps.v[k]] ? 0 : fmax(0, (double)(class->pieces[i * n + k] - usual));
    }
}

/* Scales the positive excesses of the classes of a family so that their sum, by member and step, is the net excess of
 * all these classes: excess minus shortfall. */
static void scale_to_net_excess(tl_ideal *s, uint32_t role, tl_family family)
{
    const tl_baseline *b = s->b;
    size_t cells = b->roles[role].n * b->nsteps;
    double *above = tl_calloc(cells + 1, sizeof *above), *all = tl_calloc(cells + 1, sizeof *all);

    for (int turn = 0; turn < 2; turn++)
        for (uint32_t c = tl_class_first(b, role); c != TL_NONE; c = b->classes[c].next) {
            const tl_work_class *class = &b->classes[c];
            if (class->family != family)
                continue;
            for (size_t i = 0; i < cells_of(b, class); i++) {
                double *ns = &s->spare[c][i];
                size_t step = class->steps.v[i % class->steps.n], at = i / class->steps.n * b->nsteps + step;
                if (turn == 0) {
                    above[at] += fmax(*ns, 0);
                    all[at] += *ns;
                } else {
                    *ns = *ns > 0 && all[at] > 0 && !b->cut[step] ? *ns * all[at] / above[at] : 0;
                }
            }
        }
    free(above);
    free(all);
}

tl_ideal *tl_ideal_new(const tl_baseline *b)
{
    tl_ideal *s = tl_calloc(1, sizeof *s);
    s->b = b;
    s->spare = tl_arena_zeroed(&s->arena, b->nclasses, sizeof *s->spare);
    s->scratch = tl_arena_take(&s->arena, b->graph->nranks + b->nlinks + b->nsteps, sizeof *s->scratch);
    for (size_t c = 0; c < s->b->nclasses; c++) {
        const tl_work_class *class = &s->b->classes[c];
        s->spare[c] = tl_arena_take(&s->arena, cells_of(s->b, class), sizeof **s->spare);
        if (class->family == TL_FAMILY_WAIT)
            count_waits(s, class, s->spare[c]);
        else
            tl_excess(s->b, class, s->spare[c], s->scratch);
    }
    for (uint32_t q = 0; q < s->b->nroles; q++) {
        for (int family = TL_FAMILY_DEVICE; family <= TL_FAMILY_HOST; family++)
            scale_to_net_excess(s, q, (tl_family)family);
    }
    for (size_t c = 0; c < s->b->nclasses; c++) { /* transfers are not netted: links do not share data */
        const tl_work_class *class = &s->b->classes[c];
        for (size_t i = 0; class->family == TL_FAMILY_TRANSFER && i < cells_of(s->b, class); i++)
            s->spare[c][i] = s->b->cut[class->steps.v[i % class->steps.n]] ? 0 : fmax(s->spare[c][i], 0);
    }
    return s;
}

void tl_ideal_free(tl_ideal *s)
{
    if (s == NULL)
        return;
    tl_arena_free(&s->arena);
    free(s);
}

/* ------------------------------------------------------------------------------------------------------------ ranks */

void tl_ideal_put(const tl_ideal *s, size_t rank, tl_bytes *out)
{
    const tl_job_rank *r = &s->b->graph->ranks[rank];
    tl_rank_ideal of = { .on_link = tl_calloc(r->nports + 1, sizeof *of.on_link), .nports = r->nports };
    for (size_t p = 0; p < r->nports; p++)
        of.on_link[p] = tl_link_of(s->b, r->ports[p].meeting) != TL_NONE;
    const tl_baseline *b = s->b;
    bool alone = b->roles[b->role_of[rank]].n <= 1;
    of.ncells = alone ? 0 : b->nkinds[rank] * b->nsteps;
    of.spare = tl_calloc(of.ncells + 1, sizeof *of.spare);
    for (size_t kind = 0; !alone && kind < b->nkinds[rank]; kind++) {
        uint32_t c = b->class_of_kind[rank][kind];
        const double *spare = s->spare[c] + b->index_in_role[rank] * b->classes[c].steps.n;
        for (size_t k = 0; k < b->classes[c].steps.n; k++)
            of.spare[kind * b->nsteps + b->classes[c].steps.v[k]] = llround(spare[k]);
    }
    tl_bytes_put_list(out, of.spare, of.ncells, sizeof *of.spare);
    tl_bytes_put_list(out, of.on_link, of.nports, sizeof *of.on_link);
    tl_rank_ideal_free(&of);
}

void tl_rank_ideal_get(tl_rank_ideal *of, tl_bytes *in)
{
    tl_rank_ideal_free(of);
    tl_bytes_get_list(in, (void **)&of->spare, &of->ncells, sizeof *of->spare);
    tl_bytes_get_list(in, (void **)&of->on_link, &of->nports, sizeof *of->on_link);
}

void tl_rank_ideal_free(tl_rank_ideal *of)
{
    free(of->spare);
    free(of->on_link);
    *of = (tl_rank_ideal){ 0 };
}

/* Returns the part of a piece of ns that is taken off, if spare_ns of own_ns goes in proportion. */
static int64_t part_of_piece(int64_t spare_ns, int64_t own_ns, int64_t ns)
{
    return spare_ns <= 0 || own_ns <= 0 ? 0 : tl_portion(ns, tl_ns_min(spare_ns, own_ns), own_ns);
}

static bool is_host(const tl_changes *c, uint32_t v)
{
    return c->kind_of[v] != TL_NONE && c->class_map->kinds[c->kind_of[v]].family == TL_FAMILY_HOST;
}

/* Sums over the pieces in a cell: time, and excess of host pieces over peers. */
typedef struct in_cell {
    int64_t own_ns, longer_ns;
} in_cell;

static int64_t less_of(const tl_changes *c, uint32_t v, int64_t spare_ns, const in_cell *has)
{
    if (is_host(c, v) && spare_ns > 0 && has->own_ns > 0 && has->longer_ns >= spare_ns)
        return tl_portion(tl_excess_of_piece(c, v), spare_ns, has->longer_ns);
    return part_of_piece(spare_ns, has->own_ns, c->open.nodes[v].work_ns);
}

void tl_rank_ideal_apply(const tl_rank_ideal *of, tl_changes *c)
{
    if (of->ncells == 0)
        return;
    in_cell *cells = tl_calloc(of->ncells + 1, sizeof *cells);
    tl_drop_waits(c, of->spare);
    tl_changes_compare(c);
    for (uint32_t v = 0; v < c->open.n; v++) {
        if (c->kind_of[v] == TL_NONE)
            continue;
        in_cell *has = &cells[c->kind_of[v] * c->class_map->nsteps + c->step_of[v]];
        has->own_ns += c->open.nodes[v].work_ns;
        has->longer_ns += is_host(c, v) ? tl_excess_of_piece(c, v) : 0;
    }
    for (uint32_t v = 0; v < c->open.n; v++) {
        uint32_t kind = c->kind_of[v], port = kind != TL_NONE ? tl_rank_port_of(&c->open, v) : TL_NONE;
        if (kind == TL_NONE || (port != TL_NONE && of->on_link[port]))
            continue;
        size_t at = kind * c->class_map->nsteps + c->step_of[v];
        c->less_ns[v] = tl_ns_max(c->less_ns[v], less_of(c, v, of->spare[at], &cells[at]));
    }
    free(cells);
}

int64_t tl_ideal_of_transfer(const tl_ideal *s, uint32_t meeting, int64_t ns)
{
    const tl_baseline *b = s->b;
    uint32_t link = tl_link_of(b, meeting), class = link != TL_NONE ? b->meeting_class[meeting] : TL_NONE;
    if (class == TL_NONE)
        return 0;
    size_t cell = tl_class_cell(&b->classes[class], b->links[link].member, tl_meeting_step(b, meeting));
    return part_of_piece(llround(s->spare[class][cell]), b->classes[class].ns[cell], ns);
}

/* ------------------------------------------------------ losses that no single rank causes: unlike roles, slow hosts */

void tl_balance_find(const tl_baseline *b, tl_balance *out)
{
    const size_t nranks = b->graph->nranks;
    int64_t *scratch = tl_malloc((nranks + 1) * sizeof *scratch), most_ns = 0;
    double sum = 0, like_most = 0, n = 0;
    *out = (tl_balance){ .most = TL_NONE, .times = NAN, .to = tl_calloc(nranks + 1, sizeof *out->to) };

    for (uint32_t q = 0; q < b->nroles; q++) {
        const uint32_t *members = &b->members[b->roles[q].first];
        const bool apart = b->by_sides && tl_is_inner_stage(b, q);
        for (uint32_t i = 0; i < b->roles[q].n; i++)
            scratch[i] = b->compute_ns[members[i]];
        const int64_t median_ns = tl_baseline_median(scratch, b->roles[q].n);
        for (uint32_t i = 0; i < b->roles[q].n; i++) {
            const int64_t ns = apart ? b->compute_ns[members[i]] : median_ns;
            out->to[members[i]] = (double)ns;
            sum += (double)ns;
            n += ns > 0;
            if (ns > most_ns) {
                most_ns = ns;
                out->most = members[i];
                like_most = apart ? 1 : b->roles[q].n;
            }
        }
    }
    if (n <= like_most)
        out->most = TL_NONE;
    for (size_t r = 0; r < nranks; r++)
        out->to[r] = out->to[r] > 0 ? sum / n / out->to[r] : 1;
    if (out->most != TL_NONE) {
        out->times = (double)most_ns / ((sum - (double)most_ns * like_most) / (n - like_most));
        out->most_gain_ns = most_ns - (int64_t)(sum / n);
    }
    free(scratch);
}

void tl_balance_rank(double to, tl_changes *c)
{
    for (uint32_t v = 0; v < c->open.n; v++) {
        const tl_node *node = &c->open.nodes[v];
        if (tl_computes(c->class_map, node))
            c->less_ns[v] = node->work_ns - (int64_t)((double)node->work_ns * to);
    }
}

void tl_free_host(tl_changes *c)
{
    for (uint32_t v = 0; v < c->open.n; v++)
        if ((1U << c->open.nodes[v].activity & TL_HOST_ACTIVITIES) != 0)
            c->less_ns[v] = c->open.nodes[v].work_ns;
}
