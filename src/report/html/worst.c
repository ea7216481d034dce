/* worst.c - the ranks that are worst in a picture, in a small table under it. */
#include "page.h"

#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/report/format/markup.h"
#include "tlmpi/report/format/words.h"
#include <inttypes.h>
#include <stdlib.h>

static int compare(const void *context, uint32_t a, uint32_t b)
{
    const tl_worst *w = context;
    const tl_heat *h = w->picture->heat;
    if (w->keep[a] != w->keep[b])
        return w->keep[a] ? -1 : 1;
    return TL_COMPARE(h->total[b].part_ns, h->total[a].part_ns);
}

/* Puts the mean time of n steps. */
static void put_mean(FILE *out, int64_t sum_ns, int64_t n)
{
    fprintf(out, "<td>%s</td>", tl_show_time(sum_ns / n).text);
}

static void put_host(FILE *out, const tl_picture *p, int32_t rank)
{
    size_t at = tl_table_from_rank(p->hosts, rank);
    const tl_rank *row = at < p->hosts->n ? tl_table_row(p->hosts, at) : NULL;
    fputs("<td>", out);
    if (row != NULL && row->rank == rank)
        tl_put_markup_cell(out, row->host, tl_host_length(row->host, sizeof row->host));
    fputs("</td>", out);
}

static void put_row(tl_page *page, const tl_worst *w, size_t rank)
{
    const tl_picture *p = w->picture;
    const tl_heat_sum *sum = &p->heat->total[rank];
    FILE *out = page->out;

    fprintf(out, "<tr><th scope=\"row\">%" PRId32 "</th>", p->heat->ranks[rank]);
    if (p->hosts != NULL)
        put_host(out, p, p->heat->ranks[rank]);
    put_mean(out, sum->part_ns, sum->n);
    put_mean(out, sum->whole_ns, sum->n);
    fprintf(out, "<td>%s</td>", tl_show_share(tl_heat_share(sum->part_ns, sum->whole_ns), p->shades.both).text);
    fprintf(out, "<td>%s in %s</td>", tl_show_share(p->heat->most[rank], p->shades.both).text,
            tl_steps_of_column(p->heat->steps, p->heat->most_at[rank]).text);
    if (w->note != NULL) {
        fputs("<td class=\"words\">", out);
        w->note(page, w->arg, p->heat->ranks[rank]);
        fputs("</td>", out);
    }
    fputs("</tr>\n", out);
}

void tl_put_worst(tl_page *page, const tl_worst *w)
{
    const tl_heat *h = w->picture->heat;
    uint32_t *index = tl_calloc(h->nranks + 1, sizeof *index);
    size_t n = 0, kept = 0, said = 0;

    for (size_t i = 0; i < h->nranks; i++) {
        if (h->total[i].n == 0)
            continue;
        index[n++] = (uint32_t)i;
        kept += w->keep[i];
    }
    tl_sort_index(index, n, compare, w);
    kept = kept < TL_HEAT_WORST ? kept : TL_HEAT_WORST;
    fprintf(page->out,
            "<div class=\"wide\"><table><caption>The worst ranks, in the mean of a step</caption>\n"
            "<tr><th>rank</th>%s<th>%s</th><th>%s</th><th>share</th><th>most</th>",
            w->picture->hosts != NULL ? "<th>host</th>" : "", w->part, w->whole);
    if (w->note != NULL)
        fprintf(page->out, "<th class=\"words\">%s</th>", w->note_head);
    fputs("</tr>\n", page->out);
    for (; said < n && said < kept + TL_WORST_ROWS; said++)
        if (said < kept || h->total[index[said]].part_ns > 0)
            put_row(page, w, index[said]);
    fputs("</table></div>\n", page->out);
    free(index);
}
