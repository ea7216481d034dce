/* matrix.c - table blame as a matrix: a row for each waiting rank, a column for each rank that others wait for.
 *
 * The left half of a cell is waiting for the rank itself; the right half is what others waited for the row's rank
 * because the row's rank had waited for the column's.  One row per rank up to TL_HEAT_ROWS ranks, else per host; of
 * too many hosts, the ranks that others wait for most, and one row for all other ranks.
 */
#include "page.h"

#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"
#include <inttypes.h>

/* A rank, a host, or all others: a row and a column. */
typedef struct unit {
    tl_phrase name; /* in a row */
    tl_phrase head; /* above a column */
    bool named;
    int64_t ns[2]; /* how long others waited for the unit directly; waiting that it passed on */
} unit;

typedef struct matrix {
    const tl_table *ranks;
    unit *units;
    size_t n, *unit_of;         /* by row of table rank */
    int64_t (*cells)[2];        /* direct, passed on; n + 1 rows of n cells: the last row is of ranks without a unit */
    int *y;                     /* by row: its upper end; 0: of many rows, not drawn, since all its cells are 0 */
    bool several, others;       /* the last row has waiting; the last unit stands for all other ranks */
    int64_t direct_ns, most_ns; /* direct waiting of all cells; the largest cell */
} matrix;

static size_t unit_of(const matrix *m, int32_t rank)
{
    const tl_rank *row = tl_row_of_rank(m->ranks, rank);
    return row != NULL ? m->unit_of[row - (const tl_rank *)tl_table_row(m->ranks, 0)] : m->n;
}

/* Makes one unit per host.  Returns false if there are too many hosts, fewer than two, or a rank without one. */
static bool group_by_host(matrix *m)
{
    for (size_t i = 0; i < m->ranks->n; i++) {
        const tl_rank *row = tl_table_row(m->ranks, i);
        tl_phrase name = tl_phrase_of("%.*s", (int)tl_host_length(row->host, sizeof row->host), row->host);
        size_t k = 0;
        while (k < m->n && strcmp(m->units[k].name.text, name.text) != 0)
            k++;
        if (k == TL_HEAT_ROWS || name.text[0] == '\0')
            return false;
        if (k == m->n)
            m->units[m->n++] = (unit){ .name = name, .head = name };
        m->unit_of[i] = k;
    }
    return m->n > 1;
}

static int compare_charged(const void *charged, uint32_t a, uint32_t b)
{
    return TL_COMPARE(((const int64_t *)charged)[b], ((const int64_t *)charged)[a]);
}

/* Makes one unit per rank; of too many ranks, one for each that accounts for half a percent of the waiting, and a last
 * one for all others. */
static void group_by_rank(matrix *m, const tl_table *blame)
{
    const size_t n = m->ranks->n;
    size_t room = n <= TL_HEAT_ROWS ? n : TL_HEAT_WORST;
    int64_t all_ns = 0, *charged = tl_calloc(n + 1, sizeof *charged);
    TL_ROWS (const tl_blame, row, blame) {
        size_t at = tl_table_from_rank(m->ranks, row->to_rank);
        int64_t ns = tl_ns_sum(row->direct_ns, row->indirect_ns);
        charged[at] = tl_ns_sum(charged[at], ns);
        all_ns = tl_ns_sum(all_ns, ns);
    }
    uint32_t *order = tl_sorted_index(n, compare_charged, charged);
    while (n > TL_HEAT_ROWS && room > 1 && charged[order[room - 1]] < all_ns / 200)
        room--;
    m->n = 0;
    m->others = room < n;
    for (size_t i = 0; i < n; i++)
        m->unit_of[order[i]] = i < room ? SIZE_MAX : room;
    for (size_t i = 0; i < n; i++)
        if (m->unit_of[i] == SIZE_MAX) {
            const int32_t rank = ((const tl_rank *)tl_table_row(m->ranks, i))->rank;
            m->unit_of[i] = m->n;
            m->units[m->n++] =
                (unit){ .name = tl_phrase_of("rank %" PRId32, rank), .head = tl_phrase_of("%" PRId32, rank) };
        }
    if (m->others)
        m->units[m->n++] = (unit){ .name = { "others" }, .head = { "others" } };
    free(order);
    free(charged);
}

static void sum_cells(matrix *m, const tl_page *page, const tl_table *blame)
{
    enum { FEW = 16 };
    m->cells = tl_calloc((m->n + 1) * m->n, sizeof *m->cells);
    m->y = tl_calloc(m->n + 1, sizeof *m->y);
    for (size_t i = 0; i < m->n; i++)
        m->y[i] = m->n <= FEW;
    TL_ROWS (const tl_blame, row, blame) {
        size_t to = unit_of(m, row->to_rank), from = unit_of(m, row->from_rank);
        if (to == m->n)
            continue;
        m->several |= from == m->n && row->direct_ns > 0;
        const int64_t ns[2] = { row->direct_ns, row->indirect_ns };
        for (size_t k = 0; k < 2; k++) {
            int64_t *sum = &m->cells[from * m->n + to][k];
            *sum = tl_ns_sum(*sum, ns[k]);
            m->y[from] |= ns[k] > 0;
            m->most_ns = tl_ns_max(m->most_ns, *sum);
            m->units[to].ns[k] = tl_ns_sum(m->units[to].ns[k], ns[k]);
        }
        m->direct_ns = tl_ns_sum(m->direct_ns, row->direct_ns);
    }
    for (size_t i = 0; i < page->strip.nnamed; i++) {
        size_t k = unit_of(m, page->strip.named[i]);
        if (k < m->n - m->others)
            m->units[k].named = true;
    }
}

/* ------------------------------------------------------------------------------------------------------------ drawn */

static const char *name_of(const matrix *m, size_t row)
{
    return row < m->n ? m->units[row].name.text : "several";
}

static void draw_cells(FILE *out, const matrix *m, int high)
{
    const tl_shades shades = tl_shades_of_parts();
    const double wide = 100.0 / (double)m->n;
    for (size_t i = 0; i < 2 * (m->n + m->several) * m->n; i++) {
        const size_t from = i / 2 / m->n, to = i / 2 % m->n, k = i % 2;
        const int64_t ns = m->cells[i / 2][k];
        int shade = tl_shade_of(&shades, (double)ns / (double)m->most_ns);
        if (shade > 0)
            tl_put_told_box(out, tl_phrase_of("%c%d", k == 0 ? 'a' : 'b', shade).text,
                            wide * ((double)to + 0.5 * (double)k), wide / 2, m->y[from] + 1, high - 1,
                            k == 0 ? "%s waits for %s: %s" : "others wait for %s, which waits for %s: %s",
                            name_of(m, from), name_of(m, to), tl_duration(ns).text);
    }
}

static void draw_matrix(tl_page *page, const matrix *m)
{
    enum { TOP = 18, LEFT = 96, WIDEST = 48, CHAR = 7, PHONE = 260 };
    FILE *out = page->out;
    int high = m->n <= 16 ? 20 : m->n <= TL_HEAT_WORST ? 15 : 12, bottom = TOP;
    const unit *worst = m->units;
    for (size_t k = 0; k + m->others < m->n; k++)
        worst = m->units[k].ns[0] > worst->ns[0] ? &m->units[k] : worst;
    const tl_phrase finding = tl_phrase_of("Others wait most for %.100s itself: %.20s of GPU time, %.20s of all direct "
                                           "waiting; they passed %.20s on.",
                                           worst->name.text, tl_duration(worst->ns[0]).text,
                                           tl_part_in_words(worst->ns[0], m->direct_ns).text,
                                           worst->ns[1] > 0 ? tl_duration(worst->ns[1]).text : "nothing");

    for (size_t r = 0; r < m->n + m->several; r++)
        if (m->y[r] != 0) {
            m->y[r] = bottom;
            bottom += high;
        }
    fprintf(out, "<div style=\"--most:%zupx\">\n", LEFT + m->n * WIDEST);
    tl_figure_begin(out, "matrix", "Who waits for whom", finding.text, LEFT, bottom + 2);
    tl_put_box(out, "n", 0, 100, TOP, bottom - TOP);
    for (size_t k = 0; k < m->n; k++)
        if (m->units[k].named)
            tl_put_box(out, "band", (double)k * 100 / (double)m->n, 100.0 / (double)m->n, TOP, bottom - TOP);
    size_t longest = 0, stride = 1;
    for (size_t k = 0; k < m->n; k++)
        longest = strlen(m->units[k].head.text) > longest ? strlen(m->units[k].head.text) : longest;
    while (m->n / stride * (longest + 1) * CHAR > PHONE) /* names above the columns, as many as fit on a telephone */
        stride++;
    for (size_t k = 0; k < m->n; k += stride)
        tl_put_at(out, m->units[k].named ? "middle named" : "middle quiet", ((double)k + 0.5) * 100 / (double)m->n,
                  TOP - 5, "%s", m->units[k].head.text);
    for (size_t r = 0; r < m->n + m->several; r++) {
        bool named = r < m->n && m->units[r].named;
        if (m->y[r] == 0)
            continue;
        tl_put_level(out, m->y[r]);
        tl_put_side(out, named ? "named" : high < 15 ? "small" : "", m->y[r] + high / 2 + 4, "%.16s", name_of(m, r));
    }
    draw_cells(out, m, high);
    tl_figure_end(
        out,
        (const tl_meaning[]){ { "a4", "waits for the rank of the column itself" },
                              { "b4", "passed on: others wait for the row's rank, which had waited for it" } },
        2, NULL,
        tl_phrase_of("The strongest shade is most, %s; the next from half of it, a fifth, a tenth; what is below "
                     "1 %% is left out, and of many ranks those that do not wait.%s",
                     tl_duration(m->most_ns).text,
                     m->several ? " Several: groups of more than 32 ranks, which are not told apart." : "")
            .text);
    fputs("</div>\n", out);
}

void tl_draw_matrix(tl_page *page)
{
    const tl_table *blame = tl_page_table(page, &tl_blame_schema), *ranks = tl_page_table(page, &tl_rank_schema);
    if (blame == NULL || ranks == NULL)
        return;
    matrix m = { .ranks = ranks, .units = tl_calloc(ranks->n + TL_HEAT_ROWS + 1, sizeof *m.units) };
    m.unit_of = tl_calloc(ranks->n + 1, sizeof *m.unit_of);
    if (ranks->n <= TL_HEAT_ROWS || !group_by_host(&m))
        group_by_rank(&m, blame);
    sum_cells(&m, page, blame);
    if (m.most_ns > 0)
        draw_matrix(page, &m);
    free(m.units);
    free(m.unit_of);
    free(m.cells);
    free(m.y);
}
