/* blame.c - two pictures of ranks and steps, from table blame_step: by how much the own work of a rank exceeds that of its
 * peers, on which the verdict rests; and how much the others waited for it, which in a pipeline they do for ranks that
 * wait themselves.
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

/* Which of the two. */
typedef struct map {
    int64_t (*of)(const tl_blame_step *row); /* what of the step is shaded */
    tl_figure figure;
    const char *none, *most; /* what is said of no rank, and of the one with most: "works longest beyond its peers" */
    const char *unlike;      /* what that does not mean, where no verdict names that rank */
    bool costs;              /* it is what a repair would save, at most */
} map;

typedef struct blame {
    tl_page *page;
    const map *map;
    int64_t times; /* a step's length is so often in what is shaded: of all others */
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

static int64_t waits_of(const tl_blame_step *row)
{
    return tl_ns_max(0, row->blame_ns);
}

TL_ORDER_BY(compare_steps, tl_blame_step, step, rank)

/* ---------------------------------------------------------------------------------------------------------- gather */

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
        most[at] = tl_ns_sum(most[at], b->map->of(&rows[i]));
        nsteps += i == 0 || rows[index[i]].step != rows[index[i - 1]].step;
    }
    b->named = tl_calloc(b->nranks + 1, sizeof *b->named);
    for (size_t i = 0; i < b->nranks; i++)
        b->named[i] = tl_page_names(b->page, b->ranks[i]);
    tl_heat_steps_init(&b->steps, nsteps);
    tl_heat_init(&b->heat, &b->steps, b->ranks, b->nranks, b->named, most);
    for (size_t i = 0; i < n; i++) {
        const tl_blame_step *row = &rows[index[i]];
        if (tl_heat_steps_fills(&b->steps, row->step))
            tl_heat_close(&b->heat);
        tl_heat_steps_enter(&b->steps, row->step);
        tl_heat_add(&b->heat, tl_index_of(b->ranks, b->nranks, row->rank), b->map->of(row),
                    tl_ns_within(row->step_ns, INT64_MAX / b->times) * b->times, row->flagged != 0);
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
        return tl_phrase_of("%s", b->map->none);
    return tl_phrase_of("Rank %" PRId32 " %s, %s of all these steps; most in %s: %s of %s.", b->ranks[worst], b->map->most,
                        tl_heat_share_of(&b->heat, worst, false).text,
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

/* Puts what the largest share of a rank does not mean: a verdict, or what it costs. */
static void put_cost(const blame *b, size_t worst)
{
    const tl_answers *a = b->page->html->in.answers;
    const tl_culprit *c = a->nculprits > 0 ? &a->culprits[0] : NULL;
    const tl_heat_sum *sum = &b->heat.total[worst];
    if (!b->named[worst])
        fprintf(b->page->out, "<p>%s</p>", b->map->unlike);
    else if (b->map->costs && c != NULL && c->rank == b->ranks[worst] && c->gain_ns > 0 &&
             tl_answers_share(a, c->gain_ns) < tl_heat_share(sum->part_ns, sum->whole_ns))
        fprintf(b->page->out, "<p>Without it the job would gain %s: the others need not wait for all of it.</p>",
                tl_share_in_words(tl_answers_share(a, c->gain_ns)).text);
}

static void put_picture(const blame *b)
{
    FILE *out = b->page->out;
    size_t worst = tl_heat_worst(&b->heat);
    const tl_phrase finding = finding_of(b, worst);
    tl_figure figure = b->map->figure;
    tl_picture *p = &figure.picture;
    p->heat = &b->heat;
    p->shades = tl_shades_of_parts();
    p->finding = finding.text;
    p->late = "a step in which the rank is late";
    p->named = b->marked;
    p->outlines = b->outlines.v;
    p->noutlines = b->outlines.n;
    figure.keep = b->named;
    figure.note = put_waits;
    figure.note_head = "GPU time that others waited for it";
    figure.arg = tl_tables_get(b->page->html->in.tables, &tl_blame_schema);

    tl_begin_figure(b->page, &figure);
    fprintf(out, "<p>%s</p>", finding.text);
    if (worst != SIZE_MAX && b->heat.total[worst].part_ns > 0)
        put_cost(b, worst);
    fputs("</figcaption>\n", out);
    tl_put_figure(b->page, &figure);
}

/* Draws the map; one of what others do only where they do any. */
static void draw(tl_page *page, const map *m, bool of_others)
{
    const tl_table *table = tl_page_table(page, &tl_blame_step_schema);
    blame b = { .page = page, .map = m, .times = 1 };
    if (table == NULL)
        return;
    b.rows = tl_table_row(table, 0);
    b.nrows = table->n;
    if (of_others)
        b.times = tl_ns_max(1, (int64_t)page->html->in.answers->trust.nranks - 1);
    gather(&b);
    mark(&b);
    size_t worst = tl_heat_worst(&b.heat);
    if (!of_others || (worst != SIZE_MAX && b.heat.total[worst].part_ns > 0))
        put_picture(&b);
    tl_heat_free(&b.heat);
    tl_heat_steps_free(&b.steps);
    free(b.ranks);
    free(b.named);
    free(b.marked);
    free(b.outlines.v);
}

void tl_draw_excess(tl_page *page)
{
    static const map excess = {
        .of = excess_of,
        .costs = true,
        .none = "No rank has more work than its peers.",
        .most = "works longest beyond its peers",
        .unlike = "That alone is no verdict: some rank always works longest, by chance or where others wait for nothing.",
        .figure = { .picture = { .id = "excess-map",
                                 .title = "How much of each step a rank works longer than its peers",
                                 .cell = "of the step" },
                    .explanation = "The shade is by how much the rank's own work, of its device or its host, exceeds that "
                                   "of its peers, in percent of the step. That is not what it costs: work that others need not "
                                   "wait for costs the job nothing.",
                    .column = "the excess in all of them, of their length.",
                    .head = "The ranks that work longest beyond their peers",
                    .part = "longer by",
                    .whole = "the step takes" }
    };
    draw(page, &excess, false);
}

void tl_draw_waits(tl_page *page)
{
    static const map waits = {
        .of = waits_of,
        .none = "No rank is waited for.",
        .most = "is waited for most",
        .unlike = "That is no verdict: it may wait for another rank itself, and be late for that.",
        .figure = { .picture = { .id = "waits-map",
                                 .title = "How much of each step the others wait for a rank",
                                 .cell = "of the others' time" },
                    .explanation = "The shade is how long all others wait for the rank, or for ranks that had waited for "
                                   "it, in percent of their time in the step.",
                    .column = "the waiting in all of them, of their length.",
                    .head = "The ranks that are waited for most",
                    .part = "waiting caused",
                    .whole = "the others have" }
    };
    draw(page, &waits, true);
}
