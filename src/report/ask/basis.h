/* basis.h - what the answers of `tlmpi ask` rest on. */
#ifndef TLMPI_REPORT_ASK_BASIS_H
#define TLMPI_REPORT_ASK_BASIS_H

#include "tlmpi/report/answers/answers.h"
#include <stdio.h>

/* A paragraph, after an empty line; nothing where there are no collectives.  file: the path, as a word for a shell.  columns: as in ask.h. */
void tl_print_basis(FILE *out, const tl_answers *answers, const char *file, size_t columns);

#endif
