/* phases.h - a file of phases: JSON lines, each a record of one phase of a step.
 *
 *     {"duration_ms": 1.25, "micro_step": 0, "name": "training_step", "rank": 3, "step": 7}
 *
 * libtlmpi_record and the CUDA-event profiler of lmms-engine write such files.  Keys come in any order; of equal keys
 * the last counts.  name, step and duration_ms are required; rank may come from the file's name; every other key is
 * metadata.
 *
 * A bad line is dropped alone, and counted: it is not JSON, lacks a key, or its duration is below 0, not a number, or
 * longer than a hundred days.  A truncated last line is reported separately.  Values of Python that are not JSON (NaN,
 * Infinity) are read as null.  The file may be compressed like a trace.
 */
#ifndef TLMPI_TRACE_READ_PHASES_H
#define TLMPI_TRACE_READ_PHASES_H

#include "tlmpi/base/text.h"
#include "tlmpi/model/side_table.h"
#include <stdint.h>

typedef struct tl_phase_record {
    tl_text name; /* valid until the next record */
    int32_t step;
    int32_t rank;
    int64_t duration_ns;
    uint64_t line;     /* hash of the line's text */
    uint64_t metadata; /* hash of all other keys and values; 0: there are none */
} tl_phase_record;

/* Calls `take` for each record, in file order, and fills in rank, entries, lost, status and error of the row; its
 * path and number are the caller's.  named_rank: the rank of records that do not say; -1: none. */
void tl_phases_read(const char *path, int32_t named_rank, void (*take)(void *arg, const tl_phase_record *record),
                    void *arg, tl_side_file *row);

#endif
