/* timed.c - phases gathered from their tables, in two passes. */
#include "timed.h"

#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/table.h"
#include <stdlib.h>

/* ----------------------------------------------------------------------------------------------------- 1. table phase */

/* Which phase has that name, or the number of phases.  Rows come with the phases in one order, so it mostly is the one
 * after that of the row before. */
static size_t phase_of(tl_timed *t, uint32_t name)
{
    for (size_t i = 0; i < t->phases.n; i++) {
        size_t at = (t->at_phase + i) % t->phases.n;
        if (t->phases.v[at].name == name)
            return t->at_phase = at;
    }
    return t->phases.n;
}

static void take_phase(tl_timed *t, const tl_phase *row)
{
    size_t at = phase_of(t, row->phase);
    if (at == t->phases.n) {
        tl_timed_phase phase = { .name = row->phase, .first_verdict = SIZE_MAX, .heat = -1 };
        tl_text title = t->name(t->name_arg, row->phase);
        tl_cell_text(phase.title, sizeof phase.title, title.p, title.n);
        tl_vec_push(&t->phases, phase);
        t->at_phase = at;
    }
    t->phases.v[at].total_ns = tl_ns_sum(t->phases.v[at].total_ns, row->total_ns);
    tl_vec_push(&t->rows, (tl_timed_row){ (uint32_t)at, row->rank, row->excess_ns });
    if (t->ranks.n == 0 || t->ranks.v[t->ranks.n - 1] != row->rank)
        tl_vec_push(&t->ranks, row->rank);
}

bool tl_timed_is_of(const tl_phase_verdict *verdict, const tl_timed_phase *phase)
{
    return memcmp(verdict->phase, phase->title, sizeof phase->title) == 0;
}

static int compare_drawn(const void *context, uint32_t a, uint32_t b)
{
    const tl_timed_phase *x = &((const tl_timed *)context)->phases.v[a], *y = &((const tl_timed *)context)->phases.v[b];
    if (x->first_verdict != y->first_verdict)
        return x->first_verdict < y->first_verdict ? -1 : 1;
    return TL_COMPARE(y->total_ns, x->total_ns);
}

static void choose_phases(tl_timed *t)
{
    uint32_t *index = tl_calloc(t->phases.n + 1, sizeof *index);
    for (size_t i = 0; i < t->phases.n; i++) {
        index[i] = (uint32_t)i;
        for (size_t k = t->nverdicts; k-- > 1;) /* the first row is about the job */
            if (tl_timed_is_of(&t->verdicts[k], &t->phases.v[i]))
                t->phases.v[i].first_verdict = k;
    }
    tl_sort_index(index, t->phases.n, compare_drawn, t);
    t->ndrawn = t->phases.n < TL_HEATS_OF_PHASES ? t->phases.n : TL_HEATS_OF_PHASES;
    for (size_t i = 0; i < t->ndrawn; i++) {
        t->drawn[i] = index[i];
        t->phases.v[index[i]].heat = (int)i;
    }
    free(index);
}

/* --------------------------------------------------------------------------------------------------------- 2. cells */

static void keep_named(const tl_timed *t, const tl_timed_phase *phase, bool *keep)
{
    for (size_t k = 1; k < t->nverdicts; k++) {
        const tl_phase_verdict *row = &t->verdicts[k];
        size_t at = tl_index_of(t->ranks.v, t->ranks.n, row->rank);
        if (at < t->ranks.n && (row->verdict == TL_PHASE_STRAGGLER || tl_timed_is_of(row, phase)))
            keep[at] = true;
    }
}

static void begin_heats(tl_timed *t)
{
    int64_t *excess = tl_calloc(t->ranks.n + 1, sizeof *excess);
    tl_heat_steps_init(&t->steps, t->nverdicts > 0 ? (size_t)t->verdicts[0].steps : 0);
    for (size_t i = 0; i < t->ndrawn; i++) {
        t->keep[i] = tl_calloc(t->ranks.n + 1, sizeof *t->keep[i]);
        for (size_t r = 0; r < t->ranks.n; r++)
            excess[r] = INT64_MIN;
        for (size_t k = 0; k < t->rows.n; k++)
            if (t->rows.v[k].phase == t->drawn[i])
                excess[tl_index_of(t->ranks.v, t->ranks.n, t->rows.v[k].rank)] = t->rows.v[k].excess_ns;
        keep_named(t, &t->phases.v[t->drawn[i]], t->keep[i]);
        tl_heat_init(&t->heats[i], &t->steps, t->ranks.v, t->ranks.n, t->keep[i], excess);
    }
    free(excess);
    free(t->rows.v);
    t->rows.v = NULL;
    t->rows.n = t->rows.cap = 0;
}

/* Returns the index of the row's rank, mostly the one after the last; nranks where table phase does not have it. */
static size_t rank_of(tl_timed *t, int32_t rank)
{
    size_t n = t->ranks.n, next = t->at_rank + 1 < n ? t->at_rank + 1 : 0;
    size_t at = n > 0 && t->ranks.v[next] == rank ? next : tl_index_of(t->ranks.v, n, rank);
    t->at_rank = at < n ? at : t->at_rank;
    return at;
}

static void take_cell(tl_timed *t, const tl_phase_step *row)
{
    if (tl_heat_steps_fills(&t->steps, row->step))
        for (size_t i = 0; i < t->ndrawn; i++)
            tl_heat_close(&t->heats[i]);
    tl_heat_steps_enter(&t->steps, row->step);
    size_t at = phase_of(t, row->phase), rank = rank_of(t, row->rank);
    int heat = at < t->phases.n ? t->phases.v[at].heat : -1;
    if (heat >= 0 && rank < t->ranks.n)
        tl_heat_add(&t->heats[heat], rank, row->excess_ns, row->baseline_ns, false);
}

/* ------------------------------------------------------------------------------------------------------------ passes */

void tl_timed_next(tl_timed *t, const tl_schema **table)
{
    *table = NULL;
    switch (t->pass) {
    case TL_TIMED_PHASES:
        t->ranks.n = tl_heat_ranks(t->ranks.v, t->ranks.n);
        choose_phases(t);
        begin_heats(t);
        t->pass = t->phases.n > 0 ? TL_TIMED_CELLS : TL_TIMED_DONE;
        break;
    case TL_TIMED_CELLS:
        for (size_t i = 0; i < t->ndrawn; i++)
            tl_heat_end(&t->heats[i]);
        t->pass = TL_TIMED_DONE;
        break;
    case TL_TIMED_DONE:
        break;
    default:
        t->pass = TL_TIMED_PHASES;
    }
    t->at_phase = 0;
    if (t->pass != TL_TIMED_DONE)
        *table = t->pass == TL_TIMED_PHASES ? &tl_phase_schema : &tl_phase_step_schema;
}

void tl_timed_take(tl_timed *t, const void *row)
{
    if (t->pass == TL_TIMED_PHASES)
        take_phase(t, row);
    else
        take_cell(t, row);
}

void tl_timed_free(tl_timed *t)
{
    free(t->phases.v);
    free(t->rows.v);
    free(t->ranks.v);
    tl_heat_steps_free(&t->steps);
    for (size_t i = 0; i < TL_HEATS_OF_PHASES; i++) {
        tl_heat_free(&t->heats[i]);
        free(t->keep[i]);
    }
}
