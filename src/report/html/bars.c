/* bars.c - stacked bars: where the time of each rank went, on one scale.
 *
 *     mean      [compute      |hidden|transfer|waiting  |idle]
 *     > 15      [compute                   |hidden|waiting|  ]     a rank that the verdict names
 *     ...
 *     10-20 %   [compute     |hidden|transfer|waiting   |idle]     of many ranks: the mean of a tenth of them
 *
 * Rows of table breakdown; idle time is split by cause (table idle_summary), into the job's three largest.
 */
#include "page.h"

#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"
#include <inttypes.h>

/* Causes of idle time with a shade each; ranks up to which each has a bar; ranks with a bar in a larger job; bands of
 * the other ranks there. */
enum { CAUSES = 3, EACH = TL_ROWS_MOST, WORST = 12, BANDS = 10 };

enum { BAR = 10, PITCH = 13, TOP = 4, APART = 8 }; /* pixels; APART: below the mean, and above the bands */

enum { COMPUTE, HIDDEN, TRANSFER, WAITING, UNKNOWN, COPY, IDLE, OTHER = IDLE + CAUSES, NPARTS };

typedef struct bar {
    int32_t rank;
    bool named;
    int64_t wall_ns, ns[NPARTS];
} bar;

typedef struct bars {
    TL_VEC(bar) v; /* by rank */
    tl_idle_summary causes[CAUSES];
    size_t ncauses;
    tl_scale scale;
} bars;

static bar mean_of(const bars *b, const uint32_t *index, size_t n)
{
    bar sum = { .rank = -1 };
    for (size_t i = 0; i < n; i++) {
        const bar *one = &b->v.v[index[i]];
        sum.wall_ns = tl_ns_sum(sum.wall_ns, one->wall_ns);
        for (int p = 0; p < NPARTS; p++)
            sum.ns[p] = tl_ns_sum(sum.ns[p], one->ns[p]);
    }
    sum.wall_ns /= (int64_t)n;
    for (int p = 0; p < NPARTS; p++)
        sum.ns[p] /= (int64_t)n;
    return sum;
}

TL_SORT_BY(by_most, tl_idle_summary, DOWN(total_ns))

/* Splits the idle time of each rank into the job's largest causes; idle time of other causes stays in the last part. */
static void part_idle(const tl_page *page, bars *b)
{
    TL_VEC(tl_idle_summary) job = { 0 };
    TL_EACH (const tl_idle_summary, cause, page->idle)
        if (cause->rank == -1 && cause->place == 0 && cause->total_ns > 0)
            tl_vec_push(&job, *cause);
    tl_vec_sort(&job, by_most);
    for (; b->ncauses < CAUSES && b->ncauses < job.n; b->ncauses++)
        b->causes[b->ncauses] = job.v[b->ncauses];
    free(job.v);
    TL_EACH (const tl_idle_summary, cause, page->idle) {
        size_t at = 0, k = 0;
        TL_BISECT(at, b->v.n, mid, b->v.v[mid].rank < cause->rank);
        while (k < b->ncauses &&
               (cause->drain_type != b->causes[k].drain_type || cause->cpu_during_gap != b->causes[k].cpu_during_gap))
            k++;
        if (cause->place != 0 || k == b->ncauses || at == b->v.n || b->v.v[at].rank != cause->rank)
            continue;
        int64_t *ns = b->v.v[at].ns;
        ns[IDLE + k] = tl_ns_min(cause->total_ns, ns[OTHER]);
        ns[OTHER] -= ns[IDLE + k];
    }
}

/* Collects a bar for each rank, over the steps that all ranks recorded completely, or else over the whole trace: the
 * same choice as in the answers. */
static void gather(const tl_page *page, bars *b, const tl_table *table)
{
    int32_t base = -1;
    TL_ROWS (const tl_breakdown, row, table)
        base = row->rank == -1 && row->step == TL_WHOLE_STEPS ? TL_WHOLE_STEPS : base;
    TL_ROWS (const tl_breakdown, row, table)
        if (row->rank >= 0 && row->device == -1 && row->step == base && row->wall_ns > 0) {
            const int64_t hidden_ns = row->comm_ns - row->comm_exposed_ns;
            tl_vec_push(&b->v, (bar){ .rank = row->rank,
                                      .named = tl_page_names(page, row->rank),
                                      .wall_ns = row->wall_ns,
                                      .ns = { [COMPUTE] = row->compute_ns - hidden_ns,
                                              [HIDDEN] = hidden_ns,
                                              [TRANSFER] = row->comm_transfer_ns,
                                              [WAITING] = row->comm_waiting_ns,
                                              [UNKNOWN] = row->comm_unknown_ns,
                                              [COPY] = row->copy_exposed_ns,
                                              [OTHER] = row->idle_ns } });
            b->scale.to = row->wall_ns > (int64_t)b->scale.to ? (double)row->wall_ns : b->scale.to;
        }
    if (base == -1)
        part_idle(page, b);
}

/* "idle after a sync: host busy" */
static tl_phrase cause_in_words(const tl_idle_summary *cause)
{
    static const char *const doings[TL_NDOINGS] = {
        [TL_DOING_NOISE] = "short gaps",
        [TL_DOING_LAUNCH_ANOMALY] = "device slow to start",
        [TL_DOING_LAUNCH_OVERHEAD] = "launch latency",
        [TL_DOING_RUNTIME] = "host in runtime calls",
        [TL_DOING_CPU] = "host busy",
        [TL_DOING_UNTRACED] = "host late, untraced",
        [TL_DOING_NO_TRACE] = "host late",
        [TL_DOING_GRAPH] = "within a graph",
        [TL_DOING_DEPENDENCY] = "waits for another stream",
    };
    const char *doing = doings[cause->cpu_during_gap];
    return tl_phrase_of("idle%s: %s", cause->drain_type == TL_DRAIN_SYNC ? " after a sync" : "",
                        doing != NULL ? doing : "other");
}

/* Named ranks first; then by time that is not compute, descending. */
static int by_loss(const void *of, uint32_t a, uint32_t b)
{
    const bar *x = (const bar *)of + a, *y = (const bar *)of + b;
    if (x->named != y->named)
        return x->named ? -1 : 1;
    return TL_COMPARE(y->wall_ns - y->ns[COMPUTE] - y->ns[HIDDEN], x->wall_ns - x->ns[COMPUTE] - x->ns[HIDDEN]);
}

/* Draws the parts of a bar, each with its time under the pointer; seen[k] becomes true where part k is visible. */
static void draw_bar(FILE *out, const bars *b, int y, const bar *of, const tl_meaning *parts, const char *name,
                     bool *seen)
{
    const double least = 0.05; /* percent of the plot: half a pixel */
    int64_t all_ns = 0, sum_ns = 0;
    for (size_t k = 0; k < NPARTS; k++)
        all_ns = tl_ns_sum(all_ns, tl_ns_max(of->ns[k], 0));
    for (size_t k = 0; k < NPARTS; k++) {
        const double x = tl_place(&b->scale, (double)sum_ns);
        sum_ns = tl_ns_sum(sum_ns, tl_ns_max(of->ns[k], 0));
        const double width = tl_place(&b->scale, (double)sum_ns) - x;
        if (width < least)
            continue;
        seen[k] = true;
        tl_put_told_box(out, parts[k].class_name, x, width, y, BAR, "%s: %s %s, %s", name, parts[k].words,
                        tl_duration(of->ns[k]).text, tl_part_in_words(of->ns[k], all_ns).text);
    }
}

/* Draws the mean and a bar for each rank; in a large job, only named ranks and those with the largest loss get a bar
 * each, and each tenth of the other ranks shares one. */
static void draw_bars(tl_page *page, const bars *b, const uint32_t *order, const tl_meaning *parts)
{
    FILE *out = page->out;
    const bool many = b->v.n > EACH;
    bool seen[NPARTS] = { false };
    tl_rows rows = { .top = TOP + PITCH + APART, .pitch = PITCH, .base = BAR - 1, .hosts = many ? NULL : page->hosts };
    for (size_t i = 0; i < (many ? WORST : b->v.n); i++)
        tl_rows_add(&rows, b->v.v[many ? order[i] : i].rank, b->v.v[many ? order[i] : i].named);
    const bar all = mean_of(b, order, b->v.n);
    const int others = tl_row_y(&rows, rows.n) + APART, bottom = many ? others + BANDS * PITCH : others - APART;
    const tl_phrase finding = tl_phrase_of(
        "%s: compute %s, exposed waiting %s, exposed transfer %s, idle %s.",
        b->v.n == 1 ? "The rank" : tl_phrase_of("All %zu ranks in the mean", b->v.n).text,
        tl_part_in_words(all.ns[COMPUTE] + all.ns[HIDDEN], all.wall_ns).text,
        tl_part_in_words(all.ns[WAITING], all.wall_ns).text, tl_part_in_words(all.ns[TRANSFER], all.wall_ns).text,
        tl_part_in_words(all.ns[IDLE] + all.ns[IDLE + 1] + all.ns[IDLE + 2] + all.ns[OTHER], all.wall_ns).text);

    tl_figure_begin(out, "time", "Where the time of each rank went", finding.text, tl_side_of(&rows),
                    bottom + TL_AXIS_HEIGHT);
    tl_put_rows(out, &rows);
    tl_put_axis(out, &b->scale, 0, bottom);
    tl_put_side(out, "", TOP + rows.base, "mean");
    draw_bar(out, b, TOP, &all, parts, "mean", seen);
    for (size_t i = 0; i < rows.n; i++)
        draw_bar(out, b, tl_row_y(&rows, i), &b->v.v[many ? order[i] : i], parts,
                 tl_phrase_of("rank %" PRId32, rows.ranks[i]).text, seen);
    for (size_t k = 0, rest = b->v.n - WORST; k < BANDS && many; k++) {
        size_t from = WORST + rest * k / BANDS, to = WORST + rest * (k + 1) / BANDS;
        const bar mean = mean_of(b, order + from, to - from);
        const tl_phrase name = tl_phrase_of("%zu-%zu %%", 100 * k / BANDS, 100 * (k + 1) / BANDS);
        tl_put_side(out, "", others + (int)k * PITCH + rows.base, "%s", name.text);
        draw_bar(out, b, others + (int)k * PITCH, &mean, parts, name.text, seen);
    }
    tl_figure_end(out, parts, NPARTS, seen,
                  many
                      ? "Ranks that are named and those that compute least are drawn; the others in tenths, by what is "
                        "not compute, each the mean of its ranks."
                      : NULL);
}

void tl_draw_time(tl_page *page)
{
    const tl_table *table = tl_page_table(page, &tl_breakdown_schema);
    tl_meaning parts[NPARTS] = { [COMPUTE] = { "compute", "compute" },
                                 [HIDDEN] = { "hidden", "communication under compute" },
                                 [TRANSFER] = { "transfer", "exposed transfer" },
                                 [WAITING] = { "waiting", "exposed waiting for other ranks" },
                                 [UNKNOWN] = { "unknown", "exposed communication, waiting or transfer" },
                                 [COPY] = { "copy", "exposed copies" },
                                 [IDLE] = { "idle1", NULL },
                                 [IDLE + 1] = { "idle2", NULL },
                                 [IDLE + 2] = { "idle3", NULL },
                                 [OTHER] = { "idle4", "idle" } };
    bars b = { .ncauses = 0 };
    tl_phrase causes[CAUSES];
    if (table != NULL)
        gather(page, &b, table);
    for (size_t k = 0; k < b.ncauses; k++) {
        causes[k] = cause_in_words(&b.causes[k]);
        parts[IDLE + k].words = causes[k].text;
        parts[OTHER].words = "idle, other";
    }
    uint32_t *order = tl_sorted_index(b.v.n, by_loss, b.v.v);
    if (b.v.n > 0)
        draw_bars(page, &b, order, parts);
    free(order);
    free(b.v.v);
}
