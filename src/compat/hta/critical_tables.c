/* critical_tables.c - the tables of a job's critical paths: counts and weights of graph and path, the path's
 * bottlenecks, its nodes, and all edges.
 *
 *     critical_path_TAG_stats, _summary, _bound_by, _path, _edges     TAG_rankN in a job of several ranks
 *     critical_path_TAG_nodes     only for an annotation in the parameters: with the edges, the graph that HTA saves
 *
 * With an annotation in the parameters, TAG is the annotation in letters and digits, with the instances; whole for
 * "*".  Without one, the regions are
 *
 *     step0, step1, steps0_1    the instances 0, 1, and 0 and 1 of ProfilerStep; steps0_1 of the first rank alone, and
 *                               no more than step0 where there is one step
 *     whole                     all of the first rank, of a job of a moderate size
 *     forward1                  the second forward pass of a model of PARAM, twice: the second time with launch edges
 */
#include "critical_path.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/part_file.h"
#include "tlmpi/trace_out/splice.h"
#include <stdio.h>
#include <stdlib.h>

#define LARGE_ROWS      120000 /* most rows of all ranks for a path of the whole trace */
#define LARGE_EDGES     16000  /* most edges of a graph that are listed without an annotation in the parameters */
#define TAG             96     /* most characters of an annotation in a file's name */
#define NAME_CHARACTERS 80     /* most characters of a name in a path */
#define STEP            "ProfilerStep"
#define FORWARD         "[param|pytorch.model.alex_net|0|0|0|measure|forward]"

/* A region with its name. */
typedef struct part {
    tl_hta_region region;
    char tag[TAG + 64];
    bool first_alone; /* on the first rank alone */
    bool plain;       /* the tag has no rank even in a job of several ranks */
    bool asked;       /* from the parameters: all tables are written, of any size */
    bool left_out;    /* of the default regions */
} part;

typedef TL_VEC(part) parts;

/* ------------------------------------------------------------------------------------------------------------ stats */

const char *const tl_hta_edge_labels[TL_HTA_NEDGE_KINDS] = {
    [TL_HTA_OPERATOR] = "operator",
    [TL_HTA_DEPENDENCY] = "dependency",
    [TL_HTA_LAUNCH_DELAY] = "kernel_launch_delay",
    [TL_HTA_KERNEL_DELAY] = "kernel_kernel_delay",
    [TL_HTA_SYNC] = "sync_dependency",
};

static const char *const bindings[TL_HTA_NBINDINGS] = { [TL_HTA_BY_NOTHING] = "",
                                                        [TL_HTA_BY_HOST] = "cpu_bound",
                                                        [TL_HTA_BY_LOADING] = "data_loading",
                                                        [TL_HTA_BY_COMMUNICATION] = "gpu_communication_bound",
                                                        [TL_HTA_BY_COMPUTE] = "gpu_compute_bound",
                                                        [TL_HTA_BY_KERNEL_DELAY] = "gpu_kernel_kernel_overhead",
                                                        [TL_HTA_BY_LAUNCH_DELAY] = "gpu_kernel_launch_overhead" };

typedef struct sum {
    int64_t n;
    double weight;
} sum;

/* Sums over edges, by kind and by bottleneck. */
typedef struct sums {
    sum all, of_kind[TL_HTA_NEDGE_KINDS], of_binding[TL_HTA_NBINDINGS];
} sums;

/* Returns the sums over the edges of the path, or over all edges. */
static sums sums_of(const tl_hta_path_graph *g, bool path)
{
    sums s = { .all.n = (int64_t)(path ? g->npath : g->edges.n) };

    for (size_t i = 0; i < (size_t)s.all.n; i++) {
        const tl_hta_edge *edge = &g->edges.v[path ? g->path[i] : i];
        s.all.weight += edge->weight;
        s.of_kind[edge->kind].n++;
        s.of_kind[edge->kind].weight += edge->weight;
        s.of_binding[edge->binding].n++;
        s.of_binding[edge->binding].weight += edge->weight;
    }
    return s;
}

/* Writes a row with PREFIX and KEY joined, and the value. */
static void put_value(tl_csv *csv, const char *prefix, const char *key, tl_cell value)
{
    char name[96];
    snprintf(name, sizeof name, "%s%s", prefix, key);
    TL_ROW(csv, name, value);
}

static void put_kinds(tl_csv *csv, const char *edges, const char *weight, const sums *s)
{
    for (int k = 0; k < TL_HTA_NEDGE_KINDS; k++) {
        put_value(csv, edges, tl_hta_edge_labels[k], tl_int(s->of_kind[k].n));
        put_value(csv, weight, tl_hta_edge_labels[k], tl_real(s->of_kind[k].weight));
    }
}

/* Returns the number of distinct rows on the path. */
static size_t count_path_rows(const tl_hta_path_graph *g)
{
    bool *is_there = tl_calloc(g->clip.rows.n, sizeof *is_there);
    size_t n = 0;

    for (size_t i = 0; i <= g->npath; i++) {
        bool *here = &is_there[g->nodes.v[tl_hta_node_of_path(g, i)].row];
        n += !*here;
        *here = true;
    }
    free(is_there);
    return n;
}

/* Writes the counts of HTA's trace with the path as overlay: events without the two ends of each arrow, events on
 * the path, and arrows. */
static void put_overlay(tl_csv *csv, const char *way, size_t nevents, size_t nmarked, size_t narrows)
{
    put_value(csv, way, "events", tl_count(nevents + 2 * narrows));
    put_value(csv, way, "marked_events", tl_count(nmarked));
    put_value(csv, way, "flow_starts", tl_count(narrows));
}

static void put_stats(tl_csv *csv, const tl_hta_path_graph *g)
{
    const sums all = sums_of(g, false), path = sums_of(g, true);
    size_t nnegative = 0, nempty = 0;

    TL_EACH (const tl_hta_edge, edge, g->edges) {
        nnegative += edge->weight < 0;
        nempty += edge->kind == TL_HTA_LAUNCH_DELAY && edge->weight == 0;
    }
    TL_ROW(csv, "success", g->invalid == NULL ? "True" : "False");
    TL_ROW(csv, "clipped_events", g->clip.rows.n);
    TL_ROW(csv, "nodes_in_list", g->nodes.n);
    TL_ROW(csv, "graph_nodes", g->met.n);
    TL_ROW(csv, "edges", g->edges.n);
    TL_ROW(csv, "negative_weight_edges", nnegative);
    put_kinds(csv, "edges:critical_path_", "weight:critical_path_", &all);
    if (g->invalid != NULL)
        return;
    const size_t nrows = count_path_rows(g);
    const size_t narrows =
        (size_t)(path.of_kind[TL_HTA_DEPENDENCY].n + path.of_kind[TL_HTA_LAUNCH_DELAY].n + path.of_kind[TL_HTA_SYNC].n);
    TL_ROW(csv, "path_nodes", g->npath + 1);
    TL_ROW(csv, "path_events", nrows);
    TL_ROW(csv, "path_length_graph_weight", g->length);
    TL_ROW(csv, "path_length_object_weight", path.all.weight);
    TL_ROW(csv, "path_first_ts", g->nodes.v[tl_hta_node_of_path(g, 0)].ts);
    TL_ROW(csv, "path_last_ts", g->nodes.v[tl_hta_node_of_path(g, g->npath)].ts);
    put_kinds(csv, "path_edges:critical_path_", "path_weight:critical_path_", &path);
    TL_ROW(csv, "what_if_comm_free_path_length", tl_hta_longest_path(g, 0, 1, NULL, NULL));
    TL_ROW(csv, "what_if_kernels_half_path_length", tl_hta_longest_path(g, 0.5, 0.5, NULL, NULL));
    put_overlay(csv, "overlay_only_critical=True_all_edges=False:", g->frame->nentries - g->frame->nplain + nrows,
                nrows, narrows);
    put_overlay(csv, "overlay_only_critical=False_all_edges=True:", g->frame->nentries, nrows, g->edges.n - nempty);
    put_overlay(csv, "overlay_only_critical=False_all_edges=False:", g->frame->nentries, nrows, narrows);
}

static void put_shares(tl_csv *csv, const tl_hta_path_graph *g)
{
    const sums path = sums_of(g, true);

    for (int k = 0; k < TL_HTA_NBINDINGS; k++)
        if (path.of_binding[k].n > 0)
            TL_ROW(csv, bindings[k], path.of_binding[k].weight / path.all.weight * 100);
}

static void put_counts(tl_csv *csv, const tl_hta_path_graph *g)
{
    const sums path = sums_of(g, true);

    for (int k = 0; k < TL_HTA_NBINDINGS; k++)
        if (path.of_binding[k].n > 0)
            TL_ROW(csv, bindings[k], path.of_binding[k].n, path.of_binding[k].weight);
}

/* -------------------------------------------------------------------------------------------------- nodes and edges */

static void put_path(tl_csv *csv, const tl_hta_path_graph *g)
{
    for (size_t i = 0; i <= g->npath; i++) {
        const uint32_t at = tl_hta_node_of_path(g, i);
        const tl_hta_row *row = tl_hta_row_of_node(g, at);
        tl_text name = tl_hta_name(&g->clip, row);
        name.n = tl_hta_nth_character(name, NAME_CHARACTERS);
        TL_ROW(csv, at, row->index, g->nodes.v[at].ts, g->nodes.v[at].end ? "False" : "True", name);
    }
}

static void put_edges(tl_csv *csv, const tl_hta_path_graph *g)
{
    bool *on_path = tl_calloc(g->edges.n, sizeof *on_path);

    for (size_t i = 0; i < g->npath; i++)
        on_path[g->path[i]] = true;
    TL_EACH (const uint32_t, node, g->met)
        for (size_t k = g->first_out[*node]; k < g->first_out[*node + 1]; k++) {
            const tl_hta_edge *edge = &g->edges.v[g->out[k]];
            const tl_hta_moment *from = &g->nodes.v[edge->from], *to = &g->nodes.v[edge->to];
            TL_ROW(csv, edge->from, edge->to, g->clip.rows.v[from->row].index, !from->end,
                   g->clip.rows.v[to->row].index, !to->end, from->ts, to->ts, tl_hta_edge_labels[edge->kind],
                   edge->weight, tl_hta_edge_counts(edge),
                   edge->event != TL_HTA_NO_EVENT ? tl_int(edge->event) : tl_blank(), on_path[g->out[k]]);
        }
    free(on_path);
}

static void put_nodes(tl_csv *csv, const tl_hta_path_graph *g)
{
    for (uint32_t at = 0; at < g->nodes.n; at++) {
        const tl_hta_row *row = tl_hta_row_of_node(g, at);
        TL_ROW(csv, at, row->index, g->nodes.v[at].ts, g->nodes.v[at].end ? "False" : "True", row->stream,
               tl_hta_name(&g->clip, row));
    }
}

static const struct {
    const char *name, *header;
    void (*put)(tl_csv *csv, const tl_hta_path_graph *g);
    bool of_path; /* written only if there is a path */
    bool asked;   /* written only for regions from the parameters */
} tables[] = {
    { "stats", "key,value", put_stats, false, false },
    { "summary", "bound_by,percent", put_shares, true, false },
    { "bound_by", "bound_by,count,sum", put_counts, true, false },
    { "path", "node,event,ts,is_start,name", put_path, true, false },
    { "edges",
      "begin,end,begin_event,begin_is_start,end_event,end_is_start,begin_ts,end_ts,type,weight,graph_weight,"
      "attributed_event,critical",
      put_edges, false, false },
    { "nodes", "node,event,ts,is_start,stream,name", put_nodes, false, true },
};

/* ------------------------------------------------------------------------------------------------------ the overlay
 *
 * A copy of the rank's trace with HTA's overlay.  Complete events ("ph": "X") are kept only if they are on the path,
 * with `critical` added to their args, or are annotations or Python frames.  Each dependency, launch delay and
 * synchronisation on the path adds an arrow.
 */

typedef struct overlaid {
    const tl_hta_path_graph *graph;
    tl_trace trace;
    tl_verbatim words;
    uint8_t *fate;   /* by entry: TL_ENTRY_... */
    uint32_t *event; /* by entry: the event's position in the columns */
} overlaid;

/* Returns the value truncated as by Python's int(); 0 for a value beyond int64_t. */
static int64_t microseconds(double us)
{
    return fabs(us) < 0x1p62 ? (int64_t)us : 0;
}

/* Writes one end of an edge's arrow.  HTA draws the end of device work 1 us early, so that the arrow starts within
 * it. */
static void put_end(tl_out_writer *writer, const overlaid *o, const tl_hta_edge *edge, size_t id, char ph)
{
    const tl_events *events = &o->trace.events;
    const uint32_t node = ph == 's' ? edge->from : edge->to;
    const uint32_t i = o->event[tl_hta_row_of_node(o->graph, node)->index];
    const tl_track *track = &events->tracks.v[tl_event_track(events, i)];
    double ts = o->words.ts[i], dur = o->words.dur[i];
    char kind[64];
    int nkind = snprintf(kind, sizeof kind, "critical_path_%s", tl_hta_edge_labels[edge->kind]);
    const tl_out_arg args[] = { { "weight", tl_out_int(microseconds(edge->weight)) },
                                { "critical", tl_out_int(1) },
                                { "type", tl_out_text((tl_text){ kind, (size_t)nkind }) } };
    tl_out_event out = { .ph = ph,
                         .track = { .pid = track->pid, .tid = track->tid },
                         .name = TL_TEXT("critical_path"),
                         .cat = "critical_path",
                         .id = tl_out_int((int64_t)id),
                         .args = args,
                         .nargs = sizeof args / sizeof *args };

    if (o->graph->nodes.v[node].end)
        ts = ts + dur - (tl_event_lane(events, i)->device >= 0 ? fmin(1, dur) : 0);
    out.ts = tl_out_int(microseconds(ts));
    if (track->pid_text != TL_NO_NAME)
        out.track.pid_text = tl_names_text(&events->names, track->pid_text);
    if (track->tid_text != TL_NO_NAME)
        out.track.tid_text = tl_names_text(&events->names, track->tid_text);
    tl_out_put(writer, &out);
}

/* Writes the arrows of the path's dependencies, launch delays and synchronisations. */
static tl_status add_arrows(void *arg, tl_out_writer *writer, tl_error *err)
{
    const overlaid *o = arg;
    size_t id = 0;

    (void)err;
    for (size_t k = 0; k < o->graph->npath; k++) {
        const tl_hta_edge *edge = &o->graph->edges.v[o->graph->path[k]];
        if (edge->kind == TL_HTA_OPERATOR || edge->kind == TL_HTA_KERNEL_DELAY)
            continue;
        put_end(writer, o, edge, id, 's');
        put_end(writer, o, edge, id++, 'f');
    }
    return TL_OK;
}

/* Decides which entries are kept, dropped or marked. */
static tl_status decide_fates(overlaid *o, const char *path, tl_error *err)
{
    const tl_events *events = &o->trace.events;
    const uint64_t n = o->trace.report.entries;

    if (o->trace.report.dropped > 0)
        return tl_fail(err, TL_EINPUT, "%s: entries are damaged", path);
    o->fate = tl_calloc(n, sizeof *o->fate);
    o->event = tl_calloc(n, sizeof *o->event);
    for (uint32_t i = 0; i < events->n; i++) {
        bool kept =
            !(events->flags[i] & TL_EVENT_PH_X) || (TL_CAT_BIT(tl_event_cat(events, i)) & TL_HTA_KEPT_OFF_PATH) != 0;
        o->fate[events->uid[i]] = kept ? TL_ENTRY_KEPT : TL_ENTRY_DROPPED;
        o->event[events->uid[i]] = i;
    }
    for (size_t k = 0; k <= o->graph->npath; k++) {
        const tl_hta_row *row = tl_hta_row_of_node(o->graph, tl_hta_node_of_path(o->graph, k));
        if (row->index >= n)
            return tl_fail(err, TL_EINPUT, "%s: has changed since it was read", path);
        o->fate[row->index] = TL_ENTRY_MARKED;
    }
    return TL_OK;
}

/* TL_EINPUT: the trace cannot be read again or has damaged entries; TL_EUSAGE: the copy would overwrite an input;
 * TL_EOUTPUT: a write failed. */
static tl_status write_overlay(const tl_hta_job *job, const tl_hta_frame *frame, const tl_hta_path_graph *g,
                               tl_error *err)
{
    static const char *const gzip[] = { ".gz", NULL };
    const char *slash = strrchr(frame->path, '/'), *name = slash != NULL ? slash + 1 : frame->path;
    overlaid o = { .graph = g };
    const tl_entry_hook hook = tl_verbatim_hook(&o.words, false);
    const tl_read_options how = { .keep = (1u << TL_NCATS) - 1, .hook = &hook };
    tl_part_file file = TL_PART_FILE_INIT;
    tl_bytes path = { 0 };
    tl_sink *sink = NULL;

    tl_bytes_say(&path, "%s/overlaid_critical_path_%s", job->out.dir, name);
    tl_bytes_put(&path, "", 1);
    tl_status st = tl_trace_read(frame->path, &how, &o.trace, err);
    if (st == TL_OK)
        st = decide_fates(&o, frame->path, err);
    TL_EACH (const tl_hta_frame, other, job->frames)
        if (st == TL_OK)
            st = tl_check_input_kept(path.v, other->path, err);
    if (st == TL_OK)
        st = tl_part_file_begin(&file, path.v, true, err);
    if (st == TL_OK)
        st = tl_part_file_create(&file, err);
    if (st == TL_OK)
        st = tl_sink_open(file.fd, file.part, tl_name_has_ending(name, gzip), &sink, err);
    if (st == TL_OK) {
        tl_splice splice = tl_splice_of(&o.trace.report);
        const tl_splice_edit edit = { .fate = o.fate, .n = o.trace.report.entries, .mark = "\"critical\": 1" };
        splice.edit = &edit;
        st = tl_splice_copy(frame->path, &splice, sink, add_arrows, &o, NULL, err);
    }
    tl_sink_close(sink);
    if (st == TL_OK)
        st = tl_part_file_publish(&file, err);
    tl_part_file_drop(&file);
    tl_trace_free(&o.trace);
    tl_verbatim_free(&o.words);
    tl_bytes_free(&path);
    free(o.fate);
    free(o.event);
    return st;
}

/* ------------------------------------------------------------------------------------------------- a part of a rank */

/* Writes the tables of a region on one rank, and with `show` the overlay; returns whether there is a path. */
static bool write_part(tl_hta_job *job, const tl_hta_rank_calls *calls, const part *p, bool show)
{
    tl_hta_path_graph g = { .npath = 0 };
    char tag[TAG + 128], file[TAG + 160], of_rank[32] = "";

    if (job->frames.n > 1 && !p->plain)
        snprintf(of_rank, sizeof of_rank, "_rank%lld", (long long)calls->frame->rank);
    snprintf(tag, sizeof tag, "critical_path_%s%s%s", p->tag, p->region.launch_edges ? "_launch_edges" : "", of_rank);
    if (calls->why == NULL)
        g = tl_hta_path_graph_of(calls, &p->region);
    const bool gives_up = calls->why != NULL || g.why[0] != '\0';
    const bool found = !gives_up && g.invalid == NULL;
    if (gives_up)
        tl_csv_note(&job->out, p->asked && calls->frame == job->frames.v, "%s: HTA gives up: %s", tag,
                    calls->why != NULL ? calls->why : g.why);
    else if (!found)
        tl_hta_note(&job->out, "%s: no path: %s", tag, g.invalid);
    for (size_t i = 0; i < sizeof tables / sizeof *tables && !gives_up; i++) {
        if ((tables[i].of_path && !found) || (tables[i].asked && !p->asked))
            continue;
        if (tables[i].put == put_edges && !p->asked && g.edges.n > LARGE_EDGES) {
            tl_hta_note(&job->out, "%s: %zu edges are not listed; --annotation lists those of what it names", tag,
                        g.edges.n);
            continue;
        }
        snprintf(file, sizeof file, "%s_%s.csv", tag, tables[i].name);
        tl_csv csv = tl_csv_open(&job->out, file, tables[i].header);
        tables[i].put(&csv, &g);
        tl_csv_close(&csv);
    }
    if (found && show) {
        tl_error why;
        tl_status st = write_overlay(job, calls->frame, &g, &why);
        if (st == TL_EOUTPUT)
            job->out.error = why;
        else if (st != TL_OK)
            tl_hta_note_rank(&job->out, "overlaid_critical_path", calls->frame, "none: %s", why.text);
    }
    tl_hta_path_graph_free(&g);
    return found;
}

/* ------------------------------------------------------------------------------------------------------------ parts */

/* Adds the regions from the parameters. */
static void add_asked(parts *all, const tl_hta_parameters *p)
{
    static const tl_range first = { 0, 0 };
    const bool whole = strcmp(p->annotation, "*") == 0;
    char words[TAG + 1];

    tl_hta_file_words(words, TAG, p->annotation);
    for (size_t i = 0; i < (whole || p->instance_id.n == 0 ? 1 : p->instance_id.n); i++) {
        const tl_range range = p->instance_id.n > 0 ? p->instance_id.v[i] : first;
        part one = { { whole ? "" : p->annotation, range, p->launch_edges }, "whole", .asked = true };
        if (!whole)
            snprintf(one.tag, sizeof one.tag, range.last != range.first ? "%s_%lld_%lld" : "%s_%lld", words,
                     (long long)range.first, (long long)range.last);
        tl_vec_push(all, one);
    }
}

/* Adds the default regions. */
static void add_usual(parts *all, const tl_hta_job *job)
{
    const bool launch_edges = job->parameters->launch_edges;
    size_t nsteps = 0, nrows = 0;
    bool any_forward = false;

    for (uint32_t i = 0; i < job->symbols->v.n; i++) {
        nsteps += tl_hta_is(job->symbols, i, TL_HTA_STEP_NAME);
        any_forward = any_forward || tl_text_has(tl_hta_text(job->symbols, i), FORWARD);
    }
    TL_EACH (const tl_hta_frame, frame, job->frames)
        nrows += frame->nloaded;
    const part usual[] = {
        { { STEP, { 0, 0 }, launch_edges }, "step0", .left_out = nsteps < 1 },
        { { STEP, { 1, 1 }, launch_edges }, "step1", .left_out = nsteps < 2 },
        { { STEP, { 0, 1 }, launch_edges }, "steps0_1", .first_alone = true, .left_out = nsteps < 2 },
        { { "", { 0, 0 }, launch_edges }, "whole", .first_alone = true, .plain = true, .left_out = nrows > LARGE_ROWS },
        { { FORWARD, { 1, 1 }, false }, "forward1", .left_out = !any_forward || launch_edges },
        { { FORWARD, { 1, 1 }, true }, "forward1", .left_out = !any_forward },
    };
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (!usual[i].left_out)
            tl_vec_push(all, usual[i]);
}

void tl_hta_critical_paths(tl_hta_job *job)
{
    parts all = { 0 };

    if (job->parameters->annotation != NULL)
        add_asked(&all, job->parameters);
    else
        add_usual(&all, job);
    if (all.n > 0 && tl_names_find(&job->symbols->texts, "cuda_sync", 9) == TL_NO_NAME)
        tl_hta_note(&job->out,
                    "critical_path: no rank has synchronisations (cuda_sync): what waited for the device is not known");
    for (size_t i = 0; i < job->frames.n; i++) {
        tl_hta_rank_calls calls = tl_hta_rank_calls_of(&job->frames.v[i], job->parameters->data_load_events);
        bool show = job->parameters->overlay;
        TL_EACH (const part, p, all)
            if (i == 0 || !p->first_alone)
                show = !write_part(job, &calls, p, show) && show;
        tl_hta_rank_calls_free(&calls);
    }
    free(all.v);
}
