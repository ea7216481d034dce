/* scenario.c - what a scenario takes off the times of each rank, and what all ranks together take then. */
#include "tlmpi/analysis/whatif.h"
#include "tlmpi/base/stats.h"
#include "parts.h"
#include "tlmpi/analysis/usual.h"

/* What of a surplus falls on the parts of a mask: as the parts' own surpluses have it; where none has one, all on `rest`. */
static int64_t share_of(const tl_whatif *w, const tl_cell *cell, const tl_parts *own, int64_t surplus_ns, bool work,
                        uint32_t mask)
{
    int64_t all = 0, asked = 0;
    tl_part rest = work ? TL_PART_COMPUTE : TL_PART_HOST;

    for (int part = 0; part < TL_NPARTS; part++) {
        if (tl_part_is_work((tl_part)part) != work)
            continue;
        int64_t usual = cell->medians != TL_NONE ? w->medians[(size_t)cell->medians * TL_NPARTS + (size_t)part] : 0;
        int64_t more = tl_ns_max(0, own->ns[part] - usual);
        all = tl_whatif_plus(all, more);
        asked += mask & (1U << part) ? more : 0;
    }
    if (all == 0)
        return mask & (1U << rest) ? surplus_ns : 0;
    return tl_portion(surplus_ns, asked, all);
}

/* `together`: of a rank that is repaired with others. */
static void surplus_of(const tl_whatif *w, uint32_t rank, size_t at, uint32_t mask, bool together, int64_t *work_ns,
                       int64_t *host_ns)
{
    const tl_cell *cell = &w->cells[at];
    int64_t work_less = together ? w->work_less[at] : 0, host_less = together ? w->host_less[at] : 0;
    tl_parts own = { { 0 } };

    *work_ns = tl_ns_max(0, cell->work_ns - tl_ns_max(0, cell->work_peer_ns - work_less));
    *host_ns = tl_ns_max(0, cell->host_ns - tl_ns_max(0, cell->host_peer_ns - host_less));
    if (mask == 0 || (*work_ns == 0 && *host_ns == 0))
        return;
    tl_whatif_cell_parts(w, rank, cell, &own);
    *work_ns = share_of(w, cell, &own, *work_ns, true, mask);
    *host_ns = share_of(w, cell, &own, *host_ns, false, mask);
}

void tl_whatif_surplus_of(const tl_whatif *w, uint32_t rank, size_t at, uint32_t mask, int64_t *work_ns,
                          int64_t *host_ns)
{
    surplus_of(w, rank, at, mask, false, work_ns, host_ns);
}

static bool in_scenario(const tl_whatif *w, const tl_scenario *s, const tl_cell *cell)
{
    if (!s->in_steps)
        return true;
    if (cell->step == 0)
        return false;
    int32_t step = w->facts.steps[cell->step - 1];
    return step >= s->first_step && step <= s->last_step;
}

/* Whose part a wait is, and so which repair leaves it out where others do not ask for it. */
static const tl_part part_of_wait[TL_ASKED_WAITS] = {
    [TL_WAIT_DEVICE] = TL_PART_SYNC, [TL_WAIT_STREAM] = TL_PART_SYNC,    [TL_WAIT_EVENT] = TL_PART_SYNC,
    [TL_WAIT_COPY] = TL_PART_H2D,    [TL_WAIT_FREE] = TL_PART_ALLOCATOR,
};

/* Bits 1 << tl_wait_kind. */
static uint8_t waits_of(uint32_t parts)
{
    unsigned waits = 0;
    for (int kind = 0; kind < TL_ASKED_WAITS; kind++)
        waits |= parts == 0 || (parts & 1U << part_of_wait[kind]) != 0 ? 1U << kind : 0U;
    return (uint8_t)waits;
}

static void set_scenario(tl_whatif *w, const tl_scenario *s)
{
    tl_whatif_look_outside(w, s->repaired);
    for (uint32_t r = 0; r < w->in.nranks; r++) {
        bool ideal = s->ideal && (s->own == NULL || s->own[r] == 0);
        w->changed[r] = ideal || (s->repaired != NULL && s->repaired[r] != 0);
        for (size_t i = w->cell_base[r]; w->changed[r] && i < w->cell_base[r + 1]; i++) {
            w->work_cut[i] = w->host_cut[i] = 0;
            w->unasked[i] = in_scenario(w, s, &w->cells[i]) ? waits_of(ideal ? 0 : s->parts) : 0;
            w->untailed[i] =
                in_scenario(w, s, &w->cells[i]) && !ideal && (s->parts == 0 || (s->parts & 1U << TL_PART_COMM) != 0);
            if (!in_scenario(w, s, &w->cells[i]))
                continue;
            if (ideal) {
                w->work_cut[i] = w->cells[i].work_ns - w->cells[i].work_mid_ns;
                w->host_cut[i] = w->cells[i].host_ns - w->cells[i].host_mid_ns;
            } else {
                surplus_of(w, r, i, s->parts, true, &w->work_cut[i], &w->host_cut[i]);
            }
        }
    }
    for (size_t c = 0; c < w->in.ncollectives; c++) {
        int64_t more = w->took_ns[c] - w->like_ns[c];
        bool like = s->ideal || (s->links != NULL && s->links[c] != 0 && more > 0);
        w->link_cut[c] = s->cuts_ns != NULL ? s->cuts_ns[c] : like ? more : 0;
    }
}

int64_t tl_whatif_run(tl_whatif *w, const tl_scenario *scenario, int64_t *step_ns)
{
    set_scenario(w, scenario);
    int64_t ns = tl_whatif_replay(w);
    if (step_ns != NULL)
        tl_whatif_step_times(w, step_ns);
    return ns;
}

int64_t tl_whatif_gain(tl_whatif *w, const tl_scenario *scenario, int64_t *step_gain_ns)
{
    int64_t ns = tl_whatif_run(w, scenario, step_gain_ns);
    for (size_t s = 0; step_gain_ns != NULL && s < w->facts.nsteps; s++)
        step_gain_ns[s] = w->step_ns[s] - step_gain_ns[s];
    return w->facts.simulated_ns - ns;
}

void tl_gains_to_steps(int64_t *step_gain_ns, size_t nsteps, int64_t gain_ns)
{
    double sum = 0, all = gain_ns > 0 ? (double)gain_ns : 0;
    for (size_t s = 0; s < nsteps; s++) {
        step_gain_ns[s] = step_gain_ns[s] > 0 ? step_gain_ns[s] : 0;
        sum += (double)step_gain_ns[s];
    }
    for (size_t s = 0; sum > all && s < nsteps; s++)
        step_gain_ns[s] = (int64_t)((double)step_gain_ns[s] * (all / sum));
}

void tl_whatif_surplus(const tl_whatif *w, uint32_t rank, size_t step, tl_parts *sum)
{
    *sum = (tl_parts){ { 0 } };
    for (size_t i = w->cell_base[rank]; i < w->cell_base[rank + 1]; i++) {
        if (w->cells[i].step != step + 1)
            continue;
        for (int part = 0; part < TL_NPARTS; part++) {
            int64_t work, host;
            tl_whatif_surplus_of(w, rank, i, 1U << part, &work, &host);
            sum->ns[part] += work + host;
        }
    }
}

void tl_whatif_step_surplus(const tl_whatif *w, uint32_t rank, bool repaired, int64_t *step_ns)
{
    for (size_t s = 0; s < w->facts.nsteps; s++)
        step_ns[s] = 0;
    for (size_t i = w->cell_base[rank]; i < w->cell_base[rank + 1]; i++)
        if (w->cells[i].step > 0) {
            int64_t work = w->work_cut[i], host = w->host_cut[i], *of = &step_ns[w->cells[i].step - 1];
            if (!repaired)
                tl_whatif_surplus_of(w, rank, i, 0, &work, &host);
            *of = tl_whatif_plus(*of, tl_whatif_plus(work, host));
        }
}

int64_t tl_whatif_all_surplus(const tl_whatif *w, uint32_t rank)
{
    int64_t sum = 0, work, host;
    for (size_t i = w->cell_base[rank]; i < w->cell_base[rank + 1]; i++) {
        tl_whatif_surplus_of(w, rank, i, 0, &work, &host);
        sum = tl_whatif_plus(sum, tl_whatif_plus(work, host));
    }
    return sum;
}
