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

typedef struct fact {
    char text[2][256];
} fact;

static void put_fact(tl_diff *diff, const char *what, const fact *f, bool differs)
{
    tl_diff_run *row = tl_table_add(&diff->tables[TABLE_RUN]);
    row->differs = differs;
    tl_cell_text(row->what, sizeof row->what, what, strlen(what));
    tl_cell_text(row->a, sizeof row->a, f->text[A], strlen(f->text[A]));
    tl_cell_text(row->b, sizeof row->b, f->text[B], strlen(f->text[B]));
}

/* Adds a fact; it differs if its texts do. */
static void put_if_differs(tl_diff *diff, const char *what, const fact *f)
{
    put_fact(diff, what, f, strcmp(f->text[A], f->text[B]) != 0);
}

/* Lists the distinct texts in a column of table rank; "not known" if there are none. */
static void put_texts(const side *s, size_t column, size_t size, char text[256])
{
    TL_ROWS (const tl_rank, row, table_of(s, &tl_rank_schema)) {
        char one[sizeof(((fact *)NULL)->text[A]) + 1] = "";
        memcpy(one, (const char *)row + column, size);
        size_t used = strlen(text);
        if (one[0] != '\0' && strstr(text, one) == NULL)
            snprintf(text + used, 256 - used, "%s%s", used > 0 ? "; " : "", one);
    }
    if (text[0] == '\0')
        snprintf(text, 256, "not known");
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

void tl_diff_runs(tl_diff *diff)
{
    fact traces = { 0 }, ranks = { 0 }, world = { 0 }, devices = { 0 }, libraries = { 0 }, steps = { 0 }, part = { 0 },
         lost = { 0 };
    fact damaged = { 0 }, input = { 0 };
    bool is_lost = false, is_damaged = false;
    double bytes[2];

    for (int i = A; i <= B; i++) {
        const side *s = &diff->side[i];
        int64_t size = -1, nlost = 0, of = 0, ndamaged = 0;
        snprintf(traces.text[i], sizeof traces.text[i], "%s", s->in->path);
        put_compared(s, ranks.text[i], sizeof ranks.text[i]);
        TL_ROWS (const tl_rank, row, table_of(s, &tl_rank_schema)) {
            size = tl_ns_max(size, row->world_size);
            ndamaged +=
                row->status == TL_RANK_DAMAGED || row->status == TL_RANK_CUT || row->status == TL_RANK_UNREADABLE;
        }
        TL_ROWS (const tl_health, row, table_of(s, &tl_health_schema)) {
            nlost += row->defect == TL_DEFECT_LOST ? row->count : 0;
            of += row->defect == TL_DEFECT_LOST ? row->of : 0;
        }
        snprintf(world.text[i], sizeof world.text[i], size > 0 ? "%lld" : "not known", (long long)size);
        put_texts(s, offsetof(tl_rank, device_name), sizeof(((tl_rank *)NULL)->device_name), devices.text[i]);
        put_texts(s, offsetof(tl_rank, libraries), sizeof(((tl_rank *)NULL)->libraries), libraries.text[i]);
        if (s->marked)
            snprintf(steps.text[i], sizeof steps.text[i], "%zu compared", s->steps.n);
        else
            snprintf(steps.text[i], sizeof steps.text[i],
                     diff->basis.whole ? "whole recording" : "recording of %.1f steps", s->recorded);
        snprintf(part.text[i], sizeof part.text[i], "%s", s->in->selection != NULL ? s->in->selection : "all");
        snprintf(lost.text[i], sizeof lost.text[i], "%lld of %lld launches", (long long)nlost, (long long)of);
        snprintf(damaged.text[i], sizeof damaged.text[i], ndamaged == 1 ? "%lld rank" : "%lld ranks",
                 (long long)ndamaged);
        bytes[i] = input_of(diff, i);
        snprintf(input.text[i], sizeof input.text[i], "%.0f bytes", bytes[i]);
        is_lost |= nlost > 0;
        is_damaged |= ndamaged > 0;
    }
    put_if_differs(diff, "device", &devices);
    put_if_differs(diff, "libraries", &libraries);
    put_if_differs(diff, "world size", &world);
    put_if_differs(diff, "ranks", &ranks);
    put_fact(diff, "mean copy to the device", &input,
             fabs(bytes[B] - bytes[A]) > TL_DIFF_LEAST * fmax(bytes[A], bytes[B]));
    put_if_differs(diff, "selection", &part);
    if (is_damaged)
        put_fact(diff, "damaged traces", &damaged, true);
    if (is_lost)
        put_fact(diff, "lost work", &lost, true);
    put_fact(diff, "steps", &steps, false);
    put_fact(diff, "traces", &traces, false);
    int32_t place = 0;
    TL_ROWS (tl_diff_run, row, &diff->tables[TABLE_RUN])
        row->place = ++place;
}
