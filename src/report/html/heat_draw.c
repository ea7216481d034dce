/* heat_draw.c - a heat map as SVG: cells, outlines, what stands around them, and the legend.
 *
 *              rank
 *     node0 [     0  ......
 *           [     1  ......
 *     node1 [  >  2  ..##..      > a rank that is named
 *           [     3  ......
 *            others  ......
 *                    1    5   step
 *
 *      50  20  10   5   2   1   1   2   5  10  20  50  %
 *     [b6][b5][b4][b3][b2][b1][n][a1][a2][a3][a4][a5][a6]
 *     shorter                                     longer
 *
 * With few cells each is a rectangle that tells its numbers.  With many, neighbours in a row that have one shade are one
 * piece, all pieces of a shade are one path, and what is neutral is the ground on which they lie.
 */
#include "draw.h"
#include "heat.h"

#include "tlmpi/report/format/markup.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* In pixels. */
enum {
    CHAR = 7, /* width of a character, at most */
    MARK = 12,
    BRACKET = 10,
    WIDEST = 40, /* of a cell */
    FEW_ROWS = 16, /* that are high */
    SWATCH = 30,   /* of the legend */
    MARGIN = 8,
    LABELS = 12 /* steps that are named below, at most */
};

/* A cell without a record, beside the shades. */
enum { MISSING = TL_SHADES + 1 };

/* A picture, and where its things stand. */
typedef struct drawing {
    FILE *out;
    const tl_picture *p;
    const tl_heat *heat;
    size_t nrows, ncols;
    double column;   /* width of a cell, in percent */
    int left, row;   /* of the cells; height of a cell */
    int hosts;       /* width of their names; 0: none */
} drawing;

/* The class of a shade: "n" neutral, "a1".. above, "b1".. below 0, "m" missing. */
static const char *class_of(int shade)
{
    static const char *const classes[] = { "b6", "b5", "b4", "b3", "b2", "b1", "n",
                                           "a1", "a2", "a3", "a4", "a5", "a6", "m" };
    return classes[shade + TL_SHADES];
}

static int shade_at(const drawing *d, size_t row, size_t column)
{
    double share = tl_heat_row(d->heat, row)[column].share;
    return isnan(share) ? MISSING : tl_shade_of(&d->p->shades, share);
}

/* The upper edge of a row; that of the others stands apart. */
static int y_of(const drawing *d, size_t row)
{
    return 20 + (int)row * d->row + (row >= d->heat->nshown && d->heat->nothers > 0 ? 5 : 0);
}

/* The host of a row's rank. */
static tl_text host_of(const drawing *d, size_t row)
{
    return tl_host_shown(d->p->hosts, d->heat->ranks[d->heat->shown[row]]);
}

/* How many rows from this one on are of one host. */
static size_t rows_of_host(const drawing *d, size_t row)
{
    size_t n = 1;
    while (row + n < d->heat->nshown && tl_text_compare(host_of(d, row), host_of(d, row + n)) == 0)
        n++;
    return n;
}

static drawing layout(FILE *out, const tl_picture *p)
{
    const tl_heat *h = p->heat;
    drawing d = { .out = out, .p = p, .heat = h, .nrows = tl_heat_nrows(h), .ncols = h->steps->n };
    int label = h->nshown > 0 ? snprintf(NULL, 0, "%" PRId32, h->ranks[h->shown[h->nshown - 1]]) : 1,
        least = (int)strlen(h->nothers > 0 ? "others" : "rank");
    size_t host = 0; /* the longest name; none is shown where not two differ */

    for (size_t r = 0; r < h->nshown && rows_of_host(&d, 0) < h->nshown; r++)
        host = host_of(&d, r).n > host ? host_of(&d, r).n : host;
    d.hosts = (int)host * CHAR;
    d.left = (host > 0 ? d.hosts + BRACKET : 0) + MARK + (label > least ? label : least) * CHAR + 4;
    d.column = 100 / (double)(d.ncols > 0 ? d.ncols : 1);
    d.row = d.nrows <= FEW_ROWS ? 20 : 13;
    return d;
}

/* ----------------------------------------------------------------------------------------------------------- cells */

/* Draws a cell; a pointer shows "rank 3, step 12: +12.3 % longer than its peers (20.1 ms of 163 ms)". */
static void draw_cell(const drawing *d, size_t row, size_t column)
{
    const tl_heat_cell *cell = &tl_heat_row(d->heat, row)[column];
    const bool others = row >= d->heat->nshown, missing = isnan(cell->share);
    tl_put_told_box(
        d->out, tl_phrase_of("cell %s", class_of(shade_at(d, row, column))).text, (double)column * d->column, d->column,
        y_of(d, row), d->row, "%s, %s: %s%s%s%s",
        others ? "others, median" : tl_phrase_of("rank %" PRId32, d->heat->ranks[d->heat->shown[row]]).text,
        tl_steps_of_column(d->heat->steps, column).text,
        missing ? "no record" : tl_show_share(cell->share, d->p->shades.both).text, missing ? "" : " ",
        missing ? "" : d->p->cell,
        missing || others
            ? ""
            : tl_phrase_of(" (%s of %s)", tl_show_time(cell->part_ns).text, tl_show_time(cell->whole_ns).text).text);
}

/* Draws a path of the runs of that shade; nothing where there are none. */
static void draw_runs(const drawing *d, int shade)
{
    bool begun = false;
    for (size_t r = 0; r < d->nrows; r++)
        for (size_t c = 0, n; c < d->ncols; c += n) {
            for (n = 1; c + n < d->ncols && shade_at(d, r, c + n) == shade_at(d, r, c); n++)
                ;
            if (shade_at(d, r, c) == shade)
                tl_put_run(d->out, &begun, class_of(shade), c, n, y_of(d, r), d->row - 1);
        }
    tl_end_runs(d->out, begun);
}

static void draw_cells(const drawing *d)
{
    if (d->nrows * d->ncols <= TL_HEAT_CELLS_TOLD) {
        for (size_t r = 0; r < d->nrows; r++)
            for (size_t c = 0; c < d->ncols; c++)
                draw_cell(d, r, c);
        return;
    }
    tl_sheet_begin(d->out, 0, y_of(d, d->nrows), (double)d->ncols);
    for (int shade = -TL_SHADES; shade <= MISSING; shade++)
        draw_runs(d, shade);
    tl_sheet_end(d->out);
}

static void draw_outlines(const drawing *d)
{
    for (size_t i = 0; i < d->p->noutlines; i++) {
        const tl_outline *o = &d->p->outlines[i];
        double x = (double)o->first * d->column, width = (double)(o->last - o->first + 1) * d->column;
        tl_put_box(d->out, "under", x, width, y_of(d, o->row), d->row);
        tl_put_box(d->out, o->weak ? "weak" : "late", x, width, y_of(d, o->row), d->row);
    }
}

/* ------------------------------------------------------------------------------------------------------------ axes */

static void draw_hosts(const drawing *d)
{
    int x = d->hosts + BRACKET - d->left;
    for (size_t r = 0, n; r < d->heat->nshown; r += n) {
        n = rows_of_host(d, r);
        int top = y_of(d, r) + 1, high = (int)n * d->row - 3;
        fprintf(d->out, "<path class=\"axis\" d=\"M%d %dh-4v%dh4\"/>", x - 2, top, high);
        fprintf(d->out, "<text class=\"end\" x=\"%d\" y=\"%d\">", x - BRACKET, top + high / 2 + 4);
        tl_put_markup(d->out, host_of(d, r));
        fputs("</text>\n", d->out);
    }
}

static void draw_ranks(const drawing *d)
{
    tl_put_side(d->out, "quiet", 14, "rank");
    for (size_t r = 0; r < d->nrows; r++) {
        int y = y_of(d, r) + d->row / 2 + 4;
        bool others = r >= d->heat->nshown, named = !others && d->p->named != NULL && d->p->named[r];
        if (named)
            tl_put_mark(d->out, (d->hosts > 0 ? d->hosts + BRACKET + 1 : 1) - d->left, y - 8);
        tl_put_side(d->out, named ? "named" : "", y, "%s",
                    others ? "others" : tl_phrase_of("%" PRId32, d->heat->ranks[d->heat->shown[r]]).text);
    }
}

static void draw_steps(const drawing *d)
{
    const tl_heat_steps *steps = d->heat->steps;
    int y = y_of(d, d->nrows) + 14;
    bool whole = d->ncols == 1 && steps->columns[0].first == -1;

    for (size_t c = 0, stride = (d->ncols + LABELS - 1) / LABELS; c < d->ncols && !whole; c += stride)
        tl_put_at(d->out, "quiet middle", ((double)c + 0.5) * d->column, y, "%" PRId32, steps->columns[c].first);
    tl_put_at(d->out, "quiet", 0, y + 15, "%s%s", whole ? "the whole trace" : "step",
              !whole && steps->run > 1 ? tl_phrase_of(", %zu a column", steps->run).text : "");
}

/* ---------------------------------------------------------------------------------------------------------- legend */

static void draw_scale(const drawing *d)
{
    const tl_shades *shades = &d->p->shades;
    int least = shades->both ? -TL_SHADES : 0, n = TL_SHADES - least + 1, x = MARGIN, end = MARGIN + n * SWATCH;
    fprintf(d->out,
            "<svg role=\"img\" aria-label=\"the shades, in percent %s\" width=\"%d\" height=\"48\" "
            "viewBox=\"0 0 %d 48\">",
            d->p->cell, end + MARGIN, end + MARGIN);
    for (int shade = least; shade <= TL_SHADES; shade++, x += SWATCH) {
        fprintf(d->out, "<rect class=\"%s\" x=\"%d\" y=\"16\" width=\"%d\" height=\"14\"/>", class_of(shade), x,
                SWATCH - 1);
        if (shade > least)
            fprintf(d->out, "<text class=\"middle\" x=\"%d\" y=\"11\">%g</text>", x,
                    100 * shades->limits[shade > 0 ? shade - 1 : -shade]);
    }
    fprintf(d->out, "<text x=\"%d\" y=\"11\">%%</text>", end - SWATCH + 14);
    fprintf(d->out, "<text x=\"%d\" y=\"44\">%s</text>", MARGIN, shades->both ? "shorter" : "less");
    fprintf(d->out, "<text class=\"end\" x=\"%d\" y=\"44\">%s</text></svg>\n", end, shades->both ? "longer" : "more");
}

/* What shades, marks and outlines mean: what the picture has of them. */
static void draw_legend(const drawing *d)
{
    const tl_heat *h = d->heat;
    bool missing = false, named = false, late = false, weak = false;
    for (size_t i = 0; i < d->nrows * d->ncols; i++)
        missing |= isnan(h->cells[i].share);
    for (size_t r = 0; r < h->nshown && d->p->named != NULL; r++)
        named |= d->p->named[r];
    for (size_t i = 0; i < d->p->noutlines; i++) {
        weak |= d->p->outlines[i].weak;
        late |= !d->p->outlines[i].weak;
    }
    const struct {
        bool seen;
        const char *shape, *meaning;
    } entries[] = {
        { named, "<path class=\"mark\" d=\"M7 3l8 4l-8 4z\"/>", "a rank that holds the job up" },
        { late, "<path class=\"late\" d=\"M2 2h18v10h-18z\"/>", d->p->late },
        { weak, "<path class=\"weak\" d=\"M2 2h18v10h-18z\"/>", d->p->weak },
        { missing, "<path class=\"m\" d=\"M1 1h20v12h-20z\"/>", "nothing recorded of the rank" },
    };

    fputs("<div class=\"legend\">", d->out);
    draw_scale(d);
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
        if (entries[i].seen)
            fprintf(
                d->out,
                "<span><svg aria-hidden=\"true\" width=\"22\" height=\"14\" viewBox=\"0 0 22 14\">%s</svg> %s</span>\n",
                entries[i].shape, entries[i].meaning);
    if (h->nothers > 0) {
        size_t hidden = tl_heat_hidden(h);
        fprintf(
            d->out,
            "<span>others: in each column the median of the other %s ranks; of these the largest cell is that of rank "
            "%" PRId32 " in %s, %s</span>\n",
            tl_grouped((int64_t)h->nothers).text, h->ranks[hidden],
            tl_steps_of_column(h->steps, h->of[hidden].most_at).text,
            tl_show_share(h->of[hidden].most, d->p->shades.both).text);
    }
    fputs("</div>\n", d->out);
}

int tl_heat_width(const tl_picture *p)
{
    const drawing d = layout(NULL, p);
    return d.left + (int)d.ncols * WIDEST;
}

void tl_draw_heat(FILE *out, const tl_picture *p)
{
    const drawing d = layout(out, p);
    fprintf(out, "<div style=\"max-width:%dpx\">\n", tl_heat_width(p));
    tl_plot_begin(out, p->id, p->title, p->finding, d.left, y_of(&d, d.nrows) + 34);
    draw_cells(&d);
    draw_outlines(&d);
    if (d.hosts > 0)
        draw_hosts(&d);
    draw_ranks(&d);
    draw_steps(&d);
    tl_plot_end(out);
    fputs("</div>\n", out);
    draw_legend(&d);
}
