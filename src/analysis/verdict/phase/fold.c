/* fold.c - from records to one cell per step, phase and rank.
 *
 *     micro_step 0, 1, 2 of a step          summed
 *     the same line twice                   counts once
 *     a step that was run again             the last session, or file, counts
 */
#include "tlmpi/analysis/verdict/phase.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"

TL_SORT_BY(by_line, tl_phase_line, rank, phase, step, line, session)

/* Folds the lines of one cell. */
static void fold_cell(const tl_phase_line *v, size_t n, tl_phase_cell *cell, int64_t *repeated, int64_t *superseded)
{
    uint32_t last = 0;
    for (size_t i = 0; i < n; i++)
        last = v[i].session > last ? v[i].session : last;
    for (size_t i = 0; i < n; i++) {
        if (i + 1 < n && v[i + 1].line == v[i].line) { /* equal lines are sorted by session: the last one counts */
            ++*repeated;
        } else if (v[i].session < last) {
            ++*superseded;
        } else {
            cell->duration_ns = tl_ns_add(cell->duration_ns, v[i].duration_ns);
            cell->metadata += tl_hash_mix(v[i].metadata, 1);
            cell->records += cell->records < INT32_MAX;
        }
    }
}

void tl_phase_fold(tl_phase_line *lines, size_t n, uint32_t file, tl_phase_cells *out, int64_t *repeated,
                   int64_t *superseded)
{
    tl_sort(lines, n, sizeof *lines, by_line);
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && TL_ORDER(&lines[to], &lines[from], rank, phase, step) == 0; to++)
            ;
        tl_phase_cell cell = {
            .rank = lines[from].rank, .step = lines[from].step, .phase = lines[from].phase, .file = file
        };
        fold_cell(lines + from, to - from, &cell, repeated, superseded);
        tl_vec_push(out, cell);
    }
}

TL_SORT_BY(by_cell, tl_phase_cell, step, phase, rank, file)

size_t tl_phase_merge(tl_phase_cell *cells, size_t n, tl_side_file *files)
{
    size_t kept = 0;
    tl_sort(cells, n, sizeof *cells, by_cell);
    for (size_t i = 0; i < n; i++) {
        const tl_phase_cell *next = i + 1 < n ? &cells[i + 1] : NULL;
        tl_side_file *file = &files[cells[i].file];
        if (next == NULL || TL_ORDER(&cells[i], next, step, phase, rank) != 0) {
            cells[kept++] = cells[i];
        } else if (TL_ORDER(&cells[i], next, duration_ns, records, metadata) == 0) {
            file->repeated += cells[i].records;
        } else {
            file->superseded += cells[i].records;
            file->replaced += cells[i].records;
            if (file->replaced_by < 0 || (int32_t)next->file < file->replaced_by)
                file->replaced_by = (int32_t)next->file;
        }
    }
    return kept;
}
