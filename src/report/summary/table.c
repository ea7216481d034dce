/* table.c - where each rank's time went, a line a rank.
 *
 * A rank's loss is its exposed communication and its idle time as a share of its wall time: what a rank that computes
 * all the time would not have.  Shares, because a trace that is cut is shorter than the others and not better.
 */
#include "table.h"

#include "tlmpi/base/mem.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/report/format/wrap.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

double tl_percent(int64_t a, int64_t b)
{
    return b > 0 ? 100.0 * (double)a / (double)b : 0.0;
}

const tl_breakdown *tl_whole_row(const tl_summary *s, int32_t rank)
{
    /* Rows are sorted by rank, and (-1, -1) is the first of a rank's. */
    size_t low = 0;
    TL_BISECT(low, s->nbreakdown, mid, s->breakdown[mid].rank < rank);
    if (low == s->nbreakdown)
        return NULL;
    const tl_breakdown *row = &s->breakdown[low];
    return row->rank == rank && row->device == -1 && row->step == -1 && row->wall_ns > 0 ? row : NULL;
}

/* Decimals with which wall times in ms are said: more where the longest of them is short. */
static int wall_decimals(const tl_summary *s)
{
    int64_t longest = 0;
    for (size_t i = 0; i < s->nranks; i++) {
        const tl_breakdown *row = tl_whole_row(s, s->ranks[i].rank);
        longest = row != NULL && row->wall_ns > longest ? row->wall_ns : longest;
    }
    return longest < 100000000 ? 3 : 1;
}

/* One line to be: rank == NULL is the mean over the ranks with device work. */
typedef struct line {
    const tl_rank *rank;
    const tl_breakdown *row; /* NULL: no device work */
    const char *place;       /* "median", "best", or empty */
    const char *mark;        /* "straggler", "slow link", or empty */
    int64_t nranks;          /* that the row is the sum of */
    int decimals;            /* of wall ms */
} line;

static double loss_of(const line *l)
{
    return tl_percent(l->row->comm_exposed_ns + l->row->idle_ns, l->row->wall_ns);
}

/* Largest loss first; of equals the lower rank. */
static int compare_loss(const void *a, const void *b)
{
    const line *la = a, *lb = b;
    double x = loss_of(la), y = loss_of(lb);
    if (x != y)
        return x > y ? -1 : 1;
    return la->rank->rank < lb->rank->rank ? -1 : la->rank->rank > lb->rank->rank;
}

static void print_percent(FILE *out, int64_t a, int64_t b)
{
    if (b > 0)
        fprintf(out, "%6.1f %%", tl_percent(a, b));
    else
        fprintf(out, "%8s", "-");
}

static void print_line(FILE *out, const line *l, const tl_look *look)
{
    const tl_breakdown *row = l->row;
    if (l->rank != NULL)
        fprintf(out, "%6" PRId32, l->rank->rank);
    else
        fprintf(out, "%6s", "mean");

    if (row == NULL) {
        fprintf(out, "%12s%8s%8s%8s%8s%8s", "-", "-", "-", "-", "-", "-");
    } else {
        fprintf(out, " %11.*f", l->decimals, (double)row->wall_ns / 1e6 / (double)l->nranks);
        print_percent(out, row->compute_ns, row->wall_ns);
        print_percent(out, row->comm_exposed_ns, row->wall_ns);
        print_percent(out, row->copy_exposed_ns, row->wall_ns);
        print_percent(out, row->idle_ns, row->wall_ns);
        print_percent(out, row->comm_overlapped_ns, row->comm_ns);
    }
    if (l->place[0] != '\0')
        fprintf(out, "  %s", l->place);
    if (l->rank != NULL && l->rank->status != TL_RANK_OK && l->rank->status <= TL_RANK_UNREADABLE)
        fprintf(out, "  %s%s%s", look->bad, tl_rank_status_labels[l->rank->status], look->off);
    else if (l->mark[0] != '\0' && l->place[0] == '\0')
        fprintf(out, "  %s<- %s%s", look->bad, l->mark, look->off);
    fputc('\n', out);
}

static void print_head(FILE *out, const tl_look *look)
{
    fprintf(out, "%s%6s%12s%8s%8s%8s%8s%8s%s\n", look->bold, "", "", "", "exposed", "exposed", "", "comm", look->off);
    fprintf(out, "%s%6s%12s%8s%8s%8s%8s%8s%s\n", look->bold, "rank", "wall ms", "compute", "comm", "copy", "idle",
            "overlap", look->off);
}

/* Who holds the job up, of the first few culprits. */
static const char *mark_of(const tl_answers *a, int32_t rank)
{
    int32_t ranks[TL_RANKS_LISTED];
    for (size_t i = 0; i < a->nculprits && i < TL_CULPRITS_MARKED; i++) {
        const tl_culprit *c = &a->culprits[i];
        size_t n = c->nranks > 0 ? tl_ranks_listed(c->ranks, sizeof c->ranks, ranks) : 0;
        if (tl_index_of(ranks, n, rank) < n)
            return tl_is_link(c) ? "slow link" : "straggler";
    }
    return "";
}

/* Of many ranks: the worst, who holds the job up, the median and the best; `lines` holds those with device work. */
static void print_some(FILE *out, const tl_summary *s, line *lines, size_t n, const tl_look *look)
{
    size_t marked = 0, best = n - 1, median = tl_upper_middle(n);
    qsort(lines, n, sizeof *lines, compare_loss);
    size_t worst = n < TL_WORST_RANKS_SHOWN ? n : TL_WORST_RANKS_SHOWN;
    for (size_t i = 0; i < n; i++) {
        bool shown = lines[i].mark[0] != '\0' && marked < TL_CULPRITS_MARKED;
        marked += shown;
        if (i < worst || shown)
            print_line(out, &lines[i], look);
    }
    if (n <= worst)
        return;
    lines[median].place = "median";
    lines[best].place = "best";
    if (median >= worst && median < best && lines[median].mark[0] == '\0')
        print_line(out, &lines[median], look);
    if (lines[best].mark[0] == '\0')
        print_line(out, &lines[best], look);
    tl_wrap w = { .out = out, .indent = 2 };
    tl_wrap_printf(&w, "Of %zu ranks%s:", n, n < s->nranks ? " with device work" : "");
    tl_wrap_printf(&w, "the %zu", worst);
    tl_wrap_words(&w, "with the most exposed comm + idle,");
    tl_wrap_words(&w, marked > 0 ? "some that are marked, the median and the best." : "the median and the best.");
    tl_wrap_end(&w);
}

void tl_print_summary_table(FILE *out, const tl_summary *s, const tl_look *look)
{
    size_t n = 0;
    line *lines = tl_calloc(s->nranks > 0 ? s->nranks : 1, sizeof *lines);
    if (lines == NULL) {
        fprintf(out, "(No memory for the table of ranks: it is in the result file.)\n");
        return;
    }

    bool all = s->nranks <= TL_ALL_RANKS_SHOWN;
    int decimals = wall_decimals(s);
    int64_t working = 0;
    for (size_t i = 0; i < s->nranks; i++) {
        int32_t rank = s->ranks[i].rank;
        line l = { &s->ranks[i], tl_whole_row(s, rank), "", mark_of(s->answers, rank), 1, decimals };
        working += l.row != NULL;
        if (all || l.row != NULL)
            lines[n++] = l;
    }

    print_head(out, look);
    if (all)
        for (size_t i = 0; i < n; i++)
            print_line(out, &lines[i], look);
    else if (n > 0)
        print_some(out, s, lines, n, look);

    line mean = { NULL, tl_whole_row(s, -1), "", "", working, decimals };
    if (mean.row != NULL && working > 1)
        print_line(out, &mean, look);
    free(lines);
}
