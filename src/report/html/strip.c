/* strip.c - which step and which ranks the strip shows, what covers the columns of their lanes, and the critical
 * path. */
#include "tlmpi/report/html/strip.h"

#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/idle_tables.h"
#include "tlmpi/model/path_tables.h"
#include <math.h>

TL_SORT_BY(by_rank_and_start, tl_strip_stay, rank, start_ns, collective)
TL_SORT_BY(by_begin, tl_strip_piece, from_ns, to_ns, rank)

static int64_t length_of(const tl_strip *s)
{
    return tl_ns_between(s->to_ns, s->from_ns);
}

size_t tl_strip_place(const tl_strip *s, int32_t rank)
{
    size_t at = 0;
    TL_BISECT(at, s->nranks, mid, s->ranks[mid].rank < rank);
    return at < s->nranks && s->ranks[at].rank == rank ? at : s->nranks;
}

/* ----------------------------------------------------------------------------------------------------------- clocks */

/* Returns the clock of a rank whose times in table collective are corrected; else NULL. */
static const tl_clock *clock_of(const tl_strip *s, int32_t rank)
{
    const tl_clock *row = tl_row_of_rank(tl_tables_get(s->in->tables, &tl_clock_schema), rank);
    return row != NULL && row->applied != 0 ? row : NULL;
}

/* The table does not say when a clock steps: only offset and drift are corrected. */
int64_t tl_strip_time(const tl_strip *s, const tl_clock *clock, int64_t ns)
{
    if (clock == NULL || ns == TL_TIME_UNKNOWN)
        return ns;
    int64_t ppb = tl_ns_within(clock->drift_ppb, 1000000000);
    return tl_ns_between(ns, tl_ns_sum(clock->offset_ns, tl_ns_of_drift(ppb, tl_ns_between(ns, s->middle_ns))));
}

/* --------------------------------------------------------------------------------------- which step, and when it is */

/* Returns the step with the largest excess of the worst culprit; without one the longest step.  The first and last step
 * are not candidates for the longest if there are others, since a recording may cut them. */
static int32_t choose_step(const tl_strip *s)
{
    const tl_table *rows = tl_tables_get(s->in->tables, &tl_blame_step_schema);
    const tl_answers *a = s->in->answers;
    const int32_t worst = a->first != NULL && !tl_is_link(a->first) ? a->first->rank : -1;
    int32_t first = INT32_MAX, last = INT32_MIN, step = -1;
    int64_t most_ns = -1;
    TL_ROWS (const tl_blame_step, row, rows) {
        first = row->step < first ? row->step : first;
        last = row->step > last ? row->step : last;
    }
    TL_ROWS (const tl_blame_step, row, rows) {
        bool at_end = (int64_t)last - first >= 2 && (row->step == first || row->step == last);
        int64_t ns = worst >= 0 ? row->excess_ns : row->step_ns;
        if ((worst >= 0 ? row->rank == worst : !at_end) && ns > most_ns) {
            most_ns = ns;
            step = row->step;
        }
    }
    return step;
}

static void take_collective(void *strip, const void *of)
{
    tl_strip *s = strip;
    const tl_collective_row *row = of;
    bool told = row->n > 1 && row->wait_state >= TL_WAIT_LATE_RANK && row->wait_state <= TL_WAIT_LATE_PARTNER;
    tl_vec_push(&s->meetings, (tl_strip_meeting){ .first_ns = row->s_first_ns,
                                                  .last_ns = row->s_last_ns,
                                                  .end_ns = tl_ns_sum(row->e_first_ns, row->end_spread_ns),
                                                  .step = row->step,
                                                  .late_rank = row->late_rank,
                                                  .kind = row->kind,
                                                  .told = told,
                                                  .by_rank = row->wait_state == TL_WAIT_LATE_RANK });
}

typedef struct extent {
    int64_t from_ns, to_ns;
} extent;

static void extend_span(extent *e, int64_t from_ns, int64_t to_ns)
{
    if (from_ns == TL_TIME_UNKNOWN || to_ns < from_ns)
        return;
    e->from_ns = tl_ns_min(e->from_ns, from_ns);
    e->to_ns = tl_ns_max(e->to_ns, to_ns);
}

/* Sets the window of the step: from the last end of the previous step's collectives to the last end of its own.  If the
 * step's first arrival is earlier, the window begins there, but at most a tenth of its length earlier.  If the first
 * step that is asked for is below 0, the window has all work of devices and all marks. */
static void find_window(tl_strip *s, bool asked)
{
    extent all = { INT64_MAX, INT64_MIN }, own = all, marks = all;
    int64_t before_ns = INT64_MIN; /* last end of step `before`, the latest before the window's */
    int32_t before = -1;

    TL_EACH (const tl_strip_meeting, m, s->meetings) {
        extend_span(&all, m->first_ns, m->end_ns);
        if (m->step >= s->step && m->step <= s->last_step)
            extend_span(&own, m->first_ns, m->end_ns);
        if (m->step >= 0 && m->step < s->step && m->step >= before) {
            before_ns = m->step == before ? tl_ns_max(before_ns, m->end_ns) : m->end_ns;
            before = m->step;
        }
    }
    s->middle_ns = all.from_ns <= all.to_ns ? all.from_ns + tl_ns_between(all.to_ns, all.from_ns) / 2 : 0;
    TL_ROWS (const tl_step, row, tl_tables_get(s->in->tables, &tl_step_schema))
        if (row->step >= s->step && row->step <= s->last_step)
            extend_span(&marks, row->start_ns, row->end_ns);
    if (s->step >= 0 && !asked && own.from_ns > own.to_ns && marks.from_ns > marks.to_ns)
        s->step = s->last_step = -1; /* steps were counted without marks: no row has this step */
    TL_ROWS (const tl_rank, row, tl_tables_get(s->in->tables, &tl_rank_schema)) {
        const tl_clock *clock = clock_of(s, row->rank);
        if (asked && s->step < 0)
            extend_span(&marks, tl_strip_time(s, clock, row->first_ns), tl_strip_time(s, clock, row->last_ns));
    }
    if (asked && s->step < 0)
        extend_span(&all, marks.from_ns, marks.to_ns);
    extent e = s->step < 0 ? all : own.from_ns <= own.to_ns ? own : marks;
    if (e.from_ns >= e.to_ns)
        return;
    if (e.from_ns == own.from_ns && before >= 0 && before_ns < own.to_ns)
        e.from_ns = tl_ns_max(tl_ns_min(own.from_ns, before_ns), before_ns - tl_ns_between(own.to_ns, before_ns) / 10);
    s->from_ns = e.from_ns;
    s->to_ns = e.to_ns;
}

/* ----------------------------------------------------------------------------------------------- paths and arrivals */

static void add_piece(tl_strip *s, int32_t rank, int64_t from_ns, int64_t to_ns)
{
    from_ns = tl_ns_max(from_ns, s->from_ns);
    to_ns = tl_ns_min(to_ns, s->to_ns);
    if (from_ns >= to_ns)
        return;
    if (s->path.n == 0 || s->path.v[s->path.n - 1].rank != rank)
        tl_vec_push(&s->path, (tl_strip_piece){ rank, from_ns, to_ns });
    tl_strip_piece *last = &s->path.v[s->path.n - 1];
    last->from_ns = tl_ns_min(last->from_ns, from_ns);
    last->to_ns = tl_ns_max(last->to_ns, to_ns);
}

static void take_path(void *strip, const void *row)
{
    tl_strip *s = strip;
    const tl_rank_path_row *p = row;
    if (p->rank >= 0 || p->peer < 0)
        return;
    const tl_clock *clock = clock_of(s, p->peer);
    s->whole_path = true;
    add_piece(s, p->peer, tl_strip_time(s, clock, p->start_ns), tl_strip_time(s, clock, p->end_ns));
}

/* Counts how late each rank came to the collective whose arrivals are in `now`, from the median arrival on. */
static void count_late(tl_strip *s)
{
    int64_t *starts = tl_calloc(s->now.n + 1, sizeof *starts);
    for (size_t i = 0; i < s->now.n; i++)
        starts[i] = s->now.v[i].start_ns;
    int64_t middle_ns = s->now.n > 1 ? tl_lower_median(starts, s->now.n) : 0;
    for (size_t i = 0; i < s->now.n && s->now.n > 1; i++) {
        int64_t late_ns = tl_ns_between(s->now.v[i].start_ns, middle_ns);
        size_t at = 0;
        TL_BISECT(at, s->nlate, mid, s->late[mid].rank < s->now.v[i].rank);
        const double bin = late_ns < 1000 ? 0 : 1 + floor(TL_LATE_DECADE * log10((double)late_ns / 1000));
        s->late[at].count[bin < TL_LATE_BINS ? (size_t)bin : TL_LATE_BINS]++;
        s->late[at].n++;
        s->late[at].late_ns = tl_ns_sum(s->late[at].late_ns, tl_ns_max(late_ns, 0));
    }
    free(starts);
    s->now.n = 0;
}

static void take_arrival(void *strip, const void *of)
{
    tl_strip *s = strip;
    const tl_arrival *row = of;
    if (row->collective < 0 || (uint64_t)row->collective >= s->meetings.n)
        return;
    if (s->now.n > 0 && s->now.v[0].collective != row->collective)
        count_late(s);
    if (s->meetings.v[row->collective].by_rank)
        tl_vec_push(&s->now,
                    (tl_strip_stay){ .rank = row->rank, .start_ns = row->start_ns, .collective = row->collective });
    if (row->start_ns < s->to_ns && row->end_ns > s->from_ns && s->meetings.v[row->collective].told)
        tl_vec_push(&s->stays,
                    (tl_strip_stay){ row->rank, row->start_ns, tl_ns_max(row->wait_ns, 0), 0, row->collective });
}

/* ------------------------------------------------------------------------------------------------------ which ranks */

/* Reasons to draw a rank, by priority; among candidates the largest weight wins, and 0 is no reason. */
enum why {
    NAMED,
    AWAITED,   /* ns of the critical path on the rank, or, without table path, ns that others wait for it */
    FOR_NAMED, /* ns that the rank waits for named ranks */
    NWHYS
};

typedef struct candidate {
    int32_t rank;
    bool chosen;
    int64_t weight[NWHYS];
} candidate;

typedef TL_VEC(candidate) candidates;

static candidate *candidate_of(const candidates *c, int32_t rank)
{
    size_t at = 0;
    TL_BISECT(at, c->n, mid, c->v[mid].rank < rank);
    return at < c->n && c->v[at].rank == rank ? &c->v[at] : NULL;
}

static void add_weight(candidate *one, enum why why, int64_t weight)
{
    if (one != NULL)
        one->weight[why] = tl_ns_sum(one->weight[why], weight);
}

static candidates find_candidates(const tl_strip *s)
{
    candidates c = { 0 };
    TL_ROWS (const tl_rank, row, tl_tables_get(s->in->tables, &tl_rank_schema))
        if (row->intervals > 0)
            tl_vec_push(&c, (candidate){ .rank = row->rank });
    for (size_t i = 0; i < s->nnamed; i++)
        add_weight(candidate_of(&c, s->named[i]), NAMED, 1);
    TL_EACH (const tl_strip_stay, stay, s->stays) {
        candidate *late = candidate_of(&c, s->meetings.v[stay->collective].late_rank);
        if (!s->whole_path)
            add_weight(late, AWAITED, stay->wait_ns);
        if (late != NULL && late->weight[NAMED] > 0)
            add_weight(candidate_of(&c, stay->rank), FOR_NAMED, stay->wait_ns);
    }
    TL_EACH (const tl_strip_piece, piece, s->path)
        add_weight(candidate_of(&c, piece->rank), AWAITED, tl_ns_between(piece->to_ns, piece->from_ns));
    return c;
}

/* Chooses TL_STRIP_RANKS ranks of a larger job: for each reason those with the largest weights (ties by rank,
 * ascending), then other ranks, evenly spaced. */
static void choose_some(const candidates *c)
{
    static const size_t most[NWHYS] = { [NAMED] = 8, [AWAITED] = 4, [FOR_NAMED] = 8 };
    size_t chosen = 0, at = 0;
    for (int why = 0; why < NWHYS; why++)
        for (size_t n = 0; n < most[why]; n++) {
            candidate *best = NULL;
            TL_EACH (candidate, one, *c)
                if (!one->chosen && one->weight[why] > (best != NULL ? best->weight[why] : 0))
                    best = one;
            if (best == NULL)
                break;
            best->chosen = true;
            chosen++;
        }
    const size_t left = c->n - chosen, room = TL_STRIP_RANKS - chosen;
    TL_EACH (candidate, one, *c)
        if (!one->chosen) {
            one->chosen = (at + 1) * room / left > at * room / left;
            at++;
        }
}

static void choose_ranks(tl_strip *s, const tl_ranges *wanted)
{
    candidates c = find_candidates(s);
    TL_EACH (candidate, one, c)
        one->chosen = wanted != NULL ? tl_ranges_has(wanted, one->rank) : c.n <= TL_STRIP_RANKS;
    if (wanted == NULL && c.n > TL_STRIP_RANKS)
        choose_some(&c);
    s->nall = c.n;
    s->ranks = tl_calloc((wanted != NULL ? c.n : TL_STRIP_RANKS) + 1, sizeof *s->ranks);
    TL_EACH (const candidate, one, c)
        if (one->chosen) {
            tl_strip_rank *r = &s->ranks[s->nranks++];
            r->rank = one->rank;
            r->named = one->weight[NAMED] > 0;
            r->clock = clock_of(s, one->rank);
        }
    free(c.v);
}

/* ---------------------------------------------------------------------------------------------------------- columns */

static void add_cover(const tl_strip *s, tl_strip_rank *r, tl_strip_class class, int64_t from_ns, int64_t to_ns)
{
    if (from_ns == TL_TIME_UNKNOWN || from_ns >= s->to_ns || to_ns <= s->from_ns || to_ns <= from_ns)
        return;
    double column_ns = (double)length_of(s) / TL_STRIP_COLUMNS;
    double from = (double)tl_ns_between(tl_ns_max(from_ns, s->from_ns), s->from_ns) / column_ns;
    double to = (double)tl_ns_between(tl_ns_min(to_ns, s->to_ns), s->from_ns) / column_ns;
    for (size_t k = (size_t)from; k < TL_STRIP_COLUMNS && (double)k < to; k++) {
        double left = from > (double)k ? from : (double)k, right = to < (double)(k + 1) ? to : (double)(k + 1);
        r->cover[class][k] += (float)(right - left);
    }
}

static void cover_on_device(tl_strip *s, int32_t rank, tl_strip_class class, int64_t start_ns, int64_t end_ns)
{
    size_t at = tl_strip_place(s, rank);
    if (at == s->nranks)
        return;
    tl_strip_rank *r = &s->ranks[at];
    add_cover(s, r, class, tl_strip_time(s, r->clock, start_ns), tl_strip_time(s, r->clock, end_ns));
}

static void take_interval(void *strip, const void *of)
{
    const tl_interval *row = of;
    tl_strip_class class = row->kind == TL_COMPUTE ? TL_STRIP_COMPUTE
                           : row->kind == TL_COMM  ? TL_STRIP_COMM
                                                   : TL_STRIP_COPY;
    if (row->kind != TL_SYNC)
        cover_on_device(strip, row->rank, class, row->start_ns, row->end_ns);
}

static void take_gap(void *strip, const void *row)
{
    const tl_gap *gap = row;
    bool host = gap->cpu_during_gap == TL_DOING_CPU || gap->cpu_during_gap == TL_DOING_UNTRACED ||
                gap->cpu_during_gap == TL_DOING_RUNTIME || gap->cpu_during_gap == TL_DOING_NO_TRACE;
    tl_strip_class class = gap->drain_type == TL_DRAIN_SYNC ? TL_STRIP_IDLE_SYNC
                           : host                           ? TL_STRIP_IDLE_HOST
                                                            : TL_STRIP_IDLE_LAUNCH;
    cover_on_device(strip, gap->rank, class, gap->start_ns, gap->end_ns);
}

tl_strip_class tl_strip_shown(const tl_strip_rank *r, bool communication, size_t column, bool *thin)
{
    const float half = 0.5F, least = 0.02F; /* shares of a column */
    float compute = r->cover[TL_STRIP_COMPUTE][column], copy = r->cover[TL_STRIP_COPY][column];
    float comm = r->cover[TL_STRIP_COMM][column], wait = r->cover[TL_STRIP_WAIT][column];
    float busy = communication ? (comm > wait ? comm : wait) : compute + copy;

    *thin = busy < half || (communication && wait >= comm / 2 && compute + copy >= half);
    if (busy >= least)
        return communication ? (wait >= comm / 2 ? TL_STRIP_WAIT : TL_STRIP_COMM)
                             : (compute >= copy ? TL_STRIP_COMPUTE : TL_STRIP_COPY);
    *thin = false;
    for (unsigned k = TL_STRIP_IDLE_HOST; k <= TL_STRIP_IDLE_LAUNCH && !communication; k++)
        if (r->cover[k][column] >= half)
            return (tl_strip_class)k;
    return TL_STRIP_NCLASSES;
}

/* --------------------------------------------------------------------------------------------- what holds a rank up */

static int64_t column_ns(const tl_strip *s)
{
    return length_of(s) / TL_STRIP_COLUMNS + 1;
}

/* Returns the share of a column in which the device has no work. */
static double free_share(const tl_strip_rank *r, size_t column)
{
    double work = (double)r->cover[TL_STRIP_COMPUTE][column] + (double)r->cover[TL_STRIP_COPY][column];
    return work < 1 ? 1 - work : 0;
}

/* Returns the ns of the stay's waiting in which the device has no work, estimated from the covered columns. */
static int64_t exposed_part(const tl_strip *s, const tl_strip_rank *r, const tl_strip_stay *stay)
{
    int64_t from_ns = tl_ns_max(stay->start_ns, s->from_ns), each_ns = column_ns(s);
    int64_t to_ns = tl_ns_min(tl_ns_sum(stay->start_ns, stay->wait_ns), s->to_ns);
    if (from_ns >= to_ns)
        return 0;
    size_t first = (size_t)(tl_ns_between(from_ns, s->from_ns) / each_ns), k = first;
    double share = 0;
    for (; k < TL_STRIP_COLUMNS && (int64_t)k * each_ns < tl_ns_between(to_ns, s->from_ns); k++)
        share += free_share(r, k);
    return k > first ? (int64_t)((double)tl_ns_between(to_ns, from_ns) * share / (double)(k - first)) : 0;
}

static void sum_waits(tl_strip *s)
{
    TL_EACH (tl_strip_stay, stay, s->stays) {
        size_t at = tl_strip_place(s, stay->rank), late = tl_strip_place(s, s->meetings.v[stay->collective].late_rank);
        if (at == s->nranks) {
            stay->exposed_ns = stay->wait_ns; /* a rank that is not drawn: its device work is not known */
            continue;
        }
        stay->exposed_ns = exposed_part(s, &s->ranks[at], stay);
        s->wait_ns = tl_ns_sum(s->wait_ns, stay->exposed_ns);
        if (late < s->nranks && s->ranks[late].named)
            s->for_named_ns = tl_ns_sum(s->for_named_ns, stay->exposed_ns);
    }
    for (size_t i = 0; i < s->nranks; i++) {
        tl_strip_rank *r = &s->ranks[i];
        double waiting = 0;
        for (size_t k = 0; k < TL_STRIP_COLUMNS; k++) {
            double idle = free_share(r, k), wait = (double)r->cover[TL_STRIP_WAIT][k];
            waiting += wait < idle ? wait : idle;
        }
        r->wait_share = waiting / TL_STRIP_COLUMNS;
    }
}

/* Returns the rank's last stay before `ns` whose exposed waiting fills two columns; NULL: none. */
static const tl_strip_stay *last_wait(const tl_strip *s, int32_t rank, int64_t ns)
{
    size_t at = 0;
    TL_BISECT(at, s->stays.n, mid,
              s->stays.v[mid].rank < rank || (s->stays.v[mid].rank == rank && s->stays.v[mid].start_ns < ns));
    while (at-- > 0 && s->stays.v[at].rank == rank) {
        const tl_strip_stay *stay = &s->stays.v[at];
        const tl_strip_meeting *m = &s->meetings.v[stay->collective];
        if (stay->exposed_ns >= 2 * column_ns(s) && m->last_ns < ns && m->late_rank >= 0 && m->late_rank != rank)
            return stay;
    }
    return NULL;
}

/* Follows the path back from the last end: on a rank to its last wait, and from there to the last-arriving rank.  Waits
 * under device work, and waits shorter than two columns, are skipped. */
static void follow_path(tl_strip *s)
{
    const tl_strip_meeting *end = NULL;
    TL_EACH (const tl_strip_meeting, m, s->meetings)
        if (m->told && m->late_rank >= 0 && m->end_ns <= s->to_ns && (end == NULL || m->end_ns > end->end_ns))
            end = m;
    int32_t rank = end != NULL ? end->late_rank : -1;
    for (int64_t to_ns = s->to_ns, from_ns; end != NULL && to_ns > s->from_ns; to_ns = from_ns) {
        const tl_strip_stay *stay = last_wait(s, rank, to_ns);
        const tl_strip_meeting *m = stay != NULL ? &s->meetings.v[stay->collective] : NULL;
        from_ns = m != NULL ? m->last_ns : s->from_ns;
        add_piece(s, rank, from_ns, to_ns);
        rank = m != NULL ? m->late_rank : rank;
    }
}

/* ----------------------------------------------------------------------------------------------------------- gather */

tl_status tl_strip_gather(tl_strip *s, const tl_html_input *in, const tl_ranges *ranks, const tl_ranges *steps,
                          tl_error *err)
{
    *s = (tl_strip){ .in = in };
    for (size_t k = 0; k < in->answers->nculprits; k++) {
        const tl_culprit *c = &in->answers->culprits[k];
        s->named = tl_realloc(s->named, (s->nnamed + TL_RANKS_LISTED) * sizeof *s->named);
        if (!tl_is_link(c)) /* a link names no rank */
            s->nnamed += tl_ranks_listed(c->ranks, sizeof c->ranks, s->named + s->nnamed);
    }
    s->nnamed = tl_int_unique(s->named, s->nnamed);
    s->step = steps != NULL ? (int32_t)steps->v[0].first : choose_step(s);
    s->last_step = steps != NULL ? (int32_t)steps->v[steps->n - 1].last : s->step;
    tl_status st = in->each(in->result, &tl_collective_row_schema, take_collective, s, err);
    find_window(s, steps != NULL);
    const bool any = s->from_ns < s->to_ns;
    if (st == TL_OK && any)
        st = in->each(in->result, &tl_rank_path_row_schema, take_path, s, err);
    const tl_table *all = tl_tables_get(in->tables, &tl_rank_schema);
    s->late = tl_calloc(all->n + 1, sizeof *s->late);
    TL_ROWS (const tl_rank, row, all)
        s->late[s->nlate++].rank = row->rank;
    if (st == TL_OK && s->meetings.n > 0)
        st = in->each(in->result, &tl_arrival_schema, take_arrival, s, err);
    count_late(s);
    if (st != TL_OK || !any)
        return st;

    if (s->stays.n > 0)
        qsort(s->stays.v, s->stays.n, sizeof *s->stays.v, by_rank_and_start);
    choose_ranks(s, ranks);
    if (s->nranks == 0)
        return TL_OK;
    TL_EACH (const tl_strip_stay, stay, s->stays) {
        size_t at = tl_strip_place(s, stay->rank);
        if (at < s->nranks)
            add_cover(s, &s->ranks[at], TL_STRIP_WAIT, stay->start_ns, tl_ns_sum(stay->start_ns, stay->wait_ns));
    }
    st = in->each(in->result, &tl_interval_schema, take_interval, s, err);
    sum_waits(s);
    if (!s->whole_path)
        follow_path(s);
    tl_vec_sort(&s->path, by_begin);
    return st == TL_OK ? in->each(in->result, &tl_gap_schema, take_gap, s, err) : st;
}

void tl_strip_free(tl_strip *s)
{
    free(s->named);
    free(s->meetings.v);
    free(s->stays.v);
    free(s->now.v);
    free(s->path.v);
    free(s->ranks);
    free(s->late);
}
