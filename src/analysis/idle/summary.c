/* summary.c - gaps by class: their two labels, and in which call, operator, graph or work.
 *
 * The classes of a device are found with a map, in order of first appearance, and then stand in order of their time.
 */
#include "scope.h"
#include "tlmpi/base/hash.h"
#include <stdio.h>
#include <stdlib.h>

/* More classes than that of one device are summed as others: a trace may give every gap a name of its own. */
#define MOST_CLASSES 1000

/* What a gap is grouped by beside its labels: two numbers. */
typedef struct class_key {
    uint32_t sub, name;
} class_key;

/* The call in which the host was for most of a gap that it does not explain: work was launched, and began late. */
static uint32_t call_meanwhile(const tl_gap *g)
{
    return g->call_class != TL_CALL_NONE && g->call_ns > g->duration_ns / 2 ? g->call : TL_NO_NAME;
}

static class_key key_of(const tl_gap *g)
{
    switch (g->cpu_during_gap) {
    case TL_DOING_RUNTIME:
        return (class_key){ g->call_class, g->call };
    case TL_DOING_CPU:
    case TL_DOING_UNTRACED:
        return (class_key){ 0, g->dominant_op };
    case TL_DOING_GRAPH:
        return (class_key){ 0, g->launch };
    case TL_DOING_DEPENDENCY:
        return (class_key){ 0, g->following };
    case TL_DOING_LAUNCH_ANOMALY:
        return (class_key){ g->prequeued, call_meanwhile(g) };
    case TL_DOING_LAUNCH_OVERHEAD:
        return (class_key){ g->prequeued, TL_NO_NAME };
    default:
        return (class_key){ 0, TL_NO_NAME };
    }
}

static void text_cell(char *cell, size_t size, tl_text text)
{
    tl_cell_text(cell, size, text.p, text.n);
}

/* "word: name" */
static void text_after(char *cell, size_t size, const char *word, tl_text name)
{
    char text[256];
    int n = snprintf(text, sizeof text, "%s: ", word);
    size_t more = name.n < sizeof text - (size_t)n ? name.n : sizeof text - (size_t)n;
    memcpy(text + n, name.p, more);
    tl_cell_text(cell, size, text, (size_t)n + more);
}

void tl_idle_say_class(const tl_names *names, const tl_gap *g, char *cell, size_t size)
{
    class_key key = key_of(g);
    tl_text name = tl_names_text(names, key.name);
    const char *queued = g->prequeued == TL_QUEUED_YES ? "prequeued" : "launched_during_gap";

    switch (g->cpu_during_gap) {
    case TL_DOING_RUNTIME:
        text_after(cell, size, tl_call_labels[g->call_class], name);
        break;
    case TL_DOING_LAUNCH_ANOMALY:
        if (key.name != TL_NO_NAME) {
            text_after(cell, size, queued, name);
            break;
        }
        /* fall through */
    case TL_DOING_LAUNCH_OVERHEAD:
        text_cell(cell, size, (tl_text){ queued, strlen(queued) });
        break;
    case TL_DOING_NO_TRACE:
        text_cell(cell, size, TL_TEXT("(no_cpu_trace)"));
        break;
    case TL_DOING_UNRECORDED:
        text_cell(cell, size, TL_TEXT("(launches_without_work)"));
        break;
    case TL_DOING_UNTRACED:
        text_cell(cell, size, g->ops_ns > 0 ? name : TL_TEXT("(no_cpu_op_overlap)"));
        break;
    default:
        text_cell(cell, size, name);
    }
}

tl_idle_summary *tl_idle_row_add(const tl_idle_scope *s, tl_table *table, int32_t step, uint8_t drain, uint8_t doing,
                                 int64_t *lengths, size_t n, int64_t all_ns)
{
    tl_idle_summary *row = tl_table_add(table);
    bool noise = doing == TL_DOING_NOISE, axes = step >= 0 || (doing != TL_DOING_ALL && !noise);

    row->std_ns = tl_idle_deviation(lengths, n);
    tl_idle_stats stats = tl_idle_measure(lengths, n);
    row->rank = s->k->view->rank;
    row->device = s->device;
    row->step = step;
    row->drain_type = drain;
    row->cpu_during_gap = doing;
    text_cell(row->dominant_op, sizeof row->dominant_op, noise ? TL_TEXT("noise") : TL_TEXT("ALL"));
    row->count = (int64_t)n;
    row->total_ns = row->median_rank_ns = row->worst_ns = stats.total_ns;
    row->idle_pct = noise ? tl_idle_pct(0, 0) : tl_idle_pct(stats.total_ns, all_ns);
    row->peer_ns = axes ? -1 : 0;
    row->median_ns = stats.median_ns;
    row->min_ns = stats.min_ns;
    row->max_ns = stats.max_ns;
    row->longest_id = -1;
    row->annotation = TL_NO_NAME;
    row->ranks = n > 0;
    row->worst_rank = n > 0 ? row->rank : -1;
    return row;
}

void tl_idle_say_longest(const tl_idle_scope *s, const uint32_t *index, size_t n, tl_idle_summary *row)
{
    const tl_idle_brief *v = s->brief;
    uint32_t longest = TL_NONE, other = TL_NONE;
    for (size_t i = 0; i < n; i++) {
        uint32_t g = index[i];
        if (longest == TL_NONE || v[g].ns > v[longest].ns)
            longest = g;
        if (v[g].other_op_ns > 0 && (other == TL_NONE || v[g].other_op_ns > v[other].other_op_ns))
            other = g;
    }
    if (longest != TL_NONE)
        row->longest_id = s->gaps[longest].idle_id;
    if (other != TL_NONE)
        text_cell(row->other_op, sizeof row->other_op, tl_names_text(s->k->view->names, s->gaps[other].other_op));
}

/* One class among others: index[from, to). */
typedef struct class_run {
    size_t from, to;
    int64_t total_ns;
    uint32_t first; /* its first gap */
} class_run;

/* The most time first; of equals what came first. */
static int by_total(const void *a, const void *b)
{
    const class_run *x = a, *y = b;
    if (x->total_ns != y->total_ns)
        return x->total_ns > y->total_ns ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* A class of `count` gaps, whose lengths are in s->durations. */
static tl_idle_summary *add_class(const tl_idle_scope *s, tl_table *table, uint8_t drain, uint8_t doing, size_t count,
                                  size_t place)
{
    tl_idle_summary *row = tl_idle_row_add(s, table, -1, drain, doing, s->durations, count, s->macro_ns);
    row->place = (int32_t)place;
    row->peer_ns = 0;
    return row;
}

/* The classes from the n-th on, as one. */
static void add_others(const tl_idle_scope *s, tl_table *table, const class_run *runs, size_t n, size_t nruns)
{
    size_t count = 0;
    for (size_t r = n; r < nruns; r++)
        for (size_t i = runs[r].from; i < runs[r].to; i++)
            s->durations[count++] = s->brief[s->index[i]].ns;
    if (count == 0)
        return;
    tl_idle_summary *row = add_class(s, table, TL_DRAIN_ALL, TL_DOING_ALL, count, n + 1);
    text_cell(row->dominant_op, sizeof row->dominant_op, TL_TEXT(TL_IDLE_OTHERS));
}

static void add_classes(tl_idle_scope *s, tl_table *table, class_run *runs, size_t nruns)
{
    size_t n = nruns < MOST_CLASSES ? nruns : MOST_CLASSES;

    for (size_t r = 0; r < n; r++) {
        const uint32_t *index = s->index + runs[r].from;
        size_t count = runs[r].to - runs[r].from;
        const tl_gap *first = &s->gaps[index[0]];
        tl_idle_lengths(s, index, count);
        tl_idle_summary *row = add_class(s, table, first->drain_type, first->cpu_during_gap, count, r + 1);
        tl_idle_say_class(s->k->view->names, first, row->dominant_op, sizeof row->dominant_op);
        tl_idle_say_longest(s, index, count, row);
        tl_idle_say_places(s, index, count, row);
    }
    add_others(s, table, runs, n, nruns);
}

static bool same_class(const tl_idle_scope *s, uint32_t a, uint32_t b)
{
    if (s->brief[a].label != s->brief[b].label)
        return false;
    class_key x = key_of(&s->gaps[a]), y = key_of(&s->gaps[b]);
    return x.sub == y.sub && x.name == y.name;
}

/* The number of the gap's class, a new one if it is new.  Different classes of equal hash are told apart by going on to
 * the next key.  TL_MAP_NONE: memory is out. */
static uint32_t class_of(const tl_idle_scope *s, uint32_t gap, tl_map *map, class_run *runs, size_t *nruns)
{
    class_key class = key_of(&s->gaps[gap]);
    for (uint64_t key = tl_hash_mix(s->brief[gap].label, (uint64_t) class.sub << 32 | class.name);; key++) {
        uint32_t i = tl_map_get(map, key);
        if (i == TL_MAP_NONE) {
            tl_map_put(map, key, (uint32_t)*nruns);
            runs[*nruns] = (class_run){ .first = gap };
            return (uint32_t)(*nruns)++;
        }
        if (same_class(s, gap, runs[i].first))
            return i;
    }
}

/* Parts the gaps by class: s->index has them class by class, each in order of time.  runs: room for one a gap. */
static void find_classes(const tl_idle_scope *s, class_run *runs, size_t *nruns)
{
    tl_map map = { 0 };
    uint32_t *class = tl_malloc((s->ngaps + 1) * sizeof *class);

    *nruns = 0;
    for (uint32_t i = 0; i < s->ngaps; i++) {
        class[i] = class_of(s, i, &map, runs, nruns);
        runs[class[i]].to++;
        runs[class[i]].total_ns += s->brief[i].ns;
    }
    for (size_t r = 0, from = 0; r < *nruns; r++) {
        size_t n = runs[r].to;
        runs[r].from = runs[r].to = from;
        from += n;
    }
    for (uint32_t i = 0; i < s->ngaps; i++)
        s->index[runs[class[i]].to++] = i;
    tl_map_free(&map);
    free(class);
}

void tl_idle_class_rows(tl_idle_scope *s, tl_table *table)
{
    class_run *runs = tl_malloc((s->ngaps + 1) * sizeof *runs);
    size_t nruns = 0;
    find_classes(s, runs, &nruns);

    if (nruns > 0)
        qsort(runs, nruns, sizeof *runs, by_total);
    add_classes(s, table, runs, nruns);
    free(runs);
}
