/* links.c - repairs a link to its baseline: all time after the last arrival is shortened in proportion. */
#include "tlmpi/analysis/verdict/replay.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/stats.h"

typedef struct longer {
    int64_t own_ns, baseline_ns;
} longer;

typedef struct repairing {
    const tl_baseline *b;
    const tl_repair *repair;
    const bool *on;  /* [nsteps] */
    longer *classes; /* [nclasses] */
    int64_t *scratch;
    tl_transfer_list *out;
} repairing;

/* Appends the part of a transfer of ns that exceeds the link's baseline, if the transfer's step is repaired. */
static void add_transfer(repairing *r, uint32_t meeting, int64_t ns, uint32_t rank, uint32_t of)
{
    size_t step = tl_meeting_step(r->b, meeting);
    const longer *l = &r->classes[r->b->meeting_class[meeting]];
    if (!r->on[step] || l->own_ns <= 0)
        return;
    tl_vec_push(r->out, (tl_transfer_less){ ns - tl_portion(ns, l->baseline_ns, l->own_ns), rank, of });
}

static void repair_steps(repairing *r)
{
    const tl_baseline *b = r->b;
    const tl_job_graph *g = b->graph;
    const tl_link_ranks *link = &b->links[r->repair->rank];
    for (size_t c = 0; c < b->nclasses; c++)
        if (b->classes[c].role == link->role && b->classes[c].family == TL_FAMILY_TRANSFER)
            r->classes[c].baseline_ns =
                tl_baseline_of(b, &b->classes[c], link->member, r->on, &r->classes[c].own_ns, r->scratch);
    for (uint32_t m = 0; m < g->nmeetings; m++)
        if (b->link_of[m] == r->repair->rank)
            add_transfer(r, m, g->meetings[m].work_ns, TL_NONE, m);
    for (uint32_t i = 0; i < link->n; i++) {
        uint32_t rank = b->link_members[link->first + i];
        for (uint32_t p = 0; p < g->ranks[rank].nports; p++) {
            const tl_rank_port *port = &g->ranks[rank].ports[p];
            if (tl_link_of(b, port->meeting) == r->repair->rank)
                add_transfer(r, port->meeting, port->after_meeting_ns, rank, p);
        }
    }
}

void tl_repair_link(const tl_baseline *b, const tl_repair *repair, tl_transfer_list *out)
{
    tl_arena arena = { 0 };
    bool *one = tl_arena_zeroed(&arena, b->nsteps, sizeof *one);
    repairing r = { .b = b,
                    .repair = repair,
                    .on = repair->drifts ? one : repair->on,
                    .classes = tl_arena_zeroed(&arena, b->nclasses, sizeof *r.classes),
                    .scratch = tl_arena_take(&arena, b->nlinks + b->nsteps, sizeof *r.scratch),
                    .out = out };
    if (!repair->drifts)
        repair_steps(&r);
    for (size_t s = 0; repair->drifts && s < b->nsteps; s++) {
        one[s] = repair->on[s];
        if (one[s])
            repair_steps(&r);
        one[s] = false;
    }
    tl_arena_free(&arena);
}
