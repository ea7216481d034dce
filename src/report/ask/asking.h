/* asking.h - what the answers in text are asked of, and how a paragraph of them begins. */
#ifndef TLMPI_REPORT_ASK_ASKING_H
#define TLMPI_REPORT_ASK_ASKING_H

#include "tlmpi/report/answers/answers.h"
#include "tlmpi/report/format/wrap.h"
#include <stdio.h>

typedef struct asking {
    FILE *out;
    const tl_answers *a;
    const char *file; /* as a word for a shell */
    size_t columns;
} asking;

/* A line that begins with two spaces and these words. */
static inline tl_wrap paragraph(const asking *q, const char *begin)
{
    return (tl_wrap){ .out = q->out,
                      .indent = 2,
                      .column = (size_t)fprintf(q->out, "  %s", begin),
                      .columns = q->columns,
                      .begun = begin[0] != '\0' };
}

#endif
