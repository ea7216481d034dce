/* heat_draw.c - a heat map as SVG: cells, outlines, what stands around them, and the legend.
 *
 *     node0 [  rank 0  ......
 *           [  rank 1  ......
 *     node1 [> rank 2  ..##..      > a rank that is named
 *           [  rank 3  ......
 *              others  ......
 *                      1    5   step
 *
 *      50  20  10   5   2   1   1   2   5  10  20  50  %
 *     [b6][b5][b4][b3][b2][b1][n][a1][a2][a3][a4][a5][a6]
 *     shorter                                     longer
 *
 * With few cells each is a rectangle that tells its numbers.  With many, neighbours in a row that have one shade are
 * one piece, all pieces of a shade are one path, and what is neutral is the ground on which they lie.
 */
#include "heat.h"

#include "tlmpi/base/mem.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Pixels: widest cell; gap before the row of other ranks; a shade of the legend, and its margin. */
enum { WIDEST = 40, APART = 5, SWATCH = 30, MARGIN = 8 };
enum { FEW_ROWS = 16, LABELS = 12 }; /* rows up to which a row is tall; most steps with a number below */

/* The shade of a cell without a record, beyond the others. */
enum { MISSING = TL_SHADES + 1 };

/* A picture and its layout. */
typedef struct drawing {
    FILE *out;
    const tl_picture *p;
    const tl_heat *heat;
    size_t nrows, ncols;
    double wide; /* width of a cell, in percent */
} drawing;

/* Returns the class of a shade: "n" neutral, "a1".. above 0, "b1".. below 0, "m" missing. */
static const char *class_of(int shade)
{
    static const char *const classes[] = { "b6", "b5", "b4", "b3", "b2", "b1", "n",
                                           "a1", "a2", "a3", "a4", "a5", "a6", "m" };
    return classes[shade + TL_SHADES];
}

static int shade_at(const drawing *d, size_t row, size_t column)
{
    double share = tl_heat_at(d->heat, row, column);
    return isnan(share) ? MISSING : tl_shade_of(&d->p->shades, share);
}

/* Returns the upper edge of a row; the row of other ranks stands apart. */
static int y_of(const drawing *d, size_t row)
{
    return (int)row * d->p->rows.pitch + (row >= d->heat->nshown && d->heat->nothers > 0 ? APART : 0);
}

/* ------------------------------------------------------------------------------------------------------------ cells */

/* Draws a cell; the pointer shows "rank 3, step 12: +12.3 % longer than its peers (20.1 ms of 163 ms)". */
static void draw_cell(const drawing *d, size_t row, size_t column)
{
    const tl_heat *h = d->heat;
    const double share = tl_heat_at(h, row, column);
    tl_phrase who = { "others, median" }, what = { "no record" };
    if (!isnan(share))
        what = tl_phrase_of("%s %s", tl_show_share(share, d->p->shades.both).text, d->p->cell);
    if (row < h->nshown) {
        const tl_heat_cell *cell = &h->cells[h->shown[row] * d->ncols + column];
        who = tl_phrase_of("rank %" PRId32, h->ranks[h->shown[row]]);
        if (cell->n > 0)
            what = tl_phrase_of("%.200s (%s of %s)", what.text, tl_show_time(cell->part_ns).text,
                                tl_show_time(cell->whole_ns).text);
    }
    tl_put_told_box(d->out, tl_phrase_of("cell %s", class_of(shade_at(d, row, column))).text, (double)column * d->wide,
                    d->wide, y_of(d, row), d->p->rows.pitch, "%s, %s: %s", who.text,
                    tl_steps_of_column(h->steps, column).text, what.text);
}

/* Draws all runs of one shade as a path; nothing if there are none. */
static void draw_runs(const drawing *d, int shade)
{
    bool begun = false;
    for (size_t r = 0; r < d->nrows; r++)
        for (size_t c = 0, n; c < d->ncols; c += n) {
            for (n = 1; c + n < d->ncols && shade_at(d, r, c + n) == shade_at(d, r, c); n++)
                ;
            if (shade_at(d, r, c) == shade)
                tl_put_run(d->out, &begun, class_of(shade), c, n, y_of(d, r), d->p->rows.pitch - 1);
        }
    tl_end_runs(d->out, begun);
}

static void draw_cells(const drawing *d)
{
    const bool told = d->nrows * d->ncols <= TL_HEAT_CELLS_TOLD;
    for (size_t i = 0; i < d->nrows * d->ncols && told; i++)
        draw_cell(d, i / d->ncols, i % d->ncols);
    if (told)
        return;
    tl_sheet_begin(d->out, y_of(d, d->nrows), (double)d->ncols);
    for (int shade = -TL_SHADES; shade <= MISSING; shade++)
        draw_runs(d, shade);
    tl_plot_end(d->out);
}

static void draw_outlines(const drawing *d)
{
    TL_EACH (const tl_outline, o, d->p->outlines) {
        double x = (double)o->first * d->wide, width = (double)(o->last - o->first + 1) * d->wide;
        tl_put_box(d->out, "under", x, width, y_of(d, o->row), d->p->rows.pitch);
        tl_put_box(d->out, o->weak ? "weak" : "late", x, width, y_of(d, o->row), d->p->rows.pitch);
    }
}

static void draw_steps(const drawing *d)
{
    const tl_heat_steps *steps = d->heat->steps;
    int y = y_of(d, d->nrows) + 14;
    bool whole = d->ncols == 1 && steps->columns[0].first == -1;
    for (size_t c = 0, stride = (d->ncols + LABELS - 1) / LABELS; c < d->ncols && !whole; c += stride)
        tl_put_at(d->out, "quiet middle", ((double)c + 0.5) * d->wide, y, "%" PRId32, steps->columns[c].first);
    tl_put_at(d->out, "quiet", 0, y + 15, "%s%s", whole ? "the whole trace" : "step",
              steps->run > 1 ? tl_phrase_of(", %zu a column", steps->run).text : "");
}

/* ----------------------------------------------------------------------------------------------------------- legend */

static void draw_scale(const drawing *d)
{
    const tl_shades *shades = &d->p->shades;
    int least = shades->both ? -TL_SHADES : 0, n = TL_SHADES - least + 1, x = MARGIN, end = MARGIN + n * SWATCH;
    tl_put(
        d->out,
        "<svg role=\"img\" aria-label=\"the shades, in percent %s\" width=\"%d\" height=\"48\" viewBox=\"0 0 %d 48\">",
        d->p->cell, end + MARGIN, end + MARGIN);
    for (int shade = least; shade <= TL_SHADES; shade++, x += SWATCH) {
        tl_put(d->out, "<rect class=\"%s\" x=\"%d\" y=\"16\" width=\"%d\" height=\"14\"/>", class_of(shade), x,
               SWATCH - 1);
        if (shade > least)
            tl_put(d->out, "<text class=\"middle\" x=\"%d\" y=\"11\">%g</text>", x,
                   100 * shades->limits[shade > 0 ? shade - 1 : -shade]);
    }
    tl_put(d->out,
           "<text x=\"%d\" y=\"11\">%%</text><text x=\"%d\" y=\"44\">%s</text><text class=\"end\" x=\"%d\" "
           "y=\"44\">%s</text></svg>\n",
           end - SWATCH + 14, MARGIN, shades->both ? "shorter" : "less", end, shades->both ? "longer" : "more");
}

/* Draws the legend of the shades, marks and outlines that the picture contains. */
static void draw_legend(const drawing *d)
{
    const tl_heat *h = d->heat;
    bool missing = false, named = false, late = false, weak = false;
    for (size_t i = 0; i < d->nrows * d->ncols; i++)
        missing |= isnan(tl_heat_at(h, i / d->ncols, i % d->ncols));
    for (size_t r = 0; r < h->nshown; r++)
        named |= d->p->rows.named[r];
    TL_EACH (const tl_outline, o, d->p->outlines) {
        weak |= o->weak;
        late |= !o->weak;
    }
    const struct {
        bool seen;
        const char *shape, *meaning;
    } entries[] = {
        { named, "<text x=\"7\" y=\"11\">\xE2\x96\xB8</text>", "a rank that holds the job up" },
        { late, "<path class=\"late\" d=\"M2 2h18v10h-18z\"/>", d->p->late },
        { weak, "<path class=\"weak\" d=\"M2 2h18v10h-18z\"/>", d->p->weak },
        { missing, "<path class=\"m\" d=\"M1 1h20v12h-20z\"/>", "nothing recorded of the rank" },
    };

    fputs("<div class=\"legend\">", d->out);
    draw_scale(d);
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
        if (entries[i].seen)
            fprintf(d->out, "<span><svg aria-hidden=\"true\" width=\"22\" height=\"14\">%s</svg> %s</span>\n",
                    entries[i].shape, entries[i].meaning);
    if (h->nothers > 0)
        tl_put(
            d->out,
            "<span>others: in each column the median of the other %s ranks; of these the largest cell is that of rank "
            "%" PRId32 " in %s, %s</span>\n",
            tl_grouped((int64_t)h->nothers).text, h->ranks[h->hidden],
            tl_steps_of_column(h->steps, h->of[h->hidden].most_at).text,
            tl_show_share(h->of[h->hidden].most, d->p->shades.both).text);
    fputs("</div>\n", d->out);
}

/* ---------------------------------------------------------------------------------------------------------- picture */

tl_rows tl_heat_rows(const tl_heat *h, const tl_table *hosts)
{
    const int pitch = tl_heat_nrows(h) <= FEW_ROWS ? 20 : 13;
    tl_rows rows = { .pitch = pitch, .base = pitch / 2 + 4, .hosts = hosts };
    for (size_t r = 0; r < h->nshown; r++)
        tl_rows_add(&rows, h->ranks[h->shown[r]], false);
    return rows;
}

int tl_heat_width(const tl_picture *p)
{
    return tl_side_of(&p->rows) + (int)p->heat->steps->n * WIDEST;
}

void tl_draw_heat(FILE *out, const tl_picture *p)
{
    const size_t ncols = p->heat->steps->n;
    const drawing d = { out, p, p->heat, tl_heat_nrows(p->heat), ncols, 100 / (double)ncols };
    fprintf(out, "<div style=\"max-width:%dpx\">\n", tl_heat_width(p));
    tl_plot_begin(out, p->id, p->title, p->finding, tl_side_of(&p->rows), y_of(&d, d.nrows) + 34);
    tl_put_rows(out, &p->rows);
    if (p->heat->nothers > 0)
        tl_put_side(out, "", y_of(&d, p->heat->nshown) + p->rows.base, "others");
    draw_cells(&d);
    draw_outlines(&d);
    draw_steps(&d);
    tl_plot_end(out);
    fputs("</div>\n", out);
    draw_legend(&d);
}
