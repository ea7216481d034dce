/* meet.c - where ranks meet: in a matched collective.
 *
 *     rank 0   (arrival)------+                +-->(end)       meeting: the first of those who are done
 *     rank 1        (arrival)-+-->(meeting)----+-->(end)       transfer: from the last arrival to the meeting
 *     rank 2   (arrival)--(end)                                left before the last had come, by more than the clock error: it
 *                                                              waited for nobody, and stays as long as it did
 *
 * A rank without a trace comes when its last meeting has ended, and as much later as it did.  Where a transfer takes no longer than
 * usual it was not the last, and nobody waits for it.
 */
#include "join.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"

/* What the rows of one collective come to. */
typedef struct gathering {
    const tl_late_row *rows;
    size_t n;
    size_t nmembers;
    int64_t last_ns, end_ns; /* the last arrival; the first end of those who stayed until then */
    int64_t absent_ns;       /* when those without a trace came, if that was later; INT64_MIN */
    int32_t step;
} gathering;

static bool add_edge(tl_joining *j, uint32_t from, int64_t lag_ns)
{
    if (!tl_vec_room(&j->arrivals)) {
        j->failed = true;
        return false;
    }
    j->arrivals.v[j->arrivals.n++] = (tl_edge){ .from = from, .lag_ns = lag_ns };
    return true;
}

/* A row's rank takes part where the collective fits; alone, where others have no trace. */
static bool takes_part(const tl_joining *j, const gathering *g, const tl_late_row *row)
{
    return (row->fits || (g->n == 1 && tl_absentees_count(j->absentees, row) > 0)) &&
           tl_member_of(j, row)->arrival != TL_NONE;
}

static bool stayed(const gathering *g, const tl_late_row *row)
{
    return row->end_ns >= g->last_ns - TL_CLOCK_ERROR_NS;
}

static void gather(const tl_joining *j, gathering *g)
{
    for (size_t i = 0; i < g->n; i++) {
        if (!takes_part(j, g, &g->rows[i]))
            continue;
        g->nmembers++;
        g->last_ns = tl_ns_max(g->last_ns, g->rows[i].start_ns);
        g->step = g->rows[i].step > g->step ? g->rows[i].step : g->step;
    }
    for (size_t i = 0; i < g->n; i++)
        if (takes_part(j, g, &g->rows[i]) && stayed(g, &g->rows[i]))
            g->end_ns = tl_ns_min(g->end_ns, g->rows[i].end_ns);
    g->end_ns = tl_ns_max(g->end_ns, g->last_ns);
    if (g->nmembers > 0)
        g->absent_ns = tl_absentees_came(j->absentees, &g->rows[0], g->n, g->last_ns, g->end_ns);
}

/* Those without a trace, each from its last meeting; how many have one. */
static size_t add_absent(tl_joining *j, const gathering *g)
{
    uint32_t base = j->out->first_node[j->in->nranks];
    size_t n = g->absent_ns != INT64_MIN ? tl_absentees_count(j->absentees, &g->rows[0]) : 0, known = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t before = tl_absentees_before(j->absentees, &g->rows[0], i, g->absent_ns);
        if (before == TL_NONE)
            continue;
        add_edge(j, before, g->absent_ns - j->meetings.v[before - base].done_ns);
        known++;
    }
    return known;
}

static void meet(tl_joining *j, const tl_late_row *rows, size_t n)
{
    gathering g = { .rows = rows, .n = n, .last_ns = INT64_MIN, .end_ns = INT64_MAX, .absent_ns = INT64_MIN, .step = -1 };
    uint32_t number = j->out->first_node[j->in->nranks] + (uint32_t)j->meetings.n;
    size_t first = j->arrivals.n;

    gather(j, &g);
    if (g.nmembers == 0 || !tl_vec_room(&j->meetings)) {
        j->failed = j->failed || g.nmembers > 0;
        return;
    }
    size_t absent = add_absent(j, &g);
    if (g.nmembers < 2 && tl_absentees_count(j->absentees, &rows[0]) == 0)
        return;
    for (size_t i = 0; i < n; i++) {
        if (!takes_part(j, &g, &rows[i]))
            continue;
        if (!add_edge(j, tl_member_of(j, &rows[i])->arrival, 0))
            return;
        if (stayed(&g, &rows[i]))
            j->meeting_of[tl_member_of(j, &rows[i])->comm] = number;
    }
    int64_t last = absent > 0 ? g.absent_ns : g.last_ns;
    j->meetings.v[j->meetings.n++] = (tl_node){ .done_ns = g.end_ns,
                                                .work_ns = g.end_ns - last,
                                                .key = (uint64_t)rows[0].collective,
                                                .first_edge = (uint32_t)first,
                                                .segment = rows[0].kind,
                                                .step = g.step,
                                                .kind = TL_NODE_MEETING,
                                                .part = TL_PART_COMM };
    j->failed = j->failed || !tl_absentees_met(j->absentees, &rows[0], number, g.end_ns);
}

void tl_graph_meet(tl_joining *j)
{
    j->absentees = tl_absentees_new(j->in);
    j->failed = j->failed || j->absentees == NULL;
    for (size_t i = 0, to; i < j->in->nrows && !j->failed; i = to) {
        for (to = i; to < j->in->nrows && j->in->rows[to].collective == j->in->rows[i].collective; to++)
            ;
        meet(j, j->in->rows + i, to - i);
    }
    tl_absentees_free(j->absentees);
    j->out->nmeetings = j->meetings.n;
    j->out->nnodes = j->out->first_node[j->in->nranks] + j->meetings.n;
}
