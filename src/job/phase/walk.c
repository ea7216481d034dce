/* walk.c - the rows of table phase_step as what ranks are compared in: its phases, and what is in none (outside.c).
 *
 *     step 7     rank 0     [h2d][training_step      ]
 *                rank 3     ......[h2d][training_step ]       25 ms less in training_step: late, and no phase is longer
 */
#include "internal.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/job/transport/rows.h"
#include <stdlib.h>
#include <string.h>

/* The rows of a step are of its phases, one after the other, each by rank. */
static size_t end_of_step(const tl_phase_step *rows, size_t n, size_t from)
{
    size_t to = from;
    while (to < n && rows[to].step == rows[from].step)
        to++;
    return to;
}

static size_t end_of_phase(const tl_phase_step *rows, size_t n, size_t from)
{
    size_t to = from;
    while (to < n && rows[to].phase == rows[from].phase)
        to++;
    return to;
}

/* Room for one step after the other. */
typedef struct outside {
    tl_arena arena;
    tl_phase_step *rows;        /* [nranks] */
    tl_phase_arrival *arrivals; /* [nranks] */
    int64_t *before_ns;         /* [nranks] what is longer in the step before */
    int64_t *scratch;           /* [nranks] */
} outside;

static bool outside_begin(const tl_phasing *p, outside *room)
{
    *room = (outside){ 0 };
    room->rows = tl_arena_take(&room->arena, p->nranks, sizeof *room->rows);
    room->arrivals = tl_arena_take(&room->arena, p->nranks, sizeof *room->arrivals);
    room->before_ns = tl_arena_zeroed(&room->arena, p->nranks, sizeof *room->before_ns);
    room->scratch = tl_arena_take(&room->arena, p->nranks, sizeof *room->scratch);
    return !room->arena.failed;
}

/* The ranks that have all phases of a step, and one that may hold collectives, in room->rows: how many they are.  Of a rank
 * that alone does something nothing tells what the others would be late by without it. */
static size_t find_outside(const tl_phasing *p, const tl_phase_step *rows, size_t n, size_t step, outside *room)
{
    bool follows = step > 0 && p->steps[step] == p->steps[step - 1] + 1;
    size_t kept = 0;
    int32_t most = 0;
    for (size_t i = 0; i < p->nranks; i++)
        room->arrivals[i] = (tl_phase_arrival)TL_PHASE_NO_ARRIVAL;
    for (size_t i = 0; i < n; i++) {
        tl_phase_arrival *arrival = &room->arrivals[tl_index_of(p->ranks, p->nranks, rows[i].rank)];
        tl_phase_arrive(arrival, &rows[i], p->holds[rows[i].phase], p->alone[rows[i].phase] >= 0);
        most = arrival->phases > most ? arrival->phases : most;
    }
    for (size_t i = 0; i < p->nranks; i++) {
        const tl_phase_arrival *arrival = &room->arrivals[i];
        if (arrival->phases == most && arrival->late_ns != INT64_MIN && !p->has_alone[i])
            room->rows[kept++] =
                (tl_phase_step){ .step = rows->step,
                                 .rank = p->ranks[i],
                                 .duration_ns = tl_phase_outside_ns(arrival, follows ? room->before_ns[i] : 0),
                                 .wait_ns = -1 };
        room->before_ns[i] = arrival->longer_ns;
    }
    tl_phase_compare(room->rows, kept, false, room->scratch);
    for (size_t i = 0; i < kept; i++) { /* who is early is no measure of who is late */
        room->rows[i].excess_ns = tl_ns_sum(room->rows[i].excess_ns, tl_ns_min(0, room->rows[i].baseline_ns));
        room->rows[i].baseline_ns = tl_ns_max(0, room->rows[i].baseline_ns);
    }
    return kept;
}

/* What each rank is longer in the last of this proc's steps. */
static void find_last(const tl_phasing *p, outside *room, int64_t *longer_ns)
{
    const tl_table *table = tl_tables_get(p->tables, &tl_phase_step_schema);
    const tl_phase_step *rows = tl_table_row(table, 0);
    size_t from = table->n;
    while (from > 0 && rows[from - 1].step == rows[table->n - 1].step)
        from--;
    if (table->n > 0)
        (void)find_outside(p, rows + from, table->n - from, 0, room);
    memcpy(longer_ns, room->before_ns, p->nranks * sizeof *longer_ns);
}

tl_status tl_phase_before_share(tl_phasing *p, tl_error *err)
{
    const tl_table *table = tl_tables_get(p->tables, &tl_phase_step_schema);
    const size_t nprocs = (size_t)tl_par_nprocs(), nranks = p->nranks;
    int64_t *of_procs = tl_calloc(nprocs * nranks + 1, sizeof *of_procs);
    outside room;
    bool ok = outside_begin(p, &room);

    p->before_ns = tl_calloc(nranks + 1, sizeof *p->before_ns);
    ok = ok && of_procs != NULL && p->before_ns != NULL;
    if (ok)
        find_last(p, &room, of_procs + (size_t)tl_par_proc() * nranks);
    tl_arena_free(&room.arena);
    tl_status st = tl_par_agree(ok ? TL_OK : tl_fail_memory(err, "durations of phases"), err);
    if (st == TL_OK)
        st = tl_reduce_sum(of_procs, nprocs * nranks, err);
    if (ok && st == TL_OK && table->n > 0) {
        const tl_phase_step *row = tl_table_row(table, 0);
        size_t first = tl_index_of(p->steps, p->nsteps, row->step);
        if (first > 0)
            memcpy(p->before_ns, of_procs + (size_t)tl_phase_owner_of(first - 1, p->nsteps) * nranks,
                   nranks * sizeof *of_procs);
    }
    free(of_procs);
    return st;
}

tl_status tl_phase_look(const tl_phasing *p, void (*see)(const tl_phase_group *group, void *arg), void *arg,
                        tl_error *err)
{
    return tl_par_agree(tl_phase_walk(p, see, arg) ? TL_OK : tl_fail_memory(err, "who is late"), err);
}

bool tl_phase_walk(const tl_phasing *p, void (*see)(const tl_phase_group *group, void *arg), void *arg)
{
    const tl_table *table = tl_tables_get(p->tables, &tl_phase_step_schema);
    const tl_phase_step *rows = tl_table_row(table, 0);
    outside room;
    bool ok = outside_begin(p, &room);

    if (ok)
        memcpy(room.before_ns, p->before_ns, p->nranks * sizeof *room.before_ns);
    for (size_t from = 0, to; ok && from < table->n; from = to) {
        size_t step = tl_index_of(p->steps, p->nsteps, rows[from].step);
        to = end_of_step(rows, table->n, from);
        for (size_t i = from, end; i < to; i = end) {
            end = end_of_phase(rows, to, i);
            see(&(tl_phase_group){ rows + i, end - i, step, tl_phase_column(p, &rows[i]) }, arg);
        }
        size_t n = find_outside(p, rows + from, to - from, step, &room);
        see(&(tl_phase_group){ room.rows, n, step, tl_phase_outside(p) }, arg);
    }
    tl_arena_free(&room.arena);
    return ok;
}
