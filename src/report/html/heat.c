/* heat.c - the columns, cells and shades of a heat map, gathered while the rows of a table go by. */
#include "heat.h"

#include "tlmpi/base/group.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* --------------------------------------------------------------------------------------------------------- columns */

void tl_heat_steps_init(tl_heat_steps *s, size_t nsteps)
{
    *s = (tl_heat_steps){ .nsteps = nsteps };
    s->run = nsteps > TL_HEAT_COLUMNS ? (nsteps + TL_HEAT_COLUMNS - 1) / TL_HEAT_COLUMNS : 1;
    s->n = (nsteps + s->run - 1) / s->run;
    s->columns = tl_calloc(s->n + 1, sizeof *s->columns);
    for (size_t c = 0; c < s->n; c++)
        s->columns[c] = (tl_heat_column){ INT32_MAX, INT32_MIN };
}

void tl_heat_steps_free(tl_heat_steps *s)
{
    free(s->columns);
    *s = (tl_heat_steps){ 0 };
}

bool tl_heat_steps_fills(const tl_heat_steps *s, int32_t step)
{
    return s->seen > 0 && step != s->step && s->seen % s->run == 0 && s->seen / s->run < s->n;
}

void tl_heat_steps_enter(tl_heat_steps *s, int32_t step)
{
    if (s->n == 0 || (s->seen > 0 && s->step == step))
        return;
    s->seen++;
    s->step = step;
    tl_heat_column *c = &s->columns[tl_heat_steps_now(s)];
    c->first = step < c->first ? step : c->first;
    c->last = step > c->last ? step : c->last;
}

size_t tl_heat_steps_now(const tl_heat_steps *s)
{
    size_t at = s->seen > 0 ? (s->seen - 1) / s->run : 0;
    return at < s->n ? at : s->n - 1; /* where more steps come than were told */
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
    if (c->first == -1 && c->last == -1)
        return tl_phrase_of("the whole trace");
    return c->first == c->last ? tl_phrase_of("step %" PRId32, c->first)
                               : tl_phrase_of("steps %" PRId32 "-%" PRId32, c->first, c->last);
}

/* ------------------------------------------------------------------------------------------------------------- rows */

static int compare_worst(const void *context, uint32_t a, uint32_t b)
{
    const tl_heat_rank *of = context;
    if (of[a].keep != of[b].keep)
        return of[a].keep ? -1 : 1;
    return TL_COMPARE(of[b].by_ns, of[a].by_ns);
}

void tl_heat_init(tl_heat *h, const tl_heat_steps *steps, const int32_t *ranks, size_t nranks)
{
    *h = (tl_heat){ .steps = steps, .ranks = ranks, .nranks = nranks };
    h->of = tl_calloc(nranks + 1, sizeof *h->of);
    h->scratch = tl_calloc(nranks + steps->n + 1, sizeof *h->scratch);
}

void tl_heat_choose(tl_heat *h)
{
    const size_t rows = h->nranks <= TL_HEAT_ROWS ? h->nranks : TL_HEAT_WORST, ncells = (rows + 1) * h->steps->n;
    uint32_t *index = tl_sorted_index(h->nranks, compare_worst, h->of);
    for (size_t i = 0; i < rows; i++)
        h->of[index[i]].shown = true;
    free(index);
    h->shown = tl_calloc(rows + 1, sizeof *h->shown);
    for (size_t i = 0; i < h->nranks; i++) {
        h->of[i].most_at = SIZE_MAX;
        if (h->of[i].shown)
            h->shown[h->nshown++] = (uint32_t)i;
    }
    h->cells = tl_calloc(ncells + 1, sizeof *h->cells);
    for (size_t i = 0; i < ncells; i++)
        h->cells[i].share = NAN;
}

void tl_heat_free(tl_heat *h)
{
    free(h->of);
    free(h->shown);
    free(h->cells);
    free(h->scratch);
    *h = (tl_heat){ 0 };
}

/* ------------------------------------------------------------------------------------------------------------ cells */

double tl_heat_share(int64_t part_ns, int64_t whole_ns)
{
    enum { FURTHEST = 1000 };
    if (part_ns == 0)
        return 0;
    double share = whole_ns > 0 ? (double)part_ns / (double)whole_ns : part_ns < 0 ? -FURTHEST : FURTHEST;
    return fmax(-FURTHEST, fmin(share, FURTHEST));
}

static void add(tl_heat_sum *sum, int64_t part_ns, int64_t whole_ns, int64_t n, bool late)
{
    sum->part_ns = tl_ns_sum(sum->part_ns, part_ns);
    sum->whole_ns = tl_ns_sum(sum->whole_ns, whole_ns);
    sum->n += n;
    sum->late = sum->late || late;
}

void tl_heat_add(tl_heat *h, size_t rank, int64_t part_ns, int64_t whole_ns, bool late)
{
    add(&h->of[rank].now, part_ns, whole_ns, 1, late);
}

void tl_heat_close(tl_heat *h)
{
    size_t columns = h->steps->n, c = columns > 0 ? tl_heat_steps_now(h->steps) : 0, n = 0, row = 0;
    if (columns == 0)
        return;

    for (size_t i = 0; i < h->nranks; i++) {
        tl_heat_sum *sum = &h->of[i].now;
        const bool shown = h->of[i].shown;
        const size_t at = row * columns + c;
        row += shown;
        if (sum->n == 0)
            continue;
        double share = tl_heat_share(sum->part_ns, sum->whole_ns);
        if (shown)
            h->cells[at] = (tl_heat_cell){ share, sum->part_ns, sum->whole_ns, sum->late };
        else
            h->scratch[n++] = share;
        if (h->of[i].most_at == SIZE_MAX || share > h->of[i].most) {
            h->of[i].most_at = c;
            h->of[i].most = share;
        }
        add(&h->of[i].total, sum->part_ns, sum->whole_ns, sum->n, sum->late);
        *sum = (tl_heat_sum){ 0 };
    }
    h->cells[h->nshown * columns + c].share = tl_real_median(h->scratch, n);
}

void tl_heat_end(tl_heat *h)
{
    if (h->steps->seen > 0)
        tl_heat_close(h);
    h->nothers = 0;
    for (size_t i = 0; i < h->nranks; i++)
        h->nothers += !h->of[i].shown && h->of[i].total.n > 0;
}

size_t tl_heat_nrows(const tl_heat *h)
{
    return h->nshown + (h->nothers > 0);
}

const tl_heat_cell *tl_heat_row(const tl_heat *h, size_t row)
{
    return &h->cells[row * h->steps->n];
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

size_t tl_heat_hidden(const tl_heat *h)
{
    size_t most = SIZE_MAX;
    for (size_t i = 0; i < h->nranks; i++)
        if (!h->of[i].shown && h->of[i].total.n > 0 && (most == SIZE_MAX || h->of[i].most > h->of[most].most))
            most = i;
    return most;
}

/* ---------------------------------------------------------------------------------------------------------- shades */

/* A number stays with its unit. */
#define NO_BREAK "\xC2\xA0"

static const double series[] = { 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5 };

enum {
    ONE_PERCENT = 1, /* its place there */
    LAST_FIRST = sizeof series / sizeof series[0] - TL_SHADES
};

tl_shades tl_shades_of_parts(void)
{
    return (tl_shades){ false, &series[ONE_PERCENT] };
}

/* The median distance of a row's cells from their median; NaN: it has none. */
static double scatter_of(const tl_heat *h, size_t row)
{
    const tl_heat_cell *cells = tl_heat_row(h, row);
    size_t n = 0;
    for (size_t c = 0; c < h->steps->n; c++)
        if (!isnan(cells[c].share))
            h->scratch[n++] = cells[c].share;
    double middle = tl_real_median(h->scratch, n);
    for (size_t c = 0; c < n; c++)
        h->scratch[c] = fabs(h->scratch[c] - middle);
    return tl_real_median(h->scratch, n);
}

tl_shades tl_shades_by_scatter(const tl_heat *h)
{
    double scatters[TL_HEAT_ROWS];
    size_t n = 0, first = 0;
    for (size_t r = 0; r < h->nshown; r++) {
        double scatter = scatter_of(h, r);
        if (!isnan(scatter))
            scatters[n++] = scatter;
    }
    double chance = n > 0 ? TL_SHADE_SCATTERS * tl_real_median(scatters, n) : 0;
    while (first < LAST_FIRST && series[first] < chance)
        first++;
    return (tl_shades){ true, &series[first] };
}

int tl_shade_of(const tl_shades *s, double share)
{
    double size = fabs(share);
    int shade = 0;
    if (!s->both && share < 0)
        return 0;
    while (shade < TL_SHADES && size >= s->limits[shade])
        shade++;
    return share < 0 ? -shade : shade;
}

tl_phrase tl_show_share(double share, bool sign)
{
    enum { MOST = 999 }; /* percent: what is more than that need not be told */
    double percent = 100 * fabs(share);
    const char *before = !sign ? "" : share < 0 ? "-" : "+";
    if (percent > MOST)
        return tl_phrase_of("%s%d" NO_BREAK "%% or more", before, MOST);
    return tl_phrase_of("%s%.*f" NO_BREAK "%%", percent < 0.05 ? "" : before, percent < 99.95 ? 1 : 0, percent);
}

tl_phrase tl_heat_share_of(const tl_heat *h, size_t rank, bool sign)
{
    return tl_show_share(tl_heat_share(h->of[rank].total.part_ns, h->of[rank].total.whole_ns), sign);
}

tl_phrase tl_show_time(int64_t ns)
{
    int64_t within = tl_ns_within(ns, INT64_MAX); /* the smallest integer has no opposite */
    return tl_phrase_of("%s%.24s", within < 0 ? "-" : "", tl_duration(within < 0 ? -within : within).text);
}
