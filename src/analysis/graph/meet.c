/* meet.c - where ranks meet: in a matched collective.
 *
 *     rank 0   (arrival)------+                +-->(end)       meeting: the first of those who are done
 *     rank 1        (arrival)-+-->(meeting)----+-->(end)       transfer: from the last arrival to the meeting
 *     rank 2   (arrival)--(end)                                left before the last had come, by more than the clock error: it
 *                                                              waited for nobody, and stays as long as it did
 *
 * A rank without a trace comes from its former meetings, as those do that do the same (missing.h); their ways are known when the graph of
 * those that have one is in order.
 */
#include "join.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"
#include <stdlib.h>

/* What the rows of one collective come to. */
typedef struct gathering {
    const tl_late_row *rows;
    size_t n;
    size_t nmembers;
    int64_t last_ns, end_ns; /* the last arrival; the first end of those who stayed until then */
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
    return (row->fits || (g->n == 1 && tl_comers_count(j->comers, row) > 0)) &&
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
}

/* The next collective from *at on in which ranks meet; false: there is none. */
static bool next(const tl_joining *j, size_t *at, gathering *g)
{
    const tl_graph_input *in = j->in;
    while (*at < in->nrows) {
        size_t from = *at;
        *at = tl_late_rows_end(in->rows, in->nrows, from);
        *g = (gathering){ .rows = in->rows + from, .n = *at - from, .last_ns = INT64_MIN, .end_ns = INT64_MAX, .step = -1 };
        gather(j, g);
        if (g->nmembers > 1 || (g->nmembers == 1 && tl_comers_count(j->comers, g->rows) > 0))
            return true;
    }
    return false;
}

static tl_coming coming_of(const gathering *g, uint32_t meeting)
{
    return (tl_coming){ .rows = g->rows, .nrows = g->n, .last_ns = g->last_ns, .end_ns = g->end_ns, .meeting = meeting };
}

static void meet(tl_joining *j, const gathering *g, uint32_t number)
{
    size_t first = j->arrivals.n;
    const tl_coming coming = coming_of(g, number);

    j->failed = !tl_comers_met(j->comers, &coming) || !tl_vec_room(&j->meetings);
    for (size_t i = 0; !j->failed && i < g->n; i++) {
        const tl_member *member = tl_member_of(j, &g->rows[i]);
        if (!takes_part(j, g, &g->rows[i]) || !add_edge(j, member->arrival, 0))
            continue;
        if (stayed(g, &g->rows[i]))
            j->meeting_of[member->comm] = number;
    }
    if (j->failed)
        return;
    j->meetings.v[j->meetings.n++] = (tl_node){ .done_ns = g->end_ns,
                                                .work_ns = g->end_ns - g->last_ns,
                                                .key = (uint64_t)g->rows[0].collective,
                                                .first_edge = (uint32_t)first,
                                                .segment = g->rows[0].kind,
                                                .step = g->step,
                                                .kind = TL_NODE_MEETING,
                                                .part = TL_PART_COMM };
}

void tl_graph_meet(tl_joining *j)
{
    uint32_t first = j->out->first_node[j->in->nranks], number = first;
    gathering g;

    j->missing = (tl_missing_input){ j->in->ranks, j->in->nranks, j->in->rows, j->in->nrows, j->in->groups };
    j->comers = tl_comers_new(&j->missing);
    j->failed = j->failed || j->comers == NULL;
    for (size_t at = 0; !j->failed && next(j, &at, &g); number++)
        meet(j, &g, number);
    j->out->nmeetings = j->meetings.n;
    j->out->nnodes = first + j->meetings.n;
}

/* What a meeting waits for, those without a trace first. */
static bool come(tl_joining *j, const gathering *g, uint32_t number)
{
    tl_graph *out = j->out;
    tl_coming coming = coming_of(g, number);
    uint32_t e = out->nodes[number].first_edge, first = (uint32_t)j->arrivals.n;
    bool ok = tl_comers_come(j->comers, &coming);
    for (size_t i = 0; ok && i < coming.nfrom; i++)
        ok = add_edge(j, coming.from[i].meeting, coming.from[i].after_ns);
    for (; ok && e < out->nodes[number + 1].first_edge; e++)
        ok = add_edge(j, out->from[e], out->lag_ns[e]);
    out->nodes[number].work_ns = g->end_ns - coming.came_ns;
    out->nodes[number].first_edge = first;
    return ok;
}

/* The edges of meetings are the last of all. */
static bool put_arrivals(tl_joining *j, uint32_t nothers)
{
    tl_graph *out = j->out;
    uint32_t *from = tl_malloc((nothers + j->arrivals.n + 1) * sizeof *from);
    int64_t *lag_ns = tl_malloc((nothers + j->arrivals.n + 1) * sizeof *lag_ns);
    bool ok = from != NULL && lag_ns != NULL;
    for (size_t e = 0; ok && e < nothers; e++) {
        from[e] = out->from[e];
        lag_ns[e] = out->lag_ns[e];
    }
    for (size_t e = 0; ok && e < j->arrivals.n; e++) {
        from[nothers + e] = j->arrivals.v[e].from;
        lag_ns[nothers + e] = j->arrivals.v[e].lag_ns;
    }
    free(ok ? out->from : from);
    free(ok ? out->lag_ns : lag_ns);
    if (!ok)
        return false;
    out->from = from;
    out->lag_ns = lag_ns;
    out->nedges = nothers + j->arrivals.n;
    for (size_t v = out->first_node[out->nranks]; v < out->nnodes; v++)
        out->nodes[v].first_edge += nothers;
    out->nodes[out->nnodes].first_edge = (uint32_t)out->nedges;
    return true;
}

bool tl_graph_come(tl_joining *j)
{
    uint32_t number = j->out->first_node[j->in->nranks], nothers = j->out->nodes[number].first_edge;
    tl_ways ways = { .of = NULL };
    gathering g;
    bool ok = tl_graph_ways(j, &ways) && tl_comers_sort(j->comers, &ways);
    free(ways.list.v);
    free(ways.of);
    j->arrivals.n = 0;
    for (size_t at = 0; ok && next(j, &at, &g); number++)
        ok = come(j, &g, number);
    return ok && put_arrivals(j, nothers);
}
