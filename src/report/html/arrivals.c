/* arrivals.c - when each rank comes to the collectives of its groups: how late against the median of those that meet.
 *
 *     rank 3   o..O.o.                   the area of a dot is the share of the rank's collectives
 *     rank 15  .      ...oOo             in which it is that late
 *              1 us     1 ms     1 s
 */
#include "page.h"

#include "tlmpi/base/quantile.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { A_DECADE = 6, DECADES = TL_LATE_BINS / A_DECADE }; /* bins from 1 us on; bin 0 is all below */

static size_t bin_of(int64_t late_ns)
{
    double bin = late_ns < 1000 ? 0 : 1 + floor(A_DECADE * log10((double)late_ns / 1000));
    return bin < TL_LATE_BINS ? (size_t)bin : TL_LATE_BINS;
}

bool tl_arrivals_begin(tl_html *html)
{
    const tl_table *ranks = tl_tables_get(html->in.tables, &tl_rank_schema);
    html->arrivals.of = tl_calloc(ranks->n + 1, sizeof *html->arrivals.of);
    TL_ROWS (const tl_rank, row, ranks)
        html->arrivals.of[html->arrivals.n++].rank = row->rank;
    return true;
}

/* Ends a collective: all that came are there. */
static void meet(tl_arrivals *a)
{
    if (a->now.n > 1) {
        int64_t *starts = tl_calloc(a->now.n, sizeof *starts);
        for (size_t i = 0; i < a->now.n; i++)
            starts[i] = a->now.v[i].start_ns;
        int64_t middle_ns = tl_lower_median(starts, a->now.n);
        free(starts);
        TL_EACH (const tl_strip_stay, one, a->now) {
            int64_t late_ns = tl_ns_between(one->start_ns, middle_ns);
            size_t at = 0;
            TL_BISECT(at, a->n, mid, a->of[mid].rank < one->rank);
            if (at == a->n || a->of[at].rank != one->rank)
                continue;
            a->of[at].count[bin_of(late_ns)]++;
            a->of[at].n++;
            a->of[at].late_ns = tl_ns_sum(a->of[at].late_ns, tl_ns_max(late_ns, 0));
        }
    }
    a->now.n = 0;
}

void tl_arrivals_take(tl_html *html, const tl_arrival *row)
{
    tl_arrivals *a = &html->arrivals;
    if (a->now.n > 0 && a->now.v[0].collective != row->collective)
        meet(a);
    bool known = row->collective >= 0 && (uint64_t)row->collective < html->strip.meetings.n;
    if (known && html->strip.meetings.v[row->collective].by_rank)
        tl_vec_push(&a->now, (tl_strip_stay){ .rank = row->rank, .start_ns = row->start_ns, .collective = row->collective });
}

void tl_arrivals_end(tl_html *html)
{
    meet(&html->arrivals);
}

/* ------------------------------------------------------------------------------------------------------------ draw */

static void draw_rank(FILE *out, const tl_late_counts *r, int y, size_t first, size_t last)
{
    static const double most = 8.5; /* radius, pixels */
    double wide = 100.0 / (double)(last - first + 1);
    for (size_t bin = 0; bin <= TL_LATE_BINS; bin++) {
        if (r->count[bin] == 0)
            continue;
        double share = (double)r->count[bin] / (double)r->n, from_ns = 1000 * pow(10, ((double)bin - 1) / A_DECADE);
        tl_phrase when = bin < first || bin == 0
                             ? tl_phrase_of("early, or not much later than the median")
                             : tl_phrase_of("%.20s to %.20s late", tl_duration((int64_t)from_ns).text,
                                            tl_duration((int64_t)(from_ns * pow(10, 1.0 / A_DECADE))).text);
        fprintf(out,
                "<circle class=\"%s\" cx=\"%.2f%%\" cy=\"%d\" r=\"%.1f\"><title>rank %" PRId32 ": %" PRId64
                " of %" PRId64 " collectives, %s</title></circle>",
                bin < first || bin == 0 ? "early" : "late-dot", wide * ((double)(bin > first ? bin - first : 0) + 0.5),
                y, fmax(1, most * sqrt(share)), r->rank, r->count[bin], r->n, when.text);
    }
    fputs("\n", out);
}

/* Lines and times at powers of ten; each second one where there are many. */
static void draw_decades(FILE *out, size_t first, size_t last, int high)
{
    size_t ndecades = (last - first) / A_DECADE + 1;
    for (size_t d = 0; d < DECADES; d++) {
        size_t bin = 1 + d * A_DECADE;
        if (bin <= first || bin > last)
            continue;
        double x = 100.0 * (double)(bin - first) / (double)(last - first + 1);
        fprintf(out, "<line class=\"rule\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"0\" y2=\"%d\"/>", x, x, high);
        if ((ndecades <= 6 || d % 2 == 0) && x > 12)
            tl_put_at(out, x > 94 ? "quiet end" : "quiet middle", x, high + 13, "%d %s", (int)pow(10, (double)(d % 3)),
                      d < 3   ? "us"
                      : d < 6 ? "ms"
                              : "s");
    }
    tl_put_at(out, "quiet", 0, high + 13, "%s", "early");
}

void tl_draw_arrivals(tl_page *page)
{
    enum { ROW = 18, LEFT = 84 };
    const tl_arrivals *a = &page->html->arrivals;
    const tl_strip *strip = &page->html->strip;
    FILE *out = page->out;
    const tl_late_counts *latest[2] = { NULL, NULL }; /* of the ranks that the verdict names; of the others */
    size_t first = TL_LATE_BINS, last = 0, nrows = 0;
    bool *shown = tl_calloc(a->n + 1, sizeof *shown);
    for (size_t i = 0; i < a->n; i++) {
        const tl_late_counts *r = &a->of[i];
        shown[i] = r->n > 0 && (a->n <= TL_STRIP_RANKS || tl_strip_place(strip, r->rank) < strip->nranks);
        nrows += shown[i];
        for (size_t bin = 1; bin <= TL_LATE_BINS && shown[i]; bin++)
            if (r->count[bin] > 0) {
                first = bin < first ? bin : first;
                last = bin > last ? bin : last;
            }
        const tl_late_counts **late = &latest[tl_html_names(page->html, r->rank) ? 0 : 1];
        if (r->n > 0 && (*late == NULL || r->late_ns > (*late)->late_ns))
            *late = r;
    }
    if (nrows > 1 && last > 0) {
        first = first > 1 ? first - 1 : 0; /* a place for what is early */
        const tl_late_counts *worst = latest[0] != NULL ? latest[0] : latest[1];
        tl_phrase finding =
            tl_phrase_of("Rank %" PRId32 " comes %.20s after the median, its %.20s collectives together", worst->rank,
                         tl_duration(worst->late_ns).text, tl_grouped(worst->n).text);
        finding = latest[0] == NULL || latest[1] == NULL
                      ? tl_phrase_of("%.200s, most of all.", finding.text)
                      : tl_phrase_of("%.200s; of the others rank %" PRId32 " comes latest, by %.20s.", finding.text,
                                     latest[1]->rank, tl_duration(latest[1]->late_ns).text);
        int y = 0;
        tl_figure_begin(out, "arrivals", "How late each rank comes to collectives", finding.text, LEFT,
                        (int)nrows * ROW + TL_AXIS_HEIGHT);
        draw_decades(out, first, last, (int)nrows * ROW);
        for (size_t i = 0; i < a->n; i++) {
            if (!shown[i])
                continue;
            tl_put_rank(out, a->of[i].rank, tl_html_names(page->html, a->of[i].rank), y, ROW);
            draw_rank(out, &a->of[i], y + ROW / 2, first, last);
            y += ROW;
        }
        tl_figure_end(out, NULL, 0, NULL,
                      "A dot's area is the share of the rank's collectives in which it comes that much later than the median "
                      "of those that meet, sends and receives apart. A rank that waits for another one before it can come "
                      "is late, too.");
    }
    free(shown);
}
