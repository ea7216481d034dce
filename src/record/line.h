/* line.h - the line of a phase, without its duration. */
#ifndef TLMPI_RECORD_LINE_H
#define TLMPI_RECORD_LINE_H

#include "text.h"
#include "tlmpi_record.h"

/* The content of a line, without the duration. */
typedef struct tl_record_said {
    const char *name;
    int64_t step;
    int rank;
    const tlmpi_record_value *metadata;
    size_t nmetadata;
    unsigned char order[4 + TLMPI_RECORD_MAX_METADATA]; /* sorted order of the keys, set by tl_record_line_fault */
} tl_record_said;

/* Returns why the line cannot be written, or would not be readable; NULL: it can be written. */
const char *tl_record_line_fault(tl_record_said *said);

/* Adds the line and its newline; the duration is inserted at *duration_at.  Requires that tl_record_line_fault returned
 * NULL. */
void tl_record_line_add(tl_record_text *text, const tl_record_said *said, size_t *duration_at);

#endif
