/* replay.c - one replay of all programs: entry by entry, collective by collective. */
#include "tlmpi/analysis/whatif.h"
#include "tlmpi/base/stats.h"
#include "parts.h"
#include "tlmpi/analysis/usual.h"

/* An entry of the host gives what its lateness let the device stand idle, and after that its share of the rest. */
static int64_t cut_host(tl_carry *carry, const tl_cell *cell, int64_t cut_ns, const tl_entry *e, int64_t late_ns)
{
    if (cut_ns < 0)
        return tl_portion(cut_ns, e->ns, cell->host_ns);
    int64_t late = cut_ns < cell->late_ns ? cut_ns : cell->late_ns;
    int64_t ns = tl_portion(late, late_ns, cell->late_ns) + tl_portion(cut_ns - late, e->ns, cell->host_ns) + carry->ns;
    int64_t cut = ns < e->ns ? ns : e->ns;
    carry->ns = ns - cut;
    return cut;
}

static void replay_host(tl_whatif *w, uint32_t rank, uint32_t i, const tl_entry *e, size_t cell)
{
    int64_t *t = w->t + w->entry_base[rank], ns = e->ns, after = INT64_MIN;
    tl_carry *carry = &w->carry[rank];

    if (w->changed[rank]) {
        if (carry->cell != &w->cells[cell])
            *carry = (tl_carry){ .cell = &w->cells[cell] };
        if (w->host_cut[cell] != 0)
            ns -= cut_host(carry, &w->cells[cell], w->host_cut[cell], e, w->late[w->entry_base[rank] + i]);
        uint32_t kind = e->wait - 1U; /* one that nobody else asks for may be left out */
        if (kind < TL_ASKED_WAITS && ++carry->waits[kind] > w->cells[cell].waits_mid[kind] &&
            (w->unasked[cell] & 1U << kind) != 0) {
            w->host_ns[rank] = t[i] = tl_whatif_plus(w->host_ns[rank], ns);
            return;
        }
    }
    if (e->comm != TL_NONE)
        after = w->end[w->comm_base[rank] + e->comm];
    if (e->on != TL_NONE)
        after = tl_ns_max(after, t[e->on]);
    t[i] = tl_whatif_plus(w->host_ns[rank], ns);
    if (after != INT64_MIN)
        t[i] = tl_ns_max(t[i], tl_whatif_plus(after, e->gate_ns));
    w->host_ns[rank] = t[i];
}

static void replay_work(tl_whatif *w, uint32_t rank, uint32_t i, const tl_entry *e, size_t cell)
{
    int64_t *t = w->t + w->entry_base[rank], ns = e->ns, gate = e->gate_ns, from = w->work_ns[rank];

    if (w->changed[rank] && w->work_cut[cell] != 0) {
        int64_t cut = w->work_cut[cell], whole = w->cells[cell].work_ns;
        ns -= tl_portion(cut, e->ns, whole);
        gate -= tl_portion(cut, e->ns < e->gate_ns ? e->ns : e->gate_ns, whole);
    }
    if (w->given_back[rank] != 0) {
        int64_t less = tl_ns_min(w->given_back[rank], ns);
        w->given_back[rank] -= less;
        gate -= tl_portion(less, tl_ns_min(ns, gate), ns);
        from -= less;
    }
    if (e->comm != TL_NONE)
        from = tl_ns_max(from, w->end[w->comm_base[rank] + e->comm]);
    t[i] = tl_whatif_plus(from, ns);
    if (e->on != TL_NONE)
        t[i] = tl_ns_max(t[i], tl_whatif_plus(t[e->on], gate));
    w->work_ns[rank] = t[i];
    if (rank < w->in.nranks)
        w->step_end[w->cells[cell].step] = tl_ns_max(w->step_end[w->cells[cell].step], t[i]);
}

static void replay_rank(tl_whatif *w, uint32_t rank, uint32_t to)
{
    const tl_program *p = &w->in.programs[rank];

    for (uint32_t i = w->at[rank]; i < to; i++) {
        const tl_entry *e = &p->entries[i];
        size_t cell = w->cell_of[rank][e->segment];
        if (e->chain == TL_CHAIN_HOST)
            replay_host(w, rank, i, e, cell);
        else
            replay_work(w, rank, i, e, cell);
    }
    w->at[rank] = to;
}

int64_t tl_whatif_ready(const tl_whatif *w, uint32_t comm, uint32_t *entry, uint32_t *other)
{
    uint32_t rank = w->rank_of[comm];
    const tl_program *p = &w->in.programs[rank];
    const tl_comm *c = &p->comms[comm - w->comm_base[rank]];
    const int64_t *t = w->t + w->entry_base[rank];
    int64_t ready = p->start_ns + tl_whatif_offset(w, rank);

    *entry = *other = TL_NONE;
    if (c->work != TL_NONE && tl_whatif_plus(t[c->work], c->work_ns) >= ready) {
        ready = tl_whatif_plus(t[c->work], c->work_ns);
        *entry = c->work;
    }
    if (c->host != TL_NONE && tl_whatif_plus(t[c->host], c->host_ns) >= ready) {
        ready = tl_whatif_plus(t[c->host], c->host_ns);
        *entry = c->host;
    }
    const uint32_t others[] = { c->previous, c->after };
    for (int i = 0; i < 2; i++) {
        if (others[i] == TL_NONE || w->end[w->comm_base[rank] + others[i]] < ready)
            continue;
        ready = w->end[w->comm_base[rank] + others[i]];
        *entry = TL_NONE;
        *other = (uint32_t)w->comm_base[rank] + others[i];
    }
    return ready;
}

static void replay_stage(tl_whatif *w, const tl_stage *s)
{
    uint32_t c = s->collective, entry, other;
    int64_t cut = c < w->in.ncollectives ? w->link_cut[c] : 0;

    for (uint32_t i = s->first_seat; i < s->end_seat; i++) {
        uint32_t comm = w->seats[i], rank = w->rank_of[comm];
        w->start[comm] = tl_whatif_plus(tl_whatif_ready(w, comm, &entry, &other), w->lag_ns[comm]);
        if (w->seating == TL_SEATED || rank < w->in.nranks)
            w->last_start[c] = tl_ns_max(w->last_start[c], w->start[comm]);
    }
    if (w->seating != TL_SEATED)
        tl_whatif_seat_absent(w, s);
    for (uint32_t i = s->first_leave; i < s->end_leave; i++) {
        uint32_t comm = w->leaves[i], rank = w->rank_of[comm];
        const tl_program *p = &w->in.programs[rank];
        uint32_t cell = w->cell_of[rank][p->comms[comm - w->comm_base[rank]].segment], step = w->cells[cell].step;
        int64_t tail = w->changed[rank] && w->untailed[cell] && cut == 0 ? w->tail_ns[comm] : 0;
        w->end[comm] = tl_ns_max(w->start[comm], tl_whatif_plus(w->last_start[c], w->transfer_ns[comm] - cut - tail));
        tl_whatif_give_back(w, comm);
        if (rank < w->in.nranks)
            w->step_end[step] = tl_ns_max(w->step_end[step], w->end[comm]);
    }
}

int64_t tl_whatif_first_start(const tl_whatif *w)
{
    int64_t first = INT64_MAX;
    for (uint32_t r = 0; r < w->in.nranks; r++)
        if (w->in.programs[r].nsegments > 0 && w->in.programs[r].start_ns + tl_whatif_offset(w, r) < first)
            first = w->in.programs[r].start_ns + tl_whatif_offset(w, r);
    return first;
}

int64_t tl_whatif_replay(tl_whatif *w)
{
    int64_t first = tl_whatif_first_start(w), last = first;

    for (uint32_t r = 0; r < w->nall; r++) {
        w->work_ns[r] = w->host_ns[r] = w->in.programs[r].start_ns + tl_whatif_offset(w, r);
        w->at[r] = 0;
        w->carry[r] = (tl_carry){ 0 };
        w->given_back[r] = 0;
    }
    for (size_t c = 0; c < w->ncollectives; c++)
        w->last_start[c] = INT64_MIN;
    for (size_t s = 0; s <= w->facts.nsteps; s++)
        w->step_end[s] = first;
    for (size_t i = 0; i < w->norder; i++) {
        const tl_item *item = &w->order[i];
        if (item->to == TL_NONE)
            replay_stage(w, &w->stages[item->of]);
        else
            replay_rank(w, item->of, item->to);
    }
    for (size_t s = 0; s <= w->facts.nsteps; s++)
        last = tl_ns_max(last, w->step_end[s]);
    return last - first;
}

/* From ends of steps to their times. */
void tl_whatif_step_times(const tl_whatif *w, int64_t *step_ns)
{
    int64_t before = tl_whatif_first_start(w);
    for (size_t s = 0; s < w->facts.nsteps; s++) {
        int64_t end = tl_ns_max(before, w->step_end[s + 1]);
        step_ns[s] = end - before;
        before = end;
    }
}
