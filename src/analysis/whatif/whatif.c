/* whatif.c - the job with the changes that a user names: each alone, all together, and what binds it then. */
#include "internal.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>
#include <string.h>

const char *const tl_whatif_part_labels[] = { TL_WHATIF_PART_VALUES(TL_VALUE_LABEL) NULL };
TL_TABLE_DEFINE_AS(whatif_change_row, "whatif_change", TL_WHATIF_CHANGE_FIELDS, TL_SCOPE_JOB,
                   "changes, and what the job would gain by them",
                   "How long would the job take if what I name were otherwise?");
TL_TABLE_DEFINE(whatif_step, TL_WHATIF_STEP_FIELDS, TL_SCOPE_JOB, "the job's steps with all changes",
                "How long would each step take then?");
TL_TABLE_DEFINE(whatif_path, TL_WHATIF_PATH_FIELDS, TL_SCOPE_JOB, "the critical path as recorded and with all changes",
                "What would bind the job then?");

void tl_whatif_result_init(tl_whatif_result *result)
{
    *result = (tl_whatif_result){ .changes = { .schema = &tl_whatif_change_row_schema },
                                  .steps = { .schema = &tl_whatif_step_schema },
                                  .path = { .schema = &tl_whatif_path_schema },
                                  .top = { .schema = &tl_whatif_top_schema } };
}

void tl_whatif_result_free(tl_whatif_result *result)
{
    tl_table_free(&result->changes);
    tl_table_free(&result->steps);
    tl_table_free(&result->path);
    tl_table_free(&result->top);
}

/* -------------------------------------------------------------------------------------------------------- questions */

static void put_changes(const tl_whatif_change *changes, size_t n, tl_bytes *out)
{
    tl_bytes_put(out, &n, sizeof n);
    for (size_t i = 0; i < n; i++) {
        tl_bytes_put(out, &changes[i].sort, sizeof changes[i].sort);
        tl_bytes_put_list(out, changes[i].text, strlen(changes[i].text), 1);
    }
}

void tl_whatif_begin(const tl_changed_job *t, tl_whatif_question question, tl_asked *asked)
{
    const uint32_t what = question;
    tl_asked_new(t->in->graph->nranks, asked);
    for (size_t r = 0; r < asked->n; r++)
        if (tl_job_graph_has(t->in->graph, r))
            tl_bytes_put(&asked->in[r], &what, sizeof what);
}

/* ---------------------------------------------------------------------------------------------------------- replays */

/* Counts which members of each meeting have its transfer scaled, and by what. */
static void add_ports(tl_changed_job *t, size_t rank, const tl_selected_port *ports, size_t n)
{
    const tl_job_rank *r = &t->in->graph->ranks[rank];
    for (size_t p = 0; p < r->nports; p++)
        if (r->ports[p].meeting != TL_NONE)
            t->transfers[r->ports[p].meeting].members++;
    for (size_t i = 0; i < n; i++) {
        tl_scaled_transfer *of = &t->transfers[r->ports[ports[i].port].meeting];
        of->factor = of->selected++ == 0 ? ports[i].factor : fmax(of->factor, ports[i].factor);
    }
}

static bool is_scaled(const tl_scaled_transfer *of)
{
    return of->members > 0 && of->selected == of->members;
}

static void forget(tl_changed_job *t)
{
    for (size_t r = 0; r < t->in->graph->nranks; r++)
        tl_folded_free(&t->changed[r]);
    memset(t->transfers, 0, t->in->graph->nmeetings * sizeof *t->transfers);
    tl_job_net_free(&t->net);
    free(t->done_ns);
    t->done_ns = NULL;
}

int64_t tl_whatif_replay(tl_changed_job *t, const tl_whatif_change *changes, size_t n, tl_selected_work *selected)
{
    const tl_job_graph *g = t->in->graph;
    tl_asked asked;
    forget(t);
    tl_whatif_begin(t, TL_WHATIF_CHANGED, &asked);
    for (size_t r = 0; r < asked.n; r++)
        if (tl_job_graph_has(g, r))
            put_changes(changes, n, &asked.in[r]);
    tl_ask_ranks(t->in->baseline->asker, TL_ASK_WHATIF, &asked);
    for (size_t r = 0; r < asked.n; r++) {
        tl_selected_work on = { 0 };
        tl_selected_port *ports = NULL;
        size_t nports;
        if (!tl_job_graph_has(g, r))
            continue;
        tl_bytes_get(&asked.out[r], &on, sizeof on);
        tl_bytes_get_list(&asked.out[r], (void **)&ports, &nports, sizeof *ports);
        tl_folded_get(&t->changed[r], &asked.out[r]);
        add_ports(t, r, ports, nports);
        selected->pieces += on.pieces;
        selected->own_ns = tl_ns_add(selected->own_ns, on.own_ns);
        selected->left_ns = tl_ns_add(selected->left_ns, on.left_ns);
        free(ports);
    }
    tl_asked_free(&asked);
    tl_job_net_make(t->in->baseline, t->in->folded, t->changed, &t->net);
    for (uint32_t m = 0; m < g->nmeetings; m++)
        if (is_scaled(&t->transfers[m])) {
            int64_t ns = g->meetings[m].work_ns;
            t->net.net.own_ns[t->net.meetings + m] += tl_scaled(ns, t->transfers[m].factor) - ns;
            selected->own_ns = tl_ns_add(selected->own_ns, ns);
        } else if (t->transfers[m].selected > 0) {
            selected->left_ns = tl_ns_add(selected->left_ns, g->meetings[m].work_ns);
        }
    t->done_ns = tl_malloc((t->net.net.n + 1) * sizeof *t->done_ns);
    int64_t end_ns = tl_net_replay(&t->net.net, t->done_ns);
    tl_net_step_ends(&t->net.net, t->done_ns, t->ends_ns);
    return end_ns - t->in->start_ns;
}

/* ------------------------------------------------------------------------------------------------------------- rows */

static double share_of(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : NAN;
}

/* Replays, and adds the row of the changes. */
static void add_change(tl_changed_job *t, int32_t place, const tl_whatif_change *changes, size_t n,
                       tl_whatif_result *out)
{
    static const char *const before[] = { "--scale ", "--overlap ", "", "" };
    tl_selected_work selected = { 0 };
    int64_t time_ns = tl_whatif_replay(t, changes, n, &selected);
    tl_whatif_change_row *row = tl_table_add(&out->changes);
    row->place = place;
    row->pieces = selected.pieces;
    row->own_ns = selected.own_ns;
    row->left_ns = selected.left_ns;
    row->time_ns = time_ns;
    row->gain_ns = out->recorded_ns - time_ns;
    row->share = share_of(row->gain_ns, out->recorded_ns);
    tl_bytes words = { 0 };
    const char *option = place == 0 ? "all" : before[changes->sort], *text = place == 0 ? "" : changes->text;
    tl_bytes_put(&words, option, strlen(option));
    tl_bytes_put(&words, text, strlen(text));
    tl_cell_text(row->change, sizeof row->change, words.v, words.n);
    tl_bytes_free(&words);
}

static tl_whatif_part part_of(const tl_baseline *b, size_t step)
{
    return b->steps[step] < 0                ? TL_WHATIF_BEFORE
           : b->steps[step] == TL_STEP_AFTER ? TL_WHATIF_AFTER
           : b->cut[step]                    ? TL_WHATIF_CUT
                                             : TL_WHATIF_WHOLE;
}

static void add_steps(const tl_changed_job *t, tl_whatif_result *out)
{
    const tl_baseline *b = t->in->baseline;
    int64_t since = t->in->start_ns;
    for (size_t s = 0; s < b->nsteps; s++) {
        int64_t time_ns = t->ends_ns[s] - since, recorded_ns = t->in->step_ns[s];
        tl_whatif_part part = part_of(b, s);
        since = t->ends_ns[s];
        if (time_ns == 0 && recorded_ns == 0)
            continue;
        tl_whatif_step *row = tl_table_add(&out->steps);
        *row = (tl_whatif_step){ .part = (uint8_t)part,
                                 .step = part < TL_WHATIF_BEFORE ? b->steps[s] : -1,
                                 .recorded_ns = recorded_ns,
                                 .time_ns = time_ns,
                                 .gain_ns = recorded_ns - time_ns,
                                 .share = share_of(recorded_ns - time_ns, recorded_ns) };
    }
}

/* ------------------------------------------------------------------------------------------------------------- path */

/* Makes the graph that of the job with all changes, which were replayed last. */
static void become_changed(tl_changed_job *t)
{
    tl_job_graph *g = t->in->graph;
    tl_asked asked;
    tl_whatif_begin(t, TL_WHATIF_FINAL, &asked);
    for (uint32_t m = 0; m < g->nmeetings; m++) {
        g->meetings[m].done_ns = t->done_ns[t->net.meetings + m];
        if (is_scaled(&t->transfers[m]))
            g->meetings[m].work_ns = tl_scaled(g->meetings[m].work_ns, t->transfers[m].factor);
    }
    for (size_t r = 0; r < asked.n; r++) {
        const tl_job_rank *rank = &g->ranks[r];
        int64_t *port_ns = tl_malloc((rank->nports + 1) * sizeof *port_ns);
        for (size_t p = 0; p < rank->nports; p++)
            port_ns[p] = rank->ports[p].meeting != TL_NONE ? g->meetings[rank->ports[p].meeting].done_ns : INT64_MIN;
        if (tl_job_graph_has(g, r)) {
            tl_bytes_put_list(&asked.in[r], port_ns, rank->nports, sizeof *port_ns);
            put_changes(t->in->options->changes.v, t->in->options->changes.n, &asked.in[r]);
        }
        free(port_ns);
    }
    tl_ask_ranks(t->in->baseline->asker, TL_ASK_WHATIF, &asked);
    for (size_t r = 0; r < asked.n; r++) {
        tl_job_rank *rank = &g->ranks[r];
        if (!tl_job_graph_has(g, r))
            continue;
        free(rank->ports);
        tl_bytes_get_list(&asked.out[r], (void **)&rank->ports, &rank->nports, sizeof *rank->ports);
    }
    tl_asked_free(&asked);
}

static void add_path(tl_changed_job *t, tl_whatif_result *out)
{
    const tl_job_graph *g = t->in->graph;
    const tl_asker *asker = t->in->baseline->asker;
    tl_path before, after;
    tl_path_of(g, asker, t->in->start_ns, &before);
    become_changed(t);
    tl_path_of(g, asker, t->in->start_ns, &after);
    out->recorded_unexplained_ns = before.unexplained_ns;
    out->unexplained_ns = after.unexplained_ns;
    out->untraced_ns = after.untraced_ns;
    for (int activity = 0; activity <= TL_PATH_BEFORE; activity++) {
        bool is_before = activity == TL_PATH_BEFORE;
        tl_whatif_path row = { .activity = (uint8_t)activity,
                               .recorded_ns = is_before ? before.before_ns : before.sum.ns[activity],
                               .time_ns = is_before ? after.before_ns : after.sum.ns[activity],
                               .rank = -1 };
        row.share = share_of(row.time_ns, out->time_ns);
        for (size_t r = 0; !is_before && r < g->nranks; r++)
            if (after.by_rank[r].ns[activity] > row.rank_ns) {
                row.rank = t->in->ranks[r];
                row.rank_ns = after.by_rank[r].ns[activity];
            }
        if (row.recorded_ns != 0 || row.time_ns != 0)
            tl_table_append(&out->path, &row, 1);
    }
    tl_path_end(&before);
    tl_path_end(&after);
}

/* -------------------------------------------------------------------------------------------------------------- all */

void tl_whatif_find(const tl_whatif_input *input, tl_whatif_result *out)
{
    const tl_whatif_changes *changes = &input->options->changes;
    tl_changed_job t = { .in = input };
    t.changed = tl_arena_zeroed(&t.arena, input->graph->nranks, sizeof *t.changed);
    t.transfers = tl_arena_zeroed(&t.arena, input->graph->nmeetings, sizeof *t.transfers);
    t.ends_ns = tl_arena_zeroed(&t.arena, input->baseline->nsteps, sizeof *t.ends_ns);
    out->recorded_ns = out->time_ns = input->end_ns - input->start_ns;
    out->error_ns = input->error_ns;
    if (input->options->top > 0)
        tl_whatif_find_top(&t, &out->top);
    for (size_t i = 0; i < changes->n && changes->n > 1; i++)
        add_change(&t, (int32_t)i + 1, &changes->v[i], 1, out);
    if (changes->n > 0) {
        add_change(&t, changes->n > 1 ? 0 : 1, changes->v, changes->n, out);
        const tl_whatif_change_row *all = tl_table_row(&out->changes, out->changes.n - 1);
        out->time_ns = all->time_ns;
        add_steps(&t, out);
        add_path(&t, out);
    }
    forget(&t);
    tl_arena_free(&t.arena);
}
