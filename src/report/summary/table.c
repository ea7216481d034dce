/* table.c - where each rank's time went, a line a rank.
 *
 *     compute + waiting + transfer + copy + idle = 100 %
 *
 * of its wall time: waiting and transfer are the two parts of exposed communication (of waiting one knows that nothing
 * ran but communication that waited for the last of its ranks), copies are exposed ones.  late: in how many of the
 * collectives of which that is known it came last.
 *
 * A rank's loss is all but compute and copies, as a share: a trace that is cut is shorter than others and not better.
 */
#include "table.h"

#include "tlmpi/base/mem.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/report/format/words.h"
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

tl_wrap tl_label(FILE *out, const char *name)
{
    enum { LABEL_AT = 10 };
    return (tl_wrap){ .out = out, .indent = LABEL_AT, .column = (size_t)fprintf(out, "  %-7s", name), .begun = true };
}

/* One line to be: rank == NULL is the mean over the ranks with device work. */
typedef struct line {
    const tl_rank *rank;
    const tl_breakdown *row; /* NULL: no device work */
    int64_t waiting_ns;      /* of the row's comm_exposed_ns */
    int64_t late, judged;    /* collectives; judged 0: not known */
    const char *place;       /* "median", "least", "most", or empty */
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

static void print_late(FILE *out, const line *l)
{
    char text[48] = "-";
    if (l->judged > 0)
        snprintf(text, sizeof text, "%" PRId64 "/%" PRId64, l->late, l->judged);
    fprintf(out, "%8s", text);
}

static void print_wall(FILE *out, const line *l)
{
    double ms = (double)l->row->wall_ns / 1e6 / (double)l->nranks;
    if (ms < 1e7)
        fprintf(out, " %9.*f", l->decimals, ms);
    else
        fprintf(out, " %9.3g", ms);
}

static void print_line(FILE *out, const line *l, const tl_look *look)
{
    const tl_breakdown *row = l->row;
    if (l->rank != NULL)
        fprintf(out, "%6" PRId32, l->rank->rank);
    else
        fprintf(out, "%6s", "mean");

    if (row == NULL) {
        fprintf(out, "%10s%8s%8s%9s%8s%8s%8s", "-", "-", "-", "-", "-", "-", "-");
    } else {
        print_wall(out, l);
        fprintf(out, "%6.1f %%", tl_percent(row->compute_ns, row->wall_ns));
        fprintf(out, "%6.1f %%", tl_percent(l->waiting_ns, row->wall_ns));
        fprintf(out, "%7.1f %%", tl_percent(row->comm_exposed_ns - l->waiting_ns, row->wall_ns));
        fprintf(out, "%6.1f %%", tl_percent(row->copy_exposed_ns, row->wall_ns));
        fprintf(out, "%6.1f %%", tl_percent(row->idle_ns, row->wall_ns));
        if (l->rank != NULL)
            print_late(out, l);
    }
    if (l->rank != NULL && l->rank->status != TL_RANK_OK && l->rank->status <= TL_RANK_UNREADABLE)
        fprintf(out, "  %s%s%s", look->bad, tl_rank_status_labels[l->rank->status], look->off);
    else if (l->mark[0] != '\0')
        fprintf(out, "  %s%s%s", look->bad, l->mark, look->off);
    else if (l->place[0] != '\0')
        fprintf(out, "  %s", l->place);
    fputc('\n', out);
}

static void print_head(FILE *out, const tl_look *look)
{
    fprintf(out, "%s%6s%10s%8s%8s%9s%8s%8s%8s%s\n", look->bold, "rank", "wall ms", "compute", "waiting", "transfer",
            "copy", "idle", "late", look->off);
}

static const char *mark_of(const tl_answers *a, int32_t rank)
{
    int32_t ranks[TL_RANKS_LISTED];
    for (size_t i = 0; i < a->nculprits; i++) {
        const tl_culprit *c = &a->culprits[i];
        size_t n = c->nranks > 0 ? tl_ranks_listed(c->ranks, sizeof c->ranks, ranks) : 0;
        if (tl_index_of(ranks, n, rank) < n)
            return tl_is_link(c) ? "slow link" : "straggler";
    }
    return "";
}

/* Of many ranks; `lines` holds those with device work. */
static void print_some(FILE *out, const tl_summary *s, line *lines, size_t n, const tl_look *look)
{
    size_t marked = 0, shown = 0, median = tl_upper_middle(n);
    qsort(lines, n, sizeof *lines, compare_loss);
    lines[median].place = "median";
    lines[n - 1].place = "least";
    lines[0].place = "most";
    for (size_t i = 0; i < n; i++) {
        bool is_marked = lines[i].mark[0] != '\0';
        marked += is_marked;
        if (!(is_marked && marked <= TL_RANKS_SHOWN) && lines[i].place[0] == '\0')
            continue;
        print_line(out, &lines[i], look);
        shown++;
    }
    tl_wrap w = { .out = out, .indent = 2 };
    tl_wrap_printf(&w, "  (%zu of %s ranks%s,", shown, tl_grouped((int64_t)n).text,
                   n < s->nranks ? " with device work" : "");
    tl_wrap_words(&w, "by waiting + transfer + idle; all: tables breakdown, idle)");
    tl_wrap_end(&w);
}

static int64_t waiting_of(const tl_summary *s, int32_t rank)
{
    for (size_t i = 0; i < s->nidle; i++)
        if (s->idle[i].rank == rank && s->idle[i].device == -1)
            return s->idle[i].waiting_ns;
    return 0;
}

static line line_of(const tl_summary *s, const tl_rank *rank, int decimals)
{
    int32_t number = rank != NULL ? rank->rank : -1;
    line l = {
        .rank = rank, .row = tl_whole_row(s, number), .place = "", .mark = "", .nranks = 1, .decimals = decimals
    };
    if (l.row == NULL)
        return l;
    l.waiting_ns = tl_ns_min(waiting_of(s, number), l.row->comm_exposed_ns);
    l.mark = mark_of(s->answers, number);
    l.judged = s->answers->trust.judged;
    for (size_t i = 0; i < s->nstragglers; i++)
        if (s->stragglers[i].rank == number)
            l.late = s->stragglers[i].late_count;
    return l;
}

void tl_print_summary_table(FILE *out, const tl_summary *s, const tl_look *look)
{
    size_t n = 0;
    line *lines = tl_calloc(s->nranks > 0 ? s->nranks : 1, sizeof *lines);
    if (lines == NULL) {
        fprintf(out, "(No memory for the table of ranks: it is in the result file.)\n");
        return;
    }

    bool all = s->nranks <= TL_RANKS_SHOWN;
    int decimals = wall_decimals(s);
    int64_t working = 0;
    for (size_t i = 0; i < s->nranks; i++) {
        line l = line_of(s, &s->ranks[i], decimals);
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

    line mean = line_of(s, NULL, decimals);
    mean.nranks = working;
    if (mean.row != NULL && working > 1)
        print_line(out, &mean, look);
    free(lines);
}
