/* callstack.c - HTA's older call stacks: what each row of the host stands in, by thread alone, without device work. */
#include "nest.h"
#include "threads.h"
#include "tlmpi/compat/hta/stacks.h"
#include "tlmpi/compat/sheet.h"
#include <stdlib.h>

/* The stacks of a rank. */
typedef struct stacks {
    const tl_hta_frame *frame;
    tl_arena arena;
    uint32_t *parent; /* of the row at a position */
    int32_t *depth;   /* -1: its thread has none */
    int32_t deepest;
    bool blank; /* a row of the host has none: the columns are of doubles */
} stacks;

static bool has_device_work(const tl_hta_thread *thread, const tl_hta_row *rows)
{
    for (size_t i = 0; i < thread->n; i++)
        if (rows[thread->at[i]].stream > 0)
            return true;
    return false;
}

static bool stack_up(stacks *s, const tl_hta_frame *frame)
{
    const tl_hta_row *rows = frame->rows.v;
    size_t n = frame->rows.n;
    tl_hta_threads threads = { 0 };
    tl_hta_nest nest = { .rows = rows, .way = TL_HTA_SIBLINGS };

    *s = (stacks){ .frame = frame, .deepest = -1 };
    s->parent = nest.parent = tl_arena_take(&s->arena, n, sizeof *s->parent);
    s->depth = tl_arena_take(&s->arena, n, sizeof *s->depth);
    nest.opened = tl_arena_take(&s->arena, n, sizeof *nest.opened);
    bool ok = !s->arena.failed && tl_hta_threads_of(&threads, frame);
    for (size_t t = 0; ok && t < threads.n; t++)
        if (!has_device_work(&threads.v[t], rows))
            ok = tl_hta_nest_rows(&nest, threads.v[t].at, threads.v[t].n);
    tl_hta_threads_free(&threads);
    if (!ok)
        return false;

    for (size_t i = 0; i < n; i++)
        s->depth[i] = -1;
    for (size_t i = 0; i < nest.nopened; i++) {
        uint32_t at = nest.opened[i];
        s->depth[at] = s->parent[at] == TL_HTA_TOP ? 0 : s->depth[s->parent[at]] + 1;
    }
    for (size_t i = 0; i < n; i++)
        if (!tl_hta_on_stream(&rows[i])) {
            s->deepest = s->depth[i] > s->deepest ? s->depth[i] : s->deepest;
            s->blank = s->blank || s->depth[i] < 0;
        }
    return true;
}

static void write_rows(tl_sheet *csv, const stacks *s)
{
    const tl_hta_row *rows = s->frame->rows.v;

    for (size_t i = 0; i < s->frame->rows.n; i++) {
        if (tl_hta_on_stream(&rows[i]))
            continue;
        tl_sheet_int(csv, rows[i].index);
        if (s->depth[i] < 0) {
            tl_sheet_blank(csv);
            tl_sheet_blank(csv);
        } else {
            tl_sheet_number(csv, s->depth[i], !s->blank);
            tl_sheet_number(csv, s->parent[i] == TL_HTA_TOP ? -1 : (double)rows[s->parent[i]].index, !s->blank);
        }
        tl_sheet_end_row(csv);
    }
}

typedef struct level {
    uint64_t events;
    double dur;
} level;

static bool write_depths(tl_sheet *csv, const stacks *s)
{
    level *levels = tl_calloc((size_t)s->deepest + 2, sizeof *levels);
    if (levels == NULL)
        return false;
    for (size_t i = 0; i < s->frame->rows.n; i++)
        if (s->depth[i] >= 0 && !tl_hta_on_stream(&s->frame->rows.v[i])) {
            levels[s->depth[i]].events++;
            levels[s->depth[i]].dur += s->frame->rows.v[i].dur;
        }
    for (int32_t depth = 0; depth <= s->deepest; depth++) {
        if (levels[depth].events == 0)
            continue;
        tl_sheet_number(csv, depth, !s->blank);
        tl_sheet_int(csv, (int64_t)levels[depth].events);
        tl_sheet_number(csv, levels[depth].dur, s->frame->dur_whole);
        tl_sheet_end_row(csv);
    }
    free(levels);
    return true;
}

static tl_status write_rank(const tl_hta_frame *frame, const char *dir, tl_error *err)
{
    char name[64];
    tl_sheet csv;
    stacks s;
    tl_status st = stack_up(&s, frame) ? TL_OK : tl_fail_memory(err, "the call stacks of a rank");

    if (st == TL_OK) {
        snprintf(name, sizeof name, "callstack_old_rank%lld.csv", (long long)frame->rank);
        st = tl_sheet_open(&csv, dir, name, "index,depth,parent", err);
    }
    if (st == TL_OK) {
        write_rows(&csv, &s);
        st = tl_sheet_close(&csv, err);
    }
    if (st == TL_OK) {
        snprintf(name, sizeof name, "callstack_old_by_depth_rank%lld.csv", (long long)frame->rank);
        st = tl_sheet_open(&csv, dir, name, "depth,events,dur", err);
    }
    if (st == TL_OK) {
        if (!write_depths(&csv, &s))
            tl_sheet_no_memory(&csv);
        st = tl_sheet_close(&csv, err);
    }
    tl_arena_free(&s.arena);
    return st;
}

tl_status tl_hta_call_stacks(tl_hta_job *job, const char *dir, tl_error *err)
{
    tl_status st = TL_OK;
    for (size_t i = 0; i < job->frames.n && st == TL_OK; i++)
        st = write_rank(&job->frames.v[i], dir, err);
    return st;
}
