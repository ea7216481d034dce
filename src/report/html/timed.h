/* timed.h - the phases of a result, and heat maps of the phases that take most time: gathered from tables phase and
 * phase_step, which may be far too large to be held.
 *
 *     1. phase         which phases there are, how long each takes, and which ranks take longer
 *     2. phase_step    the cells
 */
#ifndef TLMPI_REPORT_HTML_TIMED_H
#define TLMPI_REPORT_HTML_TIMED_H

#include "heat.h"
#include "tlmpi/base/text.h"
#include "tlmpi/model/phase_tables.h"

typedef struct tl_timed_phase {
    char title[sizeof((tl_phase_verdict *)0)->phase]; /* as in table phase_verdict: may fill it */
    uint32_t name;                                    /* its NAME in tables phase and phase_step */
    int64_t total_ns;
    size_t first_verdict; /* the first row of phase_verdict that is about it; SIZE_MAX: none */
    int heat;             /* of its heat map; -1: it has none */
} tl_timed_phase;

/* A row of table phase. */
typedef struct tl_timed_row {
    uint32_t phase;
    int32_t rank;
    int64_t excess_ns;
} tl_timed_row;

typedef struct tl_timed {
    const tl_phase_verdict *verdicts; /* borrowed */
    size_t nverdicts;
    tl_text (*name)(void *arg, uint32_t id);
    void *name_arg;

    enum { TL_TIMED_PHASES = 1, TL_TIMED_CELLS, TL_TIMED_DONE } pass; /* 0: not begun */
    TL_VEC(tl_timed_phase) phases;
    TL_VEC(tl_timed_row) rows;
    TL_VEC(int32_t) ranks; /* ascending when all are there */
    tl_heat_steps steps;
    size_t ndrawn; /* phases with a heat map, those of verdicts first, then those with most time */
    uint32_t drawn[TL_HEATS_OF_PHASES];
    tl_heat heats[TL_HEATS_OF_PHASES];
    bool *keep[TL_HEATS_OF_PHASES]; /* by rank: a verdict names it, in this phase, or as a straggler in any */
    size_t at_phase, at_rank;       /* where the row before was found: the next is mostly the one after it */
} tl_timed;

/* Ends the pass, and begins the next: *table is what it reads, NULL when all are done. */
void tl_timed_next(tl_timed *timed, const tl_schema **table);
void tl_timed_take(tl_timed *timed, const void *row);
void tl_timed_free(tl_timed *timed);

/* Whether the row of phase_verdict is about the phase. */
bool tl_timed_is_of(const tl_phase_verdict *verdict, const tl_timed_phase *phase);

#endif
