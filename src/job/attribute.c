/* attribute.c - see attribute.h. */
#include "attribute.h"
#include "causes.h"
#include "gains.h"
#include "links.h"
#include "marked.h"
#include "share.h"
#include "steps.h"
#include "units.h"
#include "withhold.h"
#include "unmarked.h"
#include "tlmpi/analysis/blame.h"
#include "tlmpi/analysis/roles.h"
#include "tlmpi/analysis/surplus.h"
#include "tlmpi/analysis/verdict.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/tables.h"
#include "tlmpi/par/par.h"
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------------------------------------- on the owners */

/* What the ranks of a collective did before it; found when it is asked for. */
typedef struct doings {
    tl_middles since, since_step;
    int64_t *scratch;
} doings;

/* Late by more than what the time since the previous collective explains: it was behind before. */
static void explain(const tl_collective_view *c, const tl_participant *p, int64_t late_ns, doings *d,
                    uint16_t share[TL_NPARTS])
{
    if (d->since.n == 0)
        tl_middles_find(&d->since, &c->by_rank->since, c->n, sizeof *c->by_rank, d->scratch);
    int64_t explained = tl_surplus(&d->since, &p->since, share);
    if (explained >= late_ns - late_ns / 4)
        return;
    if (d->since_step.n == 0)
        tl_middles_find(&d->since_step, &c->by_rank->since_step, c->n, sizeof *c->by_rank, d->scratch);
    uint16_t wider[TL_NPARTS];
    if (tl_surplus(&d->since_step, &p->since_step, wider) > explained)
        memcpy(share, wider, sizeof wider);
}

bool tl_late_rows_add(tl_late_rows *rows, const tl_collective_view *c)
{
    doings before = { .scratch = tl_malloc((c->n + 1) * sizeof *before.scratch) };
    bool whole = before.scratch != NULL;
    int64_t first = INT64_MAX, last = INT64_MIN, wait_ns = 0, kernel_ns = 0;

    for (size_t i = 0; i < c->n; i++) {
        const tl_participant *p = &c->by_rank[i];
        first = p->start_ns < first ? p->start_ns : first;
        last = p->start_ns > last ? p->start_ns : last;
    }
    for (size_t i = 0; i < c->n; i++) {
        const tl_participant *p = &c->by_rank[i];
        wait_ns = tl_ns_sum(wait_ns, tl_ns_between(tl_wait_end(c, p, last), p->start_ns));
        kernel_ns = tl_ns_sum(kernel_ns, tl_ns_between(p->end_ns, p->start_ns));
    }
    tl_wait_state wait = tl_wait_state_of(c);
    bool fits = wait != TL_WAIT_NONE && wait != TL_WAIT_SUSPECT;
    for (size_t i = 0; whole && i < c->n; i++) {
        const tl_participant *p = &c->by_rank[i];
        whole = tl_vec_room(rows);
        if (!whole)
            break;
        tl_late_row *row = &rows->v[rows->n++];
        *row = (tl_late_row){
            .collective = c->number,
            .start_ns = p->start_ns,
            .end_ns = p->end_ns,
            .rank = p->rank,
            .step = c->step,
            .own_step = p->step,
            .uid = p->uid,
            .previous = p->previous,
            .bytes = c->by_rank[0].bytes,
            .kind = c->kind,
            .fits = fits,
            .charged = fits && wait != TL_WAIT_INCONCLUSIVE,
            .pair = c->n == 2 && (c->kind == TL_SEND || c->kind == TL_RECV || c->kind == TL_SEND_RECV),
            .group = c->group,
            .peer = p->peer,
            .uncertainty_ns = c->uncertainty_ns,
            .hidden = fits && tl_clocks_hide(c, first, last, wait_ns, kernel_ns),
        };
        if (p->start_ns > first) /* the others were never late */
            explain(c, p, tl_ns_between(p->start_ns, first), &before, row->share);
    }
    free(before.scratch);
    return whole;
}

/* --------------------------------------------------------------------------------------------- proc 0: the charges */

typedef struct attributing {
    tl_tables *tables;
    const tl_late_row *rows;
    size_t nrows;
    int32_t *ranks; /* ascending */
    int64_t *late_counts;
    int32_t *marked; /* those with marks of steps that tell the same as most others' */
    size_t nmarked;
    tl_steps_from where_none; /* whose steps are those of the others */
    int32_t *roles;           /* of each rank */
    size_t nranks;
    int32_t *named, *named_roles; /* those, and the ranks without a trace that they send to or receive from */
    size_t nnamed;
    tl_blame_arrival *arrivals;
    tl_blame_collective *collectives;
    size_t ncollectives;
    tl_map place; /* of a charge in the table of blame */
} attributing;

static bool list_ranks(attributing *a)
{
    const tl_table *table = tl_tables_get(a->tables, &tl_rank_schema);
    a->ranks = tl_malloc((table->n + 1) * sizeof *a->ranks);
    a->late_counts = tl_calloc(table->n + 1, sizeof *a->late_counts);
    if (a->ranks == NULL || a->late_counts == NULL)
        return false;
    for (size_t i = 0; i < table->n; i++) {
        const tl_rank *row = tl_table_row(table, i);
        if (row->intervals > 0 && (a->nranks == 0 || a->ranks[a->nranks - 1] != row->rank))
            a->ranks[a->nranks++] = row->rank;
    }
    return true;
}

static bool is_marked(const attributing *a, int32_t rank)
{
    return tl_index_of(a->marked, a->nmarked, rank) < a->nmarked;
}

/* Steps that are not marked. */
static tl_status number_steps(attributing *a, tl_late_row *rows, tl_programs *programs, tl_error *err)
{
    const tl_table *steps = tl_tables_get(a->tables, &tl_step_schema);
    size_t nsteps = 0;
    bool follow = false, some = false, whole = tl_marked_list(steps, rows, a->nrows, &a->marked, &a->nmarked);
    for (size_t r = 0; r < a->nranks; r++)
        some = some || !is_marked(a, a->ranks[r]);
    if (whole && a->nmarked == 0)
        whole = tl_unmarked_number(rows, a->nrows, programs, &nsteps);
    else if (whole && some)
        whole = tl_unmarked_follow(rows, a->nrows, a->marked, a->nmarked, programs, &follow);
    a->where_none = follow ? TL_STEPS_MET : nsteps > 0 ? TL_STEPS_RETURNED : TL_STEPS_NONE;
    return whole ? TL_OK : tl_fail_memory(err, "the steps of the job");
}

/* What the steps of each rank come from; of those that follow others', where they meet them. */
static void tell_steps(const attributing *a, tl_table *stragglers)
{
    for (size_t i = 0; i < stragglers->n; i++) {
        tl_straggler *row = tl_table_row(stragglers, i);
        row->steps_from = (uint8_t)(is_marked(a, row->rank)         ? TL_STEPS_MARKED
                                    : a->where_none == TL_STEPS_MET ? TL_STEPS_NONE
                                                                    : a->where_none);
    }
    for (size_t i = 0; a->where_none == TL_STEPS_MET && i < a->nrows; i++) {
        size_t r = tl_index_of(a->ranks, a->nranks, a->rows[i].rank);
        if (r == a->nranks || !a->rows[i].fits || a->rows[i].step < 0)
            continue;
        tl_straggler *row = tl_table_row(stragglers, r);
        row->steps_from = row->steps_from == TL_STEPS_NONE ? TL_STEPS_MET : row->steps_from;
    }
}

static uint64_t kernel_key(int32_t rank, uint32_t uid)
{
    return (uint64_t)(uint32_t)rank << 32 | uid;
}

/* Rows come in the order of collectives. */
static bool list_arrivals(attributing *a)
{
    tl_map arrival_of = { 0 };
    a->arrivals = tl_malloc((a->nrows + 1) * sizeof *a->arrivals);
    a->collectives = tl_malloc((a->nrows + 1) * sizeof *a->collectives);
    bool whole = a->arrivals != NULL && a->collectives != NULL && a->nrows < UINT32_MAX;

    for (uint32_t i = 0; whole && i < a->nrows; i++)
        whole = tl_map_put(&arrival_of, kernel_key(a->rows[i].rank, a->rows[i].uid), i) == 0;
    for (uint32_t i = 0; whole && i < a->nrows; i++) {
        const tl_late_row *row = &a->rows[i];
        if (i == 0 || row->collective != row[-1].collective)
            a->collectives[a->ncollectives++] = (tl_blame_collective){
                i, 0, row->step, row->charged ? row->pair ? TL_BLAME_PASSES : TL_BLAME_CHARGES : TL_BLAME_IGNORED,
                !tl_is_synchronising((tl_collective)row->kind)
            };
        a->collectives[a->ncollectives - 1].n++;
        uint32_t previous =
            row->previous == TL_NONE ? TL_MAP_NONE : tl_map_get(&arrival_of, kernel_key(row->rank, row->previous));
        a->arrivals[i] = (tl_blame_arrival){ .start_ns = row->start_ns,
                                             .end_ns = row->end_ns,
                                             .rank = (uint32_t)tl_index_of(a->ranks, a->nranks, row->rank),
                                             .previous = previous == TL_MAP_NONE ? TL_NONE : previous,
                                             .uid = row->uid };
        for (int part = 0; part < TL_NPARTS; part++)
            a->arrivals[i].share[part] = row->share[part];
    }
    tl_map_free(&arrival_of);
    return whole;
}

/* Of equal ones the lowest rank was late. */
static void count_late(attributing *a)
{
    for (size_t c = 0; c < a->ncollectives; c++) {
        const tl_blame_collective *of = &a->collectives[c];
        const tl_blame_arrival *late = &a->arrivals[of->first];
        if (of->how != TL_BLAME_CHARGES)
            continue;
        for (uint32_t i = 1; i < of->n; i++)
            if (a->arrivals[of->first + i].start_ns > late->start_ns)
                late = &a->arrivals[of->first + i];
        a->late_counts[late->rank]++;
    }
}

static bool take_charge(void *arg, const tl_charge *charge)
{
    attributing *a = arg;
    tl_table *blame = tl_tables_get(a->tables, &tl_blame_schema);
    uint64_t key = tl_hash_mix(tl_hash_mix((uint64_t)charge->from << 32 | charge->to, (uint64_t)(int64_t)charge->step),
                               (uint64_t)charge->part);
    uint32_t at = tl_map_get(&a->place, key);

    if (at == TL_MAP_NONE) {
        tl_blame row = { .to_rank = a->ranks[charge->to],
                         .step = charge->step,
                         .from_rank = charge->from == TL_NONE ? -1 : a->ranks[charge->from],
                         .cause = (uint8_t)charge->part };
        at = (uint32_t)blame->n;
        if (!tl_table_append(blame, &row, 1) || tl_map_put(&a->place, key, at) != 0)
            return false;
    }
    tl_blame *row = tl_table_row(blame, at);
    row->direct_ns += charge->direct_ns;
    row->indirect_ns += charge->indirect_ns;
    row->waiters = (int32_t)charge->waiters > row->waiters ? (int32_t)charge->waiters : row->waiters;
    return true;
}

static tl_status charge(attributing *a, tl_error *err)
{
    if (!list_arrivals(a))
        return tl_fail_memory(err, "the arrivals of all ranks");
    const tl_blame_input input = { a->arrivals, a->nrows, a->collectives, a->ncollectives, a->nranks };
    count_late(a);
    tl_status st = tl_blame_charge(&input, take_charge, a, err);
    tl_map_free(&a->place);
    a->place = (tl_map){ 0 };
    if (st == TL_EINPUT)
        return TL_OK; /* times that are none: the quality table has them as suspect */
    if (st == TL_OK && !tl_table_sort(tl_tables_get(a->tables, &tl_blame_schema)))
        st = tl_fail_memory(err, "the blame");
    return st;
}

/* -------------------------------------------------------------------------------------------- proc 0: the verdicts */

static int by_value(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The ranks that have a trace, and those that they send to or receive from; ascending, each once. */
static int32_t *list_named(const attributing *a, size_t *n)
{
    int32_t *v = tl_malloc((a->nranks + a->nrows + 1) * sizeof *v);
    size_t m = 0, kept = 0;
    for (size_t r = 0; v != NULL && r < a->nranks; r++)
        v[m++] = a->ranks[r];
    for (size_t i = 0; v != NULL && i < a->nrows; i++)
        if (a->rows[i].peer >= 0)
            v[m++] = a->rows[i].peer;
    if (m > 1)
        qsort(v, m, sizeof *v, by_value);
    for (size_t i = 0; i < m; i++)
        if (kept == 0 || v[i] != v[kept - 1])
            v[kept++] = v[i];
    *n = kept;
    return v;
}

static uint32_t place_of(const int32_t *v, size_t n, int32_t rank)
{
    size_t at = tl_index_of(v, n, rank);
    return at < n ? (uint32_t)at : 0;
}

/* A pipeline keeps its stages where the traces of some are missing.  Two ranks of a job of two are peers, unless one is
 * said to send to the other. */
static bool find_roles(attributing *a)
{
    size_t n = 0;
    const int32_t *named = a->named = list_named(a, &a->nnamed);
    int32_t *roles = a->named_roles = tl_calloc(a->nnamed + 1, sizeof *roles);
    tl_rank_pair *pairs = tl_malloc((2 * a->nrows + 1) * sizeof *pairs);

    a->roles = tl_calloc(a->nranks + 1, sizeof *a->roles);
    bool whole = named != NULL && roles != NULL && pairs != NULL && a->roles != NULL;
    for (size_t i = 0; whole && i < a->nrows; i++) {
        const tl_late_row *x = &a->rows[i], *y = i > 0 ? x - 1 : NULL;
        if (y != NULL && y->collective == x->collective && y->fits && y->pair &&
            (a->nranks > 2 || y->kind != TL_SEND_RECV))
            pairs[n++] = (tl_rank_pair){ place_of(named, a->nnamed, y->rank), place_of(named, a->nnamed, x->rank) };
        if (x->peer >= 0)
            pairs[n++] = (tl_rank_pair){ place_of(named, a->nnamed, x->rank), place_of(named, a->nnamed, x->peer) };
    }
    whole = whole && tl_roles_of(pairs, n, a->nnamed, roles);
    for (size_t r = 0; whole && r < a->nranks; r++)
        a->roles[r] = roles[place_of(named, a->nnamed, a->ranks[r])];
    free(pairs);
    return whole;
}

static bool several_roles(const attributing *a)
{
    for (size_t r = 1; r < a->nranks; r++)
        if (a->roles[r] != a->roles[0])
            return true;
    return false;
}

/* Whether each rank of each group has a trace.  What others wait for where one has none may be its delay. */
static bool all_traced(const attributing *a)
{
    const tl_table *groups = tl_tables_get(a->tables, &tl_group_row_schema);
    for (size_t i = 0; i < groups->n; i++) {
        const tl_group_row *row = tl_table_row(groups, i);
        if (row->seen < row->size)
            return false;
    }
    return a->nnamed == a->nranks;
}

static tl_status judge(attributing *a, const tl_programs *programs, tl_error *err)
{
    size_t nsteps;
    tl_verdict_gains gained = { 0 };
    tl_job_step *steps = tl_job_steps_list(a->tables, a->marked, a->nmarked, a->rows, a->nrows, &nsteps);
    double *gain_ns = tl_malloc((a->nranks * nsteps + 1) * sizeof *gain_ns);
    double *sure_ns = tl_malloc((a->nranks + 1) * sizeof *sure_ns);
    int64_t *own_ns = tl_malloc((a->nranks + 1) * sizeof *own_ns);
    bool whole = steps != NULL && gain_ns != NULL && sure_ns != NULL && own_ns != NULL && find_roles(a);
    tl_status st = whole ? TL_OK : tl_fail_memory(err, "the steps of the job");
    tl_table *stragglers = tl_tables_get(a->tables, &tl_straggler_schema);
    tl_verdict_input input = {
        .blame = tl_tables_get(a->tables, &tl_blame_schema),
        .ranks = a->ranks,
        .roles = a->roles,
        .late_counts = a->late_counts,
        .nranks = a->nranks,
        .steps = steps,
        .nsteps = nsteps,
        .begun = whole && tl_job_begun(steps, nsteps, a->ranks, a->nranks, a->rows, a->nrows),
        .in_turn = whole && tl_job_ends_in_turn(steps, nsteps, a->rows, a->nrows),
    };
    tl_job_links links = { 0 };
    const tl_gain_input gain_input = { .rows = a->rows,
                                       .nrows = a->nrows,
                                       .ranks = a->ranks,
                                       .roles = a->roles,
                                       .nranks = a->nranks,
                                       .named = a->named,
                                       .named_roles = a->named_roles,
                                       .nnamed = a->nnamed,
                                       .programs = programs,
                                       .links = &links };
    tl_gains *gains = NULL;

    if (st == TL_OK)
        st = tl_gains_open(&gain_input, a->tables, &gains, err);
    if (st == TL_OK && tl_gains_known(gains)) {
        input.gain_ns = gain_ns;
        input.sure_ns = sure_ns;
        input.all_traced = all_traced(a);
        input.by_gain = several_roles(a);
        if (!tl_gains_by_step(gains, steps, nsteps, gain_ns, sure_ns) || !tl_gains_own(gains, own_ns))
            st = tl_fail_memory(err, "what each step would gain");
    }
    if (st == TL_OK)
        st = tl_verdict_make(&input, tl_tables_get(a->tables, &tl_blame_step_schema), stragglers, err);
    if (st == TL_OK)
        tell_steps(a, stragglers);
    if (st == TL_OK)
        st = tl_job_links_find(&links, &input, a->rows, a->nrows, a->tables, err);
    if (st == TL_OK)
        st = tl_gains_find(gains, &gained, err);
    if (st == TL_OK)
        st = tl_verdict_judge(&input, &gained, tl_tables_get(a->tables, &tl_blame_step_schema), stragglers, err);
    if (st == TL_OK)
        st = tl_units_judge(&input, own_ns, gains, a->tables, err);
    if (st == TL_OK)
        tl_job_links_judge(&input, gained.simulated, a->tables);
    if (st == TL_OK)
        st = tl_job_withhold(&input, a->rows, a->nrows, a->tables, err);
    tl_gains_close(gains);
    tl_job_links_free(&links);
    free(gain_ns);
    free(sure_ns);
    free(own_ns);
    free(steps);
    return st;
}

tl_status tl_attribute(tl_late_rows *rows, tl_programs *programs, const tl_details *details, tl_tables *tables,
                       tl_error *err)
{
    attributing a = { .tables = tables };
    tl_programs all_programs = { 0 };
    void *all = NULL;

    tl_status st = tl_collect_rows(rows->v, rows->n, sizeof *rows->v, &all, &a.nrows, NULL, err);
    free(rows->v);
    *rows = (tl_late_rows){ 0 };
    if (st == TL_OK)
        st = tl_programs_collect(programs, &all_programs, err);
    if (st == TL_OK && tl_par_proc() == 0) {
        a.rows = all;
        st = list_ranks(&a) ? TL_OK : tl_fail_memory(err, "the ranks of the job");
        if (st == TL_OK)
            st = number_steps(&a, all, &all_programs, err);
        if (st == TL_OK)
            st = charge(&a, err);
        if (st == TL_OK)
            st = judge(&a, &all_programs, err);
    }
    st = tl_par_agree(st, err);
    if (st == TL_OK)
        st = tl_causes_find(details, &(tl_cause_input){ a.ranks, a.roles, a.nranks }, tables, err);
    if (st == TL_OK && tl_par_proc() == 0)
        tl_verdict_sum_all(tl_tables_get(tables, &tl_blame_schema), tl_tables_get(tables, &tl_straggler_schema));
    tl_programs_free(&all_programs);
    free(all);
    free(a.ranks);
    free(a.marked);
    free(a.roles);
    free(a.named);
    free(a.named_roles);
    free(a.late_counts);
    free(a.arrivals);
    free(a.collectives);
    return st;
}
