/* heat.c - the columns, cells and shades of a heat map. */
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

static void sum_up_ranks(tl_heat *h)
{
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
    sum_up_ranks(h);
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

/* A no-break space keeps a number and its unit together. */
#define NO_BREAK "\xC2\xA0"

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
        return tl_phrase_of("%s%d" NO_BREAK "%% or more", before, MOST);
    return tl_phrase_of("%s%.*f" NO_BREAK "%%", percent < 0.05 ? "" : before, percent < 99.95 ? 1 : 0, percent);
}

tl_phrase tl_show_time(int64_t ns)
{
    int64_t within = tl_ns_within(ns, INT64_MAX); /* the smallest integer has no negative */
    return tl_phrase_of("%s%.24s", within < 0 ? "-" : "", tl_duration(within < 0 ? -within : within).text);
}
