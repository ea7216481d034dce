/* work.c - what takes most time: kernels, operators and causes of idle time, the top rows of their tables, each with a
 * small bar for its share.
 */
#include "page.h"

#include "tlmpi/base/group.h"
#include "tlmpi/model/work_tables.h"
#include <inttypes.h>
#include <math.h>

/* Most rows shown; the first LEAST are always shown, further rows only with a large enough share. */
enum { ROWS = 10, LEAST = 3 };
#define LEAST_SHARE 0.005

static bool is_shown(size_t i, double share)
{
    return i < LEAST || (i < ROWS && share >= LEAST_SHARE);
}

/* A row: name, meaning (NULL: none), share with a bar of a class, mean, count, and the rank with the longest time (-1:
 * not shown). */
typedef struct work_row {
    tl_text name;
    const char *meaning, *class_name;
    double share;
    int64_t sum_ns, count;
    int32_t rank;
    double rank_ns, median_ns;
} work_row;

static void put_row(FILE *out, const work_row *row)
{
    fputs("<tr><td class=\"words\">", out);
    tl_put_name(out, row->name.n > 0 ? row->name : TL_TEXT("(none)"));
    if (row->meaning != NULL)
        tl_put(out, "<br/><span class=\"explains\">%s</span>", row->meaning);
    tl_put(out,
           "</td><td class=\"bar\"><svg aria-hidden=\"true\" height=\"12\"><rect class=\"%s\" y=\"4\" width=\"%.1f%%\" "
           "height=\"10\"/></svg></td><td>%s</td><td>%s</td><td class=\"extra\">%s</td><td class=\"extra\">",
           row->class_name, fmax(0, fmin(100 * row->share, 100)), tl_share_in_words(row->share).text,
           row->count > 0 ? tl_duration(row->sum_ns / row->count).text : "", tl_grouped(row->count).text);
    if (row->rank >= 0 && row->median_ns > 0 && row->rank_ns > 1.02 * row->median_ns)
        tl_put(out, "rank %" PRId32 ", %.2f", row->rank, fmin(row->rank_ns / row->median_ns, 999));
    fputs("</td></tr>\n", out);
}

static void begin_table(FILE *out, const char *what, const char *ran, const char *slowest)
{
    tl_put(out,
           "<div class=\"wide\"><table>\n<tr><th class=\"words\">%s</th><th class=\"bar\"></th><th>share</th><th>mean"
           "</th><th class=\"extra\">%s</th><th class=\"extra\">%s</th></tr>\n",
           what, ran, slowest);
}

static tl_text name_of(const tl_page *page, uint32_t name)
{
    return name == TL_NO_NAME ? TL_TEXT("") : page->in->name(page->in->result, name);
}

void tl_draw_kernels(tl_page *page)
{
    static const char *const classes[] = {
        [TL_COMPUTE] = "compute", [TL_COMM] = "transfer", [TL_MEMCPY] = "copy", [TL_MEMSET] = "copy", [TL_SYNC] = "idle"
    };
    const tl_table *table = tl_page_table(page, &tl_kernel_ranks_schema);
    if (table == NULL)
        return;
    begin_table(page->out, "device work", "runs", "slowest / median");
    for (size_t i = 0; i < table->n; i++) {
        const tl_kernel_ranks *row = tl_table_row(table, i);
        if (!is_shown(i, row->share))
            break;
        /* communication is longest where a rank waits: such a rank is not slow */
        put_row(page->out,
                &(work_row){ name_of(page, row->name), NULL, classes[row->kind], row->share,
                             (int64_t)(row->mean_ns * (double)row->count), row->count,
                             row->kind == TL_COMM ? -1 : row->slowest_rank, row->slowest_ns, row->median_rank_ns });
    }
    fputs("</table></div>\n", page->out);
    tl_put_legend(page->out,
                  (const tl_meaning[]){ { "compute", "compute" },
                                        { "transfer", "communication, with what it waits" },
                                        { "copy", "copies" } },
                  3, NULL);
}

void tl_draw_operators(tl_page *page)
{
    const tl_table *table = tl_page_table(page, &tl_operator_ranks_schema);
    if (table == NULL || (table->n == 1 && ((const tl_operator_ranks *)tl_table_row(table, 0))->name == TL_NO_NAME))
        return; /* work launched outside of operators has no row */
    fputs("<p>By the device work that was launched in them, with what they called.</p>\n", page->out);
    begin_table(page->out, "operator of the host", "runs", "slowest / median");
    for (size_t i = 0; i < table->n; i++) {
        const tl_operator_ranks *row = tl_table_row(table, i);
        if (!is_shown(i, row->share))
            break;
        put_row(page->out, &(work_row){ name_of(page, row->name), NULL, "compute", row->share, row->device_ns,
                                        row->count, row->slowest_rank, row->slowest_ns, row->median_rank_ns });
    }
    fputs("</table></div>\n", page->out);
}

TL_SORT_BY(by_place, tl_idle_summary, place)

void tl_draw_idle(tl_page *page)
{
    size_t n = 0;
    tl_vec_sort(&page->idle, by_place); /* causes, whose place is 0, come first */
    TL_EACH (const tl_idle_summary, row, page->idle) {
        if (row->place == 0)
            continue;
        if (!is_shown(n, row->idle_pct / 100))
            break;
        if (n++ == 0)
            begin_table(page->out, "what the host was in", "gaps", "most / median");
        const char *doing = tl_doing_meanings[row->cpu_during_gap];
        const tl_phrase meaning =
            tl_phrase_of("%s%.*s", row->drain_type == TL_DRAIN_SYNC ? "after a wait for the device: " : "",
                         (int)strcspn(doing, ";"), doing);
        put_row(page->out, &(work_row){ { row->dominant_op, strnlen(row->dominant_op, sizeof row->dominant_op) },
                                        meaning.text,
                                        "idle1",
                                        row->idle_pct / 100,
                                        row->total_ns,
                                        row->count,
                                        row->worst_rank,
                                        (double)row->worst_ns,
                                        (double)row->median_rank_ns });
    }
    fputs(n > 0 ? "</table></div>\n" : "", page->out);
}
