/* path.c - what the critical paths are made of: the job's, by what was done and by rank, and that of each rank. */
#include "page.h"

#include "tlmpi/base/stats.h"
#include "tlmpi/model/path_tables.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { ROW = 22, BAR = 16, LEFT = 84 };

bool tl_path_begin(tl_html *html)
{
    (void)html;
    return true;
}

void tl_path_take(tl_html *html, const void *row)
{
    const tl_path_sum *sum = row;
    if (sum->step == -1)
        tl_vec_push(&html->path_sums, *sum);
}

/* What a part of a bar is, and its colour: the same for the job's path and for a rank's. */
typedef enum part_class {
    PART_COMPUTE,
    PART_COPY,
    PART_COMM,
    PART_PEER,
    PART_HOST,
    PART_INPUT,
    PART_SYNC,
    PART_LAUNCH,
    PART_REST,
    NPARTS
} part_class;
static const tl_meaning parts[NPARTS] = {
    { TL_CLASS_COMPUTE, "compute" },          { TL_CLASS_COPY, "copies" },
    { TL_CLASS_TRANSFER, "communication" },   { TL_CLASS_WAITING, "waiting for another rank" },
    { "idle1", "work of the host" },          { TL_CLASS_UNKNOWN, "input" },
    { "idle2", "synchronisation" },           { "idle3", "launches, between kernels" },
    { "idle4", "unexplained, not recorded" },
};

static part_class part_of_activity(uint8_t activity)
{
    switch (activity) {
    case TL_ACTIVITY_COMPUTE:
        return PART_COMPUTE;
    case TL_ACTIVITY_H2D:
    case TL_ACTIVITY_COPY:
        return PART_COPY;
    case TL_ACTIVITY_COMM:
        return PART_COMM;
    case TL_ACTIVITY_INPUT:
        return PART_INPUT;
    case TL_ACTIVITY_SYNC:
        return PART_SYNC;
    case TL_ACTIVITY_HOST:
    case TL_ACTIVITY_GC:
    case TL_ACTIVITY_ALLOCATOR:
        return PART_HOST;
    default:
        return activity == TL_PATH_BEFORE ? PART_REST : PART_LAUNCH;
    }
}

static void put_bar(FILE *out, int y, const char *class_name, const char *name, const int64_t ns[NPARTS],
                    bool seen[NPARTS])
{
    int64_t all_ns = 0, sum_ns = 0;
    for (size_t k = 0; k < NPARTS; k++)
        all_ns = tl_ns_sum(all_ns, tl_ns_max(ns[k], 0));
    const tl_scale scale = { 0, (double)all_ns };
    tl_put_side(out, class_name, y + 13, "%s", name);
    for (size_t k = 0; k < NPARTS; k++) {
        double x = tl_place(&scale, (double)sum_ns);
        sum_ns = tl_ns_sum(sum_ns, tl_ns_max(ns[k], 0));
        double wide = tl_place(&scale, (double)sum_ns) - x;
        if (wide < 0.05)
            continue;
        seen[k] = true;
        tl_put_told_box(out, parts[k].class_name, x, wide, y, BAR, "%s: %s %s, %s", name, parts[k].words,
                        tl_duration(ns[k]).text, tl_part_in_words(ns[k], all_ns).text);
    }
}

/* The job's path by ranks, in two shades in turn; those that are wide enough have their name in it. */
static void put_ranks(FILE *out, int y, const tl_table *paths, int64_t all_ns)
{
    const tl_scale scale = { 0, (double)all_ns };
    int64_t sum_ns = 0;
    tl_put_side(out, "", y + 13, "%s", "by rank");
    for (size_t i = 0, to, n = 0; i < paths->n; i = to) {
        const tl_path_row *row = tl_table_row(paths, i);
        int64_t ns = 0;
        for (to = i; to < paths->n && ((const tl_path_row *)tl_table_row(paths, to))->rank == row->rank; to++)
            ns = tl_ns_sum(ns, ((const tl_path_row *)tl_table_row(paths, to))->path_ns);
        if (row->rank < 0 || ns <= 0)
            continue;
        double x = tl_place(&scale, (double)sum_ns);
        sum_ns = tl_ns_sum(sum_ns, ns);
        double wide = tl_place(&scale, (double)sum_ns) - x;
        if (wide < 0.05)
            continue;
        tl_put_told_box(out, n++ % 2 == 0 ? "b2" : "b3", x, wide, y, BAR, "rank %" PRId32 ": %s, %s", row->rank,
                        tl_duration(ns).text, tl_part_in_words(ns, all_ns).text);
        if (wide >= 20)
            tl_put_at(out, "middle on-bar", x + wide / 2, y + 12, "rank %" PRId32 " %s", row->rank,
                      tl_part_in_words(ns, all_ns).text);
    }
}

static void sums_of(const tl_path_sum *p, int64_t ns[NPARTS])
{
    const int64_t of[NPARTS] = { p->compute_ns,    p->copy_ns,
                                 p->comm_ns,       p->peer_ns,
                                 p->cpu_ns,        p->input_ns,
                                 p->sync_ns,       tl_ns_sum(p->launch_ns, p->kernel_kernel_ns),
                                 p->unexplained_ns };
    memcpy(ns, of, sizeof of);
}

void tl_draw_path(tl_page *page)
{
    const tl_html *html = page->html;
    const tl_table *paths = tl_page_table(page, &tl_path_row_schema);
    FILE *out = page->out;
    int64_t job[NPARTS] = { 0 }, ns[NPARTS], all_ns = 0, imbalance_ns = 0;
    bool seen[NPARTS] = { false };
    size_t nbars = 0;
    int y = 0;
    TL_EACH (const tl_path_sum, p, html->path_sums)
        nbars += p->rank < 0 || tl_strip_place(&html->strip, p->rank) < html->strip.nranks;
    for (size_t i = 0; paths != NULL && i < paths->n; i++) {
        const tl_path_row *row = tl_table_row(paths, i);
        if (row->rank >= 0)
            continue;
        int64_t *part = &job[part_of_activity(row->activity)];
        *part = tl_ns_sum(*part, row->path_ns);
        all_ns = tl_ns_sum(all_ns, row->path_ns);
        imbalance_ns = tl_ns_sum(imbalance_ns, row->imbalance_ns);
    }
    if (all_ns <= 0 && nbars == 0)
        return;

    tl_phrase finding =
        all_ns <= 0
            ? tl_phrase_of("What binds the time of each rank.")
            : tl_phrase_of("The critical path of the job is %.20s long; %.20s of it is there only because ranks "
                           "differ.",
                           tl_duration(all_ns).text, tl_part_in_words(imbalance_ns, all_ns).text);
    fprintf(out, "<figure>\n<figcaption><p>%s</p></figcaption>\n", finding.text);
    tl_plot_begin(out, "paths", "What the critical paths of the job and of ranks are made of", finding.text, LEFT,
                  (int)(nbars + (all_ns > 0 ? 2 : 0)) * ROW + (all_ns > 0 ? 8 : 0));
    if (all_ns > 0) {
        put_bar(out, y, "named", "the job", job, seen);
        put_ranks(out, y + ROW, paths, all_ns);
        y += 2 * ROW + 8;
    }
    TL_EACH (const tl_path_sum, p, html->path_sums) {
        size_t place = tl_strip_place(&html->strip, p->rank);
        if (p->rank >= 0 && place == html->strip.nranks)
            continue;
        bool named = p->rank >= 0 && html->strip.ranks[place].named;
        sums_of(p, ns);
        put_bar(out, y, named ? "named" : "",
                (p->rank < 0 ? tl_phrase_of("mean rank")
                             : tl_phrase_of("%srank %" PRId32, named ? "\xE2\x96\xB8 " : "", p->rank))
                    .text,
                ns, seen);
        y += ROW;
    }
    tl_plot_end(out);
    tl_meaning meanings[NPARTS];
    size_t n = 0;
    for (size_t k = 0; k < NPARTS; k++)
        if (seen[k])
            meanings[n++] = parts[k];
    tl_put_legend(out, meanings, n);
    fputs("<p class=\"explains\">The path of the job goes on with the rank that came last; that of a rank waits there. "
          "Each bar "
          "is the whole of its path.</p>\n</figure>\n",
          out);
}
