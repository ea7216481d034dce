/* arrivals.c - when each rank comes to the collectives of its groups: how late after the median arrival.
 *
 *     rank 3   o..O.o.                   the area of a dot is the share of the rank's collectives
 *     rank 15  .      ...oOo             in which it is that late
 *              1 us     1 ms     1 s
 */
#include "page.h"

#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"
#include <inttypes.h>
#include <math.h>

enum { A_DECADE = 6, DECADES = TL_LATE_BINS / A_DECADE }; /* bins from 1 us on; bin 0 holds lateness below 1 us */

/* ---------------------------------------------------------------------------------------------------------- counted */

void tl_late_take(tl_strip *s, const tl_arrival *row)
{
    if (s->now.n > 0 && s->now.v[0].collective != row->collective)
        tl_late_meet(s);
    if (s->meetings.v[row->collective].by_rank)
        tl_vec_push(&s->now,
                    (tl_strip_stay){ .rank = row->rank, .start_ns = row->start_ns, .collective = row->collective });
}

static size_t bin_of(int64_t late_ns)
{
    double bin = late_ns < 1000 ? 0 : 1 + floor(A_DECADE * log10((double)late_ns / 1000));
    return bin < TL_LATE_BINS ? (size_t)bin : TL_LATE_BINS;
}

void tl_late_meet(tl_strip *s)
{
    int64_t *starts = tl_calloc(s->now.n + 1, sizeof *starts);
    for (size_t i = 0; i < s->now.n; i++)
        starts[i] = s->now.v[i].start_ns;
    int64_t middle_ns = s->now.n > 1 ? tl_lower_median(starts, s->now.n) : 0;
    for (size_t i = 0; i < s->now.n && s->now.n > 1; i++) {
        int64_t late_ns = tl_ns_between(s->now.v[i].start_ns, middle_ns);
        size_t at = 0;
        TL_BISECT(at, s->nlate, mid, s->late[mid].rank < s->now.v[i].rank);
        s->late[at].count[bin_of(late_ns)]++;
        s->late[at].n++;
        s->late[at].late_ns = tl_ns_sum(s->late[at].late_ns, tl_ns_max(late_ns, 0));
    }
    free(starts);
    s->now.n = 0;
}

/* ------------------------------------------------------------------------------------------------------------ drawn */

/* Draws the rank's dots in the columns of bins `first` to `last`; the column of `first` includes all earlier bins. */
static void draw_rank(FILE *out, const tl_strip_late *r, int y, size_t first, size_t last)
{
    static const double most = 8.5; /* radius, pixels */
    double wide = 100.0 / (double)(last - first + 1);
    for (size_t bin = 0; bin <= TL_LATE_BINS; bin++) {
        if (r->count[bin] == 0)
            continue;
        bool early = bin < first || bin == 0;
        double from_ns = 1000 * pow(10, ((double)bin - 1) / A_DECADE), to_ns = from_ns * pow(10, 1.0 / A_DECADE);
        tl_phrase when = early ? tl_phrase_of("early, or not much later than the median")
                               : tl_phrase_of("%.20s to %.20s late", tl_duration((int64_t)from_ns).text,
                                              tl_duration((int64_t)to_ns).text);
        tl_put(out,
               "<circle class=\"%s\" cx=\"%.2f%%\" cy=\"%d\" r=\"%.1f\"><title>rank %" PRId32 ": %" PRId64
               " of %" PRId64 " collectives, %s</title></circle>",
               early ? "early" : "late-dot", wide * ((double)(bin > first ? bin - first : 0) + 0.5), y,
               fmax(1, most * sqrt((double)r->count[bin] / (double)r->n)), r->rank, r->count[bin], r->n, when.text);
    }
    fputs("\n", out);
}

/* Draws lines and times at powers of ten; only every second one where there are many. */
static void draw_decades(FILE *out, size_t first, size_t last, int high)
{
    static const char *const units[] = { "us", "ms", "s" };
    size_t ndecades = (last - first) / A_DECADE + 1;
    for (size_t d = 0; d < DECADES; d++) {
        size_t bin = 1 + d * A_DECADE;
        if (bin <= first || bin > last)
            continue;
        double x = 100.0 * (double)(bin - first) / (double)(last - first + 1);
        tl_put_upright(out, x, 0, high);
        if ((ndecades <= 6 || d % 2 == 0) && x > 12)
            tl_put_at(out, x > 94 ? "quiet end" : "quiet middle", x, high + 13, "%d %s", (int)pow(10, (double)(d % 3)),
                      units[d / 3]);
    }
    tl_put_at(out, "quiet", 0, high + 13, "early");
}

/* "Rank 15 comes 3.2 s after the median, its 1 024 collectives together; of the others rank 3 ..." */
static tl_phrase finding_of(const tl_strip_late *named, const tl_strip_late *other)
{
    const tl_strip_late *worst = named != NULL ? named : other;
    tl_phrase finding = tl_phrase_of("Rank %" PRId32 " comes %.20s after the median, its %.20s collectives together",
                                     worst->rank, tl_duration(worst->late_ns).text, tl_grouped(worst->n).text);
    return named == NULL || other == NULL
               ? tl_phrase_of("%.200s, most of all.", finding.text)
               : tl_phrase_of("%.200s; of the others rank %" PRId32 " comes latest, by %.20s.", finding.text,
                              other->rank, tl_duration(other->late_ns).text);
}

void tl_draw_arrivals(tl_page *page)
{
    enum { ROW = 18 };
    const tl_strip *s = &page->strip;
    FILE *out = page->out;
    const tl_strip_late *latest[2] = { NULL, NULL }; /* of the ranks that the verdict names; of the others */
    const tl_strip_late *shown[TL_STRIP_RANKS];
    size_t first = TL_LATE_BINS, last = 0;
    tl_rows rows = { .pitch = ROW, .base = 13 };
    for (size_t i = 0; i < s->nlate; i++) {
        const tl_strip_late *r = &s->late[i];
        const bool named = tl_page_names(page, r->rank);
        if (r->n == 0)
            continue;
        const tl_strip_late **late = &latest[named ? 0 : 1];
        *late = *late == NULL || r->late_ns > (*late)->late_ns ? r : *late;
        if (s->nlate > TL_STRIP_RANKS && tl_strip_place(s, r->rank) == s->nranks)
            continue;
        shown[rows.n] = r;
        tl_rows_add(&rows, r->rank, named);
        for (size_t bin = 1; bin <= TL_LATE_BINS; bin++)
            if (r->count[bin] > 0) {
                first = bin < first ? bin : first;
                last = bin > last ? bin : last;
            }
    }
    if (rows.n < 2 || last == 0)
        return;
    first = first > 1 ? first - 1 : 0; /* a column for arrivals earlier than the first bin */
    const int high = tl_row_y(&rows, rows.n);
    tl_figure_begin(out, "arrivals", "How late each rank comes to collectives", finding_of(latest[0], latest[1]).text,
                    tl_side_of(&rows), high + TL_AXIS_HEIGHT);
    draw_decades(out, first, last, high);
    tl_put_rows(out, &rows);
    for (size_t i = 0; i < rows.n; i++)
        draw_rank(out, shown[i], tl_row_y(&rows, i) + ROW / 2, first, last);
    tl_figure_end(
        out, NULL, 0, NULL,
        "A dot's area is the share of the rank's collectives in which it comes that much later than the median "
        "of those that meet, sends and receives apart. A rank that waits for another one before it can come "
        "is late, too.");
}
