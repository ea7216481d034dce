/* strip_draw.c - the strip as a picture: two lanes a rank, lines from last arrivals, the critical path. */
#include "page.h"

#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/report/format/markup.h"
#include <inttypes.h>
#include <stdlib.h>

/* In pixels. */
enum {
    LEFT = 84, /* names of ranks */
    ROW = 30,
    WORK = 3,
    WORK_HIGH = 13, /* the lane of work within its row; below it communication */
    COMM = 18,
    COMM_HIGH = 8,
    PATH = 17, /* the critical path */
    APART = 6  /* lines of last arrivals */
};

static const tl_meaning shown[TL_STRIP_NCLASSES] = {
    { TL_CLASS_COMPUTE, "compute" },
    { TL_CLASS_COPY, "copies" },
    { "idle2 faint", "idle: the host was late" },
    { "idle3 faint", "idle: the host had waited for the device" },
    { "idle4 faint", "idle: launches, other streams" },
    { TL_CLASS_TRANSFER, "communication: transfer" },
    { "waits", "communication: waits for a rank" },
};

static int y_of(size_t place)
{
    return (int)place * ROW;
}

static double x_of(const tl_strip *s, int64_t ns)
{
    const tl_scale scale = { 0, (double)tl_ns_between(s->to_ns, s->from_ns) };
    return tl_place(&scale, (double)tl_ns_between(ns, s->from_ns));
}

/* ----------------------------------------------------------------------------------------------------------- lanes */

/* All columns of one class in the lane, as one path: runs of columns are one rectangle. */
static void draw_runs(FILE *out, const tl_strip_rank *r, size_t place, bool communication, tl_strip_class class,
                      bool thin)
{
    int y = y_of(place) + (communication ? COMM : WORK), high = communication ? COMM_HIGH : WORK_HIGH;
    const tl_phrase name = tl_phrase_of("%s%s", shown[class].class_name, thin ? " thin" : "");
    bool begun = false, is_thin;
    for (size_t k = 0, n; k < TL_STRIP_COLUMNS; k += n + (n == 0)) {
        for (n = 0;
             k + n < TL_STRIP_COLUMNS && tl_strip_shown(r, communication, k + n, &is_thin) == class && is_thin == thin;
             n++)
            ;
        if (n > 0)
            tl_put_run(out, &begun, name.text, k, n, y, high);
    }
    tl_end_runs(out, begun);
}

static void draw_lanes(FILE *out, const tl_strip *s)
{
    for (size_t i = 0; i < s->nranks; i++)
        for (unsigned class = 0; class < TL_STRIP_NCLASSES; class ++)
            for (int thin = 0; thin < 2; thin++)
                draw_runs(out, &s->ranks[i], i, class >= TL_STRIP_COMM, (tl_strip_class) class, thin != 0);
}

/* ------------------------------------------------------------------------------------------------ lines of arrivals */

/* Waiting in a collective, by the ranks that are drawn. */
typedef struct joined {
    int64_t collective, wait_ns;
    size_t low, high,
        late; /* places: first and last of a rank that waited or came last, and of the one that came last */
} joined;

typedef TL_VEC(joined) joins;

static int by_collective(const void *a, const void *b)
{
    return TL_COMPARE(((const tl_strip_stay *)a)->collective, ((const tl_strip_stay *)b)->collective);
}

static int by_waiting(const void *a, const void *b)
{
    const joined *x = a, *y = b;
    return x->wait_ns != y->wait_ns ? TL_COMPARE(y->wait_ns, x->wait_ns) : TL_COMPARE(x->collective, y->collective);
}

/* The collectives in which a rank that is drawn waited long enough to be seen for another that is drawn, those with most
 * waiting first. */
static joins find_joins(const tl_strip *s)
{
    int64_t least_ns = tl_ns_between(s->to_ns, s->from_ns) / (TL_STRIP_COLUMNS / 2);
    joins found = { NULL, 0, 0 };
    tl_strip_stay *stays = tl_calloc(s->stays.n + 1, sizeof *stays);
    size_t n = 0;
    TL_EACH (const tl_strip_stay, stay, s->stays)
        if (stay->exposed_ns > least_ns)
            stays[n++] = *stay;
    tl_sort(stays, n, sizeof *stays, by_collective);
    for (size_t i = 0; i < n; i++) {
        const tl_strip_meeting *m = &s->meetings.v[stays[i].collective];
        size_t place = tl_strip_place(s, stays[i].rank), late = tl_strip_place(s, m->late_rank);
        if (place == s->nranks || late == s->nranks || m->last_ns > s->to_ns || m->last_ns < s->from_ns)
            continue;
        if (found.n == 0 || found.v[found.n - 1].collective != stays[i].collective)
            tl_vec_push(&found, (joined){ stays[i].collective, 0, late, late, late });
        joined *j = &found.v[found.n - 1];
        j->wait_ns = tl_ns_sum(j->wait_ns, stays[i].exposed_ns);
        j->low = place < j->low ? place : j->low;
        j->high = place > j->high ? place : j->high;
    }
    tl_vec_sort(&found, by_waiting);
    free(stays);
    return found;
}

/* Whether the line would stand at one that is drawn already. */
static bool is_beside(const tl_strip *s, const joins *found, const bool *drawn, size_t at)
{
    const double apart = 100.0 * APART / TL_STRIP_COLUMNS;
    double x = x_of(s, s->meetings.v[found->v[at].collective].last_ns);
    for (size_t i = 0; i < at; i++) {
        double distance = x_of(s, s->meetings.v[found->v[i].collective].last_ns) - x;
        if (drawn[i] && distance < apart && distance > -apart && found->v[i].low <= found->v[at].high &&
            found->v[at].low <= found->v[i].high)
            return true;
    }
    return false;
}

static void draw_joins(FILE *out, const tl_strip *s)
{
    joins found = find_joins(s);
    bool *drawn = tl_calloc(found.n + 1, sizeof *drawn);
    for (size_t i = 0, n = 0; i < found.n && i < 64 * TL_STRIP_LINES && n < TL_STRIP_LINES; i++) {
        const joined *j = &found.v[i];
        const tl_strip_meeting *m = &s->meetings.v[j->collective];
        double x = x_of(s, m->last_ns);
        if (is_beside(s, &found, drawn, i))
            continue;
        drawn[i] = true;
        n++;
        fprintf(out,
                "<g><title>%s: rank %" PRId32
                " comes last, after %s of waiting</title><line class=\"join\" x1=\"%.2f%%\" "
                "x2=\"%.2f%%\" y1=\"%d\" y2=\"%d\"/><circle class=\"last\" cx=\"%.2f%%\" cy=\"%d\" r=\"2.5\"/></g>\n",
                tl_collective_labels[m->kind], m->late_rank, tl_duration(j->wait_ns).text, x, x,
                y_of(j->low) + (j->low == j->late ? COMM + COMM_HIGH / 2 : COMM),
                y_of(j->high) + (j->high == j->late ? COMM + COMM_HIGH / 2 : COMM + COMM_HIGH), x,
                y_of(j->late) + COMM + COMM_HIGH / 2);
    }
    free(drawn);
    free(found.v);
}

/* ------------------------------------------------------------------------------------------------------------- path */

/* Along each rank while the path is on it, and straight down or up to the next; it breaks off where a rank is not drawn. */
static void draw_path(FILE *out, const tl_strip *s)
{
    for (int under = 1; under >= 0; under--) {
        bool pen = false, begun = false;
        TL_EACH (const tl_strip_piece, piece, s->path) {
            size_t place = tl_strip_place(s, piece->rank);
            if (place < s->nranks) {
                if (!begun)
                    fprintf(out, "<path class=\"path%s\" d=\"", under ? " halo" : "");
                begun = true;
                fprintf(out, "%c%.1f %dH%.1f", pen ? 'L' : 'M', x_of(s, piece->from_ns) * TL_STRIP_COLUMNS / 100,
                        y_of(place) + PATH, x_of(s, piece->to_ns) * TL_STRIP_COLUMNS / 100);
            }
            pen = place < s->nranks;
        }
        if (begun)
            fputs("\"/>\n", out);
    }
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
        if (path_ns > most_ns) {
            most_ns = path_ns;
            most = s->ranks[i].rank;
        }
        named = s->ranks[i].named ? s->ranks[i].rank : named;
        nnamed += s->ranks[i].named;
    }
    tl_phrase when = s->step < 0 ? tl_phrase_of("The whole recording") : tl_phrase_of("Step %" PRId32, s->step),
              who = tl_phrase_of("%s", ""), on = who;
    if (nnamed > 0 && s->for_named_ns > s->wait_ns / 2) /* less of it directly says little: waits are passed on */
        who = nnamed == 1 ? tl_phrase_of(", %s of it for rank %" PRId32,
                                         tl_part_in_words(s->for_named_ns, s->wait_ns).text, named)
                          : tl_phrase_of(", %s of it for the ranks that the verdict names",
                                         tl_part_in_words(s->for_named_ns, s->wait_ns).text);
    if (most >= 0)
        on = tl_phrase_of(" The critical path is on rank %" PRId32 " for %s of the time.", most,
                          tl_part_in_words(most_ns, step_ns).text);
    return tl_phrase_of("%.40s, %.20s long. The ranks drawn wait %.20s for others%.100s.%.100s", when.text,
                        tl_duration(step_ns).text, tl_duration(s->wait_ns).text, who.text, on.text);
}

/* Marks that stand in the picture, and what they mean. */
static void put_legend(FILE *out, const tl_strip *s)
{
    bool seen[TL_STRIP_NCLASSES + 1] = { false }, thin;
    for (size_t i = 0; i < s->nranks; i++)
        for (size_t k = 0; k < 2 * TL_STRIP_COLUMNS; k++)
            seen[tl_strip_shown(&s->ranks[i], k % 2 == 1, k / 2, &thin)] = true;
    tl_put_legend(out, shown, TL_STRIP_NCLASSES, seen);
    fputs("<div class=\"legend\">", out);
    fputs("<span><svg aria-hidden=\"true\" width=\"14\" height=\"14\"><line class=\"join\" x1=\"7\" x2=\"7\" y1=\"0\" "
          "y2=\"14\"/><circle class=\"last\" cx=\"7\" cy=\"7\" r=\"2.5\"/></svg> last arrival, and those who wait for "
          "it</span>\n",
          out);
    if (s->path.n > 0)
        fprintf(out,
                "<span><svg aria-hidden=\"true\" width=\"14\" height=\"14\"><path class=\"path\" "
                "d=\"M0 4h7v7h7\"/></svg> critical path%s</span>\n",
                s->whole_path ? "" : ", through the last arrivals");
    fputs("</div>\n", out);
}

void tl_draw_strip(tl_page *page)
{
    const tl_strip *s = &page->html->strip;
    FILE *out = page->out;
    if (s->nranks == 0)
        return;
    const tl_phrase finding = finding_of(s);
    const tl_scale scale = { 0, (double)tl_ns_between(s->to_ns, s->from_ns) };
    int high = y_of(s->nranks);

    tl_figure_begin(out, "strip", "The work, communication and waiting of the ranks on one time axis", finding.text, LEFT,
                    high + TL_AXIS_HEIGHT);
    for (size_t i = 0; i < s->nranks; i++) {
        tl_put_rank(out, s->ranks[i].rank, s->ranks[i].named, y_of(i), ROW);
        tl_put_side(out, "quiet small", y_of(i) + 25, "waits %s", tl_share_in_words(s->ranks[i].wait_share).text);
    }
    tl_put_axis(out, &scale, 0, high, "ns");
    fputs(
        "<defs><pattern id=\"waits\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><rect "
        "class=\"waits-ground\" "
        "width=\"6\" height=\"6\"/><path class=\"waits-line\" d=\"M-1 1l2 -2M0 6l6 -6M5 7l2 -2\"/></pattern></defs>\n",
        out);
    tl_sheet_begin(out, 0, high, TL_STRIP_COLUMNS);
    draw_lanes(out, s);
    tl_sheet_end(out);
    draw_joins(out, s);
    tl_sheet_begin(out, 0, high, TL_STRIP_COLUMNS);
    draw_path(out, s);
    tl_sheet_end(out);
    tl_plot_end(out);
    put_legend(out, s);
    fputs("<p class=\"explains\">Upper lane: work of the device. Lower lane: its communication. What fills less than "
          "half of "
          "its place is pale, and so is waiting under work. ",
          out);
    if (s->nranks < s->nall)
        fprintf(out,
                "%zu of %zu ranks: those that the verdict names, those on the critical path, those that wait most "
                "for them, and others, evenly spaced by how long they work beyond their peers. ",
                s->nranks, s->nall);
    bool corrected = false;
    for (size_t i = 0; i < s->nranks; i++)
        corrected = corrected || s->ranks[i].clock != NULL;
    fprintf(out, "%s</p>\n</figure>\n", corrected ? "Clocks are corrected (table <code>clock</code>)." : "");
}
