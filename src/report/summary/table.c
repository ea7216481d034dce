/* table.c - where each rank's time went, a line a rank.
 *
 *     compute + waiting + transfer + unknown + copy + idle = 100 %
 *
 * of the wall time.  Waiting, transfer and unknown (either of both) are exposed communication; unknown has a column if
 * there is any.  Copies are exposed copies.  late: collectives in which the rank arrived last, of those whose last rank
 * is known.
 *
 * A rank's loss is all but compute and copies, as a share of its wall time, which may differ if a trace is cut.
 */
#include "parts.h"

#include "tlmpi/base/mem.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

double tl_percent(int64_t a, int64_t b)
{
    return b > 0 ? 100.0 * (double)a / (double)b : 0.0;
}

/* Rows are sorted by rank; a rank's first row is over all devices and steps, or over all whole steps. */
const tl_breakdown *tl_whole_row(const tl_summary *s, int32_t rank)
{
    const size_t at = tl_table_from_rank(s->breakdown, rank);
    const tl_breakdown *row = at < s->breakdown->n ? tl_table_row(s->breakdown, at) : NULL;
    return row != NULL && row->rank == rank && row->device == -1 && row->step < 0 && row->wall_ns > 0 ? row : NULL;
}

/* ----------------------------------------------------------------------------------------------------------- cells */

enum { WALL, COMPUTE, WAITING, TRANSFER, UNKNOWN, COPY, IDLE, LATE, NCOLUMNS };

/* The layout of the lines of a table. */
typedef struct layout {
    const int *widths; /* widths of the columns after the rank; 0: the column of unknown is left out */
    const char *wall;  /* "wall ms", or "wall s" */
    double wall_ns;    /* unit of wall times */
    int decimals;      /* decimals of wall times: more if the longest is short */
    const tl_look *look;
} layout;

static layout layout_of(const tl_summary *s, const tl_look *look)
{
    static const int usual[NCOLUMNS] = { 10, 8, 8, 9, 0, 8, 8, 8 }, narrow[NCOLUMNS] = { 8, 8, 8, 9, 8, 7, 8, 7 };
    static const int64_t MS = 1000000, SECOND = 1000000000;
    int64_t longest = 0;
    bool unknown = false;
    TL_ROWS (const tl_rank, rank, s->ranks) {
        const tl_breakdown *row = tl_whole_row(s, rank->rank);
        longest = row != NULL ? tl_ns_max(longest, row->wall_ns) : longest;
        unknown |= row != NULL && tl_percent(row->comm_unknown_ns, row->wall_ns) >= 0.05; /* shown with one decimal */
    }
    const int *widths = unknown ? narrow : usual;
    if (longest < 10 * SECOND)
        return (layout){ widths, "wall ms", (double)MS, longest < 100 * MS ? 3 : 1, look };
    return (layout){ widths, "wall s", (double)SECOND, longest < 1000 * SECOND ? 2 : 0, look };
}

/* Prints a line of words; `first` stands in the column of ranks. */
static void print_words(FILE *out, const layout *as, const char *first, const char *const words[NCOLUMNS])
{
    fprintf(out, "%6s", first);
    for (int i = 0; i < NCOLUMNS; i++)
        if (as->widths[i] > 0)
            fprintf(out, "%*s", words[i][0] != '\0' ? as->widths[i] : 0, words[i]);
}

/* A line to print; rank == NULL: the mean over the ranks with device work. */
typedef struct line {
    const tl_rank *rank;
    const tl_breakdown *row; /* NULL: no device work */
    const char *place;       /* "median", "least", "most", or empty */
    const char *mark;        /* "straggler", "slow link", or empty */
    int64_t nranks;          /* number of ranks that the row sums */
} line;

static tl_phrase wall_in_words(const line *l, const layout *as)
{
    const double wall = (double)l->row->wall_ns / as->wall_ns / (double)l->nranks;
    return wall < 1e7 ? tl_phrase_of(" %.*f", as->decimals, wall) : tl_phrase_of(" %.3g", wall);
}

static tl_phrase late_in_words(const tl_summary *s, const line *l)
{
    const int64_t judged = s->answers->trust.judged;
    if (l->rank == NULL)
        return (tl_phrase){ "" };
    const tl_straggler *row = tl_row_of_rank(s->stragglers, l->rank->rank);
    return judged > 0 ? tl_phrase_of(" %" PRId64 "/%" PRId64, row != NULL ? row->late_count : 0, judged)
                      : tl_phrase_of("-");
}

static void print_line(FILE *out, const tl_summary *s, const line *l, const layout *as)
{
    const tl_breakdown *row = l->row;
    const tl_phrase rank = l->rank != NULL ? tl_phrase_of("%" PRId32, l->rank->rank) : tl_phrase_of("mean");
    tl_phrase cells[NCOLUMNS];
    const char *words[NCOLUMNS];
    for (int i = 0; i < NCOLUMNS; i++)
        words[i] = "-";
    if (row != NULL) {
        const int64_t ns[NCOLUMNS] = {
            [COMPUTE] = row->compute_ns,      [WAITING] = row->comm_waiting_ns, [TRANSFER] = row->comm_transfer_ns,
            [UNKNOWN] = row->comm_unknown_ns, [COPY] = row->copy_exposed_ns,    [IDLE] = row->idle_ns
        };
        /* If all exposed communication is unknown, no waiting or transfer is known. */
        const bool known = row->comm_unknown_ns <= 0 || row->comm_unknown_ns != row->comm_exposed_ns;
        for (int i = 0; i < NCOLUMNS; i++) {
            cells[i] = i == WALL   ? wall_in_words(l, as)
                       : i == LATE ? late_in_words(s, l)
                                   : tl_phrase_of("%.1f %%", tl_percent(ns[i], row->wall_ns));
            words[i] = known || (i != WAITING && i != TRANSFER) ? cells[i].text : "-";
        }
    }
    print_words(out, as, rank.text, words);
    if (l->rank != NULL && l->rank->status != TL_RANK_OK && l->rank->status <= TL_RANK_UNREADABLE)
        fprintf(out, "  %s%s%s", as->look->bad, tl_rank_status_labels[l->rank->status], as->look->off);
    else if (l->mark[0] != '\0')
        fprintf(out, "  %s%s%s", as->look->bad, l->mark, as->look->off);
    else if (l->place[0] != '\0')
        fprintf(out, "  %s", l->place);
    fputc('\n', out);
}

/* ----------------------------------------------------------------------------------------------------------- lines */

static double loss_of(const line *l)
{
    return tl_percent(l->row->comm_exposed_ns + l->row->idle_ns, l->row->wall_ns);
}

/* Largest loss first; ties by rank, ascending. */
static int compare_loss(const void *a, const void *b)
{
    const line *x = a, *y = b;
    return loss_of(x) != loss_of(y) ? TL_COMPARE(loss_of(y), loss_of(x)) : TL_COMPARE(x->rank->rank, y->rank->rank);
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

/* Prints selected ranks of a large job; lines[n] are the ranks with device work. */
static void print_some(FILE *out, const tl_summary *s, line *lines, size_t n, const layout *as)
{
    size_t marked = 0, shown = 0;
    qsort(lines, n, sizeof *lines, compare_loss);
    lines[tl_upper_middle(n)].place = "median";
    lines[n - 1].place = "least";
    lines[0].place = "most";
    for (size_t i = 0; i < n; i++) {
        bool is_marked = lines[i].mark[0] != '\0' && ++marked <= TL_RANKS_SHOWN;
        if (!is_marked && lines[i].place[0] == '\0')
            continue;
        print_line(out, s, &lines[i], as);
        shown++;
    }
    tl_print_sentence(
        out, TL_KEPT TL_KEPT "(%zu~of~%s~ranks%s, by waiting + transfer +%s idle; all: tables breakdown, exposed)",
        shown, tl_grouped((int64_t)n).text, n < s->ranks->n ? TL_KEPT "with" TL_KEPT "device" TL_KEPT "work" : "",
        as->widths[UNKNOWN] > 0 ? " unknown +" : "");
}

void tl_print_summary_table(FILE *out, const tl_summary *s, const tl_look *look)
{
    const layout as = layout_of(s, look);
    line *lines = tl_calloc(s->ranks->n + 1, sizeof *lines),
         mean = { .row = tl_whole_row(s, -1), .place = "", .mark = "" };
    const bool all = s->ranks->n <= TL_RANKS_SHOWN;
    size_t n = 0;

    TL_ROWS (const tl_rank, rank, s->ranks) {
        const line l = { rank, tl_whole_row(s, rank->rank), "", mark_of(s->answers, rank->rank), 1 };
        mean.nranks += l.row != NULL;
        if (all || l.row != NULL)
            lines[n++] = l;
    }
    fputs(look->bold, out);
    print_words(out, &as, "rank",
                (const char *[]){ as.wall, "compute", "waiting", "transfer", "unknown", "copy", "idle", "late" });
    fprintf(out, "%s\n", look->off);
    for (size_t i = 0; i < n && all; i++)
        print_line(out, s, &lines[i], &as);
    if (n > 0 && !all)
        print_some(out, s, lines, n, &as);
    if (mean.row != NULL && mean.nranks > 1)
        print_line(out, s, &mean, &as);
    free(lines);
}
