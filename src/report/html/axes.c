/* axes.c - what stands around the cells of a heat map: ranks and their hosts, steps.
 *
 *              rank
 *     node0 [     0  ......
 *           [     1  ......
 *     node1 [  >  2  ..##..      > a rank that is named
 *           [     3  ......
 *            others  ......
 *                    1    5   step
 */
#include "layout.h"

#include "tlmpi/report/format/markup.h"
#include "tlmpi/report/format/words.h"
#include <inttypes.h>

enum {
    CHAR = 7, /* width of a character, at most */
    LINE = 16,
    MARK = 12,
    BRACKET = 10,
    PLOT = 720, /* width of the cells, at most */
    WIDEST = 40,
    FEW_ROWS = 16 /* that are high */
};

const char *tl_class_of(int shade)
{
    static const char *const classes[] = {
        "b6", "b5", "b4", "b3", "b2", "b1", "n", "a1", "a2", "a3", "a4", "a5", "a6"
    };
    return classes[shade + TL_SHADES];
}

/* ------------------------------------------------------------------------------------------------------------ hosts */

tl_text tl_picture_host(const tl_picture *p, size_t row)
{
    const tl_table *hosts = p->hosts;
    if (hosts == NULL || row >= p->heat->nshown)
        return TL_TEXT("");
    int32_t rank = p->heat->ranks[p->heat->shown[row]];
    size_t at = tl_table_from_rank(hosts, rank);
    const tl_rank *found = at < hosts->n ? tl_table_row(hosts, at) : NULL;
    if (found == NULL || found->rank != rank)
        return TL_TEXT("");
    size_t n = tl_host_length(found->host, sizeof found->host);
    return (tl_text){ found->host, n < TL_HOST_SHOWN ? n : tl_text_utf8((tl_text){ found->host, TL_HOST_SHOWN }) };
}

/* The longest name; 0 where not two differ. */
static size_t longest_host(const tl_picture *p)
{
    size_t longest = 0;
    bool differ = false;
    for (size_t r = 0; r < p->heat->nshown; r++) {
        tl_text host = tl_picture_host(p, r);
        longest = host.n > longest ? host.n : longest;
        differ = differ || (r > 0 && tl_text_compare(host, tl_picture_host(p, r - 1)) != 0);
    }
    return differ ? longest : 0;
}

static void draw_hosts(FILE *out, const tl_picture *p, const tl_layout *l)
{
    for (size_t r = 0, n; r < p->heat->nshown; r += n) {
        tl_text host = tl_picture_host(p, r);
        for (n = 1; r + n < p->heat->nshown && tl_text_compare(host, tl_picture_host(p, r + n)) == 0; n++)
            ;
        int top = tl_layout_y(l, p, r) + 1, high = (int)n * l->row - 3;
        fprintf(out, "<path class=\"axis\" d=\"M%d %dh-4v%dh4\"/>", l->hosts + BRACKET - 2, top, high);
        fprintf(out, "<text class=\"end\" x=\"%d\" y=\"%d\">", l->hosts, top + high / 2 + 4);
        tl_put_markup(out, host);
        fputs("</text>\n", out);
    }
}

/* ----------------------------------------------------------------------------------------------------------- layout */

static int digits_of(int32_t number)
{
    return snprintf(NULL, 0, "%" PRId32, number);
}

tl_layout tl_layout_of(const tl_picture *p)
{
    const tl_heat *h = p->heat;
    tl_layout l = { .nrows = tl_heat_nrows(h), .ncols = h->steps->n };
    int label = h->nshown > 0 ? digits_of(h->ranks[h->shown[h->nshown - 1]]) : 1, least = (int)strlen("rank");
    size_t host = longest_host(p);

    if (h->nothers > 0)
        least = (int)strlen("others");
    label = (label > least ? label : least) * CHAR;
    l.hosts = (int)host * CHAR;
    l.left = (host > 0 ? l.hosts + BRACKET : 0) + MARK + label + 4;
    l.top = LINE + 4;
    l.column = l.ncols > 0 ? PLOT / (int)l.ncols : WIDEST;
    l.column = l.column > WIDEST ? WIDEST : l.column;
    l.row = l.nrows <= FEW_ROWS ? 20 : 13;
    l.gap = h->nothers > 0 ? 5 : 0;
    l.height = l.top + (int)l.nrows * l.row + l.gap + 2 * LINE + 6;
    l.width = l.left + (int)l.ncols * l.column + 2 * CHAR;
    l.width = l.width < 200 ? 200 : l.width;
    l.told = l.nrows * l.ncols <= TL_HEAT_CELLS_TOLD;
    return l;
}

int tl_layout_y(const tl_layout *l, const tl_picture *p, size_t row)
{
    return l->top + (int)row * l->row + (row >= p->heat->nshown ? l->gap : 0);
}

/* ------------------------------------------------------------------------------------------------------------- axes */

static void draw_ranks(FILE *out, const tl_picture *p, const tl_layout *l)
{
    int x = l->left - 6;
    fprintf(out, "<text class=\"axis-name end\" x=\"%d\" y=\"%d\">rank</text>\n", x, l->top - 6);
    for (size_t r = 0; r < l->nrows; r++) {
        int y = tl_layout_y(l, p, r) + l->row / 2 + 4;
        bool others = r >= p->heat->nshown, named = !others && p->named != NULL && p->named[r];
        if (named)
            fprintf(out, "<path class=\"mark\" d=\"M%d %dl8 4l-8 4z\"/>", l->hosts > 0 ? l->hosts + BRACKET + 1 : 1,
                    y - 8);
        fprintf(out, "<text class=\"%s\" x=\"%d\" y=\"%d\">", named ? "end named" : "end", x, y);
        if (others)
            fputs("others</text>\n", out);
        else
            fprintf(out, "%" PRId32 "</text>\n", p->heat->ranks[p->heat->shown[r]]);
    }
}

/* Columns from one step label to the next: the least of 1, 2, 5, 10 ... that leaves room for the widest label. */
static size_t stride_of(const tl_heat_steps *steps, const tl_layout *l)
{
    int widest = 1;
    size_t stride = 1;
    for (size_t c = 0; c < steps->n; c++) {
        int digits = digits_of(steps->columns[c].first);
        widest = digits > widest ? digits : widest;
    }
    for (size_t k = 0; stride * (size_t)l->column < (size_t)((widest + 2) * CHAR); k++)
        stride = k % 3 == 1 ? stride * 5 / 2 : stride * 2;
    return stride;
}

static void draw_steps(FILE *out, const tl_picture *p, const tl_layout *l)
{
    const tl_heat_steps *steps = p->heat->steps;
    int y = tl_layout_y(l, p, l->nrows) + (l->nrows > p->heat->nshown ? 0 : l->gap) + LINE - 2;
    size_t stride = stride_of(steps, l);
    bool whole = l->ncols == 1 && steps->columns[0].first == -1;

    for (size_t c = 0; c < l->ncols && !whole; c += stride) {
        int x = l->left + (int)c * l->column + l->column / 2;
        fprintf(out, "<path class=\"axis\" d=\"M%d %dv4\"/>", x, y - LINE + 2);
        fprintf(out, "<text class=\"middle\" x=\"%d\" y=\"%d\">%" PRId32 "</text>\n", x, y, steps->columns[c].first);
    }
    fprintf(out, "<text class=\"axis-name\" x=\"%d\" y=\"%d\">", l->left, y + LINE);
    if (whole)
        fputs("the whole trace", out);
    else if (steps->run > 1)
        fprintf(out, "step, %zu a column", steps->run);
    else
        fputs("step", out);
    fputs("</text>\n", out);
}

void tl_draw_axes(FILE *out, const tl_picture *p, const tl_layout *l)
{
    if (l->hosts > 0)
        draw_hosts(out, p, l);
    draw_ranks(out, p, l);
    draw_steps(out, p, l);
}
