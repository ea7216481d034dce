/* match.c - meetings of ranks: one for each matched collective.
 *
 *     rank 0   (arrival)------+                +-->(end)       meeting: the first end of its members
 *     rank 1        (arrival)-+-->(meeting)----+-->(end)       transfer: from the last arrival to the meeting
 *     rank 2   (arrival)--(end)                                left before the last arrival, by more than the clock
 *                                                              error: waited for no rank, and keeps its length
 *
 * An untraced rank arrives from its earlier meetings as traced ranks of its role do (untraced_ranks.h).  The paths of
 * those traced ranks are known once the graphs of all traced ranks are final.
 */
#include "job_graph.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"
#include <stdlib.h>

/* The rows of one collective, and the times of its meeting. */
typedef struct gathering {
    const tl_late_row *rows;
    size_t n;
    size_t nmembers;
    int64_t last_ns, end_ns; /* last arrival; first end among members that had not left before it */
    int32_t step;
} gathering;

/* Whether the row's rank takes part in the meeting: the rows of the collective fit together, or all its other members
 * are untraced. */
static bool takes_part(const tl_job_graph_draft *j, const gathering *g, const tl_late_row *row)
{
    return (row->fits || (g->n == 1 && tl_untraced_arrivals_count(j->arrivals, row) > 0)) &&
           tl_member_of(j, row)->port != TL_NONE;
}

static bool stays_for_last(const gathering *g, const tl_late_row *row)
{
    return row->end_ns >= g->last_ns - TL_CLOCK_ERROR_NS;
}

static void fill_times(const tl_job_graph_draft *j, gathering *g)
{
    for (size_t i = 0; i < g->n; i++) {
        if (!takes_part(j, g, &g->rows[i]))
            continue;
        g->nmembers++;
        g->last_ns = tl_ns_max(g->last_ns, g->rows[i].start_ns);
        g->step = g->rows[i].step > g->step ? g->rows[i].step : g->step;
    }
    for (size_t i = 0; i < g->n; i++)
        if (takes_part(j, g, &g->rows[i]) && stays_for_last(g, &g->rows[i]))
            g->end_ns = tl_ns_min(g->end_ns, g->rows[i].end_ns);
    g->end_ns = tl_ns_max(g->end_ns, g->last_ns);
}

/* Fills *g with the next collective from row *at on in which ranks meet, and advances *at; false: there is none. */
static bool next_meeting(const tl_job_graph_draft *j, size_t *at, gathering *g)
{
    const tl_job_graph_input *in = j->in;
    while (*at < in->nrows) {
        size_t from = *at;
        *at = tl_late_rows_end(in->rows, in->nrows, from);
        *g = (gathering){
            .rows = in->rows + from, .n = *at - from, .last_ns = INT64_MIN, .end_ns = INT64_MAX, .step = -1
        };
        fill_times(j, g);
        if (g->nmembers > 1 || (g->nmembers == 1 && tl_untraced_arrivals_count(j->arrivals, g->rows) > 0))
            return true;
    }
    return false;
}

static tl_untraced_arrival arrival_of(const gathering *g, uint32_t meeting)
{
    return (tl_untraced_arrival){
        .rows = g->rows, .nrows = g->n, .last_ns = g->last_ns, .end_ns = g->end_ns, .meeting = meeting
    };
}

static void add_meeting(tl_job_graph_draft *j, const gathering *g, uint32_t number)
{
    size_t first = j->edges.n;
    const tl_untraced_arrival arrival = arrival_of(g, number);

    tl_untraced_arrivals_add_collective(j->arrivals, &arrival);
    for (size_t i = 0; i < g->n; i++) {
        const tl_member *member = tl_member_of(j, &g->rows[i]);
        if (!takes_part(j, g, &g->rows[i]))
            continue;
        tl_vec_push(&j->edges, (tl_meeting_edge){ 0, member->rank, member->port });
        tl_rank_port *port = &j->out->ranks[member->rank].ports[member->port];
        port->awaited = true;
        if (!stays_for_last(g, &g->rows[i]))
            continue;
        port->meeting = number;
        port->meeting_done_ns = g->end_ns;
        port->kind = g->rows[0].kind;
    }
    tl_vec_push(&j->meetings, (tl_meeting){ .done_ns = g->end_ns,
                                            .work_ns = g->end_ns - g->last_ns,
                                            .collective = g->rows[0].collective,
                                            .first_edge = (uint32_t)first,
                                            .step = g->step,
                                            .late_rank = -1,
                                            .kind = g->rows[0].kind });
}

void tl_job_graph_match_ranks(tl_job_graph_draft *j)
{
    gathering g;

    j->untraced_input = (tl_untraced_ranks_input){ j->in->ranks, j->in->nranks, j->in->rows,
                                                   j->in->nrows, j->in->groups, j->in->world };
    j->arrivals = tl_untraced_arrivals_new(&j->untraced_input);
    for (size_t at = 0; next_meeting(j, &at, &g);)
        add_meeting(j, &g, (uint32_t)j->meetings.n);
}

/* Replaces the edges of a meeting: from earlier meetings of untraced ranks first, then the edges others[nothers] of
 * traced ranks. */
static void add_untraced_edges(tl_job_graph_draft *j, const gathering *g, uint32_t number,
                               const tl_meeting_edge *others, uint32_t nothers)
{
    tl_untraced_arrival arrival = arrival_of(g, number);
    tl_meeting *meeting = &j->meetings.v[number];
    meeting->first_edge = (uint32_t)j->edges.n;
    tl_untraced_arrivals_find(j->arrivals, &arrival);
    for (size_t i = 0; i < arrival.nfrom; i++)
        tl_vec_push(&j->edges, (tl_meeting_edge){ arrival.from[i].after_ns, TL_NONE, arrival.from[i].meeting });
    for (uint32_t i = 0; i < nothers; i++)
        tl_vec_push(&j->edges, others[i]);
    meeting->work_ns = g->end_ns - arrival.arrived_ns;
    meeting->late_ns = arrival.late_ns;
    meeting->late_rank = arrival.late_rank;
}

void tl_job_graph_add_untraced(tl_job_graph_draft *j)
{
    tl_meeting_edge *others = j->edges.v;
    tl_inter_collective_paths paths = { .of = NULL };
    uint32_t number = 0, first = 0;
    gathering g;
    tl_job_graph_find_paths(j, &paths);
    tl_untraced_arrivals_expect(j->arrivals, &paths);
    free(paths.list.v);
    free(paths.of);
    j->edges.v = NULL;
    j->edges.n = j->edges.cap = 0;
    for (size_t at = 0; next_meeting(j, &at, &g); number++) {
        uint32_t end = j->meetings.v[number + 1].first_edge;
        add_untraced_edges(j, &g, number, others + first, end - first);
        first = end;
    }
    j->meetings.v[number].first_edge = (uint32_t)j->edges.n;
    free(others);
}
