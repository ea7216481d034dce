/* pattern.c - regular expressions of the command line, by the C library. */
#include "tlmpi/base/pattern.h"
#include <string.h>

enum { LONGEST = 1000 };

tl_status tl_pattern_compile(regex_t *pattern, const char *option, const char *text, tl_error *err)
{
    char why[128];
    if (strlen(text) > LONGEST)
        return tl_fail(err, TL_EUSAGE, "%s: a pattern of more than %d characters", option, (int)LONGEST);
    int rc = regcomp(pattern, text, REG_EXTENDED | REG_NOSUB);
    if (rc == 0)
        return TL_OK;
    if (rc == REG_ESPACE)
        return tl_fail_memory(err, "a pattern");
    regerror(rc, pattern, why, sizeof why);
    return tl_fail(err, TL_EUSAGE, "%s: '%s' is no pattern: %s", option, text, why);
}
