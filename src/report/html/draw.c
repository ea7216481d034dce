/* draw.c - plots: boxes, texts, rows, axes, legends. */
#include "draw.h"

#include "tlmpi/base/stats.h"
#include "tlmpi/model/tables.h"
#include "tlmpi/report/format/words.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------------------- markup */

__attribute__((format(printf, 2, 0))) static void put_args(FILE *out, const char *format, va_list args)
{
    for (;;) {
        size_t plain = strcspn(format, "%");
        (void)fwrite(format, 1, plain, out);
        format += plain;
        if (*format == '\0')
            return;
        char one[16] = ""; /* one conversion */
        size_t n = 1 + strcspn(format + 1, "%sdufg");
        memcpy(one, format, n + 1);
        format += n + 1;
        const char *point = strchr(one, '.');
        if (one[n] == '%') {
            fputc('%', out);
        } else if (one[n] == 's') {
            size_t most = point == NULL     ? SIZE_MAX
                          : point[1] == '*' ? (size_t)va_arg(args, int)
                                            : strtoul(point + 1, NULL, 10);
            const char *text = va_arg(args, const char *);
            if (point == NULL)
                tl_put_sentence(out, text);
            else
                tl_put_markup(out, (tl_text){ text, strnlen(text, most) });
        } else if (one[n] == 'f' || one[n] == 'g') {
            fprintf(out, one, va_arg(args, double));
        } else if (one[n - 1] == 'l' || one[n - 1] == 'z') {
            fprintf(out, one, va_arg(args, long));
        } else {
            fprintf(out, one, va_arg(args, int));
        }
    }
}

void tl_put(FILE *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put_args(out, format, args);
    va_end(args);
}

void tl_put_name(FILE *out, tl_text name)
{
    enum { SHOWN = 120 };
    bool cut = name.n > SHOWN;
    tl_put_markup(out, cut ? (tl_text){ name.p, tl_text_utf8((tl_text){ name.p, SHOWN }) } : name);
    fputs(cut ? "..." : "", out);
}

/* ------------------------------------------------------------------------------------------------------------ plots */

void tl_plot_begin(FILE *out, const char *id, const char *title, const char *finding, int left, int height)
{
    tl_put(out,
           "<svg class=\"plot\" role=\"img\" aria-labelledby=\"%s-title %s-says\" height=\"%d\" "
           "style=\"margin-left:%dpx;width:calc(100%% - %dpx)\">\n<title id=\"%s-title\">%s</title><desc "
           "id=\"%s-says\">%s</desc>\n",
           id, id, height, left, left, id, title, id, finding);
}

void tl_sheet_begin(FILE *out, int height, double wide)
{
    tl_put(out, "<svg y=\"0\" width=\"100%%\" height=\"%d\" viewBox=\"0 0 %g %d\" preserveAspectRatio=\"none\">",
           height, wide, height);
}

void tl_plot_end(FILE *out)
{
    fputs("</svg>\n", out);
}

void tl_put_legend(FILE *out, const tl_meaning *meanings, size_t n, const bool *seen)
{
    fputs("<div class=\"legend\">", out);
    for (size_t i = 0; i < n; i++)
        if (seen == NULL || seen[i])
            tl_put(out,
                   "<span><svg aria-hidden=\"true\" width=\"14\" height=\"14\"><rect class=\"%s\" width=\"14\" "
                   "height=\"14\"/></svg> %s</span>\n",
                   meanings[i].class_name, meanings[i].words);
    fputs("</div>\n", out);
}

void tl_figure_begin(FILE *out, const char *id, const char *title, const char *finding, int left, int height)
{
    tl_put(out, "<figure>\n<figcaption><p>%s</p></figcaption>\n", finding);
    tl_plot_begin(out, id, title, finding, left, height);
}

void tl_figure_end(FILE *out, const tl_meaning *meanings, size_t n, const bool *seen, const char *explanation)
{
    tl_plot_end(out);
    if (n > 0)
        tl_put_legend(out, meanings, n, seen);
    if (explanation != NULL)
        tl_put(out, "<p class=\"explains\">%s</p>\n", explanation);
    fputs("</figure>\n", out);
}

/* ---------------------------------------------------------------------------------------------- boxes, texts, lines */

double tl_place(const tl_scale *scale, double value)
{
    double place = scale->to > scale->from ? 100 * (value - scale->from) / (scale->to - scale->from) : 0;
    return fmax(0, fmin(place, 100));
}

static void begin_box(FILE *out, const char *class_name, double x, double width, int y, int height)
{
    tl_put(out, "<rect class=\"%s\" x=\"%.2f%%\" y=\"%d\" width=\"%.2f%%\" height=\"%d\"", class_name, x, y, width,
           height);
}

void tl_put_box(FILE *out, const char *class_name, double x, double width, int y, int height)
{
    begin_box(out, class_name, x, width, y, height);
    fputs("/>", out);
}

void tl_put_told_box(FILE *out, const char *class_name, double x, double width, int y, int height, const char *format,
                     ...)
{
    va_list args;
    va_start(args, format);
    begin_box(out, class_name, x, width, y, height);
    fputs("><title>", out);
    put_args(out, format, args);
    fputs("</title></rect>\n", out);
    va_end(args);
}

void tl_put_run(FILE *out, bool *begun, const char *class_name, size_t first, size_t n, int y, int height)
{
    if (!*begun)
        tl_put(out, "<path class=\"%s\" d=\"", class_name);
    *begun = true;
    fprintf(out, "M%zu %dh%zuv%dh-%zuz", first, y, n, height, n);
}

void tl_end_runs(FILE *out, bool begun)
{
    fputs(begun ? "\"/>\n" : "", out);
}

void tl_put_at(FILE *out, const char *class_name, double x, int y, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tl_put(out, "<text class=\"%s\" x=\"%.2f%%\" y=\"%d\">", class_name, x, y);
    put_args(out, format, args);
    fputs("</text>\n", out);
    va_end(args);
}

void tl_put_side(FILE *out, const char *class_name, int y, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tl_put(out, "<text class=\"end%s%s\" x=\"-8\" y=\"%d\">", class_name[0] != '\0' ? " " : "", class_name, y);
    put_args(out, format, args);
    fputs("</text>\n", out);
    va_end(args);
}

void tl_put_upright(FILE *out, double x, int y, int height)
{
    tl_put(out, "<line class=\"rule\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"%d\" y2=\"%d\"/>", x, x, y, y + height);
}

void tl_put_level(FILE *out, int y)
{
    tl_put(out, "<line class=\"rule\" x1=\"0\" x2=\"100%%\" y1=\"%d\" y2=\"%d\"/>", y, y);
}

/* ------------------------------------------------------------------------------------------------------------- axes */

/* Returns the smallest of 1, 2, 5, 10, ... with which the scale has at most five marks: more do not fit on a
 * telephone. */
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

/* Returns a mark of a scale, "20 ms", "-5 us" or "0"; all marks have one unit. */
static tl_phrase mark_of(const tl_scale *scale, double value)
{
    double most = fmax(fabs(scale->from), fabs(scale->to)), one = most >= 1e9 ? 1e9 : most >= 1e6 ? 1e6 : 1e3;
    return value == 0 ? tl_phrase_of("0")
                      : tl_phrase_of("%g %s", value / one,
                                     most >= 1e9   ? "s"
                                     : most >= 1e6 ? "ms"
                                                   : "us");
}

void tl_put_axis(FILE *out, const tl_scale *scale, int y, int height)
{
    if (!(scale->to > scale->from))
        return;
    double stride = stride_of(scale);
    int64_t first = (int64_t)ceil(scale->from / stride), last = (int64_t)floor(scale->to / stride + 1e-9);
    for (int64_t k = first; k <= last; k++) {
        double value = (double)k * stride, x = tl_place(scale, value);
        tl_put_upright(out, x, y, height);
        tl_put_at(out,
                  x < 4    ? "quiet"
                  : x > 96 ? "quiet end"
                           : "quiet middle",
                  x, y + height + 13, "%s", mark_of(scale, value).text);
    }
}

void tl_put_levels(FILE *out, const tl_scale *scale, int height)
{
    double stride = stride_of(scale);
    for (int64_t k = 0; (double)k * stride <= scale->to * (1 + 1e-9); k++) {
        double value = (double)k * stride;
        int y = height - (int)lround(tl_place(scale, value) / 100 * height);
        tl_put_level(out, y);
        tl_put_side(out, "quiet", y + 4, "%s", mark_of(scale, value).text);
    }
}

/* ------------------------------------------------------------------------------------------------------------- rows */

/* Pixels: widest character, bracket, widest rank number.  HOST: characters of a host's name. */
enum { CHAR = 7, BRACKET = 10, NUMBER = 84, HOST = 16 };

tl_text tl_host_shown(const tl_table *hosts, int32_t rank)
{
    const tl_rank *row = hosts != NULL ? tl_row_of_rank(hosts, rank) : NULL;
    if (row == NULL)
        return TL_TEXT("");
    size_t n = tl_host_length(row->host, sizeof row->host);
    return (tl_text){ row->host, n < HOST ? n : tl_text_utf8((tl_text){ row->host, HOST }) };
}

/* Returns the index behind the last consecutive row with the same host as row `from`. */
static size_t end_of_host(const tl_rows *rows, size_t from)
{
    const tl_text host = tl_host_shown(rows->hosts, rows->ranks[from]);
    size_t to = from + 1;
    while (to < rows->n && tl_text_compare(host, tl_host_shown(rows->hosts, rows->ranks[to])) == 0)
        to++;
    return to;
}

static bool has_brackets(const tl_rows *rows)
{
    return rows->hosts != NULL && rows->n > 0 && end_of_host(rows, 0) < rows->n;
}

int tl_side_of(const tl_rows *rows)
{
    size_t longest = 0;
    for (size_t i = 0; i < rows->n && has_brackets(rows); i = end_of_host(rows, i)) {
        size_t n = tl_host_shown(rows->hosts, rows->ranks[i]).n;
        longest = n > longest ? n : longest;
    }
    return NUMBER + (longest > 0 ? BRACKET + CHAR * (int)longest : 0);
}

void tl_rows_add(tl_rows *rows, int32_t rank, bool named)
{
    rows->ranks[rows->n] = rank;
    rows->named[rows->n++] = named;
}

int tl_row_y(const tl_rows *rows, size_t row)
{
    return rows->top + (int)row * rows->pitch;
}

void tl_put_rows(FILE *out, const tl_rows *rows)
{
    for (size_t i = 0; i < rows->n; i++) {
        const bool named = rows->named[i];
        if (named)
            tl_put_box(out, "band", 0, 100, tl_row_y(rows, i), rows->pitch);
        tl_put_side(out, named ? "named" : "", tl_row_y(rows, i) + rows->base, "%srank %" PRId32,
                    named ? "\xE2\x96\xB8 " : "", rows->ranks[i]);
    }
    for (size_t i = 0, to; i < rows->n && has_brackets(rows); i = to) {
        to = end_of_host(rows, i);
        const tl_text host = tl_host_shown(rows->hosts, rows->ranks[i]);
        int y = tl_row_y(rows, i) + 1, height = (int)(to - i) * rows->pitch - 3;
        tl_put(out, "<path class=\"axis\" d=\"M%d %dh-4v%dh4\"/><text class=\"end\" x=\"%d\" y=\"%d\">%.*s</text>\n",
               2 - NUMBER, y, height, -NUMBER - BRACKET + 4, y + height / 2 + 4, (int)host.n, host.p);
    }
}
