/* parts.c - the parts of the summary around the verdict: where each rank's time went, a line a rank,
 *
 *     compute + waiting + transfer + unknown + copy + idle = 100 %
 *
 * of the wall time.  Waiting, transfer and unknown (either of both) are exposed communication; unknown has a column if
 * there is any.  Copies are exposed copies.  late: collectives in which the rank arrived last, of those whose last rank
 * is known.
 *
 * A rank's loss is all but compute and copies, as a share of its wall time, which may differ if a trace is cut.
 *
 * and notes after it: memory timelines, execution traces, unclassified kernels, and missing or
 * unreliable data.
 *
 *     Memory of rank 3: at most 3.1 GB, of it activation 2.7 GB, parameter 0.1 GB (table memory_category)
 *     Execution traces: 4,310 of 4,321 nodes linked to operators; 1 trace not linked (table side_file)
 *     Taken for communication, as they end together on all ranks: my_exchange (21.0 %) - --rules FILE can say so.
 *     12.3 % of kernel time is of kernels that no rule names, and counts as compute: my_dispatch (9.1 %), fused_x
 *       (2.0 %), ... - if one communicates, --rules FILE can say so (table kernel_ranks, unclassified)
 */
#include "parts.h"

#include "tlmpi/base/mem.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <inttypes.h>
#include <regex.h>
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
        const double wall = (double)row->wall_ns / as->wall_ns / (double)l->nranks;
        const tl_straggler *late = l->rank != NULL ? tl_row_of_rank(s->stragglers, l->rank->rank) : NULL;
        const int64_t judged = s->answers->trust.judged;
        /* If all exposed communication is unknown, no waiting or transfer is known. */
        const bool known = row->comm_unknown_ns <= 0 || row->comm_unknown_ns != row->comm_exposed_ns;
        for (int i = 0; i < NCOLUMNS; i++) {
            cells[i] = i == WALL   ? tl_phrase_of(wall < 1e7 ? " %.*f" : " %.*g", wall < 1e7 ? as->decimals : 3, wall)
                       : i != LATE ? tl_phrase_of("%.1f %%", tl_percent(ns[i], row->wall_ns))
                       : l->rank == NULL ? (tl_phrase){ "" }
                       : judged > 0 ? tl_phrase_of(" %" PRId64 "/%" PRId64, late != NULL ? late->late_count : 0, judged)
                                    : tl_phrase_of("-");
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

/* ----------------------------------------------------------------------------------------------------------- notes */

/* Categories and kernels that are named before the rest is counted; bytes shown of a kernel's name; the share of kernel
 * time from which unclassified kernels are mentioned. */
enum { NAMED_CATEGORIES = 2, NAMED_KERNELS = 3, NAME_BYTES = 40, LEAST_PCT = 1 };

/* ---------------------------------------------------------------------------------------------------------- memory */

/* Rows of one file are consecutive; the last is over all categories. */
void tl_say_memory(FILE *out, const tl_summary *s)
{
    const tl_memory_category *all = NULL, *most[NAMED_CATEGORIES] = { NULL };
    TL_ROWS (const tl_memory_category, row, s->memory)
        if (strcmp(tl_memory_category_labels[row->category], "total") == 0 &&
            (all == NULL || row->peak_bytes > all->peak_bytes))
            all = row;
    if (all == NULL)
        return;
    TL_ROWS (const tl_memory_category, row, s->memory) {
        if (row->file != all->file || row == all || row->at_peak_bytes <= 0)
            continue;
        if (most[0] == NULL || row->at_peak_bytes > most[0]->at_peak_bytes) {
            most[1] = most[0];
            most[0] = row;
        } else if (most[1] == NULL || row->at_peak_bytes > most[1]->at_peak_bytes) {
            most[1] = row;
        }
    }
    tl_wrap w = { .out = out, .indent = 2 };
    tl_say(&w, "Memory");
    if (all->rank >= 0)
        tl_say(&w, "of~rank~%" PRId32 ":", all->rank);
    tl_say(&w, "at most %s", tl_bytes_in_words(all->peak_bytes).text);
    for (size_t i = 0; i < NAMED_CATEGORIES && most[i] != NULL; i++)
        tl_say(&w, "%s %s~%s", i == 0 ? "- of it" : "and", tl_memory_category_labels[most[i]->category],
               tl_bytes_in_words(most[i]->at_peak_bytes).text);
    tl_say(&w, "(table memory_category)");
    tl_wrap_end(&w);
}

/* ------------------------------------------------------------------------------------------------ execution traces */

/* Tables side_file and execution_node hold the reasons why traces and nodes are not linked. */
void tl_say_executions(FILE *out, const tl_summary *s)
{
    int64_t linked = 0, nodes = 0, traces = 0, alone = 0;
    TL_ROWS (const tl_side_file, f, s->side_files) {
        const bool links = f->linked_by == TL_EXECUTION_BY_RECORD || f->linked_by == TL_EXECUTION_BY_EXTERNAL;
        traces += f->kind == TL_SIDE_EXECUTION;
        alone += f->kind == TL_SIDE_EXECUTION && !links;
        linked += f->linked;
        nodes += links ? f->entries - f->frames : 0;
    }
    const tl_phrase unlinked = alone > 0
                                   ? tl_phrase_of("; %s trace%s not linked", tl_grouped(alone).text, tl_plural(alone))
                                   : (tl_phrase){ "" };
    if (traces > 0)
        tl_print_sentence(out, "Execution traces: %s~of~%s~node%s linked to operators%s (table side_file)",
                          tl_grouped(linked).text, tl_grouped(nodes).text, tl_plural(nodes), unlinked.text);
}

/* ---------------------------------------------------------------------------------------- kernels that no rule names
 */

/* Patterns in the names of communication kernels; the second also occurs in names of arithmetic, and counts only if
 * there are other ranks. */
#define WORD(words) "(^|[^[:alpha:]])(" words ")([^[:alpha:]]|$)"
static const char signs[] =
    "all_?reduce|all_?gather|all_?to_?all|all2all|reduce_?scatter|sendrecv|shmem|ccl|multimem|nvlink|" WORD(
        "a2a|dispatch|send|recv|put|comm|p2p|peer|rdma|halo");
static const char signs_among_ranks[] = "exchange|" WORD("ring|gather|scatter|push|pull|broadcast|bcast|remote");

static bool has_sign(const char *name, const char *of)
{
    regex_t pattern;
    if (regcomp(&pattern, of, REG_EXTENDED | REG_ICASE | REG_NOSUB) != 0)
        return false;
    const bool found = regexec(&pattern, name, 0, NULL, 0) == 0;
    regfree(&pattern);
    return found;
}

/* Says a sentence with the names of some kernels, if any, each with its share of all_ns. */
static void say_kernels(FILE *out, const tl_summary *s, const char *head, const tl_kernel_ranks *const *v, size_t n,
                        int64_t all_ns, const char *tail)
{
    tl_wrap w = { .out = out, .indent = 2 };
    if (n == 0)
        return;
    tl_say(&w, "%s", head);
    for (size_t i = 0; i < n; i++) {
        tl_text name = tl_names_text(s->names, v[i]->name);
        char cell[NAME_BYTES + 1] = "";
        tl_cell_text(cell, NAME_BYTES, name.p, name.n);
        tl_say(&w, "%s (%.1f~%%)%s", cell, tl_percent(v[i]->total_ns, all_ns), i + 1 < n ? "," : "");
    }
    tl_say(&w, "- %s", tail);
    tl_wrap_end(&w);
}

void tl_say_unknown_kernels(FILE *out, const tl_summary *s)
{
    const tl_kernel_ranks *unknown[NAMED_KERNELS] = { NULL }, *taken[NAMED_KERNELS] = { NULL };
    size_t nunknown = 0, ntaken = 0;
    int64_t unknown_ns = 0, all_ns = 0;
    bool matters = false, among_ranks = s->ranks->n > 1 || s->world_size > 1;

    TL_ROWS (const tl_rank, rank, s->ranks) {
        unknown_ns = tl_ns_add(unknown_ns, rank->unclassified_ns);
        all_ns = tl_ns_add(all_ns, rank->kernel_ns);
    }
    TL_ROWS (const tl_kernel_ranks, k, s->kernels) {
        if (!k->unclassified || k->name == TL_NO_NAME)
            continue;
        if (k->kind == TL_COMM && ntaken < NAMED_KERNELS)
            taken[ntaken++] = k;
        if (k->kind != TL_COMPUTE || (matters && nunknown == NAMED_KERNELS))
            continue;
        const char *name = tl_names_text(s->names, k->name).p;
        const bool may = tl_percent(k->total_ns, all_ns) >= LEAST_PCT &&
                         (has_sign(name, signs) || (among_ranks && has_sign(name, signs_among_ranks)));
        if (nunknown < NAMED_KERNELS)
            unknown[nunknown++] = k;
        else if (may)
            unknown[nunknown - 1] = k; /* name a kernel that may communicate in any case */
        matters |= may;
    }
    say_kernels(out, s, "Taken for communication, as they end together on all ranks:", taken, ntaken, all_ns,
                "--rules FILE can say otherwise.");
    say_kernels(out, s,
                tl_phrase_of("%.1f %% of kernel time is of kernels that no rule names, and counts as compute:",
                             tl_percent(unknown_ns, all_ns))
                    .text,
                unknown, matters ? nunknown : 0, all_ns, "if one communicates, --rules FILE can say so.");
}

/* -------------------------------------------------------------------------------------- what is not there, or not
 * whole */

void tl_say_events(FILE *out, const tl_summary *s)
{
    int64_t dropped = 0, repaired = 0;
    TL_ROWS (const tl_rank, rank, s->ranks) {
        dropped += rank->dropped;
        repaired += rank->repaired;
    }
    if (dropped + repaired > 0)
        tl_print_sentence(out, "Events: %s~lost, %s~repaired (tlmpi check has each trace)", tl_grouped(dropped).text,
                          tl_grouped(repaired).text);
}

/* Says which ranks have no device work (unless no rank has any, which is said elsewhere), and which have work without
 * an end. */
static void say_ranks(FILE *out, const tl_summary *s)
{
    int64_t *idle = tl_calloc(s->ranks->n + 1, sizeof *idle), *odd = tl_calloc(s->ranks->n + 1, sizeof *odd);
    int64_t work = 0, ns = 0;
    size_t nidle = 0, nodd = 0;
    TL_ROWS (const tl_rank, rank, s->ranks) {
        if (rank->status == TL_RANK_NO_GPU)
            idle[nidle++] = rank->rank;
        if (rank->too_long > 0)
            odd[nodd++] = rank->rank;
        work += rank->too_long;
        ns = tl_ns_add(ns, rank->too_long > 0 ? rank->too_long_ns : 0);
    }
    if (nidle > 0 && nidle < s->ranks->n)
        tl_print_sentence(out, "No device work in the trace of %s~rank%s: %s", tl_grouped((int64_t)nidle).text,
                          tl_plural((int64_t)nidle), tl_ranks_in_words(idle, nidle, nidle, ",").text);
    if (nodd > 0)
        tl_print_sentence(
            out,
            "%s~piece%s of device work on rank%s %s cannot have run as long as the trace says, and %s here as long as "
            "such work usually does, at most until the next of the stream begins: %s less (table rank, too_long).",
            tl_grouped(work).text, tl_plural(work), tl_plural((int64_t)nodd),
            tl_ranks_in_words(odd, nodd, nodd, ",").text, work == 1 ? "lasts" : "last", tl_duration(ns).text);
    free(idle);
    free(odd);
}

void tl_say_troubles(FILE *out, const tl_summary *s)
{
    const tl_table *health = s->answers->health;
    tl_phrase words;

    say_ranks(out, s);
    for (int defect = 0; health != NULL && defect < TL_NDEFECTS; defect++)
        if (tl_health_in_words(health, (tl_defect)defect, &words))
            tl_print_sentence(out, "Recording: %s", words.text);
    if (s->nmissing > 0)
        tl_print_sentence(out, "No trace of %s~rank%s: %s", tl_grouped((int64_t)s->nmissing).text,
                          tl_plural((int64_t)s->nmissing),
                          tl_ranks_in_words(s->missing, s->nmissing_listed, s->nmissing, ",").text);
}
