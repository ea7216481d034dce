/* collectives.c - see collectives.h. */
#include "tlmpi/analysis/collectives.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/span.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>
#include <string.h>

/* By so much a kernel may seem to end before another begins, and ends may lie apart, beside what clocks leave open.  On
 * one host all-reduces were seen to end 0.4 ms apart. */
#define WAIT_SLACK_NS INT64_C(500000)
#define ENDS_SLACK_NS INT64_C(1000000)

/* The same of an all-to-all in which each gets something from all: one was seen to end 4.3 ms apart.  And where nothing
 * tells what it is: sends and receives that go to other ranks at other times are no collective at all.  A broadcast
 * makes no rank wait for those behind it, nor does an uneven all-to-all, in which some send others nothing: who is done
 * early says nothing against them. */
#define STRANGE_SLACK_NS INT64_C(5000000)

/* ----------------------------------------------------------------------------------------------------------- order */

static int by_key(const void *a, const void *b)
{
    const tl_participant *x = a, *y = b;
    int order = TL_COMPARE(x->group, y->group);
    if (order == 0)
        order = TL_COMPARE(x->key, y->key);
    if (order == 0)
        order = TL_COMPARE(x->rank, y->rank);
    if (order == 0)
        order = TL_COMPARE(x->start_ns, y->start_ns);
    return order != 0 ? order : TL_COMPARE(x->uid, y->uid);
}

/* Sorted by index, then put in place along the cycles of the permutation: a copy of all would double the memory. */
static int by_key_at(const void *parts, uint32_t a, uint32_t b)
{
    return by_key((const tl_participant *)parts + a, (const tl_participant *)parts + b);
}

static void permute(tl_participant *parts, uint32_t *order, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (order[i] == i)
            continue;
        tl_participant held = parts[i];
        size_t hole = i;
        while (order[hole] != i) {
            size_t next = order[hole];
            parts[hole] = parts[next];
            order[hole] = (uint32_t)hole;
            hole = next;
        }
        parts[hole] = held;
        order[hole] = (uint32_t)hole;
    }
}

bool tl_participants_sort(tl_participant *parts, size_t n)
{
    if (n > UINT32_MAX - 1)
        return false;
    uint32_t *order = tl_malloc((n + 1) * sizeof *order);
    for (size_t i = 0; order != NULL && i < n; i++)
        order[i] = (uint32_t)i;
    bool whole = order != NULL && tl_sort_index(order, n, by_key_at, parts);
    if (whole)
        permute(parts, order, n);
    free(order);
    return whole;
}

bool tl_runs_make(const tl_participant *parts, size_t n, tl_collective_run **runs, size_t *nruns)
{
    TL_VEC(tl_collective_run) made = { 0 };
    for (size_t from = 0, to; from < n; from = to) {
        tl_collective_run run = { .first = from, .s_first_ns = parts[from].start_ns };
        for (to = from; to < n && parts[to].group == parts[from].group && parts[to].key == parts[from].key; to++)
            run.s_first_ns = parts[to].start_ns < run.s_first_ns ? parts[to].start_ns : run.s_first_ns;
        run.n = to - from;
        if (!tl_vec_room(&made)) {
            free(made.v);
            return false;
        }
        made.v[made.n++] = run;
    }
    *runs = made.v;
    *nruns = made.n;
    return true;
}

typedef struct timed_runs {
    const tl_participant *parts;
    const tl_collective_run *runs;
} timed_runs;

static int by_time(const void *context, uint32_t a, uint32_t b)
{
    const timed_runs *t = context;
    const tl_collective_run *x = &t->runs[a], *y = &t->runs[b];
    int order = TL_COMPARE(x->s_first_ns, y->s_first_ns);
    if (order == 0)
        order = TL_COMPARE(t->parts[x->first].group, t->parts[y->first].group);
    return order != 0 ? order : TL_COMPARE(t->parts[x->first].key, t->parts[y->first].key);
}

bool tl_runs_by_time(const tl_participant *parts, tl_collective_run *runs, size_t n)
{
    const timed_runs context = { parts, runs };
    uint32_t *order = tl_malloc((n + 1) * sizeof *order);
    tl_collective_run *sorted = tl_malloc((n + 1) * sizeof *sorted);
    for (size_t i = 0; order != NULL && i < n; i++)
        order[i] = (uint32_t)i;
    bool whole = order != NULL && sorted != NULL && tl_sort_index(order, n, by_time, &context);
    for (size_t i = 0; whole && i < n; i++)
        sorted[i] = runs[order[i]];
    if (whole && n > 0)
        memcpy(runs, sorted, n * sizeof *runs);
    free(order);
    free(sorted);
    return whole;
}

/* ---------------------------------------------------------------------------------------------------------- checks */

/* Sizes of one message: ranks that send to each other may give and get different amounts. */
static bool sizes_agree(const tl_participant *a, const tl_participant *b)
{
    return a->bytes < 0 || b->bytes < 0 || a->bytes == b->bytes ||
           !(tl_is_synchronising((tl_collective)a->kind) || a->kind == TL_BROADCAST || a->kind == TL_REDUCE ||
             a->kind == TL_SEND || a->kind == TL_RECV);
}

/* A kernel's name tells less than an annotation: "send_recv" may be an all-to-all.  And a send meets a receive. */
static bool kinds_agree(uint8_t a, uint8_t b)
{
    if (a == b || a == TL_COLL_UNKNOWN || b == TL_COLL_UNKNOWN)
        return true;
    if (a == TL_SEND_RECV || b == TL_SEND_RECV) {
        uint8_t other = a == TL_SEND_RECV ? b : a;
        return !tl_is_synchronising((tl_collective)other) && other != TL_BROADCAST && other != TL_REDUCE;
    }
    return (a == TL_SEND && b == TL_RECV) || (a == TL_RECV && b == TL_SEND);
}

/* Each against the first that tells. */
tl_suspicion tl_collective_suspect(const tl_participant *p, size_t n)
{
    const tl_participant *kind = p, *dtype = p, *bytes = p;
    tl_suspicion worst = TL_SUSPECT_NOTHING;

    for (size_t i = 1; i < n; i++) {
        tl_suspicion s = TL_SUSPECT_NOTHING;
        kind = kind->kind == TL_COLL_UNKNOWN || kind->kind == TL_SEND_RECV ? &p[i] : kind;
        dtype = dtype->dtype == 0 ? &p[i] : dtype;
        bytes = bytes->bytes < 0 ? &p[i] : bytes;
        if (!kinds_agree(kind->kind, p[i].kind) || !kinds_agree(p[i - 1].kind, p[i].kind))
            s = TL_SUSPECT_KIND;
        else if (p[i].dtype != 0 && dtype->dtype != p[i].dtype)
            s = TL_SUSPECT_DTYPE;
        else if (!sizes_agree(bytes, &p[i]))
            s = TL_SUSPECT_SIZE;
        else if (p[i].rank == p[i - 1].rank)
            s = TL_SUSPECT_TWICE;
        if (s != TL_SUSPECT_NOTHING && (worst == TL_SUSPECT_NOTHING || s < worst))
            worst = s;
    }
    return worst;
}

/* How far apart in time the parts of one collective may be, beside what clocks leave open; INT64_MAX: as far as they
 * like. */
typedef struct slack {
    int64_t wait_ns, ends_ns;
} slack;

/* Whether all ranks send as much. */
static bool is_even(const tl_collective_view *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->by_rank[i].bytes <= 0 || c->by_rank[i].bytes != c->by_rank[0].bytes)
            return false;
    return true;
}

static slack slack_of(const tl_collective_view *c)
{
    if (tl_is_synchronising((tl_collective)c->kind))
        return (slack){ WAIT_SLACK_NS, ENDS_SLACK_NS };
    if (c->kind == TL_COLL_UNKNOWN || c->kind == TL_SEND_RECV || (c->kind == TL_ALL_TO_ALL && is_even(c)))
        return (slack){ STRANGE_SLACK_NS, STRANGE_SLACK_NS };
    return (slack){ INT64_MAX, INT64_MAX };
}

/* Nothing is received before it is sent; of two that do both neither is done before the other has come. */
static bool is_received_early(const tl_participant *p, int64_t doubt_ns)
{
    if (p[0].kind == p[1].kind) {
        int64_t last = p[0].start_ns > p[1].start_ns ? p[0].start_ns : p[1].start_ns;
        int64_t first = p[0].end_ns < p[1].end_ns ? p[0].end_ns : p[1].end_ns;
        return tl_ns_between(last, first) > tl_ns_sum(WAIT_SLACK_NS, doubt_ns);
    }
    const tl_participant *send = p[0].kind == TL_SEND ? &p[0] : &p[1], *recv = send == p ? &p[1] : &p[0];
    return tl_ns_between(send->start_ns, recv->end_ns) > tl_ns_sum(WAIT_SLACK_NS, doubt_ns);
}

/* The checks of time: nobody is done before all have come, and all end together; where the collective makes them. */
static tl_suspicion suspect_times(const tl_collective_view *c)
{
    int64_t s_last = INT64_MIN, e_first = INT64_MAX, e_last = INT64_MIN;
    int64_t doubt_ns = tl_ns_sum(c->uncertainty_ns, tl_ns_sum(c->uncertainty_ns, c->uncertainty_ns));
    const slack most = slack_of(c);

    if (c->n < 2)
        return TL_SUSPECT_NOTHING;
    if (c->n == 2 && c->by_rank[0].peer == c->by_rank[1].rank)
        return is_received_early(c->by_rank, doubt_ns) ? TL_SUSPECT_WAIT : TL_SUSPECT_NOTHING;
    for (size_t i = 0; i < c->n; i++) {
        const tl_participant *p = &c->by_rank[i];
        s_last = p->start_ns > s_last ? p->start_ns : s_last;
        e_first = p->end_ns < e_first ? p->end_ns : e_first;
        e_last = p->end_ns > e_last ? p->end_ns : e_last;
    }
    if (tl_ns_between(s_last, e_first) > tl_ns_sum(most.wait_ns, doubt_ns))
        return TL_SUSPECT_WAIT;
    int64_t ring = tl_ns_between(e_last, s_last) / 8 * 7; /* behind a slow link some are spared the last passes */
    ring = ring > most.ends_ns ? ring : most.ends_ns;
    return tl_ns_between(e_last, e_first) > tl_ns_sum(ring, doubt_ns) ? TL_SUSPECT_ENDS : TL_SUSPECT_NOTHING;
}

/* -------------------------------------------------------------------------------------------------- one collective */

const tl_rank_place *tl_place_of(const tl_job_facts *facts, int32_t rank)
{
    size_t low = 0, high = facts->nranks;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (facts->ranks[mid].rank < rank)
            low = mid + 1;
        else
            high = mid;
    }
    return low < facts->nranks && facts->ranks[low].rank == rank ? &facts->ranks[low] : NULL;
}

static int64_t error_of(const tl_rank_place *r)
{
    int64_t offset = r->applied ? 0 : r->offset_ns < 0 ? -r->offset_ns : r->offset_ns;
    return offset > r->sigma_ns ? offset : r->sigma_ns;
}

void tl_clock_doubt_add(tl_clock_doubt *doubt, const tl_rank_place *rank)
{
    if (rank == NULL)
        return;
    doubt->several |= doubt->clock >= 0 && doubt->clock != rank->clock;
    bool apart = doubt->clock >= 0 && doubt->clock != rank->clock && doubt->component != rank->component;
    doubt->apart |= apart;
    doubt->untied |= apart && doubt->host >= 0 && rank->host >= 0 && doubt->host != rank->host;
    doubt->host = rank->host;
    doubt->clock = rank->clock;
    doubt->component = rank->component;
    doubt->worst_ns = error_of(rank) > doubt->worst_ns ? error_of(rank) : doubt->worst_ns;
}

int64_t tl_clock_doubt_of(const tl_clock_doubt *doubt)
{
    return doubt->untied ? TL_CLOCK_UNTIED_NS : doubt->several ? doubt->worst_ns : 0;
}

static int64_t uncertainty_of(const tl_collective_view *c, const tl_job_facts *facts)
{
    tl_clock_doubt doubt = { .clock = -1 };
    for (size_t i = 0; i < c->n; i++)
        tl_clock_doubt_add(&doubt, tl_place_of(facts, c->by_rank[i].rank));
    return tl_clock_doubt_of(&doubt);
}

bool tl_clocks_hide(const tl_collective_view *c, int64_t first_ns, int64_t last_ns, int64_t wait_ns, int64_t kernel_ns)
{
    double doubt = 2 * (double)c->uncertainty_ns;
    return (double)tl_ns_between(last_ns, first_ns) < doubt &&
           (double)wait_ns + doubt * (double)c->n >= 0.2 * (double)kernel_ns;
}

/* Of two that send to each other the one that came last was waited for. */
static tl_wait_state state_of_pair(const tl_participant *p)
{
    const tl_participant *late = p[1].start_ns > p[0].start_ns ? &p[1] : &p[0], *other = late == p ? &p[1] : &p[0];
    bool sends = late->kind == TL_SEND || (other->kind == TL_RECV && late->kind != TL_RECV);
    bool receives = late->kind == TL_RECV || (other->kind == TL_SEND && late->kind != TL_SEND);
    return sends == receives ? TL_WAIT_LATE_PARTNER : sends ? TL_WAIT_LATE_SENDER : TL_WAIT_LATE_RECEIVER;
}

tl_wait_state tl_wait_state_of(const tl_collective_view *c)
{
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (size_t i = 0; i < c->n; i++) {
        first = tl_ns_min(first, c->by_rank[i].start_ns);
        last = tl_ns_max(last, c->by_rank[i].start_ns);
    }
    if (c->n < 2 || c->state == TL_COLL_UNMATCHED)
        return TL_WAIT_NONE;
    if (c->suspect != TL_SUSPECT_NOTHING)
        return TL_WAIT_SUSPECT;
    if (tl_ns_between(last, first) / 2 < c->uncertainty_ns)
        return TL_WAIT_INCONCLUSIVE;
    if (c->n == 2 && (c->kind == TL_SEND || c->kind == TL_RECV || c->kind == TL_SEND_RECV))
        return state_of_pair(c->by_rank);
    return TL_WAIT_LATE_RANK;
}

int64_t tl_wait_end(const tl_collective_view *c, const tl_participant *p, int64_t last_start_ns)
{
    if (last_start_ns <= p->end_ns)
        return last_start_ns;
    if (tl_is_synchronising((tl_collective)c->kind))
        return p->end_ns;
    int64_t end_ns = p->start_ns;
    for (size_t i = 0; i < c->n; i++)
        if (c->by_rank[i].start_ns <= p->end_ns)
            end_ns = tl_ns_max(end_ns, c->by_rank[i].start_ns);
    return end_ns;
}

/* Whether it is between two ranks, and known between which. */
static bool is_pair(const tl_collective_view *c)
{
    return c->by_rank[0].peer >= 0;
}

/* Ranks that have a trace and should be there. */
static int32_t expected_of(const tl_collective_view *c, const tl_group_fact *group, const tl_job_facts *facts)
{
    if (!is_pair(c))
        return group->seen;
    return 1 + (tl_place_of(facts, c->by_rank[0].peer) != NULL && c->by_rank[0].peer != c->by_rank[0].rank);
}

/* Of a pair its two ranks tell, of others their group. */
static uint8_t span_of(const tl_collective_view *c, const tl_group_fact *group, const tl_job_facts *facts)
{
    if (!is_pair(c))
        return group->span;
    const tl_rank_place *a = tl_place_of(facts, c->by_rank[0].rank), *b = tl_place_of(facts, c->by_rank[0].peer);
    if (a == NULL || b == NULL || a->host < 0 || b->host < 0)
        return TL_SPAN_UNKNOWN;
    return a->host == b->host ? TL_SPAN_INTRA_NODE : TL_SPAN_INTER_NODE;
}

static tl_coll_state state_of(const tl_collective_view *c)
{
    if (c->n == 1 && c->size != 1)
        return c->expected > 1 ? TL_COLL_UNMATCHED : TL_COLL_PARTIAL;
    if (c->n < (size_t)c->expected)
        return TL_COLL_MISSING;
    return c->size >= 0 && c->n < (size_t)c->size ? TL_COLL_PARTIAL : TL_COLL_WHOLE;
}

/* The step in which most of those that tell one launched it, else that of the lowest rank that does: a damaged trace may
 * have lost its marks, and a rank may number its steps otherwise than the rest. */
static int32_t step_of(const tl_participant *p, size_t n)
{
    int32_t lowest = -1, most = -1;
    size_t lead = 0, told = 0, count = 0;

    for (size_t i = 0; i < n; i++) {
        if (p[i].step < 0)
            continue;
        lowest = lowest < 0 ? p[i].step : lowest;
        most = lead == 0 ? p[i].step : most;
        lead = p[i].step == most ? lead + 1 : lead - 1; /* what more than half tell is left */
        told++;
    }
    for (size_t i = 0; most != lowest && i < n; i++)
        count += p[i].step == most;
    return 2 * count > told ? most : lowest;
}

tl_collective_view tl_collective_of_run(const tl_participant *parts, const tl_collective_run *run,
                                        const tl_job_facts *facts)
{
    const tl_participant *p = parts + run->first;
    static const tl_group_fact nobody = { .size = -1 };
    const tl_group_fact *group =
        p->group >= 0 && (size_t)p->group < facts->ngroups ? &facts->groups[p->group] : &nobody;
    tl_collective_view c = {
        .by_rank = p, .n = run->n, .group = p->group, .kind = p->kind, .rule = p->rule, .step = step_of(p, run->n)
    };

    for (size_t i = 1; i < run->n; i++) {
        if (c.kind == TL_COLL_UNKNOWN || c.kind == TL_SEND_RECV)
            c.kind = p[i].kind != TL_COLL_UNKNOWN ? p[i].kind : c.kind;
        if (p[i].rule < c.rule) /* rules are in order of trust; endtime only joins what another began */
            c.rule = p[i].rule;
    }
    c.expected = expected_of(&c, group, facts);
    c.size = is_pair(&c) ? 2 : group->size;
    c.state = (uint8_t)state_of(&c);
    c.span = span_of(&c, group, facts);
    if (c.n == 1)
        c.rule = TL_BY_NOTHING;
    else if (is_pair(&c))
        c.kind = TL_SEND_RECV;
    c.uncertainty_ns = uncertainty_of(&c, facts);
    c.suspect = (uint8_t)tl_collective_suspect(p, run->n);
    if (c.suspect == TL_SUSPECT_NOTHING)
        c.suspect = (uint8_t)suspect_times(&c);
    return c;
}
