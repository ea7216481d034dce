/* whatif.c - the job with the user's changes: each alone, all together, and what the changed job is bound by. */
#include "internal.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>
#include <string.h>

TL_LABELS_DEFINE(whatif_part, TL_WHATIF_PART_VALUES);
TL_TABLE_DEFINE_AS(whatif_change_row, "whatif_change", TL_WHATIF_CHANGE_FIELDS, TL_SCOPE_JOB,
                   "changes, and what the job would gain by them",
                   "How long would the job take if what I name were otherwise?");
TL_TABLE_DEFINE(whatif_step, TL_WHATIF_STEP_FIELDS, TL_SCOPE_JOB, "the job's steps with all changes",
                "How long would each step take then?");
TL_TABLE_DEFINE(whatif_path, TL_WHATIF_PATH_FIELDS, TL_SCOPE_JOB, "the critical path as recorded and with all changes",
                "What would bind the job then?");

void tl_whatif_free(tl_whatif_study *study)
{
    tl_whatif_changes_free(&study->changes);
    tl_table_free(&study->change_rows);
    tl_table_free(&study->step_rows);
    tl_table_free(&study->path_rows);
    tl_table_free(&study->top_rows);
}

/* ---------------------------------------------------------------------------------------------------------- replays */

/* Asks all ranks that have a graph; the caller ends *asked by tl_asked_free. */
static void ask_ranks(const tl_whatif_input *in, tl_whatif_question question, const tl_whatif_change *changes, size_t n,
                      tl_asked *asked)
{
    const tl_job_graph *g = in->graph;
    const uint32_t what = question;
    tl_asked_new(g->nranks, asked);
    for (size_t r = 0; r < g->nranks; r++) {
        const tl_job_rank *rank = &g->ranks[r];
        tl_bytes *out = &asked->in[r];
        if (!tl_job_graph_has(g, r))
            continue;
        tl_bytes_put(out, &what, sizeof what);
        tl_bytes_put(out, &n, sizeof n);
        for (size_t i = 0; i < n; i++) {
            tl_bytes_put(out, &changes[i].sort, sizeof changes[i].sort);
            tl_bytes_put(out, changes[i].text, strlen(changes[i].text) + 1);
        }
        if (question != TL_WHATIF_FINAL)
            continue;
        tl_bytes_put(out, &rank->nports, sizeof rank->nports);
        for (size_t p = 0; p < rank->nports; p++) {
            uint32_t meeting = rank->ports[p].meeting;
            int64_t done_ns = meeting != TL_NONE ? g->meetings[meeting].done_ns : INT64_MIN;
            tl_bytes_put(out, &done_ns, sizeof done_ns);
        }
    }
    tl_ask_ranks(in->baseline->asker, TL_ASK_WHATIF, asked);
}

/* Reads a rank's changed graph, and adds the work that the changes select. */
static void read_changed(tl_changed_job *t, size_t r, tl_bytes *in, tl_folded *changed, tl_selected_work *selected)
{
    const tl_rank_port *ports = t->in->graph->ranks[r].ports;
    tl_selected_work on_rank;
    double *factors = NULL;
    size_t n;
    tl_bytes_get(in, &on_rank, sizeof on_rank);
    tl_bytes_get_list(in, (void **)&factors, &n, sizeof *factors);
    tl_folded_get(changed, in);
    selected->pieces += on_rank.pieces;
    selected->own_ns = tl_ns_add(selected->own_ns, on_rank.own_ns);
    selected->left_ns = tl_ns_add(selected->left_ns, on_rank.left_ns);
    selected->unmatched_ns = tl_ns_add(selected->unmatched_ns, on_rank.unmatched_ns);
    for (size_t p = 0; p < n; p++)
        if (ports[p].meeting != TL_NONE) {
            tl_scaled_transfer *transfer = &t->transfers[ports[p].meeting];
            transfer->least = fmin(transfer->least, factors[p]);
            transfer->most = fmax(transfer->most, factors[p]);
        }
    free(factors);
}

/* Makes the origins of a rank's nodes, and ends of steps from *end on that depend on its origin alone, later. */
static void begin_later(const tl_folded *folded, uint32_t base, int64_t by_ns, tl_net *net, size_t *end)
{
    for (uint32_t e = net->first_edge[base + 1]; e < net->first_edge[base + folded->net.n]; e++)
        net->lag_ns[e] += net->from[e] == 0 ? by_ns : 0;
    for (size_t i = 0; i < folded->norigin; i++)
        net->end_ns[(*end)++] += by_ns;
}

/* Returns by how much longer the first step would take if ranks had begun to record as far apart as they come to the
 * second step in the replay.  Changes the net. */
static int64_t begin_error(const tl_changed_job *t, const tl_folded *changed, tl_job_net *job, const int64_t *done_ns)
{
    const tl_job_graph *g = t->in->graph;
    const tl_baseline *b = t->in->baseline;
    const size_t first = b->nsteps > 0 && b->steps[0] < 0;
    int64_t from_ns[2] = { INT64_MAX, INT64_MAX };
    size_t end = 0;
    if (first + 1 >= b->nsteps)
        return 0;
    for (size_t r = 0; r < g->nranks; r++) {
        const tl_folded *folded = tl_folded_of(t->in->folded, changed, r);
        const tl_job_rank *rank = &g->ranks[r];
        size_t p = 0;
        if (!tl_job_graph_has(g, r))
            continue;
        while (p < rank->nports && (rank->ports[p].step != b->steps[first + 1] || !rank->ports[p].awaited))
            p++;
        if (p == rank->nports)
            return 0;
        int64_t by_ns = done_ns[job->base[r] + folded->arrival_node[p]] - rank->ports[p].arrived_ns;
        begin_later(folded, job->base[r], by_ns, &job->net, &end);
        from_ns[0] = tl_ns_min(from_ns[0], rank->start_ns);
        from_ns[1] = tl_ns_min(from_ns[1], rank->start_ns + by_ns);
    }
    int64_t *again_ns = tl_malloc((job->net.n + 1) * sizeof *again_ns),
            *ends_ns = tl_malloc((b->nsteps + 1) * sizeof *ends_ns);
    tl_net_replay(&job->net, again_ns);
    tl_net_step_ends(&job->net, again_ns, ends_ns);
    if (first > 0) {
        from_ns[0] = t->ends_ns[0];
        from_ns[1] = ends_ns[0];
    }
    int64_t ns = ends_ns[first] - from_ns[1] - (t->ends_ns[first] - from_ns[0]);
    free(again_ns);
    free(ends_ns);
    return ns;
}

int64_t tl_whatif_replay(tl_changed_job *t, const tl_whatif_change *changes, size_t n, tl_selected_work *selected)
{
    const tl_job_graph *g = t->in->graph;
    tl_folded *changed = tl_calloc(g->nranks + 1, sizeof *changed);
    tl_job_net job = { 0 };
    tl_asked asked;
    *selected = (tl_selected_work){ 0 };
    for (size_t m = 0; m < g->nmeetings; m++)
        t->transfers[m] = (tl_scaled_transfer){ INFINITY, -INFINITY };
    ask_ranks(t->in, TL_WHATIF_CHANGED, changes, n, &asked);
    for (size_t r = 0; r < g->nranks; r++)
        if (tl_job_graph_has(g, r))
            read_changed(t, r, &asked.out[r], &changed[r], selected);
    tl_asked_free(&asked);
    tl_job_net_make(t->in->baseline, t->in->folded, changed, &job);
    for (size_t m = 0; m < g->nmeetings; m++) {
        int64_t ns = g->meetings[m].work_ns;
        if (isfinite(t->transfers[m].most)) {
            job.net.own_ns[job.meetings + m] += tl_scaled(ns, t->transfers[m].most) - ns;
            selected->own_ns = tl_ns_add(selected->own_ns, ns);
        } else if (isfinite(t->transfers[m].least)) {
            selected->left_ns = tl_ns_add(selected->left_ns, ns);
        }
    }
    int64_t *done_ns = tl_malloc((job.net.n + 1) * sizeof *done_ns), end_ns = tl_net_replay(&job.net, done_ns);
    tl_net_step_ends(&job.net, done_ns, t->ends_ns);
    if (g->nmeetings > 0)
        memcpy(t->meeting_ns, &done_ns[job.meetings], g->nmeetings * sizeof *done_ns);
    if (t->unsure_ns != NULL && t->in->baseline->nsteps > 0)
        t->unsure_ns[t->in->baseline->steps[0] < 0] = llabs(begin_error(t, changed, &job, done_ns));
    for (size_t r = 0; r < g->nranks; r++)
        tl_folded_free(&changed[r]);
    tl_job_net_free(&job);
    free(changed);
    free(done_ns);
    return end_ns - t->in->start_ns;
}

/* ------------------------------------------------------------------------------------------------------------- rows */

static double share_of(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : NAN;
}

/* Replays the job with changes and adds a row; place 0: all changes.  Returns the job's time, ns. */
static int64_t add_change(tl_changed_job *t, int32_t place, const tl_whatif_change *changes, size_t n,
                          tl_whatif_study *out)
{
    static const char *const options[] = { "--scale ", "--overlap ", "", "" };
    tl_bytes words = { 0 };
    tl_selected_work selected;
    int64_t time_ns = tl_whatif_replay(t, changes, n, &selected);
    tl_whatif_change_row *row = tl_table_add(&out->change_rows);
    *row = (tl_whatif_change_row){ .place = place,
                                   .pieces = selected.pieces,
                                   .own_ns = selected.own_ns,
                                   .left_ns = selected.left_ns,
                                   .time_ns = time_ns,
                                   .gain_ns = out->recorded_ns - time_ns,
                                   .share = share_of(out->recorded_ns - time_ns, out->recorded_ns) };
    tl_bytes_say(&words, "%s%s", place == 0 ? "all" : options[changes->sort], place == 0 ? "" : changes->text);
    tl_cell_text(row->change, sizeof row->change, words.v, words.n);
    tl_bytes_free(&words);
    out->unmatched_ns = selected.unmatched_ns;
    return time_ns;
}

static void add_steps(const tl_changed_job *t, tl_whatif_study *out)
{
    const tl_baseline *b = t->in->baseline;
    int64_t since_ns = t->in->start_ns;
    for (size_t s = 0; s < b->nsteps; s++) {
        int64_t recorded_ns = t->in->step_ns[s], time_ns = t->ends_ns[s] - since_ns;
        tl_whatif_part part = b->steps[s] < 0                ? TL_WHATIF_BEFORE
                              : b->steps[s] == TL_STEP_AFTER ? TL_WHATIF_AFTER
                              : b->cut[s]                    ? TL_WHATIF_CUT
                                                             : TL_WHATIF_WHOLE;
        since_ns = t->ends_ns[s];
        if (time_ns != 0 || recorded_ns != 0)
            tl_table_append(&out->step_rows,
                            &(tl_whatif_step){ .part = (uint8_t)part,
                                               .step = part < TL_WHATIF_BEFORE ? b->steps[s] : -1,
                                               .recorded_ns = recorded_ns,
                                               .time_ns = time_ns,
                                               .gain_ns = recorded_ns - time_ns,
                                               .share = share_of(recorded_ns - time_ns, recorded_ns) },
                            1);
    }
}

/* ------------------------------------------------------------------------------------------------------------- path */

/* Returns the index of the rank that comes last to a meeting; TL_NONE: one without a trace, or none. */
static uint32_t last_rank(const tl_job_graph *g, uint32_t meeting)
{
    const tl_meeting_edge *edge = tl_last_to_meet(g, meeting);
    return edge != NULL ? edge->rank : TL_NONE;
}

/* Adds to each step what it may be wrong by on the rank with most of that: its kernels run beside communication for
 * longer or less long, and where another rank comes last to a collective, its clock counts.  last[nmeetings]: the ranks
 * that came last in the recording. */
static void add_unsure(const tl_changed_job *t, const uint32_t *last, tl_asked *asked)
{
    const tl_job_graph *g = t->in->graph;
    const tl_baseline *b = t->in->baseline;
    int64_t *most_ns = tl_calloc(b->nsteps + 1, sizeof *most_ns);
    size_t n = 0;
    for (size_t r = 0; r < g->nranks; r++) {
        int64_t *step_ns = NULL;
        if (!tl_job_graph_has(g, r))
            continue;
        tl_bytes_get_list(&asked->out[r], (void **)&step_ns, &n, sizeof *step_ns);
        for (size_t s = 0; s < n; s++)
            step_ns[s] = llabs(step_ns[s]);
        for (size_t p = 0; p < g->ranks[r].nports && n > 0; p++) {
            const tl_rank_port *port = &g->ranks[r].ports[p];
            if (port->meeting != TL_NONE && last_rank(g, port->meeting) != last[port->meeting])
                step_ns[tl_step_index(b->steps, n, port->step)] =
                    tl_ns_add(step_ns[tl_step_index(b->steps, n, port->step)], t->in->clock_error_ns);
        }
        for (size_t s = 0; s < n; s++)
            most_ns[s] = tl_ns_max(most_ns[s], step_ns[s]);
        free(step_ns);
    }
    for (size_t s = 0; s < n; s++)
        t->unsure_ns[s] = tl_ns_add(t->unsure_ns[s], most_ns[s]);
    free(most_ns);
}

/* Overwrites the graph with the job as changed; the replay of all changes must be the last one. */
static void apply_to_graph(const tl_changed_job *t, const tl_whatif_changes *changes)
{
    tl_job_graph *g = t->in->graph;
    tl_asked asked;
    uint32_t *last = tl_malloc((g->nmeetings + 1) * sizeof *last);
    for (uint32_t m = 0; m < g->nmeetings; m++)
        last[m] = last_rank(g, m);
    for (size_t m = 0; m < g->nmeetings; m++) {
        g->meetings[m].done_ns = t->meeting_ns[m];
        if (isfinite(t->transfers[m].most))
            g->meetings[m].work_ns = tl_scaled(g->meetings[m].work_ns, t->transfers[m].most);
    }
    ask_ranks(t->in, TL_WHATIF_FINAL, changes->v, changes->n, &asked);
    for (size_t r = 0; r < g->nranks; r++)
        if (tl_job_graph_has(g, r)) {
            free(g->ranks[r].ports);
            tl_bytes_get_list(&asked.out[r], (void **)&g->ranks[r].ports, &g->ranks[r].nports,
                              sizeof *g->ranks[r].ports);
        }
    add_unsure(t, last, &asked);
    free(last);
    tl_asked_free(&asked);
}

/* Finds what the paths of all ranks are bound by in a step; false: the step has no time on any path. */
static bool bound_in_step(const tl_path *path, int32_t step, uint8_t *bound, double *share, double *unexplained)
{
    int64_t sum[TL_NBOUNDS] = { 0 }, all = 0;
    for (size_t r = 0; r < path->nranks; r++)
        for (size_t s = 1; s < path->ranks[r].nsteps; s++)
            for (int b = 0; b < TL_NBOUNDS && path->ranks[r].steps[s].step == step; b++)
                sum[b] = tl_ns_add(sum[b], path->ranks[r].steps[s].sum.ns[b]);
    *bound = 0;
    for (int b = 0; b < TL_NBOUNDS; b++) {
        all = tl_ns_add(all, sum[b]);
        *bound = sum[b] > sum[*bound] ? (uint8_t)b : *bound;
    }
    *share = share_of(sum[*bound], all);
    *unexplained = share_of(sum[TL_BOUND_UNEXPLAINED], all);
    return all > 0;
}

static void add_bounds(const tl_changed_job *t, const tl_path *before, const tl_path *after, tl_whatif_study *out)
{
    const tl_baseline *b = t->in->baseline;
    double ignored;
    TL_ROWS (tl_whatif_step, row, &out->step_rows) {
        if (row->part >= TL_WHATIF_BEFORE ||
            !bound_in_step(before, row->step, &row->recorded_bound, &row->recorded_bound_share, &ignored) ||
            !bound_in_step(after, row->step, &row->bound, &row->bound_share, &row->unsure)) {
            row->recorded_bound = row->bound = TL_BOUND_UNEXPLAINED;
            row->recorded_bound_share = row->bound_share = row->unsure = NAN;
            continue;
        }
        const int64_t unsure_ns = t->unsure_ns[tl_step_index(b->steps, b->nsteps, row->step)];
        out->unsure_ns = tl_ns_add(out->unsure_ns, unsure_ns);
        row->unsure += unsure_ns > 0 ? share_of(unsure_ns, row->time_ns) : 0;
    }
}

static void add_path(tl_changed_job *t, const tl_path *before, tl_whatif_study *out)
{
    const tl_job_graph *g = t->in->graph;
    const tl_asker *asker = t->in->baseline->asker;
    tl_path after;
    apply_to_graph(t, &out->changes);
    tl_path_of(g, asker, t->in->start_ns, TL_STEPS_OF_WORK, &after);
    out->recorded_unexplained_ns = before->unexplained_ns;
    out->unexplained_ns = after.unexplained_ns;
    out->untraced_ns = after.untraced_ns;
    for (int activity = 0; activity <= TL_PATH_BEFORE; activity++) {
        bool is_before = activity == TL_PATH_BEFORE;
        tl_whatif_path row = { .activity = (uint8_t)activity,
                               .recorded_ns = is_before ? before->before_ns : before->sum.ns[activity],
                               .time_ns = is_before ? after.before_ns : after.sum.ns[activity],
                               .rank = -1 };
        row.share = share_of(row.time_ns, out->time_ns);
        for (size_t r = 0; !is_before && r < g->nranks; r++)
            if (after.by_rank[r].ns[activity] > row.rank_ns) {
                row.rank = t->in->ranks[r];
                row.rank_ns = after.by_rank[r].ns[activity];
            }
        if (row.recorded_ns != 0 || row.time_ns != 0)
            tl_table_append(&out->path_rows, &row, 1);
    }
    add_bounds(t, before, &after, out);
    tl_path_end(&after);
}

/* -------------------------------------------------------------------------------------------------------------- all */

void tl_whatif_find(const tl_whatif_input *input, tl_whatif_study *out)
{
    const tl_whatif_changes *changes = &out->changes;
    tl_arena arena = { 0 };
    tl_path path;
    tl_changed_job t = { .in = input,
                         .transfers = tl_arena_take(&arena, input->graph->nmeetings, sizeof *t.transfers),
                         .meeting_ns = tl_arena_take(&arena, input->graph->nmeetings, sizeof *t.meeting_ns),
                         .ends_ns = tl_arena_take(&arena, input->baseline->nsteps, sizeof *t.ends_ns) };
    out->recorded_ns = out->time_ns = input->end_ns - input->start_ns;
    out->error_ns = input->error_ns;
    out->change_rows.schema = &tl_whatif_change_row_schema;
    out->step_rows.schema = &tl_whatif_step_schema;
    out->path_rows.schema = &tl_whatif_path_schema;
    out->top_rows.schema = &tl_whatif_top_schema;
    tl_path_of(input->graph, input->baseline->asker, input->start_ns, TL_STEPS_OF_WORK, &path);
    if (out->top > 0)
        tl_whatif_find_top(&t, (size_t)out->top, &path.job, &out->top_rows);
    for (size_t i = 0; i < changes->n && changes->n > 1; i++)
        add_change(&t, (int32_t)i + 1, &changes->v[i], 1, out);
    if (changes->n > 0) {
        t.unsure_ns = tl_arena_zeroed(&arena, input->baseline->nsteps + 1, sizeof *t.unsure_ns);
        out->time_ns = add_change(&t, changes->n > 1 ? 0 : 1, changes->v, changes->n, out);
        add_steps(&t, out);
        add_path(&t, &path, out);
    }
    tl_path_end(&path);
    tl_arena_free(&arena);
}
