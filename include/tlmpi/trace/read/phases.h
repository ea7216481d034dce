/* phases.h - a file of phases: JSON lines, one record of a phase of a step each.
 *
 *     {"duration_ms": 1.25, "micro_step": 0, "name": "training_step", "rank": 3, "step": 7}
 *
 * libtlmpi_record and the CUDA-event profiler of lmms-engine write them.  Keys stand in any order; of equal ones the
 * last counts.  name, step and duration_ms are needed, rank may be told by the file's name; every other key is metadata.
 *
 * A bad line costs itself, and is counted: no JSON, a key that is missing, a duration that is below 0, no number or
 * longer than a hundred days.  A last line that is cut is told apart.  What Python writes and JSON does not know (NaN,
 * Infinity) is read as null.  The file may be packed as a trace may be.
 */
#ifndef TLMPI_TRACE_READ_PHASES_H
#define TLMPI_TRACE_READ_PHASES_H

#include "tlmpi/base/status.h"
#include "tlmpi/base/text.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct tl_phase_record {
    tl_text name; /* until the next record */
    int32_t step;
    int32_t rank; /* -1: the record does not say */
    int64_t duration_ns;
    uint64_t line;     /* hash of its text */
    uint64_t metadata; /* hash of all other keys and values; 0 without any */
} tl_phase_record;

/* What the reading of a file came to. */
typedef struct tl_phases_report {
    int64_t file_bytes;
    int64_t lines;          /* that are not empty */
    int64_t records;        /* lines that are a record */
    int64_t no_json;        /* lines lost: no JSON object */
    int64_t no_key;         /* lines lost: name or step is missing, or is none */
    int64_t no_duration;    /* lines lost: the duration is missing, or cannot be */
    int64_t first_bad_byte; /* offset in the text of the first line lost, or of the cut; -1 */
    char first_bad[256];    /* what was expected there, and what was done */
    bool cut;               /* the last line is not whole */
    bool fault;             /* the compressed stream is damaged */
} tl_phases_report;

/* Gives each record to `take`, in the order of the file.  TL_OK even when the file is damaged: *out tells.  TL_EINPUT: the
 * file cannot be opened. */
tl_status tl_phases_read(const char *path, void (*take)(void *arg, const tl_phase_record *record), void *arg,
                         tl_phases_report *out, tl_error *err);

#endif
