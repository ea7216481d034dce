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
#include <stdbool.h>
#include <stdio.h>

/* ----------------------------------------------------------------------------------------------------------- markup */

/* Writes markup: the format as it is, each text argument escaped, so that a name from a trace cannot inject markup.
 * Conversions: %s with or without a precision, %d %u %zu %f %g with flags, and PRId32, PRId64. */
void tl_put(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes a name from a trace; a long one, such as a C++ template's, is cut at the end. */
void tl_put_name(FILE *out, tl_text name);

/* ------------------------------------------------------------------------------------------------------------ plots */

/* Colours are class names whose rules and meanings stand in the style sheet (page.css): "compute", "waiting", ... */

/* Begins the plot with its text alternative: `title` says what the plot shows, `finding` the result in numbers.  `id`:
 * letters and digits, unique on the page. */
void tl_plot_begin(FILE *out, const char *id, const char *title, const char *finding, int left, int height);

/* Begins a sheet, a full-width part of the plot for paths: x from 0 to `wide`, y from 0 to `height`, both stretched to
 * the part. */
void tl_sheet_begin(FILE *out, int height, double wide);

void tl_plot_end(FILE *out); /* ends a plot, or a sheet */

/* A class and its meaning in words. */
typedef struct tl_meaning {
    const char *class_name, *words;
} tl_meaning;

/* Begin and end a figure of one plot: above it the finding; below it a legend of the classes marked in `seen` (NULL: of
 * all n), and an explanation (NULL: none). */
void tl_figure_begin(FILE *out, const char *id, const char *title, const char *finding, int left, int height);
void tl_figure_end(FILE *out, const tl_meaning *meanings, size_t n, const bool *seen, const char *explanation);
void tl_put_legend(FILE *out, const tl_meaning *meanings, size_t n, const bool *seen);

/* ---------------------------------------------------------------------------------------------------- what is drawn */

/* The values at 0 % and at 100 % of the plot. */
typedef struct tl_scale {
    double from, to;
} tl_scale;

/* The value's place in percent, within 0 to 100. */
double tl_place(const tl_scale *scale, double value);

/* Draw a rectangle; tl_put_told_box's shows a text under the pointer. */
void tl_put_box(FILE *out, const char *class_name, double x, double width, int y, int height);
void tl_put_told_box(FILE *out, const char *class_name, double x, double width, int y, int height, const char *format,
                     ...) __attribute__((format(printf, 7, 8)));

/* Adds a run of columns of a sheet to a path of a class; the first run begins the path, and tl_end_runs ends it if it
 * was begun. */
void tl_put_run(FILE *out, bool *begun, const char *class_name, size_t first, size_t n, int y, int height);
void tl_end_runs(FILE *out, bool begun);

/* Draw a text at x percent; class "end" ends there, "middle" is centred there.  tl_put_side: left of the plot. */
void tl_put_at(FILE *out, const char *class_name, double x, int y, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void tl_put_side(FILE *out, const char *class_name, int y, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Draw a thin vertical line at x percent from y to y + height, and a full-width horizontal line at y. */
void tl_put_upright(FILE *out, double x, int y, int height);
void tl_put_level(FILE *out, int y);

/* Draws vertical lines from y to y + height at 1, 2 or 5 times a power of ten of a scale in ns, and their times below,
 * which take TL_AXIS_HEIGHT pixels. */
enum { TL_AXIS_HEIGHT = 18 };
void tl_put_axis(FILE *out, const tl_scale *scale, int y, int height);

/* Draws the lines of a vertical scale: horizontal, full width, with their times at the side; y is 0 at the scale's
 * end. */
void tl_put_levels(FILE *out, const tl_scale *scale, int height);

/* Ranks as rows of a plot: each has its number at the side, marked if the rank is named; where there are two or more
 * hosts, a bracket left of the numbers encloses the ranks of a host. */
enum { TL_ROWS_MOST = 64 }; /* at 13 pixels each they fill a screen */
typedef struct tl_rows {
    int top, pitch, base; /* pixels: y of the first row; distance between rows; from a row's y to its text's baseline */
    const tl_table *hosts; /* table rank; NULL: no brackets */
    size_t n;
    int32_t ranks[TL_ROWS_MOST];
    bool named[TL_ROWS_MOST];
} tl_rows;

void tl_rows_add(tl_rows *rows, int32_t rank, bool named);
int tl_row_y(const tl_rows *rows, size_t row);

/* Returns the width of the side that the rows need, in pixels: the plot's `left`. */
int tl_side_of(const tl_rows *rows);
void tl_put_rows(FILE *out, const tl_rows *rows);

/* Returns a rank's host as pictures name it; empty if unknown.  hosts: table rank; NULL: none. */
tl_text tl_host_shown(const tl_table *hosts, int32_t rank);

#endif
