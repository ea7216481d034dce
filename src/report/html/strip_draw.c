/* strip_draw.c - the strip as a picture: two lanes a rank, lines from last arrivals, the critical path; and how late
 * ranks come. */
#include "page.h"

#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"
#include <inttypes.h>
#include <math.h>

/* Pixels: a rank's row; in it the lane of work and the lane of communication; the critical path; least distance between
 * lines of last arrivals. */
enum {
    ROW = 30,
    WORK = 3,
    WORK_HIGH = 13,
    COMM = 18,
    COMM_HIGH = 8,
    COMM_MIDDLE = COMM + COMM_HIGH / 2,
    PATH = 17,
    APART = 6
};
enum { LINES = 48 }; /* most last arrivals with a line, by waiting, descending: more could not be told apart */

static const tl_meaning shown[TL_STRIP_NCLASSES] = {
    { "compute", "compute" },
    { "copy", "copies" },
    { "idle2 faint", "idle: the host was late" },
    { "idle3 faint", "idle: the host had waited for the device" },
    { "idle4 faint", "idle: launches, other streams" },
    { "transfer", "communication: transfer" },
    { "waits", "communication: waits for a rank" },
};

static tl_scale scale_of(const tl_strip *s)
{
    return (tl_scale){ 0, (double)tl_ns_between(s->to_ns, s->from_ns) };
}

static double x_of(const tl_strip *s, int64_t ns)
{
    const tl_scale scale = scale_of(s);
    return tl_place(&scale, (double)tl_ns_between(ns, s->from_ns));
}

/* Draws all columns of one class in a lane as one path: runs of columns are one rectangle. */
static void draw_runs(FILE *out, const tl_strip_rank *r, int y, tl_strip_class class, bool thin)
{
    const bool communication = class >= TL_STRIP_COMM;
    const tl_phrase name = tl_phrase_of("%s%s", shown[class].class_name, thin ? " thin" : "");
    bool begun = false, is_thin;
    for (size_t k = 0, n; k < TL_STRIP_COLUMNS; k += n + 1) {
        n = 0;
        while (k + n < TL_STRIP_COLUMNS && tl_strip_shown(r, communication, k + n, &is_thin) == class &&
               is_thin == thin)
            n++;
        if (n > 0)
            tl_put_run(out, &begun, name.text, k, n, y + (communication ? COMM : WORK),
                       communication ? COMM_HIGH : WORK_HIGH);
    }
    tl_end_runs(out, begun);
}

/* ------------------------------------------------------------------------------------------------ lines of arrivals */

/* A collective whose last rank is drawn, and the waiting of the other drawn ranks, where visible. */
typedef struct joined {
    const tl_strip_meeting *meeting;
    int64_t wait_ns;
    size_t low, high, late; /* first and last row of the ranks of the line; row of the rank that came last */
} joined;

typedef TL_VEC(joined) joins;

TL_ORDER_BY(by_collective, tl_strip_stay, collective)
TL_SORT_BY(by_waiting, joined, DOWN(wait_ns))

/* Returns the collectives sorted by waiting, descending. */
static joins find_joins(const tl_strip *s)
{
    const int64_t least_ns = tl_ns_between(s->to_ns, s->from_ns) / (TL_STRIP_COLUMNS / 2);
    uint32_t *order = tl_sorted_index(s->stays.n, by_collective, s->stays.v);
    joins found = { 0 };
    TL_GROUPS (from, to, order, s->stays.n, by_collective, s->stays.v) {
        const tl_strip_meeting *m = &s->meetings.v[s->stays.v[order[from]].collective];
        size_t late = tl_strip_place(s, m->late_rank);
        joined j = { m, 0, late, late, late };
        for (size_t i = from; i < to; i++) {
            const tl_strip_stay *stay = &s->stays.v[order[i]];
            size_t row = tl_strip_place(s, stay->rank);
            if (row == s->nranks || stay->exposed_ns <= least_ns)
                continue;
            j.wait_ns = tl_ns_sum(j.wait_ns, stay->exposed_ns);
            j.low = row < j.low ? row : j.low;
            j.high = row > j.high ? row : j.high;
        }
        if (j.wait_ns > 0 && late < s->nranks && m->last_ns <= s->to_ns && m->last_ns >= s->from_ns)
            tl_vec_push(&found, j);
    }
    free(order);
    tl_vec_sort(&found, by_waiting);
    return found;
}

/* Draws a line from each last arrival to the ranks that waited for it, unless it would overlap a line already drawn. */
static void draw_joins(FILE *out, const tl_strip *s)
{
    const double apart = 100.0 * APART / TL_STRIP_COLUMNS;
    joins found = find_joins(s);
    const joined *drawn[LINES];
    size_t n = 0;
    for (size_t i = 0; i < found.n && n < LINES; i++) {
        const joined *j = &found.v[i];
        double x = x_of(s, j->meeting->last_ns);
        bool beside = false;
        for (size_t k = 0; k < n; k++)
            beside |= fabs(x_of(s, drawn[k]->meeting->last_ns) - x) < apart && drawn[k]->low <= j->high &&
                      j->low <= drawn[k]->high;
        if (beside)
            continue;
        drawn[n++] = j;
        tl_put(out,
               "<g><title>%s: rank %" PRId32
               " comes last, after %s of waiting</title><line class=\"join\" x1=\"%.2f%%\" "
               "x2=\"%.2f%%\" y1=\"%d\" y2=\"%d\"/><circle class=\"last\" cx=\"%.2f%%\" cy=\"%d\" r=\"2.5\"/></g>\n",
               tl_collective_labels[j->meeting->kind], j->meeting->late_rank, tl_duration(j->wait_ns).text, x, x,
               (int)j->low * ROW + (j->low == j->late ? COMM_MIDDLE : COMM),
               (int)j->high * ROW + (j->high == j->late ? COMM_MIDDLE : COMM + COMM_HIGH), x,
               (int)j->late * ROW + COMM_MIDDLE);
    }
    free(found.v);
}

/* Draws the critical path: along each rank, then straight down or up to the next rank; the line is interrupted where a
 * rank is not drawn. */
static void draw_path(FILE *out, const tl_strip *s, const char *class_name)
{
    bool pen = false;
    tl_put(out, "<path class=\"%s\" d=\"", class_name);
    TL_EACH (const tl_strip_piece, piece, s->path) {
        size_t row = tl_strip_place(s, piece->rank);
        if (row < s->nranks)
            tl_put(out, "%s%.1f %dH%.1f", pen ? "L" : "M", x_of(s, piece->from_ns) * TL_STRIP_COLUMNS / 100,
                   (int)row * ROW + PATH, x_of(s, piece->to_ns) * TL_STRIP_COLUMNS / 100);
        pen = row < s->nranks;
    }
    fputs("\"/>\n", out);
}

/* ------------------------------------------------------------------------------------------------------------ words */

/* "Step 14, 28.6 s long: the ranks drawn wait 135 s ..." */
static tl_phrase finding_of(const tl_strip *s)
{
    int64_t step_ns = tl_ns_between(s->to_ns, s->from_ns), most_ns = 0;
    int32_t most = -1, named = -1;
    size_t nnamed = 0;
    for (size_t i = 0; i < s->nranks; i++) {
        int64_t path_ns = 0;
        TL_EACH (const tl_strip_piece, piece, s->path)
            if (piece->rank == s->ranks[i].rank)
                path_ns = tl_ns_sum(path_ns, tl_ns_between(piece->to_ns, piece->from_ns));
        most = path_ns > most_ns ? s->ranks[i].rank : most;
        most_ns = tl_ns_max(most_ns, path_ns);
        named = s->ranks[i].named ? s->ranks[i].rank : named;
        nnamed += s->ranks[i].named;
    }
    tl_phrase who = { "" }, wait = { "" }, on = { "" };
    if (nnamed > 0 && s->for_named_ns > s->wait_ns / 2) /* less of it directly says little: waits are passed on */
        who =
            tl_phrase_of(", %s of it for %s", tl_part_in_words(s->for_named_ns, s->wait_ns).text,
                         nnamed == 1 ? tl_phrase_of("rank %" PRId32, named).text : "the ranks that the verdict names");
    if (s->nranks > 1)
        wait = tl_phrase_of(" The ranks drawn wait %.20s for others%.100s.", tl_duration(s->wait_ns).text, who.text);
    if (most >= 0)
        on = tl_phrase_of(" The critical path is on rank %" PRId32 " for %s of the time.", most,
                          tl_part_in_words(most_ns, step_ns).text);
    return tl_phrase_of("%.40s, %.20s long.%.150s%.100s",
                        s->step < 0 ? "The whole recording" : tl_phrase_of("Step %" PRId32, s->step).text,
                        tl_duration(step_ns).text, wait.text, on.text);
}

/* Writes the legend of the classes that the picture contains. */
static void put_legend(FILE *out, const tl_strip *s)
{
    bool seen[TL_STRIP_NCLASSES + 1] = { false }, thin;
    for (size_t i = 0; i < s->nranks; i++)
        for (size_t k = 0; k < 2 * TL_STRIP_COLUMNS; k++)
            seen[tl_strip_shown(&s->ranks[i], k % 2 == 1, k / 2, &thin)] = true;
    tl_put_legend(out, shown, TL_STRIP_NCLASSES, seen);
    fputs("<div class=\"legend\">", out);
    if (s->nranks > 1)
        fputs("<span><svg aria-hidden=\"true\" width=\"14\" height=\"14\"><line class=\"join\" x1=\"7\" x2=\"7\" "
              "y1=\"0\" y2=\"14\"/><circle class=\"last\" cx=\"7\" cy=\"7\" r=\"2.5\"/></svg> last arrival, and those "
              "who wait for it</span>\n",
              out);
    if (s->path.n > 0)
        tl_put(out,
               "<span><svg aria-hidden=\"true\" width=\"14\" height=\"14\"><path class=\"path\" d=\"M0 "
               "4h7v7h7\"/></svg> critical path%s</span>\n",
               s->whole_path ? "" : ", through the last arrivals");
    fputs("</div>\n", out);
}

void tl_draw_strip(tl_page *page)
{
    const tl_strip *s = &page->strip;
    FILE *out = page->out;
    tl_rows rows = { .pitch = ROW, .base = 13 };
    bool corrected = false;
    const int high = (int)s->nranks * ROW;
    const tl_scale scale = scale_of(s);
    if (s->nranks == 0)
        return;
    for (size_t i = 0; i < s->nranks; i++) {
        tl_rows_add(&rows, s->ranks[i].rank, s->ranks[i].named);
        corrected |= s->ranks[i].clock != NULL;
    }

    tl_figure_begin(out, "strip", "The work, communication and waiting of the ranks on one time axis",
                    finding_of(s).text, tl_side_of(&rows), high + TL_AXIS_HEIGHT);
    tl_put_rows(out, &rows);
    for (size_t i = 0; i < s->nranks; i++)
        if (s->ranks[i].wait_share >= TL_LEAST_SHOWN)
            tl_put_side(out, "quiet small", tl_row_y(&rows, i) + 25, "waits %s",
                        tl_share_in_words(s->ranks[i].wait_share).text);
    tl_put_axis(out, &scale, 0, high);
    fputs(
        "<defs><pattern id=\"waits\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><rect "
        "class=\"waits-ground\" "
        "width=\"6\" height=\"6\"/><path class=\"waits-line\" d=\"M-1 1l2 -2M0 6l6 -6M5 7l2 -2\"/></pattern></defs>\n",
        out);
    tl_sheet_begin(out, high, TL_STRIP_COLUMNS);
    for (size_t i = 0; i < s->nranks; i++)
        for (unsigned k = 0; k < 2 * TL_STRIP_NCLASSES; k++)
            draw_runs(out, &s->ranks[i], tl_row_y(&rows, i), (tl_strip_class)(k / 2), k % 2 == 1);
    tl_plot_end(out);
    draw_joins(out, s);
    tl_sheet_begin(out, high, TL_STRIP_COLUMNS);
    for (int top = 0; top < 2 && s->path.n > 0; top++)
        draw_path(out, s, top ? "path" : "path halo");
    tl_plot_end(out);
    tl_plot_end(out);
    put_legend(out, s);
    fputs("<p class=\"explains\">Upper lane: work of the device. Lower lane: its communication. What fills less than "
          "half of its place is pale, and so is waiting under work. ",
          out);
    if (s->nranks < s->nall)
        tl_put(out,
               "%zu of %zu ranks: those that the verdict names, those on the critical path, those that wait most "
               "for them, and others, evenly spaced. ",
               s->nranks, s->nall);
    fputs(corrected ? "Clocks are corrected (table <code>clock</code>).</p>\n</figure>\n" : "</p>\n</figure>\n", out);
}

/* -------------------------------------------------------------------------------------------------------- arrivals */

/* When each rank comes to the collectives of its groups: how late after the median arrival.
 *
 *     rank 3   o..O.o.                   the area of a dot is the share of the rank's collectives
 *     rank 15  .      ...oOo             in which it is that late
 *              1 us     1 ms     1 s
 */

/* Draws the rank's dots in the columns of bins `first` to `last`; the column of `first` includes all earlier bins. */
static void draw_rank(FILE *out, const tl_strip_late *r, int y, size_t first, size_t last)
{
    static const double most = 8.5; /* radius, pixels */
    double wide = 100.0 / (double)(last - first + 1);
    for (size_t bin = 0; bin <= TL_LATE_BINS; bin++) {
        if (r->count[bin] == 0)
            continue;
        bool early = bin < first || bin == 0;
        double from_ns = 1000 * pow(10, ((double)bin - 1) / TL_LATE_DECADE),
               to_ns = from_ns * pow(10, 1.0 / TL_LATE_DECADE);
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
    size_t ndecades = (last - first) / TL_LATE_DECADE + 1;
    for (size_t d = 0; d < TL_LATE_BINS / TL_LATE_DECADE; d++) {
        size_t bin = 1 + d * TL_LATE_DECADE;
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
static tl_phrase lateness_in_words(const tl_strip_late *named, const tl_strip_late *other)
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
    enum { DOTS = 18 };
    const tl_strip *s = &page->strip;
    FILE *out = page->out;
    const tl_strip_late *latest[2] = { NULL, NULL }; /* of the ranks that the verdict names; of the others */
    const tl_strip_late *drawn[TL_STRIP_RANKS];
    size_t first = TL_LATE_BINS, last = 0;
    tl_rows rows = { .pitch = DOTS, .base = 13 };
    for (size_t i = 0; i < s->nlate; i++) {
        const tl_strip_late *r = &s->late[i];
        const bool named = tl_page_names(page, r->rank);
        if (r->n == 0)
            continue;
        const tl_strip_late **late = &latest[named ? 0 : 1];
        *late = *late == NULL || r->late_ns > (*late)->late_ns ? r : *late;
        if (s->nlate > TL_STRIP_RANKS && tl_strip_place(s, r->rank) == s->nranks)
            continue;
        drawn[rows.n] = r;
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
    tl_figure_begin(out, "arrivals", "How late each rank comes to collectives",
                    lateness_in_words(latest[0], latest[1]).text, tl_side_of(&rows), high + TL_AXIS_HEIGHT);
    draw_decades(out, first, last, high);
    tl_put_rows(out, &rows);
    for (size_t i = 0; i < rows.n; i++)
        draw_rank(out, drawn[i], tl_row_y(&rows, i) + DOTS / 2, first, last);
    tl_figure_end(
        out, NULL, 0, NULL,
        "A dot's area is the share of the rank's collectives in which it comes that much later than the median "
        "of those that meet, sends and receives apart. A rank that waits for another one before it can come "
        "is late, too.");
}
