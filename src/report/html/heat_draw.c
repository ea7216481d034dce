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
#include "heat.h"

#include "tlmpi/report/format/markup.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* In pixels. */
enum {
    CHAR = 7, /* width of a character, at most */
    LINE = 16,
    MARK = 12,
    BRACKET = 10,
    PLOT = 720, /* width of the cells, at most */
    WIDEST = 40,
    FEW_ROWS = 16, /* that are high */
    SWATCH = 24,   /* of the legend */
    MARGIN = 8
};

/* A cell without a record, beside the shades. */
enum { MISSING = TL_SHADES + 1 };

/* A picture, and where its things stand. */
typedef struct drawing {
    FILE *out;
    const tl_picture *p;
    const tl_heat *heat;
    size_t nrows, ncols;
    int left, top;     /* of the cells */
    int column, row;   /* width and height of a cell */
    int gap;           /* before the row of the others */
    int width, height; /* of all */
    int hosts;         /* width of their names; 0: none */
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

static int x_of(const drawing *d, size_t column)
{
    return d->left + (int)column * d->column;
}

/* The upper edge of a row. */
static int y_of(const drawing *d, size_t row)
{
    return d->top + (int)row * d->row + (row >= d->heat->nshown ? d->gap : 0);
}

/* The host of a row's rank, as it is shown; empty where it is not known. */
static tl_text host_of(const drawing *d, size_t row)
{
    const tl_rank *found = NULL;
    if (d->p->hosts != NULL && row < d->heat->nshown)
        found = tl_row_of_rank(d->p->hosts, d->heat->ranks[d->heat->shown[row]]);
    if (found == NULL)
        return TL_TEXT("");
    size_t n = tl_host_length(found->host, sizeof found->host);
    return (tl_text){ found->host, n < TL_HOST_SHOWN ? n : tl_text_utf8((tl_text){ found->host, TL_HOST_SHOWN }) };
}

/* How many rows from this one on are of one host. */
static size_t rows_of_host(const drawing *d, size_t row)
{
    size_t n = 1;
    while (row + n < d->heat->nshown && tl_text_compare(host_of(d, row), host_of(d, row + n)) == 0)
        n++;
    return n;
}

static int digits_of(int32_t number)
{
    return snprintf(NULL, 0, "%" PRId32, number);
}

static drawing layout(FILE *out, const tl_picture *p)
{
    const tl_heat *h = p->heat;
    drawing d = { .out = out, .p = p, .heat = h, .nrows = tl_heat_nrows(h), .ncols = h->steps->n };
    int label = h->nshown > 0 ? digits_of(h->ranks[h->shown[h->nshown - 1]]) : 1,
        least = (int)strlen(h->nothers > 0 ? "others" : "rank");
    size_t host = 0; /* the longest name; none is shown where not two differ */

    for (size_t r = 0; r < h->nshown && rows_of_host(&d, 0) < h->nshown; r++)
        host = host_of(&d, r).n > host ? host_of(&d, r).n : host;
    d.hosts = (int)host * CHAR;
    d.left = (host > 0 ? d.hosts + BRACKET : 0) + MARK + (label > least ? label : least) * CHAR + 4;
    d.top = LINE + 4;
    d.column = d.ncols > 0 && PLOT / (int)d.ncols < WIDEST ? PLOT / (int)d.ncols : WIDEST;
    d.row = d.nrows <= FEW_ROWS ? 20 : 13;
    d.gap = h->nothers > 0 ? 5 : 0;
    d.height = d.top + (int)d.nrows * d.row + d.gap + 2 * LINE + 6;
    d.width = d.left + (int)d.ncols * d.column + 2 * CHAR;
    d.width = d.width < 200 ? 200 : d.width;
    return d;
}

/* ----------------------------------------------------------------------------------------------------------- cells */

/* "rank 3, step 12: +12.3 % longer than its peers (20.1 ms of 163 ms)" */
static void tell_cell(const drawing *d, size_t row, size_t column)
{
    const tl_heat_cell *cell = &tl_heat_row(d->heat, row)[column];
    bool others = row >= d->heat->nshown;
    fputs("<title>", d->out);
    if (others)
        fputs("others, median", d->out);
    else
        fprintf(d->out, "rank %" PRId32, d->heat->ranks[d->heat->shown[row]]);
    fprintf(d->out, ", %s: ", tl_steps_of_column(d->heat->steps, column).text);
    if (isnan(cell->share))
        fputs("no record", d->out);
    else
        fprintf(d->out, "%s %s", tl_show_share(cell->share, d->p->shades.both).text, d->p->cell);
    if (!isnan(cell->share) && !others)
        fprintf(d->out, " (%s of %s)", tl_show_time(cell->part_ns).text, tl_show_time(cell->whole_ns).text);
    fputs("</title>", d->out);
}

static void draw_cells(const drawing *d)
{
    int air = d->column >= 6; /* a line between cells that are wide enough */
    for (size_t r = 0; r < d->nrows; r++)
        for (size_t c = 0; c < d->ncols; c++) {
            fprintf(d->out, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\">",
                    class_of(shade_at(d, r, c)), x_of(d, c), y_of(d, r), d->column - air, d->row - 1);
            tell_cell(d, r, c);
            fputs("</rect>\n", d->out);
        }
}

/* The part of a path that is the cells of a row from one column on. */
static void draw_piece(const drawing *d, size_t row, size_t column, size_t n)
{
    int width = (int)n * d->column;
    fprintf(d->out, "M%d %dh%dv%dh%dz", x_of(d, column), y_of(d, row), width, d->row - 1, -width);
}

/* A path of the runs of that shade; nothing where there are none. */
static void draw_runs(const drawing *d, int shade)
{
    bool begun = false;
    for (size_t r = 0; r < d->nrows; r++)
        for (size_t c = 0, n; c < d->ncols; c += n) {
            for (n = 1; c + n < d->ncols && shade_at(d, r, c + n) == shade_at(d, r, c); n++)
                ;
            if (shade_at(d, r, c) != shade)
                continue;
            if (!begun)
                fprintf(d->out, "<path class=\"%s\" d=\"", class_of(shade));
            begun = true;
            draw_piece(d, r, c, n);
        }
    if (begun)
        fputs("\"/>\n", d->out);
}

static void draw_shades(const drawing *d)
{
    fputs("<path class=\"n\" d=\"", d->out);
    for (size_t r = 0; r < d->nrows; r++)
        draw_piece(d, r, 0, d->ncols);
    fputs("\"/>\n", d->out);
    for (int shade = -TL_SHADES; shade <= MISSING; shade++)
        if (shade != 0)
            draw_runs(d, shade);
}

static void draw_outlines(const drawing *d)
{
    for (size_t i = 0; i < d->p->noutlines; i++) {
        const tl_outline *o = &d->p->outlines[i];
        int x = x_of(d, o->first) - 1, width = (int)(o->last - o->first + 1) * d->column + 1, y = y_of(d, o->row) - 1;
        fprintf(d->out, "<path class=\"under\" d=\"M%d %dh%dv%dh%dz\"/>", x, y, width, d->row + 1, -width);
        fprintf(d->out, "<path class=\"%s\" d=\"M%d %dh%dv%dh%dz\"/>\n", o->weak ? "weak" : "late", x, y, width,
                d->row + 1, -width);
    }
}

/* ------------------------------------------------------------------------------------------------------------ axes */

static void draw_hosts(const drawing *d)
{
    for (size_t r = 0, n; r < d->heat->nshown; r += n) {
        n = rows_of_host(d, r);
        int top = y_of(d, r) + 1, high = (int)n * d->row - 3;
        fprintf(d->out, "<path class=\"axis\" d=\"M%d %dh-4v%dh4\"/>", d->hosts + BRACKET - 2, top, high);
        fprintf(d->out, "<text class=\"end\" x=\"%d\" y=\"%d\">", d->hosts, top + high / 2 + 4);
        tl_put_markup(d->out, host_of(d, r));
        fputs("</text>\n", d->out);
    }
}

static void draw_ranks(const drawing *d)
{
    int x = d->left - 6;
    fprintf(d->out, "<text class=\"axis-name end\" x=\"%d\" y=\"%d\">rank</text>\n", x, d->top - 6);
    for (size_t r = 0; r < d->nrows; r++) {
        int y = y_of(d, r) + d->row / 2 + 4;
        bool others = r >= d->heat->nshown, named = !others && d->p->named != NULL && d->p->named[r];
        if (named)
            fprintf(d->out, "<path class=\"mark\" d=\"M%d %dl8 4l-8 4z\"/>", d->hosts > 0 ? d->hosts + BRACKET + 1 : 1,
                    y - 8);
        fprintf(d->out, "<text class=\"%s\" x=\"%d\" y=\"%d\">", named ? "end named" : "end", x, y);
        if (others)
            fputs("others</text>\n", d->out);
        else
            fprintf(d->out, "%" PRId32 "</text>\n", d->heat->ranks[d->heat->shown[r]]);
    }
}

/* Columns from one step label to the next: the least of 1, 2, 5, 10 ... that leaves room for the widest label. */
static size_t stride_of(const drawing *d)
{
    int widest = 1;
    size_t stride = 1;
    for (size_t c = 0; c < d->ncols; c++) {
        int digits = digits_of(d->heat->steps->columns[c].first);
        widest = digits > widest ? digits : widest;
    }
    for (size_t k = 0; stride * (size_t)d->column < (size_t)((widest + 2) * CHAR); k++)
        stride = k % 3 == 1 ? stride * 5 / 2 : stride * 2;
    return stride;
}

static void draw_steps(const drawing *d)
{
    const tl_heat_steps *steps = d->heat->steps;
    int y = y_of(d, d->nrows) + (d->nrows > d->heat->nshown ? 0 : d->gap) + LINE - 2;
    bool whole = d->ncols == 1 && steps->columns[0].first == -1;

    for (size_t c = 0, stride = stride_of(d); c < d->ncols && !whole; c += stride) {
        int x = x_of(d, c) + d->column / 2;
        fprintf(d->out, "<path class=\"axis\" d=\"M%d %dv4\"/>", x, y - LINE + 2);
        fprintf(d->out, "<text class=\"middle\" x=\"%d\" y=\"%d\">%" PRId32 "</text>\n", x, y, steps->columns[c].first);
    }
    fprintf(d->out, "<text class=\"axis-name\" x=\"%d\" y=\"%d\">%s", d->left, y + LINE,
            whole ? "the whole trace" : "step");
    if (!whole && steps->run > 1)
        fprintf(d->out, ", %zu a column", steps->run);
    fputs("</text>\n", d->out);
}

/* ---------------------------------------------------------------------------------------------------------- legend */

static void draw_scale(const drawing *d)
{
    const tl_shades *shades = &d->p->shades;
    int least = shades->both ? -TL_SHADES : 0, n = TL_SHADES - least + 1, x = MARGIN, end = MARGIN + n * SWATCH;
    fprintf(d->out,
            "<svg class=\"scale\" role=\"img\" aria-label=\"the shades, in percent %s\" width=\"%d\" height=\"48\" "
            "viewBox=\"0 0 %d 48\">",
            d->p->cell, end + 3 * MARGIN, end + 3 * MARGIN);
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
            tl_steps_of_column(h->steps, h->most_at[hidden]).text,
            tl_show_share(h->most[hidden], d->p->shades.both).text);
    }
    fputs("</div>\n", d->out);
}

void tl_draw_heat(FILE *out, const tl_picture *p)
{
    const drawing d = layout(out, p);
    fprintf(out,
            "<div class=\"wide\"><svg role=\"img\" aria-labelledby=\"%s-title %s-says\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\">\n<title id=\"%s-title\">",
            p->id, p->id, d.width, d.height, d.width, d.height, p->id);
    tl_put_markup_word(out, p->title);
    fprintf(out, "</title><desc id=\"%s-says\">", p->id);
    tl_put_markup_word(out, p->finding);
    fputs("</desc>\n", out);
    if (d.nrows * d.ncols <= TL_HEAT_CELLS_TOLD)
        draw_cells(&d);
    else
        draw_shades(&d);
    draw_outlines(&d);
    if (d.hosts > 0)
        draw_hosts(&d);
    draw_ranks(&d);
    draw_steps(&d);
    fputs("</svg></div>\n", out);
    draw_legend(&d);
}
