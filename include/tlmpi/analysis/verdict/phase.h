/* phase.h - which ranks hold the job up, by the durations of phases?
 *
 *     records of a file    ->  cells           one per step, phase and rank: micro-steps summed, repeats removed
 *     cells                ->  phase_step      each beside the median of the ranks in the step
 *     lateness             ->  candidates      when is a rank late in a phase, and is that significant (verdict.h)
 *     candidates           ->  phase_verdict   in which phase do others wait for the rank, and at what cost
 *
 * A phase is a class of work, all ranks are one role; lateness, its shape over steps, its chance and the elimination of
 * candidates that cost too little are those of verdict.h.  In addition: in which phase do other ranks wait?
 *
 * A collective ends at the same time on all ranks: a rank that arrives late is shorter in its phase by as much
 * as it was longer before.  So a rank that is longer in one phase and shorter in another is late in the first,
 * and others wait in the second; or it is fast in the second, and waits in the first.  The phases' names decide
 * (tl_phase_holds_of): ranks wait in collectives.  If the names leave that open, the steps in which the rank
 * is not late in the first phase decide: if the others' second phase is shorter then, they waited.  Else no rank is
 * named.
 *
 *     rank 3     h2d [######]  training_step [####]       late: shorter in the phase with collectives
 *     others     h2d [##]      training_step [########]   they wait
 *
 * On one proc.  May use chance, and of verdict shapes, tests and elimination.
 */
#ifndef TLMPI_ANALYSIS_VERDICT_PHASE_H
#define TLMPI_ANALYSIS_VERDICT_PHASE_H

#include "tlmpi/analysis/verdict/stragglers.h"
#include "tlmpi/model/phase_tables.h"
#include "tlmpi/model/side_table.h"

/* Returns whether a phase holds collectives, by its name. */
tl_phase_holds tl_phase_holds_of(tl_text name);

/* One record of a file. */
typedef struct tl_phase_line {
    int32_t rank, step;
    uint64_t phase;   /* content key of its name */
    uint32_t session; /* session of its rank in the file */
    int64_t duration_ns;
    uint64_t line, metadata; /* hashes */
} tl_phase_line;

/* The time that a rank took for a phase in a step. */
typedef struct tl_phase_cell {
    int32_t rank, step;
    uint64_t phase; /* content key of its name; for tl_phases_judge: index of the name */
    uint32_t records;
    int64_t duration_ns;
    uint64_t metadata; /* hash of the metadata of all records */
    uint32_t file;
} tl_phase_cell;

typedef TL_VEC(tl_phase_cell) tl_phase_cells;

/* Appends a cell per rank, phase and step of a file's lines, which are sorted here.  Equal lines count once; durations
 * of other lines of the last session are summed.  *repeated counts further equal lines, *superseded lines of earlier
 * sessions. */
void tl_phase_fold(tl_phase_line *lines, size_t n, uint32_t file, tl_phase_cells *out, int64_t *repeated,
                   int64_t *superseded);

/* Sorts cells by step, phase, rank; of equal cells from several files, the last file's cell is kept.  files: rows of
 * table side_file, by number; each counts its dropped records.  Returns the number of cells kept. */
size_t tl_phase_merge(tl_phase_cell *cells, size_t n, tl_side_file *files);

/* Fills phase_step, phase and phase_verdict from merged cells, whose phases are indices of `names`, sorted by text.  If
 * tables step and exposed have the exposed waiting of all ranks of a phase in a step, it is subtracted from the
 * phase. */
void tl_phases_judge(const tl_phase_cells *cells, const tl_names *names, const tl_verdict_options *options,
                     tl_tables *tables);

#endif
