/* pattern.h - an extended regular expression of the command line. */
#ifndef TLMPI_BASE_PATTERN_H
#define TLMPI_BASE_PATTERN_H

#include "tlmpi/base/status.h"
#include <regex.h>

/* Compiles the expression for matches without positions; regfree ends it if the status is TL_OK.  TL_EUSAGE: the text
 * is not an expression, or too long, by itself or with repetitions expanded, as the C library expands a{9} and a+
 * recursively.  The message names the option. */
tl_status tl_pattern_compile(regex_t *pattern, const char *option, const char *text, tl_error *err);

/* Ends a compiled expression in memory of its own; NULL is fine. */
void tl_pattern_free(regex_t *pattern);

#endif
