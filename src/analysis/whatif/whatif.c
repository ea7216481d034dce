/* whatif.c - all programs replayed together, first unchanged. */
#include "tlmpi/analysis/whatif.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/stats.h"
#include "parts.h"
#include "tlmpi/analysis/usual.h"
#include <stdlib.h>
#include <string.h>

enum { ERROR_PERCENT = 5 };

/* Whether a program's references lead where they may. */
static bool holds_together(const tl_program *p)
{
    for (size_t i = 0; i < p->nentries; i++) {
        const tl_entry *e = &p->entries[i];
        if ((e->on != TL_NONE && e->on >= i) || (e->comm != TL_NONE && e->comm >= p->ncomms) ||
            e->segment >= p->nsegments || e->wait > 1 + TL_WAIT_QUEUE)
            return false;
    }
    for (size_t i = 0; i < p->ncomms; i++) {
        const tl_comm *c = &p->comms[i];
        if ((c->work != TL_NONE && c->work >= p->nentries) || (c->host != TL_NONE && c->host >= p->nentries) ||
            (c->previous != TL_NONE && c->previous >= i) || (c->after != TL_NONE && c->after >= p->ncomms) ||
            c->segment >= p->nsegments)
            return false;
    }
    for (size_t i = 0; i < p->nsegments; i++)
        if (p->segments[i].first_share > p->segments[i + 1].first_share || p->segments[i + 1].first_share > p->nshares)
            return false;
    for (size_t i = 0; i < p->nshares; i++)
        if ((unsigned)p->shares[i].part >= TL_NPARTS)
            return false;
    return true;
}

/* Numbers everything through. */
static tl_status count(tl_whatif *w, tl_error *err)
{
    for (size_t r = 0; r < w->nall; r++) {
        const tl_program *p = &w->in.programs[r];
        if (!holds_together(p))
            return tl_fail(err, TL_EINTERNAL, "the program of rank %zu refers to what it does not have", r);
        w->entry_base[r] = w->nentries;
        w->comm_base[r] = w->ncomms;
        w->nentries += p->nentries;
        w->ncomms += p->ncomms;
    }
    w->entry_base[w->nall] = w->nentries;
    w->comm_base[w->nall] = w->ncomms;
    if (w->nentries >= TL_NONE || w->ncomms >= TL_NONE)
        return tl_fail(err, TL_EINPUT, "the job has too many collectives to ask what would have been");
    return TL_OK;
}

/* Members exist, and take part in one collective each. */
static tl_status check_members(const tl_whatif *w, tl_error *err)
{
    bool *taken = tl_calloc(w->ncomms + 1, sizeof *taken), fit = true;
    if (taken == NULL)
        return TL_ENOMEM;
    for (size_t c = 0; fit && c < w->in.ncollectives; c++) {
        const tl_whatif_collective *v = &w->in.collectives[c];
        fit = v->first <= w->in.nmembers && v->n <= w->in.nmembers - v->first;
        for (size_t i = 0; fit && i < v->n; i++) {
            const tl_whatif_member *m = &w->in.members[v->first + i];
            fit = m->rank < w->nall && m->comm < w->in.programs[m->rank].ncomms &&
                  !taken[w->comm_base[m->rank] + m->comm];
            if (fit)
                taken[w->comm_base[m->rank] + m->comm] = true;
        }
    }
    free(taken);
    return fit ? TL_OK : tl_fail(err, TL_EINTERNAL, "a collective names what no rank has, or what another has named");
}

static bool make_rooms(tl_whatif *w)
{
    size_t n = w->ncomms + 1, in = w->in.ncollectives + 1, ranks = w->nall + 1;

    w->collective_of = tl_malloc(n * sizeof *w->collective_of);
    w->rank_of = tl_malloc(n * sizeof *w->rank_of);
    w->lag_ns = tl_malloc(n * sizeof *w->lag_ns);
    w->transfer_ns = tl_malloc(n * sizeof *w->transfer_ns);
    w->tail_ns = tl_calloc(n, sizeof *w->tail_ns);
    w->seats = tl_malloc(n * sizeof *w->seats);
    w->leaves = tl_malloc(n * sizeof *w->leaves);
    w->stages = tl_malloc(n * sizeof *w->stages);
    w->start = tl_malloc(n * sizeof *w->start);
    w->end = tl_malloc(n * sizeof *w->end);
    w->last_start = tl_malloc((n + in) * sizeof *w->last_start);
    w->like_ns = tl_calloc(in, sizeof *w->like_ns);
    w->took_ns = tl_calloc(in, sizeof *w->took_ns);
    w->dissolved = tl_calloc(in, sizeof *w->dissolved);
    w->link_cut = tl_calloc(in, sizeof *w->link_cut);
    w->t = tl_malloc((w->nentries + 1) * sizeof *w->t);
    w->late = tl_calloc(w->nentries + 1, sizeof *w->late);
    w->work_ns = tl_malloc(ranks * sizeof *w->work_ns);
    w->host_ns = tl_malloc(ranks * sizeof *w->host_ns);
    w->at = tl_malloc(ranks * sizeof *w->at);
    w->carry = tl_malloc(ranks * sizeof *w->carry);
    w->given_back = tl_calloc(ranks, sizeof *w->given_back);
    w->changed = tl_calloc(ranks, sizeof *w->changed);
    w->cell_of = tl_calloc(ranks, sizeof *w->cell_of);
    return w->collective_of != NULL && w->rank_of != NULL && w->lag_ns != NULL && w->transfer_ns != NULL &&
           w->tail_ns != NULL && w->seats != NULL && w->leaves != NULL && w->stages != NULL && w->start != NULL &&
           w->end != NULL && w->last_start != NULL && w->like_ns != NULL && w->took_ns != NULL &&
           w->dissolved != NULL && w->link_cut != NULL && w->t != NULL && w->late != NULL && w->work_ns != NULL &&
           w->host_ns != NULL && w->at != NULL && w->carry != NULL && w->given_back != NULL && w->changed != NULL &&
           w->cell_of != NULL;
}

void tl_whatif_find_lateness(tl_whatif *w)
{
    memset(w->late, 0, w->entry_base[w->in.nranks] * sizeof *w->late);
    for (size_t i = 0; i < w->cell_base[w->in.nranks]; i++)
        w->cells[i].late_ns = 0;
    for (uint32_t r = 0; r < w->in.nranks; r++) {
        const tl_program *p = &w->in.programs[r];
        const int64_t *t = w->t + w->entry_base[r];
        int64_t before = p->start_ns + tl_whatif_offset(w, r);
        for (uint32_t i = 0; i < p->nentries; i++) {
            const tl_entry *e = &p->entries[i];
            if (e->chain != TL_CHAIN_WORK)
                continue;
            int64_t from = e->comm != TL_NONE ? tl_ns_max(before, w->end[w->comm_base[r] + e->comm]) : before;
            if (e->on != TL_NONE && t[i] > tl_whatif_plus(from, e->ns)) {
                w->late[w->entry_base[r] + e->on] += t[i] - from - e->ns;
                w->cells[w->cell_of[r][p->entries[e->on].segment]].late_ns += t[i] - from - e->ns;
            }
            before = t[i];
        }
    }
}

static int64_t measured(const tl_whatif *w)
{
    int64_t last = INT64_MIN;
    for (uint32_t r = 0; r < w->in.nranks; r++)
        if (w->in.programs[r].nsegments > 0)
            last = tl_ns_max(last, w->in.programs[r].end_ns + tl_whatif_offset(w, r));
    return last - tl_whatif_first_start(w);
}

/* The job as it was. */
static void replay_unchanged(tl_whatif *w)
{
    w->facts.simulated_ns = tl_whatif_replay(w);
    tl_whatif_step_times(w, w->step_ns);
    tl_whatif_find_lateness(w);
    int64_t error = w->facts.simulated_ns - w->facts.measured_ns;
    if ((error < 0 ? -error : error) > w->facts.measured_ns / 100 * ERROR_PERCENT)
        w->facts.state = TL_WHATIF_ERROR;
}

static tl_status put_together(tl_whatif *w, tl_error *err)
{
    size_t ranks = w->in.nranks + w->in.nabsent + 1;
    bool any = false;

    w->nall = w->in.nranks + w->in.nabsent;
    w->entry_base = tl_calloc(ranks, sizeof *w->entry_base);
    w->comm_base = tl_calloc(ranks, sizeof *w->comm_base);
    w->cell_base = tl_calloc(ranks, sizeof *w->cell_base);
    if (w->entry_base == NULL || w->comm_base == NULL || w->cell_base == NULL)
        return TL_ENOMEM;
    tl_status status = count(w, err);
    if (status != TL_OK)
        return status;
    if (!make_rooms(w))
        return TL_ENOMEM;
    for (size_t r = 0; r < w->nall; r++) {
        any = any || w->in.programs[r].nsegments > 0;
        for (size_t i = w->comm_base[r]; i < w->comm_base[r + 1]; i++) {
            w->rank_of[i] = (uint32_t)r;
            w->lag_ns[i] = w->in.programs[r].comms[i - w->comm_base[r]].lag_ns;
        }
    }
    status = check_members(w, err);
    if (status != TL_OK)
        return status;
    w->facts.state = any ? TL_WHATIF_OK : TL_WHATIF_EMPTY;
    if (!tl_whatif_order(w) || !tl_whatif_find_contention(w) || !tl_whatif_compare(w) || !tl_whatif_give_cells(w))
        return TL_ENOMEM;
    w->work_cut = tl_calloc(w->ncells + 1, sizeof *w->work_cut);
    w->host_cut = tl_calloc(w->ncells + 1, sizeof *w->host_cut);
    w->unasked = tl_calloc(w->ncells + 1, sizeof *w->unasked);
    w->untailed = tl_calloc(w->ncells + 1, sizeof *w->untailed);
    w->work_less = tl_calloc(w->ncells + 1, sizeof *w->work_less);
    w->host_less = tl_calloc(w->ncells + 1, sizeof *w->host_less);
    w->inside = tl_calloc(w->ncells + 1, sizeof *w->inside);
    w->numbers = tl_calloc(w->ncells + 1, sizeof *w->numbers);
    w->step_end = tl_calloc(w->facts.nsteps + 1, sizeof *w->step_end);
    w->step_ns = tl_calloc(w->facts.nsteps + 1, sizeof *w->step_ns);
    if (w->work_cut == NULL || w->host_cut == NULL || w->unasked == NULL || w->untailed == NULL ||
        w->work_less == NULL || w->host_less == NULL || w->inside == NULL || w->numbers == NULL ||
        w->step_end == NULL || w->step_ns == NULL)
        return TL_ENOMEM;
    if (!tl_whatif_settle(w) || !tl_whatif_compare_links(w) || !tl_whatif_find_tails(w))
        return TL_ENOMEM;
    w->facts.measured_ns = any ? measured(w) : 0;
    if (w->facts.state == TL_WHATIF_OK)
        replay_unchanged(w);
    return tl_whatif_keep_lengths(w) ? TL_OK : TL_ENOMEM;
}

tl_status tl_whatif_new(const tl_whatif_input *input, tl_whatif **out, tl_error *err)
{
    tl_whatif *w = tl_calloc(1, sizeof *w);

    *out = NULL;
    if (w == NULL)
        return tl_fail_memory(err, "a replay of the job");
    w->in = *input;
    tl_status status = put_together(w, err);
    if (status == TL_ENOMEM)
        tl_fail_memory(err, "a replay of the job");
    if (status != TL_OK)
        tl_whatif_free(w);
    else
        *out = w;
    return status;
}

void tl_whatif_free(tl_whatif *w)
{
    if (w == NULL)
        return;
    for (size_t r = 0; w->cell_of != NULL && r < w->nall; r++)
        free(w->cell_of[r]);
    void *all[] = { w->entry_base, w->comm_base, w->cell_base,  w->collective_of, w->rank_of,  w->transfer_ns,
                    w->seats,      w->leaves,    w->stages,     w->like_ns,       w->took_ns,  w->dissolved,
                    w->order,      w->cells,     w->cell_of,    w->medians,       w->t,        w->start,
                    w->end,        w->late,      w->last_start, w->work_ns,       w->host_ns,  w->at,
                    w->carry,      w->step_end,  w->step_ns,    w->work_cut,      w->host_cut, w->changed,
                    w->link_cut,   w->steps,     w->unasked,
                    w->untailed,   w->tail_ns,   w->lag_ns,     w->own_ns,     w->any_ns,
                    w->lasted_ns,  w->given_back, w->work_less, w->host_less,  w->inside,     w->numbers,
                    w->compared,   w->first_compared };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
    free(w);
}

const tl_whatif_facts *tl_whatif_facts_of(const tl_whatif *w)
{
    return &w->facts;
}
