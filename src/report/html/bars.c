/* bars.c - stacked bars: where the time of each rank went, on one scale, and what critical paths are made of.
 *
 *     mean      [compute      |hidden|transfer|waiting  |idle]
 *     > 15      [compute                   |hidden|waiting|  ]     a rank that the verdict names
 *     ...
 *     10-20 %   [compute     |hidden|transfer|waiting   |idle]     of many ranks: the mean of a tenth of them
 *
 * Rows of table breakdown; idle time is parted by the causes that table idle_summary has, the largest three of the job.
 */
#include "page.h"

#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/report/format/markup.h"
#include <inttypes.h>
#include <stdlib.h>

/* Causes of idle time that have a shade of their own; ranks that are drawn one by one, and how many of more ranks; bands
 * of the others. */
enum { CAUSES = 3, EACH = 64, WORST = 12, BANDS = 10 };

enum { BAR = 10, PITCH = 13, SIDE = 76, HOST = 14 };

/* ----------------------------------------------------------------------------------------------------- where time goes */

void tl_idle_take(tl_html *html, const void *data)
{
    const tl_idle_summary *row = data;
    tl_idle_rows *idle = &html->idle;
    if (row->device != -1 || row->step != -1 || row->drain_type == TL_DRAIN_ALL)
        return;
    if (row->place == 0)
        tl_vec_push(&idle->causes, ((tl_idle_cause){ row->rank, row->drain_type, row->cpu_during_gap, row->total_ns }));
    else if (row->rank == -1)
        tl_vec_push(&idle->classes, *row);
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

enum { COMPUTE, HIDDEN, TRANSFER, WAITING, UNKNOWN, COPY, IDLE, OTHER = IDLE + CAUSES, NPARTS };

typedef struct bar {
    int32_t rank;
    int64_t wall_ns, ns[NPARTS];
} bar;

typedef struct bars {
    tl_page *page;
    TL_VEC(bar) v; /* by rank */
    tl_idle_cause causes[CAUSES];
    size_t ncauses;
    tl_meaning parts[NPARTS];
    bool seen[NPARTS];
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
                          [OTHER] = row->idle_ns } };
}

static bar mean_of(const bars *b, const uint32_t *index, size_t n)
{
    bar sum = { .rank = -1 };
    const int64_t by = n > 0 ? (int64_t)n : 1;
    for (size_t i = 0; i < n; i++) {
        const bar *one = &b->v.v[index[i]];
        sum.wall_ns = tl_ns_sum(sum.wall_ns, one->wall_ns);
        for (int p = 0; p < NPARTS; p++)
            sum.ns[p] = tl_ns_sum(sum.ns[p], one->ns[p]);
    }
    sum.wall_ns /= by;
    for (int p = 0; p < NPARTS; p++)
        sum.ns[p] /= by;
    return sum;
}

/* Parts the idle time of ranks by the largest causes of the job; what is left stays the last part. */
static void part_idle(bars *b)
{
    const tl_idle_rows *idle = &b->page->html->idle;
    TL_EACH (const tl_idle_cause, cause, idle->causes) {
        tl_idle_cause one = *cause;
        for (size_t k = 0; k < CAUSES && one.rank == -1 && one.ns > 0; k++) {
            if (k < b->ncauses && one.ns <= b->causes[k].ns)
                continue;
            tl_idle_cause was = b->causes[k];
            b->causes[k] = one;
            one = was;
            b->ncauses += k == b->ncauses;
        }
    }
    size_t at = 0;
    TL_EACH (const tl_idle_cause, cause, idle->causes) {
        while (at + 1 < b->v.n && b->v.v[at].rank < cause->rank)
            at++;
        for (size_t k = 0; k < b->ncauses && b->v.v[at].rank == cause->rank; k++) {
            if (cause->drain != b->causes[k].drain || cause->doing != b->causes[k].doing)
                continue;
            int64_t ns = tl_ns_min(cause->ns, b->v.v[at].ns[OTHER]);
            b->v.v[at].ns[IDLE + k] = ns;
            b->v.v[at].ns[OTHER] -= ns;
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
        if (row->rank >= 0 && row->device == -1 && row->step == base && row->wall_ns > 0) {
            tl_vec_push(&b->v, bar_of(row));
            b->scale.to = row->wall_ns > (int64_t)b->scale.to ? (double)row->wall_ns : b->scale.to;
        }
    if (b->v.n > 0 && base == -1)
        part_idle(b);
}

static int64_t idle_of(const bar *one)
{
    int64_t ns = 0;
    for (int p = IDLE; p < NPARTS; p++)
        ns += one->ns[p];
    return ns;
}

/* Draws a bar, with its name at the side, and what a pointer says of it. */
static void draw_bar(bars *b, const bar *one, const char *name)
{
    FILE *out = b->page->out;
    bool named = one->rank >= 0 && tl_html_names(b->page->html, one->rank);
    fprintf(out, "<g><title>%s: compute %s, exposed communication %s, copies %s, idle %s</title>", name,
            tl_part_in_words(one->ns[COMPUTE] + one->ns[HIDDEN], one->wall_ns).text,
            tl_part_in_words(one->ns[TRANSFER] + one->ns[WAITING] + one->ns[UNKNOWN], one->wall_ns).text,
            tl_part_in_words(one->ns[COPY], one->wall_ns).text, tl_part_in_words(idle_of(one), one->wall_ns).text);
    tl_put_stack(out, &b->scale, b->y, BAR, b->parts, one->ns, NPARTS, NULL, b->seen);
    if (named)
        tl_put_mark(out, -SIDE, b->y + 1);
    tl_put_side(out, named ? "named" : "", b->y + BAR - 1, "%s", name);
    fputs("</g>\n", out);
    b->y += PITCH;
}

static void draw_rank(bars *b, size_t i)
{
    draw_bar(b, &b->v.v[i], tl_phrase_of("%" PRId32, b->v.v[i].rank).text);
}

/* A heading among the bars. */
static void draw_between(bars *b, tl_text words)
{
    b->y += HOST;
    tl_put_side(b->page->out, "quiet", b->y - 4, "%.*s", (int)words.n, words.p);
}

/* The host of bar i, if it is another one than that of the bar before; else empty. */
static tl_text next_host(const bars *b, size_t i)
{
    const tl_text host = tl_host_shown(b->page->hosts, b->v.v[i].rank);
    bool same = i > 0 && tl_text_compare(host, tl_host_shown(b->page->hosts, b->v.v[i - 1].rank)) == 0;
    return same ? TL_TEXT("") : host;
}

/* How many names of hosts stand between the bars: none where all are of one. */
static int count_hosts(const bars *b)
{
    int n = 0;
    for (size_t i = 0; i < b->v.n && b->v.n <= EACH; i++)
        n += next_host(b, i).n > 0;
    return n > 1 ? n : 0;
}

/* What of a rank's time is not compute. */
static int64_t loss_of(const bar *one)
{
    return one->wall_ns - one->ns[COMPUTE] - one->ns[HIDDEN];
}

static int by_loss(const void *context, uint32_t a, uint32_t b)
{
    const bars *of = context;
    bool x = tl_html_names(of->page->html, of->v.v[a].rank), y = tl_html_names(of->page->html, of->v.v[b].rank);
    if (x != y)
        return x ? -1 : 1;
    return TL_COMPARE(loss_of(&of->v.v[b]), loss_of(&of->v.v[a]));
}

/* Each rank below its host; of many the ranks that are named and those that lose most, then the others in tenths. */
static void draw_ranks(bars *b, const uint32_t *index, bool hosts)
{
    bool many = b->v.n > EACH;
    for (size_t i = 0; i < (many ? WORST : b->v.n); i++) {
        const tl_text host = hosts ? next_host(b, i) : TL_TEXT("");
        if (host.n > 0)
            draw_between(b, host);
        draw_rank(b, many ? index[i] : i);
    }
    if (many)
        draw_between(b, TL_TEXT("others"));
    for (size_t k = 0, rest = b->v.n - WORST; k < BANDS && many; k++) {
        size_t from = WORST + rest * k / BANDS, to = WORST + rest * (k + 1) / BANDS;
        bar mean = mean_of(b, index + from, to - from);
        draw_bar(b, &mean, tl_phrase_of("%zu-%zu %%", 100 * k / BANDS, 100 * (k + 1) / BANDS).text);
    }
}

void tl_draw_time(tl_page *page)
{
    const tl_table *table = tl_page_table(page, &tl_breakdown_schema);
    bars b = { .page = page,
               .y = 4,
               .parts = { [COMPUTE] = { TL_CLASS_COMPUTE, "compute" },
                          [HIDDEN] = { TL_CLASS_HIDDEN, "communication under compute" },
                          [TRANSFER] = { TL_CLASS_TRANSFER, "exposed transfer" },
                          [WAITING] = { TL_CLASS_WAITING, "exposed waiting for other ranks" },
                          [UNKNOWN] = { TL_CLASS_UNKNOWN, "exposed communication, waiting or transfer" },
                          [COPY] = { TL_CLASS_COPY, "exposed copies" },
                          [IDLE] = { "idle1", NULL },
                          [IDLE + 1] = { "idle2", NULL },
                          [IDLE + 2] = { "idle3", NULL },
                          [OTHER] = { "idle4", "idle" } } };
    if (table != NULL)
        gather(&b, table);
    if (b.v.n == 0)
        return;
    tl_phrase causes[CAUSES];
    for (size_t k = 0; k < b.ncauses; k++) {
        causes[k] = cause_in_words(&b.causes[k]);
        b.parts[IDLE + k].words = causes[k].text;
        b.parts[OTHER].words = "idle, other";
    }
    uint32_t *index = tl_sorted_index(b.v.n, by_loss, &b);
    const bar all = mean_of(&b, index, b.v.n);
    const bool many = b.v.n > EACH;
    const int nhosts = count_hosts(&b),
              bottom = (many ? 1 + WORST + BANDS : 1 + (int)b.v.n) * PITCH + (nhosts + many) * HOST + HOST / 2 + 1;
    const tl_phrase finding = tl_phrase_of(
        "All %zu ranks in the mean: compute %s, exposed waiting %s, exposed transfer %s, idle %s.", b.v.n,
        tl_part_in_words(all.ns[COMPUTE] + all.ns[HIDDEN], all.wall_ns).text,
        tl_part_in_words(all.ns[WAITING], all.wall_ns).text, tl_part_in_words(all.ns[TRANSFER], all.wall_ns).text,
        tl_part_in_words(idle_of(&all), all.wall_ns).text);
    tl_figure_begin(page->out, "time", "Where the time of each rank went", finding.text, SIDE, bottom + TL_AXIS_HEIGHT);
    tl_put_axis(page->out, &b.scale, 0, bottom, "ns");
    draw_bar(&b, &all, "mean");
    b.y += nhosts == 0 ? HOST / 2 + 1 : 0;
    draw_ranks(&b, index, nhosts > 0);
    tl_figure_end(page->out, b.parts, NPARTS, b.seen,
                  many ? "Ranks that are named and those that compute least are drawn; the others in tenths, by what is "
                         "not compute, each the mean of its ranks."
                       : NULL);
    free(index);
    free(b.v.v);
}

/* --------------------------------------------------------------------------------------------------- critical paths */

void tl_path_take(tl_html *html, const void *row)
{
    const tl_path_sum *sum = row;
    if (sum->step == -1)
        tl_vec_push(&html->path_sums, *sum);
}

/* What a part of a path is, and its colour: the same for the job's path and for a rank's. */
enum { AT_COMPUTE, AT_COPY, AT_COMM, AT_PEER, AT_HOST, AT_INPUT, AT_SYNC, AT_LAUNCH, AT_REST, NPLACES };
static const tl_meaning places[NPLACES] = {
    { TL_CLASS_COMPUTE, "compute" },          { TL_CLASS_COPY, "copies" },
    { TL_CLASS_TRANSFER, "communication" },   { TL_CLASS_WAITING, "waiting for another rank" },
    { "idle1", "work of the host" },          { TL_CLASS_UNKNOWN, "input" },
    { "idle2", "synchronisation" },           { "idle3", "launches, between kernels" },
    { "idle4", "unexplained, not recorded" },
};

static int place_of_activity(uint8_t activity)
{
    switch (activity) {
    case TL_ACTIVITY_COMPUTE:
        return AT_COMPUTE;
    case TL_ACTIVITY_H2D:
    case TL_ACTIVITY_COPY:
        return AT_COPY;
    case TL_ACTIVITY_COMM:
        return AT_COMM;
    case TL_ACTIVITY_INPUT:
        return AT_INPUT;
    case TL_ACTIVITY_SYNC:
        return AT_SYNC;
    case TL_ACTIVITY_HOST:
    case TL_ACTIVITY_GC:
    case TL_ACTIVITY_ALLOCATOR:
        return AT_HOST;
    default:
        return activity == TL_PATH_BEFORE ? AT_REST : AT_LAUNCH;
    }
}

enum { PATH_ROW = 22, PATH_BAR = 16, PATH_SIDE = 84 };

/* The job's path by ranks, in two shades in turn; those that are wide enough have their name in it. */
static void put_ranks(FILE *out, int y, const tl_table *paths, int64_t all_ns)
{
    const double least = 0.05, named = 20; /* percent of the bar: what is drawn, and what has room for its name */
    const tl_scale scale = { 0, (double)all_ns };
    int64_t sum_ns = 0;
    tl_put_side(out, "", y + 13, "%s", "by rank");
    for (size_t i = 0, to, n = 0; i < paths->n; i = to) {
        const tl_path_row *row = tl_table_row(paths, i);
        int64_t ns = 0;
        for (to = i; to < paths->n && ((const tl_path_row *)tl_table_row(paths, to))->rank == row->rank; to++)
            ns = tl_ns_sum(ns, ((const tl_path_row *)tl_table_row(paths, to))->path_ns);
        double x = tl_place(&scale, (double)sum_ns), wide = tl_place(&scale, (double)tl_ns_sum(sum_ns, ns)) - x;
        if (row->rank < 0 || wide < least)
            continue;
        sum_ns = tl_ns_sum(sum_ns, ns);
        tl_put_told_box(out, n++ % 2 == 0 ? "b2" : "b3", x, wide, y, PATH_BAR, "rank %" PRId32 ": %s, %s", row->rank,
                        tl_duration(ns).text, tl_part_in_words(ns, all_ns).text);
        if (wide >= named)
            tl_put_at(out, "middle on-bar", x + wide / 2, y + 12, "rank %" PRId32 " %s", row->rank,
                      tl_part_in_words(ns, all_ns).text);
    }
}

void tl_draw_path(tl_page *page)
{
    const tl_html *html = page->html;
    const tl_table *paths = tl_page_table(page, &tl_path_row_schema);
    FILE *out = page->out;
    int64_t job[NPLACES] = { 0 }, all_ns = 0, imbalance_ns = 0;
    bool seen[NPLACES] = { false };
    int nbars = 0, y = 0;
    TL_EACH (const tl_path_sum, p, html->path_sums)
        nbars += p->rank < 0 || tl_strip_place(&html->strip, p->rank) < html->strip.nranks;
    for (size_t i = 0; paths != NULL && i < paths->n; i++) {
        const tl_path_row *row = tl_table_row(paths, i);
        if (row->rank >= 0)
            continue;
        int64_t *part = &job[place_of_activity(row->activity)];
        *part = tl_ns_sum(*part, row->path_ns);
        all_ns = tl_ns_sum(all_ns, row->path_ns);
        imbalance_ns = tl_ns_sum(imbalance_ns, row->imbalance_ns);
    }
    if (all_ns <= 0 && nbars == 0)
        return;

    tl_phrase finding = tl_phrase_of("What binds the time of each rank.");
    if (all_ns > 0)
        finding = tl_phrase_of("The critical path of the job is %.20s long; %.20s of it is there only because ranks differ.",
                               tl_duration(all_ns).text, tl_part_in_words(imbalance_ns, all_ns).text);
    tl_figure_begin(out, "paths", "What the critical paths of the job and of ranks are made of", finding.text, PATH_SIDE,
                    nbars * PATH_ROW + (all_ns > 0 ? 2 * PATH_ROW + 8 : 0));
    if (all_ns > 0) {
        tl_put_side(out, "named", y + 13, "the job");
        tl_put_stack(out, NULL, y, PATH_BAR, places, job, NPLACES, "the job", seen);
        put_ranks(out, y + PATH_ROW, paths, all_ns);
        y += 2 * PATH_ROW + 8;
    }
    TL_EACH (const tl_path_sum, p, html->path_sums) {
        if (p->rank >= 0 && tl_strip_place(&html->strip, p->rank) == html->strip.nranks)
            continue;
        const int64_t ns[NPLACES] = { p->compute_ns, p->copy_ns, p->comm_ns,
                                      p->peer_ns,    p->cpu_ns,  p->input_ns,
                                      p->sync_ns,    tl_ns_sum(p->launch_ns, p->kernel_kernel_ns),
                                      p->unexplained_ns };
        if (p->rank < 0)
            tl_put_side(out, "", y + 13, "mean rank");
        else
            tl_put_rank(out, p->rank, tl_html_names(page->html, p->rank), y, PATH_BAR);
        tl_put_stack(out, NULL, y, PATH_BAR, places, ns, NPLACES,
                     (p->rank < 0 ? tl_phrase_of("mean rank") : tl_phrase_of("rank %" PRId32, p->rank)).text, seen);
        y += PATH_ROW;
    }
    tl_figure_end(out, places, NPLACES, seen,
                  "The path of the job goes on with the rank that came last; that of a rank waits there. Each bar is the "
                  "whole of its path.");
}
