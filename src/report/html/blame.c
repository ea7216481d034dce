/* blame.c - the second part: by how much of each step the own work of each rank exceeds that of its peers (table
 * blame_step), and what others waited for it.
 *
 * The table has a row for each rank and step of the traces, which are few: it is there as a whole, rank by rank, and is
 * gathered in the order of steps.
 */
#include "page.h"

#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/report/format/markup.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

typedef struct blame {
    tl_page *page;
    const tl_blame_step *rows;
    size_t nrows;
    tl_heat_steps steps;
    tl_heat heat;
    int32_t *ranks;
    size_t nranks;
    bool *named;  /* by rank */
    bool *marked; /* by row of the picture */
    TL_VEC(tl_outline) outlines;
} blame;

/* A rank that has less work than its peers has no excess. */
static int64_t excess_of(const tl_blame_step *row)
{
    return tl_ns_max(0, row->excess_ns);
}

TL_ORDER_BY(compare_steps, tl_blame_step, step, rank)

/* ---------------------------------------------------------------------------------------------------------- gather */

/* Marks the ranks that a culprit names.  A link marks none. */
static void find_named(blame *b)
{
    const tl_answers *a = b->page->html->in.answers;
    int32_t *ranks = tl_calloc(TL_RANKS_LISTED, sizeof *ranks);
    for (size_t k = 0; k < a->nculprits; k++) {
        const tl_culprit *c = &a->culprits[k];
        size_t n = tl_is_link(c) ? 0 : tl_ranks_listed(c->ranks, sizeof c->ranks, ranks);
        for (size_t i = 0; i < n; i++) {
            size_t at = tl_index_of(b->ranks, b->nranks, ranks[i]);
            if (at < b->nranks)
                b->named[at] = true;
        }
    }
    free(ranks);
}

static void gather(blame *b)
{
    const tl_blame_step *rows = b->rows;
    size_t n = b->nrows, nsteps = 0;
    uint32_t *index = tl_sorted_index(n, compare_steps, rows);
    b->ranks = tl_calloc(n + 1, sizeof *b->ranks);
    for (size_t i = 0; i < n; i++)
        b->ranks[i] = rows[i].rank;
    b->nranks = tl_int_unique(b->ranks, n);
    int64_t *most = tl_calloc(b->nranks + 1, sizeof *most);

    for (size_t i = 0; i < n; i++) {
        size_t at = tl_index_of(b->ranks, b->nranks, rows[i].rank);
        most[at] = tl_ns_sum(most[at], excess_of(&rows[i]));
        nsteps += i == 0 || rows[index[i]].step != rows[index[i - 1]].step;
    }
    b->named = tl_calloc(b->nranks + 1, sizeof *b->named);
    find_named(b);
    tl_heat_steps_init(&b->steps, nsteps);
    tl_heat_init(&b->heat, &b->steps, b->ranks, b->nranks, b->named, most);
    for (size_t i = 0; i < n; i++) {
        const tl_blame_step *row = &rows[index[i]];
        if (tl_heat_steps_fills(&b->steps, row->step))
            tl_heat_close(&b->heat);
        tl_heat_steps_enter(&b->steps, row->step);
        tl_heat_add(&b->heat, tl_index_of(b->ranks, b->nranks, row->rank), excess_of(row), row->step_ns,
                    row->flagged != 0);
    }
    tl_heat_end(&b->heat);
    free(index);
    free(most);
}

/* Which rows are marked, and which of their cells are late. */
static void mark(blame *b)
{
    const tl_heat *h = &b->heat;
    b->marked = tl_calloc(h->nshown + 1, sizeof *b->marked);
    for (size_t r = 0; r < h->nshown; r++) {
        const tl_heat_cell *cells = tl_heat_row(h, r);
        b->marked[r] = b->named[h->shown[r]];
        for (size_t c = 0, n; c < h->steps->n; c += n) {
            for (n = 1; c + n < h->steps->n && cells[c + n].late == cells[c].late; n++)
                ;
            if (cells[c].late)
                tl_vec_push(&b->outlines, (tl_outline){ .row = r, .first = c, .last = c + n - 1 });
        }
    }
}

/* ------------------------------------------------------------------------------------------------------------ write */

static tl_phrase finding_of(const blame *b, size_t worst)
{
    if (worst == SIZE_MAX || b->heat.total[worst].part_ns <= 0)
        return tl_phrase_of("No rank has more work than its peers.");
    return tl_phrase_of("Rank %" PRId32 " works longest beyond its peers, %s of all these steps; most in %s: %s of %s.",
                        b->ranks[worst], tl_heat_share_of(&b->heat, worst, false).text,
                        tl_steps_of_column(&b->steps, b->heat.most_at[worst]).text,
                        tl_show_share(b->heat.most[worst], false).text, b->steps.run > 1 ? "them" : "it");
}

/* Puts the waiting of others for the rank (direct), and their waiting passed on from ranks that had waited for it. */
static void put_waits(tl_page *page, const void *arg, int32_t rank)
{
    const tl_table *charges = arg;
    int64_t direct_ns = 0, indirect_ns = 0;
    const tl_blame *row = tl_row_of_rank(charges, rank), *end = tl_table_row(charges, charges->n);
    for (; row != NULL && row < end && row->to_rank == rank; row++) {
        direct_ns = tl_ns_sum(direct_ns, row->direct_ns);
        indirect_ns = tl_ns_sum(indirect_ns, row->indirect_ns);
    }
    fputs(tl_show_time(direct_ns).text, page->out);
    if (indirect_ns > 0)
        fprintf(page->out, ", passed on %s", tl_show_time(indirect_ns).text);
}

static void put_picture(const blame *b)
{
    FILE *out = b->page->out;
    size_t worst = tl_heat_worst(&b->heat);
    const tl_phrase finding = finding_of(b, worst);
    tl_figure figure = { .picture = { .heat = &b->heat,
                                      .shades = tl_shades_of_parts(),
                                      .id = "excess",
                                      .title = "How much of each step a rank works longer than its peers",
                                      .finding = finding.text,
                                      .cell = "of the step",
                                      .late = "a step in which the rank is late",
                                      .named = b->marked,
                                      .outlines = b->outlines.v,
                                      .noutlines = b->outlines.n },
                         .keep = b->named,
                         .explanation =
                             "The shade is by how much the rank's own work, of its device or its host, exceeds that of "
                             "its peers, in percent of the step. Passed on is what ranks waited for others that had "
                             "waited for this one.",
                         .column = "the excess in all of them, of their length.",
                         .table = "blame_step",
                         .another = b->outlines.n > 0 ? "culprit" : NULL,
                         .part = "longer by",
                         .whole = "the step takes",
                         .note = put_waits,
                         .arg = tl_tables_get(b->page->html->in.tables, &tl_blame_schema),
                         .note_head = "GPU time that others waited for it, in all steps" };

    fprintf(out, "<figure>\n<figcaption><h3>%s</h3><p>%s</p></figcaption>\n", figure.picture.title, finding.text);
    if (worst != SIZE_MAX && b->heat.total[worst].part_ns > 0 && !b->named[worst])
        fputs("<p>That alone is no verdict: some rank always works longest, by chance or where others wait for "
              "nothing.</p>\n",
              out);
    tl_put_figure(b->page, &figure);
    fputs("</figure>\n", out);
}

void tl_draw_excess(tl_page *page)
{
    const tl_table *table = tl_tables_get(page->html->in.tables, &tl_blame_step_schema);
    blame b = { .page = page, .rows = tl_table_row(table, 0), .nrows = table->n };
    if (b.nrows == 0)
        return;
    gather(&b);
    mark(&b);
    put_picture(&b);
    tl_heat_free(&b.heat);
    tl_heat_steps_free(&b.steps);
    free(b.ranks);
    free(b.named);
    free(b.marked);
    free(b.outlines.v);
}
