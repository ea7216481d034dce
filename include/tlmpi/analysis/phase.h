/* phase.h - which ranks hold the job up, by the times of phases?
 *
 *     records of a file    ->  cells           one by step, phase and rank: micro-steps summed, repeats taken off
 *     cells                ->  phase_step      each beside the median of the ranks in the step
 *     lateness             ->  candidates      when is a rank late in a phase, and could it be chance (verdict.h)
 *     candidates           ->  phase_verdict   in which phase do others wait for it, and what does that cost
 *
 * A phase is a class of work, all ranks are one role; lateness, its shape over steps, its chance and the elimination of
 * candidates that cost too little are those of verdict.h.  One question is new: in which phase do other ranks wait?
 *
 * A collective in a phase makes it equally long on all ranks: a rank that comes late to it is shorter in it by as much
 * as it was longer before.  So a rank that is longer in one phase and shorter in another either is late in the first,
 * and the others wait in the second; or is fast in the second, and waits in the first.  The names of the phases decide
 * (tl_phase_holds_of): a rank waits where collectives are.  If the names leave that open, the steps in which the rank
 * is not late in the first phase decide: if the others' second phase is shorter then, they waited.  Else no rank is
 * named.
 *
 *     rank 3     h2d [######]  training_step [####]       late: shorter in what holds collectives
 *     others     h2d [##]      training_step [########]   they wait
 *
 * On one proc.  May use chance, and of verdict shapes, tests and elimination.
 */
#ifndef TLMPI_ANALYSIS_PHASE_H
#define TLMPI_ANALYSIS_PHASE_H

#include "tlmpi/analysis/verdict.h"
#include "tlmpi/model/phase_tables.h"

/* What a phase's name says of collectives in it. */
tl_phase_holds tl_phase_holds_of(tl_text name);

/* One record, as it stands in a file. */
typedef struct tl_phase_line {
    int32_t rank, step;
    uint64_t phase;   /* content key of its name */
    uint32_t session; /* of its rank in the file */
    int64_t duration_ns;
    uint64_t line, metadata; /* hashes */
} tl_phase_line;

/* What a rank took for a phase of a step. */
typedef struct tl_phase_cell {
    int32_t rank, step;
    uint64_t phase; /* content key of its name; to be judged: number of the name */
    uint32_t records;
    int64_t duration_ns;
    uint64_t metadata; /* hash of that of all records */
    uint32_t file;
} tl_phase_cell;

typedef TL_VEC(tl_phase_cell) tl_phase_cells;

/* Appends a cell for each rank, phase and step of a file's lines, which are sorted here.  Equal lines count once; the
 * durations of lines of the last session are summed.  *repeated counts the other equal lines, *superseded the lines of
 * earlier sessions. */
void tl_phase_fold(tl_phase_line *lines, size_t n, uint32_t file, tl_phase_cells *out, int64_t *repeated,
                   int64_t *superseded);

/* Sorts cells by step, phase, rank; if several files have the same cell, the last file's stays.  files: rows of table
 * phase_file, by number; each counts its records that do not stay.  Returns the number of cells that stay. */
size_t tl_phase_merge(tl_phase_cell *cells, size_t n, tl_phase_file *files);

/* Fills phase_step, phase and phase_verdict from merged cells, whose phases are numbers of `names`, in order of texts.
 * Exposed waiting that tables step and exposed have for all ranks of a phase in a step is taken off it. */
void tl_phases_judge(const tl_phase_cells *cells, const tl_names *names, const tl_verdict_options *options,
                     tl_tables *tables);

#endif
