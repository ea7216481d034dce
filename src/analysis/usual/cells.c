/* cells.c - the steps of all ranks, cut by the collectives that they share.
 *
 *     rank 0   |  c0  |a|  c1  |b| c2 |      a, b: collectives that others take part in too.  c0, c1, c2: cells.
 */
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "peers.h"
#include <stdlib.h>
#include <string.h>

static bool shared(const tl_whatif *w, uint32_t comm)
{
    uint32_t c = w->collective_of[comm];
    return c < w->in.ncollectives && w->in.collectives[c].n >= 2;
}

/* The numbers of all steps, each once. */
static bool collect_steps(tl_whatif *w)
{
    size_t n = 0, kept = 0, room = 1;

    for (size_t r = 0; r < w->in.nranks; r++)
        for (size_t s = 0; s < w->in.programs[r].nsegments; s++)
            room += s == 0 || w->in.programs[r].segments[s].step != w->in.programs[r].segments[s - 1].step;
    int32_t *steps = tl_malloc(room * sizeof *steps);
    if (steps == NULL)
        return false;
    for (size_t r = 0; r < w->in.nranks; r++) {
        const tl_segment *v = w->in.programs[r].segments;
        for (size_t s = 0; s < w->in.programs[r].nsegments; s++)
            if (v[s].step >= 0 && (s == 0 || v[s].step != v[s - 1].step))
                steps[n++] = v[s].step;
    }
    tl_int_sort(steps, n);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || steps[i] != steps[kept - 1])
            steps[kept++] = steps[i];
    w->facts.steps = w->steps = steps;
    w->facts.nsteps = kept;
    return true;
}

/* Index + 1 of the step of this number; 0 where no rank has it. */
static uint32_t step_index(const tl_whatif *w, int64_t number)
{
    if (number < 0 || number > INT32_MAX)
        return 0;
    size_t at = tl_index_of(w->facts.steps, w->facts.nsteps, (int32_t)number);
    return at < w->facts.nsteps ? (uint32_t)at + 1 : 0;
}

/* FNV-1a, a byte at a time. */
static uint64_t hash(uint64_t h, uint8_t byte)
{
    return (h ^ byte) * UINT64_C(1099511628211);
}

/* The number of a block's step, whose first segment is s: see tl_block. */
static int64_t number_of(const tl_program *p, uint32_t s)
{
    if (p->segments[s].step >= 0)
        return p->segments[s].step;
    for (uint32_t i = s; i < p->nsegments; i++)
        if (p->segments[i].step >= 0)
            return (int64_t)p->segments[i].step - 1;
    return s > 0 ? (int64_t)p->segments[s - 1].step + 1 : INT64_MIN;
}

/* The cells and blocks of one rank; `comm_of` by segment: the shared comm that ends it. */
static void cut_rank(tl_whatif *w, uint32_t rank, const uint32_t *comm_of, tl_block *blocks, size_t *nblocks)
{
    const tl_program *p = &w->in.programs[rank];
    bool new_cell = true;

    for (uint32_t s = 0; s < p->nsegments; s++) {
        const tl_segment *segment = &p->segments[s];
        if (s == 0 || segment->step != p->segments[s - 1].step) {
            blocks[(*nblocks)++] = (tl_block){ .role = w->in.roles[rank],
                                               .rank = rank,
                                               .step = number_of(p, s),
                                               .no_front = s == 0 && segment->step < 0,
                                               .structure = UINT64_C(14695981039346656037),
                                               .first = w->ncells };
            new_cell = true;
        }
        tl_block *b = &blocks[*nblocks - 1];
        if (new_cell) {
            w->cells[w->ncells++] = (tl_cell){ .first_segment = s,
                                               .medians = TL_NONE,
                                               .collective = TL_NONE,
                                               .step = step_index(w, b->step),
                                               .kind = TL_NCOLLECTIVES };
            b->n++;
        }
        tl_cell *cell = &w->cells[w->ncells - 1];
        int64_t contended = tl_ns_min(tl_whatif_contended(w, segment->beside_ns), segment->work_ns);
        cell->contended_ns += contended;
        cell->work_ns += segment->work_ns - contended;
        cell->host_ns += segment->host_ns;
        b->work_ns += segment->work_ns - contended;
        b->host_ns += segment->host_ns;
        b->does += segment->does;
        w->cell_of[rank][s] = (uint32_t)(w->ncells - 1);
        new_cell = comm_of[s] != TL_NONE;
        if (new_cell) {
            cell->kind = p->comms[comm_of[s]].kind;
            cell->collective = w->collective_of[w->comm_base[rank] + comm_of[s]];
            b->structure = hash(b->structure, cell->kind);
        }
    }
    if (p->nsegments > 0) {
        blocks[*nblocks - 1].last = true;
        blocks[*nblocks - 1].no_back = p->segments[p->nsegments - 1].step < 0;
    }
}

void tl_whatif_add_contended(tl_whatif *w)
{
    for (size_t i = 0; i < w->ncells; i++) {
        tl_cell *cell = &w->cells[i];
        cell->work_ns += cell->contended_ns;
        cell->work_peer_ns += cell->contended_ns;
        cell->work_mid_ns += cell->contended_ns;
    }
}

/* Rooms for as many cells and blocks as there are segments, filled rank by rank. */
bool tl_whatif_cut(tl_whatif *w, tl_block **blocks, size_t *nblocks)
{
    size_t nsegments = 0, most = 0;

    for (size_t r = 0; r < w->in.nranks; r++) {
        nsegments += w->in.programs[r].nsegments;
        most = w->in.programs[r].nsegments > most ? w->in.programs[r].nsegments : most;
    }
    *nblocks = 0;
    *blocks = tl_malloc((nsegments + 1) * sizeof **blocks);
    uint32_t *comm_of = tl_malloc((most + 1) * sizeof *comm_of);
    w->cells = tl_malloc((nsegments + 1) * sizeof *w->cells);
    bool whole = comm_of != NULL && w->cells != NULL && *blocks != NULL && collect_steps(w);
    for (uint32_t r = 0; whole && r < w->in.nranks; r++) {
        const tl_program *p = &w->in.programs[r];
        w->cell_base[r] = w->ncells;
        w->cell_of[r] = tl_malloc((p->nsegments + 1) * sizeof **w->cell_of);
        whole = w->cell_of[r] != NULL;
        memset(comm_of, 0xff, (most + 1) * sizeof *comm_of); /* TL_NONE */
        for (uint32_t i = 0; i < p->ncomms; i++)
            if (shared(w, (uint32_t)(w->comm_base[r] + i)))
                comm_of[p->comms[i].segment] = i;
        if (whole)
            cut_rank(w, r, comm_of, *blocks, nblocks);
    }
    w->cell_base[w->in.nranks] = w->ncells;
    free(comm_of);
    for (size_t r = 0; whole && r < w->in.nranks; r++)
        for (size_t i = 0; i < w->in.programs[r].nentries; i++) {
            const tl_entry *e = &w->in.programs[r].entries[i];
            if (e->wait - 1U < TL_ASKED_WAITS)
                w->cells[w->cell_of[r][e->segment]].waits[e->wait - 1U]++;
        }
    for (size_t i = 0; whole && i < w->ncells; i++) {
        tl_cell *cell = &w->cells[i];
        memcpy(cell->waits_mid, cell->waits, sizeof cell->waits);
        cell->work_peer_ns = cell->work_mid_ns = cell->work_ns;
        cell->host_peer_ns = cell->host_mid_ns = cell->host_ns;
    }
    return whole;
}

void tl_whatif_cell_parts(const tl_whatif *w, uint32_t rank, const tl_cell *cell, tl_parts *sum)
{
    const tl_program *p = &w->in.programs[rank];
    size_t at = (size_t)(cell - w->cells) + 1;
    uint32_t end = at < w->cell_base[rank + 1] ? w->cells[at].first_segment : (uint32_t)p->nsegments;
    for (uint32_t s = cell->first_segment; s < end; s++)
        tl_program_parts(p, s, sum);
}
