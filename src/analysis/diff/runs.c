/* runs.c - facts in which two runs differ, besides times. */
#include "internal.h"
#include "tlmpi/model/health_table.h"
#include "tlmpi/model/participant.h"
#include "tlmpi/model/work_tables.h"
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 256 }; /* bytes of a fact */

/* The facts, in their order in table diff_run. */
typedef enum fact { WORK, DEVICE, LIBRARIES, WORLD, RANKS, INPUT, SELECTION, DAMAGED, LOST, STEPS, TRACES, NFACTS } fact;

/* Lists the distinct texts in a column of table rank; "not known" if there are none. */
static void put_texts(const side *s, size_t column, size_t size, char text[TEXT])
{
    TL_ROWS (const tl_rank, row, table_of(s, &tl_rank_schema)) {
        char one[TEXT + 1] = "";
        memcpy(one, (const char *)row + column, size);
        size_t used = strlen(text);
        if (one[0] != '\0' && strstr(text, one) == NULL)
            snprintf(text + used, TEXT - used, "%s%s", used > 0 ? "; " : "", one);
    }
    if (text[0] == '\0')
        snprintf(text, TEXT, "not known");
}

/* Returns the mean size in bytes of a copy to the device, a measure of the input size. */
static double input_of(const tl_diff *diff, int which)
{
    double bytes = 0, count = 0;
    TL_ROWS (const tl_copy_row, row, table_of(&diff->side[which], &tl_copy_row_schema)) {
        tl_text name = diff->side[which].in->name(diff->side[which].in->name_arg, row->name);
        if (tl_text_has(name, "HtoD") || tl_text_has(name, "HostToDevice")) {
            bytes += (double)row->bytes;
            count += (double)row->count;
        }
    }
    return count > 0 ? bytes / count : 0;
}

/* Sets the share of the time of each side's kernels in launches that the other side has, too.  Returns whether the runs
 * do different work: of a side less than half of the time is common, and less than half of all launches are. */
static bool find_common(const tl_diff *diff, double share[2])
{
    const works *kernels = &diff->of[KERNELS];
    double common_ns[2] = { 0 }, all_ns[2] = { 0 }, common = 0, most = 0;
    TL_EACH (const work, x, kernels->v) {
        const double n[] = { x->side[A].count / kernels->rate[A], x->side[B].count / kernels->rate[B] };
        common += fmin(n[A], n[B]);
        most += fmax(n[A], n[B]);
        for (int i = A; i <= B; i++) {
            all_ns[i] += (double)x->side[i].ns;
            common_ns[i] += n[i] > 0 ? (double)x->side[i].ns * fmin(1, n[!i] / n[i]) : 0;
        }
    }
    for (int i = A; i <= B; i++)
        share[i] = all_ns[i] > 0 ? common_ns[i] / all_ns[i] : 1;
    return 2 * common < most && 2 * fmin(share[A], share[B]) < 1;
}

void tl_diff_put_ranks(char *text, size_t size, const int64_t *ranks, size_t n)
{
    int32_t *v = tl_calloc(n + 1, sizeof *v);
    for (size_t i = 0; i < n; i++)
        v[i] = (int32_t)ranks[i];
    tl_ranks_text(v, n, text, size);
    free(v);
}

/* "0-5", "0-7 (0-5 compared)" */
static void put_compared(const side *s, char *text, size_t size)
{
    char own[64] = "", compared[64] = "";
    tl_diff_put_ranks(text, size - 1, s->ranks.v, s->ranks.n);
    if (s->own.n == 0 || s->own.n == s->ranks.n)
        return;
    tl_diff_put_ranks(compared, sizeof compared - 1, s->ranks.v, s->ranks.n);
    tl_diff_put_ranks(own, sizeof own - 1, s->own.v, s->own.n);
    snprintf(text, size, "%s (%s compared)", own, compared);
}

static bool is_known(char text[2][TEXT])
{
    return strcmp(text[A], "not known") != 0 && strcmp(text[B], "not known") != 0;
}

void tl_diff_runs(tl_diff *diff)
{
    static const char *const what[NFACTS] = {
        "kernel time in common", "device",         "libraries", "world size", "ranks", "mean copy to the device",
        "selection",             "damaged traces", "lost work", "steps",      "traces"
    };
    char text[NFACTS][2][TEXT] = { 0 };
    int64_t all_lost = 0, all_damaged = 0;
    double bytes[2], share[2];

    diff->basis.other_work = find_common(diff, share);
    for (int i = A; i <= B; i++) {
        const side *s = &diff->side[i];
        int64_t size = -1, nlost = 0, of = 0, ndamaged = 0;
        TL_ROWS (const tl_rank, row, table_of(s, &tl_rank_schema)) {
            size = tl_ns_max(size, row->world_size);
            ndamaged +=
                row->status == TL_RANK_DAMAGED || row->status == TL_RANK_CUT || row->status == TL_RANK_UNREADABLE;
        }
        TL_ROWS (const tl_health, row, table_of(s, &tl_health_schema)) {
            nlost += row->defect == TL_DEFECT_LOST ? row->count : 0;
            of += row->defect == TL_DEFECT_LOST ? row->of : 0;
        }
        all_lost += nlost;
        all_damaged += ndamaged;
        bytes[i] = input_of(diff, i);
        put_texts(s, offsetof(tl_rank, device_name), sizeof(((tl_rank *)NULL)->device_name), text[DEVICE][i]);
        put_texts(s, offsetof(tl_rank, libraries), sizeof(((tl_rank *)NULL)->libraries), text[LIBRARIES][i]);
        snprintf(text[WORLD][i], TEXT, size > 0 ? "%lld" : "not known", (long long)size);
        put_compared(s, text[RANKS][i], TEXT);
        snprintf(text[WORK][i], TEXT, "%.0f %%", 100 * share[i]);
        snprintf(text[INPUT][i], TEXT, bytes[i] > 0 ? "%.0f bytes" : "none", bytes[i]);
        snprintf(text[SELECTION][i], TEXT, "%s", s->in->selection != NULL ? s->in->selection : "all");
        snprintf(text[DAMAGED][i], TEXT, ndamaged == 1 ? "%lld rank" : "%lld ranks", (long long)ndamaged);
        snprintf(text[LOST][i], TEXT, "%lld of %lld launches", (long long)nlost, (long long)of);
        if (s->marked)
            snprintf(text[STEPS][i], TEXT, "%zu compared", s->steps.n);
        else
            snprintf(text[STEPS][i], TEXT, diff->basis.whole ? "whole recording" : "recording of %.1f steps",
                     s->recorded);
        snprintf(text[TRACES][i], TEXT, "%s", s->in->path);
    }
    for (int f = 0; f < NFACTS; f++) {
        if ((f == DAMAGED && all_damaged == 0) || (f == LOST && all_lost == 0))
            continue;
        tl_diff_run *row = tl_table_add(&diff->tables[TABLE_RUN]);
        row->place = (int32_t)diff->tables[TABLE_RUN].n;
        row->differs = f == INPUT ? fabs(bytes[B] - bytes[A]) > TL_DIFF_LEAST * fmax(bytes[A], bytes[B])
                       : f == WORK                 ? diff->basis.other_work
                       : f == DAMAGED || f == LOST ? 1
                       : f < STEPS                 ? strcmp(text[f][A], text[f][B]) != 0 && is_known(text[f])
                                                   : 0;
        tl_cell_text(row->what, sizeof row->what, what[f], strlen(what[f]));
        tl_cell_text(row->a, sizeof row->a, text[f][A], strlen(text[f][A]));
        tl_cell_text(row->b, sizeof row->b, text[f][B], strlen(text[f][B]));
    }
}
