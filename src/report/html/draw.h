/* draw.h - what all pictures of a page are drawn with: an SVG plot as wide as the page, boxes, texts, rows, an axis,
 * a legend.
 *
 *     |<- left ->|<-------------- 100 % --------------->|
 *       rank 0   [######box######][##box##]                y grows downwards, in pixels
 *     > rank 1   [####][########]
 *                0        20        40        60 ms        axis
 *
 * x is a share of the plot's width in percent, so a plot fits a screen, a telephone and paper, and its texts keep their
 * size.  What stands left of the plot has an x below 0, in pixels.  Paths, which cannot have percents, are drawn on a
 * sheet: a part of the plot with units of its own.
 */
#ifndef TLMPI_REPORT_HTML_DRAW_H
#define TLMPI_REPORT_HTML_DRAW_H

#include "tlmpi/model/table.h"
#include "tlmpi/report/format/words.h"
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

/* ----------------------------------------------------------------------------------------------------------- markup */

/* Writes markup: the format as it is, each text among its arguments escaped, so that no name of a trace does anything
 * in the page.  Conversions: %s with or without a precision, %d %u %zu %f %g with flags, and PRId32, PRId64. */
void tl_put(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A name of a trace; of a long one, as of a template, the beginning. */
void tl_put_name(FILE *out, tl_text name);

/* ------------------------------------------------------------------------------------------------------------ plots */

/* A class of colour is a rule of the style sheet (style.c), where its meaning stands: "compute", "waiting", ... */

/* Begins the plot, with its text alternative: `title` says what it shows, `finding` the same in numbers.  `id`: letters
 * and digits, once on a page. */
void tl_plot_begin(FILE *out, const char *id, const char *title, const char *finding, int left, int height);

/* A part of the plot, whole width, for paths: x from 0 to `wide`, y from 0 to `height`, both stretched to the part. */
void tl_sheet_begin(FILE *out, int height, double wide);

void tl_plot_end(FILE *out); /* ends a plot, or a sheet */

/* What classes mean, in words. */
typedef struct tl_meaning {
    const char *class_name, *words;
} tl_meaning;

/* A figure of one plot, its finding above it; below it what those classes mean that are seen (NULL: all of n), and an
 * explanation (NULL: none). */
void tl_figure_begin(FILE *out, const char *id, const char *title, const char *finding, int left, int height);
void tl_figure_end(FILE *out, const tl_meaning *meanings, size_t n, const bool *seen, const char *explanation);
void tl_put_legend(FILE *out, const tl_meaning *meanings, size_t n, const bool *seen);

/* ---------------------------------------------------------------------------------------------------- what is drawn */

/* Values that are drawn from 0 % to 100 %. */
typedef struct tl_scale {
    double from, to;
} tl_scale;

/* The value's place in percent, within 0 to 100. */
double tl_place(const tl_scale *scale, double value);

/* A rectangle; the second with a text that a pointer shows. */
void tl_put_box(FILE *out, const char *class_name, double x, double width, int y, int height);
void tl_put_told_box(FILE *out, const char *class_name, double x, double width, int y, int height, const char *format,
                     ...) __attribute__((format(printf, 7, 8)));

/* A bar of n parts that follow upon each other from 0 on, of no scale (NULL) as long as the plot; a pointer shows each
 * part of the name.  seen[k] becomes true where part k is wide enough to be seen. */
void tl_put_stack(FILE *out, const tl_scale *scale, int y, int height, const tl_meaning *parts, const int64_t *ns,
                  size_t n, const char *name, bool *seen);

/* Adds a run of columns of a sheet to a path of a class, which the first run begins; tl_end_runs ends a path that was
 * begun. */
void tl_put_run(FILE *out, bool *begun, const char *class_name, size_t first, size_t n, int y, int height);
void tl_end_runs(FILE *out, bool begun);

/* A text at x percent; class "end" ends there, "middle" stands around it.  tl_put_side: left of the plot. */
void tl_put_at(FILE *out, const char *class_name, double x, int y, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void tl_put_side(FILE *out, const char *class_name, int y, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* A thin line at x percent from y to y + height; one as wide as the plot at y. */
void tl_put_upright(FILE *out, double x, int y, int height);
void tl_put_level(FILE *out, int y);

/* Lines from y to y + height at 1, 2 or 5 times a power of ten of a scale in ns, and their times below, which need
 * TL_AXIS_HEIGHT there. */
enum { TL_AXIS_HEIGHT = 18 };
void tl_put_axis(FILE *out, const tl_scale *scale, int y, int height);

/* The same of a scale upwards: lines as wide as the plot, their times at the side; y is 0 at the scale's end. */
void tl_put_levels(FILE *out, const tl_scale *scale, int height);

/* Ranks as rows of a plot: each with its number at the side, marked where it is named, and left of the numbers a
 * bracket around ranks of one host, where there are two hosts. */
enum { TL_ROWS_MOST = 64 }; /* at 13 pixels each they fill a screen */
typedef struct tl_rows {
    int top, pitch, base;  /* pixels: the first row's y, from row to row, from the row's y to the foot of its text */
    const tl_table *hosts; /* table rank; NULL: no brackets */
    size_t n;
    int32_t ranks[TL_ROWS_MOST];
    bool named[TL_ROWS_MOST];
} tl_rows;

void tl_rows_add(tl_rows *rows, int32_t rank, bool named);
int tl_row_y(const tl_rows *rows, size_t row);

/* How wide the side is that the rows need: the plot's `left`. */
int tl_side_of(const tl_rows *rows);
void tl_put_rows(FILE *out, const tl_rows *rows);

/* The host of a rank, as pictures name it; empty where it is not known.  hosts: table rank; NULL: none. */
tl_text tl_host_shown(const tl_table *hosts, int32_t rank);

#endif
