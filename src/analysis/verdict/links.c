/* links.c - rows of slow links.  Both ranks of a link of two are named; of a larger group no trace shows which ranks
 * are at the ends of the slow part. */
#include "internal.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/participant.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct writing {
    const tl_findings *j;
    const tl_baseline *b;
    const tl_verdict_ranks *in;
    int64_t *scratch;
} writing;

/* ------------------------------------------------------------------------------------------------------------- link */

/* Fills the transfer columns for the kind and size with the largest excess: mean time of one transfer, and its
 * baseline. */
static void fill_transfer(const writing *w, const tl_candidate *candidate, tl_slow_link_row *row)
{
    const tl_baseline *b = w->b;
    const tl_link_ranks *link = &b->links[candidate->link];
    int64_t most = INT64_MIN;

    for (size_t c = 0; c < b->nclasses; c++) {
        const tl_work_class *class = &b->classes[c];
        if (class->family != TL_FAMILY_TRANSFER || class->role != candidate->role)
            continue;
        int64_t own_ns, baseline_ns = tl_baseline_of(b, class, link->member, candidate->on, &own_ns, w->scratch),
                        pieces = 0;
        bool like = false;
        for (size_t i = 0; i < b->roles[class->role].n * class->steps.n; i++) {
            bool own = i / class->steps.n == link->member, on = candidate->on[class->steps.v[i % class->steps.n]];
            pieces += own && on ? class->pieces[i] : 0;
            like = like || (!own && on && class->pieces[i] > 0);
        }
        if (pieces == 0 || own_ns - baseline_ns <= most)
            continue;
        most = own_ns - baseline_ns;
        row->kind = tl_transfer_kind(class->key);
        row->bytes = tl_transfer_bytes(class->key);
        row->transfer_ns = own_ns / pieces;
        row->elsewhere_ns = baseline_ns / pieces;
        row->ratio = baseline_ns > 0 ? (double)own_ns / (double)baseline_ns : NAN;
        row->evidence = like ? TL_LINK_BY_GROUPS : TL_LINK_BY_STEPS;
    }
}

static void add_link(const writing *w, const tl_candidate *u, int32_t number, tl_slow_link_row *row, int32_t *ranks)
{
    const tl_link_ranks *link = &w->b->links[u->link];
    *row = (tl_slow_link_row){ .link = number,
                               .group = link->group,
                               .excess_ns = u->late_ns,
                               .z = u->z,
                               .pattern = (uint8_t)u->shape.pattern,
                               .first_step = tl_step_number(w->b, u->shape.first),
                               .last_step = tl_step_number(w->b, u->shape.last),
                               .p_value = u->p,
                               .gain_ns = u->solo_gain_ns };
    for (uint32_t i = 0; i < link->n; i++)
        ranks[i] = w->in->ranks[w->b->link_members[link->first + i]];
    tl_ranks_text(ranks, link->n, row->ranks, sizeof row->ranks);
    fill_transfer(w, u, row);
    row->rank = link->n == 2 ? ranks[0] : -1;
    row->peer = link->n == 2 ? ranks[1] : -1;
}

/* ------------------------------------------------------------------------------------------------------------ ranks */

static tl_straggler *row_of(const writing *w, tl_table *stragglers, size_t rank)
{
    return tl_table_row(stragglers, stragglers->n - w->in->nranks + rank);
}

/* Names a rank for its slow link, unless it is named already for another cause with at least half of the link's gain,
 * or for a link with at least the same gain. */
static void name_rank(const writing *w, const tl_slow_link_row *link, const tl_candidate *candidate, tl_straggler *row)
{
    size_t nup = 0, nfull = 0;
    const int64_t gain_ns = candidate->solo_gain_ns;
    if (row->verdict == TL_VERDICT_STRAGGLER &&
        row->gain_ns >= (row->cause == TL_CAUSE_SLOW_LINK ? gain_ns : gain_ns / 2))
        return;
    for (size_t s = 0; s < w->b->nsteps; s++) {
        nup += candidate->on[s];
        nfull += !w->b->cut[s];
    }
    row->verdict = TL_VERDICT_STRAGGLER;
    row->cause = row->largest_cause = TL_CAUSE_SLOW_LINK;
    row->cause_share = 1;
    row->pattern = link->pattern;
    row->first_step = link->first_step;
    row->last_step = link->last_step;
    row->share_steps = nfull > 0 ? (double)nup / (double)nfull : NAN;
    row->z = candidate->z;
    row->p_value = candidate->p;
    row->gain_ns = gain_ns;
    row->slowdown = tl_slowdown_of(w->j, gain_ns);
    snprintf(row->reason, sizeof row->reason, "%s of %.30s takes %.1f times as long as %s (p %.1e)",
             tl_collective_labels[link->kind], link->ranks, link->ratio,
             link->evidence == TL_LINK_BY_GROUPS ? "on links like it" : "in other steps", candidate->p);
}

static void write(const writing *w, tl_tables *tables)
{
    tl_table *links = tl_tables_get(tables, &tl_slow_link_row_schema);
    tl_table *stragglers = tl_tables_get(tables, &tl_straggler_schema);
    tl_table *whatif = tl_tables_get(tables, &tl_whatif_row_schema);
    int32_t *ranks = tl_malloc((w->b->graph->nranks + 1) * sizeof *ranks), number = 0;

    for (uint32_t u = 0; u < w->j->candidates.n; u++) {
        const tl_candidate *candidate = &w->j->candidates.v[u];
        tl_slow_link_row row;
        if (!candidate->needed || candidate->link == TL_NONE)
            continue;
        const tl_link_ranks *link = &w->b->links[candidate->link];
        add_link(w, candidate, number++, &row, ranks);
        tl_table_append(links, &row, 1);
        for (uint32_t i = 0; link->n == 2 && i < link->n; i++)
            name_rank(w, &row, candidate, row_of(w, stragglers, w->b->link_members[link->first + i]));
    }
    free(ranks);
    if (number > 0)
        tl_whatif_add(w->j, TL_SCENARIO_LINKS, -1, w->j->links_ns, whatif);
}

void tl_link_rows(const tl_findings *j, const tl_baseline *b, const tl_verdict_ranks *in, tl_tables *tables)
{
    tl_arena arena = { 0 };
    writing w = { .j = j,
                  .b = b,
                  .in = in,
                  .scratch = tl_arena_take(&arena, b->nlinks + b->graph->nranks + b->nsteps, sizeof *w.scratch) };
    write(&w, tables);
    tl_arena_free(&arena);
}
