/* shades.c - which shade a share has, and how it is said. */
#include "heat.h"

#include "tlmpi/base/quantile.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/report/format/words.h"
#include <math.h>

/* A number stays with its unit. */
#define NO_BREAK "\xC2\xA0"

static const double series[] = { 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5 };

enum {
    ONE_PERCENT = 1, /* its place there */
    LAST_FIRST = sizeof series / sizeof series[0] - TL_SHADES
};

static tl_shades shades_from(size_t first, bool both)
{
    tl_shades shades = { .both = both };
    for (size_t k = 0; k < TL_SHADES; k++)
        shades.limits[k] = series[first + k];
    return shades;
}

tl_shades tl_shades_of_parts(void)
{
    return shades_from(ONE_PERCENT, false);
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
    return shades_from(first, true);
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

tl_shown tl_show_share(double share, bool sign)
{
    enum { MOST = 999 }; /* percent: what is more than that need not be told */
    tl_shown word;
    double percent = 100 * fabs(share);
    const char *before = !sign ? "" : share < 0 ? "-" : "+";
    if (percent > MOST)
        snprintf(word.text, sizeof word.text, "%s%d" NO_BREAK "%% or more", before, MOST);
    else
        snprintf(word.text, sizeof word.text, "%s%.*f" NO_BREAK "%%", percent < 0.05 ? "" : before,
                 percent < 99.95 ? 1 : 0, percent);
    return word;
}

tl_shown tl_show_time(int64_t ns)
{
    int64_t within = tl_ns_within(ns, INT64_MAX); /* the smallest integer has no opposite */
    tl_shown word;
    snprintf(word.text, sizeof word.text, "%s%.24s", within < 0 ? "-" : "",
             tl_duration(within < 0 ? -within : within).text);
    return word;
}
