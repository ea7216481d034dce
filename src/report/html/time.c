/* time.c - where the time of each rank went: stacked bars on one scale.
 *
 *     all       [compute      |hidden|transfer|waiting  |idle]     the mean of all ranks
 *     > 15      [compute                   |hidden|waiting|  ]     a rank that the verdict names
 *     ...
 *     10-20 %   [compute     |hidden|transfer|waiting   |idle]     of many ranks: the mean of a tenth of them
 *
 * Rows of table breakdown; idle time is parted by the causes that table idle_summary has, the largest three of the job.
 */
#include "page.h"

#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/idle_tables.h"
#include "tlmpi/report/format/markup.h"
#include <inttypes.h>
#include <stdlib.h>

/* Causes of idle time that have a shade of their own; ranks that are drawn one by one, and how many of more ranks; bands
 * of the others. */
enum { CAUSES = 3, EACH = 64, WORST = 12, BANDS = 10 };

enum { BAR = 10, PITCH = 13, SIDE = 76, HOST = 16 };

/* ----------------------------------------------------------------------------------------------------- idle causes */

bool tl_idle_begin(tl_html *html)
{
    html->idle = (tl_idle_rows){ .classes = { .schema = &tl_idle_summary_schema } };
    return true;
}

void tl_idle_take(tl_html *html, const void *data)
{
    const tl_idle_summary *row = data;
    tl_idle_rows *idle = &html->idle;
    if (row->device != -1 || row->step != -1 || row->drain_type == TL_DRAIN_ALL)
        return;
    if (row->place == 0)
        tl_vec_push(&idle->causes, ((tl_idle_cause){ row->rank, row->drain_type, row->cpu_during_gap, row->total_ns }));
    else if (row->rank == -1)
        tl_table_append(&idle->classes, row, 1);
}

static bool is_of_job(const tl_idle_cause *cause)
{
    return cause->rank == -1;
}

static int by_time(const void *context, uint32_t a, uint32_t b)
{
    const tl_idle_cause *v = context;
    if (is_of_job(&v[a]) != is_of_job(&v[b]))
        return is_of_job(&v[a]) ? -1 : 1;
    return TL_COMPARE(v[b].ns, v[a].ns);
}

/* "idle after a sync: host busy". */
static tl_phrase cause_in_words(const tl_idle_cause *cause)
{
    static const char *const doings[TL_NDOINGS] = {
        [TL_DOING_ALL] = "all",
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
    const char *doing = cause->doing < TL_NDOINGS ? doings[cause->doing] : NULL;
    return tl_phrase_of("idle%s: %s", cause->drain == TL_DRAIN_SYNC ? " after a sync" : "", doing != NULL ? doing : "other");
}

/* ------------------------------------------------------------------------------------------------------------ bars */

enum { COMPUTE, HIDDEN, TRANSFER, WAITING, UNKNOWN, COPY, IDLE, NPARTS = IDLE + CAUSES + 1 };

static const tl_meaning part_meanings[IDLE] = {
    [COMPUTE] = { TL_CLASS_COMPUTE, "compute" },
    [HIDDEN] = { TL_CLASS_HIDDEN, "communication under compute" },
    [TRANSFER] = { TL_CLASS_TRANSFER, "exposed transfer" },
    [WAITING] = { TL_CLASS_WAITING, "exposed waiting for other ranks" },
    [UNKNOWN] = { TL_CLASS_UNKNOWN, "exposed communication, waiting or transfer" },
    [COPY] = { TL_CLASS_COPY, "exposed copies" },
};

typedef struct bar {
    int32_t rank;
    int64_t wall_ns, ns[NPARTS];
} bar;

typedef struct bars {
    tl_page *page;
    TL_VEC(bar) v; /* by rank; without that of all */
    bar all;       /* the mean */
    tl_idle_cause causes[CAUSES];
    size_t ncauses;
    int nhosts;
    tl_scale scale;
    int y;
} bars;

static bar bar_of(const tl_breakdown *row)
{
    int64_t hidden_ns = row->comm_ns - row->comm_exposed_ns;
    return (bar){ .rank = row->rank,
                  .wall_ns = row->wall_ns,
                  .ns = { [COMPUTE] = row->compute_ns - hidden_ns,
                          [HIDDEN] = hidden_ns,
                          [TRANSFER] = row->comm_transfer_ns,
                          [WAITING] = row->comm_waiting_ns,
                          [UNKNOWN] = row->comm_unknown_ns,
                          [COPY] = row->copy_exposed_ns,
                          [NPARTS - 1] = row->idle_ns } };
}

static void add_bar(bar *sum, const bar *one)
{
    sum->wall_ns = tl_ns_sum(sum->wall_ns, one->wall_ns);
    for (int p = 0; p < NPARTS; p++)
        sum->ns[p] = tl_ns_sum(sum->ns[p], one->ns[p]);
}

static void divide(bar *sum, size_t n)
{
    int64_t by = n > 0 ? (int64_t)n : 1;
    sum->wall_ns /= by;
    for (int p = 0; p < NPARTS; p++)
        sum->ns[p] /= by;
}

/* Parts the idle time of ranks by the largest causes; what is left stays the last part. */
static void part_idle(bars *b)
{
    const tl_idle_rows *idle = &b->page->html->idle;
    uint32_t *index = tl_sorted_index(idle->causes.n, by_time, idle->causes.v);
    for (size_t i = 0; i < idle->causes.n && b->ncauses < CAUSES && is_of_job(&idle->causes.v[index[i]]); i++)
        if (idle->causes.v[index[i]].ns > 0)
            b->causes[b->ncauses++] = idle->causes.v[index[i]];
    free(index);
    for (size_t i = 0, at = 0; i < idle->causes.n; i++) {
        const tl_idle_cause *cause = &idle->causes.v[i];
        while (at + 1 < b->v.n && b->v.v[at].rank < cause->rank)
            at++;
        for (size_t k = 0; k < b->ncauses && b->v.v[at].rank == cause->rank; k++) {
            if (cause->drain != b->causes[k].drain || cause->doing != b->causes[k].doing)
                continue;
            int64_t ns = tl_ns_min(cause->ns, b->v.v[at].ns[NPARTS - 1]);
            b->v.v[at].ns[IDLE + k] = ns;
            b->v.v[at].ns[NPARTS - 1] -= ns;
        }
    }
}

/* The whole trace, or the steps that all ranks have whole: the answers are of that, too. */
static void gather(bars *b, const tl_table *table)
{
    int32_t base = -1;
    TL_ROWS (const tl_breakdown, row, table)
        base = row->rank == -1 && row->step == TL_WHOLE_STEPS ? TL_WHOLE_STEPS : base;
    TL_ROWS (const tl_breakdown, row, table)
        if (row->rank >= 0 && row->device == -1 && row->step == base && row->wall_ns > 0)
            tl_vec_push(&b->v, bar_of(row));
    if (b->v.n == 0)
        return;
    if (base == -1)
        part_idle(b);
    for (size_t i = 0; i < b->v.n; i++) {
        add_bar(&b->all, &b->v.v[i]);
        b->scale.to = b->v.v[i].wall_ns > (int64_t)b->scale.to ? (double)b->v.v[i].wall_ns : b->scale.to;
    }
    divide(&b->all, b->v.n);
}

static const char *class_of(int part)
{
    static const char *const idle[] = { "idle1", "idle2", "idle3", "idle4" };
    return part < IDLE ? part_meanings[part].class_name : idle[part - IDLE];
}

static int64_t idle_of(const bar *one)
{
    int64_t ns = 0;
    for (int p = IDLE; p < NPARTS; p++)
        ns += one->ns[p];
    return ns;
}

/* Draws a bar, with its name at the side, and what a pointer says of it. */
static void draw_bar(bars *b, const bar *one, const char *name, bool named)
{
    FILE *out = b->page->out;
    int64_t from_ns = 0;
    fprintf(out, "<g><title>%s: compute %s, exposed communication %s, copies %s, idle %s</title>", name,
            tl_part_in_words(one->ns[COMPUTE] + one->ns[HIDDEN], one->wall_ns).text,
            tl_part_in_words(one->ns[TRANSFER] + one->ns[WAITING] + one->ns[UNKNOWN], one->wall_ns).text,
            tl_part_in_words(one->ns[COPY], one->wall_ns).text,
            tl_part_in_words(idle_of(one), one->wall_ns).text);
    for (int p = 0; p < NPARTS; p++) {
        double x = tl_place(&b->scale, (double)from_ns), width = tl_place(&b->scale, (double)(from_ns + one->ns[p])) - x;
        from_ns += one->ns[p];
        if (width >= 0.01)
            tl_put_box(out, class_of(p), x, width, b->y, BAR);
    }
    if (named)
        tl_put_mark(out, -SIDE, b->y + 1);
    tl_put_side(out, named ? "named" : "", b->y + BAR - 1, "%s", name);
    fputs("</g>\n", out);
    b->y += PITCH;
}

/* The host of bar i, if it is another one than that of the bar before; else NULL. */
static const tl_rank *next_host(const bars *b, size_t i)
{
    const tl_table *hosts = b->page->hosts;
    const tl_rank *row = hosts != NULL ? tl_row_of_rank(hosts, b->v.v[i].rank) : NULL,
                  *before = row != NULL && i > 0 ? tl_row_of_rank(hosts, b->v.v[i - 1].rank) : NULL;
    return before == NULL || memcmp(row->host, before->host, sizeof row->host) != 0 ? row : NULL;
}

/* How many names of hosts stand between the bars: none where all are of one. */
static int count_hosts(const bars *b)
{
    int n = 0;
    for (size_t i = 0; i < b->v.n && b->v.n <= EACH; i++)
        n += next_host(b, i) != NULL;
    return n > 1 ? n : 0;
}

/* Draws each rank, under the name of its host where hosts differ. */
static void draw_ranks(bars *b)
{
    for (size_t i = 0; i < b->v.n; i++) {
        const tl_rank *row = b->nhosts > 0 ? next_host(b, i) : NULL;
        if (row != NULL) {
            b->y += HOST - 2;
            tl_put_side(b->page->out, "quiet", b->y - 4, "%.*s", (int)tl_host_length(row->host, TL_HOST_SHOWN), row->host);
        }
        draw_bar(b, &b->v.v[i], tl_phrase_of("%" PRId32, b->v.v[i].rank).text,
                 tl_page_names(b->page, b->v.v[i].rank));
    }
}

/* What of a rank's time is not compute. */
static int64_t loss_of(const bar *one)
{
    return one->wall_ns - one->ns[COMPUTE] - one->ns[HIDDEN];
}

static int by_loss(const void *context, uint32_t a, uint32_t b)
{
    const bars *of = context;
    bool x = tl_page_names(of->page, of->v.v[a].rank), y = tl_page_names(of->page, of->v.v[b].rank);
    if (x != y)
        return x ? -1 : 1;
    return TL_COMPARE(loss_of(&of->v.v[b]), loss_of(&of->v.v[a]));
}

/* The ranks that are named and those that lose most; then the others in tenths. */
static void draw_many(bars *b)
{
    uint32_t *index = tl_sorted_index(b->v.n, by_loss, b);
    for (size_t i = 0; i < WORST; i++)
        draw_bar(b, &b->v.v[index[i]], tl_phrase_of("%" PRId32, b->v.v[index[i]].rank).text,
                 tl_page_names(b->page, b->v.v[index[i]].rank));
    b->y += HOST - 2;
    tl_put_side(b->page->out, "quiet", b->y - 4, "others");
    for (size_t k = 0, rest = b->v.n - WORST; k < BANDS; k++) {
        size_t from = WORST + rest * k / BANDS, to = WORST + rest * (k + 1) / BANDS;
        bar mean = { 0 };
        for (size_t i = from; i < to; i++)
            add_bar(&mean, &b->v.v[index[i]]);
        divide(&mean, to - from);
        draw_bar(b, &mean, tl_phrase_of("%zu-%zu %%", 100 * k / BANDS, 100 * (k + 1) / BANDS).text, false);
    }
    free(index);
}

static void put_meanings(const bars *b)
{
    tl_meaning meanings[NPARTS];
    tl_phrase words[CAUSES];
    size_t n = 0;
    for (int p = 0; p < NPARTS; p++) {
        if (b->all.ns[p] * 2000 < b->all.wall_ns && p != COMPUTE)
            continue; /* too thin to be seen */
        if (p >= IDLE && p < NPARTS - 1)
            words[p - IDLE] = cause_in_words(&b->causes[p - IDLE]);
        meanings[n++] = p < IDLE          ? part_meanings[p]
                        : p == NPARTS - 1 ? (tl_meaning){ "idle4", b->ncauses > 0 ? "idle, other" : "idle" }
                                          : (tl_meaning){ class_of(p), words[p - IDLE].text };
    }
    tl_put_legend(b->page->out, meanings, n);
}

void tl_draw_time(tl_page *page)
{
    const tl_table *table = tl_page_table(page, &tl_breakdown_schema);
    bars b = { .page = page, .y = 4 };
    if (table != NULL)
        gather(&b, table);
    if (b.v.n > 0) {
        bool many = b.v.n > EACH;
        int rows = many ? 1 + WORST + BANDS : 1 + (int)b.v.n;
        b.nhosts = count_hosts(&b);
        int bottom = rows * PITCH + (b.nhosts + many) * (HOST - 2) + HOST / 2;
        const tl_phrase finding = tl_phrase_of(
            "All %zu ranks in the mean: compute %s, exposed waiting %s, exposed transfer %s, idle %s.", b.v.n,
            tl_part_in_words(b.all.ns[COMPUTE] + b.all.ns[HIDDEN], b.all.wall_ns).text,
            tl_part_in_words(b.all.ns[WAITING], b.all.wall_ns).text,
            tl_part_in_words(b.all.ns[TRANSFER], b.all.wall_ns).text,
            tl_part_in_words(idle_of(&b.all), b.all.wall_ns).text);
        fprintf(page->out, "<figure>\n<figcaption><p>%s</p></figcaption>\n", finding.text);
        put_meanings(&b);
        tl_plot_begin(page->out, "time", "Where the time of each rank went", finding.text, SIDE,
                      bottom + TL_AXIS_HEIGHT);
        tl_put_axis(page->out, &b.scale, 0, bottom, "ns");
        draw_bar(&b, &b.all, "mean", false);
        b.y += b.nhosts == 0 ? HOST / 2 : 0;
        if (many)
            draw_many(&b);
        else
            draw_ranks(&b);
        tl_plot_end(page->out);
        if (many)
            fprintf(page->out,
                    "<p class=\"explains\">Of %zu ranks those that are named and those that compute least are drawn; the "
                    "others in tenths, by what is not compute, each the mean of its ranks.</p>\n",
                    b.v.n);
        fputs("</figure>\n", page->out);
    }
    free(b.v.v);
}
