/* draw.c - plots: boxes, texts, axes, legends. */
#include "draw.h"

#include "tlmpi/report/format/markup.h"
#include "tlmpi/base/stats.h"
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

void tl_plot_begin(FILE *out, const char *id, const char *title, const char *finding, int left, int height)
{
    fprintf(out,
            "<svg class=\"plot\" role=\"img\" aria-labelledby=\"%s-title %s-says\" height=\"%d\" "
            "style=\"margin-left:%dpx;width:calc(100%% - %dpx)\">\n<title id=\"%s-title\">",
            id, id, height, left, left, id);
    tl_put_markup_word(out, title);
    fprintf(out, "</title><desc id=\"%s-says\">", id);
    tl_put_markup_word(out, finding);
    fputs("</desc>\n", out);
}

void tl_plot_end(FILE *out)
{
    fputs("</svg>\n", out);
}

void tl_sheet_begin(FILE *out, int y, int height, double wide)
{
    fprintf(out,
            "<svg y=\"%d\" width=\"100%%\" height=\"%d\" viewBox=\"0 0 %g %d\" preserveAspectRatio=\"none\">", y,
            height, wide, height);
}

void tl_sheet_end(FILE *out)
{
    fputs("</svg>\n", out);
}

double tl_place(const tl_scale *scale, double value)
{
    double place = scale->to > scale->from ? 100 * (value - scale->from) / (scale->to - scale->from) : 0;
    return fmax(0, fmin(place, 100));
}

static void begin_box(FILE *out, const char *class_name, double x, double width, int y, int height)
{
    fprintf(out, "<rect class=\"%s\" x=\"%.2f%%\" y=\"%d\" width=\"%.2f%%\" height=\"%d\"", class_name, x, y, width,
            height);
}

void tl_put_box(FILE *out, const char *class_name, double x, double width, int y, int height)
{
    begin_box(out, class_name, x, width, y, height);
    fputs("/>", out);
}

void tl_put_run(FILE *out, bool *begun, const char *class_name, size_t first, size_t n, int y, int height)
{
    if (!*begun)
        fprintf(out, "<path class=\"%s\" d=\"", class_name);
    *begun = true;
    fprintf(out, "M%zu %dh%zuv%dh-%zuz", first, y, n, height, n);
}

void tl_end_runs(FILE *out, bool begun)
{
    fputs(begun ? "\"/>\n" : "", out);
}

/* Writes the text of a format, escaped, and an end. */
__attribute__((format(printf, 2, 0)))
static void put_words(FILE *out, const char *format, va_list args, const char *end)
{
    char text[512];
    (void)vsnprintf(text, sizeof text, format, args);
    tl_put_markup_word(out, text);
    fputs(end, out);
}

void tl_put_told_box(FILE *out, const char *class_name, double x, double width, int y, int height, const char *format, ...)
{
    va_list args;
    begin_box(out, class_name, x, width, y, height);
    fputs("><title>", out);
    va_start(args, format);
    put_words(out, format, args, "</title></rect>\n");
    va_end(args);
}

void tl_put_at(FILE *out, const char *class_name, double x, int y, const char *format, ...)
{
    va_list args;
    fprintf(out, "<text class=\"%s\" x=\"%.2f%%\" y=\"%d\">", class_name, x, y);
    va_start(args, format);
    put_words(out, format, args, "</text>\n");
    va_end(args);
}

void tl_put_side(FILE *out, const char *class_name, int y, const char *format, ...)
{
    va_list args;
    fprintf(out, "<text class=\"end%s%s\" x=\"-8\" y=\"%d\">", class_name[0] != '\0' ? " " : "", class_name, y);
    va_start(args, format);
    put_words(out, format, args, "</text>\n");
    va_end(args);
}

void tl_put_name(FILE *out, tl_text name)
{
    enum { SHOWN = 120 };
    bool cut = name.n > SHOWN;
    tl_put_markup(out, cut ? (tl_text){ name.p, tl_text_utf8((tl_text){ name.p, SHOWN }) } : name);
    fputs(cut ? "..." : "", out);
}

void tl_put_mark(FILE *out, int x, int y)
{
    fprintf(out, "<path class=\"mark\" d=\"M%d %dl8 4l-8 4z\"/>", x, y);
}

/* The least of 1, 2, 5, 10 ... with which the scale has at most five marks: they have room on a telephone. */
static double stride_of(const tl_scale *scale)
{
    enum { MARKS = 5 };
    double least = (scale->to - scale->from) / MARKS, power = pow(10, floor(log10(least)));
    static const double steps[] = { 1, 2, 5, 10 };
    size_t k = 0;
    while (k < 3 && steps[k] * power < least * (1 - 1e-9))
        k++;
    return steps[k] * power;
}

/* "20 ms", "-5 us", "0": a mark of a scale, all in one unit. */
static tl_phrase mark_of(const tl_scale *scale, double value, const char *unit)
{
    double most = fmax(fabs(scale->from), fabs(scale->to)), one = most >= 1e9 ? 1e9 : most >= 1e6 ? 1e6 : 1e3;
    if (value == 0)
        return tl_phrase_of("0");
    if (strcmp(unit, "ns") == 0)
        return tl_phrase_of("%g %s", value / one, most >= 1e9 ? "s" : most >= 1e6 ? "ms" : "us");
    if (strcmp(unit, "%") == 0)
        return tl_phrase_of("%g %%", 100 * value);
    return tl_phrase_of("%g%s%s", value, unit[0] != '\0' ? " " : "", unit);
}

void tl_put_axis(FILE *out, const tl_scale *scale, int y, int height, const char *unit)
{
    if (!(scale->to > scale->from))
        return;
    double stride = stride_of(scale);
    int64_t first = (int64_t)ceil(scale->from / stride), last = (int64_t)floor(scale->to / stride + 1e-9);
    for (int64_t k = first; k <= last; k++) {
        double value = (double)k * stride, x = tl_place(scale, value);
        fprintf(out, "<line class=\"rule\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"%d\" y2=\"%d\"/>", x, x, y, y + height);
        tl_put_at(out, x < 4 ? "quiet" : x > 96 ? "quiet end" : "quiet middle", x, y + height + 13, "%s",
                  mark_of(scale, value, unit).text);
    }
}

void tl_put_levels(FILE *out, const tl_scale *scale, int height)
{
    double stride = stride_of(scale);
    for (int64_t k = 0; (double)k * stride <= scale->to * (1 + 1e-9); k++) {
        double value = (double)k * stride;
        int y = height - (int)lround(tl_place(scale, value) / 100 * height);
        fprintf(out, "<line class=\"rule\" x1=\"0\" x2=\"100%%\" y1=\"%d\" y2=\"%d\"/>", y, y);
        tl_put_side(out, "quiet", y + 4, "%s", mark_of(scale, value, "ns").text);
    }
}

void tl_put_legend(FILE *out, const tl_meaning *meanings, size_t n, const bool *seen)
{
    fputs("<div class=\"legend\">", out);
    for (size_t i = 0; i < n; i++)
        if (seen == NULL || seen[i])
            fprintf(out,
                    "<span><svg aria-hidden=\"true\" width=\"14\" height=\"14\"><rect class=\"%s\" width=\"14\" "
                    "height=\"14\"/></svg> %s</span>\n",
                    meanings[i].class_name, meanings[i].words);
    fputs("</div>\n", out);
}

void tl_put_stack(FILE *out, const tl_scale *scale, int y, int height, const tl_meaning *parts, const int64_t *ns,
                  size_t n, const char *name, bool *seen)
{
    const double least = 0.05; /* percent of the plot: half a pixel */
    int64_t all_ns = 0, sum_ns = 0;
    for (size_t k = 0; k < n; k++)
        all_ns = tl_ns_sum(all_ns, tl_ns_max(ns[k], 0));
    const tl_scale whole = { 0, (double)all_ns };
    for (size_t k = 0; k < n; k++) {
        double x = tl_place(scale != NULL ? scale : &whole, (double)sum_ns);
        sum_ns = tl_ns_sum(sum_ns, tl_ns_max(ns[k], 0));
        double width = tl_place(scale != NULL ? scale : &whole, (double)sum_ns) - x;
        if (width < least)
            continue;
        seen[k] = true;
        if (name == NULL)
            tl_put_box(out, parts[k].class_name, x, width, y, height);
        else
            tl_put_told_box(out, parts[k].class_name, x, width, y, height, "%s: %s %s, %s", name, parts[k].words,
                            tl_duration(ns[k]).text, tl_part_in_words(ns[k], all_ns).text);
    }
}

void tl_put_rank(FILE *out, int32_t rank, bool named, int y, int height)
{
    if (named)
        tl_put_box(out, "band", 0, 100, y, height);
    tl_put_side(out, named ? "named" : "", y + 13, "%srank %" PRId32, named ? "\xE2\x96\xB8 " : "", rank);
}

void tl_figure_begin(FILE *out, const char *id, const char *title, const char *finding, int left, int height)
{
    fputs("<figure>\n<figcaption><p>", out);
    tl_put_markup_word(out, finding);
    fputs("</p></figcaption>\n", out);
    tl_plot_begin(out, id, title, finding, left, height);
}

void tl_figure_end(FILE *out, const tl_meaning *meanings, size_t n, const bool *seen, const char *explanation)
{
    tl_plot_end(out);
    if (n > 0)
        tl_put_legend(out, meanings, n, seen);
    if (explanation != NULL)
        fprintf(out, "<p class=\"explains\">%s</p>\n", explanation);
    fputs("</figure>\n", out);
}
