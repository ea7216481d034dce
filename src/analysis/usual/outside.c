/* outside.c - what ranks that are repaired together need less than when they are repaired one by one.
 *
 *     repaired together   rank 0, 1, 2  |  12 ms |          each alone is compared with two that are as slow as itself
 *     the others          rank 3, 4     | 10 |              and two that are not: 11 ms; all three with who is not
 *                                                           repaired: 10 ms
 *
 * What is usual is told by who is not suspected.  Where fewer than two of a role are left nobody tells, as of two that
 * differ nobody knows who is slow, and all stays as it is for each alone.
 */
#include "tlmpi/base/stats.h"
#include "tlmpi/analysis/usual.h"
#include <string.h>

/* So many that are not repaired tell what is usual. */
enum { OUTSIDE_LEAST = 2 };

/* One piece of a step, of all who were compared by it. */
static void compare(tl_whatif *w, uint32_t row)
{
    const uint32_t *cells = w->compared + w->first_compared[row];
    size_t n = w->first_compared[row + 1] - w->first_compared[row], others = 0;

    for (size_t i = 0; i < n; i++)
        others += !w->inside[cells[i]];
    if (n - others < 2 || others < OUTSIDE_LEAST)
        return;
    for (int host = 0; host < 2; host++) {
        size_t kept = 0;
        for (size_t i = 0; i < n; i++) {
            const tl_cell *cell = &w->cells[cells[i]];
            if (!w->inside[cells[i]])
                w->numbers[kept++] = host ? cell->host_ns : cell->work_ns - cell->contended_ns;
        }
        int64_t usual_ns = tl_median(w->numbers, kept);
        for (size_t i = 0; i < n; i++) {
            const tl_cell *cell = &w->cells[cells[i]];
            if (w->inside[cells[i]] && cell->medians == row)
                (host ? w->host_less : w->work_less)[cells[i]] =
                    (host ? cell->host_others_ns : cell->work_others_ns) - usual_ns;
        }
    }
}

/* Chance makes it more in some cells of a step and less in others: what is left of it together, each in proportion. */
static void even_out(int64_t *ns, size_t from, size_t to)
{
    int64_t more = 0, less = 0;
    for (size_t i = from; i < to; i++) {
        more += tl_ns_max(0, ns[i]);
        less += tl_ns_max(0, -ns[i]);
    }
    for (size_t i = from; i < to; i++)
        ns[i] = ns[i] > 0 && more > less ? tl_portion(ns[i], more - less, more) : 0;
}

static void even_out_rank(const tl_whatif *w, size_t first, size_t end)
{
    for (size_t from = first, to; from < end; from = to) {
        for (to = from; to < end && w->cells[to].step == w->cells[from].step; to++)
            ;
        even_out(w->work_less, from, to);
        even_out(w->host_less, from, to);
    }
}

void tl_whatif_look_outside(tl_whatif *w, const uint8_t *repaired)
{
    size_t n = 0;

    memset(w->work_less, 0, w->ncells * sizeof *w->work_less);
    memset(w->host_less, 0, w->ncells * sizeof *w->host_less);
    for (size_t r = 0; repaired != NULL && r < w->in.nranks; r++)
        n += repaired[r] != 0;
    if (n < 2 || n == w->in.nranks)
        return;
    for (size_t r = 0; r < w->in.nranks; r++)
        for (size_t i = w->cell_base[r]; i < w->cell_base[r + 1]; i++)
            w->inside[i] = repaired[r] != 0;
    for (uint32_t row = 0; row < w->nmedians; row++)
        compare(w, row);
    for (size_t r = 0; r < w->in.nranks; r++)
        if (repaired[r] != 0)
            even_out_rank(w, w->cell_base[r], w->cell_base[r + 1]);
}
