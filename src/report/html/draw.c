/* draw.c - a heat map as SVG: the cells, those without a record, and what is outlined.
 *
 * With few cells each is a rectangle that tells its numbers.  With many, neighbours in a row that have one shade are one
 * piece, all pieces of a shade are one path, and what is neutral is the ground on which they lie.
 */
#include "layout.h"
#include "tlmpi/report/format/markup.h"
#include <inttypes.h>
#include <math.h>

static bool is_others(const tl_picture *p, size_t row)
{
    return row >= p->heat->nshown;
}

static int32_t rank_of(const tl_picture *p, size_t row)
{
    return p->heat->ranks[p->heat->shown[row]];
}

/* ---- each cell by itself ---- */

/* "rank 3, step 12: +12.3 % longer than its peers (20.1 ms of 163 ms)" */
static void tell_cell(FILE *out, const tl_picture *p, size_t row, size_t column)
{
    const tl_heat_cell *cell = &tl_heat_row(p->heat, row)[column];
    fputs("<title>", out);
    if (is_others(p, row))
        fputs("others, median", out);
    else
        fprintf(out, "rank %" PRId32, rank_of(p, row));
    fprintf(out, ", %s: ", tl_steps_of_column(p->heat->steps, column).text);
    if (isnan(cell->share))
        fputs("no record", out);
    else
        fprintf(out, "%s %s", tl_show_share(cell->share, p->shades.both).text, p->cell);
    if (!isnan(cell->share) && !is_others(p, row))
        fprintf(out, " (%s of %s)", tl_show_time(cell->part_ns).text, tl_show_time(cell->whole_ns).text);
    fputs("</title>", out);
}

static void draw_cells(FILE *out, const tl_picture *p, const tl_layout *l)
{
    int air = l->column >= 6; /* a line between cells that are wide enough */
    for (size_t r = 0; r < l->nrows; r++) {
        const tl_heat_cell *cells = tl_heat_row(p->heat, r);
        for (size_t c = 0; c < l->ncols; c++) {
            const char *class = isnan(cells[c].share) ? "m" : tl_class_of(tl_shade_of(&p->shades, cells[c].share));
            fprintf(out, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\">", class,
                    l->left + (int)c * l->column, tl_layout_y(l, p, r), l->column - air, l->row - 1);
            tell_cell(out, p, r, c);
            fputs("</rect>\n", out);
        }
    }
}

/* ---- all of a shade together ---- */

enum { MISSING = TL_SHADES + 1 };

static int shade_at(const tl_picture *p, size_t row, size_t column)
{
    double share = tl_heat_row(p->heat, row)[column].share;
    return isnan(share) ? MISSING : tl_shade_of(&p->shades, share);
}

/* A path of the runs of that shade; nothing where there are none. */
static void draw_runs(FILE *out, const tl_picture *p, const tl_layout *l, int shade)
{
    bool begun = false;
    for (size_t r = 0; r < l->nrows; r++) {
        for (size_t c = 0, n; c < l->ncols; c += n) {
            for (n = 1; c + n < l->ncols && shade_at(p, r, c + n) == shade_at(p, r, c); n++)
                ;
            if (shade_at(p, r, c) != shade)
                continue;
            if (!begun)
                fprintf(out, "<path class=\"%s\" d=\"", shade == MISSING ? "m" : tl_class_of(shade));
            begun = true;
            int width = (int)n * l->column;
            fprintf(out, "M%d %dh%dv%dh%dz", l->left + (int)c * l->column, tl_layout_y(l, p, r), width, l->row - 1,
                    -width);
        }
    }
    if (begun)
        fputs("\"/>\n", out);
}

static void draw_shades(FILE *out, const tl_picture *p, const tl_layout *l)
{
    int width = (int)l->ncols * l->column;
    fputs("<path class=\"n\" d=\"", out);
    for (size_t r = 0; r < l->nrows; r++)
        fprintf(out, "M%d %dh%dv%dh%dz", l->left, tl_layout_y(l, p, r), width, l->row - 1, -width);
    fputs("\"/>\n", out);
    for (int shade = -TL_SHADES; shade <= MISSING; shade++)
        if (shade != 0)
            draw_runs(out, p, l, shade);
}

/* ---- outlines ---- */

static void draw_outlines(FILE *out, const tl_picture *p, const tl_layout *l)
{
    for (size_t i = 0; i < p->noutlines; i++) {
        const tl_outline *o = &p->outlines[i];
        int x = l->left + (int)o->first * l->column - 1, width = (int)(o->last - o->first + 1) * l->column + 1;
        int y = tl_layout_y(l, p, o->row) - 1;
        fprintf(out, "<path class=\"under\" d=\"M%d %dh%dv%dh%dz\"/>", x, y, width, l->row + 1, -width);
        fprintf(out, "<path class=\"%s\" d=\"M%d %dh%dv%dh%dz\"/>\n", o->weak ? "weak" : "late", x, y, width,
                l->row + 1, -width);
    }
}

void tl_draw_heat(FILE *out, const tl_picture *p)
{
    const tl_layout l = tl_layout_of(p);
    fputs("<div class=\"wide\">", out);
    fprintf(
        out,
        "<svg role=\"img\" aria-labelledby=\"%s-title %s-says\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n",
        p->id, p->id, l.width, l.height, l.width, l.height);
    fprintf(out, "<title id=\"%s-title\">", p->id);
    tl_put_markup_word(out, p->title);
    fprintf(out, "</title><desc id=\"%s-says\">", p->id);
    tl_put_markup_word(out, p->finding);
    fputs("</desc>\n", out);
    if (l.told)
        draw_cells(out, p, &l);
    else
        draw_shades(out, p, &l);
    draw_outlines(out, p, &l);
    tl_draw_axes(out, p, &l);
    fputs("</svg></div>\n", out);
    tl_draw_legend(out, p, &l);
}
