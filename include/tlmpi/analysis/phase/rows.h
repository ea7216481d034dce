/* rows.h - what was found, as rows of table phase_verdict, each with its reason. */
#ifndef TLMPI_ANALYSIS_PHASE_ROWS_H
#define TLMPI_ANALYSIS_PHASE_ROWS_H

#include "tlmpi/analysis/phase.h"

/* What a unit comes to. */
typedef struct tl_phase_reading {
    tl_phase_answer answer;
    uint32_t in;        /* phase that makes up for it, as of tl_phase_explain */
    bool by_history;    /* told by the steps in which it is not late */
    int64_t shorter_ns; /* what the rank is shorter by there */
    int32_t nwaiters;
    int64_t waited_ns;
} tl_phase_reading;

typedef struct tl_phase_found {
    const tl_phase_title *titles; /* of phases, in order */
    size_t nphases, ncolumns, nsteps, nranks;
    const int32_t *steps;
    const int64_t *step_ns;
    const tl_phase_holds *holds; /* by column: phases, the same less measured waits, and what is outside of all */
    const tl_phase_norm *norms;  /* likewise */
    const tl_phase_unit *units;
    tl_phase_reading *readings;
    size_t nunits;
    int64_t cost_ns; /* of all that are named together */
} tl_phase_found;

/* False when memory is out. */
bool tl_phase_verdict_rows(const tl_phase_found *found, tl_table *table);

#endif
