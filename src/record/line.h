/* line.h - the line of a phase, but for its duration. */
#ifndef TLMPI_RECORD_LINE_H
#define TLMPI_RECORD_LINE_H

#include "text.h"
#include "tlmpi_record.h"

/* What a line says, but for the duration. */
typedef struct tl_record_said {
    const char *name;
    int64_t step;
    int rank;
    const tlmpi_record_value *metadata;
    size_t nmetadata;
    unsigned char order[4 + TLMPI_RECORD_MAX_METADATA]; /* of its keys: tl_record_line_fault finds it */
} tl_record_said;

/* Why it cannot be said, or read again; NULL: it can. */
const char *tl_record_line_fault(tl_record_said *said);

/* Adds the line and its end; the duration belongs at *duration_at.  Wants what has no fault. */
void tl_record_line_add(tl_record_text *text, const tl_record_said *said, size_t *duration_at);

#endif
