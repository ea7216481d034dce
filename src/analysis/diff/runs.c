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

static const char unknown[] = "not known";

/* Lists the distinct texts in a column of table rank. */
static void list_texts(const side *s, size_t column, size_t size, char text[TEXT])
{
    TL_ROWS (const tl_rank, row, table_of(s, &tl_rank_schema)) {
        char one[TEXT + 1] = "";
        memcpy(one, (const char *)row + column, size);
        size_t used = strlen(text);
        if (one[0] != '\0' && strstr(text, one) == NULL)
            snprintf(text + used, TEXT - used, "%s%s", used > 0 ? "; " : "", one);
    }
    if (text[0] == '\0')
        snprintf(text, TEXT, "%s", unknown);
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

/* Returns the arithmetic of a rank in a step, FLOP, which grows with the input; NaN: not recorded. */
static double flop_of(const tl_diff *diff, int which)
{
    const side *s = &diff->side[which];
    double flop = 0;
    TL_ROWS (const tl_breakdown, row, table_of(s, &tl_breakdown_schema)) {
        size_t rank = place_of(s->ranks.v, s->ranks.n, row->rank);
        bool whole = s->marked ? place_of(s->steps.v, s->steps.n, row->step) < s->steps.n : row->step == -1;
        flop += rank < s->ranks.n && whole && row->device == -1 ? s->weight[rank] * row->flop : 0;
    }
    return flop / diff->of[KERNELS].rate[which];
}

static bool is_other(const double v[2])
{
    return fabs(v[B] - v[A]) > TL_DIFF_LEAST * fmax(v[A], v[B]);
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

static void put_fact(tl_diff *diff, const char *what, bool differs, const char *a, const char *b)
{
    tl_diff_run *row = tl_table_add(&diff->tables[TABLE_RUN]);
    row->place = (int32_t)diff->tables[TABLE_RUN].n;
    row->differs = differs;
    tl_cell_text(row->what, sizeof row->what, what, strlen(what));
    tl_cell_text(row->a, sizeof row->a, a, strlen(a));
    tl_cell_text(row->b, sizeof row->b, b, strlen(b));
}

/* Adds a fact that differs if its texts do, unless one is not known. */
static void put_texts(tl_diff *diff, const char *what, char text[2][TEXT])
{
    put_fact(diff, what,
             strcmp(text[A], text[B]) != 0 && strcmp(text[A], unknown) != 0 && strcmp(text[B], unknown) != 0, text[A],
             text[B]);
}

void tl_diff_runs(tl_diff *diff)
{
    char device[2][TEXT] = { "" }, libraries[2][TEXT] = { "" }, world[2][TEXT], ranks[2][TEXT], selection[2][TEXT],
         common[2][TEXT], input[2][TEXT], arithmetic[2][TEXT], damaged[2][TEXT], lost[2][TEXT], steps[2][TEXT];
    const char *const run[] = { diff->side[A].in->run, diff->side[B].in->run };
    int64_t all_lost = 0, all_damaged = 0;
    double bytes[2], flop[2], share[2];

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
        flop[i] = flop_of(diff, i);
        list_texts(s, offsetof(tl_rank, device_name), sizeof(((tl_rank *)NULL)->device_name), device[i]);
        list_texts(s, offsetof(tl_rank, libraries), sizeof(((tl_rank *)NULL)->libraries), libraries[i]);
        put_compared(s, ranks[i], TEXT);
        snprintf(common[i], TEXT, "%.0f %%", 100 * share[i]);
        snprintf(world[i], TEXT, size > 0 ? "%lld" : unknown, (long long)size);
        snprintf(input[i], TEXT, bytes[i] > 0 ? "%.0f bytes" : "none", bytes[i]);
        snprintf(arithmetic[i], TEXT, flop[i] > 0 ? "%.4g GFLOP" : unknown, flop[i] / 1e9);
        snprintf(selection[i], TEXT, "%s", s->in->selection != NULL ? s->in->selection : "all");
        snprintf(damaged[i], TEXT, ndamaged == 1 ? "%lld rank" : "%lld ranks", (long long)ndamaged);
        snprintf(lost[i], TEXT, "%lld of %lld launches", (long long)nlost, (long long)of);
        if (s->marked)
            snprintf(steps[i], TEXT, s->cut ? "%zu compared, later ones are cut" : "%zu compared", s->steps.n);
        else
            snprintf(steps[i], TEXT, diff->basis.whole ? "whole recording" : "recording of %.1f steps", s->recorded);
    }
    put_fact(diff, "kernel time in common", diff->basis.other_work, common[A], common[B]);
    put_texts(diff, "device", device);
    put_texts(diff, "libraries", libraries);
    if (run[A] != NULL || run[B] != NULL) {
        char which[2][TEXT];
        for (int i = A; i <= B; i++)
            snprintf(which[i], TEXT, "%s%s", run[i] != NULL ? run[i] : "the only one",
                     run[i] != NULL ? " (alone compared)" : "");
        put_fact(diff, "run", true, which[A], which[B]);
    }
    put_texts(diff, "world size", world);
    put_texts(diff, "ranks", ranks);
    put_fact(diff, diff->basis.whole ? "arithmetic of a recording" : "arithmetic of a step", is_other(flop),
             arithmetic[A], arithmetic[B]);
    put_fact(diff, "mean copy to the device", is_other(bytes), input[A], input[B]);
    put_texts(diff, "selection", selection);
    if (all_damaged > 0)
        put_fact(diff, "damaged traces", true, damaged[A], damaged[B]);
    if (all_lost > 0)
        put_fact(diff, "lost work", true, lost[A], lost[B]);
    put_fact(diff, "steps", false, steps[A], steps[B]);
    put_fact(diff, "traces", false, diff->side[A].in->path, diff->side[B].in->path);
}
