/* strip.c - which step and which ranks the strip shows, and what covers the columns of their lanes. */
#include "page.h"

#include "tlmpi/base/group.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/idle_tables.h"
#include "tlmpi/model/path_tables.h"
#include <stdlib.h>

/* ---------------------------------------------------------------------------------------------------- 1. which step */

static const tl_culprit *worst_of(const tl_strip *s)
{
    const tl_answers *a = s->in->answers;
    return a->nculprits > 0 && !tl_is_link(&a->culprits[0]) && a->culprits[0].rank >= 0 ? &a->culprits[0] : NULL;
}

/* The step with the largest excess of the worst rank; without one the longest, not the first or the last where others
 * are left: recordings begin and end in these. */
static int32_t choose_step(const tl_strip *s)
{
    const tl_table *rows = tl_tables_get(s->in->tables, &tl_blame_step_schema);
    const tl_culprit *worst = worst_of(s);
    int32_t first = INT32_MAX, last = INT32_MIN, step = -1;
    int64_t most_ns = -1;

    TL_ROWS (const tl_blame_step, row, rows) {
        first = row->step < first ? row->step : first;
        last = row->step > last ? row->step : last;
    }
    TL_ROWS (const tl_blame_step, row, rows) {
        bool ends = (int64_t)last - first >= 2 && (row->step == first || row->step == last);
        if (worst != NULL ? row->rank != worst->rank : ends)
            continue;
        int64_t ns = worst != NULL ? row->excess_ns : row->step_ns;
        if (ns > most_ns) {
            most_ns = ns;
            step = row->step;
        }
    }
    return step;
}

bool tl_strip_begin_collectives(tl_html *html)
{
    tl_strip *s = &html->strip;
    s->in = &html->in;
    const tl_ranges *steps = s->in->steps;
    s->step = steps != NULL ? (int32_t)steps->v[0].first : choose_step(s);
    s->last_step = steps != NULL ? (int32_t)steps->v[steps->n - 1].last : s->step;
    return true;
}

void tl_strip_take_collective(tl_html *html, const void *of)
{
    const tl_collective_row *row = of;
    tl_strip_meeting m = { .first_ns = row->s_first_ns,
                     .last_ns = row->s_last_ns,
                     .end_ns = tl_ns_sum(row->e_first_ns, row->end_spread_ns),
                     .step = row->step,
                     .late_rank = row->late_rank,
                     .kind = row->kind,
                     .told =
                         row->n > 1 && row->wait_state >= TL_WAIT_LATE_RANK && row->wait_state <= TL_WAIT_LATE_PARTNER,
                     .by_rank = row->wait_state == TL_WAIT_LATE_RANK };
    tl_vec_push(&html->strip.meetings, m);
}

typedef struct extent {
    int64_t from_ns, to_ns;
} extent;

static void widen(extent *e, int64_t from_ns, int64_t to_ns)
{
    if (from_ns == TL_TIME_UNKNOWN || to_ns < from_ns)
        return;
    e->from_ns = tl_ns_min(e->from_ns, from_ns);
    e->to_ns = tl_ns_max(e->to_ns, to_ns);
}

/* The step begins when all is done that was met in for the one before, and ends when all is of its own.  Where ranks
 * meet earlier for it, they are shown at it, if that is not more than a tenth of the step before. */
static void find_window(tl_strip *s)
{
    extent all = { INT64_MAX, INT64_MIN }, own = all, marks = all;
    int64_t before_ns = INT64_MIN;
    int32_t before = -1;

    TL_EACH (const tl_strip_meeting, m, s->meetings) {
        widen(&all, m->first_ns, m->end_ns);
        if (m->step >= s->step && m->step <= s->last_step)
            widen(&own, m->first_ns, m->end_ns);
        if (m->step >= 0 && m->step < s->step && m->step >= before) {
            before_ns = m->step == before ? tl_ns_max(before_ns, m->end_ns) : m->end_ns;
            before = m->step;
        }
    }
    s->middle_ns = all.from_ns <= all.to_ns ? all.from_ns + tl_ns_between(all.to_ns, all.from_ns) / 2 : 0;
    TL_ROWS (const tl_step, row, tl_tables_get(s->in->tables, &tl_step_schema))
        if (row->step >= s->step && row->step <= s->last_step)
            widen(&marks, row->start_ns, row->end_ns);
    if (s->step >= 0 && s->in->steps == NULL && own.from_ns > own.to_ns && marks.from_ns > marks.to_ns)
        s->step = s->last_step = -1; /* steps are counted by other means than marks */
    extent e = s->step < 0 ? all : own.from_ns <= own.to_ns ? own : marks;
    if (e.from_ns >= e.to_ns)
        return;
    if (e.from_ns == own.from_ns && before >= 0 && before_ns < own.to_ns)
        e.from_ns = tl_ns_max(tl_ns_min(own.from_ns, before_ns), before_ns - tl_ns_between(own.to_ns, before_ns) / 10);
    s->from_ns = e.from_ns;
    s->to_ns = e.to_ns;
}

/* ---------------------------------------------------------------------------------------------------------- clocks */

/* The clock of a rank whose times in table collective are corrected; else NULL. */
static const tl_clock *clock_of(const tl_strip *s, int32_t rank)
{
    const tl_clock *row = tl_row_of_rank(tl_tables_get(s->in->tables, &tl_clock_schema), rank);
    return row != NULL && row->applied != 0 ? row : NULL;
}

/* A time of the rank's device on the job's clock.  When a clock steps is not told: it is taken not to have. */
static int64_t on_job_clock(const tl_strip *s, const tl_clock *clock, int64_t ns)
{
    if (clock == NULL || ns == TL_TIME_UNKNOWN)
        return ns;
    int64_t ppb = tl_ns_within(clock->drift_ppb, 1000000000);
    return tl_ns_between(ns, tl_ns_sum(clock->offset_ns, tl_ns_of_drift(ppb, tl_ns_between(ns, s->middle_ns))));
}

/* -------------------------------------------------------------------------------------------------- 2. critical path */

bool tl_strip_begin_path(tl_html *html)
{
    tl_strip *s = &html->strip;
    find_window(s);
    return s->from_ns < s->to_ns;
}

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

void tl_strip_take_path(tl_html *html, const void *row)
{
    tl_strip *s = &html->strip;
    const tl_rank_path_row *p = row;
    if (p->rank >= 0 || p->peer < 0)
        return;
    const tl_clock *clock = clock_of(s, p->peer);
    s->whole_path = true;
    add_piece(s, p->peer, on_job_clock(s, clock, p->start_ns), on_job_clock(s, clock, p->end_ns));
}

static int by_rank_and_start(const void *a, const void *b)
{
    const tl_strip_stay *x = a, *y = b;
    return TL_ORDER(x, y, rank, start_ns, collective);
}

static int compare_pieces(const void *a, const void *b)
{
    const tl_strip_piece *x = a, *y = b;
    return TL_ORDER(x, y, from_ns, to_ns, rank);
}

/* --------------------------------------------------------------------------------------------------------- 3. waits */

bool tl_strip_begin_arrivals(tl_html *html)
{
    return tl_arrivals_begin(html) && html->strip.meetings.n > 0;
}

void tl_strip_take_arrival(tl_html *html, const void *of)
{
    tl_strip *s = &html->strip;
    const tl_arrival *row = of;
    tl_arrivals_take(html, row);
    bool known = row->collective >= 0 && (uint64_t)row->collective < s->meetings.n;
    if (known && row->start_ns < s->to_ns && row->end_ns > s->from_ns && s->meetings.v[row->collective].told)
        tl_vec_push(&s->stays, (tl_strip_stay){ row->rank, row->start_ns, tl_ns_max(row->wait_ns, 0), 0, row->collective });
}

/* ------------------------------------------------------------------------------------------------------ which ranks */

/* Why a rank may be drawn: the longer, the rather. */
enum why {
    FOR_NAMED,  /* it waits for ranks that are named */
    ON_PATH,    /* the critical path is on it */
    WAITED_FOR, /* others wait for it */
    EXCESS,     /* it works longer than its peers */
    NWHYS
};

/* A rank of the job, as one may choose from. */
typedef struct candidate {
    int32_t rank;
    bool named, chosen;
    int64_t ns[NWHYS];
} candidate;

typedef struct choice {
    candidate *v;
    size_t n, nchosen, most;
} choice;

static candidate *candidate_of(const choice *c, int32_t rank)
{
    size_t at = 0;
    TL_BISECT(at, c->n, mid, c->v[mid].rank < rank);
    return at < c->n && c->v[at].rank == rank ? &c->v[at] : NULL;
}

static void choose(choice *c, candidate *one)
{
    if (one != NULL && !one->chosen && c->nchosen < c->most) {
        one->chosen = true;
        c->nchosen++;
    }
}

/* Chooses up to `most` of those not chosen that have the largest such time above 0, largest first; of equals the lower
 * rank. */
static void choose_largest(choice *c, size_t most, enum why why)
{
    for (candidate *best; most-- > 0; choose(c, best)) {
        best = NULL;
        for (size_t i = 0; i < c->n; i++)
            if (!c->v[i].chosen && c->v[i].ns[why] > (best != NULL ? best->ns[why] : 0))
                best = &c->v[i];
    }
}

/* Those not chosen first, by ascending excess. */
static int compare_excess(const void *candidates, uint32_t a, uint32_t b)
{
    const candidate *x = (const candidate *)candidates + a, *y = (const candidate *)candidates + b;
    return x->chosen != y->chosen ? x->chosen - y->chosen : TL_COMPARE(x->ns[EXCESS], y->ns[EXCESS]);
}

/* Chooses of the others as many as have room, evenly spaced from the least excess on. */
static void choose_spaced(choice *c)
{
    const size_t left = c->n - c->nchosen, room = c->most - c->nchosen;
    uint32_t *index = tl_sorted_index(c->n, compare_excess, c->v);
    for (size_t k = 0; k < room; k++)
        choose(c, &c->v[index[k * left / room]]);
    free(index);
}

static void find_candidates(const tl_html *html, choice *c)
{
    const tl_strip *s = &html->strip;
    const tl_table *ranks = tl_tables_get(s->in->tables, &tl_rank_schema);
    c->v = tl_calloc(ranks->n + 1, sizeof *c->v);
    TL_ROWS (const tl_rank, row, ranks)
        if (row->intervals > 0)
            c->v[c->n++] = (candidate){ .rank = row->rank, .named = tl_html_names(html, row->rank) };
    TL_EACH (const tl_strip_stay, stay, s->stays) {
        candidate *one = candidate_of(c, stay->rank),
                  *late = candidate_of(c, s->meetings.v[stay->collective].late_rank);
        if (one == NULL || late == NULL)
            continue;
        late->ns[WAITED_FOR] = tl_ns_sum(late->ns[WAITED_FOR], stay->wait_ns);
        if (late->named)
            one->ns[FOR_NAMED] = tl_ns_sum(one->ns[FOR_NAMED], stay->wait_ns);
    }
    TL_EACH (const tl_strip_piece, piece, s->path) {
        candidate *one = candidate_of(c, piece->rank);
        if (one != NULL)
            one->ns[ON_PATH] = tl_ns_sum(one->ns[ON_PATH], tl_ns_between(piece->to_ns, piece->from_ns));
    }
    TL_ROWS (const tl_blame_step, row, tl_tables_get(s->in->tables, &tl_blame_step_schema)) {
        candidate *one = row->step == s->step ? candidate_of(c, row->rank) : NULL;
        if (one != NULL)
            one->ns[EXCESS] = row->excess_ns;
    }
}

static void choose_ranks(tl_html *html)
{
    enum { NAMED = 8, PATH = 4, WAITING = 8 };
    tl_strip *s = &html->strip;
    const tl_ranges *wanted = s->in->ranks;
    choice c = { 0 };
    find_candidates(html, &c);
    const bool all = wanted != NULL || c.n <= TL_STRIP_RANKS;
    c.most = all ? c.n : TL_STRIP_RANKS;
    for (size_t i = 0; i < c.n; i++)
        if (all ? wanted == NULL || tl_ranges_has(wanted, c.v[i].rank) : c.v[i].named && c.nchosen < NAMED)
            choose(&c, &c.v[i]);
    if (!all) {
        choose_largest(&c, PATH, s->whole_path ? ON_PATH : WAITED_FOR);
        choose_largest(&c, WAITING, FOR_NAMED);
        choose_spaced(&c);
    }

    s->nall = c.n;
    s->ranks = tl_calloc(c.nchosen + 1, sizeof *s->ranks);
    for (size_t i = 0; i < c.n; i++)
        if (c.v[i].chosen) {
            tl_strip_rank *r = &s->ranks[s->nranks++];
            r->rank = c.v[i].rank;
            r->named = c.v[i].named;
            r->clock = clock_of(s, r->rank);
        }
    free(c.v);
}

int64_t tl_strip_time(const tl_strip *s, const tl_strip_rank *rank, int64_t ns)
{
    return on_job_clock(s, rank->clock, ns);
}

const tl_strip *tl_html_strip(const tl_html *html)
{
    return &html->strip;
}

size_t tl_strip_place(const tl_strip *s, int32_t rank)
{
    size_t at = 0;
    TL_BISECT(at, s->nranks, mid, s->ranks[mid].rank < rank);
    return at < s->nranks && s->ranks[at].rank == rank ? at : s->nranks;
}

/* -------------------------------------------------------------------------------------------------------- 4. columns */

static void cover(const tl_strip *s, tl_strip_rank *r, tl_strip_class class, int64_t from_ns, int64_t to_ns)
{
    if (from_ns == TL_TIME_UNKNOWN || from_ns >= s->to_ns || to_ns <= s->from_ns || to_ns <= from_ns)
        return;
    double column_ns = (double)tl_ns_between(s->to_ns, s->from_ns) / TL_STRIP_COLUMNS;
    double from = (double)tl_ns_between(tl_ns_max(from_ns, s->from_ns), s->from_ns) / column_ns;
    double to = (double)tl_ns_between(tl_ns_min(to_ns, s->to_ns), s->from_ns) / column_ns;
    for (size_t k = (size_t)from; k < TL_STRIP_COLUMNS && (double)k < to; k++) {
        double left = from > (double)k ? from : (double)k, right = to < (double)(k + 1) ? to : (double)(k + 1);
        r->cover[class][k] += (float)(right - left);
    }
}

bool tl_strip_begin_intervals(tl_html *html)
{
    tl_strip *s = &html->strip;
    tl_arrivals_end(html);
    if (s->from_ns >= s->to_ns)
        return false;
    if (s->stays.n > 0)
        qsort(s->stays.v, s->stays.n, sizeof *s->stays.v, by_rank_and_start);
    choose_ranks(html);
    TL_EACH (const tl_strip_stay, stay, s->stays) {
        size_t at = tl_strip_place(s, stay->rank);
        if (at < s->nranks)
            cover(s, &s->ranks[at], TL_STRIP_WAIT, stay->start_ns, tl_ns_sum(stay->start_ns, stay->wait_ns));
    }
    return s->nranks > 0;
}

static void cover_on_device(tl_strip *s, int32_t rank, tl_strip_class class, int64_t start_ns, int64_t end_ns)
{
    size_t at = tl_strip_place(s, rank);
    if (at == s->nranks)
        return;
    tl_strip_rank *r = &s->ranks[at];
    cover(s, r, class, on_job_clock(s, r->clock, start_ns), on_job_clock(s, r->clock, end_ns));
}

void tl_strip_take_interval(tl_html *html, const void *of)
{
    const tl_interval *row = of;
    if (row->kind != TL_SYNC)
        cover_on_device(&html->strip, row->rank,
                        row->kind == TL_COMPUTE ? TL_STRIP_COMPUTE
                        : row->kind == TL_COMM  ? TL_STRIP_COMM
                                                : TL_STRIP_COPY,
                        row->start_ns, row->end_ns);
}

/* ------------------------------------------------------------------------------------------ 5. what holds a rank up */

static int64_t column_ns(const tl_strip *s)
{
    return tl_ns_between(s->to_ns, s->from_ns) / TL_STRIP_COLUMNS + 1;
}

/* The share of a column without work. */
static double free_share(const tl_strip_rank *r, size_t column)
{
    double work = (double)r->cover[TL_STRIP_COMPUTE][column] + (double)r->cover[TL_STRIP_COPY][column];
    return work < 1 ? 1 - work : 0;
}

/* The part of the stay's waiting in which the device has no work, to a column. */
static int64_t exposed_part(const tl_strip *s, const tl_strip_rank *r, const tl_strip_stay *stay)
{
    int64_t from_ns = tl_ns_max(stay->start_ns, s->from_ns), each_ns = column_ns(s);
    int64_t to_ns = tl_ns_min(tl_ns_sum(stay->start_ns, stay->wait_ns), s->to_ns);
    if (from_ns >= to_ns)
        return 0;
    size_t first = (size_t)(tl_ns_between(from_ns, s->from_ns) / each_ns), n = 0;
    double share = 0;
    for (size_t k = first; k < TL_STRIP_COLUMNS && (int64_t)k * each_ns < tl_ns_between(to_ns, s->from_ns); k++, n++)
        share += free_share(r, k);
    return n > 0 ? (int64_t)((double)tl_ns_between(to_ns, from_ns) * share / (double)n) : 0;
}

static void sum_waits(tl_strip *s)
{
    TL_EACH (tl_strip_stay, stay, s->stays) {
        size_t at = tl_strip_place(s, stay->rank), late = tl_strip_place(s, s->meetings.v[stay->collective].late_rank);
        if (at == s->nranks) {
            stay->exposed_ns = stay->wait_ns; /* what its device does meanwhile is not known */
            continue;
        }
        stay->exposed_ns = exposed_part(s, &s->ranks[at], stay);
        s->wait_ns = tl_ns_sum(s->wait_ns, stay->exposed_ns);
        if (late < s->nranks && s->ranks[late].named)
            s->for_named_ns = tl_ns_sum(s->for_named_ns, stay->exposed_ns);
    }
    for (size_t i = 0; i < s->nranks; i++) {
        double waiting = 0;
        for (size_t k = 0; k < TL_STRIP_COLUMNS; k++) {
            double free = free_share(&s->ranks[i], k), wait = (double)s->ranks[i].cover[TL_STRIP_WAIT][k];
            waiting += wait < free ? wait : free;
        }
        s->ranks[i].wait_share = waiting / TL_STRIP_COLUMNS;
    }
}

/* The rank's last stay that held its device up, and is over before `ns`; NULL: there is none. */
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

/* Follows the path back from the last end: on a rank to its last wait, from there to the rank that came last.  Waits under
 * work of the device, and such that fill no two columns, are passed over. */
static void follow_path(tl_strip *s)
{
    int64_t to_ns = s->to_ns;
    const tl_strip_meeting *end = NULL;
    TL_EACH (const tl_strip_meeting, m, s->meetings)
        if (m->told && m->late_rank >= 0 && m->end_ns <= s->to_ns && (end == NULL || m->end_ns > end->end_ns))
            end = m;
    if (end == NULL)
        return;
    int32_t rank = end->late_rank;
    for (const tl_strip_stay *stay; to_ns > s->from_ns; rank = s->meetings.v[stay->collective].late_rank) {
        stay = last_wait(s, rank, to_ns);
        int64_t from_ns = stay != NULL ? s->meetings.v[stay->collective].last_ns : s->from_ns;
        add_piece(s, rank, from_ns, to_ns);
        to_ns = from_ns;
        if (stay == NULL)
            break;
    }
}

/* --------------------------------------------------------------------------------------------------------- 6. idle */

bool tl_strip_begin_gaps(tl_html *html)
{
    tl_strip *s = &html->strip;
    if (s->nranks == 0)
        return false;
    sum_waits(s);
    if (!s->whole_path)
        follow_path(s);
    if (s->path.n > 0)
        qsort(s->path.v, s->path.n, sizeof *s->path.v, compare_pieces);
    return true;
}

void tl_strip_take_gap(tl_html *html, const void *row)
{
    const tl_gap *gap = row;
    tl_strip_class class = gap->drain_type == TL_DRAIN_SYNC ? TL_STRIP_IDLE_SYNC
                           : gap->cpu_during_gap == TL_DOING_CPU || gap->cpu_during_gap == TL_DOING_UNTRACED ||
                                   gap->cpu_during_gap == TL_DOING_RUNTIME || gap->cpu_during_gap == TL_DOING_NO_TRACE
                               ? TL_STRIP_IDLE_HOST
                               : TL_STRIP_IDLE_LAUNCH;
    cover_on_device(&html->strip, gap->rank, class, gap->start_ns, gap->end_ns);
}

tl_strip_class tl_strip_shown(const tl_strip_rank *r, bool communication, size_t column, bool *thin)
{
    const float half = 0.5F, least = 0.02F; /* of a column */
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

void tl_strip_free(tl_strip *s)
{
    free(s->meetings.v);
    free(s->stays.v);
    free(s->path.v);
    free(s->ranks);
    *s = (tl_strip){ .in = NULL };
}
