/* callstack.c - HTA's older call stacks: what each row of the host stands in, by thread alone, without device work. */
#include "nest.h"
#include "tlmpi/compat/hta/stacks.h"
#include <stdlib.h>

/* The stacks of a rank. */
typedef struct stacks {
    const tl_hta_frame *frame;
    uint32_t *parent; /* of the row at a position */
    int32_t *depth;   /* -1: its thread has none */
    int32_t deepest;
    bool blank; /* a row of the host has none: the depths are doubles */
} stacks;

static bool has_device_work(const tl_hta_thread *thread, const tl_hta_row *rows)
{
    for (size_t i = 0; i < thread->n; i++)
        if (rows[thread->at[i]].stream > 0)
            return true;
    return false;
}

static stacks stacks_of(const tl_hta_frame *frame)
{
    const tl_hta_row *rows = frame->rows.v;
    const size_t n = frame->rows.n;
    tl_hta_threads threads = tl_hta_threads_of(frame);
    tl_hta_nest nest = { .rows = rows, .way = TL_HTA_SIBLINGS };
    stacks s = { .frame = frame, .deepest = -1 };

    s.parent = nest.parent = tl_malloc(n * sizeof *s.parent);
    s.depth = tl_malloc(n * sizeof *s.depth);
    nest.opened = tl_malloc(n * sizeof *nest.opened);
    for (size_t t = 0; t < threads.n; t++)
        if (!has_device_work(&threads.v[t], rows))
            tl_hta_nest_rows(&nest, threads.v[t].at, threads.v[t].n);
    tl_hta_threads_free(&threads);

    for (size_t i = 0; i < n; i++)
        s.depth[i] = -1;
    for (size_t i = 0; i < nest.nopened; i++) {
        uint32_t at = nest.opened[i];
        s.depth[at] = s.parent[at] == TL_HTA_TOP ? 0 : s.depth[s.parent[at]] + 1;
    }
    free(nest.opened);
    for (size_t i = 0; i < n; i++)
        if (!tl_hta_on_stream(&rows[i])) {
            s.deepest = s.depth[i] > s.deepest ? s.depth[i] : s.deepest;
            s.blank = s.blank || s.depth[i] < 0;
        }
    return s;
}

static void write_rows(const stacks *s, tl_csv_folder *folder)
{
    const tl_hta_row *rows = s->frame->rows.v;
    tl_csv csv = tl_csv_open_rank(folder, "callstack_old", s->frame->rank, "index,depth,parent");

    for (size_t i = 0; i < s->frame->rows.n; i++) {
        if (tl_hta_on_stream(&rows[i]))
            continue;
        if (s->depth[i] < 0)
            TL_ROW(&csv, tl_int(rows[i].index), tl_blank(), tl_blank());
        else
            TL_ROW(&csv, tl_int(rows[i].index), tl_int(s->depth[i]),
                   tl_int(s->parent[i] == TL_HTA_TOP ? -1 : (int64_t)rows[s->parent[i]].index));
    }
    tl_csv_close(&csv);
}

typedef struct level {
    int64_t events;
    double dur;
} level;

static void write_depths(const stacks *s, tl_csv_folder *folder)
{
    level *levels = tl_calloc((size_t)s->deepest + 2, sizeof *levels);
    tl_csv csv = tl_csv_open_rank(folder, "callstack_old_by_depth", s->frame->rank, "depth,events,dur");

    for (size_t i = 0; i < s->frame->rows.n; i++)
        if (s->depth[i] >= 0 && !tl_hta_on_stream(&s->frame->rows.v[i])) {
            levels[s->depth[i]].events++;
            levels[s->depth[i]].dur += s->frame->rows.v[i].dur;
        }
    for (int32_t depth = 0; depth <= s->deepest; depth++)
        if (levels[depth].events > 0)
            TL_ROW(&csv, tl_number(depth, !s->blank), tl_int(levels[depth].events),
                   tl_number(levels[depth].dur, s->frame->dur_whole));
    free(levels);
    tl_csv_close(&csv);
}

void tl_hta_call_stacks(tl_hta_job *job)
{
    for (size_t i = 0; i < job->frames.n; i++) {
        stacks s = stacks_of(&job->frames.v[i]);
        write_rows(&s, &job->out);
        write_depths(&s, &job->out);
        free(s.parent);
        free(s.depth);
    }
}
