/* pattern.h - an extended regular expression of the command line. */
#ifndef TLMPI_JOB_CALL_PATTERN_H
#define TLMPI_JOB_CALL_PATTERN_H

#include "tlmpi/base/status.h"
#include <regex.h>

/* Compiles it for questions of yes or no; regfree ends it where the status is TL_OK.  TL_EUSAGE: it is none, or longer
 * than anybody needs: the C library recurses into it.  The option is named in the message. */
tl_status tl_pattern_compile(regex_t *pattern, const char *option, const char *text, tl_error *err);

#endif
