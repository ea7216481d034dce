/* pattern.h - which sequences of device work do the operators of a rank launch again and again?
 *
 * From the view of one rank.  Uses no other folder.
 */
#ifndef TLMPI_ANALYSIS_RANK_WORK_PATTERN_H
#define TLMPI_ANALYSIS_RANK_WORK_PATTERN_H

#include "tlmpi/analysis/analysis.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/model/pattern_table.h"
#include "tlmpi/model/view.h"
#include <stdbool.h>

extern const tl_analysis tl_pattern_analysis;

/* One time that an operator launched a sequence: its work, on the device of its first. */
typedef struct tl_occurrence {
    int32_t pattern; /* 1 for the sequence with the most device time, and so on */
    int32_t device;
    int64_t start_ns, end_ns; /* first start and last end of the work */
    int64_t kernels;
    int64_t id;        /* of the sequence, as in table pattern */
    uint32_t operator; /* id of a name: of the operators with this sequence the one with the most host time */
} tl_occurrence;

typedef TL_VEC(tl_occurrence) tl_occurrences;

/* Appends the occurrences of the `most` sequences with the most device time, by device, pattern and start.  The caller
 * frees out->v. */
void tl_pattern_occurrences(const tl_rank_view *view, size_t most, tl_occurrences *out);

#endif
