/* legend.c - what the shades of a heat map mean, in percent, and its marks.
 *
 *      50  20  10   5   2   1   1   2   5  10  20  50  %
 *     [b6][b5][b4][b3][b2][b1][n][a1][a2][a3][a4][a5][a6]
 *     shorter                                     longer
 */
#include "layout.h"
#include "tlmpi/report/format/words.h"
#include <inttypes.h>
#include <math.h>

enum { SWATCH = 24, HEIGHT = 14, MARGIN = 8 };

static void draw_limit(FILE *out, int x, double limit)
{
    fprintf(out, "<text class=\"middle\" x=\"%d\" y=\"11\">%g</text>", x, 100 * limit);
}

static void draw_scale(FILE *out, const tl_picture *p)
{
    int least = p->shades.both ? -TL_SHADES : 0, n = TL_SHADES - least + 1, x = MARGIN, end = MARGIN + n * SWATCH;
    fprintf(out,
            "<svg class=\"scale\" role=\"img\" aria-label=\"the shades, in percent %s\" width=\"%d\" height=\"48\" "
            "viewBox=\"0 0 %d 48\">",
            p->cell, end + 3 * MARGIN, end + 3 * MARGIN);
    for (int shade = least; shade <= TL_SHADES; shade++, x += SWATCH) {
        fprintf(out, "<rect class=\"%s\" x=\"%d\" y=\"16\" width=\"%d\" height=\"%d\"/>", tl_class_of(shade), x,
                SWATCH - 1, HEIGHT);
        if (shade > least)
            draw_limit(out, x, p->shades.limits[shade > 0 ? shade - 1 : -shade]);
    }
    fprintf(out, "<text x=\"%d\" y=\"11\">%%</text>", end - SWATCH + 14);
    fprintf(out, "<text x=\"%d\" y=\"44\">%s</text>", MARGIN, p->shades.both ? "shorter" : "less");
    fprintf(out, "<text class=\"end\" x=\"%d\" y=\"44\">%s</text></svg>\n", end, p->shades.both ? "longer" : "more");
}

static void draw_entry(FILE *out, const char *shape, const char *meaning)
{
    fprintf(out,
            "<span><svg aria-hidden=\"true\" width=\"22\" height=\"14\" viewBox=\"0 0 22 14\">%s</svg> %s</span>\n",
            shape, meaning);
}

typedef struct seen {
    bool missing, named, late, weak;
} seen;

static seen seen_in(const tl_picture *p, const tl_layout *l)
{
    seen s = { 0 };
    for (size_t i = 0; i < l->nrows * l->ncols && !s.missing; i++)
        s.missing = isnan(p->heat->cells[i].share);
    for (size_t r = 0; r < p->heat->nshown && p->named != NULL; r++)
        s.named = s.named || p->named[r];
    for (size_t i = 0; i < p->noutlines; i++) {
        s.weak = s.weak || p->outlines[i].weak;
        s.late = s.late || !p->outlines[i].weak;
    }
    return s;
}

/* What the row of the others is, and the most that it hides. */
static void draw_others(FILE *out, const tl_picture *p)
{
    const tl_heat *h = p->heat;
    size_t hidden = tl_heat_hidden(h);
    fprintf(out,
            "<span>others: in each column the median of the other %s ranks; of these the largest cell is that of rank "
            "%" PRId32 " in %s, %s</span>\n",
            tl_grouped((int64_t)h->nothers).text, h->ranks[hidden],
            tl_steps_of_column(h->steps, h->most_at[hidden]).text, tl_show_share(h->most[hidden], p->shades.both).text);
}

void tl_draw_legend(FILE *out, const tl_picture *p, const tl_layout *l)
{
    const seen s = seen_in(p, l);
    fputs("<div class=\"legend\">", out);
    draw_scale(out, p);
    if (s.named)
        draw_entry(out, "<path class=\"mark\" d=\"M7 3l8 4l-8 4z\"/>", "a rank that holds the job up");
    if (s.late)
        draw_entry(out, "<path class=\"late\" d=\"M2 2h18v10h-18z\"/>", p->late);
    if (s.weak)
        draw_entry(out, "<path class=\"weak\" d=\"M2 2h18v10h-18z\"/>", p->weak);
    if (s.missing)
        draw_entry(out, "<path class=\"m\" d=\"M1 1h20v12h-20z\"/>", "nothing recorded of the rank");
    if (p->heat->nothers > 0)
        draw_others(out, p);
    fputs("</div>\n", out);
}
