/* pace.c - stages of a pipeline whose host waits for its device where those of other stages do not, or takes
 * longer to launch as much.
 *
 *     in one step                    stage 0    stage 1    stage 2
 *     host waits for its stream          1          9          1      eight are nobody else's habit
 *     host, per kernel, us              12         12         40      it launches three times as slowly
 *
 * A stage in the middle sends and receives twice as often as one at an end, and a host that waits for what it receives
 * waits twice as often: of its place in the pipeline, not by habit.
 *
 * Like kinds.c, for what is the same on all ranks of a stage, or where the stage is one rank.  Of a slow host only
 * what its device stood idle for counts, and nothing of the first recorded step, of whose beginning nobody knows what
 * the host did.  The waits that are kept are the last ones of the step: there losses are read.
 */
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "peers.h"
#include <stdlib.h>

/* Hosts differ by what they launch for communication. */
enum { PACE_SLACK = 8 };

enum { PACE = TL_ASKED_WAITS, MEASURES };

/* One step of one rank. */
typedef struct paced {
    int64_t value[MEASURES]; /* waits by kind; host time for a thousand kernels, without input */
    uint64_t nkernels;
    int64_t nsent;
    const tl_block *of;
} paced;

/* What one role after the other is in a step. */
typedef struct pacing {
    int64_t middle[MEASURES], nsent;
} pacing;

static int by_step(const void *a, const void *b)
{
    const paced *x = a, *y = b;
    int order = TL_COMPARE(x->of->step, y->of->step);
    order = order != 0 ? order : TL_COMPARE(x->of->role, y->of->role);
    order = order != 0 ? order : TL_COMPARE(x->of->rank, y->of->rank);
    return order != 0 ? order : TL_COMPARE(x->of->first, y->of->first);
}

/* What a stage sends and receives, by cell. */
static uint32_t *count_sent(const tl_whatif *w)
{
    uint32_t *nsent = tl_calloc(w->ncells + 1, sizeof *nsent);
    for (size_t r = 0; nsent != NULL && r < w->in.nranks; r++)
        for (size_t i = 0; i < w->in.programs[r].ncomms; i++) {
            const tl_comm *c = &w->in.programs[r].comms[i];
            nsent[w->cell_of[r][c->segment]] += tl_is_point_to_point((tl_collective)c->kind);
        }
    return nsent;
}

static paced measure(const tl_whatif *w, const tl_block *b, const uint32_t *nsent)
{
    paced p = { .of = b };
    const tl_program *program = &w->in.programs[b->rank];
    size_t next = b->first + b->n;
    uint32_t end = next < w->cell_base[b->rank + 1] ? w->cells[next].first_segment : (uint32_t)program->nsegments;

    tl_parts parts = { { 0 } };
    for (size_t i = b->first; i < next; i++) {
        for (int kind = 0; kind < TL_ASKED_WAITS; kind++)
            p.value[kind] += w->cells[i].waits[kind];
        p.nsent += nsent[i];
        tl_whatif_cell_parts(w, b->rank, &w->cells[i], &parts);
    }
    for (uint32_t s = w->cells[b->first].first_segment; s < end; s++)
        p.nkernels += program->segments[s].nkernels;
    bool first = b->step <= w->facts.steps[0];
    if (p.nkernels > 0 && !first)
        p.value[PACE] = tl_portion(tl_ns_max(0, b->host_ns - parts.ns[TL_PART_INPUT]), 1000, (int64_t)p.nkernels);
    return p;
}

/* The n ranks of a role: the middle. */
static pacing pacing_of(const paced *v, size_t n, int64_t *scratch)
{
    pacing p = { .nsent = 0 };
    for (int measure = 0; measure < MEASURES; measure++) {
        for (size_t i = 0; i < n; i++)
            scratch[i] = v[i].value[measure];
        p.middle[measure] = tl_lower_median(scratch, n);
    }
    for (size_t i = 0; i < n; i++)
        scratch[i] = v[i].nsent;
    p.nsent = tl_lower_median(scratch, n);
    return p;
}

/* What role r would have of a measure, did it as the other does. */
static int64_t likewise(const pacing *r, const pacing *other, int measure)
{
    int64_t usual = other->middle[measure];
    bool more_often = measure != PACE && other->nsent > 0 && r->nsent > other->nsent;
    return more_often ? tl_portion(usual, r->nsent, other->nsent) : usual;
}

/* The waits of a step that others do not ask for are left out. */
static void keep_waits(tl_whatif *w, const tl_block *b, int kind, int64_t left)
{
    for (size_t i = b->first + b->n; i-- > b->first;) {
        uint32_t *kept = &w->cells[i].waits_mid[kind];
        *kept = *kept < left ? *kept : (uint32_t)left;
        left -= *kept;
    }
}

/* What the device stood idle for in a cell, because of the host; but for its input, which the first stage alone loads. */
static int64_t idle_of(const tl_whatif *w, uint32_t rank, const tl_cell *cell)
{
    tl_parts parts = { { 0 } };
    int64_t ns = 0;
    tl_whatif_cell_parts(w, rank, cell, &parts);
    for (int part = 0; part < TL_NPARTS; part++)
        ns += tl_part_is_work((tl_part)part) || part == TL_PART_INPUT ? 0 : parts.ns[part];
    return ns < cell->host_peer_ns ? ns : cell->host_peer_ns;
}

static void expect_faster(tl_whatif *w, const tl_block *b, int64_t less_ns)
{
    int64_t idle_ns = 0;
    for (size_t i = b->first; i < b->first + b->n; i++)
        idle_ns += idle_of(w, b->rank, &w->cells[i]);
    less_ns = less_ns < idle_ns ? less_ns : idle_ns;
    for (size_t i = b->first; i < b->first + b->n; i++) {
        tl_cell *cell = &w->cells[i];
        int64_t ns = tl_portion(idle_of(w, b->rank, cell), less_ns, idle_ns);
        cell->host_peer_ns -= ns;
        cell->host_mid_ns -= ns < cell->host_mid_ns ? ns : cell->host_mid_ns;
    }
}

/* The role of v[from .. to) needs `own` where others need `usual`. */
static void expect(tl_whatif *w, const paced *v, size_t n, int measure, int64_t own, int64_t usual)
{
    for (size_t i = 0; i < n; i++)
        if (measure != PACE)
            keep_waits(w, v[i].of, measure, usual);
        else
            expect_faster(w, v[i].of, tl_portion(own - usual, (int64_t)v[i].nkernels, 1000));
}

/* One step of all ranks; starts[r .. r + 1] are those of a role. */
static void compare_step(tl_whatif *w, const paced *v, const size_t *starts, size_t nroles, int64_t *scratch,
                         pacing *roles)
{
    for (size_t r = 0; r < nroles; r++)
        roles[r] = pacing_of(v + starts[r], starts[r + 1] - starts[r], scratch);
    for (int measure = 0; measure < MEASURES; measure++)
        for (size_t r = 0; r < nroles; r++) {
            size_t n = 0;
            for (size_t q = 0; q < nroles; q++)
                if (q != r)
                    scratch[n++] = likewise(&roles[r], &roles[q], measure);
            int64_t own = roles[r].middle[measure], usual = tl_lower_median(scratch, n);
            if (own > usual + (measure == PACE ? usual / PACE_SLACK : 0))
                expect(w, v + starts[r], starts[r + 1] - starts[r], measure, own, usual);
        }
}

static void compare_steps(tl_whatif *w, const paced *v, size_t n, size_t *starts, int64_t *scratch, pacing *roles)
{
    for (size_t from = 0, to; from < n; from = to) {
        size_t nroles = 0;
        for (to = from; to < n && v[to].of->step == v[from].of->step; to++)
            if (to == from || v[to].of->role != v[to - 1].of->role)
                starts[nroles++] = to - from;
        starts[nroles] = to - from;
        if (nroles > 1)
            compare_step(w, v + from, starts, nroles, scratch, roles);
    }
}

bool tl_whatif_compare_pace(tl_whatif *w, const tl_block *blocks, size_t n)
{
    paced *v = tl_malloc((n + 1) * sizeof *v);
    size_t *starts = tl_malloc((n + 2) * sizeof *starts), kept = 0;
    int64_t *scratch = tl_malloc((n + 1) * sizeof *scratch);
    pacing *roles = tl_malloc((n + 1) * sizeof *roles);
    uint32_t *nsent = count_sent(w);
    bool whole = v != NULL && starts != NULL && scratch != NULL && roles != NULL && nsent != NULL;

    for (size_t i = 0; whole && i < n; i++)
        if (blocks[i].step >= 0 && !blocks[i].no_front && !blocks[i].no_back)
            v[kept++] = measure(w, &blocks[i], nsent);
    if (kept > 1)
        qsort(v, kept, sizeof *v, by_step);
    if (whole)
        compare_steps(w, v, kept, starts, scratch, roles);
    free(v);
    free(starts);
    free(scratch);
    free(roles);
    free(nsent);
    return whole;
}
