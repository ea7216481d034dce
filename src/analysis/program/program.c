/* program.c - work and host strung into two chains, and the chains woven into one list: what each comm depends on. */
#include "tlmpi/analysis/program/program.h"
#include "compose.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>
#include <string.h>

static bool fill_comm(tl_composing *c, size_t i)
{
    const tl_building *b = c->b;
    const tl_kernel *k = &b->view->kernels[b->comm[i]];
    const tl_comm_place *place = &b->place[i];
    tl_comm *comm = &c->out->comms[i];
    int64_t base = b->start_ns;

    *comm = (tl_comm){ .start_ns = k->start_ns,
                       .end_ns = k->end_ns,
                       .work = TL_NONE,
                       .host = c->entry_of_comm[i],
                       .previous = place->previous,
                       .after = TL_NONE,
                       .kernel = b->comm[i],
                       .segment = comm->segment,
                       .kind = k->collective };
    if (place->behind > 0) {
        int64_t done = b->busy_until[place->behind - 1];
        comm->work = c->entry_of_work[tl_stretch_until(c, place->behind)];
        comm->work_ns = tl_ns_min(0, k->start_ns - done);
        base = tl_ns_max(base, done + comm->work_ns);
    }
    if (comm->host != TL_NONE) {
        comm->host_ns = tl_arrival_of(b, k) - tl_launch_of(b, k);
        if (comm->work != TL_NONE && !tl_shares_late(&c->shares, base, tl_arrival_of(b, k)))
            return false;
        base = tl_ns_max(base, tl_arrival_of(b, k));
    }
    if (comm->previous != TL_NONE)
        base = tl_ns_max(base, b->view->kernels[b->comm[comm->previous]].end_ns);
    comm->after = tl_comm_waited_for(b, k, tl_comms_ended_at(b, k->start_ns + TL_ROUNDING_NS), base);
    if (comm->after != TL_NONE)
        base = b->view->kernels[b->comm[comm->after]].end_ns;
    comm->lag_ns = k->start_ns - base;
    return true;
}

static bool reserve(tl_composing *c)
{
    const tl_building *b = c->b;
    tl_program *out = c->out;

    out->start_ns = b->start_ns;
    out->end_ns = b->end_ns;
    out->nsegments = b->nboundaries + 1;
    out->segments = tl_calloc(out->nsegments + 1, sizeof *out->segments);
    out->comms = tl_calloc(b->ncomm + 1, sizeof *out->comms);
    c->entry_of_comm = tl_malloc((b->ncomm + 1) * sizeof *c->entry_of_comm);
    if (out->segments == NULL || out->comms == NULL || c->entry_of_comm == NULL)
        return false;
    memset(c->entry_of_comm, 0xff, (b->ncomm + 1) * sizeof *c->entry_of_comm); /* TL_NONE */
    out->ncomms = b->ncomm;
    out->segments[0].step = -1;
    for (size_t i = 0; i < b->nboundaries; i++) {
        out->segments[i + 1].step = b->boundaries[i].step;
        if (b->boundaries[i].comm != TL_NONE)
            out->comms[b->boundaries[i].comm].segment = (uint32_t)i;
    }
    return true;
}

static bool compose(tl_composing *c)
{
    if (!reserve(c))
        return false;
    if (tl_is_stage(c->b->view)) {
        c->step_of = tl_malloc((c->b->nlocal + 1) * sizeof *c->step_of);
        if (c->step_of == NULL)
            return false;
    }
    if (!tl_compose_work(c) || !tl_compose_kinds(c) || !tl_compose_points(c))
        return false;
    size_t n = c->works.n;
    c->entry_of_work = tl_malloc((n + 1) * sizeof *c->entry_of_work);
    c->gate_of_work = tl_malloc((n + 1) * sizeof *c->gate_of_work);
    c->out->entries = tl_malloc((n + c->npoints + 1) * sizeof *c->out->entries);
    if (c->entry_of_work == NULL || c->gate_of_work == NULL || c->out->entries == NULL)
        return false;
    memset(c->gate_of_work, 0xff, (n + 1) * sizeof *c->gate_of_work); /* TL_NONE */
    tl_compose_weave(c);
    for (size_t i = 0; i < c->b->ncomm; i++)
        if (!fill_comm(c, i))
            return false;
    return tl_compose_contention(c) && tl_shares_write(&c->shares, c->out);
}

tl_status tl_program_make(const tl_rank_view *view, const tl_activity *activity, const tl_host_waits *waits,
                          tl_program *out, tl_error *err)
{
    tl_building b;
    tl_composing c = { .b = &b, .out = out };

    *out = (tl_program){ 0 };
    bool whole = tl_building_place(&b, view, waits);
    if (whole && b.nlocal + b.ncomm > 0)
        whole = tl_shares_begin(&c.shares, &b, activity, b.nboundaries + 1) && compose(&c);
    tl_shares_free(&c.shares);
    free(c.works.v);
    free(c.points);
    free(c.step_of);
    free(c.entry_of_work);
    free(c.entry_of_comm);
    free(c.gate_of_work);
    tl_building_free(&b);
    return whole ? TL_OK : tl_fail_memory(err, "the program of a rank");
}

void tl_program_free(tl_program *p)
{
    free(p->entries);
    free(p->comms);
    free(p->segments);
    free(p->shares);
    free(p->kinds);
    *p = (tl_program){ 0 };
}

void tl_program_parts(const tl_program *p, uint32_t segment, tl_parts *sum)
{
    for (size_t i = p->segments[segment].first_share; i < p->segments[segment + 1].first_share; i++)
        sum->ns[p->shares[i].part] += p->shares[i].ns;
}
