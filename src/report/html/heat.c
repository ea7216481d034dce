/* heat.c - the columns, cells and shades of a heat map, and the map as SVG: cells, outlines, what stands around them,
 * and the legend.
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

#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"
#include <inttypes.h>
#include <math.h>

/* ---------------------------------------------------------------------------------------------------------- columns */

void tl_heat_steps_init(tl_heat_steps *s, size_t nsteps)
{
    const size_t run = nsteps > TL_HEAT_COLUMNS ? (nsteps + TL_HEAT_COLUMNS - 1) / TL_HEAT_COLUMNS : 1;
    *s = (tl_heat_steps){ .run = run, .n = (nsteps + run - 1) / run };
    s->columns = tl_calloc(s->n + 1, sizeof *s->columns);
    for (size_t c = 0; c < s->n; c++)
        s->columns[c] = (tl_heat_column){ INT32_MAX, INT32_MAX };
}

void tl_heat_steps_add(tl_heat_steps *s, int32_t step)
{
    const size_t at = s->seen++ / s->run;
    if (at >= s->n) /* more steps than announced */
        return;
    tl_heat_column *c = &s->columns[at];
    c->first = step < c->first ? step : c->first;
    c->last = step;
}

void tl_heat_steps_free(tl_heat_steps *s)
{
    free(s->columns);
}

size_t tl_heat_steps_of(const tl_heat_steps *s, int32_t step)
{
    size_t at = 0;
    TL_BISECT(at, s->n, mid, s->columns[mid].last < step);
    return at;
}

tl_phrase tl_steps_of_column(const tl_heat_steps *s, size_t column)
{
    const tl_heat_column *c = &s->columns[column];
    if (c->last == -1)
        return tl_phrase_of("the whole trace");
    return c->first == c->last ? tl_phrase_of("step %" PRId32, c->first)
                               : tl_phrase_of("steps %" PRId32 "-%" PRId32, c->first, c->last);
}

/* ------------------------------------------------------------------------------------------------------------ cells */

void tl_heat_init(tl_heat *h, const tl_heat_steps *steps, const int32_t *ranks, size_t nranks)
{
    *h = (tl_heat){ .steps = steps, .ranks = ranks, .nranks = nranks };
    h->of = tl_calloc(nranks + 1, sizeof *h->of);
    h->cells = tl_calloc(nranks * steps->n + 1, sizeof *h->cells);
}

void tl_heat_free(tl_heat *h)
{
    free(h->of);
    free(h->cells);
    free(h->order);
    free(h->shown);
    free(h->others);
}

static void add_to_cell(tl_heat_cell *sum, int64_t part_ns, int64_t whole_ns, int32_t n, bool late)
{
    sum->part_ns = tl_ns_sum(sum->part_ns, part_ns);
    sum->whole_ns = tl_ns_sum(sum->whole_ns, whole_ns);
    sum->n += n;
    sum->late |= late;
}

void tl_heat_add(tl_heat *h, size_t rank, size_t column, int64_t part_ns, int64_t whole_ns, bool late)
{
    if (column < h->steps->n)
        add_to_cell(&h->cells[rank * h->steps->n + column], part_ns, whole_ns, 1, late);
}

double tl_heat_share(const tl_heat_cell *cell)
{
    enum { FURTHEST = 1000 };
    if (cell->part_ns == 0)
        return 0;
    double share = cell->whole_ns > 0  ? (double)cell->part_ns / (double)cell->whole_ns
                   : cell->part_ns < 0 ? -FURTHEST
                                       : FURTHEST;
    return fmax(-FURTHEST, fmin(share, FURTHEST));
}

static int compare_worst(const void *of, uint32_t a, uint32_t b)
{
    const tl_heat_rank *x = (const tl_heat_rank *)of + a, *y = (const tl_heat_rank *)of + b;
    if (x->keep != y->keep)
        return x->keep ? -1 : 1;
    if ((x->total.n > 0) != (y->total.n > 0))
        return x->total.n > 0 ? -1 : 1;
    return TL_COMPARE(y->total.part_ns, x->total.part_ns);
}

/* Finds the median shares of the ranks without a row, and which of these ranks has the largest cell. */
static void sum_up_others(tl_heat *h)
{
    double *shares = tl_calloc(h->nranks + 1, sizeof *shares);
    h->others = tl_calloc(h->steps->n + 1, sizeof *h->others);
    for (size_t c = 0; c < h->steps->n; c++) {
        size_t n = 0;
        for (size_t i = 0; i < h->nranks; i++) {
            const tl_heat_cell *cell = &h->cells[i * h->steps->n + c];
            if (!h->of[i].shown && cell->n > 0)
                shares[n++] = tl_heat_share(cell);
        }
        h->others[c] = tl_real_median(shares, n);
    }
    for (size_t i = 0; i < h->nranks; i++)
        if (!h->of[i].shown && h->of[i].total.n > 0 && (h->nothers++ == 0 || h->of[i].most > h->of[h->hidden].most))
            h->hidden = i;
    free(shares);
}

void tl_heat_end(tl_heat *h)
{
    const size_t rows = h->nranks <= TL_HEAT_ROWS ? h->nranks : TL_HEAT_WORST;
    for (size_t i = 0; i < h->nranks; i++) {
        tl_heat_rank *of = &h->of[i];
        of->most = -INFINITY;
        for (size_t c = 0; c < h->steps->n; c++) {
            const tl_heat_cell *cell = &h->cells[i * h->steps->n + c];
            if (cell->n == 0)
                continue;
            add_to_cell(&of->total, cell->part_ns, cell->whole_ns, cell->n, cell->late);
            double share = tl_heat_share(cell);
            of->most_at = share > of->most ? c : of->most_at;
            of->most = fmax(of->most, share);
        }
    }
    h->order = tl_sorted_index(h->nranks, compare_worst, h->of);
    for (size_t i = 0; i < rows; i++)
        h->of[h->order[i]].shown = true;
    h->shown = tl_calloc(rows + 1, sizeof *h->shown);
    for (size_t i = 0; i < h->nranks; i++)
        if (h->of[i].shown)
            h->shown[h->nshown++] = (uint32_t)i;
    sum_up_others(h);
}

size_t tl_heat_nrows(const tl_heat *h)
{
    return h->nshown + (h->nothers > 0);
}

double tl_heat_at(const tl_heat *h, size_t row, size_t column)
{
    if (row == h->nshown)
        return h->others[column];
    const tl_heat_cell *cell = &h->cells[h->shown[row] * h->steps->n + column];
    return cell->n > 0 ? tl_heat_share(cell) : NAN;
}

size_t tl_heat_worst(const tl_heat *h, bool shortest)
{
    const int sign = shortest ? -1 : 1;
    size_t at = SIZE_MAX;
    for (size_t i = 0; i < h->nranks; i++)
        if (h->of[i].total.n > 0 &&
            (at == SIZE_MAX || TL_COMPARE(h->of[i].total.part_ns, h->of[at].total.part_ns) == sign))
            at = i;
    return at;
}

/* ----------------------------------------------------------------------------------------------------------- shades */

static const double series[] = { 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5 };

enum {
    ONE_PERCENT = 1, /* index of one percent in the table of limits */
    LAST_FIRST = sizeof series / sizeof series[0] - TL_SHADES
};

tl_shades tl_shades_of_parts(void)
{
    return (tl_shades){ false, &series[ONE_PERCENT] };
}

tl_shades tl_shades_by_scatter(const tl_heat *h)
{
    double scatters[TL_HEAT_ROWS], cells[TL_HEAT_COLUMNS];
    size_t nscatters = 0, first = 0;
    for (size_t r = 0; r < h->nshown; r++) { /* the median distance of a row's cells from their median */
        size_t n = 0;
        for (size_t c = 0; c < h->steps->n; c++)
            if (!isnan(tl_heat_at(h, r, c)))
                cells[n++] = tl_heat_at(h, r, c);
        double middle = tl_real_median(cells, n);
        for (size_t c = 0; c < n; c++)
            cells[c] = fabs(cells[c] - middle);
        if (n > 0)
            scatters[nscatters++] = tl_real_median(cells, n);
    }
    double chance = nscatters > 0 ? TL_SHADE_SCATTERS * tl_real_median(scatters, nscatters) : 0;
    while (first < LAST_FIRST && series[first] < chance)
        first++;
    return (tl_shades){ true, &series[first] };
}

int tl_shade_of(const tl_shades *s, double share)
{
    int shade = 0;
    while (shade < TL_SHADES && fabs(share) >= s->limits[shade])
        shade++;
    return share >= 0 ? shade : s->both ? -shade : 0;
}

tl_phrase tl_show_share(double share, bool sign)
{
    enum { MOST = 999 }; /* percent: a larger share is shown as "more than 999 %" */
    double percent = 100 * fabs(share);
    const char *before = !sign ? "" : share < 0 ? "-" : "+";
    if (percent > MOST)
        return tl_phrase_of("%s%d %% or more", before, MOST);
    return tl_phrase_of("%s%.20s", percent < 100 * TL_LEAST_SHOWN ? "" : before, tl_share_in_words(percent / 100).text);
}

/* ---------------------------------------------------------------------------------------------------------- picture */

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
            what = tl_phrase_of("%.200s (%s of %s)", what.text, tl_duration(cell->part_ns).text,
                                tl_duration(cell->whole_ns).text);
    }
    tl_put_told_box(d->out, tl_phrase_of("cell %s", class_of(shade_at(d, row, column))).text, (double)column * d->wide,
                    d->wide, y_of(d, row), d->p->rows.pitch, "%s, %s: %s", who.text,
                    tl_steps_of_column(h->steps, column).text, what.text);
}

static void draw_cells(const drawing *d)
{
    for (size_t i = 0; i < d->nrows * d->ncols && d->nrows * d->ncols <= TL_HEAT_CELLS_TOLD; i++)
        draw_cell(d, i / d->ncols, i % d->ncols);
    if (d->nrows * d->ncols <= TL_HEAT_CELLS_TOLD)
        return;
    tl_sheet_begin(d->out, y_of(d, d->nrows), (double)d->ncols);
    for (int shade = -TL_SHADES; shade <= MISSING; shade++) { /* all runs of one shade are a path */
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
    tl_plot_end(d->out);
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
    TL_EACH (const tl_outline, o, p->outlines) {
        double x = (double)o->first * d.wide, width = (double)(o->last - o->first + 1) * d.wide;
        tl_put_box(out, "under", x, width, y_of(&d, o->row), p->rows.pitch);
        tl_put_box(out, o->weak ? "weak" : "late", x, width, y_of(&d, o->row), p->rows.pitch);
    }
    const tl_heat_steps *steps = p->heat->steps;
    const int y = y_of(&d, d.nrows) + 14;
    const bool whole = ncols == 1 && steps->columns[0].first == -1;
    for (size_t c = 0, stride = (ncols + LABELS - 1) / LABELS; c < ncols && !whole; c += stride)
        tl_put_at(out, "quiet middle", ((double)c + 0.5) * d.wide, y, "%" PRId32, steps->columns[c].first);
    tl_put_at(out, "quiet", 0, y + 15, "%s%s", whole ? "the whole trace" : "step",
              steps->run > 1 ? tl_phrase_of(", %zu a column", steps->run).text : "");
    tl_plot_end(out);
    fputs("</div>\n", out);
    draw_legend(&d);
}
