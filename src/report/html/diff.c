/* diff.c - the page of two runs: from the step of A to the step of B.
 *
 *     A          [##############################]
 *     waiting                                   [####]        each part begins where the previous part ends
 *     compute                                     [##]        (shorter)
 *     B          [#################################]
 *
 * Behind it the call paths of both runs as one tree.
 */
#include "page.h"

#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"
#include <math.h>
#include <stdlib.h>

/* Calls shown within one call (the rest is summed in one line); deepest level of calls shown. */
enum { CALLS_SHOWN = 12, DEEPEST = 200 };

/* Writes `before`, then the name as code; nothing for TL_NO_NAME. */
static void put_name(FILE *out, const tl_diff_words *d, const char *before, uint32_t id)
{
    if (id == TL_NO_NAME)
        return;
    tl_put(out, "%s<code>", before);
    tl_put_name(out, d->name(d->name_arg, id));
    fputs("</code>", out);
}

/* Returns what is compared: a step, or the whole recording where no steps are recorded. */
static const char *compared(const tl_diff_words *d)
{
    return d->basis.whole ? "recording" : "step";
}

static tl_phrase change_in_words(int64_t ns)
{
    return tl_phrase_of("%s%s", ns < 0 ? "-" : "+", tl_duration(llabs(ns)).text);
}

static void put_change(FILE *out, int64_t ns)
{
    tl_put(out, "<b class=\"%s\">%s</b>",
           ns > 0   ? "more-time"
           : ns < 0 ? "less-time"
                    : "said",
           change_in_words(ns).text);
}

static void put_verdict(FILE *out, const tl_diff_words *d)
{
    char *text = NULL;
    size_t n = 0;
    FILE *memory = tl_memory_file(&text, &n);
    tl_diff_words lines = *d;
    lines.columns = TL_ONE_LINE;
    tl_print_diff(memory, &lines);
    fputs("<section id=\"verdict\">\n<h2>Is B slower, and what makes it so?</h2>\n", out);
    tl_put_lines(out, memory, &text, "p class=\"answer\"", "p class=\"more\"");
    fputs("</section>\n", out);
}

/* -------------------------------------------------------------------------------------------------------- waterfall */

static const char *class_of(uint8_t part)
{
    static const char *const classes[TL_NDIFF_PARTS] = {
        [TL_DIFF_STEP] = "idle",         [TL_DIFF_COMPUTE] = "compute", [TL_DIFF_WAITING] = "waiting",
        [TL_DIFF_TRANSFER] = "transfer", [TL_DIFF_UNKNOWN] = "unknown", [TL_DIFF_COPY] = "copy",
        [TL_DIFF_IDLE] = "idle1",        [TL_DIFF_OUTSIDE] = "idle2",   [TL_DIFF_REST] = "idle3",
    };
    return classes[part];
}

/* "waiting, all_reduce (data)" */
static tl_phrase part_in_words(const tl_diff_step *row)
{
    const char *part = row->part == TL_DIFF_REST ? "not attributed" : tl_diff_part_labels[row->part];
    if (row->part != TL_DIFF_WAITING && row->part != TL_DIFF_TRANSFER && row->part != TL_DIFF_UNKNOWN)
        return tl_phrase_of("%s", part);
    return tl_phrase_of("%s, %s%s", part, tl_collective_labels[row->kind],
                        row->parallelism == TL_PARALLEL_UNKNOWN
                            ? ""
                            : tl_phrase_of(" (%s)", tl_parallelism_labels[row->parallelism]).text);
}

/* Returns the number of rows of the step and its parts, without the last row if it is long_steps, which is no part. */
static int nparts(const tl_table *steps)
{
    return (int)steps->n - (((const tl_diff_step *)tl_table_row(steps, steps->n - 1))->part == TL_DIFF_LONG);
}

/* Returns the range of times in the waterfall, with room below the least, so that small changes are visible. */
static tl_scale scale_of(const tl_table *steps)
{
    const tl_diff_step *step = tl_table_row(steps, 0);
    int64_t at_ns = step->a_ns, least_ns = at_ns, most_ns = at_ns;
    for (int i = 1; i < nparts(steps); i++) {
        at_ns += step[i].change_ns;
        least_ns = tl_ns_min(least_ns, at_ns);
        most_ns = tl_ns_max(most_ns, at_ns);
    }
    double room = (double)(most_ns - least_ns), from = (double)least_ns - room;
    return (tl_scale){ room > 0 && from > 0 ? from : 0, (double)most_ns + room / 8 };
}

/* Draws the step of A, each part from the end of the previous part, and the step of B. */
static void draw_waterfall(FILE *out, const tl_diff_words *d, const tl_scale *scale)
{
    enum { ROW = 22, BAR = 16, FULL = 85 };
    const double gap = 0.5; /* percent */
    const tl_diff_step *step = tl_table_row(d->step, 0);
    int64_t at_ns = step->a_ns;
    const int n = nparts(d->step);
    for (int i = 0; i <= n; i++) {
        const bool whole = i == 0 || i == n;
        const tl_diff_step *row = whole ? step : tl_table_row(d->step, (size_t)i);
        int64_t to_ns = !whole ? at_ns + row->change_ns : i == 0 ? step->a_ns : step->b_ns;
        double from = whole ? 0 : tl_place(scale, (double)tl_ns_min(at_ns, to_ns)),
               to = tl_place(scale, (double)(whole ? to_ns : tl_ns_max(at_ns, to_ns)));
        const tl_phrase words = whole ? tl_duration(to_ns) : change_in_words(row->change_ns);
        const bool before =
            to > FULL; /* the text does not fit to the right of the bar: it stands left of it, or inside a long bar */
        tl_put_side(out, whole ? "named" : "", i * ROW + BAR - 3, "%s",
                    !whole   ? part_in_words(row).text
                    : i == 0 ? "A"
                             : "B");
        tl_put_told_box(out, class_of(row->part), from, fmax(to - from, 0.1), i * ROW + 2, BAR, "%s", words.text);
        tl_put_at(out, tl_phrase_of("%s%s", before ? "end" : "", !whole && row->sure ? " named" : "").text,
                  (before && from > 100 - FULL ? from : to) + (before ? -gap : gap), i * ROW + BAR - 3, "%s",
                  words.text);
        at_ns = to_ns;
    }
}

static void put_waterfall(FILE *out, const tl_diff_words *d)
{
    enum { LEFT = 210, ROW = 22 };
    const tl_diff_step *step = tl_table_row(d->step, 0);
    const tl_scale scale = scale_of(d->step);
    const char *what = compared(d);
    const int high = (nparts(d->step) + 1) * ROW;

    tl_put(out, "<section id=\"waterfall\">\n<h2>From the %s of A to the %s of B</h2>\n<figure><div class=\"wide\">",
           what, what);
    tl_plot_begin(out, "steps",
                  tl_phrase_of("What a %s of B takes more or less than a %s of A, part by part", what, what).text,
                  tl_phrase_of("A: %s, B: %s", tl_duration(step->a_ns).text, tl_duration(step->b_ns).text).text, LEFT,
                  high + TL_AXIS_HEIGHT);
    tl_put_axis(out, &scale, 0, high);
    draw_waterfall(out, d, &scale);
    tl_plot_end(out);
    tl_put(out,
           "</div><figcaption class=\"source\">The parts sum up to the difference to the nanosecond; significant ones "
           "are bold.%s tlmpi diff A B diff_step has their p-values, diff_kernel the kernels, diff_run what was "
           "recorded.</figcaption></figure>\n</section>\n",
           scale.from > 0 ? " The axis does not begin at 0." : "");
}

/* ------------------------------------------------------------------------------------------------------------- tree */

typedef struct tree {
    FILE *out;
    const tl_diff_words *d;
    int64_t step_ns;
} tree;

static const tl_diff_work *node_of(const tree *t, size_t at)
{
    return tl_table_row(t->d->call_path, at);
}

/* "aten::linear +567 us, 2 a step in A, 3 in B" */
static void put_node(const tree *t, const tl_diff_work *row)
{
    put_name(t->out, t->d, "", row->name != TL_NO_NAME ? row->name : row->kind);
    put_name(t->out, t->d, " replaced by ", row->b_name);
    fputc(' ', t->out);
    put_change(t->out, row->change_ns);
    fputs(" <span class=\"said\">", t->out);
    if (row->change != TL_DIFF_SAME && row->change != TL_DIFF_TIME && row->change != TL_DIFF_REPLACED)
        tl_put(t->out, "%s, ", tl_diff_change_labels[row->change]);
    tl_put(t->out, "%.4g a %s", row->a_count, compared(t->d));
    if (row->a_count != row->b_count)
        tl_put(t->out, " in A, %.4g in B", row->b_count);
    fputs("</span>", t->out);
}

static bool changes(const tree *t, const tl_diff_work *row, double least)
{
    return (double)llabs(row->change_ns) >= least * (double)t->step_ns;
}

/* Writes the calls of [at, end) directly within one call as a nested list, largest change first; large changes are
 * unfolded.  Small changes, and calls beyond CALLS_SHOWN, are summed in one line. */
static void put_calls(const tree *t, size_t at, size_t end)
{
    size_t shown = 0, rest = 0;
    int64_t rest_ns = 0;
    for (size_t next; at < end; at = next) {
        const tl_diff_work *row = node_of(t, at);
        for (next = at + 1; next < end && node_of(t, next)->depth > row->depth; next++) /* skip its inner calls */
            ;
        if (shown == CALLS_SHOWN || !changes(t, row, TL_NOTHING_SHARE)) {
            rest_ns += row->change_ns;
            rest++;
            continue;
        }
        shown++;
        const bool leaf = next == at + 1 || row->depth == DEEPEST;
        fputs(leaf                                     ? "<p class=\"leaf\">"
              : changes(t, row, TL_VERDICT_LEAST_COST) ? "<details open=\"open\"><summary>"
                                                       : "<details><summary>",
              t->out);
        put_node(t, row);
        fputs(leaf ? "</p>\n" : "</summary>\n", t->out);
        if (leaf)
            continue;
        put_calls(t, at + 1, next);
        fputs("</details>\n", t->out);
    }
    if (rest > 0)
        tl_put(t->out, "<p class=\"leaf said\">%zu %s: %s</p>\n", rest, shown > 0 ? "more" : "that hardly change",
               change_in_words(rest_ns).text);
}

static void put_tree(FILE *out, const tl_diff_words *d)
{
    const tree t = { out, d, ((const tl_diff_step *)tl_table_row(d->step, 0))->a_ns };
    if (d->call_path->n == 0)
        return;
    tl_put(out,
           "<section id=\"calls\">\n<h2>Where in the code?</h2>\n<p class=\"source\">Device work of a %s by call path, "
           "in both runs: the change of a path and of all within it, the largest first.</p>\n",
           compared(d));
    put_calls(&t, 0, d->call_path->n);
    fputs("<p class=\"source\">Table <code>diff_call_path</code>.</p>\n</section>\n", out);
}

void tl_html_write_diff(const tl_diff_words *d, FILE *out)
{
    const tl_diff_run *paths = tl_table_row(d->run, d->run->n - 1); /* the last row compares the paths of the traces */
    tl_phrase a = tl_cell_in_words(paths->a, sizeof paths->a), b = tl_cell_in_words(paths->b, sizeof paths->b);
    tl_put_page_head(out, tl_phrase_of("%s (A) and %s (B)", a.text, b.text).text);
    put_verdict(out, d);
    put_waterfall(out, d);
    put_tree(out, d);
    tl_put_page_foot(out, tl_phrase_of("%s and %s", a.text, b.text).text);
}
