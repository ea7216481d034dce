/* pattern.h - an extended regular expression of the command line. */
#ifndef TLMPI_BASE_PATTERN_H
#define TLMPI_BASE_PATTERN_H

#include "tlmpi/base/status.h"
#include <regex.h>

/* Compiles the expression for matches without positions; regfree ends it where the status is TL_OK.  TL_EUSAGE: the
 * text is no expression, or too long, by itself or with its repetitions written out: the C library writes a{9} and a+
 * out, and recurses.  The message names the option. */
tl_status tl_pattern_compile(regex_t *pattern, const char *option, const char *text, tl_error *err);

#endif
