/* walk.c - the rows of table phase_step as what ranks are compared in: its phases, and what is in none.
 *
 *     step 7     rank 0     [h2d][training_step      ]
 *                rank 3     ......[h2d][training_step ]       25 ms less in phases than the others: so much longer outside
 *
 * A step that collectives level takes all ranks equally long, so who has less of it in phases has more outside of them.
 */
#include "internal.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

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

typedef struct outside {
    tl_phase_step *rows; /* [nranks] */
    int32_t *phases;     /* [nranks] phases of the step that a rank has */
    int64_t *scratch;
} outside;

/* What the ranks that have all phases of a step are longer outside of them, in room->rows: how many they are. */
static size_t find_outside(const tl_phasing *p, const tl_phase_step *rows, size_t n, const outside *room)
{
    size_t kept = 0;
    int32_t most = 0;
    for (size_t i = 0; i < p->nranks; i++) {
        room->rows[i] = (tl_phase_step){ .step = rows->step, .rank = p->ranks[i], .wait_ns = -1 };
        room->phases[i] = 0;
    }
    for (size_t i = 0; i < n; i++) {
        size_t rank = tl_index_of(p->ranks, p->nranks, rows[i].rank);
        room->rows[rank].duration_ns = tl_ns_sum(room->rows[rank].duration_ns, -rows[i].duration_ns);
        room->phases[rank]++;
        most = room->phases[rank] > most ? room->phases[rank] : most;
    }
    for (size_t i = 0; i < p->nranks; i++)
        if (room->phases[i] == most)
            room->rows[kept++] = room->rows[i];
    tl_phase_compare(room->rows, kept, room->scratch);
    return kept;
}

bool tl_phase_walk(const tl_phasing *p, void (*see)(const tl_phase_group *group, void *arg), void *arg)
{
    const tl_table *table = tl_tables_get(p->tables, &tl_phase_step_schema);
    const tl_phase_step *rows = tl_table_row(table, 0);
    outside room = { .rows = tl_calloc(p->nranks + 1, sizeof *room.rows),
                     .phases = tl_calloc(p->nranks + 1, sizeof *room.phases),
                     .scratch = tl_calloc(p->nranks + 1, sizeof *room.scratch) };
    bool ok = room.rows != NULL && room.phases != NULL && room.scratch != NULL;

    for (size_t from = 0, to; ok && from < table->n; from = to) {
        size_t step = tl_index_of(p->steps, p->nsteps, rows[from].step);
        to = end_of_step(rows, table->n, from);
        for (size_t i = from, end; i < to; i = end) {
            end = end_of_phase(rows, to, i);
            see(&(tl_phase_group){ rows + i, end - i, step, tl_phase_column(p, &rows[i]) }, arg);
        }
        size_t n = find_outside(p, rows + from, to - from, &room);
        see(&(tl_phase_group){ room.rows, n, step, tl_phase_outside(p) }, arg);
    }
    free(room.rows);
    free(room.phases);
    free(room.scratch);
    return ok;
}
